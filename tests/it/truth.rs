use crate::made::Native;
use crate::policies::{Session, run};
use crate::support::{PlainScale, project, shared, skip};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, ReadSettings, impose, read};
use ctxsim::estimate::Vocabulary;
use ctxsim::experiment::{ReplaySettings, replay};
use ctxsim::measure::{Measure, trace};
use ctxsim::policy::{Plan, Policy};
use ctxsim::sim::{Conditions, simulate};
use ctxsim::statistics::largest_remainder;
use ctxsim::trace::{PartKind, Trace};
use ctxsim::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, Trust, Usage};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// Reads paths as the program does.
pub fn corpus(catalog: &Catalog, paths: &[&Path]) -> Corpus {
    let paths: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let settings = ReadSettings::new(catalog);
    read(&paths, &settings).unwrap()
}

fn message(role: Role, words: usize, call: Option<Call>, thinking: bool) -> Message {
    let scale = PlainScale { keep_content: false };
    let mut parts = vec![Part::Text(scale.weigh(&"word ".repeat(words)))];
    if thinking {
        parts.insert(0, Part::Thinking { text: scale.weigh(&"idea ".repeat(words)), sealed_bytes: 0 });
    }
    Message { call: call.map(Box::new), ..Message::new(role, parts) }
}

prop_compose! {
    fn step()(words in 0..300_usize, growth in -3_000..4_000_i64, output in 0..2_000_u64, reasoning in proptest::option::of(0..2_500_u64),
              thinking: bool, user: bool, final_output: bool, unchained in 0..10_u32, usage in 0..10_u32, model in 0..3_usize,
              rewind in 0..12_usize) -> Step {
        Step { words, growth, output, reasoning, thinking, user, final_output, unchained: unchained == 0, usage: usage > 0, model, rewind }
    }
}

#[derive(Debug, Clone)]
struct Step {
    words: usize,
    growth: i64,
    output: u64,
    reasoning: Option<u64>,
    thinking: bool,
    user: bool,
    final_output: bool,
    unchained: bool,
    usage: bool,
    model: usize,
    rewind: usize,
}

const MODELS: [&str; 3] = ["claude-opus-4-5", "claude-sonnet-4-20250514", "gpt-5-codex"];

fn session(steps: &[Step]) -> Transcript {
    let mut messages = vec![message(Role::System, 100, None, false), message(Role::User, 20, None, false)];
    let mut prompt = 3_000_i64;
    for step in steps {
        let usage = step.usage.then(|| Usage {
            prompt: prompt as u64,
            output: step.output,
            reasoning: step.reasoning.map(|reasoning| reasoning.min(step.output)),
            output_is_final: step.final_output,
            ..Usage::default()
        });
        let call = Call { model: MODELS[step.model].to_owned(), usage, unchained: step.unchained, ..Call::default() };
        let mut reply = message(Role::Assistant, step.words / 2, Some(call), step.thinking);
        // Some go back a little, some nearly to the start.
        reply.rewind = (step.rewind == 0 && messages.len() > 4).then(|| messages.len() - 1 - step.words % (messages.len() - 1));
        messages.push(reply);
        messages.push(message(if step.user { Role::User } else { Role::Tool }, step.words, None, false));
        prompt = (prompt + step.growth).max(1);
    }
    Transcript { id: "s".to_owned(), messages: messages.into(), ..Transcript::default() }
}

fn measured(transcript: Transcript) -> Trace {
    let catalog = Catalog::builtin().unwrap();
    trace(transcript, "test", Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase })
}

/// What of a trace's recorded prompts a replay without any policy does not reproduce: call, recorded, simulated. A part of a prompt is none.
pub fn differences(trace: &Trace) -> Vec<(usize, u64, u64)> {
    let endless = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
    let outcome = simulate(trace, &Plan::default(), &endless);
    let calls = outcome.calls.iter().enumerate();
    calls
        .filter(|(index, _)| trace.calls[*index].reported().is_some())
        .filter_map(|(index, call)| Some((index, call.recorded.get()?, call.actual)))
        .filter(|(_, recorded, actual)| recorded != actual)
        .collect()
}

