use crate::support::{claim, ctxsim, in_short, prompts, read_all, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::Transcript;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A line of a session, so many seconds after it began.
fn line(kind: &str, id: &str, parent: Option<&str>, at: u64, more: Value) -> String {
    let mut line = json!({
        "type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s1", "version": "2.1.39", "isSidechain": false,
        "timestamp": format!("2026-02-11T10:{:02}:{:02}.000Z", at / 60, at % 60),
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line.to_string()
}

fn reply(message: &str, text: &str, cached: u64, output: u64) -> Value {
    json!({"requestId": format!("req_{message}"), "message": {
        "id": message, "role": "assistant", "model": "claude-opus-4-6", "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": output},
    }})
}

fn asked(text: &str) -> Value {
    json!({"message": {"role": "user", "content": text}})
}

/// The same of an agent.
fn of(agent: &str, mut more: Value) -> Value {
    more.as_object_mut().unwrap().extend([("agentId".to_owned(), json!(agent)), ("isSidechain".to_owned(), json!(true))]);
    more
}

const SUMMARY: &str = "acompact-1f2e3d";

/// A session with two compactions, of which one request is logged, a request that another came after, a suggestion and a sub-agent.
fn session(folder: &Path) -> PathBuf {
    let summary = |text: &str| json!({"isCompactSummary": true, "message": {"role": "user", "content": text}});
    let boundary = json!({"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": {"trigger": "auto", "preTokens": 9_000}});
    let main = [
        line("user", "u1", None, 0, asked("Begin")),
        line("assistant", "a1", Some("u1"), 5, reply("m1", "Begun", 1_000, 60)),
        line("system", "b1", None, 30, boundary.clone()),
        line("user", "s1", Some("b1"), 30, summary("All of it in short")),
        line("user", "u2", Some("s1"), 40, asked("Go on")),
        line("assistant", "a2", Some("u2"), 45, reply("m2", "Gone", 700, 60)),
        line("system", "b2", None, 60, boundary),
        line("user", "s2", Some("b2"), 60, summary("The rest in short")),
    ];
    let compact = [
        // The conversation may be copied in front of the request.
        line("assistant", "a1", Some("u1"), 5, of(SUMMARY, reply("m1", "Begun", 1_000, 60))),
        line("user", "c1", Some("a1"), 10, of(SUMMARY, asked("Your task is to create a detailed summary"))),
        line("assistant", "c3", Some("c1"), 29, of(SUMMARY, reply("m3", "All of it in short", 8_000, 6))),
        line("assistant", "c4", Some("c3"), 29, of(SUMMARY, reply("m3", " and more", 8_000, 6))),
    ];
    let earlier = line("assistant", "e1", None, 15, of("acompact-9", reply("m4", "Not used", 7_900, 70)));
    let suggestion = line("assistant", "p1", None, 50, of("aprompt_suggestion-77", reply("m5", "Shall I?", 800, 70)));
    let agent = [
        line("user", "g1", None, 6, of("a1b2c3d", asked("Look"))),
        line("assistant", "g2", Some("g1"), 8, of("a1b2c3d", reply("m6", "Looked", 90, 70))),
    ];
    let beside = folder.join("s1/subagents");
    fs::create_dir_all(&beside).unwrap();
    let write = |path: PathBuf, text: String| fs::write(path, text + "\n").unwrap();
    write(beside.join(format!("agent-{SUMMARY}.jsonl")), compact.join("\n"));
    write(beside.join("agent-acompact-9.jsonl"), earlier);
    write(beside.join("agent-aprompt_suggestion-77.jsonl"), suggestion);
    write(beside.join("agent-a1b2c3d.jsonl"), agent.join("\n"));
    write(folder.join("s1.jsonl"), main.join("\n"));
    folder.join("s1.jsonl")
}

fn asked_aside(transcript: &Transcript) -> Vec<u64> {
    transcript.side_calls.iter().map(|call| call.usage.unwrap().prompt).collect()
}

#[test]
fn requests_for_summaries_belong_to_the_compactions_of_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let beside = folder.path().join("s1/subagents");
    for (name, expected) in [(format!("agent-{SUMMARY}.jsonl"), Claim::Companion), ("agent-a1b2c3d.jsonl".to_owned(), Claim::Yes)] {
        assert_eq!(claim(&beside.join(name)), Some(("claude-code", expected)));
    }
    let (transcripts, losses) = read_all(&path);
    let [transcript] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((losses, prompts(transcript)), (vec![], vec![(1_003, 60), (703, 60)]));
    let calls: Vec<_> =
        transcript.compactions.iter().map(|made| made.call.as_ref().map(|call| (call.id.as_str(), call.usage.unwrap()))).collect();
    let [Some((id, usage)), None] = calls.as_slice() else { panic!("{calls:?}") };
    // The count is a placeholder: the reply has more words.
    assert_eq!((*id, usage.prompt, usage.output, usage.output_is_final), ("m3/req_m3", 8_003, 6, false));
    // The suggestion, and the request for a summary that was not used.
    assert_eq!(asked_aside(transcript), [7_903, 803]);

    let value = ctxsim(&["replay", &folder.path().to_string_lossy(), "-p", "baseagent", "--json", "-q"]).json();
    let recorded = &value["recorded"];
    assert_eq!((&recorded["sessions"].as_array().unwrap().len(), &recorded["calls"]), (&2, &json!(3)), "{recorded}");
    assert_eq!((&recorded["compactions"], &recorded["summariser_calls"]), (&json!(2), &json!(1)));
    let value = ctxsim(&["inspect", &folder.path().to_string_lossy(), "--json", "-q"]).json();
    assert_eq!((&value["corpus"]["calls_with_usage"], &value["corpus"]["recorded_prompt_tokens"]), (&json!(6), &json!(18_508)));
}

/// What was copied is the session, and begins in the middle where its beginning is not copied.
#[test]
fn requests_without_their_session_are_no_session_for_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    fs::remove_file(session(folder.path())).unwrap();
    let beside = folder.path().join("s1/subagents");
    let (transcripts, losses) = read_all(&beside.join(format!("agent-{SUMMARY}.jsonl")));
    let [copied, request] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((copied.id.as_str(), &copied.parent, copied.copied, copied.begins_in_middle), ("s1", &None, true, true));
    assert_eq!((prompts(copied), copied.messages.len(), asked_aside(copied), losses), (vec![(1_003, 60)], 1, vec![], vec![]));
    assert_eq!((request.id.as_str(), request.parent.as_deref(), request.copied), ("s1/acompact-1f2e3d", Some("s1"), false));
    // The compaction itself stands in the session's log.
    assert_eq!((in_short(request).len(), asked_aside(request), request.compactions.len()), (0, vec![8_003], 0));

    let value = ctxsim(&["replay", &folder.path().to_string_lossy(), "-p", "baseagent", "--json", "-q"]).json();
    let (recorded, policy) = (&value["recorded"], &value["policies"][0]);
    assert_eq!((&recorded["calls"], &recorded["summariser_calls"]), (&json!(2), &json!(0)), "{recorded}");
    assert_eq!((&policy["calls"], &policy["compactions"]), (&json!(2), &json!(0)), "{policy}");
}

