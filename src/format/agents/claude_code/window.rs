//! The bigger window that a person asks for with `/model`.

use crate::transcript::{CompactionKind, Transcript};

/// What `(1M context)` behind a model's name stands for.
const BIGGER: u64 = 1_000_000;

/// The window of a model without it.
const USUAL: u64 = 200_000;

/// The models that were chosen: before which message, and with the bigger window?
#[derive(Default)]
pub(super) struct Chosen(Vec<(usize, bool)>);

impl Chosen {
    /// Reads what a command of the agent printed before this message.
    pub fn read(&mut self, printed: &str, before: usize) {
        let said = printed.trim_start().strip_prefix("<local-command-stdout>");
        let model = said.and_then(|said| said.strip_prefix("Set model to ").or_else(|| said.strip_prefix("Kept model as ")));
        if let Some(model) = model {
            // The code for bold letters, `ESC [1m`, has no bracket behind it.
            self.0.push((before, model.contains("1M context") || model.contains("[1m]")));
        }
    }

    /// The bigger window, where it was in force at most calls of the main model.
    pub fn window(&self, transcript: &Transcript) -> Option<u64> {
        if !self.0.iter().any(|(_, bigger)| *bigger) {
            return None;
        }
        let in_force = |place: usize| self.0.iter().rev().find(|(before, _)| *before <= place).is_some_and(|(_, bigger)| *bigger);
        // A session that compacted by itself within the usual window, whenever that was, is held against that one.
        let denied = transcript.compactions.iter().any(|compaction| {
            let prompt = |at: usize| transcript.messages.get(at)?.call.as_ref()?.usage.map(|usage| usage.prompt);
            let before = compaction.tokens_before.or_else(|| (0..compaction.before).rev().find_map(prompt));
            compaction.automatic == Some(true) && compaction.kind == CompactionKind::Compact && before.is_some_and(|tokens| tokens < USUAL)
        });
        let main = transcript.main_model();
        let calls = transcript
            .messages
            .each()
            .enumerate()
            .filter(|(_, message)| message.call.as_ref().is_some_and(|call| main.as_ref() == Some(&call.model)));
        let (with, without): (Vec<usize>, Vec<usize>) = calls.map(|(place, _)| place).partition(|place| in_force(*place));
        (!denied && with.len() > without.len()).then_some(BIGGER)
    }
}
