//! What can be recognised of a session's texts, until it is known what later ones repeat: in lists for all parts, for a long session has many.

use crate::trace::PartKind;
use crate::transcript::{Evidence, Unit};

/// What can be recognised, by part.
#[derive(Default)]
pub struct Pieces {
    units: Vec<Unit>,
    /// By part: where its units end, and the hash of its text, 0 without one.
    parts: Vec<(u32, u64)>,
    /// What arguments say of a call, by its part, in order.
    calls: Vec<(u32, Box<Evidence>)>,
    /// Pieces that were left out.
    pub left_out: u64,
}

impl Pieces {
    /// With room for the texts of so many parts.
    pub fn with_room(parts: usize, units: usize) -> Pieces {
        Pieces { units: Vec::with_capacity(units), parts: Vec::with_capacity(parts), ..Pieces::default() }
    }

    /// Takes in what is known of the next part's text.
    pub fn push(&mut self, kind: PartKind, evidence: Option<Box<Evidence>>) {
        let identity = evidence.as_ref().map_or(0, |evidence| evidence.identity);
        if let Some(mut evidence) = evidence {
            self.units.extend(std::mem::take(&mut evidence.units));
            self.left_out += u64::from(evidence.left_out);
            if kind == PartKind::ToolCall && (evidence.values > 0 || evidence.looks != 0 || evidence.subject != 0) {
                self.calls.push((self.parts.len() as u32, evidence));
            }
        }
        self.parts.push((self.units.len() as u32, identity));
    }

    /// How many recognisable pieces all parts have.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Does no part have any?
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The recognisable pieces of a part.
    pub fn units(&self, part: u32) -> &[Unit] {
        let end = |part: Option<u32>| part.and_then(|part| self.parts.get(part as usize)).map_or(0, |(end, _)| *end as usize);
        self.units.get(end(part.checked_sub(1))..end(Some(part))).unwrap_or(&[])
    }

    /// The hash of a part's text; 0 where it has none.
    pub fn identity(&self, part: u32) -> u64 {
        self.parts.get(part as usize).map_or(0, |(_, identity)| *identity)
    }

    /// What the arguments of a call say; `None` where they say nothing.
    pub fn call(&self, part: u32) -> Option<&Evidence> {
        let place = self.calls.binary_search_by_key(&part, |(part, _)| *part).ok()?;
        self.calls.get(place).map(|(_, evidence)| &**evidence)
    }

    /// The files and addresses that calls name, by their parts.
    pub fn paths(self) -> impl Iterator<Item = (u32, String)> {
        self.calls.into_iter().filter_map(|(part, evidence)| Some((part, evidence.path?.to_string())))
    }
}