/// The log of a request over a conversation of so many turns, which `branch` goes on with in its own way from the third turn on. Of the request itself it has a failed try, too.
fn request(agent: &str, turns: u64, branch: &str) -> String {
    let mut lines: Vec<String> = copied(turns, branch)
        .into_iter()
        .map(|(kind, id, parent, at, more)| line(kind, &id, parent.as_deref(), at, of(agent, more)))
        .collect();
    let last = lines.len() as u64;
    lines.push(line("user", &format!("{agent}-q"), None, 500, of(agent, asked("<system-reminder>This is a side question"))));
    lines.push(line("assistant", &format!("{agent}-r"), None, 501, of(agent, reply(&format!("{agent}-1"), "Hm", 5_000 + last, 60))));
    lines.push(line("assistant", &format!("{agent}-s"), None, 502, of(agent, reply(&format!("{agent}-2"), "So", 6_000 + last, 60))));
    lines.join("\n") + "\n"
}

type Told = (&'static str, String, Option<String>, u64, Value);

fn copied(turns: u64, branch: &str) -> Vec<Told> {
    let mut lines: Vec<Told> = Vec::new();
    for turn in 1..=turns {
        let own = if turn > 2 { branch } else { "" };
        let before = lines.last().map(|(_, id, ..)| id.clone());
        let (user, answer) = (format!("{own}u{turn}"), format!("{own}a{turn}"));
        lines.push(("user", user.clone(), before, turn * 10, asked("Go on")));
        lines.push((
            "assistant",
            answer,
            Some(user),
            turn * 10 + 5,
            reply(&format!("{own}m{turn}"), "Gone on a good bit", turn * 1_000, 60),
        ));
    }
    lines
}

/// A conversation that only logs of requests over it hold is one session, in whatever order and parts they are read: shorter copies add nothing, a branch its own end.
#[test]
fn copies_of_a_conversation_are_one_session() {
    let inspected = |places: &[String]| {
        let places = places.iter().map(String::as_str);
        let value = ctxsim(&[vec!["inspect"], places.collect(), vec!["--json", "-q"]].concat()).json();
        let mut sessions: Vec<(String, u64)> = value["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["session"].as_str().unwrap().to_owned(), one["calls"].as_u64().unwrap()))
            .collect();
        sessions.sort();
        let counts = ["calls_with_usage", "recorded_prompt_tokens"].map(|key| value["corpus"][key].as_u64().unwrap());
        (sessions, counts)
    };
    let logs = |names: [&str; 4]| {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("s1/subagents");
        fs::create_dir_all(&beside).unwrap();
        for (name, (turns, branch)) in names.into_iter().zip([(4, ""), (4, ""), (2, ""), (3, "b")]) {
            let agent = format!("aside_question-{name}");
            fs::write(beside.join(format!("agent-{agent}.jsonl")), request(&agent, turns, branch)).unwrap();
        }
        folder
    };
    let place = |folder: &tempfile::TempDir| folder.path().to_string_lossy().into_owned();
    let asked = |names: [&str; 4]| names.map(|name| (format!("s1/aside_question-{name}"), 2));
    // The whole, what the branch adds to it, and eight requests.
    let turns = 4 * 3 + 1_000 + 2_000 + 3_000 + 4_000;
    let requests: u64 = [8, 8, 4, 6].iter().map(|lines| 11_000 + 2 * (lines + 3)).sum();
    let counts = [4 + 1 + 8, turns + 3_003 + requests];
    for names in [["1", "2", "3", "4"], ["4", "3", "2", "1"], ["2", "4", "1", "3"]] {
        let folder = logs(names);
        let mut sessions = [vec![("s1".to_owned(), 1), ("s1".to_owned(), 4)], asked(names).to_vec()].concat();
        sessions.sort();
        assert_eq!(inspected(&[place(&folder)]), (sessions.clone(), counts), "{names:?}");
        // In parts: each file by itself, joined behind one another.
        let traces = tempfile::tempdir().unwrap();
        let part = |name: &str| {
            let (log, part) = (
                format!("{}/s1/subagents/agent-aside_question-{name}.jsonl", place(&folder)),
                format!("{}/{name}.ctxtrace", place(&traces)),
            );
            ctxsim(&["trace", "build", &log, "-o", &part]).code(0);
            part
        };
        assert_eq!(inspected(&names.map(part)), (sessions, counts), "{names:?} in parts");
    }
    // Where a log of its own holds the session, its copies change nothing, wherever it lies.
    let folder = logs(["1", "2", "3", "4"]);
    let own = [copied(4, ""), copied(3, "b").split_off(4)].concat();
    let own: Vec<String> = own.into_iter().map(|(kind, id, parent, at, more)| line(kind, &id, parent.as_deref(), at, more)).collect();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("z.jsonl"), own.join("\n")).unwrap();
    let sessions = [vec![("s1".to_owned(), 5)], asked(["1", "2", "3", "4"]).to_vec()].concat();
    assert_eq!(inspected(&[place(&folder), place(&elsewhere)]), (sessions, counts));
    // So it is in one file, be it behind the copies.
    let one = request("aside_question-1", 4, "") + &own.join("\n");
    let (transcripts, losses) = read_text("one.jsonl", &one);
    let [session] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((session.copied, prompts(session).len(), asked_aside(session), losses), (false, 5, vec![5_011, 6_011], vec![]));
}

/// Some versions write all agents into the session's own file.
#[test]
fn requests_within_the_file_of_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let beside = folder.path().join("s1/subagents");
    let one = fs::read_to_string(&path).unwrap() + &fs::read_to_string(beside.join(format!("agent-{SUMMARY}.jsonl"))).unwrap();
    fs::write(folder.path().join("one.jsonl"), one).unwrap();
    let (transcripts, losses) = read_all(&folder.path().join("one.jsonl"));
    let [transcript] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let of_first = transcript.compactions[0].call.as_ref().and_then(|call| call.usage).map(|usage| usage.prompt);
    assert_eq!((of_first, asked_aside(transcript), losses), (Some(8_003), vec![], vec![]));
}

