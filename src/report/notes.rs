//! What stands below every report: what its numbers rest on, and what was left out.

use super::words::{counted, counted_as, first_few, grouped, percent_of};
use super::{scenario, uncached};
use crate::catalog::Scenario;
use crate::corpus::{Corpus, CorpusFacts};
use crate::experiment::{Replay, is_manual};
use crate::list::Gather;
use crate::sim::{EventKind, Lasts, Totals};
use crate::transcript::Trust;
use std::collections::{BTreeMap, BTreeSet};

/// So many things of a kind are named; the others are counted.
const NAMED: usize = 3;

/// Below this share of anchored tokens a report says plainly that it rests on estimates, in millionths.
const LOW_ANCHORAGE: u64 = 500_000;

const OPEN_LOOP: &str = "Replay keeps the recorded messages; a real agent might have acted differently.";

const PROVENANCE: &str = "Calls are recorded. Sizes are recorded usage as far as they are anchored, tokenizer estimates beyond. \
                          What policies do, and all that follows from it, is simulated.";

/// What a replay supposes, and how long runs got where it did not hold.
fn open_loop() -> String {
    let longer = Scenario::builtin().ok().and_then(|scenarios| scenario::note(&scenarios));
    longer.into_iter().fold(OPEN_LOOP.to_owned(), |told, longer| format!("{told} {longer}"))
}

/// The notes of a report over a corpus.
pub fn notes(corpus: &Corpus, replays: &[Replay]) -> Vec<String> {
    let facts = &corpus.facts;
    let mut notes = vec![open_loop(), PROVENANCE.to_owned(), anchorage(facts)];
    notes.extend(aside(corpus));
    notes.extend(trust(facts));
    notes.extend(uncached::notes(corpus));
    notes.extend(summaries(replays));
    notes.extend(passing(replays));
    notes.extend(undone(facts));
    notes.extend(unseen(facts));
    notes.extend(duplicates(facts));
    notes.extend(taken_up(corpus));
    notes.extend(sub_agents(corpus, replays));
    notes.extend(unknown_models(replays));
    notes.extend(own_windows(replays));
    notes.extend(outgrown(replays));
    notes.extend(uncompacted(replays));
    notes.extend(prompt_limits(replays));
    notes.extend(too_small(corpus, replays));
    notes.extend(replays.iter().filter_map(in_pauses));
    notes.extend(after_end(replays));
    notes.extend(left_out(facts));
    notes.extend(losses(facts));
    notes
}

/// The least that is said below a chart of policies: what its figures rest on, and what was left out.
pub fn below_a_replay(corpus: &Corpus) -> Vec<String> {
    std::iter::once(OPEN_LOOP.to_owned()).chain(below_a_chart(corpus)).collect()
}

/// The same below a chart that replays nothing.
pub fn below_a_chart(corpus: &Corpus) -> Vec<String> {
    let facts = &corpus.facts;
    std::iter::once(anchorage(facts)).chain(unused(facts)).collect()
}