proptest! {
    #[test]
    fn shares_add_up(amount in 0..1_000_000_u64, weights in proptest::collection::vec(0..100_000_u64, 1..40)) {
        let shares = largest_remainder(amount, &weights);
        prop_assert_eq!(shares.iter().sum::<u64>(), amount);
        let total: u64 = weights.iter().sum();
        for (share, weight) in shares.iter().zip(&weights) {
            if let Some(exact) = (amount * weight).checked_div(total) {
                prop_assert!(*share == exact || *share == exact + 1);
            }
        }
    }

    /// Between two recorded prompts without a discontinuity the shares sum to the recorded difference exactly.
    #[test]
    fn stretches_sum_to_the_recorded_difference(steps in proptest::collection::vec(step(), 2..30)) {
        // Without reasoning nothing leaves the context by itself.
        let steps: Vec<Step> = steps.into_iter().map(|step| Step { thinking: false, reasoning: None, ..step }).collect();
        let trace = measured(session(&steps));
        let mut last: Option<(usize, u64)> = None;
        for call in &trace.calls {
            let Some(usage) = call.anchor() else { continue };
            let reply = call.message as usize;
            if let (Some((from, prompt)), true) = (last, call.chained) {
                let sum: u64 = trace.messages[from..reply].iter().flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
                prop_assert_eq!(sum, usage.prompt - prompt);
                prop_assert!(trace.messages[from..reply].iter().flat_map(|row| trace.parts_of(row)).all(|part| part.anchored));
            }
            last = Some((reply, usage.prompt));
        }
    }

    /// Policy `none` on a session without compactions reproduces the recorded prompts call by call, reasoning, rewinds and all.
    #[test]
    fn none_reproduces_recorded_prompts(steps in proptest::collection::vec(step(), 1..30)) {
        let trace = measured(session(&steps));
        prop_assert_eq!(differences(&trace), vec![]);
    }
}

proptest! {
    /// Compactions and prunings that the log holds are undone; once they are imposed, the recorded prompts come back call by call.
    #[test]
    fn none_reproduces_recorded_prompts_behind_imposed_compactions(
        steps in proptest::collection::vec(step(), 1..30),
        events in proptest::collection::vec((0..64_usize, 0..3_u32), 0..4),
    ) {
        let mut transcript = session(&steps);
        let end = transcript.messages.len();
        let mut places: Vec<(usize, bool)> = events.iter().map(|(at, kind)| (*at % (end + 1), *kind == 0)).collect();
        places.sort_unstable();
        transcript.compactions = places
            .into_iter()
            .map(|(before, prune)| Compaction {
                id: String::new(),
                before,
                kind: if prune { CompactionKind::Prune } else { CompactionKind::Compact },
                automatic: None,
                by_extension: false,
                behind_gap: false,
                between_turns: false,
                tokens_before: None,
                tokens_after: None,
                duration_ms: None,
                incompatible: None,
                summary: None,
                kept_from: None,
                taken: Vec::new(),
                call: None,
                time: None,
            })
            .collect();
        let trace = measured(transcript);
        prop_assert_eq!(differences(&impose(&trace, &|_| true)), vec![]);
    }
}

/// A placeholder does not say what the reply took. What a prompt grows by beyond the bytes of the reply came with the others.
#[test]
fn what_was_not_written_is_no_output() {
    let call = |prompt: u64| {
        let usage = Usage { prompt, output: 1, ..Usage::default() };
        Some(Call { model: MODELS[0].to_owned(), usage: Some(usage), ..Call::default() })
    };
    let grown = |by: u64| {
        let replies = [message(Role::Assistant, 20, call(3_000), false), message(Role::Assistant, 5, call(3_000 + by), false)];
        let [first, second] = replies;
        let messages = vec![message(Role::User, 20, None, false), first, message(Role::Tool, 1, None, false), second];
        let trace = measured(Transcript { id: "s".to_owned(), messages: messages.into(), ..Transcript::default() });
        assert_eq!(differences(&trace), vec![]);
        let result: u64 = trace.parts_of(&trace.messages[2]).map(|part| part.truth).sum();
        (trace.calls[0].output, result)
    };
    // Twenty words of five bytes.
    assert_eq!(grown(5_000), (100, 4_900));
    let (output, result) = grown(40);
    assert!(output + result == 40 && output > result, "{output}, {result}");
}