/// What hooks say may fill the head of what the program prints.
#[test]
fn a_printed_run_is_known_by_its_hooks() {
    let hook = |subtype: &str, more: Value| {
        let mut line =
            json!({"type": "system", "subtype": subtype, "hook_id": "h1", "hook_name": "SessionStart:startup", "session_id": "s1"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    };
    let said = "Remember this well. ".repeat(8_000);
    let lines: Vec<String> = (0..20).map(|_| hook("hook_response", json!({"output": said, "stdout": said}))).collect();
    let answer = json!({"type": "assistant", "session_id": "s1", "parent_tool_use_id": null, "uuid": "2", "message": reply("m1", "Ho", 70, 60)["message"]});
    let log = format!("{}\n{}\n{answer}\n", hook("hook_started", json!({})), lines.join("\n"));
    let (transcripts, lost) = read_text("run.jsonl", &log);
    assert_eq!((transcripts.len(), prompts(&transcripts[0]), lost), (1, vec![(73, 60)], vec![]));
}

/// A gateway may report nothing with the pieces of a stream.
#[test]
fn a_sum_of_a_run_whose_calls_have_none_is_named() {
    let sum = json!({"type": "result", "subtype": "success", "session_id": "s1", "usage": {"input_tokens": 30, "cache_read_input_tokens": 700, "output_tokens": 60}});
    let run = |usage: u64| {
        let answer = json!({"type": "assistant", "session_id": "s1", "parent_tool_use_id": null, "uuid": "2", "message": {
            "id": "m1", "role": "assistant", "model": "glm-5", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Ho"}],
            "usage": {"input_tokens": usage, "output_tokens": usage}}});
        read_text("run.jsonl", &format!("{answer}\n{sum}\n")).1
    };
    assert_eq!(run(0), [("usage of calls as the sum of their run alone".to_owned(), 1), ("usage of zero tokens (not used)".to_owned(), 1)]);
    assert_eq!(run(60), []);
}

/// A session may hold no more of an output than what was counted as its stream began, and the copy in the log of a request all of it.
#[test]
fn an_output_that_a_copy_holds_whole_is_that_of_the_reply() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let copies = [("m1", 1_000, 372), ("m2", 999, 400), ("m2", 700, 50)];
    let copies = (0..).zip(copies).map(|(place, (message, cached, output))| {
        let mut copy = reply(message, "Begun", cached, output);
        copy["message"]["stop_reason"] = json!("tool_use");
        let agent = format!("aside_question-{place}");
        fs::write(
            folder.path().join(format!("s1/subagents/agent-{agent}.jsonl")),
            line("assistant", "q1", None, 5, of(&agent, copy)) + "\n",
        )
        .unwrap();
    });
    copies.for_each(drop);
    // A copy with another prompt, or with less, says nothing.
    assert_eq!(prompts(&read_all(&path).0[0]), [(1_003, 372), (703, 60)]);
}

/// The sum by model holds what sub-agents sent, and requests that are not printed.
#[test]
fn a_sum_of_all_requests_above_the_printed_ones_is_usage_of_others() {
    let run = |sent: u64, session: &str| {
        let answer = |uuid: &str, parent: Value| {
            json!({"type": "assistant", "session_id": "s1", "parent_tool_use_id": parent, "uuid": uuid, "message": {
                "id": uuid, "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": null, "content": [{"type": "text", "text": "Ho"}],
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}}})
        };
        let sum = |sent: u64| {
            let models = json!({"claude-haiku-4-5": {"inputTokens": 20, "cacheReadInputTokens": sent - 20, "outputTokens": 700}});
            json!({"type": "result", "subtype": "success", "session_id": session, "usage": {"input_tokens": 20}, "modelUsage": models})
        };
        let lines = [answer("m1", json!(null)), sum(100), answer("m2", json!("toolu_1")), sum(sent)].map(|line| line.to_string());
        read_text("run.jsonl", &lines.join("\n")).1
    };
    assert_eq!(run(200, "s1"), []);
    let others = [("usage of other calls, as a sum alone".to_owned(), 1)];
    assert_eq!(run(201, "s1"), others);
    assert_eq!(run(200, "s2"), others, "a session of which no reply is printed");
}

