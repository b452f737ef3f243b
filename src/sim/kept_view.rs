//! Views of the stored history that go on from one request to the next.
//!
//! A rule with `mode = "view"` masks items, or drops messages, for one request alone: the stored history comes back after it, and the next
//! request does the same again, and a little more. So the last view is not thrown away. The next one is that, with what has come since, and
//! with that little more masked or dropped. [`watch_anew`](super::watch_anew) makes each view anew, and is what this is tested against.

use crate::context::Context;

/// The last view of the stored history.
#[derive(Clone)]
pub(super) struct KeptView {
    /// The rule that made it, by its place in the plan.
    pub rule: usize,
    pub shown: Shown,
    /// The view; absent while it is the context of a request.
    pub view: Option<Box<Context>>,
    /// How often the stored history, and the view, had been edited.
    pub stored_edits: u64,
    pub view_edits: u64,
}

/// What a view shows of the stored history.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    /// By its place: what the rule could replace of it. So many of that, the oldest items, are replaced.
    Masked { candidates: usize, replaced: usize },
    /// All but the messages between these places. The line that stands for them is this message.
    Dropped { start: usize, end: usize, marker: Option<u32> },
}

impl KeptView {
    /// The view as it can be used again; `None` where the request has edited it otherwise.
    pub fn settled(&self, mut view: Box<Context>) -> Option<Box<Context>> {
        if view.edits() != self.view_edits {
            return None;
        }
        if let Shown::Dropped { marker: Some(marker), .. } = self.shown {
            if view.newest() != Some(marker) {
                return None;
            }
            view.retract();
        }
        Some(view)
    }
}
