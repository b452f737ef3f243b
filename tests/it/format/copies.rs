use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Writes each log under its name and reads all together: how many sessions and calls there are, each once, and the sum of the prompts.
fn together(logs: &[(&str, &str)]) -> (u64, u64, u64) {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path: PathBuf = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<PathBuf> = logs.iter().map(write).collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let facts = corpus(&Catalog::builtin().unwrap(), &paths).facts;
    (facts.sessions, facts.calls, facts.recorded_prompt_tokens)
}

/// A chat of aider that begins in one and the same second.
fn chat(said: &[(&str, u64)]) -> String {
    let turn = |(words, sent): &(&str, u64)| format!("#### {words}  \n\nSo: {words}.\n\n> Tokens: {sent} sent, 5 received.  \n\n");
    format!("# aider chat started at 2025-05-04 17:02:36\n\n{}", said.iter().map(turn).collect::<String>())
}

#[test]
fn chats_of_two_projects_in_one_second_are_two() {
    let (one, other) = (chat(&[("One", 100), ("Two", 200)]), chat(&[("Mend", 110), ("Test", 220), ("Push", 330)]));
    let name = ".aider.chat.history.md";
    assert_eq!(together(&[(&format!("p/{name}"), &one), (&format!("q/{name}"), &other)]), (2, 5, 960));
    // Of two that are asked the same, with prompts of one size, each has its own replies.
    let answered = one.replace("So:", "Well:");
    assert_eq!(together(&[(&format!("p/{name}"), &one), (&format!("q/{name}"), &answered)]), (2, 4, 600));
    // Of two that begin alike, to the reply, one goes on otherwise: what both hold was called once.
    let parted = chat(&[("One", 100), ("Three", 210)]);
    assert_eq!(together(&[(&format!("p/{name}"), &one), (&format!("q/{name}"), &parted)]), (2, 3, 510));
}

/// A copy may break off anywhere behind the first reply: within a question, a reply or the line of tokens.
#[test]
fn a_chat_that_breaks_off_counts_once() {
    let whole = chat(&[("One", 100), ("Two", 200), ("Three", 300)]);
    let first = whole.find("5 received.").unwrap() + "5 received.".len();
    for cut in (first..=whole.len()).step_by(7).map(|end| &whole[..end]) {
        for names in [["chat.md", "old/backup.md"], ["z.md", "a.md"]] {
            assert_eq!(together(&[(names[0], &whole), (names[1], cut)]), (1, 3, 600), "{names:?} {cut}");
        }
    }
}

#[test]
fn a_chat_under_another_name_and_a_shorter_one_count_once() {
    let (whole, shorter) = (chat(&[("One", 100), ("Two", 200), ("Three", 300)]), chat(&[("One", 100), ("Two", 200)]));
    for copy in [&whole, &shorter, &chat(&[("One", 100)])] {
        for names in [["chat.md", "old/backup.md"], ["z.md", "a.md"]] {
            assert_eq!(together(&[(names[0], &whole), (names[1], copy)]), (1, 3, 600), "{names:?}");
        }
    }
}

/// A history of aider's requests: what each of them asks, and the reply.
fn requests(said: &[(&str, &str)]) -> String {
    let mut prompt = String::from("-------\nSYSTEM Be good.\n");
    let exchange = |((words, reply), second): (&(&str, &str), u32)| {
        prompt.push_str(&format!("-------\nUSER {words}\n"));
        let asked = format!("TO LLM 2025-01-31T11:21:{second:02}\n{prompt}LLM RESPONSE 2025-01-31T11:21:{:02}\n", second + 2);
        prompt.push_str(&format!("-------\nASSISTANT {reply}\n"));
        format!("{asked}ASSISTANT {reply}\n")
    };
    said.iter().zip((10..).step_by(5)).map(exchange).collect()
}

#[test]
fn histories_of_requests_are_known_by_their_words() {
    let whole = requests(&[("One", "First"), ("Two", "Second")]);
    assert_eq!(together(&[("p/llm.txt", &whole), ("q/llm.txt", &requests(&[("Mend", "Done"), ("Test", "Well")]))]), (2, 4, 0));
    for copy in [&whole, &requests(&[("One", "First")])] {
        assert_eq!(together(&[("p/llm.txt", &whole), ("old/requests.txt", copy)]), (1, 2, 0));
    }
    // A copy breaks off anywhere behind the first reply's first letter.
    let first = whole.find("First").unwrap() + 1;
    for end in (first..whole.len()).step_by(7) {
        assert_eq!(together(&[("p/llm.txt", &whole), ("old/llm.txt", &whole[..end])]), (1, 2, 0), "{}", &whole[..end]);
    }
    // Two projects ask other things in the same second, and get the same replies.
    let other = requests(&[("Mend", "First"), ("Test", "Second")]);
    assert_eq!(together(&[("p/llm.txt", &whole), ("q/llm.txt", &other)]), (2, 4, 0));
}

