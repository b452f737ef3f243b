//! How far a search has come.

/// Who is told how far a search has come.
pub trait Watch: Sync {
    /// So many more settings are to be replayed over so many sessions each.
    fn settings(&self, settings: usize, sessions: usize);
    /// So many replays are done: of one session under one setting each.
    fn replayed(&self, replays: usize);
}

/// The watch of searches that report no progress.
impl Watch for () {
    fn settings(&self, _: usize, _: usize) {}
    fn replayed(&self, _: usize) {}
}
