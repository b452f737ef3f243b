//! `diff`: where two policies part, what each did there, and how their contexts go on from it.

use super::document::{Cell, Column, Fields, Report, Screen, Section, Table, Unit};
use super::record::diff::{DiffRecord, difference};
use super::title::title;
use super::words::{capital, counted, first_few, grouped, percent_of, short_dollars, three_digits};
use super::{answer, cautions, explain, finding, judged, notes};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind};
use crate::experiment::{Diff, Difference, Direction, Dropped, Parting, Replay, Side, found, sample};
use crate::list::Arrange;
use crate::sim::{CallOutcome, Event, Outcome};
use crate::statistics::{Bars, FEWEST, Finding, WORTH};
use crate::trace::Trace;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// So many things of a kind are named in a sentence; the others are counted.
const NAMED: usize = 3;

/// So many sentences of the summary open the first screen: where they part, what that comes to, and whether it counts.
const OPENING: usize = 3;

/// The report on two policies.
pub fn diff(corpus: &Corpus, diff: &Diff) -> Report {
    let notes = notes::notes(corpus, &diff.replays);
    let parted = diff.parted();
    let said = summary(corpus, diff, &parted);
    let mut sections = vec![Section::lines(said.clone())];
    let mut screen = None;
    if !parted.is_empty() {
        let rows = || rows(corpus, diff, parted.iter().copied());
        let numbers = match fails(diff, &parted) {
            true => numbers(true).table(2, rows()).titled("Where they part, simulated; failed sessions first, then the largest difference"),
            false => numbers(false).table(2, rows()).titled("Where they part, simulated; the largest difference first"),
        };
        screen = Some(first_screen(title(&corpus.facts), said, numbers.clone()));
        sections.push(numbers);
        sections.push(with_deeds(names()).table(2, rows()).titled("What each did there"));
    }
    let record = DiffRecord::new(corpus, diff);
    let (facts, rows) = (&corpus.facts, flat(corpus, diff));
    Report { screen, ..Report::over(facts, sections, notes, rows, record) }
}

/// Where they part, between what is said of all sessions and what each did first, which gives way to it.
fn first_screen(title: String, mut said: Vec<String>, numbers: Section) -> Screen {
    let below = said.split_off(OPENING.min(said.len()));
    let spare = below.iter().rev().cloned().collect();
    let below = (!below.is_empty()).then(|| Section::lines(below));
    let sections = [Section::lines(said), numbers].into_iter().chain(below).collect();
    Screen { title, sections, spare, ..Screen::default() }
}

/// A session under both.
struct Parted<'a> {
    trace: Cow<'a, Trace>,
    parting: Cow<'a, Option<Parting>>,
    outcomes: [Cow<'a, Outcome>; 2],
    names: [&'a str; 2],
}

/// What one policy did in that session.
struct Half<'a> {
    outcome: &'a Outcome,
    other: &'a Outcome,
    side: &'a Side,
}

impl<'a> Parted<'a> {
    fn at(corpus: &'a Corpus, diff: &'a Diff, place: usize) -> Option<Parted<'a>> {
        let [one, other] = &diff.replays;
        Some(Parted {
            trace: corpus.traces.at(place)?,
            parting: diff.partings.at(place)?,
            outcomes: [one.outcomes.at(place)?, other.outcomes.at(place)?],
            names: [&one.policy, &other.policy],
        })
    }

    /// The half of one of them, with where they part; `None` where they never do.
    fn half(&self, which: Which) -> Option<(&Parting, Half<'_>)> {
        let parting = self.parting.as_ref().as_ref()?;
        let ([one, other], [left, right]) = (&self.outcomes, &parting.sides);
        let half = match which {
            Which::One => Half { outcome: one, other, side: left },
            Which::Other => Half { outcome: other, other: one, side: right },
        };
        Some((parting, half))
    }

    fn name(&self, which: Which) -> &'a str {
        let [one, other] = self.names;
        if which == Which::One { one } else { other }
    }
}

/// One of the two policies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    One,
    Other,
}

/// Does a policy fail a session in which they part?
fn fails(diff: &Diff, parted: &[usize]) -> bool {
    let ends =
        |place: &usize| diff.replays.iter().any(|replay| replay.outcomes.at(*place).is_some_and(|outcome| outcome.ended_at().is_some()));
    parted.iter().any(ends)
}

