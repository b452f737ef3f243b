use crate::made::Native;
use crate::support::fixture;
use crate::truth::{corpus, differences};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, read_traces, write_traces};
use ctxsim::experiment::{ReplaySettings, replay};
use ctxsim::policy::Policy;
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::{BaseFrom, Trace};
use serde_json::json;
use std::fs;

/// A session in the native shape: its head, then a call for each prompt, with a compaction before the call of this number.
fn session(id: &str, version: &str, cut: bool, prompts: &[u64], compacted: Option<usize>) -> String {
    let head = json!({"session": id, "agent": "a", "version": version, "model": "claude-opus-4-5", "begins_in_middle": cut});
    let log = prompts.iter().enumerate().fold(Native::new(head), |log, (call, prompt)| {
        let compaction = json!({"compaction": {"kind": "compact", "automatic": true, "summary": "What was done so far."}});
        let log = if compacted == Some(call) { log.line(compaction) } else { log };
        let (asked, said) = (format!("go on with step {call} of the plan"), format!("step {call} is done"));
        let usage = json!({"prompt": prompt, "output": 20});
        log.line(json!({"role": "user", "id": format!("{id}-u{call}"), "text": asked}))
            .line(json!({"role": "assistant", "id": format!("{id}-a{call}"), "text": said, "usage": usage}))
    });
    log.text()
}

/// The sessions of these files, read as the program reads them.
fn read(files: &[(&str, String)]) -> Corpus {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    paths.iter().zip(files).for_each(|(path, (_, text))| fs::write(path, text).unwrap());
    let mut corpus = corpus(&Catalog::builtin().unwrap(), &paths.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    corpus.forget_folders();
    corpus
}

fn of<'c>(corpus: &'c Corpus, id: &str) -> &'c Trace {
    corpus.traces.iter().find(|trace| trace.id == id).unwrap()
}

fn outcome(corpus: &Corpus, policy: &str, id: &str) -> Outcome {
    let catalog = Catalog::builtin().unwrap();
    let settings = ReplaySettings::new(&catalog);
    let place = corpus.traces.iter().position(|trace| trace.id == id).unwrap();
    replay(corpus, &[Policy::load(policy).unwrap()], &settings).unwrap().remove(0).outcomes[place].clone()
}

#[test]
fn what_a_cut_log_lacks_is_told_by_other_sessions_of_its_agent() {
    let whole =
        |id: &str, version: &str, overhead: u64| (format!("{id}.jsonl"), session(id, version, false, &[overhead, overhead + 100], None));
    let files = [whole("w1", "1.0", 20_000), whole("w2", "1.0", 21_000), whole("w3", "1.0", 30_000), whole("w4", "2.0", 50_000)];
    let mut files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    files.push(("cut.jsonl", session("cut", "1.0", true, &[120_000, 120_100, 120_200], None)));
    let corpus = read(&files);
    let cut = of(&corpus, "cut");
    let unseen = cut.unseen.unwrap();
    let base = of(&corpus, "w2").calls[0].hidden;
    assert_eq!((unseen.message, unseen.base), (0, BaseFrom::Corpus));
    assert_eq!(cut.calls.iter().map(|call| call.hidden).collect::<Vec<_>>(), [base; 3]);
    assert_eq!(cut.calls[0].hidden + cut.calls[0].visible, 120_000);
    assert_eq!((corpus.facts.unseen.sessions, corpus.facts.unseen.unknown, corpus.facts.unseen.tokens), (1, 0, unseen.tokens));
    // It is no message of the log, and no policy keeps it for being the first: what compacts takes it out, what prunes results does not.
    assert_eq!(corpus.facts.messages, 4 * 4 + 6);
    assert!(corpus.traces.iter().all(|trace| differences(trace).is_empty()));
    let last = outcome_with_window(&corpus, "claude-code", 130_000).calls.last().unwrap().actual;
    assert!(last < base + 40_000, "{last}");
    // The files' order and a file of measured traces change nothing.
    files.reverse();
    let turned = read(&files);
    assert_eq!(of(&turned, "cut"), cut);
    let mut bytes = Vec::new();
    write_traces(&corpus, &mut bytes).unwrap();
    let measured = of(&read_traces(bytes.as_slice()).unwrap(), "cut").clone();
    // What was sent, and would be under no policy, is summed up when a corpus is complete, and not written down.
    assert_eq!(&Trace { sent: cut.sent, whole: cut.whole.clone(), ..measured }, cut);
}

fn outcome_with_window(corpus: &Corpus, policy: &str, window: u64) -> Outcome {
    let catalog = Catalog::builtin().unwrap();
    let settings = ReplaySettings { window: Some(window), ..ReplaySettings::new(&catalog) };
    let place = corpus.traces.iter().position(|trace| trace.id == "cut").unwrap();
    replay(corpus, &[Policy::load(policy).unwrap()], &settings).unwrap().remove(0).outcomes[place].clone()
}

#[test]
fn a_compaction_of_the_session_itself_tells_its_overhead() {
    let corpus = read(&[("s.jsonl", session("s", "1.0", true, &[120_000, 120_100, 40_000, 40_100], Some(2)))]);
    let trace = of(&corpus, "s");
    let unseen = trace.unseen.unwrap();
    assert_eq!(unseen.base, BaseFrom::Session);
    let hidden = trace.calls[0].hidden;
    // The prompt behind the compaction held the overhead, the summary and the message that came since.
    assert!((39_900..40_000).contains(&hidden), "{hidden}");
    assert!(unseen.tokens > 79_000, "{unseen:?}");
    assert_eq!(outcome(&corpus, "none", "s").calls[0].actual, 120_000);
}