/// An error of the provider breaks the chain behind a reply whose size the log does not hold. The prompt grew by that reply, as far as its bytes can be.
#[test]
fn a_reply_of_unknown_size_takes_what_the_prompt_grew_by_behind_an_error() {
    let call = |prompt, unchained| {
        let usage = Usage { prompt, output: 1, ..Usage::default() };
        Some(Call { model: MODELS[0].to_owned(), usage: Some(usage), unchained, ..Call::default() })
    };
    let grown = |sealed_bytes| {
        let mut first = message(Role::Assistant, 20, call(3_000, false), false);
        first.parts = vec![Part::Thinking { text: PlainScale { keep_content: false }.weigh(&"idea ".repeat(500)), sealed_bytes }];
        let messages = [message(Role::User, 20, None, false), first, message(Role::Assistant, 5, call(12_000, true), false)];
        let trace = measured(Transcript { messages: messages.to_vec().into(), ..Transcript::default() });
        assert_eq!(differences(&trace), vec![]);
        (trace.calls[0].output, trace.calls[1].hidden - trace.calls[0].hidden)
    };
    assert_eq!(grown(40_000), (9_000, 0));
    // Its text alone has 2,500 bytes.
    assert_eq!(grown(0), (2_500, 6_500));
}

/// The tools of one model are not carried by another. Behind a compaction, its prompt tells how much it can carry at most.
#[test]
fn another_model_behind_a_compaction_carries_no_more_than_its_prompt() {
    let call = |model: usize, prompt| {
        let usage = Usage { prompt, output: 30, output_is_final: true, ..Usage::default() };
        Some(Call { model: MODELS[model].to_owned(), usage: Some(usage), ..Call::default() })
    };
    let hidden = |model: usize, second: u64| {
        let mut messages = vec![message(Role::User, 2_000, None, false), message(Role::Assistant, 10, call(0, 170_000), false)];
        messages.extend([message(Role::User, 20, None, false), message(Role::Assistant, 10, call(model, second), false)]);
        messages.extend([message(Role::Tool, 200, None, false), message(Role::Assistant, 10, call(model, second + 300), false)]);
        let summary = PlainScale { keep_content: false }.weigh_summary(&"sum ".repeat(400));
        let compaction = Compaction { before: 2, summary, ..Compaction::default() };
        let transcript = Transcript { messages: messages.into(), compactions: vec![compaction], ..Transcript::default() };
        let trace = measured(transcript);
        let said: u64 = trace.parts_of(&trace.messages[2]).map(|part| part.truth).sum();
        (trace.calls.iter().map(|call| call.hidden).collect::<Vec<_>>(), trace.compactions[0].summary_tokens.unwrap() + said)
    };
    // The prompt holds the summary and what the user said behind it.
    let (other, shown) = hidden(1, 42_000);
    assert!(other[0] > 166_000 && shown > 100, "{other:?} {shown}");
    assert_eq!(other[1..], [42_000 - shown; 2]);
    // The same model carries what it carried.
    let (same, _) = hidden(0, 168_000);
    assert_eq!(same[1], same[0]);
}

/// A rewind takes out what was missed, and another model goes on: no more may be missing than is left.
#[test]
fn what_was_missed_may_be_rewound() {
    let step = |growth, output, model, user| Step {
        words: 0,
        growth,
        output,
        reasoning: None,
        thinking: output > 0,
        user,
        final_output: output > 0,
        unchained: true,
        usage: true,
        model,
        rewind: 0,
    };
    let trace = measured(session(&[step(-1, 434, 2, false), step(-159, 0, 2, true), step(0, 0, 0, false)]));
    assert_eq!(differences(&trace), []);
}