/// What was not looked at and what could not be used, where there is little room.
pub fn unused(facts: &CorpusFacts) -> Option<String> {
    let files: Vec<&str> = facts.skipped.iter().map(|skipped| name_of(&skipped.path)).collect();
    let records: u64 = facts.losses.iter().map(|loss| loss.count).sum();
    let skipped = (!files.is_empty()).then(|| format!("{} skipped ({})", counted(files.len() as u64, "file"), first_few(&files, 1)));
    let lost = (records > 0).then(|| format!("{} not used{}", counted(records, "record"), sums(facts)));
    let copies = facts.duplicates.sessions;
    let copied =
        (copies > 0).then(|| format!("{} left out as {}", counted(copies, "session"), if copies == 1 { "a copy" } else { "copies" }));
    let hidden = |(count, first): (u64, &str)| format!("{} passed over ({first})", counted(count, "hidden folder"));
    let hidden = facts.hidden.first().map(|first| hidden((facts.hidden.len() as u64, name_of(first))));
    let parts: Vec<String> = skipped.into_iter().chain(lost).chain(copied).chain(hidden).collect();
    let unused = (!parts.is_empty()).then(|| format!("{}; `ctxsim inspect` says why.", parts.join(", ")));
    let said: Vec<String> = selection(facts).into_iter().chain(unused).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// How many of the losses are sums of whole sessions, and what they say in dollars; empty where none are. A bill that is estimated may be far from them.
fn sums(facts: &CorpusFacts) -> String {
    let sums = facts.losses.iter().filter_map(|loss| Some((loss.count, loss.sum_in_dollars()?)));
    let (count, dollars) = sums.fold((0, 0.0), |(all, sum), (count, more)| (all + count, sum + more));
    let what = match count {
        0 => return String::new(),
        1 => "1 of them the sum of a whole session".to_owned(),
        _ => format!("{} of them sums of whole sessions", grouped(count)),
    };
    if dollars > 0.0 { format!(", {what} (${dollars:.2} recorded)") } else { format!(", {what}") }
}

/// The name of a file without its folders.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The notes of a report over sessions that are not at hand any more: what the whole corpus says.
pub fn of_facts(facts: &CorpusFacts) -> Vec<String> {
    let mut notes = vec![open_loop(), PROVENANCE.to_owned(), anchorage(facts)];
    notes.extend(trust(facts));
    notes.extend(undone(facts));
    notes.extend(on_the_logs(facts));
    notes
}

/// The notes of a report that replays nothing.
pub fn without_replay(corpus: &Corpus) -> Vec<String> {
    let facts = &corpus.facts;
    std::iter::once(anchorage(facts)).chain(trust(facts)).chain(on_the_logs(facts)).collect()
}

/// The notes of a backtest: `how` says from which context each event is predicted.
pub fn of_backtest(corpus: &Corpus, how: &str) -> Vec<String> {
    [how.to_owned(), PROVENANCE.to_owned()].into_iter().chain(without_replay(corpus)).collect()
}

/// The notes of a report on one session: what is said of the other sessions is left out.
pub fn of_one_session(corpus: &Corpus, replay: &Replay) -> Vec<String> {
    let totals = &replay.totals;
    let share = percent_of(totals.anchored_tokens, totals.prompt_tokens);
    let anchorage = format!("{share} of the prompt tokens are anchored on recorded usage, the rest are tokenizer estimates.");
    let mut notes = vec![OPEN_LOOP.to_owned(), PROVENANCE.to_owned(), anchorage];
    let replays = std::slice::from_ref(replay);
    notes.extend(summaries(replays));
    notes.extend(unknown_models(replays));
    notes.extend(own_windows(replays));
    notes.extend(outgrown(replays));
    notes.extend(uncompacted(replays));
    notes.extend(too_small(corpus, replays));
    notes.extend(left_out(&corpus.facts));
    notes.extend(losses(&corpus.facts));
    notes
}

/// The notes on what was read, for reports without a replay.
pub fn of_corpus(corpus: &Corpus) -> Vec<String> {
    let facts = &corpus.facts;
    let mut notes: Vec<String> = trust(facts).into_iter().chain(duplicates(facts)).collect();
    notes.extend(taken_up(corpus));
    notes.extend(sub_agents(corpus, &[]));
    notes.extend(left_out(facts));
    notes.extend(losses(facts));
    notes
}

fn anchorage(facts: &CorpusFacts) -> String {
    let anchored = facts.anchored_millionths;
    if facts.calls_with_usage == 0 {
        return "No usage was recorded: every size is a tokenizer estimate.".to_owned();
    }
    let share = percent_of(anchored, 1_000_000);
    let start = format!("Usage is recorded for {} of {}", grouped(facts.calls_with_usage), counted(facts.calls, "call"));
    let verdict = if anchored < LOW_ANCHORAGE { " That is little: take the sizes above for estimates." } else { "" };
    format!("{start}; {share} of all context tokens are anchored on it, the rest are tokenizer estimates.{verdict}")
}

/// What calls that no conversation holds are of.
pub const ASIDE: &str = "of summarisers, titles and the like";

/// Calls of the recording agents that no conversation holds.
fn aside(corpus: &Corpus) -> Option<String> {
    let aside = calls_aside(corpus);
    let are = if aside == 1 { "is" } else { "are" };
    (aside > 0).then(|| format!("{} {ASIDE} {are} counted above and not replayed.", counted(aside, "recorded call")))
}

/// Number of recorded calls that no conversation holds.
pub fn calls_aside(corpus: &Corpus) -> u64 {
    let replayed: u64 = corpus.traces.each().map(|trace| trace.calls.len() as u64).sum();
    corpus.facts.calls.saturating_sub(replayed)
}

fn trust(facts: &CorpusFacts) -> Option<String> {
    let named = |trust: &Trust| match trust {
        Trust::Provider => "reported by the provider",
        Trust::Estimated => "estimated or rounded by the agent",
        Trust::Partial => "of a part of the prompt, or of other requests too",
        Trust::Beyond => "the provider's of a prompt that the log holds in part",
        Trust::Shared => "shares of sums that the log has of many calls",
        Trust::Mock => "made up by a mock server",
    };
    let doubtful = facts.usage_by_trust.iter().any(|(trust, count)| *trust != Trust::Provider && *count > 0);
    let mix: Vec<String> = facts.usage_by_trust.iter().map(|(trust, count)| format!("{} {}", grouped(*count), named(trust))).collect();
    doubtful.then(|| {
        format!(
            "Recorded usage is {}; only the provider's own anchors sizes; where it has none at all, estimated prompts count.",
            mix.join(", ")
        )
    })
}

/// The part of sessions that another one started, and those of them that were left out.
fn sub_agents(corpus: &Corpus, replays: &[Replay]) -> Vec<String> {
    let mut notes = Vec::new();
    let left_out = corpus.facts.sub_agents_left_out;
    if left_out > 0 {
        notes.push(format!("Left out, as was asked: {} that another one started.", counted(left_out, "session")));
    }
    let theirs = corpus.traces.each().filter(|trace| trace.parent.is_some()).count() as u64;
    if let (1.., Some(replay)) = (theirs, replays.first()) {
        let of_sub_agents = corpus.traces.each().zip(replay.outcomes.each()).filter(|(trace, _)| trace.parent.is_some());
        let part: u64 = of_sub_agents.map(|(_, outcome)| outcome.totals.baseline_tokens).sum();
        let whole = replay.totals.baseline_tokens;
        let share = percent_of(part, whole);
        notes.push(format!(
            "{} of {} {} started by another one: {share} of the prompt tokens of all calls under no policy, recorded and estimated.",
            grouped(theirs),
            counted(corpus.traces.len() as u64, "session"),
            if theirs == 1 { "was" } else { "were" }
        ));
    }
    notes
}

fn summaries(replays: &[Replay]) -> Option<String> {
    let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for replay in replays.iter().filter(|replay| !replay.summary_model.is_empty()) {
        models.entry(&replay.summary_model).or_default().push(&replay.policy);
    }
    let models: Vec<String> = models.iter().map(|(model, policies)| format!("{} ({model})", policies.join(", "))).collect();
    (!models.is_empty()).then(|| format!("Sizes of summaries are modelled: {}.", models.join("; ")))
}

/// What is shown in place of old items for one request is shown anew for the next: each of them is an event.
fn passing(replays: &[Replay]) -> Option<String> {
    let of = |replay: &Replay| {
        if replay.totals.events_of(EventKind::Prune) + replay.totals.after_end.prunes == 0 {
            return None;
        }
        let (mut passing, mut all) = (0, 0);
        for outcome in replay.outcomes.each() {
            for event in outcome.events.iter().filter(|event| event.kind == EventKind::Prune) {
                all += 1;
                passing += u64::from(event.lasts != Lasts::Session);
            }
        }
        (passing > 0).then(|| format!("{} ({} of {})", replay.policy, grouped(passing), grouped(all)))
    };
    let policies: Vec<String> = replays.iter().filter_map(of).collect();
    (!policies.is_empty()).then(|| {
        format!(
            "Prunes that hold for one request or turn alone: {}. The policy takes the same items out again for the next one, and each time counts.",
            policies.join(", ")
        )
    })
}

fn undone(facts: &CorpusFacts) -> Option<String> {
    let count = facts.recorded_compactions;
    let what = if count == 1 { "compaction or pruning" } else { "compactions and prunings" };
    (count > 0).then(|| format!("Undone for replay: {} {what} by the recording agents themselves.", grouped(count)))
}

/// Compactions that people asked for: a search undoes them under each setting, the defaults too.
pub fn manual_undone(corpora: &[&Corpus]) -> Option<String> {
    let of = |corpus: &&Corpus| {
        corpus.traces.each().map(|trace| trace.compactions.iter().filter(|row| is_manual(row)).count() as u64).sum::<u64>()
    };
    let count = corpora.iter().map(of).sum();
    let what = counted_as(count, "manual compaction of the logs is", "manual compactions of the logs are");
    (count > 0).then(|| format!("{what} not replayed, under the defaults either."))
}

/// What is said of the logs in the end: what they hold and what they do not.
fn on_the_logs(facts: &CorpusFacts) -> impl Iterator<Item = String> {
    unseen(facts).into_iter().chain(duplicates(facts)).chain(left_out(facts)).chain(losses(facts))
}

/// Logs that begin in the middle of their conversation.
fn unseen(facts: &CorpusFacts) -> Option<String> {
    let unseen = facts.unseen;
    let told = unseen.sessions - unseen.unknown;
    let sized = (told > 0).then(|| {
        format!("{} tokens of it stand as one message at the front of {}, estimated", grouped(unseen.tokens), counted(told, "session"))
    });
    let unknown = (unseen.unknown > 0).then(|| format!("for {} nothing tells it from the hidden overhead", grouped(unseen.unknown)));
    let parts: Vec<String> = sized.into_iter().chain(unknown).collect();
    (unseen.sessions > 0)
        .then(|| format!("{} after the conversation does: {}.", counted_as(unseen.sessions, "log begins", "logs begin"), parts.join("; ")))
}

/// Sessions that go on from another one whose history their agent cut.
fn taken_up(corpus: &Corpus) -> Option<String> {
    let sessions = corpus.traces.each().filter(|trace| trace.takes_up.is_some()).count() as u64;
    let what = counted_as(sessions, "session takes", "sessions take");
    (sessions > 0).then(|| format!("{what} up the end of another: its agent cut its history."))
}

fn duplicates(facts: &CorpusFacts) -> Option<String> {
    let copies = facts.duplicates;
    (copies.sessions > 0 || copies.calls > 0).then(|| {
        let files = match copies.files {
            0 => String::new(),
            files => format!("; {} nothing else", counted_as(files, "file holds", "files hold")),
        };
        let forms = match copies.other_forms {
            0 => String::new(),
            forms => format!(" ({} the same run in another form)", counted_as(forms, "is", "are")),
        };
        format!(
            "Counted once although copied in several files: {}{forms} and {}{files}.",
            counted(copies.sessions, "session"),
            counted(copies.calls, "call")
        )
    })
}

fn or_nameless(model: &str) -> &str {
    if model.is_empty() { "sessions that name no model" } else { model }
}

fn unknown_models(replays: &[Replay]) -> Vec<String> {
    let mut taken: BTreeMap<&str, BTreeMap<u64, Vec<&str>>> = BTreeMap::new();
    for replay in replays {
        for (model, window) in &replay.unknown_models {
            taken.entry(model).or_default().entry(*window).or_default().push(&replay.policy);
        }
    }
    let describe = |(model, windows): (&&str, &BTreeMap<u64, Vec<&str>>)| {
        let model = or_nameless(model);
        let by_policy: Vec<String> =
            windows.iter().map(|(window, policies)| format!("{} by {}", grouped(*window), policies.join(", "))).collect();
        match windows.first_key_value() {
            Some((window, _)) if windows.len() == 1 => format!("{model} ({})", grouped(*window)),
            _ => format!("{model} ({})", by_policy.join("; ")),
        }
    };
    let models: Vec<String> = taken.iter().map(describe).collect();
    let note = format!(
        "Models that the catalogue does not know, with the window in tokens that was taken: {}. --window N sets it.",
        models.join(", ")
    );
    if models.is_empty() { Vec::new() } else { vec![note] }
}

/// What agents went by differs from what their models can hold.
fn own_windows(replays: &[Replay]) -> Option<String> {
    let named: BTreeSet<&(String, u64, u64)> = replays.iter().flat_map(|replay| &replay.own_windows).gather();
    let named: Vec<String> = named
        .into_iter()
        .map(|(model, window, catalogue)| match catalogue {
            0 => format!("{} ({})", or_nameless(model), grouped(*window)),
            catalogue => format!("{model} ({} for {})", grouped(*window), grouped(*catalogue)),
        })
        .collect();
    let what = "Windows that logs name or hosts set, in tokens, for those of the models";
    (!named.is_empty()).then(|| format!("{what}: {}. --window N or --model sets another.", named.join(", ")))
}

fn outgrown(replays: &[Replay]) -> Option<String> {
    let reason = "Recorded prompts, of these models or of others of their sessions, are larger than the known window; taken so that they fit, in tokens";
    taken(replays, reason, |replay| &replay.outgrown).map(|models| format!("{models}."))
}

fn uncompacted(replays: &[Replay]) -> Option<String> {
    let reason = "Calls went on above the agent's own limit without a compaction, so a larger window was in force or automatic compaction was off; the next larger one is taken, in tokens";
    taken(replays, reason, |replay| &replay.uncompacted).map(|models| format!("{models}. --window N sets another."))
}

/// Models with the windows that were taken for them, and why.
fn taken(replays: &[Replay], reason: &str, of: fn(&Replay) -> &Vec<(String, u64)>) -> Option<String> {
    let models: BTreeSet<(&String, u64)> =
        replays.iter().flat_map(|replay| of(replay).iter().map(|(model, window)| (model, *window))).gather();
    let models: Vec<String> = models.iter().map(|(model, window)| format!("{} ({})", or_nameless(model), grouped(*window))).collect();
    (!models.is_empty()).then(|| format!("{reason}: {}", models.join(", ")))
}

/// Where a provider limits prompts apart from the window, or refused one in the log, overflows are judged by that limit: of the model that `--model` names, else of the recorded one.
fn prompt_limits(replays: &[Replay]) -> Option<String> {
    let limited: BTreeSet<&(String, u64, u64)> = replays.iter().flat_map(|replay| &replay.prompt_limits).gather();
    let of = |(model, limit, window): &(String, u64, u64)| format!("{} ({} of {})", or_nameless(model), grouped(*limit), grouped(*window));
    let names: Vec<String> = limited.into_iter().map(of).collect();
    let what =
        "Models that take no prompt as large as their window, or refused one in the log; overflows are judged by that limit, in tokens";
    (!names.is_empty()).then(|| format!("{what}: {}.", first_few(&names, NAMED)))
}

/// What a policy that acts in pauses comes to where the program was closed in each of them.
fn in_pauses(replay: &Replay) -> Option<String> {
    let closed = replay.closed_in_pauses.as_deref()?;
    let read = |totals: &Totals| grouped(totals.prompt_tokens + totals.summariser_tokens);
    Some(format!(
        "{} acts in pauses, and no log says whether the program still ran: {} tokens in prompts and summaries where it always did, {} \
         where it never did; failed sessions {} and {}.",
        replay.policy,
        read(&replay.totals),
        read(closed),
        replay.totals.failed_sessions,
        closed.failed_sessions
    ))
}

/// What a policy's failed sessions still hold in the logs.
fn after_end(replays: &[Replay]) -> Option<String> {
    let failed = replays.iter().filter(|replay| replay.totals.failed_sessions > 0).map(|replay| {
        let totals = &replay.totals;
        let (sessions, calls) = (counted(totals.failed_sessions, "session"), counted(totals.after_end.calls, "call"));
        format!("{} ({sessions}, {calls} behind their ends)", replay.policy)
    });
    let failed: Vec<String> = failed.collect();
    let what = "A session that a policy fails ends at the refused call; what the log holds behind it counts in no figure of that policy";
    (!failed.is_empty()).then(|| format!("{what}: {}.", failed.join(", ")))
}

/// Where the hidden overhead alone is larger than the window, every call is refused and no policy can help.
fn too_small(corpus: &Corpus, replays: &[Replay]) -> Option<String> {
    let mut sessions = BTreeSet::new();
    let mut largest = 0;
    let mut windows = BTreeSet::new();
    let hidden: Vec<u64> = corpus.traces.each().map(|trace| trace.calls.iter().map(|call| call.hidden).max().unwrap_or(0)).collect();
    for replay in replays {
        for (place, (hidden, outcome)) in hidden.iter().zip(replay.outcomes.each()).enumerate() {
            if *hidden > outcome.window {
                sessions.insert(place);
                windows.insert(outcome.window);
                largest = largest.max(*hidden);
            }
        }
    }
    let windows: Vec<String> = windows.into_iter().map(grouped).collect();
    let of = format!("In {} of {}", sessions.len(), counted(corpus.traces.len() as u64, "session"));
    (!sessions.is_empty()).then(|| {
        format!(
            "{of} the window ({} tokens) is smaller than the hidden overhead of a call (up to {} tokens): no policy can make it fit.",
            first_few(&windows, NAMED),
            grouped(largest)
        )
    })
}

/// What dates and projects left out, in one sentence; `None` where neither was asked for.
pub fn selection(facts: &CorpusFacts) -> Option<String> {
    let selected = facts.selected.as_ref()?;
    let asked = &selected.selection;
    let projects: Vec<&str> = asked.projects.iter().map(|pattern| pattern.words.as_str()).collect();
    let mut taken = vec![format!("{} of {}", grouped(facts.sessions), counted(selected.of, "session"))];
    taken.extend((!projects.is_empty()).then(|| format!("of {}", first_few(&projects, NAMED))));
    let ends = match (asked.since.and_then(instant), asked.until.and_then(instant)) {
        (Some(since), Some(until)) => Some(format!("whose last call lies between {since} and {until}")),
        (Some(since), None) => Some(format!("whose last call is of {since} or later")),
        (None, Some(until)) => Some(format!("whose last call lies before {until}")),
        (None, None) => None,
    };
    let clock = asked.clock.and_then(instant).map(|now| format!(" (counted back from {now})")).unwrap_or_default();
    taken.extend(ends.as_ref().map(|ends| format!("{ends}{clock}")));
    let left_out = |ids: &[String], what: &str| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let is = if ids.len() == 1 { "is" } else { "are" };
        format!("; {} {what} {is} left out ({})", counted(ids.len() as u64, "session"), first_few(&ids, NAMED))
    };
    let undated = Some(&selected.undated).filter(|ids| !ids.is_empty()).map(|ids| left_out(ids, "without a date"));
    let nameless = Some(&selected.without_project).filter(|ids| !ids.is_empty()).map(|ids| left_out(ids, "whose log names no project"));
    let beside: String = undated.into_iter().chain(nameless).collect();
    Some(format!("{}{beside}.", taken.join(" ")))
}

