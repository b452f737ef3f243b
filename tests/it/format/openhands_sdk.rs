use crate::support::{in_short, prompts, read_all, read_source};
use ctxsim::format::{Claim, Source, sniff};
use ctxsim::transcript::{Role, Transcript};
use std::fs;
use std::io::Cursor;
use std::path::Path;

const TEXT: &str = r#"{"cache_prompt":false,"type":"text","text":"#;

fn event(kind: &str, id: &str, rest: &str) -> String {
    let source = if kind == "ActionEvent" || kind == "SystemPromptEvent" { "agent" } else { "environment" };
    format!(r#"{{"id":"{id}","timestamp":"2026-01-02T03:04:05.678901","source":"{source}","kind":"{kind}",{rest}}}"#)
}

fn action(id: &str, response: &str, call: &str, thought: &str) -> String {
    let thought = if thought.is_empty() { String::new() } else { format!(r#"{TEXT}"{thought}"}}"#) };
    let call = format!(
        r#""tool_name":"terminal","tool_call_id":"{call}","tool_call":{{"id":"{call}","name":"terminal","arguments":"{{}}","origin":"completion"}}"#
    );
    let thinking = r#""thinking_blocks":[{"type":"thinking","thinking":"Hm","signature":"abcd"}],"reasoning_content":"Hm""#;
    let thinking = if thought.is_empty() { r#""thinking_blocks":[]"# } else { thinking };
    event(
        "ActionEvent",
        id,
        &format!(
            r#""thought":[{thought}],{thinking},"action":{{"command":"ls","kind":"TerminalAction"}},{call},"llm_response_id":"{response}""#
        ),
    )
}

fn observation(id: &str, call: &str, exit: i64) -> String {
    let observed = format!(r#"{{"content":[{TEXT}"out"}}],"is_error":false,"exit_code":{exit},"kind":"TerminalObservation"}}"#);
    event("ObservationEvent", id, &format!(r#""tool_name":"terminal","tool_call_id":"{call}","observation":{observed},"action_id":"x""#))
}

/// A run with two calls at once, a condensation, and an error of the program.
fn events() -> Vec<String> {
    let user = event(
        "MessageEvent",
        "e1",
        &format!(r#""llm_message":{{"role":"user","content":[{TEXT}"Fix it"}}]}},"extended_content":[{TEXT}"A skill"}}]"#),
    );
    vec![
        event(
            "SystemPromptEvent",
            "e0",
            &format!(r#""system_prompt":{TEXT}"You are"}},"dynamic_context":{TEXT}"Here"}},"tools":[{{"title":"terminal"}}]"#),
        ),
        user.replace(r#""source":"environment""#, r#""source":"user""#),
        event("ConversationStateUpdateEvent", "s1", r#""key":"execution_status","value":"running""#),
        action("e2", "r1", "c1", "I look"),
        action("e3", "r1", "c2", ""),
        observation("e4", "c1", 0),
        observation("e5", "c2", 2),
        event(
            "Condensation",
            "e6",
            r#""forgotten_event_ids":["e2","e3","e4"],"summary":"Looked","summary_offset":2,"llm_response_id":"r2""#,
        ),
        action("e7", "r3", "c3", "Again"),
        event("AgentErrorEvent", "e8", r#""tool_name":"terminal","tool_call_id":"c3","error":"no such tool""#),
        event("PauseEvent", "e9", r#""parent_id":"e8""#),
        event("SecurityAnalysisEvent", "a1", r#""analyzer":"x","policy":"NeverConfirm","risks":{"e7":"LOW"}"#),
        event("ACPToolCallEvent", "a2", r#""tool_call_id":"t1","title":"Read","status":"completed","raw_output":"text""#),
        event("SomethingNew", "e10", r#""parent_id":"e9""#),
        event("MessageEvent", "e11", &format!(r#""llm_message":{{"role":"assistant","content":[{TEXT}"Done"}}]}},"llm_response_id":"r4""#)),
    ]
}

const LINES: [&str; 8] = [
    "s: tools 22 | You are | Here",
    "u: Fix it | A skill",
    "a: ~4 | I look | terminal(c1) | terminal(c2)",
    "t: terminal(c1)=",
    "t: terminal(c2)!",
    "a: ~4 | Again | terminal(c3)",
    "t: terminal(c3)!",
    "a: Done",
];

const LISTED: &str = r#"{"accumulated_cost":0.5,"costs":[{"model":"m","cost":0.1,"timestamp":1.0},{"model":"m","cost":0.2,"timestamp":2.0}],"token_usages":[
    {"model":"m","prompt_tokens":900,"completion_tokens":30,"cache_read_tokens":100,"cache_write_tokens":0,"reasoning_tokens":12,"response_id":"r1"},
    {"model":"m","prompt_tokens":700,"completion_tokens":50,"cache_read_tokens":0,"cache_write_tokens":0,"response_id":"r3"}]}"#;

fn check(run: &Transcript) {
    assert_eq!(in_short(run), LINES);
    assert_eq!(prompts(run), [(900, 30), (700, 50), (0, 0)]);
    let usage = run.messages[2].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.reasoning, usage.cost_nano_usd), (100, Some(12), Some(100_000_000)));
    let [compaction] = run.compactions.as_slice() else { panic!("{:?}", run.compactions) };
    let summary = compaction.summary.as_ref().and_then(|summary| summary.content.as_deref());
    // What was forgotten last is the first result; the second stays.
    assert_eq!((compaction.before, compaction.kept_from, summary), (5, Some(4), Some("Looked")));
}

fn read(name: &str, text: String) -> (Vec<Transcript>, Vec<String>) {
    let source = Source::from_reader(Path::new(name), Box::new(Cursor::new(text))).unwrap();
    assert_eq!(sniff(&source).map(|(reader, claim)| (reader.name, claim)), Some(("openhands", Claim::Yes)), "{name}");
    let (transcripts, losses) = read_source(source);
    (transcripts, losses.into_iter().map(|loss| loss.reason).collect())
}

#[test]
fn a_run_of_an_evaluation_by_the_line_or_printed_as_a_list() {
    let run = format!(
        r#"{{"instance_id":"x__y-1","test_result":{{"git_patch":""}},"metadata":{{"llm":{{"model":"m"}},"openhands_sdk_version":"1.2.0"}},"history":[{}],"metrics":{LISTED}}}"#,
        events().join(",")
    );
    for text in [run.replace('\n', ""), format!("[\n{run}\n]")] {
        let (transcripts, lost) = read("output.jsonl", text);
        check(&transcripts[0]);
        assert_eq!((transcripts[0].id.as_str(), transcripts[0].version.as_str()), ("x__y-1", "1.2.0"));
        assert_eq!(lost, ["unknown record type"]);
    }
}

#[test]
fn a_conversation_in_a_folder_is_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("11111111222233334444555555555555");
    fs::create_dir_all(folder.join("events")).unwrap();
    for (number, event) in events().iter().enumerate() {
        fs::write(folder.join(format!("events/event-{number:05}-0123abcd.json")), event).unwrap();
    }
    // Without its state the first event stands for the conversation.
    let first = folder.join("events/event-00000-0123abcd.json");
    let (transcripts, _) = read_all(&first);
    assert_eq!(
        (in_short(&transcripts[0]), transcripts[0].id.as_str()),
        (LINES.map(str::to_owned).to_vec(), "11111111222233334444555555555555")
    );
    let state = format!(
        r#"{{"id":"1-2","agent":{{"llm":{{"model":"m"}},"kind":"Agent"}},"stats":{{"usage_to_metrics":{{"agent":{LISTED},"condenser":{{"token_usages":[{{"prompt_tokens":300,"completion_tokens":9,"response_id":"r2"}}]}}}}}}}}"#
    );
    fs::write(folder.join("base_state.json"), state).unwrap();
    let claim = |path: &Path| sniff(&Source::open(path).unwrap()).map(|(_, claim)| claim);
    assert_eq!((claim(&first), claim(&folder.join("base_state.json"))), (Some(Claim::Companion), Some(Claim::Yes)));
    let (transcripts, lost) = read_all(&folder.join("base_state.json"));
    check(&transcripts[0]);
    assert_eq!((transcripts[0].id.as_str(), lost.len()), ("1-2", 1));
    let call = transcripts[0].compactions[0].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().prompt), ("m", 300));
}

#[test]
fn usage_that_is_known_as_a_sum_alone_belongs_to_the_reply_that_follows() {
    let stats = |prompt: u64, completion: u64, last: u64| {
        let sum = format!(
            r#"{{"model":"m","prompt_tokens":{prompt},"completion_tokens":{completion},"cache_read_tokens":0,"per_turn_token":{last}}}"#
        );
        event(
            "ConversationStateUpdateEvent",
            "s",
            &format!(r#""key":"stats","value":{{"usage_to_metrics":{{"default":{{"model_name":"m","accumulated_token_usage":{sum}}}}}}}"#),
        )
    };
    let mut lines = events();
    lines.insert(3, stats(50, 5, 55));
    lines.insert(4, stats(950, 35, 930));
    lines.insert(10, stats(1650, 85, 750));
    // Two calls lie between these sums.
    lines.insert(17, stats(3650, 185, 900));
    let (transcripts, lost) = read("events.jsonl", lines.join("\n"));
    assert_eq!(
        (in_short(&transcripts[0]), prompts(&transcripts[0])),
        (LINES.map(str::to_owned).to_vec(), vec![(900, 30), (700, 50), (0, 0)])
    );
    let aside: Vec<u64> = transcripts[0].side_calls.iter().map(|call| call.usage.unwrap().prompt).collect();
    assert_eq!(aside, [50]);
    assert_eq!(lost, ["unknown record type", "usage of several calls together"]);
    assert_eq!(transcripts[0].messages.iter().filter(|message| message.role == Role::User).count(), 1);
}