#[test]
fn reasoning_of_a_model_that_drops_it_stands_in_no_context() {
    let usage = |prompt, output, reasoning| Usage { prompt, output, reasoning: Some(reasoning), output_is_final: true, ..Usage::default() };
    let mut messages = vec![message(Role::User, 20, None, false)];
    // Each reply costs 50 of its 350 tokens in the next prompt, each result 100.
    for index in 0..6 {
        let call = Call { model: "gpt-5".to_owned(), usage: Some(usage(1_000 + 150 * index, 350, 300)), ..Call::default() };
        messages.push(message(Role::Assistant, 10, Some(call), false));
        messages.push(message(Role::Tool, 80, None, false));
    }
    let trace = measured(Transcript { messages: messages.into(), ..Transcript::default() });
    let thinking: u64 = trace.parts.iter().filter(|part| part.kind == PartKind::Thinking).take(5).map(|part| part.truth).sum();
    let replies: Vec<u64> =
        trace.calls.iter().take(5).map(|call| trace.parts_of(&trace.messages[call.message as usize]).next().unwrap().truth).collect();
    assert_eq!((thinking, replies), (0, vec![50; 5]));
}

/// A session of one model whose calls had these prompts; each reply is short, each result of 200 words.
fn of_prompts(calls: &[(u64, bool)], cut_off: &str) -> Trace {
    let mut messages = vec![message(Role::User, 20, None, false)];
    for (index, (prompt, unchained)) in calls.iter().enumerate() {
        let ends = !calls.get(index + 1).is_some_and(|(_, unchained)| *unchained && !cut_off.is_empty());
        let usage = Usage { prompt: *prompt, output: if ends { 30 } else { 2 }, output_is_final: ends, ..Usage::default() };
        let call = Call { model: MODELS[0].to_owned(), usage: Some(usage), unchained: *unchained, ..Call::default() };
        let mut reply = message(Role::Assistant, 10, Some(call), false);
        if !ends {
            reply.parts = vec![Part::Text(PlainScale { keep_content: false }.weigh(cut_off))];
        }
        messages.push(reply);
        messages.push(if ends { message(Role::Tool, 200, None, false) } else { message(Role::User, 20, None, false) });
    }
    measured(Transcript { messages: messages.into(), ..Transcript::default() })
}

#[test]
fn a_reply_that_was_cut_off_and_not_sent_again_takes_nothing_from_the_hidden_overhead() {
    // The second call was stopped after 5,000 words, and the third prompt grew by the user's next words alone.
    let trace = of_prompts(&[(3_000, false), (3_300, false), (3_330, true), (3_600, false)], &"word ".repeat(5_000));
    let hidden: Vec<u64> = trace.calls.iter().map(|call| call.hidden).collect();
    assert_eq!(hidden, vec![hidden[0]; 4]);
    let truth = |message: u32| trace.parts_of(&trace.messages[message as usize]).next().unwrap().truth;
    let stopped = trace.calls[1].message;
    assert!(truth(stopped) < truth(stopped + 1), "{} and {}", truth(stopped), truth(stopped + 1));
    assert_eq!(differences(&trace), vec![]);
}