/// An instant to the minute, by the clock of Greenwich; a midnight as its day.
fn instant(millis: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(millis).ok()?;
    let form = if millis % 86_400_000 == 0 { "%Y-%m-%d" } else { "%Y-%m-%d %H:%M UTC" };
    Some(time.strftime(form).to_string())
}

/// What was not looked at: by date and project, and files that gave nothing.
fn left_out(facts: &CorpusFacts) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for skipped in &facts.skipped {
        by_reason.entry(&skipped.reason).or_default().push(&skipped.path);
    }
    let sentence = |(reason, paths): (&str, Vec<&str>)| {
        format!("{} skipped (\"{reason}\"): {}.", counted(paths.len() as u64, "file"), first_few(&paths, NAMED))
    };
    let hidden = |count: usize| format!("{} passed over: {}.", counted(count as u64, "hidden folder"), first_few(&facts.hidden, NAMED));
    let hidden = Some(facts.hidden.len()).filter(|count| *count > 0).map(hidden);
    selection(facts).into_iter().chain(by_reason.into_iter().map(sentence)).chain(hidden).collect()
}

fn losses(facts: &CorpusFacts) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, (u64, Vec<String>)> = BTreeMap::new();
    for loss in &facts.losses {
        let (count, places) = by_reason.entry(&loss.reason).or_default();
        *count += loss.count;
        places.push(if loss.first_line > 0 { format!("{}:{}", loss.path, loss.first_line) } else { loss.path.clone() });
    }
    let sentence = |(reason, (count, places)): (&str, (u64, Vec<String>))| {
        format!("{} not used (\"{reason}\"): {}.", counted(count, "record"), first_few(&places, NAMED))
    };
    by_reason.into_iter().map(sentence).collect()
}