fn summary(corpus: &Corpus, diff: &Diff, parted: &[usize]) -> Vec<String> {
    let [one, other] = &diff.replays;
    let all = corpus.facts.called_sessions;
    let alike = all.saturating_sub(parted.len() as u64);
    let Some(median) = diff.median_call() else {
        if let Some(sentence) = answer::no_calls(corpus) {
            return vec![sentence];
        }
        let all = counted(all, "session");
        // Behind the call at which both fail a session nothing is compared.
        let failed = one.totals.failed_sessions;
        let failed = if failed > 0 { format!(", up to the call at which both fail {} of them", grouped(failed)) } else { String::new() };
        let never = format!("{} and {} never part: at every call of {all} both have the same context{failed}.", one.policy, other.policy);
        let cost = cost(diff).map(|cost| format!("{}.", capital(&cost)));
        // That they act alike may be that neither acts.
        return std::iter::once(never).chain(cost).chain(answer::warnings(corpus, diff.replays.iter())).collect();
    };
    let never = if alike > 0 { format!("; in {} they never do", grouped(alike)) } else { String::new() };
    let mut lines = vec![format!(
        "{} and {} part in {} of {}, at call {median} in the median{never}.",
        one.policy,
        other.policy,
        parted.len(),
        counted(all, "session")
    )];
    let finished: Vec<[u64; 2]> = diff.prompt_tokens().into_iter().flatten().collect();
    let (here, there) = finished.iter().fold((0, 0), |(here, there), [one, other]| (here + one, there + other));
    let over = match corpus.traces.len() {
        all if finished.len() == all => "all sessions".to_owned(),
        all => finding::compared_of(finished.len(), all),
    };
    let failed = |replay: &Replay| format!("{} fails {}", replay.policy, grouped(replay.totals.failed_sessions));
    let failed = format!("{}, {}", failed(one), failed(other));
    let less = match here.checked_sub(there) {
        Some(0) => "the same sum".to_owned(),
        Some(saved) => format!("{} fewer ({}) for {}", three_digits(saved), percent_of(saved, here), other.policy),
        // Of the first policy's sum, as the interval below.
        None => format!("{} more ({}) for {}", three_digits(there - here), percent_of(there - here, here), other.policy),
    };
    let cost = cost(diff).map_or_else(String::new, |cost| format!("; {cost}"));
    let (here, there) = (three_digits(here), three_digits(there));
    lines.push(match finished.len() {
        0 => format!("Prompt tokens cannot be compared: no session is brought to its end by both ({failed} of {}).", grouped(all)),
        compared => {
            let failed = if compared < corpus.traces.len() { format!(" ({failed})") } else { String::new() };
            format!("Prompt tokens over {over}{failed}: {} {here}, {} {there}: {less}{cost}.", one.policy, other.policy)
        }
    });
    let bars = Bars { own_error: None, worth: WORTH, anchored: corpus.facts.anchored() };
    let difference = diff.difference(corpus);
    let judged = found(difference.as_ref(), Direction::Minimise, &bars);
    let compared = diff.compared();
    let summarised = |difference: &Difference| difference.summarised(diff.difference_with_summarisers(corpus)?);
    let told = |difference| judged::told(difference, summarised(difference), Direction::Minimise, &bars);
    let (summarised, turned) = difference.as_ref().map(told).unwrap_or_default();
    let told = difference.map_or_else(String::new, |difference| {
        format!(", {}{summarised}", finding::difference(&difference, &bars, &|tokens| grouped(tokens.unsigned_abs())))
    });
    lines.push(match judged {
        Finding::Better | Finding::Worse => {
            let less = if judged == Finding::Better { other } else { one };
            let [of_other, of_one] = &compared;
            let (least, most) = if judged == Finding::Better { (of_other, of_one) } else { (of_one, of_other) };
            let but = judged::but(least, most, turned).map(|but| format!("; but {} {but}", less.policy));
            let sends = if judged == Finding::Better { "fewer" } else { "more" };
            format!(
                "{} sends {sends} prompt tokens than {}, if runs stay as long{told}{}.",
                other.policy,
                one.policy,
                but.unwrap_or_default()
            )
        }
        Finding::NoDifference(within) => {
            format!("By prompt tokens there is no difference {}{told}.", finding::within(within, WORTH))
        }
        Finding::CannotJudge => {
            let why = finding::estimated(&bars).map(|words| format!("{words}; the difference is{}", told.trim_start_matches(',')));
            let why = why.unwrap_or_else(|| format!("it takes {FEWEST} sessions at the least"));
            format!("Which of them sends fewer on other sessions cannot be judged: {why}.")
        }
    });
    lines.extend(finding::drawn_alone(&sample(corpus.traces.each())).filter(|_| matches!(judged, Finding::Better | Finding::Worse)));
    lines.extend(cautions::told(cautions::shrunk(&[corpus], corpus.facts.calls)));
    lines.extend(cautions::told(cautions::of_shares(corpus)));
    for (which, name) in [(Which::One, &one.policy), (Which::Other, &other.policy)] {
        let (mut overflows, mut overflowing) = (0, 0);
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for met in parted.iter().filter_map(|place| Parted::at(corpus, diff, *place)) {
            let Some((parting, half)) = met.half(which) else { continue };
            let from_there = half.outcome.overflows_from(parting.call);
            overflows += from_there;
            overflowing += u64::from(from_there > 0);
            let kind = half.side.events.iter().find(|event| event.before != event.after).map_or("nothing", |event| event.kind.name());
            *kinds.entry(kind).or_default() += 1;
        }
        let overflows = match overflows {
            0 => "no overflow from there on".to_owned(),
            sum => format!("{} from there on, in {}", counted(sum, "overflow"), counted(overflowing, "session")),
        };
        let mut kinds: Vec<(&str, u64)> = kinds.into_iter().collect();
        kinds.arrange_by_key(|(kind, count)| (Reverse(*count), *kind));
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{} {count}", kind.replace('_', " "))).collect();
        lines.push(format!("What {name} did first where they part: {}; {overflows}.", first_few(&kinds, kinds.len())));
    }
    lines
}

