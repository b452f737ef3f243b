//! One session, call by call, as small as it can be said: differences from call to call, and nothing twice.

use super::told::{Shown, Told};
use crate::context::Region;
use crate::experiment::{Composition, Content, Replay, whole};
use crate::report::explain;
use crate::report::record::keys::record;
use crate::report::verdict::kind_name;
use crate::sim::{CallOutcome, Event, Outcome};
use crate::trace::{CompactionRow, PartKind, Trace};
use serde::Serialize;

/// Numbers by call, each as its difference from the one before that is there.
type Steps = Vec<Option<i64>>;

/// Tokens by content, each by call.
type Stack = Vec<Option<Steps>>;

record! {
    /// One session under all policies.
    pub struct SessionSeries(told: &Told<'_>, place: usize, trace: &Trace, shown: Shown<'_>) with {
        let columns_of_whole = columns(&whole(trace));
        let replays = told.replays.iter().zip(told.composer.session(place, trace));
        let policy = |(replay, compositions): (&Replay, Vec<Composition>)| {
            Some(PolicySeries::new(&*replay.outcomes.at(place)?, &compositions, &columns_of_whole, shown))
        };
        let excerpts = told.excerpts.texts.get(place).map_or(&[][..], Vec::as_slice);
    } {
        /// Recorded prompts; no step where a call has no usage.
        recorded: Steps = steps(trace.calls.iter().map(|call| call.own_usage().map(|usage| usage.prompt))),
        /// What the recording agent did to its context: before which call, what, and a sentence.
        happened: Vec<(usize, &'static str, String)> =
            trace.compactions.iter().filter(|event| !event.copy).map(|event| recorded(trace, event, shown)).collect(),
        /// Tokens of replies, not as differences.
        output: Vec<u64> = trace.calls.iter().map(|call| call.output).collect(),
        /// What had come since the call before was made: the reply to that one, and what followed it.
        arrivals: Arrivals = Arrivals::new(trace, excerpts, shown),
        /// What would stand in each prompt if nothing were removed.
        whole: Stack = columns_of_whole.iter().cloned().map(Some).collect(),
        policies: Vec<PolicySeries> = replays.filter_map(policy).collect(),
    }
}

/// Parts by the call that was the first to carry them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Arrivals {
    /// Names of tools, as `tool` counts them.
    tools: Vec<String>,
    /// How many parts came before each call.
    parts: Vec<u32>,
    /// The region of each part, by number.
    kind: Vec<u8>,
    /// The tool of each part, by index; -1 for none.
    tool: Vec<i64>,
    /// The actual tokens of each part.
    tokens: Vec<u64>,
    /// The beginning of each part; empty unless the user asked for content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    text: Vec<String>,
}

record! {
    struct PolicySeries(outcome: &Outcome, compositions: &[Composition], whole: &[Steps], shown: Shown<'_>) with {
        let retried = outcome.calls.iter().any(|call| call.attempted != call.actual);
        let event = |event: &Event| (event.call, event.kind.name(), shown(&explain::story(event)));
        let own = |(mine, whole): (Steps, &Steps)| (mine != *whole).then_some(mine);
    } {
        window: u64 = outcome.window,
        limit: u64 = outcome.prompt_limit,
        /// Sizes at the first try. Absent where every try went through.
        ?attempted: Option<Steps> = retried.then(|| steps(outcome.calls.iter().map(|call| Some(call.attempted)))),
        belief: Steps = steps(outcome.calls.iter().map(|call| call.belief.get())),
        /// What happened at each call, as a sum of marks: 1 refused, 2 session fails, 4 reply cut, 8 over budget.
        marks: Vec<u8> = outcome.calls.iter().map(marks).collect(),
        /// What stands in the prompt. A content that is as in the whole conversation is left out.
        stack: Stack = columns(compositions).into_iter().zip(whole).map(own).collect(),
        /// Events: the call from 0, the kind, a sentence.
        events: Vec<(u32, &'static str, String)> = outcome.events.iter().map(event).collect(),
    }
}

impl Arrivals {
    fn new(trace: &Trace, excerpts: &[String], shown: Shown<'_>) -> Arrivals {
        let mut arrivals = Arrivals { tools: trace.tools.iter().map(|tool| shown(tool)).collect(), ..Arrivals::default() };
        let mut next = 0;
        for call in &trace.calls {
            let messages = trace.messages.get(next..call.message as usize).unwrap_or(&[]);
            let before = arrivals.kind.len();
            for message in messages {
                let first = message.first_part as usize;
                for (offset, part) in trace.parts_of(message).enumerate() {
                    arrivals.kind.push(Region::of(message.role, part.kind) as u8);
                    arrivals.tool.push(part.tool.get().filter(|_| part.kind != PartKind::Text).map_or(-1, i64::from));
                    arrivals.tokens.push(part.truth);
                    arrivals.text.extend(excerpts.get(first + offset).map(|text| shown(text)));
                }
            }
            arrivals.parts.push((arrivals.kind.len() - before) as u32);
            next = call.message as usize;
        }
        arrivals
    }
}

fn recorded(trace: &Trace, event: &CompactionRow, shown: Shown<'_>) -> (usize, &'static str, String) {
    (trace.first_call_behind(event), kind_name(event.kind), shown(&explain::own_words(trace, event)))
}

fn marks(call: &CallOutcome) -> u8 {
    let marks = [(call.refused > 0, 1), (call.unrecovered, 2), (call.reply_cut, 4), (call.over_budget, 8)];
    marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).sum()
}

fn columns(compositions: &[Composition]) -> Vec<Steps> {
    let column = |content: Content| steps(compositions.iter().map(|sizes| sizes.get(content as usize).copied()));
    Content::ALL.into_iter().map(column).collect()
}

fn steps(numbers: impl Iterator<Item = Option<u64>>) -> Steps {
    let mut last = 0;
    let step = |number: Option<u64>| {
        let number = i64::try_from(number?).unwrap_or(i64::MAX);
        let step = number - last;
        last = number;
        Some(step)
    };
    numbers.map(step).collect()
}
