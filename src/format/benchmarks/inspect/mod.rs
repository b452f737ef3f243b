//! Inspect AI: `.eval` archives and `.json` logs, a session for each conversation of each sample and epoch.
//!
//! A sample's events hold the exact input of each call. Conversations are told apart by it: an input that begins with an earlier input
//! and its reply goes on with that session; what sub-agents ask is a session of its own; what scorers ask stands on the side.

mod archive;
mod record;
mod sample;

use crate::format::ground::{ReadError, Source, Take, at, each_piece, fault};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use archive::Entry;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Logs of Inspect AI.
pub const READER: Reader = Reader { name: "inspect", about: "Inspect AI: *.eval archives and *.json logs", claims, read };

fn claims(source: &Source) -> Claim {
    Claim::when(source.outline().shows("status version eval.model|eval.task") || archive::is_one(source.head()))
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut file = File { name: source.name(), version: String::new(), seen: HashMap::new(), scale, hand_over };
    if archive::is_one(source.head()) {
        archive::each_entry(
            source,
            |name| name.ends_with(".json") && (name.starts_with("samples/") || is_description(name)),
            |source, entry| {
                let Entry { name, number, text } = entry;
                if is_description(name) {
                    file.describe(text, "/eval/packages/inspect_ai", source)
                } else {
                    file.sample(text, number, source)
                }
            },
        );
    } else {
        let wanted = [("eval", Take::Whole), ("samples", Take::Elements)];
        each_piece(source, &wanted, |source, piece| match piece.key {
            "eval" => file.describe(piece.text, "/packages/inspect_ai", source),
            _ => file.sample(piece.text, piece.number, source),
        });
    }
    Ok(())
}

/// An archive that is still being written has its description in the journal.
fn is_description(name: &str) -> bool {
    matches!(name, "header.json" | "_journal/start.json")
}

struct File<'s> {
    name: String,
    version: String,
    /// Samples that were read, with a hash of what they hold: one may be written again.
    seen: HashMap<String, u64>,
    scale: &'s dyn Scale,
    hand_over: &'s mut dyn FnMut(Transcript),
}

impl File<'_> {
    /// Takes the version, which stands at this path.
    fn describe(&mut self, text: &str, path: &str, source: &mut Source) {
        match serde_json::from_str(text) {
            Ok(log) => self.version = at(&log, path).to_string(),
            Err(error) => source.lose(0, fault(&error, false)),
        }
    }

    fn sample(&mut self, text: &str, number: u64, source: &mut Source) {
        match serde_json::from_str::<record::Sample>(text) {
            Ok(sample) => {
                let written = if sample.uuid.is_empty() { sample.number() } else { sample.uuid.to_string() };
                let content = xxh3_64(text.as_bytes());
                if let Some(known) = self.seen.insert(written.clone(), content) {
                    if known != content {
                        source.lose(number, "sample with the id of another one");
                    }
                    return;
                }
                let id = if sample.uuid.is_empty() { format!("{}#{written}", self.name) } else { written };
                for mut transcript in sample::transcripts(&sample, &id, number, self.scale, source) {
                    transcript.version.clone_from(&self.version);
                    (self.hand_over)(transcript);
                }
            }
            Err(error) => source.lose(number, fault(&error, false)),
        }
    }
}
