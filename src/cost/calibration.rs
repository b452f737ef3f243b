//! What a recording says of its cache, beside the model: factors by which the modelled reads of other contexts are scaled.
//!
//! The factor of a call is what was read over what the model reads of the same prompt, at most 1. What was read beyond the model (a hit that reaches into the last
//! reply) is added in tokens, and in another context at most in proportion to what the model reads there: so the unchanged recording costs what it was recorded to cost. The prompt is the
//! recorded one, with the agent's own compactions in it: a break that they caused is a break in the model too, and is not carried to other contexts. Entries do
//! not age in this model: what a pause did is in the factor of the call behind it.

use super::cache::Split;
use super::recorded::walk;
use super::tariff::Tariff;
use crate::trace::{CallRow, Trace, WholePrompt};
use crate::transcript::{Trust, Usage};
use crate::units::adds;

/// What the cache made of some recorded prompts: of one, or of many together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Prompt tokens that the provider reported as read from the cache.
    pub read: u64,
    /// Tokens of the same prompts that the model reads if entries do not age. 0: it says nothing of reads.
    pub modelled: u64,
    /// Tokens that were not read. 0: it says nothing of writes.
    pub unread: u64,
    /// The part of them that was written.
    pub written: u64,
    /// The part of that with a lifetime of an hour.
    pub written_1h: u64,
}

adds!(Measured += Measured: read, modelled, unread, written, written_1h);

impl Measured {
    /// One recorded prompt, beside what the model reads of it.
    pub fn new(usage: &Usage, modelled: u64) -> Measured {
        let unread = usage.prompt.saturating_sub(usage.cache_read);
        let written = usage.cache_write.min(unread);
        Measured { read: usage.cache_read, modelled, unread, written, written_1h: usage.cache_write_1h.min(written) }
    }

    /// Modelled reads as far as the recording got: less where it read less, more by what it read beyond the model.
    fn scale(&self, modelled: u64) -> u64 {
        match self.read.checked_sub(self.modelled) {
            _ if self.modelled == 0 => modelled,
            None => share(modelled, self.read, self.modelled),
            Some(beyond) => modelled.saturating_add(share(modelled, beyond, self.modelled).min(beyond)),
        }
    }

    /// What becomes of tokens that are not read.
    fn divide(&self, read: u64, unread: u64, modelled: Split) -> Split {
        if self.unread == 0 {
            // The recording does not say: as modelled.
            let write = share(unread, modelled.write, modelled.write + modelled.fresh);
            return Split { read, write, write_1h: share(write, modelled.write_1h, modelled.write), fresh: unread - write };
        }
        let write = share(unread, self.written, self.unread);
        Split { read, write, write_1h: share(write, self.written_1h, self.written), fresh: unread - write }
    }
}

/// So many tokens times a part over a whole, rounded down; 0 of nothing.
fn share(tokens: u64, part: u64, whole: u64) -> u64 {
    if let Some(product) = tokens.checked_mul(part) {
        return product.checked_div(whole).unwrap_or(0);
    }
    u128::from(tokens).saturating_mul(part.into()).checked_div(whole.into()).map_or(0, |share| u64::try_from(share).unwrap_or(u64::MAX))
}

/// How far each call of a session got with its cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// By call; absent where the log has no usage of the provider's for it.
    calls: Vec<Option<Measured>>,
    /// All calls together: what holds where a call says nothing. Absent where the log tells nothing of the cache.
    session: Option<Measured>,
}

impl Calibration {
    /// The factors of a session. None where its log has no counts of the cache, or where another model is to be billed than the one that
    /// was recorded. `whole` are its prompts under no policy.
    pub fn of(trace: &Trace, whole: &[WholePrompt], tariff: &Tariff<'_>) -> Calibration {
        if tariff.model.is_some() || !trace.tells_of_cache() {
            return Calibration::default();
        }
        let mut calibration = Calibration { calls: vec![None; trace.calls.len()], session: Some(Measured::default()) };
        // Where the provider reported no prompt at all, what the agent wrote of its cache is what is known.
        let reported = trace.calls.iter().any(|call| call.reported().is_some());
        let estimate = |call: &CallRow| call.usage.get().filter(|usage| !reported && usage.trust == Trust::Estimated);
        for step in walk(trace, whole, tariff) {
            let Some(usage) = step.usage.or_else(|| estimate(step.call)) else { continue };
            let measured = Measured::new(&usage, step.answer.ageless.read);
            if let (Some(call), Some(session)) = (calibration.calls.get_mut(step.place), calibration.session.as_mut()) {
                // A share of a sum says nothing of its call: all together do.
                *call = Some(measured).filter(|_| usage.trust != Trust::Shared);
                *session += measured;
            }
        }
        calibration
    }

    /// The same where nothing is known of single calls: what other calls, or other sessions, came to together.
    pub fn from_others(others: Measured) -> Calibration {
        Calibration { calls: Vec::new(), session: Some(others) }
    }

    /// All calls of the session together; absent where its log tells nothing of the cache.
    pub fn session(&self) -> Option<Measured> {
        self.session
    }

    /// The same for each half of the calls: those at even places, those at odd ones.
    pub fn halves(&self) -> [Measured; 2] {
        let mut halves = [Measured::default(); 2];
        for (place, measured) in self.calls.iter().enumerate() {
            if let (Some(half), Some(measured)) = (halves.get_mut(place % 2), measured) {
                *half += *measured;
            }
        }
        halves
    }

    /// What the recorded cache makes of a prompt at the place of a call, given what the modelled one would if entries did not age: what
    /// time did to them shows in the factor. As `modelled` where the log tells nothing of the cache.
    pub fn split(&self, place: usize, ageless: Split, modelled: Split) -> Split {
        let Some(session) = self.session else { return modelled };
        let own = self.calls.get(place).copied().flatten();
        let read = match own {
            // Where the model reads nothing of either prompt, what was read of the one is read of the other.
            Some(own) if (own.modelled, ageless.read) == (0, 0) => own.read,
            own => own.filter(|own| own.modelled > 0).unwrap_or(session).scale(ageless.read),
        };
        let read = read.min(ageless.prompt());
        let unread = ageless.prompt() - read;
        own.filter(|own| own.unread > 0).unwrap_or(session).divide(read, unread, ageless)
    }
}