/// A fork's file begins behind what it was forked from: the prompt of its first call holds a conversation that stands elsewhere.
#[test]
fn a_fork_of_the_conversation_begins_in_the_middle() {
    let side = |agent: &str, uuid: &str, parent: Value, kind: &str, message: Value| json!({"type": kind, "sessionId": "s1", "isSidechain": true, "agentId": agent, "uuid": uuid, "parentUuid": parent, "message": message});
    let answer = |id: &str, prompt: u64| {
        json!({"id": id, "role": "assistant", "model": "claude-opus-4-5", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Done"}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": prompt, "output_tokens": 5}})
    };
    let read = |head: Value| {
        let ask = side("a1", "1", json!(null), "user", json!({"role": "user", "content": "Your directive: look"}));
        let lines = [head, ask, side("a1", "2", json!("1"), "assistant", answer("m1", 40_000))].map(|line| line.to_string());
        let (transcripts, lost) = read_text("agent-a1.jsonl", &lines.join("\n"));
        assert_eq!(lost, []);
        (transcripts[0].id.clone(), transcripts[0].begins_in_middle)
    };
    let fork = |agent: &str| json!({"type": "fork-context-ref", "agentId": agent, "parentSessionId": "s1", "parentLastUuid": "p9", "contextLength": 17});
    assert_eq!(read(fork("a1")), ("s1/a1".to_owned(), true));
    assert_eq!(read(fork("a2")), ("s1/a1".to_owned(), false));
    assert!(!read(json!({"type": "history-suppression", "cause": "fork_inherit", "sessionId": "s1"})).1);
}
