//! When a session was, and when its context was rewritten.

use super::{CallRow, CompactionRow, Trace};
use std::ops::Range;

impl Trace {
    /// What the recording agent did to its context before one of these messages arrived.
    pub fn compactions_before(&self, messages: Range<usize>) -> &[CompactionRow] {
        let place = |message: usize| self.compactions.partition_point(|event| (event.before as usize) < message);
        self.compactions.get(place(messages.start)..place(messages.end)).unwrap_or(&[])
    }

    /// The day of the first message with a time, as `2026-03-15`; `None` where the log has no times.
    pub fn day(&self) -> Option<String> {
        let time = self.messages.iter().find_map(|message| message.time.get())?;
        Some(jiff::Timestamp::from_millisecond(time).ok()?.strftime("%Y-%m-%d").to_string())
    }

    /// The time of a call: that of its reply.
    pub fn time_of(&self, call: &CallRow) -> Option<i64> {
        self.messages.get(call.message as usize)?.time.get()
    }

    /// The time of the first call, in milliseconds since 1970; of the first message with a date where no call has one, `None` without any date.
    pub fn first_call(&self) -> Option<i64> {
        let first = self.calls.iter().find_map(|call| self.time_of(call));
        first.or_else(|| self.messages.iter().find_map(|message| message.time.get()))
    }

    /// The time of the last call, in milliseconds since 1970; of the last message with a date where no call has one, `None` without any date.
    pub fn last_call(&self) -> Option<i64> {
        let last = self.calls.iter().rev().find_map(|call| self.time_of(call));
        last.or_else(|| self.messages.iter().rev().find_map(|message| message.time.get()))
    }
}