/// A server that cuts each prompt at its own limit reports that limit, however long the conversation is.
#[test]
fn equal_prompts_in_a_row_are_parts_of_prompts() {
    let cut = of_prompts(&[(3_000, false), (3_300, false), (4_096, false), (4_096, false), (4_096, false), (4_096, false)], "");
    let trusts: Vec<Trust> = cut.calls.iter().filter_map(|call| Some(call.usage.get()?.trust)).collect();
    assert_eq!(trusts, [Trust::Provider, Trust::Provider, Trust::Partial, Trust::Partial, Trust::Partial, Trust::Partial]);
    let prompts = |trace: &Trace| trace.calls.iter().map(|call| call.hidden + call.visible).collect::<Vec<u64>>();
    // They are no smaller than what the server took, and larger where the log shows more.
    assert!(
        matches!(prompts(&cut)[..], [3_000, 3_300, 4_096, 4_096, fifth, sixth] if fifth > 4_250 && sixth > fifth + 200),
        "{:?}",
        prompts(&cut)
    );
    assert!(cut.parts.iter().skip(6).all(|part| part.truth > 0 && !part.anchored));
    // Two may be one request that was sent again.
    let twice = of_prompts(&[(3_000, false), (3_300, false), (3_300, false), (3_600, false)], "");
    assert!(twice.calls.iter().all(|call| call.anchor().is_some()));
    assert_eq!(prompts(&twice), [3_000, 3_300, 3_300, 3_600]);
    // Nor may three, of an agent that goes back to one state again and again: it had a larger one.
    let again = of_prompts(&[(3_000, false), (3_400, false), (3_300, true), (3_300, false), (3_300, false)], "");
    assert!(again.calls.iter().all(|call| call.anchor().is_some()));
    // Nor does a chain that is broken say anything.
    let broken = of_prompts(&[(3_000, false), (3_300, false), (3_300, true), (3_300, true)], "");
    assert!(broken.calls.iter().all(|call| call.anchor().is_some()));
}

/// A gateway reports a third of one prompt, and the next one is back: nothing was removed. Where the next one stays small, it was.
#[test]
fn a_count_that_is_back_at_the_next_call_is_of_a_part_of_the_prompt() {
    let trusts = |trace: &Trace| trace.calls.iter().map(|call| call.usage.get().unwrap().trust).collect::<Vec<_>>();
    let dip = of_prompts(&[(30_000, false), (10_100, false), (30_900, false), (31_200, false)], "");
    assert_eq!(trusts(&dip), [Trust::Provider, Trust::Partial, Trust::Provider, Trust::Provider]);
    let hidden: Vec<u64> = dip.calls.iter().map(|call| call.hidden).collect();
    assert_eq!(hidden, vec![hidden[0]; 4]);
    assert!(dip.calls.iter().all(|call| call.missing == 0) && dip.calls[2].chained);
    // So where two follow each other.
    let two = of_prompts(&[(30_000, false), (10_100, false), (6_000, false), (31_200, false), (31_500, false)], "");
    assert_eq!(trusts(&two), [Trust::Provider, Trust::Partial, Trust::Partial, Trust::Provider, Trust::Provider]);
    for fell in [[10_100, 10_400, 10_700], [10_100, 20_000, 20_300]] {
        let trace = of_prompts(&[(30_000, false), (fell[0], false), (fell[1], false), (fell[2], false)], "");
        assert_eq!(trusts(&trace), [Trust::Provider; 4]);
    }
}

/// What a prompt holds beyond the log may be in it once: when the prompt falls again, that goes first, and no conversation is missed.
#[test]
fn what_came_without_a_reason_goes_before_the_conversation() {
    let trace = of_prompts(&[(3_000, false), (3_300, false), (9_000, true), (3_900, true)], "");
    let hidden: Vec<u64> = trace.calls.iter().map(|call| call.hidden).collect();
    assert!(hidden[2] > hidden[0] + 5_000 && hidden[3] < hidden[0] + 200, "{hidden:?}");
    assert!(trace.calls.iter().all(|call| call.missing < 200));
    assert_eq!(differences(&trace), vec![]);
}

#[test]
fn a_stopped_reply_without_a_call_gets_what_the_rest_leaves() {
    let usage = |prompt| Usage { prompt, output: 50, output_is_final: true, ..Usage::default() };
    let call = |prompt| Some(Call { model: MODELS[0].to_owned(), usage: Some(usage(prompt)), ..Call::default() });
    let replies = [message(Role::Assistant, 10, call(1_000), false), message(Role::Assistant, 800, None, false)];
    let mut messages = vec![message(Role::User, 20, None, false)];
    messages.extend(replies);
    messages.push(message(Role::User, 200, None, false));
    messages.push(message(Role::Assistant, 10, call(999), false));
    // Where the prompt shrinks, messages are taken for what they weigh.
    let weight = {
        let trace = measured(Transcript { messages: messages.clone().into(), ..Transcript::default() });
        trace.parts.get(3).unwrap().truth
    };
    // The second prompt grew by the reply and the user's words.
    if let Some(Call { usage: Some(usage), .. }) = messages[4].call.as_deref_mut() {
        usage.prompt = 1_050 + weight + 5;
    }
    let trace = measured(Transcript { messages: messages.into(), ..Transcript::default() });
    let truth: Vec<u64> = trace.parts.iter().map(|part| part.truth).collect();
    assert!(truth[2] <= 10 && truth[3] >= weight - 5, "{truth:?}, the user's words weigh {weight}");
    assert_eq!(truth[1] + truth[2] + truth[3], 55 + weight);
}

