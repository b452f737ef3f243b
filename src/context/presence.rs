//! What becomes of a part of the log: whole, cut, masked, gone.

/// How much of a text is left at its two ends, in bytes of the text as it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Bytes left at the text's start.
    pub head: u32,
    /// Bytes left at the text's end.
    pub tail: u32,
    /// A stretch in between that was read by itself, from the start of its first piece to the start of its last; `None` where there is none.
    pub stretch: Option<(u32, u32)>,
}

impl Ends {
    /// What is left after both of two cuts, for certain.
    pub fn least(self, other: Ends) -> Ends {
        Ends { head: self.head.min(other.head), tail: self.tail.min(other.tail), stretch: None }
    }
}

/// How a part of the log stands in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The whole text, as recorded.
    Whole,
    /// The text is cut; the ends are left.
    Cut(Ends),
    /// A placeholder stands for it; the ends are left, if any.
    Masked(Ends),
    /// A summary stands for its message.
    Summarised,
    /// The part was removed, or was never there.
    Gone,
}
