//! A text without its words: its sizes, and which of its pieces stand elsewhere in the session.

use crate::transcript::{Evidence, Text, Unit};
use serde::{Deserialize, Serialize};

/// The first line's mark, with the version of the shape.
pub const MARK: &str = "native/1";

/// What was measured of a text whose words are not told.
#[derive(Serialize, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    sizes: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Pieces>,
}

/// [`Evidence`] as it is written. The numbers name pieces within the session and are no hashes of them.
#[derive(Serialize, Deserialize)]
struct Pieces {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    units: Vec<(u64, u32)>,
    #[serde(default)]
    left_out: u32,
    #[serde(default)]
    identity: u64,
    #[serde(default)]
    subject: u64,
    #[serde(default)]
    values: u32,
    #[serde(default)]
    looks: u64,
}

impl Measured {
    /// The measures of a redacted text.
    pub fn of(text: &Text) -> Measured {
        let evidence = text.evidence.as_deref().map(|evidence| Pieces {
            units: evidence.units.iter().map(|unit| (unit.hash, unit.at)).collect(),
            left_out: evidence.left_out,
            identity: evidence.identity,
            subject: evidence.subject,
            values: evidence.values,
            looks: evidence.looks,
        });
        // The mark is a fact of the result, and written there.
        Measured { sizes: Text { truncated: false, content: None, evidence: None, ..text.clone() }, evidence }
    }

    /// The text that they are the measures of.
    pub fn text(&self) -> Text {
        let evidence = self.evidence.as_ref().map(|pieces| {
            let mut units: Vec<Unit> = pieces.units.iter().map(|(hash, at)| Unit { hash: *hash, at: *at }).collect();
            // Whoever looks a piece up relies on their order.
            units.sort_unstable();
            units.dedup_by_key(|unit| unit.hash);
            Box::new(Evidence {
                units: units.into(),
                left_out: pieces.left_out,
                identity: pieces.identity,
                subject: pieces.subject,
                values: pieces.values,
                looks: pieces.looks,
                path: None,
            })
        });
        Text { content: None, evidence, ..self.sizes.clone() }
    }
}