#[test]
fn what_a_prompt_lacks_without_a_note_is_lacking_in_the_conversation() {
    // Something of 900 tokens was pruned before the fourth call, and the log does not say what.
    let trace = of_prompts(&[(3_000, false), (3_600, false), (4_200, false), (3_900, true), (4_500, false)], "");
    assert!(trace.calls.iter().all(|call| call.hidden == trace.calls[0].hidden));
    assert!(trace.calls[3].missing > 300 && trace.calls[4].missing == trace.calls[3].missing);
    // A context without any of it is as large as what no log shows.
    assert_eq!(trace.calls[4].prompt(0, 0), trace.calls[0].hidden);
    assert_eq!(differences(&trace), vec![]);
}

#[test]
fn sample_sessions_without_compaction_are_reproduced_exactly() {
    let catalog = Catalog::builtin().unwrap();
    let samples = project().join("transcripts");
    let corpus = corpus(&catalog, &[&samples]);
    let untouched: Vec<&Trace> = corpus.traces.iter().filter(|trace| trace.compactions.is_empty()).collect();
    assert!(untouched.len() >= 8);
    for trace in untouched {
        assert_eq!(differences(trace), vec![], "{}", trace.source);
    }
}

/// Folders of recorded sessions that the readers of the main road know.
const FOLDERS: [&str; 7] = ["claude-code", "codex", "pi", "opencode-export", "gemini-cli", "mini_swe_traj", "opencode-sqlite"];

#[test]
fn recorded_sessions_without_compaction_are_reproduced_exactly() {
    let Some(shared) = shared() else { return };
    let catalog = Catalog::builtin().unwrap();
    let mut sessions = 0;
    for folder in FOLDERS {
        let corpus = corpus(&catalog, &[&shared.join("transcripts").join(folder)]);
        for trace in corpus.traces.iter().filter(|trace| trace.compactions.is_empty()) {
            assert_eq!(differences(trace), vec![], "{}", trace.source);
            sessions += 1;
        }
    }
    println!("{sessions} sessions reproduced call by call");
    assert!(sessions > 0);
}

/// Which models belong to a group.
type Wanted = fn(&str) -> bool;

/// Predicts each recorded prompt from the one before and what was appended, and prints the mean absolute error by group.
#[test]
fn anchored_prediction_stays_within_its_bars() {
    let Some(shared) = shared() else { return };
    let catalog = Catalog::builtin().unwrap();
    let groups: [(&str, &[&str], Wanted, f64); 5] = [
        ("GPT (Codex, OpenCode)", &["codex", "opencode-export"], |model| !model.contains("claude"), 1.5),
        ("Gemini (Gemini CLI, mini-swe-agent)", &["gemini-cli", "mini_swe_traj"], |_| true, 1.5),
        ("pi", &["pi"], |_| true, 1.5),
        ("Claude Code, new models", &["claude-code"], |model| is_new(model), 4.0),
        ("Claude Code, old models", &["claude-code"], |model| !is_new(model), 4.0),
    ];
    for (name, folders, wanted, bar) in groups {
        let (mut sum, mut calls) = (0.0, 0_u64);
        for folder in folders {
            let corpus = corpus(&catalog, &[&shared.join("transcripts").join(folder)]);
            for trace in corpus.traces.iter().filter(|trace| wanted(trace.main_model().unwrap_or(""))) {
                for (predicted, recorded) in predictions(trace) {
                    sum += predicted.abs_diff(recorded) as f64 / recorded as f64;
                    calls += 1;
                }
            }
        }
        if calls == 0 {
            skip("CTXSIM_REQUIRE_SHARED", &format!("{name}: no call in this collection"));
            continue;
        }
        let mape = 100.0 * sum / calls as f64;
        println!("{name}: MAPE {mape:.3} % over {calls} calls (bar {bar} %)");
        assert!(mape <= bar, "{name}: MAPE {mape:.3} %");
    }
}