#[test]
fn an_overhead_above_a_prompt_behind_a_compaction_is_none_in_any_log() {
    // Nothing says that the log is cut, but its first prompt held more than could have been hidden.
    let corpus = read(&[("s.jsonl", session("s", "1.0", false, &[120_000, 120_100, 40_000, 40_100], Some(2)))]);
    assert!(of(&corpus, "s").unseen.is_some_and(|unseen| unseen.tokens > 79_000));
    assert!(of(&corpus, "s").calls.iter().all(|call| call.hidden <= 40_000));
    // A log that begins behind a compaction lacks the summary.
    let corpus = read(&[("s.jsonl", session("s", "1.0", false, &[40_000, 40_100], Some(0)))]);
    assert!(of(&corpus, "s").unseen.is_some());
    // An ordinary compaction says nothing.
    let corpus = read(&[("s.jsonl", session("s", "1.0", false, &[20_000, 120_100, 40_000, 40_100], Some(2)))]);
    assert_eq!(of(&corpus, "s").unseen, None);
}

#[test]
fn overhead_that_grows_stays_below_a_prompt_behind_a_compaction() {
    let prompts = [20_000, 20_100, 60_000, 60_100, 25_000];
    let text = session("s", "1.0", false, &prompts, Some(4))
        .replace(r#""usage":{"output":20,"prompt":60000"#, r#""unchained":true,"usage":{"output":20,"prompt":60000"#);
    let corpus = read(&[("s.jsonl", text)]);
    let hidden: Vec<u64> = of(&corpus, "s").calls.iter().map(|call| call.hidden).collect();
    assert!(hidden[2..].iter().all(|hidden| *hidden == 25_000), "{hidden:?}");
}

/// It was in the prompts behind it, and a compaction takes it out.
#[test]
fn what_the_providers_own_search_found_is_conversation() {
    let line = |kind: &str, payload: &str| format!(r#"{{"type":"{kind}","payload":{{"type":{payload}}}}}"#) + "\n";
    let said = |role: &str| {
        line("response_item", &format!(r#""message","role":"{role}","content":[{{"type":"input_text","text":"a few words"}}]"#))
    };
    let usage = |total: u64, input: u64| {
        let sums =
            format!(r#""total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{input},"output_tokens":5}}"#);
        line("event_msg", &format!(r#""token_count","info":{{{sums}}}"#))
    };
    let turn = |total: u64, input: u64| [said("user"), said("assistant"), usage(total, input)].concat();
    let search = line("response_item", r#""web_search_call","id":"ws_1","action":{"type":"search"}"#);
    let searched = [said("user"), search, said("assistant"), usage(2, 50_000)].concat();
    let compacted = line("compacted", r#""x","message":"What was done.""#);
    let meta = line("session_meta", r#""x","id":"s""#);
    let log = [meta, turn(1, 10_000), searched, turn(3, 50_200), compacted, turn(4, 12_000)].concat();
    let corpus = read(&[("rollout.jsonl", log)]);
    let calls = &of(&corpus, "s").calls;
    let marks: Vec<(bool, bool)> = calls.iter().map(|call| (call.hidden == calls[0].hidden, call.visible > 40_000)).collect();
    assert_eq!(marks, [(true, false), (false, false), (true, true), (true, true)], "{calls:?}");
}

#[test]
fn where_nothing_tells_the_overhead_all_of_it_stays_and_the_facts_say_so() {
    let corpus = read(&[("s.jsonl", session("s", "1.0", true, &[120_000, 120_100], None))]);
    assert_eq!(of(&corpus, "s").unseen.map(|unseen| (unseen.tokens, unseen.base)), Some((0, BaseFrom::Unknown)));
    assert_eq!((corpus.facts.unseen.sessions, corpus.facts.unseen.unknown), (1, 1));
    assert!(differences(of(&corpus, "s")).is_empty());
}

#[test]
fn a_cut_log_alone_is_told_by_the_catalogue() {
    let text = session("s", "", true, &[120_000, 120_100], None).replace(r#""agent":"a""#, r#""agent":"claude-code""#);
    let corpus = read(&[("s.jsonl", text)]);
    let trace = of(&corpus, "s");
    assert_eq!(trace.unseen.map(|unseen| unseen.base), Some(BaseFrom::Catalogue));
    assert_eq!(Some(trace.calls[0].hidden), Catalog::builtin().unwrap().overhead("claude-code"));
}

#[test]
fn a_policy_that_compacts_takes_out_what_came_before_the_log() {
    let prompts: Vec<u64> = (0..40).map(|call| 120_000 + call * 1_500).collect();
    let whole = session("w", "1.0", false, &[20_000, 20_100], None);
    let corpus = read(&[("w.jsonl", whole), ("cut.jsonl", session("cut", "1.0", true, &prompts, None))]);
    let outcome = outcome(&corpus, "claude-code", "cut");
    let compactions: Vec<_> = outcome.events.iter().filter(|event| event.kind == EventKind::Compact).collect();
    assert_eq!(compactions.len(), 1, "{compactions:?}");
    assert!(compactions[0].after < 60_000, "{:?}", compactions[0]);
}

#[test]
fn each_format_shows_in_its_own_way_that_a_log_begins_in_the_middle() {
    let cut = |name: &str| fixture(name).0[0].begins_in_middle;
    assert!(cut("unseen/claude-code.jsonl"));
    assert!(!cut("unseen/claude-code-whole.jsonl"));
    assert!(cut("unseen/pi.jsonl"));
    assert!(cut("unseen/codex.jsonl"));
    assert!(cut("unseen/opencode.json"));
    assert!(cut("unseen/qwen-code.jsonl"));
}
