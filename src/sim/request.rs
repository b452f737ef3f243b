//! What one request has in common with the request before: the measure of what a prompt cache can still know.

use super::window::{Views, Window};
use crate::context::Sent;
use crate::policy::{Mode, Plan};

/// What is remembered of the requests that have gone out.
#[derive(Clone, Default)]
pub(super) struct Requests {
    last: Option<Request>,
    /// The messages of the last one, where a view may have changed them for that request alone.
    sent: Vec<Sent>,
    /// So many have gone out.
    count: u32,
}

/// A request that was sent.
#[derive(Clone)]
struct Request {
    hidden: u64,
    /// Actual tokens of all messages in the request, without hidden overhead.
    visible: u64,
    /// What the prompt lacked for reasons that the log does not tell: in this simulation, and as recorded.
    missing: u64,
    recorded_missing: u64,
    actual: u64,
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
        let hidden = hidden(window);
        let visible = window.context.size().actual.0;
        let missing = (hidden + visible).saturating_sub(actual);
        let recorded_missing = window.call.map_or(0, |call| call.missing);
        self.last = Some(Request { hidden, visible, missing, recorded_missing, actual });
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
        let visible = head.actual;
        let actual = window.actual();
        let grown = window.call.is_some_and(|call| call.missing > last.recorded_missing);
        if visible == last.visible && !grown {
            // Nothing but new messages: the share of what is missing may be rounded otherwise than the last time.
            return last.actual.min(actual);
        }
        let hidden = hidden(window);
        let missing = (hidden + window.context.size().actual.0).saturating_sub(actual).max(last.missing);
        (hidden.min(last.hidden) + visible).saturating_sub(missing).min(actual).min(last.actual)
    }
}

fn hidden(window: &Window<'_>) -> u64 {
    window.call.map_or(0, |call| call.hidden)
}

/// Does the policy change contexts for a request or a turn alone?
fn has_views(plan: &Plan) -> bool {
    plan.rule.iter().any(|rule| rule.mode != Mode::Commit)
}
