//! What a command wants to know of a session beside sizes. Each takes time, so whoever reads says what it will show.

/// What is measured beside sizes. What later results show again is always known: policies may act on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What later messages repeat.
    pub references: Recall,
    /// What texts are made of.
    pub kinds: Kinds,
}

/// Are references looked for?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recall {
    /// References are not looked for.
    Nothing,
    /// References are looked for.
    #[default]
    References,
    /// They are, and the files and addresses that calls name are kept with their names. That is content.
    WithPaths,
}

/// Are texts told apart by what they are made of?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// All texts count as prose.
    Untold,
    /// Prose, code, JSON and CJK are told apart.
    #[default]
    Told,
}

impl Wanted {
    /// Sizes alone: no references, and all texts taken for prose.
    pub const SIZES: Wanted = Wanted { references: Recall::Nothing, kinds: Kinds::Untold };
}
