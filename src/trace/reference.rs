//! What later messages repeat of earlier ones.

use serde::{Deserialize, Serialize};

/// What one assistant message takes from one earlier part: the text in both is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Index of the message that refers.
    pub message: u32,
    /// What the two have in common.
    pub kind: Evidence,
    /// How many distinct lines or identifiers.
    pub weight: u32,
    /// The latest part that holds them, with the places; then other parts that hold all of them too, the latest first.
    pub sources: Vec<Place>,
    /// Parts that hold some of them, the latest first: what one lacks another may hold.
    pub beside: Vec<Place>,
    /// The recorded compaction whose summary holds all of them, by its index; `None` where none does, or where it is unknown.
    pub summary: Option<u32>,
}

impl Reference {
    /// All parts that hold any of it: the sources, then those beside them.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.sources.iter().chain(&self.beside)
    }
}

/// Where in a part the evidence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Index of the part.
    pub part: u32,
    /// Index in [`Trace::pieces`](super::Trace::pieces) of the first of its pieces; one that the part does not hold is [`NOWHERE`](crate::transcript::Standing::NOWHERE).
    pub first: u32,
    /// How many pieces: as many as the reference has, in the same order in each of its sources. 0 where it is not known where they stand: then they
    /// are taken to stand at the part's very start.
    pub pieces: u32,
}

impl Place {
    /// A part that holds all pieces of a reference; where it holds them is not known.
    pub fn somewhere(part: u32) -> Place {
        Place { part, first: 0, pieces: 0 }
    }
}

/// What a later text has in common with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Whole lines: verbatim reuse.
    Line,
    /// Paths and names: they may be known from elsewhere.
    Identifier,
}