/// What both cost over the sessions that both bring to their end, and which calls that leaves out; `None` where no call has a price.
fn cost(diff: &Diff) -> Option<String> {
    let bills = diff.bills()?;
    let [here, there] = bills.each_ref().map(|bills| bills.with(CacheKind::Recorded).nano_usd());
    let Bills { calls, unpriced_calls, .. } = bills[0];
    let of =
        if unpriced_calls > 0 { format!(" of {} of {} calls", grouped(calls - unpriced_calls), grouped(calls)) } else { String::new() };
    let dollars = |amount: u64| short_dollars(i64::try_from(amount).unwrap_or(i64::MAX));
    let more = finding::share(there as f64 / here as f64 - 1.0);
    (here > 0).then(|| format!("cost{of} with summarisers {} and {} ({more})", dollars(here), dollars(there)))
}

/// A session, and whose row it is.
type Row<'a> = (Rc<Parted<'a>>, Which);

const CALL: Column = Column::simulated("call", "call", Unit::Count).says("the first call at which their contexts differ").priority(1);

const fn tokens(key: &'static str, header: &'static str, meaning: &'static str, priority: u8) -> Column {
    Column { priority, ..Column::simulated(key, header, Unit::Tokens).says(meaning) }
}

/// What is told where they part.
fn of<'a>(cell: impl Fn(u32, &Parting, &Half<'_>) -> Cell + 'a) -> impl Fn(&Row<'a>) -> Cell + 'a {
    move |(met, which)| met.half(*which).map_or(Cell::Empty, |(parting, half)| cell(parting.call, parting, &half))
}

/// The session, the policy and the call.
fn names<'a>() -> Fields<'a, Row<'a>> {
    Fields::<Row<'a>>::new()
        .with(Column::name("session", "session"), |(met, _)| Cell::text(&met.trace.id))
        .with(Column::name("policy", "policy"), |(met, which)| Cell::name(met.name(*which)))
        .with(CALL, of(|call, _, _| Cell::Count(u64::from(call) + 1)))
}

