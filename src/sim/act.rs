//! A rule fires: its selection is acted upon, with guards, and what it did is written down.

use super::cause::Look;
use super::intake::cut_item;
use super::intent::Chosen;
use super::note::Note;
use super::outcome::{EventKind, Lasts, SummaryCall};
use super::state::State;
use crate::context::{Arrival, Ends, Item, Region, Replacement, SeenItem, State as ItemState};
use crate::estimate::Guess;
use crate::policy::{
    AfterRewrite, Basis, Bounds, Comparison, Cut, Drop, Input, Kind, MaxFires, MinSaving, Mode, Place, Range, ReportedAs, Rule, Select,
    Selection, Shortened, Summarise, SummariserOverflow, SummaryRole, Switch, Truncate, Verdict, cut, own_text,
};
use crate::trace::PartKind;
use crate::transcript::{Length, Role, Text};
use crate::units::Tokens;

/// What an action did.
pub(super) enum Done {
    /// It changed this many items or messages.
    Changed(EventKind, u32),
    /// There was nothing to do, or not enough of it.
    Nothing,
    /// It was tried and came to nothing: the summariser was refused, or its summary would have been larger than what it replaces.
    Failed,
}

impl State<'_> {
    /// Runs one rule if its trigger fires and its guards permit.
    pub fn run(&mut self, index: usize, rule: &Rule) -> bool {
        let Some(memory) = self.memories.get(index).copied() else { return false };
        if memory.latched || spent(rule.max_fires.as_ref(), &memory) {
            return false;
        }
        let verdict =
            rule.when.as_ref().map_or(Verdict { fires: true, ..Verdict::default() }, |trigger| trigger.evaluate(&self.sight(&memory)));
        let before = self.actual();
        if let Some(level) = verdict.level {
            let covers = if level.sees_pending { before } else { self.actual_after_reply };
            self.look = Some(Look { rule: index, belief: level.tokens, limit: level.limit, covers, whole: before, left: None });
        }
        self.ask_referee(|referee, state| referee.verdict(state, index, &verdict, before));
        if !verdict.fires {
            return false;
        }
        if let Some(memory) = self.memories.get_mut(index) {
            memory.in_call += 1;
            memory.in_turn += 1;
            memory.in_session += 1;
            memory.fired_at = self.outcome.totals.calls;
        }
        let done = self.act(index, rule);
        let changed = self.report(index, rule, &verdict, before, done);
        let after = self.actual();
        if let Some(look) = self.look.as_mut().filter(|_| verdict.level.is_some() && rule.shrinks()) {
            look.left = Some(after);
        }
        changed
    }

    fn report(&mut self, index: usize, rule: &Rule, verdict: &Verdict, before: u64, done: Done) -> bool {
        let after = self.actual();
        // Where a count made the rule fire, the limit of a size that was looked at as well explains nothing.
        let count = verdict.count.filter(|_| !verdict.level.is_some_and(|level| level.reached));
        let note = Note {
            belief: verdict.level.map(|level| level.tokens),
            limit: verdict.level.filter(|_| count.is_none()).map(|level| level.limit.max(0.0) as u64),
            count,
            before,
            after,
            ..self.event(Some(index))
        };
        match done {
            Done::Changed(kind, touched) => {
                let buffer = self.plan.window.safety_buffer as f64;
                let early = verdict.level.is_some_and(|level| level.reached && (before as f64) + buffer < level.limit);
                let shrinks = matches!(kind, EventKind::Prune | EventKind::Compact | EventKind::Drop | EventKind::Reset);
                self.outcome.totals.early += u64::from(early && shrinks);
                self.note(Note { kind, touched, lasts: self.lasts(rule), ..note });
                true
            }
            Done::Nothing | Done::Failed => {
                if rule.latch_on_fail == Switch::On
                    && matches!(done, Done::Failed)
                    && let Some(memory) = self.memories.get_mut(index)
                {
                    memory.latched = true;
                }
                let other = rule.otherwise.as_ref().and_then(|id| self.plan.rule.iter().position(|other| other.id == *id));
                match other.and_then(|other| self.plan.rule.get(other).map(|rule| (other, rule))) {
                    Some((other, rule)) => self.run(other, rule),
                    None => {
                        self.note(Note { kind: EventKind::NoGain, ..note });
                        false
                    }
                }
            }
        }
    }

    /// How long what a rule has just done lasts.
    fn lasts(&self, rule: &Rule) -> Lasts {
        match rule.mode {
            Mode::View => Lasts::Request,
            Mode::Turn => Lasts::Turn,
            // What was there before is set aside where too little came of it.
            Mode::CommitIfFewer if self.aside.is_some() => Lasts::Request,
            Mode::Commit | Mode::CommitIfFewer => Lasts::Session,
        }
    }

    fn act(&mut self, index: usize, rule: &Rule) -> Done {
        if matches!(rule.mode, Mode::Commit | Mode::CommitIfFewer) {
            // What lasts is done to the stored history, not to the view of it that this turn works with.
            self.restore_turn_view();
        }
        self.ask_referee(|referee, state| referee.deed(state, index));
        self.context.edit_for(Some(index as u32));
        let done = match (&rule.mask, &rule.truncate, &rule.drop, &rule.summarise) {
            (Some(mask), ..) => self.mask(index, mask),
            (_, Some(limits), ..) => self.truncate(rule, limits),
            (_, _, Some(drop), _) => self.remove(rule, drop),
            (.., Some(summarise)) => self.summarise(rule, summarise),
            _ if rule.inject.is_empty() => Done::Nothing,
            _ => {
                self.before_edit(rule);
                Done::Changed(EventKind::Inject, rule.inject.len() as u32)
            }
        };
        self.context.edit_for(None);
        if let (Done::Changed(..), Some(stored)) = (&done, self.replaced.take())
            && self.context.len() >= stored.context.len()
        {
            self.aside = Some(stored);
        }
        if let Done::Changed(..) = done {
            for inject in &rule.inject {
                self.insert(&text_of(inject.tokens), inject.role, inject.place);
            }
        }
        done
    }

    /// Puts a text of the policy's own into the context.
    fn insert(&mut self, text: &Text, role: SummaryRole, place: Place) {
        if text.tokens == 0 {
            return;
        }
        let item = self.context.own_text(text, Region::Summary);
        self.outcome.totals.injected_tokens += item.actual;
        let at = match place {
            Place::End => None,
            Place::BeforeReply => self.context.newest_reply(),
            Place::Head | Place::SystemPrompt => Some(self.context.after_system()),
        };
        let role = match (place, role) {
            (Place::SystemPrompt, _) | (_, SummaryRole::System) => Role::System,
            (_, SummaryRole::User) => Role::User,
            (_, SummaryRole::Assistant) => Role::Assistant,
        };
        let is_summary = place != Place::SystemPrompt;
        let arrival = Arrival { message: None, role, opens_turn: false, is_summary, unseen: false, call: self.index as u32 };
        let id = self.context.push(arrival, [item], at);
        self.pending += self.context.entry(id).map_or(0, |entry| entry.estimated);
    }

    fn context_item(&self, id: u32, cut: &Cut) -> Option<Replacement> {
        let item = self.context.item(id)?;
        let part = self.trace.parts.get(item.part? as usize)?;
        let by = cut_item(&self.gauge(), item, part, cut, self.context.role_of(id)?);
        // What an earlier cut has taken does not come back.
        let ends = if item.state == ItemState::Whole { cut.ends } else { cut.ends.least(item.ends) };
        Some(Replacement { state: ItemState::Truncated, ends, guess: by.guess, alone: by.alone, actual: by.actual })
    }

    fn truncate(&mut self, rule: &Rule, limits: &Truncate) -> Done {
        let items = rule.select.items(self.context.view(), &self.trace.tools);
        let changes = self.cuttable(rule, limits, &items);
        if changes.is_empty() {
            return Done::Nothing;
        }
        self.before_edit(rule);
        let touched = changes.len() as u32;
        for (item, by, text) in changes {
            self.context.replace(item, by);
            self.cuts.insert(item, text);
        }
        Done::Changed(kind_of(rule, EventKind::Truncate), touched)
    }

    /// The items that a limit would cut, and what is left of them; none where a guard forbids it.
    pub fn cuttable(&self, rule: &Rule, limits: &Truncate, items: &[SeenItem]) -> Vec<(u32, Replacement, Text)> {
        let mut changes = Vec::new();
        let mut gross = 0;
        for item in items {
            let Some(part) = self.context.item(item.id).and_then(|item| item.part).and_then(|part| self.trace.parts.get(part as usize))
            else {
                continue;
            };
            let Some(cut) = cut(limits, self.cuts.get(&item.id).unwrap_or(&part.text)) else { continue };
            // A text that was cut before, marker and all, is not cut again for nothing.
            if let Some(by) = self.context_item(item.id, &cut).filter(|by| by.alone < item.alone) {
                gross += item.alone;
                changes.push((item.id, by, cut.text));
            }
        }
        let comes: u64 = changes.iter().map(|(_, by, _)| by.alone).sum();
        if enough(rule.min_saving.as_ref(), gross, comes) { changes } else { Vec::new() }
    }

    /// The messages that a rule would remove or summarise; `None` where there are none, or a guard forbids it.
    fn selection(&self, rule: &Rule) -> Option<Selection> {
        let chosen = self.chosen(&rule.select);
        permits(rule, &chosen).then_some(chosen.selection)
    }

    /// The messages that a selection takes.
    fn chosen(&self, select: &Select) -> Chosen {
        let range = select.looked_at(self.context.view());
        self.chosen_between(select, &range, select.bounds(&range))
    }

    /// The messages that a selection takes between its bounds.
    pub fn chosen_between(&self, select: &Select, range: &Range, bounds: Bounds) -> Chosen {
        let view = self.context.view();
        let selection = select.between(range, bounds, view, view.request() + self.incoming);
        let entries = || selection.gone.iter().filter_map(|id| self.context.entry(*id));
        let new = entries().filter(|entry| !entry.is_summary).count() as u64;
        let gross = entries().map(|entry| entry.estimated).sum();
        Chosen { selection, new, gross }
    }

    fn remove(&mut self, rule: &Rule, drop: &Drop) -> Done {
        if removes_items(rule) {
            return self.remove_items(rule);
        }
        let Some(selection) = self.selection(rule) else { return Done::Nothing };
        self.before_edit(rule);
        self.shorten(rule, &selection);
        let leaving = selection.leaving();
        self.context.remove(&leaving);
        self.insert(&own_text(&drop.marker_for(leaving.len())), drop.role, drop.place);
        self.rewritten();
        Done::Changed(kind_of(rule, EventKind::Drop), leaving.len() as u32)
    }

    fn remove_items(&mut self, rule: &Rule) -> Done {
        let items = rule.select.items(self.context.view(), &self.trace.tools);
        if !removable(rule, &items) {
            return Done::Nothing;
        }
        self.before_edit(rule);
        items.iter().for_each(|item| self.context.remove_item(item.id));
        Done::Changed(kind_of(rule, EventKind::Drop), items.len() as u32)
    }

    fn summarise(&mut self, rule: &Rule, summarise: &Summarise) -> Done {
        if self.is_refused_unread(rule, summarise) {
            return Done::Failed;
        }
        let Some(selection) = self.selection(rule) else { return Done::Nothing };
        let replaced = self.actual_of(&selection.gone);
        let size = self.summary_tokens(replaced);
        if rule.no_inflate == Switch::On && size + summarise.wrapper_tokens >= replaced.0 {
            return Done::Failed;
        }
        let Some(input) = self.summariser_input(summarise, &selection) else { return Done::Failed };
        self.before_edit(rule);
        let prose = |id: &&u32| self.context.entry(**id).is_some_and(|entry| matches!(entry.role, Role::User | Role::Assistant));
        let few = selection.gone.iter().filter(prose).count() as u64 <= summarise.calls_above;
        let calls = u64::from(if few { summarise.calls.min(1) } else { summarise.calls });
        let totals = &mut self.outcome.totals;
        totals.summariser_calls += calls;
        totals.summariser_tokens += input + calls.max(1) * size;
        if calls > 0 {
            let prefix = if summarise.input == Input::Context { self.prefix().min(input) } else { 0 };
            let call = self.index as u32;
            self.outcome.summaries.push(SummaryCall { call, prompt: input, prefix, output: calls * size, calls });
        }
        self.shorten(rule, &selection);
        let leaving = selection.leaving();
        self.context.condense(&selection.gone);
        self.context.remove(&selection.lost);
        if summarise.place == Place::SystemPrompt {
            self.context.remove_own_system_text();
        }
        self.insert(&text_of(size + summarise.wrapper_tokens), summarise.role, summarise.place);
        self.rewritten();
        Done::Changed(kind_of(rule, EventKind::Compact), leaving.len() as u32)
    }

    /// Is the summariser refused whatever there is to replace? Where it reads the whole context, and everything would go, there is no need
    /// to look at the messages. A session that has outgrown its window asks this at every call.
    fn is_refused_unread(&mut self, rule: &Rule, summarise: &Summarise) -> bool {
        let whole = summarise.input == Input::Context && summarise.on_overflow == SummariserOverflow::Fail;
        let unguarded = (rule.min_saving.as_ref(), rule.min_progress, rule.min_messages) == (None, None, None);
        whole
            && unguarded
            && rule.no_inflate == Switch::Off
            && rule.select.takes_all_messages()
            && self.context.view().message_count() > 0
            && self.summariser_input(summarise, &Selection::default()).is_none()
    }

    /// Tokens that the summariser reads; `None` where its request is refused.
    fn summariser_input(&mut self, summarise: &Summarise, selection: &Selection) -> Option<u64> {
        let limit = self.conditions.prompt_limit;
        let text = match summarise.input {
            Input::Context => self.actual(),
            Input::Selection => self.read_by_summariser(selection, summarise.tool_cap_utf16, |_| true),
            Input::Prose => self.read_by_summariser(selection, 0, |kind| matches!(kind, PartKind::Text | PartKind::Other)),
        };
        let input = text + summarise.prompt_tokens;
        if input <= limit {
            return Some(input);
        }
        let left = match summarise.on_overflow {
            SummariserOverflow::Fail => None,
            SummariserOverflow::DropOldest => self.without_oldest(summarise, selection, input, limit),
        };
        let (fits, refused) = left.map_or((None, 1), |(fits, refused)| (Some(fits), refused));
        let note = self.event(None);
        self.note(Note { kind: EventKind::SummariserOverflow, before: input, after: limit, touched: refused, ..note });
        self.summariser_refused |= fits.is_none();
        fits
    }

    /// The request of a summariser that leaves out the oldest message, and the results of its calls, after each refusal, and the number
    /// of refused tries. `None` where not even the newest message fits alone.
    fn without_oldest(&self, summarise: &Summarise, selection: &Selection, input: u64, limit: u64) -> Option<(u64, u32)> {
        let read: Vec<u32> = match summarise.input {
            Input::Context => self.context.live().filter(|(_, entry)| entry.role != Role::System).map(|(id, _)| id).collect(),
            Input::Selection | Input::Prose => selection.gone.clone(),
        };
        let (mut left, mut refused) = (input, 0);
        let mut oldest = read.iter().peekable();
        while let Some(id) = oldest.next() {
            let (cap, whole) = (summarise.tool_cap_utf16, summarise.input == Input::Context);
            let size = |id: u32| {
                let one = Selection { gone: vec![id], ..Selection::default() };
                let wanted = |kind| summarise.input != Input::Prose || matches!(kind, PartKind::Text | PartKind::Other);
                self.read_by_summariser(&one, if whole || summarise.input == Input::Prose { 0 } else { cap }, wanted)
            };
            refused += 1;
            left = left.saturating_sub(size(*id));
            while let Some(result) = oldest.next_if(|id| self.context.role_of(**id) == Some(Role::Tool)) {
                left = left.saturating_sub(size(*result));
            }
            if left <= limit {
                return oldest.peek().is_some().then_some((left, refused));
            }
        }
        None
    }

    fn read_by_summariser(&self, selection: &Selection, cap: u32, wanted: impl Fn(PartKind) -> bool) -> u64 {
        let entries = selection.gone.iter().filter_map(|id| self.context.entry(*id));
        let items = entries.flat_map(|entry| entry.first..entry.first + entry.count).filter_map(|id| self.context.item(id));
        items
            .map(|item| match item.part.and_then(|part| self.trace.parts.get(part as usize)) {
                None => item.actual,
                Some(part) if !wanted(part.kind) => 0,
                Some(part) if part.kind == PartKind::ToolResult && cap > 0 && part.text.length.utf16 > cap => {
                    item.actual.min(part.truth * u64::from(cap) / u64::from(part.text.length.utf16.max(1)))
                }
                Some(_) => item.actual,
            })
            .sum()
    }

    fn actual_of(&self, messages: &[u32]) -> Tokens {
        let entries = messages.iter().filter_map(|id| self.context.entry(*id));
        let items = entries.flat_map(|entry| entry.first..entry.first + entry.count).filter_map(|id| self.context.item(id));
        items.map(|item| Tokens(item.actual)).sum()
    }

    /// Cuts the one message that stays in part, all its texts alike, each with a marker in its midst.
    fn shorten(&mut self, rule: &Rule, selection: &Selection) {
        let Some(Shortened { id, keeps, of }) = selection.shortened else { return };
        let Some(entry) = self.context.entry(id).copied() else { return };
        for item in entry.first..entry.first + entry.count {
            let Some(old) = self.context.item(item).copied() else { continue };
            if let Some(by) = self.excerpt(rule, item, &old, keeps, of) {
                self.context.replace(item, by);
                continue;
            }
            let share = |value: u64| (u128::from(value) * u128::from(keeps) / u128::from(of.max(1))) as u64;
            let bytes = old.part.and_then(|part| self.trace.parts.get(part as usize)).map_or(0, |part| part.text.length.bytes);
            let by = Replacement {
                state: ItemState::Truncated,
                // What is older goes first.
                ends: Ends { tail: share(u64::from(bytes)) as u32, ..Ends::default() },
                guess: Guess { units: share(old.guess.units), tokens: share(old.guess.tokens), parts: old.guess.parts },
                alone: share(old.alone),
                actual: share(old.actual),
            };
            self.context.replace(item, by);
        }
    }

    /// An item of a recorded text, cut to its share of what the message keeps; `None` for what is no such text.
    fn excerpt(&self, rule: &Rule, id: u32, item: &Item, keeps: u64, of: u64) -> Option<Replacement> {
        let text = &self.trace.parts.get(item.part? as usize).filter(|part| part.kind == PartKind::Text)?.text;
        let share = (u128::from(item.alone) * u128::from(keeps) / u128::from(of.max(1))) as u64;
        let cut = cut(&rule.select.excerpt_limits(share, self.context.estimator()), text)?;
        self.context_item(id, &cut)
    }

    /// The policy has rewritten its own history: what is the last usage worth now?
    pub fn rewritten(&mut self) {
        self.actual_after_reply = self.actual();
        match self.plan.belief.after_rewrite {
            AfterRewrite::Estimate => {
                self.usage = Some((self.context.view().request(), 0));
                self.pending = 0;
            }
            AfterRewrite::Unknown => self.usage = None,
            AfterRewrite::Stale => {}
        }
    }
}