fn is_new(model: &str) -> bool {
    ["opus-4-7", "opus-4-8", "opus-5", "sonnet-5", "fable-5", "mythos"].iter().any(|name| model.contains(name))
}

/// Predicted and recorded prompt of every call whose chain is unbroken.
fn predictions(trace: &Trace) -> Vec<(u64, u64)> {
    let mut before = None;
    let mut pairs = Vec::new();
    for call in &trace.calls {
        let Some(usage) = call.usage.get().filter(|usage| usage.prompt > 0) else { continue };
        if let (Some(before), Some(growth)) = (before, call.predicted_growth.get().map(u64::from)) {
            pairs.push((before + growth, usage.prompt));
        }
        before = Some(usage.prompt);
    }
    pairs
}

/// 1,000 of 2,110 visible tokens are anchored; the last prompt holds 1,000, and lacks of both in proportion.
#[test]
fn what_a_prompt_lacks_is_anchored_as_the_rest_is() {
    let begun = Session::default().user(4_000).reply(400, Some((1_000, 100))).user(3_600).reply(400, Some((2_000, 100)));
    let outcome = run(&Policy::load("none").unwrap(), &begun.user(40).reply(4, Some((1_000, 1))).trace(), 10_000);
    let found: Vec<(u64, u64)> = outcome.calls.iter().map(|call| (call.actual, call.anchored)).collect();
    assert_eq!(found, [(1_000, 0), (2_000, 1_000), (1_000, 1_000 * 1_000 / 2_110)]);
}

#[test]
fn a_window_of_the_catalogue_gives_way_to_a_larger_recorded_prompt() {
    let mut steps = vec![Step {
        words: 10,
        growth: 150_000,
        output: 10,
        reasoning: None,
        thinking: false,
        user: false,
        final_output: true,
        unchained: false,
        usage: true,
        model: 0,
        rewind: 1,
    }];
    steps.extend_from_within(..);
    steps.extend_from_within(..);
    let catalog = Catalog::builtin().unwrap();
    let corpus = Corpus { traces: vec![measured(session(&steps))].into(), ..Corpus::default() };
    let settings = ReplaySettings::new(&catalog);
    let replays = replay(&corpus, &[Policy::load("none").unwrap()], &settings).unwrap();
    // Claude Opus 4.5 has 200,000; the session was seen with 453,000.
    assert_eq!(replays[0].totals.overflows, 0);
    assert_eq!(replays[0].outgrown.len(), 1);
}

/// Usage that anchors no text sizes its own call, before the first that anchors some as well as behind it.
#[test]
fn no_policy_changes_no_prompt_with_partial_usage() {
    let folder = tempfile::tempdir().unwrap();
    let calls = [(900, "partial"), (200, "provider"), (950, "partial")];
    let log = calls.into_iter().fold(Native::new(json!({})), |log, (prompt, trust)| {
        let usage = json!({"prompt": prompt, "output": 5, "trust": trust});
        log.line(json!({"role": "user", "text": "hello there"})).line(json!({"role": "assistant", "text": "hi", "usage": usage}))
    });
    let path = log.write(folder.path(), "session.jsonl");
    let catalog = Catalog::builtin().unwrap();
    let none = Policy::load("none").unwrap();
    let found = replay(&corpus(&catalog, &[Path::new(&path)]), &[none], &ReplaySettings::new(&catalog)).unwrap().remove(0);
    assert_eq!(found.outcomes[0].calls.iter().map(|call| call.actual).collect::<Vec<_>>(), [900, 200, 950]);
    assert_eq!((found.totals.recorded_tokens, found.totals.compared_tokens), (2_050, 2_050));
}
