use crate::support::{claim, fixture, in_short, project, prompts, read_all, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::format::Claim;
use ctxsim::transcript::{Transcript, Usage};
use serde_json::{Value, json};
use std::fs;

#[test]
fn the_two_files_of_a_task_are_one_session() {
    let (transcripts, lost) = fixture("cline/task1/api_conversation_history.json");
    assert_eq!(lost, [("cut off at the end of the file".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!(session.id, "task1");
    assert_eq!(
        in_short(session),
        [
            "u: <task>\nOne\n</task> | <environment_details>x</environment_details>",
            "a: Looking <read_file>",
            "t: read_file()= | <environment_details>y</environment_details>",
            "a: read_file(c1)",
            "t: read_file(c1)=",
            "a: Done",
        ]
    );
    assert_eq!(prompts(session), [(1000, 20), (1100, 30), (460, 5)]);
    let call = session.messages[1].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cost_nano_usd), ("claude-sonnet-4", Some(10_000_000)));
    // The request that was cancelled was made all the same.
    assert_eq!(session.side_calls.iter().map(|call| call.usage.unwrap().prompt).collect::<Vec<_>>(), [100]);
    let cut = &session.compactions[0];
    assert_eq!((cut.before, cut.kept_from, cut.summary.is_none()), (3, Some(3), true));
    let beside = project().join("tests/data/cline/task1/ui_messages.json");
    assert_eq!(claim(&beside), Some(("cline", Claim::Companion)));
}

#[test]
fn the_list_of_the_screen_alone_is_a_session_too() {
    let (transcripts, lost) = fixture("cline/task2/ui_messages.json");
    assert_eq!(lost.iter().map(|(_, count)| count).sum::<u64>(), 2, "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(prompts(session), [(1000, 20), (1100, 30), (460, 5)]);
    assert_eq!(session.side_calls.len(), 1);
    assert!(in_short(session).contains(&"a: Looking | readFile()".to_owned()), "{:?}", in_short(session));
}

#[test]
fn what_a_person_answers_to_the_model_opens_a_turn() {
    let surroundings = "<environment_details>x</environment_details>";
    let done = "[attempt_completion] Result: Done";
    let requests = [
        "<task>One</task>".to_owned(),
        "[execute_command for 'rm'] Result:\nThe user denied this.\n<feedback>no</feedback>".to_owned(),
        format!("{done}\n<feedback>great</feedback>"),
        format!("{done}\n\n{surroundings}"),
        "[ask_followup_question for 'Which?'] Result:\n<answer>this</answer>".to_owned(),
        format!("[TASK RESUMPTION] It was interrupted.\n\n{surroundings}"),
        "[TASK RESUMPTION] It was interrupted.\n<user_message>Go on</user_message>".to_owned(),
        "[ERROR] You did not use a tool".to_owned(),
    ];
    let entry = |request: &String| {
        let text = serde_json::json!({ "request": request, "tokensIn": 9, "tokensOut": 3 }).to_string();
        [
            serde_json::json!({ "ts": 1, "type": "say", "say": "api_req_started", "text": text }),
            serde_json::json!({ "ts": 2, "type": "say", "say": "text", "text": "Well" }),
        ]
    };
    let list = serde_json::Value::from_iter(requests.iter().flat_map(entry));
    let (transcripts, _) = read_text("ui_messages.json", &list.to_string());
    let said: Vec<String> = in_short(&transcripts[0]).iter().map(|message| message[..2].to_owned()).collect();
    assert_eq!(said.iter().step_by(2).collect::<Vec<_>>(), ["u:", "t:", "u:", "t:", "u:", "*:", "u:", "*:"]);
}

#[test]
fn a_truncation_before_a_summary_keeps_its_own_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api_conversation_history.json");
    let said = |role: &str, at: u64, text: &str| json!({"role": role, "ts": at, "content": [{"type": "text", "text": text}]});
    let with = |mut message: Value, key: &str| {
        message[key] = true.into();
        message
    };
    let history = json!([
        said("user", 1, "one"),
        said("assistant", 3, "first"),
        with(said("user", 4, "[cut]"), "isTruncationMarker"),
        said("user", 5, "two"),
        said("assistant", 7, "second"),
        with(said("user", 8, "all of it"), "isSummary"),
        said("user", 9, "three"),
        said("assistant", 11, "third"),
    ]);
    let shown = |at: u64, say: &str, more: Value| {
        let mut entry = json!({"type": "say", "ts": at, "say": say});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let asked = |at: u64| shown(at, "api_req_started", json!({"text": r#"{"request":"r","tokensIn":1000,"tokensOut":50}"#}));
    let screen = json!([
        asked(2),
        shown(4, "sliding_window_truncation", json!({"contextTruncation": {"prevContextTokens": 90_000, "newContextTokens": 45_000}})),
        asked(6),
        shown(
            8,
            "condense_context",
            json!({"contextCondense": {"prevContextTokens": 70_000, "newContextTokens": 8_000, "summary": "all of it"}})
        ),
        asked(10),
    ]);
    fs::write(&path, history.to_string()).unwrap();
    fs::write(folder.path().join("ui_messages.json"), screen.to_string()).unwrap();
    let (transcripts, _) = read_all(&path);
    let sizes: Vec<_> =
        transcripts[0].compactions.iter().map(|made| (made.tokens_before, made.tokens_after, made.summary.is_some())).collect();
    assert_eq!(sizes, [(Some(90_000), Some(45_000), false), (Some(70_000), Some(8_000), true)]);
}

#[test]
fn a_sum_of_nothing_that_was_deleted_is_no_loss() {
    let list = |sum: &str| {
        let asked = json!({"request": "Do", "tokensIn": 9, "tokensOut": 3}).to_string();
        let entry = |ts: u64, say: &str, text: &str| json!({"ts": ts, "type": "say", "say": say, "text": text});
        json!([entry(1, "api_req_started", &asked), entry(2, "text", "Done"), entry(3, "deleted_api_reqs", sum)]).to_string()
    };
    let lost = |sum: &str| {
        let (transcripts, lost) = read_text("ui_messages.json", &list(sum));
        assert_eq!(prompts(&transcripts[0]), [(9, 3)]);
        lost.iter().filter(|(reason, _)| reason == "usage of requests that were deleted, as a sum alone").count()
    };
    assert_eq!(lost(r#"{"tokensIn":0,"tokensOut":0,"cacheWrites":0,"cacheReads":0,"cost":0}"#), 0);
    assert_eq!(lost(r#"{"tokensIn":0,"tokensOut":0,"cacheReads":7}"#), 1);
    assert_eq!(lost(r#"{"tokensIn":40,"tokensOut":2}"#), 1);
    assert_eq!(lost("no sum"), 1);
}

/// A conversation, and where given the screen's list beside it.
fn task(history: &Value, screen: Option<&Value>) -> (Vec<Transcript>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api_conversation_history.json");
    fs::write(&path, history.to_string()).unwrap();
    screen.into_iter().for_each(|screen| fs::write(folder.path().join("ui_messages.json"), screen.to_string()).unwrap());
    let (transcripts, losses) = read_all(&path);
    (transcripts, losses.into_iter().map(|loss| loss.reason).collect())
}

fn said(ts: u64, role: &str, text: &str) -> Value {
    json!({"role": role, "ts": ts, "content": [{"type": "text", "text": text}]})
}

/// A reply with the usage that the agent notes with it.
fn reply(ts: u64, text: &str, provider: &str, [prompt, completion, cached]: [u64; 3]) -> Value {
    let mut reply = said(ts, "assistant", text);
    reply["modelInfo"] = json!({"modelId": "m", "providerId": provider, "mode": "act"});
    reply["metrics"] = json!({"tokens": {"prompt": prompt, "completion": completion, "cached": cached}, "cost": 0.5});
    reply
}

fn asked(ts: u64, numbers: Value) -> Value {
    json!({"ts": ts, "type": "say", "say": "api_req_started", "text": numbers.to_string()})
}

#[test]
fn a_conversation_has_the_usage_that_stands_with_its_replies() {
    let (transcripts, lost) = fixture("cline/task3/api_conversation_history.json");
    assert!(lost.is_empty(), "{lost:?}");
    // Most providers' cached tokens lie beside the prompt, OpenAI's in it where they fit.
    assert_eq!(prompts(&transcripts[0]), [(1010, 20), (1130, 5), (1500, 7), (1609, 8)]);
    let calls: Vec<_> = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert!(calls.iter().all(|call| call.model == "m"));
    let usages: Vec<_> = calls.iter().filter_map(|call| call.usage).collect();
    // What was read and what was written is one sum, and says nothing of either.
    assert!(usages.iter().all(|usage| (usage.cache_read, usage.cache_write, usage.cost_nano_usd) == (0, 0, Some(500_000_000))));
    assert_eq!(usages.iter().map(|usage| usage.output_is_final).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true, false, false]);
}

#[test]
fn the_list_of_the_screen_goes_before_what_stands_with_a_reply() {
    let history = json!([
        said(1, "user", "One"),
        reply(3, "First", "anthropic", [10, 20, 1000]),
        said(4, "user", "Two"),
        reply(6, "Second", "anthropic", [40, 5, 1010]),
    ]);
    let screen = json!([
        asked(2, json!({"request": "r", "tokensIn": 10, "tokensOut": 20, "cacheWrites": 400, "cacheReads": 600})),
        asked(5, json!({"request": "r"})),
    ]);
    let (transcripts, lost) = task(&history, Some(&screen));
    assert!(lost.is_empty(), "{lost:?}");
    let usages: Vec<_> = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()?.usage).collect();
    let parts = |usage: &Usage| (usage.prompt, usage.cache_read, usage.cache_write);
    assert_eq!(usages.iter().map(parts).collect::<Vec<_>>(), [(1010, 600, 400), (1050, 0, 0)]);
}

#[test]
fn a_reply_of_a_provider_that_reports_nothing_is_a_call() {
    let nothing = json!({"request": "r", "tokensIn": 0, "tokensOut": 0, "cacheWrites": 0, "cacheReads": 0, "cost": 0});
    let cancelled = json!({"request": "r", "tokensIn": 0, "tokensOut": 0, "cancelReason": "user_cancelled"});
    let shown = |ts: u64, text: &str| json!({"ts": ts, "type": "say", "say": "text", "text": text});
    let screen =
        json!([asked(2, nothing.clone()), shown(3, "First"), asked(5, cancelled), shown(6, "Sec"), asked(8, nothing), shown(9, "Third"),]);
    let history = json!([
        said(1, "user", "One"),
        said(3, "assistant", "First"),
        said(4, "user", "Two"),
        said(6, "assistant", "Sec"),
        said(7, "user", "Three"),
        said(9, "assistant", "Third"),
    ]);
    let (transcripts, lost) = task(&history, Some(&screen));
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
    let (transcripts, _) = read_text("ui_messages.json", &screen.to_string());
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
    let (transcripts, lost) = task(&history, None);
    assert_eq!((prompts(&transcripts[0]).len(), lost.len()), (3, 1), "{lost:?}");
}

/// Older tasks note neither times nor places: a request without usage was not answered where others have it.
#[test]
fn a_request_without_usage_shifts_no_usage() {
    let plain = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let history = json!([plain("user", "One"), plain("assistant", "First"), plain("user", "Two"), plain("assistant", "Second")]);
    let used = |prompt: u64| asked(prompt, json!({"request": "r", "tokensIn": prompt, "tokensOut": 7}));
    let (transcripts, _) = task(&history, Some(&json!([used(100), asked(150, json!({"request": "r"})), used(200)])));
    assert_eq!((prompts(&transcripts[0]), transcripts[0].side_calls.len()), (vec![(100, 7), (200, 7)], 0));
}

/// Where a session has reads and writes as one sum, it counts neither, whatever other sessions of the agent count.
#[test]
fn a_sum_of_reads_and_writes_is_no_count_of_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let history = json!([said(1, "user", "One"), reply(3, "First", "anthropic", [10, 20, 1000])]);
    let screen = json!([asked(2, json!({"request": "r", "tokensIn": 10, "tokensOut": 20, "cacheWrites": 400, "cacheReads": 600}))]);
    for (task, screen) in [("listed", Some(screen)), ("summed", None)] {
        fs::create_dir(folder.path().join(task)).unwrap();
        let write = |name: &str, value: &Value| fs::write(folder.path().join(task).join(name), value.to_string()).unwrap();
        write("api_conversation_history.json", &history.as_array().unwrap().iter().cloned().chain([said(4, "user", task)]).collect());
        screen.iter().for_each(|screen| write("ui_messages.json", screen));
    }
    let corpus = corpus(&Catalog::builtin().unwrap(), &[folder.path()]);
    let tells: Vec<(String, bool)> = corpus.traces.each().map(|trace| (trace.id.clone(), trace.tells_of_cache())).collect();
    assert_eq!(tells, [("listed".to_owned(), true), ("summed".to_owned(), false)]);
}

/// The marker stands before the first entry that is kept, and its time is that entry's: the screen tells when the agent cut.
#[test]
fn a_truncation_takes_place_where_the_screen_shows_it() {
    let marker = |id: &str, ts: u64| json!({"role": "user", "ts": ts, "content": "[cut]", "isTruncationMarker": true, "truncationId": id});
    let pair = |ts: u64| [said(ts, "user", "go on"), said(ts + 8, "assistant", "done")];
    let mut history: Vec<Value> = [10, 20, 30, 40, 50].into_iter().flat_map(pair).collect();
    // The second truncation hides more than the first one.
    history.insert(4, marker("second", 29));
    history.insert(2, marker("first", 19));
    let mut screen: Vec<Value> = Vec::new();
    for (ts, prompt) in [(10, 1000), (20, 2000), (30, 3000), (40, 1500), (50, 900)] {
        let cut = |id: &str, before: u64, after: u64| {
            let sizes = json!({"truncationId": id, "messagesRemoved": 2, "prevContextTokens": before, "newContextTokens": after});
            json!({"type": "say", "ts": ts + 2, "say": "sliding_window_truncation", "contextTruncation": sizes})
        };
        screen.push(asked(ts + 1, json!({"request": "r", "tokensIn": prompt, "tokensOut": 50})));
        screen.extend((ts == 40).then(|| cut("first", 4000, 1400)));
        screen.extend((ts == 50).then(|| cut("second", 2500, 800)));
    }
    let (transcripts, lost) = task(&json!(history), Some(&json!(screen)));
    let session = &transcripts[0];
    let made: Vec<_> = session.compactions.iter().map(|made| (made.before, made.kept_from, made.tokens_before, made.time)).collect();
    assert_eq!((made, lost), (vec![(7, Some(2), Some(4000), Some(42)), (9, Some(4), Some(2500), Some(52))], vec![]));
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, false, false, true, true]);
    // Without the screen's list, its place is all that is known.
    let (transcripts, _) = task(&json!(history), None);
    assert_eq!(transcripts[0].compactions.iter().map(|made| made.before).collect::<Vec<_>>(), [2, 4]);
}

/// OpenRouter's prompts hold what was cached. The agent took that out of the input since 3.18 for Gemini's models, since 3.24 for all; before entries named their
/// model, the metadata of the task did.
#[test]
fn early_clients_of_openrouter_hand_on_whole_prompts() {
    let prompts_at = |day: u64, provider: &str, model: &str| {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: Value| fs::write(folder.path().join(name), value.to_string()).unwrap();
        let numbers = |tokens: u64, read: u64| json!({"request": "Go", "tokensIn": tokens, "tokensOut": 5, "cacheWrites": 0, "cacheReads": read, "cost": 0.001});
        write("ui_messages.json", json!([asked(day + 10, numbers(13_000, 0)), asked(day + 30, numbers(14_000, 12_000))]));
        let used = |ts: u64, model: &str| json!({"ts": ts, "model_id": model, "model_provider_id": provider, "mode": "act"});
        let usage = json!({"files_in_context": [], "model_usage": [used(day, "other"), used(day + 5, model), used(day + 40, "later")]});
        write("task_metadata.json", usage);
        let conversation =
            [said(day + 9, "user", "a"), said(day + 20, "assistant", "b"), said(day + 29, "user", "c"), said(day + 39, "assistant", "d")];
        write("api_conversation_history.json", json!(conversation));
        let (transcripts, lost) = read_all(&folder.path().join("api_conversation_history.json"));
        assert!(lost.is_empty(), "{lost:?}");
        let calls: Vec<_> = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).collect();
        assert!(calls.iter().all(|call| call.model == model), "{calls:?}");
        let usage = calls[1].usage.unwrap();
        assert_eq!(usage.cache_read, 12_000);
        usage.prompt
    };
    let [may, july, september] = [1_747_213_189_059, 1_752_000_000_000, 1_757_000_000_000];
    let of = |provider, model| [may, july, september].map(|day| prompts_at(day, provider, model));
    let (whole, apart) = (14_000, 26_000);
    assert_eq!(of("openrouter", "google/gemini-2.5-flash-preview"), [whole, apart, apart]);
    assert_eq!(of("cline", "openai/gpt-4.1"), [whole, whole, apart]);
    assert_eq!(of("anthropic", "claude-sonnet-4"), [apart, apart, apart]);
    // What cannot be read of it is named.
    let folder = tempfile::tempdir().unwrap();
    let conversation = json!([said(may, "user", "a"), said(may + 9, "assistant", "b")]).to_string();
    fs::write(folder.path().join("api_conversation_history.json"), conversation).unwrap();
    fs::write(folder.path().join("task_metadata.json"), "{\"model_usage\": 7}").unwrap();
    let (_, lost) = read_all(&folder.path().join("api_conversation_history.json"));
    let reason = "models of the task beside it that cannot be read";
    assert_eq!(lost.iter().filter(|loss| loss.reason == reason).count(), 1, "{lost:?}");
}
