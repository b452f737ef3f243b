//! The state of one replay: the context, what the policy knows, and what is being written down.

use super::aside::Aside;
use super::attempt::Attempt;
use super::cause::{Look, never_fires, warnings};
use super::end::End;
use super::finds::Finds;
use super::intake::{Gauge, Intake};
use super::kept_view::KeptView;
use super::mask::Masks;
use super::note::Note;
use super::outcome::{CallOutcome, Outcome, Totals, Warning};
use super::referee::Referee;
use super::references::Fates;
use super::refetch::{Readings, Refetching};
use super::request::Request;
use super::summary::RecordedSummary;
use crate::context::{Context, Entry, Item, Region, Sent, State as ItemState};
use crate::policy::{AfterOverflow, Hook, Plan, Rule, Sight, Switch};
use crate::trace::{CallRow, Evidence, PartKind, Trace};
use crate::transcript::Text;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The world outside of policy and trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The model's total window.
    pub window: u64,
    /// The largest prompt that the provider accepts: the window, or the model's own input limit below it.
    pub prompt_limit: u64,
    /// Output reserve for all policies, instead of each policy's own.
    pub reserve: Option<u64>,
    /// The size of summaries by those that the corpus recorded; `None` where it holds none.
    pub recorded_summary: Option<RecordedSummary>,
    /// What the policy's estimates of texts are.
    pub guesses: Guesses,
    /// Does the agent read again what the policy took from it?
    pub refetch: Refetching,
}

/// Whose estimates of texts a policy works with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guesses {
    /// Its own estimator's.
    #[default]
    Own,
    /// The true sizes, as no policy can know them: what is left to go wrong then is not the estimator's fault.
    True,
}

/// How much of a run is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of it.
    Everything,
    /// Sums alone: no events by name, no ratios of guesses, no tools.
    Sums,
}

/// How the stored history is masked for one request alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Views {
    /// The view of the last request is kept, and goes on where it can.
    Kept,
    /// Each view is made anew.
    Anew,
}

/// Encrypted reasoning takes more bytes than this; where a log has fewer, somebody has taken it out.
const LEAST_SEALED_BYTES: u32 = 100;

/// What is remembered about one rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    pub in_call: u32,
    pub in_turn: u32,
    pub in_session: u32,
    /// Number of calls made when it last fired.
    pub fired_at: u64,
    pub latched: bool,
}

#[derive(Clone)]
pub(super) struct State<'a> {
    pub trace: &'a Trace,
    pub plan: &'a Plan,
    pub conditions: &'a Conditions,
    /// The session's messages as they enter.
    pub intake: Rc<Intake>,
    /// What masks leave of them.
    pub masks: Rc<Masks>,
    pub context: Context,
    /// Set aside for one request, or for one turn.
    pub aside: Option<Aside>,
    pub aside_for_turn: Option<Aside>,
    /// What a rule has just replaced that may still turn out not to last.
    pub replaced: Option<Aside>,
    /// The last view that a request was shown, where it can be used again.
    pub kept_view: Option<KeptView>,
    /// What masks could replace of the stored history.
    pub finds: Vec<Finds<'a>>,
    /// Texts of items that a limit has cut, by item.
    pub cuts: BTreeMap<u32, Text>,
    pub outcome: Outcome,
    /// How much is written down.
    pub detail: Detail,
    /// How views are made.
    pub views: Views,
    /// Who asks the other settings of a flock.
    pub referee: Option<Box<Referee<'a>>>,
    /// Does a rule cut items that have arrived? Only then the texts of cut items are kept.
    pub keeps_cuts: Switch,
    /// Events, in order.
    pub notes: Vec<Note>,
    pub memories: Vec<Memory>,
    /// Prompt and output of the last call as the policy knows them.
    pub usage: Option<(u64, u64)>,
    /// Estimates of what came after the last reply.
    pub pending: u64,
    /// Estimate of a user message that is about to enter.
    pub incoming: u64,
    pub next_message: u32,
    pub index: usize,
    pub call: Option<&'a CallRow>,
    pub last_time: Option<i64>,
    pub look: Option<Look>,
    /// The summariser's request has been refused since the last call.
    pub summariser_refused: bool,
    /// A user message has come since the last call.
    pub turn_opened: bool,
    /// The rules for the end of the turn have run since the last call.
    turn_ended: bool,
    /// The largest tool result since the last call.
    pub largest_arrival: Option<(u64, u32)>,
    /// Actual size right after the last reply: what a belief from usage covers.
    pub actual_after_reply: u64,
    pub tools: Vec<super::outcome::Carried>,
    /// What is remembered of the last request.
    pub last_request: Option<Request>,
    /// Its messages, where a view may have changed them for that request alone.
    pub sent: Vec<Sent>,
    /// Requests that have gone out.
    pub requests: u32,
    /// What was read again.
    pub readings: Readings,
    /// Broken references by the rule that broke them.
    pub broken_by: BTreeMap<(Evidence, u32), Fates>,
    /// Where the session failed, what the run had come to then.
    pub end: Option<Box<End>>,
}

