//! What one request has in common with the request before: the measure of what a prompt cache can still know.

use super::state::{Detail, State};
use crate::context::Sent;
use crate::policy::Mode;

/// What is remembered of a request that was sent.
#[derive(Clone)]
pub(super) struct Request {
    hidden: u64,
    /// All that was visible in it.
    visible: u64,
    /// What the prompt lacked for reasons that the log does not tell: in this simulation, and as recorded.
    missing: u64,
    recorded_missing: u64,
    actual: u64,
    /// Its messages, where a view may have changed them for this request alone.
    messages: Option<Vec<Sent>>,
}

impl State<'_> {
    /// The request goes out; hands back the tokens that it has in common with the request before. No sum rests on them: where sums
    /// alone are written down, nothing is remembered, and nothing is in common.
    pub fn send(&mut self, actual: u64) -> u64 {
        if self.detail == Detail::Sums {
            return 0;
        }
        let messages = self.has_views().then(|| self.context.messages_as_sent());
        let prefix = self.prefix_of(messages.as_deref());
        let hidden = self.hidden();
        let visible = self.context.size().actual.0;
        let missing = (hidden + visible).saturating_sub(actual);
        let recorded_missing = self.call.map_or(0, |call| call.missing);
        self.last_request = Some(Request { hidden, visible, missing, recorded_missing, actual, messages });
        self.context.sent();
        prefix
    }

    /// Tokens at the head of the context as it stands that stood the same in the last request.
    pub fn prefix(&self) -> u64 {
        let messages = (self.has_views() && self.last_request.is_some()).then(|| self.context.messages_as_sent());
        self.prefix_of(messages.as_deref())
    }

    /// The same where these are the messages, looked up for policies with views alone.
    fn prefix_of(&self, now: Option<&[Sent]>) -> u64 {
        let Some(last) = &self.last_request else { return 0 };
        let visible = match now.zip(last.messages.as_ref()) {
            // What was changed for one request alone is gone again: only the requests themselves tell what they have in common.
            Some((now, sent)) => now.iter().zip(sent).take_while(|(now, sent)| now == sent).map(|(now, _)| now.actual).sum(),
            None => self.context.unchanged(),
        };
        let actual = self.actual();
        let grown = self.call.is_some_and(|call| call.missing > last.recorded_missing);
        if visible == last.visible && !grown {
            // Nothing but new messages: the share of what is missing may be rounded otherwise than the last time.
            return last.actual.min(actual);
        }
        let hidden = self.hidden();
        let missing = (hidden + self.context.size().actual.0).saturating_sub(actual).max(last.missing);
        (hidden.min(last.hidden) + visible).saturating_sub(missing).min(actual).min(last.actual)
    }

    fn hidden(&self) -> u64 {
        self.call.map_or(0, |call| call.hidden)
    }

    /// Does the policy change contexts for a request or a turn alone?
    fn has_views(&self) -> bool {
        self.plan.rule.iter().any(|rule| rule.mode != Mode::Commit)
    }
}
