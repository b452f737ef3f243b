//! What recorded prompts say of messages that the file leaves behind: whether the model was still sent them.

use crate::transcript::{Message, Usage};

/// Beside its messages a prompt holds what no record shows: reminders, notes of files that changed, what hooks add. They come and go by hundreds of
/// tokens, so that only a branch of more than this shows in the prompt behind it.
const SHOWS: u64 = 2_000;

/// Text has two bytes a token or more, but for rare letters.
const DENSEST: u64 = 2;

/// The calls since prompts can be compared: since the last compaction or change of the model.
#[derive(Default)]
pub(super) struct Prompts {
    /// The message from which on they are known.
    pub since: usize,
    /// Message and prompt of each.
    calls: Vec<(u32, u64)>,
    /// Prompt and output of the last one.
    last: Option<Usage>,
}

impl Prompts {
    /// What a reply reports, at each of its lines: a later one may know more.
    pub fn note(&mut self, message: usize, usage: Usage) {
        match self.calls.last_mut() {
            Some((last, _)) if *last as usize > message => return,
            Some((last, prompt)) if *last as usize == message => *prompt = usage.prompt,
            _ => self.calls.push((message as u32, usage.prompt)),
        }
        self.last = Some(usage);
    }

    /// What comes from this message on cannot be compared with what was.
    pub fn forget(&mut self, since: usize) {
        *self = Prompts { since, ..Prompts::default() };
    }

    /// By how much prompts grew from the first call at one message to the first at another, or to what follows the last reply; 0 where that is not known.
    fn growth(&self, from: usize, to: usize) -> u64 {
        let at =
            |message: usize| self.calls.get(self.calls.partition_point(|(call, _)| (*call as usize) < message)).map(|(_, prompt)| *prompt);
        let (Some(start), Some(last), true) = (at(from), self.last, from >= self.since) else { return 0 };
        at(to).unwrap_or(last.prompt + last.output).saturating_sub(start)
    }

    /// Does this prompt hold what left before it, all from this message on? What came since, these messages, cannot make up for it then.
    pub fn holds<'m>(&self, from: usize, prompt: u64, since: impl Iterator<Item = &'m Message>) -> bool {
        let gone = self.growth(from, usize::MAX);
        // What a picture takes is not known before it is measured.
        let bytes = since.flat_map(|message| &message.parts).map(|part| part.text().map(|text| u64::from(text.length.bytes)));
        let bytes: Option<u64> = bytes.sum();
        gone > SHOWS && self.last.is_some_and(|last| prompt >= last.prompt) && bytes.is_some_and(|bytes| bytes / DENSEST < gone)
    }

    /// Is this prompt so much smaller than the last one that more than what comes and goes is missing?
    pub fn shrank(&self, prompt: u64) -> bool {
        self.last.is_some_and(|last| last.prompt.saturating_sub(prompt) > SHOWS / 2)
    }

    /// Does this prompt lack these stretches of messages? It is smaller by half of what they are, or more: what came with it is not known.
    pub fn lacks(&self, stretches: &[(usize, usize)], prompt: u64) -> bool {
        let gone: u64 = stretches.iter().map(|(from, to)| self.growth(*from, *to)).sum();
        gone > SHOWS && self.last.is_some_and(|last| last.prompt.saturating_sub(prompt) >= gone / 2)
    }
}