/// The two files of a task of Cline's that begins at this time: requests with their prompts.
fn task(began: u64, words: &str, prompts: &[u64]) -> (String, String) {
    let mut conversation = Vec::new();
    let mut screen = vec![json!({"ts": began, "type": "say", "say": "text", "text": words})];
    for (number, prompt) in (1..).zip(prompts) {
        let at = began + number * 1000;
        let asked = format!("{words} {number}");
        let text = json!({"request": asked, "tokensIn": prompt, "tokensOut": 20}).to_string();
        screen.push(json!({"ts": at, "type": "say", "say": "api_req_started", "text": text}));
        screen.push(json!({"ts": at + 500, "type": "say", "say": "text", "text": format!("Reply {number}")}));
        let said = |role: &str, ts: u64, text: String| json!({"role": role, "ts": ts, "content": [{"type": "text", "text": text}]});
        conversation.extend([said("user", at - 1, asked), said("assistant", at + 500, format!("Reply {number}"))]);
    }
    (Value::from(conversation).to_string(), Value::from(screen).to_string())
}

const TALK: &str = "api_conversation_history.json";
const SCREEN: &str = "ui_messages.json";

#[test]
fn a_task_counts_once_whatever_its_folder_is_called() {
    let (talk, screen) = task(1_760_000_000_001, "Do", &[100, 200, 300]);
    let (shorter_talk, shorter) = task(1_760_000_000_001, "Do", &[100, 200]);
    for (copied_talk, copied) in [(&talk, &screen), (&shorter_talk, &shorter)] {
        let files = [("1760000000001", &talk, &screen), ("backup", copied_talk, copied)];
        let named: Vec<_> = files
            .iter()
            .flat_map(|(task, talk, screen)| [(format!("{task}/{TALK}"), *talk), (format!("{task}/{SCREEN}"), *screen)])
            .collect();
        let logs: Vec<(&str, &str)> = named.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(together(&logs), (1, 3, 600));
        // Of the copy, the screen's list alone.
        assert_eq!(together(&[logs[0], logs[1], logs[3]]), (1, 3, 600));
        assert_eq!(together(&[("task/ui_messages.json", &screen), ("old/ui_messages.json", copied)]), (1, 3, 600));
    }
    // A copy from before the last reply was whole.
    let mut cut: Vec<Value> = serde_json::from_str(&shorter).unwrap();
    cut.last_mut().unwrap()["text"] = "Rep".into();
    assert_eq!(together(&[("task/ui_messages.json", &screen), ("old/ui_messages.json", &Value::from(cut).to_string())]), (1, 3, 600));
}

#[test]
fn two_tasks_are_two() {
    let (_, one) = task(1_760_000_000_001, "Do", &[100, 200]);
    // Another task in a folder of the same name, begun later; and one begun in the same millisecond.
    for other in [task(1_760_000_000_002, "Do", &[100, 200]), task(1_760_000_000_001, "Mend", &[110, 220])] {
        assert_eq!(together(&[("a/task/ui_messages.json", &one), ("b/task/ui_messages.json", &other.1)]).0, 2);
        assert_eq!(together(&[("a/task/ui_messages.json", &one), ("b/task/ui_messages.json", &other.1)]).1, 4);
    }
}

/// What is said in a session of DeepSeek's harness.
fn harness(said: &[&str]) -> String {
    let event = |(words, seq): (&&str, u64)| {
        let time = 1_783_421_406_000 + seq;
        let user = json!({"type": "user/message", "seq": 2 * seq, "time": time, "data": {"content": [{"type": "text", "text": words}]}});
        let reply = json!({"type": "assistant/message", "seq": 2 * seq + 1, "time": time, "data": {
            "content": [{"type": "text", "text": format!("So: {words}")}], "usage": {"inputTokens": 100 + seq, "outputTokens": 5}}});
        format!("{user}\n{reply}\n")
    };
    said.iter().zip(0..).map(event).collect()
}

#[test]
fn a_log_without_the_sessions_id_is_known_by_its_words() {
    // The first line would name it.
    let head = json!({"type": "session", "version": 0, "delegationDepth": 0});
    let config = json!({"type": "request/header", "seq": 0, "data": {"header": {"config": {"model": "m"}, "system": "Be good."}}});
    let log = |said: &[&str]| format!("{head}\n{config}\n{}", harness(said));
    let (one, other) = (log(&["One", "Two"]), log(&["Mend", "Test"]));
    assert_eq!(together(&[("p/a.session.jsonl", &one), ("q/a.session.jsonl", &other)]), (2, 4, 402));
    assert_eq!(together(&[("p/a.session.jsonl", &one), ("q/b.session.jsonl", &one)]), (1, 2, 201));
    assert_eq!(together(&[("p/a.session.jsonl", &one), ("q/b.session.jsonl", &log(&["One"]))]), (1, 2, 201));
}