/// Does a removal take reasoning or pictures out of messages, instead of whole messages?
pub(super) fn removes_items(rule: &Rule) -> bool {
    let parts_alone = |kind: &Kind| matches!(kind, Kind::Thinking | Kind::Image);
    !rule.select.kind.is_empty() && rule.select.kind.iter().all(parts_alone)
}

/// Are there items to remove, and do they save enough?
pub(super) fn removable(rule: &Rule, items: &[SeenItem]) -> bool {
    !items.is_empty() && enough(rule.min_saving.as_ref(), items.iter().map(|item| item.alone).sum(), 0)
}

/// A text of so many tokens that a policy brings along, of four characters each.
fn text_of(tokens: u64) -> Text {
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    let chars = tokens.saturating_mul(4);
    let length = Length { bytes: chars, utf16: chars, chars, newlines: 0 };
    Text { length, tokens, json_bytes: chars, ..Text::default() }
}

/// Do the guards of a rule let it act upon these messages?
pub(super) fn permits(rule: &Rule, chosen: &Chosen) -> bool {
    let selection = &chosen.selection;
    let progress = selection.gone.len() as f64 >= rule.min_progress.unwrap_or(0.0) * selection.eligible as f64;
    let worth_it = chosen.new >= rule.min_messages.unwrap_or(0) && enough(rule.min_saving.as_ref(), chosen.gross, 0);
    let something = !selection.gone.is_empty() || selection.shortened.is_some();
    something && progress && worth_it
}

pub(super) fn kind_of(rule: &Rule, usual: EventKind) -> EventKind {
    match rule.event {
        Some(ReportedAs::Reset) => EventKind::Reset,
        Some(ReportedAs::Prune) => EventKind::Prune,
        Some(ReportedAs::Drop) => EventKind::Drop,
        Some(ReportedAs::Compact) => EventKind::Compact,
        None => usual,
    }
}

fn spent(limits: Option<&MaxFires>, memory: &super::state::Memory) -> bool {
    let reached = |limit: Option<u32>, count: u32| limit.is_some_and(|limit| count >= limit);
    limits.is_some_and(|limits| {
        reached(limits.per_call, memory.in_call)
            || reached(limits.per_turn, memory.in_turn)
            || reached(limits.per_session, memory.in_session)
    })
}

/// Does it save enough?
pub(super) fn enough(guard: Option<&MinSaving>, gross: u64, comes: u64) -> bool {
    let Some(guard) = guard else { return true };
    let saving = match guard.basis {
        Basis::Gross => gross,
        Basis::Net => gross.saturating_sub(comes),
    };
    match guard.cmp {
        Comparison::Gt => saving > guard.tokens,
        Comparison::Ge => saving >= guard.tokens,
    }
}