/// The sizes; `fails` adds the call at which a policy fails the session.
fn numbers<'a>(fails: bool) -> Fields<'a, Row<'a>> {
    let context = |call: Option<&CallOutcome>| call.map_or(Cell::Empty, |call| Cell::Tokens(call.actual));
    let later = |calls: usize| of(move |call, _, half| context(half.outcome.calls.get(call as usize + calls)));
    let overflows = Column::simulated("overflows_later", "over\u{ad}flows", Unit::Count)
        .says("calls that the provider would have refused, from that call on")
        .priority(2);
    let before = tokens("before_tokens", "before", "that call's context if neither had done anything since the call before", 1);
    let peak = tokens("peak_tokens", "peak", "the largest context that a call of the session was tried with", 2);
    let against = tokens(
        "difference_tokens",
        "against the other",
        "prompt tokens less those of the other policy; empty where one of them fails the session",
        3,
    );
    let fails_at = Column::simulated("failed_call", "fails at", Unit::Count)
        .says("the call, from 1, at which the policy fails the session")
        .priority(1);
    let failed = of(|_, _, half| half.outcome.ended_at().map_or(Cell::Empty, |call| Cell::Count(call as u64 + 1)));
    let names = if fails { names().with(fails_at, failed) } else { names() };
    names
        .with(before, of(|_, parting, _| Cell::Tokens(parting.before)))
        .with(tokens("context_tokens", "context", "that call's context as it went out", 1), later(0))
        .with(
            tokens("dropped_tokens", "dropped", "what the policy took out in between", 1),
            of(|_, _, half| Cell::Tokens(half.side.dropped.tokens)),
        )
        .with(tokens("after_1_tokens", "+1", "context one call later", 2), later(1))
        .with(tokens("after_10_tokens", "+10", "context ten calls later", 2), later(10))
        .with(tokens("end_tokens", "end", "context of the last call", 2), of(move |_, _, half| context(half.outcome.calls.last())))
        .with(peak, of(|_, _, half| Cell::Tokens(half.outcome.totals.peak_tokens)))
        .with(
            tokens("prompt_tokens", "prompt tokens", "the contexts of all calls, summed", 3),
            of(|_, _, half| Cell::Tokens(half.outcome.totals.prompt_tokens)),
        )
        .with(against, of(|_, _, half| difference(half.outcome, half.other).map_or(Cell::Empty, Cell::SignedTokens)))
        .with(overflows, of(|call, _, half| Cell::Count(half.outcome.overflows_from(call))))
}

/// The same with what each policy did, in words.
fn with_deeds<'a>(fields: Fields<'a, Row<'a>>) -> Fields<'a, Row<'a>> {
    fields.with(Column::prose("what", "what it did"), of(|call, _, half| Cell::Text(story(half.side, call))))
}

/// Two rows for each of these sessions.
fn rows<'a>(corpus: &'a Corpus, diff: &'a Diff, places: impl Iterator<Item = usize>) -> impl Iterator<Item = Row<'a>> {
    let both = |met: Rc<Parted<'a>>| [(Rc::clone(&met), Which::One), (met, Which::Other)];
    places.filter_map(|place| Parted::at(corpus, diff, place)).map(Rc::new).flat_map(both)
}

fn story(side: &Side, call: u32) -> String {
    let event = |event: &Event| {
        let earlier = if event.call < call { format!(" after call {}", event.call + 1) } else { String::new() };
        format!("{}{earlier} ({})", explain::name(event.kind), explain::story(event))
    };
    let mut words: Vec<String> = vec![match side.events.as_slice() {
        [] => "nothing".to_owned(),
        events => first_few(&events.iter().map(event).collect::<Vec<_>>(), NAMED),
    }];
    if side.dropped.items > 0 {
        words.push(format!(
            "took {} out of {}: {}",
            grouped(side.dropped.tokens),
            counted(side.dropped.items, "item"),
            places(&side.dropped)
        ));
    }
    if side.returned > 0 {
        words.push(format!("{} came back as a view ended", grouped(side.returned)));
    }
    match side.added {
        0 => {}
        added if added > 0 => words.push(format!("put {} in", grouped(added.unsigned_abs()))),
        added => words.push(format!("took {} of its own texts away", grouped(added.unsigned_abs()))),
    }
    words.join("; ")
}

/// Where the dropped tokens stood, the largest place first: `tool result 1,200 (bash 900, read 300), user 40`.
fn places(dropped: &Dropped) -> String {
    let largest_first = |(name, tokens): &(String, u64)| (Reverse(*tokens), name.clone());
    let named = |places: &[(String, u64)]| {
        first_few(&places.iter().map(|(name, tokens)| format!("{name} {}", grouped(*tokens))).collect::<Vec<_>>(), NAMED)
    };
    let mut tools: Vec<(String, u64)> = dropped.by_tool.iter().map(|(tool, tokens)| (tool.clone(), *tokens)).collect();
    tools.arrange_by_key(largest_first);
    let mut regions: Vec<(String, u64)> =
        dropped.by_region.iter().map(|(region, tokens)| (region.name().replace('_', " "), *tokens)).collect();
    regions.arrange_by_key(largest_first);
    let tools = if tools.is_empty() { String::new() } else { format!(" (of {})", named(&tools)) };
    named(&regions) + &tools
}

/// One row per session and policy, in the corpus's order; those that never part have no call.
fn flat(corpus: &Corpus, diff: &Diff) -> Table {
    with_deeds(numbers(true)).table(2, rows(corpus, diff, 0..corpus.traces.len()))
}