#[test]
fn a_trajectory_without_an_id_is_known_by_its_words() {
    let trajectory = |words: &str| {
        let step = |id: u64, source: &str, message: String| json!({"step_id": id, "timestamp": "2026-01-01T00:00:00Z", "source": source, "message": message});
        let mut reply = step(2, "agent", format!("So: {words}"));
        reply["metrics"] = json!({"prompt_tokens": 100, "completion_tokens": 5});
        let steps = [step(1, "user", words.to_owned()), reply];
        json!({"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": steps}).to_string()
    };
    assert_eq!(together(&[("p/trajectory.json", &trajectory("One")), ("q/trajectory.json", &trajectory("Mend"))]), (2, 2, 200));
    assert_eq!(together(&[("p/trajectory.json", &trajectory("One")), ("q/other.json", &trajectory("One"))]), (1, 1, 100));
}

#[test]
fn a_simulation_without_an_id_is_known_by_its_words() {
    let results = |words: &str| {
        let user = json!({"role": "user", "content": words, "turn_idx": 0, "timestamp": "2026-01-01T00:00:00"});
        let reply = json!({"role": "assistant", "content": format!("So: {words}"), "turn_idx": 1, "timestamp": "2026-01-01T00:00:01",
            "usage": {"prompt_tokens": 100, "completion_tokens": 5}});
        let info = json!({"agent_info": {"implementation": "llm_agent", "llm": "m"}, "environment_info": {"policy": "Be good."}});
        let task = json!({"id": "0", "user_scenario": {}});
        json!({"info": info, "tasks": [task], "simulations": [{"task_id": "0", "messages": [user, reply]}]}).to_string()
    };
    assert_eq!(together(&[("p/results.json", &results("One")), ("q/results.json", &results("Mend"))]), (2, 2, 200));
    assert_eq!(together(&[("p/results.json", &results("One")), ("q/other.json", &results("One"))]), (1, 1, 100));
}

/// A log of requests, and a trace that began later: one call stands in both.
#[test]
fn a_call_is_known_by_the_id_that_its_provider_drew() {
    let request = |id: &str, number: u64| {
        let message = json!({"role": "assistant", "content": format!("The answer {number}")});
        let usage = json!({"prompt_tokens": 1000 + number, "completion_tokens": 20});
        let asked = json!({"model": "gpt-5", "messages": [{"role": "user", "content": format!("Question {number}?")}]});
        let response = json!({"id": id, "model": "gpt-5", "choices": [{"message": message}], "usage": usage});
        json!({"api": "openai_chat", "request": asked, "response": response}).to_string() + "\n"
    };
    let span = |id: &str, number: u64| {
        let attributes = [
            json!({"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}),
            json!({"key": "gen_ai.request.model", "value": {"stringValue": "gpt-5"}}),
            json!({"key": "gen_ai.response.id", "value": {"stringValue": id}}),
            json!({"key": "gen_ai.usage.input_tokens", "value": {"intValue": (1000 + number).to_string()}}),
            json!({"key": "gen_ai.usage.output_tokens", "value": {"intValue": "20"}}),
        ];
        let (trace, span) = (format!("{number:032x}"), format!("{number:016x}"));
        json!({"traceId": trace, "spanId": span, "name": "chat gpt-5", "startTimeUnixNano": "1767323000000000000", "attributes": attributes})
    };
    let drawn = ["chatcmpl-Bx7vT2xLk9Zp4Rb8Qm3Wd", "chatcmpl-Cy8wU3yMl0Aq5Sc9Rn4Xe", "chatcmpl-Dz9xV4zNm1Br6Td0So5Yf"];
    let counted = ["chatcmpl-00000000000000000000001", "chatcmpl-00000000000000000000002", "chatcmpl-00000000000000000000003"];
    for (ids, calls, prompts) in [(drawn, 3, 3006), (counted, 4, 4008)] {
        let log = request(ids[0], 1) + &request(ids[1], 2);
        let spans = [span(ids[1], 2), span(ids[2], 3)];
        let trace = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
        let (_, counted, tokens) = together(&[("log.jsonl", &log), ("trace.json", &trace)]);
        assert_eq!((counted, tokens), (calls, prompts), "{}", ids[0]);
    }
}