impl<'a> State<'a> {
    pub fn new(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions) -> State<'a> {
        State::with_intake(trace, plan, conditions, Rc::new(Intake::new(trace, plan, conditions)))
    }

    /// As [`State::new`], where the messages have been seen before.
    pub fn with_intake(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions, intake: Rc<Intake>) -> State<'a> {
        State {
            intake,
            masks: Rc::new(Masks::new(plan.rule.len())),
            detail: Detail::Everything,
            views: Views::Kept,
            referee: None,
            keeps_cuts: if plan.rule.iter().any(|rule| rule.at != Hook::Ingest && rule.truncate.is_some()) {
                Switch::On
            } else {
                Switch::Off
            },
            notes: Vec::new(),
            trace,
            plan,
            conditions,
            context: Context::new(plan.estimator.clone()),
            aside: None,
            aside_for_turn: None,
            replaced: None,
            kept_view: None,
            finds: Vec::new(),
            cuts: BTreeMap::new(),
            outcome: Outcome {
                window: conditions.window,
                prompt_limit: conditions.prompt_limit,
                totals: Totals { sessions: 1, ..Totals::default() },
                calls: Vec::with_capacity(trace.calls.len()),
                ..Outcome::default()
            },
            memories: vec![Memory::default(); plan.rule.len()],
            usage: None,
            pending: 0,
            incoming: 0,
            next_message: 0,
            index: 0,
            call: None,
            last_time: None,
            look: None,
            summariser_refused: false,
            turn_opened: false,
            turn_ended: false,
            largest_arrival: None,
            actual_after_reply: 0,
            tools: vec![super::outcome::Carried::default(); trace.tools.len()],
            last_request: None,
            sent: Vec::new(),
            requests: 0,
            readings: Readings::default(),
            broken_by: BTreeMap::new(),
            end: None,
        }
    }

    /// Writes down no more than sums.
    pub fn sums_only(self) -> State<'a> {
        State { detail: Detail::Sums, ..self }
    }

    /// Makes each view anew.
    pub fn views_anew(self) -> State<'a> {
        State { views: Views::Anew, ..self }
    }

    /// What the policy takes items for.
    pub fn gauge(&self) -> Gauge<'a> {
        Gauge::new(&self.plan.estimator, self.conditions)
    }

    /// One call, from the arrival of its messages to the end of its reply. `look` sees the context as it goes out, and how many events
    /// there have been, up to the call at which the session fails.
    pub fn step(&mut self, index: usize, call: &'a CallRow, look: &mut dyn FnMut(&Context, usize)) {
        self.begin(index, call);
        self.arrive(call.message);
        self.before_call();
        let tried = self.attempt();
        let tried = self.refetch(call.message, tried);
        self.call(tried);
        if self.end.as_ref().is_none_or(|end| end.call == index) {
            look(&self.context, self.notes.len());
        }
        if self.has_ended() && self.detail == Detail::Sums {
            // No sum counts what is behind the end.
            return;
        }
        self.judge(call.message);
        self.reply(call.message);
        self.checkpoint(Hook::PostCall);
        self.after_reply(call.message);
    }

    /// Lets the referee ask the other settings of a flock, where there is one.
    pub fn ask_referee(&mut self, ask: impl FnOnce(&mut Referee<'a>, &mut State<'a>)) {
        if let Some(mut referee) = self.referee.take() {
            ask(&mut referee, self);
            self.referee = Some(referee);
        }
    }

    /// Turns to the next call.
    fn begin(&mut self, index: usize, call: &'a CallRow) {
        self.index = index;
        self.call = Some(call);
        self.largest_arrival = None;
        self.memories.iter_mut().for_each(|memory| memory.in_call = 0);
    }

    /// Actual size of the context as it stands.
    pub fn actual(&self) -> u64 {
        let visible = self.context.size().actual.0;
        self.call.map_or(visible, |call| call.prompt(visible, self.context.recorded()))
    }

    /// What the policy can see, for one of its rules.
    pub fn sight(&self, memory: &Memory) -> Sight<'_> {
        let now = self.call.and_then(|call| self.trace.messages.get(call.message as usize)).and_then(|message| message.time);
        let calls = self.outcome.totals.calls;
        Sight {
            view: self.context.view(),
            usage: self.usage,
            pending: self.pending + self.old_reasoning(),
            incoming: self.incoming,
            calls,
            calls_since_fired: calls - memory.fired_at.min(calls),
            idle_seconds: now.zip(self.last_time).map(|(now, last)| (now - last) as f64 / 1000.0),
        }
    }

    /// Estimates of encrypted reasoning before the last real user message, for policies that add it to the reported usage. Most servers
    /// leave it out, so that it has left the context; the agent's own history still holds it. The agent does not look whether the usage
    /// holds it too: where the server keeps it, it counts twice.
    fn old_reasoning(&self) -> u64 {
        if self.plan.belief.old_reasoning == Switch::Off {
            return 0;
        }
        let newer = self.context.live().rev().take_while(|(_, entry)| !entry.opens_turn).count();
        let older = self.context.len().saturating_sub(newer + 1);
        self.context.live().take(older).map(|(_, entry)| self.reasoning_in(entry)).sum()
    }

    /// What the policy takes the encrypted reasoning of a message for that its history holds: what a rule has taken out is gone from there.
    fn reasoning_in(&self, entry: &Entry) -> u64 {
        let Some(message) = entry.message else { return 0 };
        let held = |item: &Item| item.state != ItemState::Removed || item.by.is_none();
        let items = (entry.first..).zip(self.intake.items(message)).filter(|(_, item)| item.region == Region::Thinking);
        let thoughts = items.filter(|(id, _)| self.context.item(*id).is_some_and(held)).map(|(_, item)| item);
        let part_of = |item: &Item| self.trace.parts.get(item.part? as usize);
        let sealed = |item: &Item| part_of(item).is_some_and(|part| part.sealed_bytes >= LEAST_SEALED_BYTES);
        let (mut estimate, mut taken_out) = (0, false);
        for item in thoughts {
            estimate += self.context.estimator().message_part(item.guess);
            taken_out |= !sealed(item);
        }
        if !taken_out || estimate > 0 {
            return estimate;
        }
        let reported = self.trace.messages.get(message as usize).map_or(0, |row| row.reported_reasoning);
        self.context.estimator().sealed_by_report(reported)
    }

    /// Runs the rules of one place in the loop, in the policy's order.
    pub fn checkpoint(&mut self, hook: Hook) {
        self.run_where(|rule| rule.at == hook);
    }

    /// Runs the rules that look at the finished request.
    pub fn before_call(&mut self) {
        let within_turn = !self.turn_opened;
        self.run_where(|rule| rule.at == Hook::PreCall || (rule.at == Hook::MidTurn && within_turn));
    }

    fn run_where(&mut self, wanted: impl Fn(&Rule) -> bool) {
        let plan = self.plan;
        for (index, rule) in plan.rule.iter().enumerate().filter(|(_, rule)| wanted(rule)) {
            self.run(index, rule);
        }
    }

    /// Makes the recorded call, which was tried.
    pub fn call(&mut self, tried: Attempt) {
        let Some(call) = self.call else { return };
        let row = self.request_made(tried, call, call.output, call.usage.as_ref().map(|usage| usage.prompt));
        self.outcome.totals.baseline_tokens += (call.hidden + call.visible).saturating_sub(call.missing);
        self.behind_here();
        self.outcome.calls.push(row);
    }

    /// A request has gone out, and its reply is of this size.
    pub fn request_made(&mut self, tried: Attempt, call: &CallRow, output: u64, recorded: Option<u64>) -> CallOutcome {
        let Attempt { attempted, refused, refused_tokens, actual, unrecovered } = tried;
        let reserve = self.conditions.reserve.unwrap_or(self.plan.window.reserve);
        let row = CallOutcome {
            attempted,
            actual,
            anchored: (self.context.anchored() + if call.usage.is_some() { call.hidden } else { 0 }).min(actual),
            belief: self.look.map(|look| look.belief),
            rewritten: self.look.is_some_and(|look| look.left.is_some_and(|left| left != look.whole)),
            estimated: self.context.view().request(),
            output,
            recorded,
            prefix: self.send(actual),
            blocks: self.context.blocks(),
            refused,
            refused_tokens,
            unrecovered,
            reply_cut: actual + output > self.conditions.window,
            over_budget: actual > self.conditions.prompt_limit.min(self.conditions.window.saturating_sub(reserve)),
        };
        self.add_up(&row, call);
        self.summariser_refused = false;
        self.turn_opened = false;
        self.turn_ended = false;
        let read = self.plan.belief.reads_output(output, call.usage.map(|usage| usage.output));
        self.usage = Some((self.read_prompt(actual, call), read));
        if unrecovered && self.plan.belief.after_overflow == AfterOverflow::Full {
            self.usage = Some((self.plan.belief.full.unwrap_or(self.conditions.window), 0));
        }
        row
    }

    /// The prompt as the policy reads it: the share of the simulated one that it read of the recorded one.
    fn read_prompt(&self, actual: u64, call: &CallRow) -> u64 {
        let Some(usage) = call.usage.filter(|usage| usage.prompt > 0) else { return actual };
        let (read, _) = self.plan.belief.reads(&usage);
        u64::try_from(u128::from(actual) * u128::from(read) / u128::from(usage.prompt)).unwrap_or(actual)
    }

    /// The recorded reply enters the context.
    pub fn reply(&mut self, message: u32) {
        if let Some(aside) = self.aside.take() {
            self.restore(aside);
        }
        let id = self.push(message);
        if let Some((prompt, output)) = self.usage {
            self.context.note_usage(id, prompt + output);
        }
        self.next_message = message + 1;
        self.pending = 0;
        self.last_time = self.trace.messages.get(message as usize).and_then(|row| row.time);
        self.actual_after_reply = self.actual();
    }

    /// Is the turn over with this reply? So it is where the next message opens another one, and at the end of the session unless a
    /// tool was called, for then the log breaks off within the turn.
    pub fn after_reply(&mut self, message: u32) {
        let calls_a_tool = |row: &crate::trace::MessageRow| self.trace.parts_of(row).iter().any(|part| part.kind == PartKind::ToolCall);
        let over = match self.trace.messages.get(message as usize + 1) {
            Some(next) => next.opens_turn(),
            None => !self.trace.messages.get(message as usize).is_some_and(calls_a_tool),
        };
        if over {
            self.end_turn();
        }
    }

    /// Runs the rules for the end of a turn, once for each.
    pub fn end_turn(&mut self) {
        if !self.turn_ended && !self.outcome.calls.is_empty() {
            self.turn_ended = true;
            self.checkpoint(Hook::TurnEnd);
        }
    }

    /// Hands over what was written down.
    pub fn finish(mut self) -> Outcome {
        self.close();
        for (name, carried) in self.trace.tools.iter().zip(&self.tools) {
            if *carried != Default::default() {
                *self.outcome.totals.tools.entry(name.clone()).or_default() += *carried;
            }
        }
        for warning in warnings(&self.notes) {
            self.outcome.totals.warnings.insert(warning, 1);
        }
        if never_fires(self.plan, self.conditions) {
            self.outcome.totals.warnings.insert(Warning::NeverFires, 1);
        }
        self.outcome.events = self.notes.iter().map(|note| note.event(self.plan, self.trace)).collect();
        self.outcome
    }
}
