//! What one request has in common with the request before: the measure of what a prompt cache can still know.

use super::window::{Views, Window};
use crate::context::Sent;
use crate::policy::{Mode, Plan};
use crate::trace::CallRow;

/// What is remembered of the requests that have gone out.
#[derive(Clone, Default)]
pub(super) struct Requests {
    last: Option<Request>,
    /// The messages of the last one, where a view may have changed them for that request alone.
    sent: Vec<Sent>,
    /// So many have gone out.
    count: u32,
}

/// A request: what the next one is held against.
#[derive(Clone, Copy)]
pub(super) struct Request {
    hidden: u64,
    /// Actual tokens of all messages in the request, without hidden overhead.
    visible: u64,
    /// What the prompt lacked for reasons that the log does not tell: in this simulation, and as recorded.
    missing: u64,
    recorded_missing: u64,
    /// Tokens of the prompt.
    pub actual: u64,
}

impl Request {
    /// The request of a call with so many visible tokens, and so many in all.
    pub fn of(call: Option<&CallRow>, visible: u64, actual: u64) -> Request {
        let (hidden, recorded_missing) = call.map_or((0, 0), |call| (call.hidden, call.missing));
        Request { hidden, visible, missing: (hidden + visible).saturating_sub(actual), recorded_missing, actual }
    }

    /// Tokens at the head of the prompt that stood the same in the request before, where so many visible ones did.
    pub fn prefix(&self, last: &Request, visible: u64) -> u64 {
        if visible == last.visible && self.recorded_missing <= last.recorded_missing {
            // Nothing but new messages: the share of what is missing may be rounded otherwise than the last time.
            return last.actual.min(self.actual);
        }
        let missing = self.missing.max(last.missing);
        (self.hidden.min(last.hidden) + visible).saturating_sub(missing).min(self.actual).min(last.actual)
    }
}

/// The messages at the head of a request that stood the same in the request before.
struct Head {
    messages: usize,
    /// Actual tokens of those messages.
    actual: u64,
}

impl Requests {
    /// A request goes out; hands back the tokens that it has in common with the request before.
    pub fn send(&mut self, plan: &Plan, window: &mut Window<'_>, actual: u64) -> u64 {
        let head = self.head(plan, window);
        let prefix = self.prefix_behind(&head, window);
        if has_views(plan) {
            self.sent.truncate(head.messages);
            self.sent.extend(window.context.messages_as_sent(head.messages));
        }
        self.last = Some(Request::of(window.call, window.context.size().actual.0, actual));
        self.count += 1;
        window.context.sent(self.count);
        prefix
    }

    /// Tokens at the head of the context as it stands that stood the same in the last request.
    pub fn prefix(&self, plan: &Plan, window: &Window<'_>) -> u64 {
        self.prefix_behind(&self.head(plan, window), window)
    }

    /// The head that the context as it stands has in common with the last request. What was changed for one request alone is gone
    /// again, and may come again: from the first change on, only the requests themselves tell what they have in common.
    fn head(&self, plan: &Plan, window: &Window<'_>) -> Head {
        let context = &window.context;
        let known = if window.views == Views::Anew && has_views(plan) { None } else { context.unchanged_since(self.count) };
        let (mut messages, mut actual) = known.unwrap_or_default();
        let sent = self.sent.get(messages..).unwrap_or(&[]);
        for (now, _) in context.messages_as_sent(messages).zip(sent).take_while(|(now, sent)| now == *sent) {
            messages += 1;
            actual += now.actual;
        }
        Head { messages, actual }
    }

    fn prefix_behind(&self, head: &Head, window: &Window<'_>) -> u64 {
        let Some(last) = &self.last else { return 0 };
        Request::of(window.call, window.context.size().actual.0, window.actual()).prefix(last, head.actual)
    }
}

/// Does the policy change contexts for a request or a turn alone?
fn has_views(plan: &Plan) -> bool {
    plan.rule.iter().any(|rule| rule.mode != Mode::Commit)
}
