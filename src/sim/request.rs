//! What one request has in common with the request before: the measure of what a prompt cache can still know.

use super::state::{Detail, State, Views};
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
}

/// The messages at the head of a request that stood the same in the request before.
struct Head {
    messages: usize,
    /// Actual tokens.
    actual: u64,
}

impl State<'_> {
    /// The request goes out; hands back the tokens that it has in common with the request before. No sum rests on them: where sums
    /// alone are written down, nothing is remembered, and nothing is in common.
    pub fn send(&mut self, actual: u64) -> u64 {
        if self.detail == Detail::Sums {
            return 0;
        }
        let head = self.head();
        let prefix = self.prefix_behind(&head);
        if self.has_views() {
            self.sent.truncate(head.messages);
            self.sent.extend(self.context.messages_as_sent(head.messages));
        }
        let hidden = self.hidden();
        let visible = self.context.size().actual.0;
        let missing = (hidden + visible).saturating_sub(actual);
        let recorded_missing = self.call.map_or(0, |call| call.missing);
        self.last_request = Some(Request { hidden, visible, missing, recorded_missing, actual });
        self.requests += 1;
        self.context.sent(self.requests);
        prefix
    }

    /// Tokens at the head of the context as it stands that stood the same in the last request.
    pub fn prefix(&self) -> u64 {
        self.prefix_behind(&self.head())
    }

    /// The head that the context as it stands has in common with the last request. What was changed for one request alone is gone
    /// again, and may come again: from the first change on, only the requests themselves tell what they have in common.
    fn head(&self) -> Head {
        let known = if self.views == Views::Anew && self.has_views() { None } else { self.context.unchanged_since(self.requests) };
        let (mut messages, mut actual) = known.unwrap_or_default();
        let sent = self.sent.get(messages..).unwrap_or(&[]);
        for (now, _) in self.context.messages_as_sent(messages).zip(sent).take_while(|(now, sent)| now == *sent) {
            messages += 1;
            actual += now.actual;
        }
        Head { messages, actual }
    }

    fn prefix_behind(&self, head: &Head) -> u64 {
        let Some(last) = &self.last_request else { return 0 };
        let visible = head.actual;
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
