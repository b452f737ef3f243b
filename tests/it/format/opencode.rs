use crate::sums::calls;
use crate::support::{claim, ctxsim, files, in_short, project, prompts, read_all, read_text, shared, skip};
use ctxsim::format::Claim;
use ctxsim::transcript::{CompactionKind, Loss, Message, Part, Role, Transcript};
use serde_json::{Value, json};
use std::path::PathBuf;

const TREES: [&str; 2] =
    ["tree_since_0.6/storage/session/pr/ses_tree.json", "tree_before_0.6/project/src/storage/session/info/ses_tree.json"];

fn fixture(name: &str) -> PathBuf {
    project().join("tests/data/opencode").join(name)
}

fn only(name: &str) -> (Transcript, Vec<Loss>) {
    let (mut transcripts, losses) = read_all(&fixture(name));
    assert_eq!(transcripts.len(), 1);
    (transcripts.remove(0), losses)
}

/// The text of each part, in a word.
fn words(message: &Message) -> Vec<String> {
    let word = |part: &Part| match part {
        Part::Text(text) => text.content.as_deref().unwrap().to_owned(),
        Part::Thinking { text, sealed_bytes } => format!("thinks {} +{sealed_bytes}", text.content.as_deref().unwrap()),
        Part::ToolCall { id, name, arguments } => format!("{id} {name} {}", arguments.content.as_deref().unwrap()),
        Part::ToolResult { call_id, name, text, error } => {
            format!("{call_id} {name} {} {}", text.content.as_deref().unwrap(), if *error { "failed" } else { "ok" })
        }
        Part::Image(image) => format!("{}x{}", image.width, image.height),
        other => panic!("{other:?}"),
    };
    message.parts.iter().map(word).collect()
}

#[test]
fn main_files_are_claimed_and_their_companions_named() {
    assert_eq!(claim(&fixture("export.json")), Some(("opencode", Claim::Yes)));
    for tree in TREES {
        assert_eq!(claim(&fixture(tree)), Some(("opencode", Claim::Yes)));
    }
    for companion in [
        "tree_since_0.6/storage/message/ses_tree/msg_01.json",
        "tree_since_0.6/storage/part/msg_02/prt_006.json",
        "tree_since_0.6/storage/session_diff/ses_tree.json",
    ] {
        assert_eq!(claim(&fixture(companion)), Some(("opencode", Claim::Companion)), "{companion}");
    }
}

#[test]
fn an_export_becomes_a_conversation() {
    let (session, losses) = only("export.json");
    assert_eq!((session.id.as_str(), session.parent.as_deref(), session.version.as_str()), ("ses_main", Some("ses_mother"), "1.2.0"));
    let seen: Vec<(Role, String)> = session.messages.iter().map(|message| (message.role, words(message).join(" | "))).collect();
    let expected = [
        (Role::System, "Speak plainly."),
        (Role::User, "look"),
        (Role::User, "the file's text"),
        (Role::User, "3x5"),
        (Role::Assistant, r#"thinks hm +10 | c1 read {"path":"a b"}"#),
        (Role::Tool, "c1 read old output ok"),
        (Role::Assistant, r#"seen | c2 bash {"command":"x"} | c3 bash {} | c4 bash {}"#),
        (Role::Tool, "c2 bash boom failed"),
        (Role::Tool, "c3 bash half ok"),
        (Role::User, "The following tool was executed by the user"),
        (Role::Assistant, "c5 task {}"),
        (Role::Tool, "c5 task child says ok"),
        (Role::User, "Summarize the task tool output above"),
        (Role::Assistant, "half an answ"),
        (Role::Assistant, "lost"),
        (Role::User, "again"),
        (Role::Assistant, "one | c6 read {}"),
        (Role::Tool, "c6 read six ok"),
        (Role::Assistant, "two"),
        (Role::User, "Continue"),
        (Role::Assistant, "on"),
        (Role::Assistant, "planned"),
    ];
    let expected: Vec<(Role, String)> = expected.into_iter().map(|(role, words)| (role, words.to_owned())).collect();
    assert_eq!(seen, expected);
    let synthetic: Vec<usize> = (0..seen.len()).filter(|index| session.messages[*index].synthetic).collect();
    assert_eq!(synthetic, [2, 12, 19]);
    let reasons: Vec<(&str, u64)> = losses.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(reasons, [("absurd usage numbers", 1), ("unknown content part", 1)]);
}

/// `opencode export > FILE 2>&1` writes what the program says into the file, too.
#[test]
fn what_the_program_says_before_an_export_is_passed_over() {
    let text = std::fs::read_to_string(fixture("export.json")).unwrap();
    let plain = read_text("export.json", &text);
    for banner in ["Exporting session: ses_1\n", "Exporting session: latest"] {
        assert_eq!(read_text("export.json", &format!("{banner}{text}")), plain, "{banner}");
    }
}

#[test]
fn each_step_is_a_call_and_a_wrapper_is_none() {
    let (session, _) = only("export.json");
    let calls: Vec<(usize, u64, bool)> = (0..session.messages.len())
        .filter_map(|index| {
            let call = session.messages[index].call.as_ref()?;
            Some((index, call.usage.map_or(0, |usage| usage.prompt), call.unchained))
        })
        .collect();
    // The call after the wrapper and the failures, the one after the compaction, and the one of another agent are unchained.
    assert_eq!(calls, [(4, 500, false), (6, 560, false), (16, 700, true), (18, 720, false), (20, 0, true), (21, 95, true)]);
    let usage = |index: usize| session.messages[index].call.as_ref().unwrap().usage.unwrap();
    // Reasoning within the output, and beside it: the total tells.
    assert_eq!((usage(4).output, usage(4).reasoning, usage(4).cost_nano_usd), (30, Some(20), Some(500_000_000)));
    assert_eq!((usage(6).output, usage(6).reasoning, usage(6).cost_nano_usd), (15, Some(5), None));
    assert_eq!((usage(6).cache_read, usage(6).cache_write), (500, 0));
}

#[test]
fn a_reply_that_failed_leaves_and_one_that_was_stopped_stays() {
    let (session, _) = only("export.json");
    let rewinds: Vec<(usize, usize)> =
        session.messages.iter().enumerate().filter_map(|(at, message)| Some((at, message.rewind?))).collect();
    assert_eq!(rewinds, [(15, 14)]);
}

#[test]
fn prunings_and_compactions_stand_where_they_took_effect() {
    let (session, _) = only("export.json");
    let [pruning, compaction] = session.compactions.as_slice() else { panic!() };
    // Pruned at 2050: the next request is that of step 16.
    assert_eq!((pruning.kind, pruning.before, pruning.time), (CompactionKind::Prune, 16, Some(2050)));
    assert!(!pruning.taken.is_empty());
    for (message, part) in &pruning.taken {
        assert!(*message < 16 && matches!(session.messages[*message].parts[*part], Part::ToolResult { .. } | Part::Image(_)));
    }
    assert_eq!((compaction.kind, compaction.before, compaction.kept_from), (CompactionKind::Compact, 19, Some(15)));
    assert!(compaction.taken.is_empty());
    assert_eq!((compaction.automatic, compaction.tokens_before), (Some(true), None));
    assert_eq!(compaction.summary.as_ref().and_then(|summary| summary.content.as_deref()), Some("the summary"));
    assert_eq!(compaction.call.as_ref().and_then(|call| call.usage).map(|usage| usage.prompt), Some(750));
}

#[test]
fn a_cut_export_gives_what_it_has() {
    let (session, losses) = only("export_cut.json");
    assert_eq!((session.id.as_str(), session.parent), ("ses_cut", None));
    assert_eq!(session.messages.len(), 6);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].reason, "cut off at the end of the file");
}

#[test]
fn trees_of_both_generations_give_the_same_conversation() {
    let (export, _) = only("export.json");
    for tree in TREES {
        let (session, losses) = only(tree);
        assert_eq!(session.id, "ses_tree");
        assert!(session.messages.iter().eq(export.messages.iter().take(9)), "{tree}");
        let expected = if tree.contains("since") { 1 } else { 0 };
        assert_eq!(losses.iter().filter(|loss| loss.reason == "message of an unexpected shape").count(), expected, "{tree}");
    }
}

#[test]
fn an_exported_session_and_the_same_one_in_a_database_agree() {
    let Some(shared) = shared() else { return };
    if cfg!(not(feature = "sqlite")) {
        return;
    }
    let transcripts = shared.join("transcripts");
    let [Some(exported), Some(stored)] = ["opencode-export", "opencode-sqlite"].map(|folder| files(&transcripts.join(folder)).pop()) else {
        return skip("CTXSIM_REQUIRE_COLLECTION", "no database beside the exports");
    };
    let (exported, stored) = (read_all(&exported).0, read_all(&stored).0);
    let Some(stored) = stored.iter().find(|transcript| transcript.id == exported[0].id) else {
        return skip("CTXSIM_REQUIRE_COLLECTION", "another collection of sessions");
    };
    let ids = |transcript: &Transcript| calls(transcript).map(|call| call.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(stored), ids(&exported[0]));
    assert_eq!(stored.messages.len(), exported[0].messages.len());
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn a_build_without_sqlite_names_the_file_and_says_so() {
    let Some(shared) = shared() else { return };
    let path = shared.join("transcripts/opencode-wal/opencode.db");
    assert_eq!(claim(&path), Some(("opencode", Claim::Yes)));
    let mut source = ctxsim::format::Source::open(&path).unwrap();
    let read = ctxsim::format::by_name("opencode").unwrap().read;
    let error = read(&mut source, &crate::support::PlainScale { keep_content: false }, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "this build reads no SQLite");
}

/// The log ends while a tool runs: no number tells that the request was answered.
#[test]
fn a_reply_that_did_not_end_is_no_call_and_is_counted() {
    let info = r#""role":"assistant","sessionID":"ses_1","modelID":"m","providerID":"p","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}"#;
    let log = format!(
        r#"{{"info":{{"id":"ses_1","version":"1.15.6","title":"t","time":{{"created":1,"updated":2}}}},"messages":[
{{"info":{{"id":"msg_1","role":"user","sessionID":"ses_1","time":{{"created":1784303006912}}}},"parts":[{{"type":"text","text":"Hi","id":"prt_1"}}]}},
{{"info":{{"id":"msg_2",{info},"time":{{"created":1784303007015}}}},"parts":[{{"type":"step-start","id":"prt_2"}},{{"type":"text","text":"I look","id":"prt_3"}},
{{"type":"tool","id":"prt_4","callID":"call_1","tool":"bash","state":{{"status":"running","input":{{}}}}}}]}}]}}"#
    );
    let (transcripts, lost) = read_text("session.json", &log);
    assert_eq!(lost, [("reply without usage that did not end (no call)".to_owned(), 1)]);
    assert_eq!(
        (in_short(&transcripts[0]), transcripts[0].messages[1].call.is_none()),
        (vec!["u: Hi".to_owned(), "a: I look | bash(call_1)".to_owned()], true)
    );
}

/// `opencode run --format json`: parts, a line each, without the prompts.
#[test]
fn what_is_printed_has_the_replies_and_their_usage() {
    let line = |kind: &str, session: &str, message: &str, part: Value| {
        let mut part = part;
        part["messageID"] = json!(message);
        json!({"type": kind, "timestamp": 1_767_036_059_338_u64, "sessionID": session, "part": part}).to_string()
    };
    let finish = |input: u64, read: u64| {
        let tokens = json!({"input": input, "output": 10, "reasoning": 0, "cache": {"read": read, "write": 0}});
        json!({"id": "prt_f", "type": "step-finish", "reason": "stop", "cost": 0.001, "tokens": tokens})
    };
    let start = || json!({"id": "prt_s", "type": "step-start"});
    let tool = json!({"id": "prt_t", "type": "tool", "callID": "c1", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "output": "a\n",
        "time": {"start": 1, "end": 2}}});
    let text = |text: &str| json!({"id": "prt_x", "type": "text", "text": text});
    let lines = [
        line("step_start", "ses_1", "msg_1", start()),
        line("tool_use", "ses_1", "msg_1", tool),
        line("step_finish", "ses_1", "msg_1", finish(700, 0)),
        line("step_start", "ses_1", "msg_2", start()),
        line("text", "ses_1", "msg_2", text("Done")),
        line("step_finish", "ses_1", "msg_2", finish(80, 700)),
        line("text", "ses_2", "msg_3", text("Other")),
        line("step_finish", "ses_2", "msg_3", finish(50, 0)),
        json!({"type": "error", "timestamp": 1_767_036_059_338_u64, "sessionID": "ses_2", "error": {"name": "APIError"}}).to_string(),
    ];
    let (transcripts, lost) = read_text("run.jsonl", &lines.join("\n"));
    assert_eq!(lost, []);
    let told: Vec<_> = transcripts.iter().map(|session| (session.id.as_str(), in_short(session), prompts(session))).collect();
    let said = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(told[0], ("ses_1", said(&["a: bash(c1)", "t: bash(c1)=", "a: Done"]), vec![(700, 10), (780, 10)]));
    assert_eq!(told[1], ("ses_2", said(&["a: Other"]), vec![(50, 10)]));
}

/// Plugins leave notices that the model is not shown. OpenCode's own rules count the messages all the same: the notice is one of the two newest when the second turn ends, so
/// that results of the first one are pruned there. That they are shows that pruning was turned on.
#[test]
fn a_notice_to_the_person_is_a_message_without_words() {
    let message = |id: &str, role: &str, time: u64, more: Value, parts: Value| {
        let mut info = json!({"id": id, "role": role, "sessionID": "ses_1", "time": {"created": time, "completed": time + 50}, "modelID": "claude-opus-4-5",
            "providerID": "anthropic", "parentID": "", "agent": "build", "cost": 0});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"info": info, "parts": parts})
    };
    let user = |id: &str, time: u64, part: Value| message(id, "user", time, json!({}), json!([part]));
    let reply = |id: &str, time: u64, input: u64, mut parts: Vec<Value>| {
        let tokens = json!({"input": input, "output": 20, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        parts.insert(0, json!({"type": "step-start"}));
        parts.push(json!({"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens}));
        message(id, "assistant", time, json!({"finish": "stop", "tokens": tokens}), json!(parts))
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let page = "a line of text that says little\n".repeat(1500);
    let tool = |number: u64| {
        let compacted = (number < 3).then_some(2500);
        let time = json!({"start": 1100, "end": 1200, "compacted": compacted});
        let state = json!({"status": "completed", "input": {"url": number}, "output": page, "metadata": {}, "time": time});
        json!({"type": "tool", "id": format!("prt_{number}"), "callID": format!("call_{number}"), "tool": "webfetch", "state": state})
    };
    let notice = json!({"type": "text", "text": "Pruned nothing.", "ignored": true});
    // Which messages the plugin's own tool took out of later prompts is not in the log.
    let state = json!({"status": "completed", "input": {"topic": "t"}, "output": "Compressed 2 messages into [Compressed conversation section].", "time": {"start": 2110, "end": 2120}});
    let compress = json!({"type": "tool", "id": "prt_c", "callID": "call_c", "tool": "compress", "state": state});
    let log = json!({"info": {"id": "ses_1", "version": "1.15.6", "title": "t", "time": {"created": 1, "updated": 2}}, "messages": [
        user("msg_1", 1000, text("Look")),
        reply("msg_2", 1050, 5_000, (0..6).map(tool).collect()),
        reply("msg_3", 1300, 70_000, vec![text("Seen")]),
        user("msg_4", 1400, notice.clone()),
        user("msg_5", 2000, text("Go on")),
        reply("msg_6", 2100, 70_100, vec![compress]),
        reply("msg_6b", 2200, 70_200, vec![text("Done")]),
        user("msg_7", 3000, text("And?")),
        reply("msg_8", 3100, 38_000, vec![text("Nothing")]),
    ]})
    .to_string();
    let (transcripts, lost) = read_text("session.json", &log);
    assert_eq!(lost, [("messages that a plugin replaced by a summary (`compress`): they stay in place".to_owned(), 1)]);
    let [session] = transcripts.as_slice() else { panic!() };
    let empty: Vec<(usize, Role, bool)> = session
        .messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.parts.is_empty())
        .map(|(at, message)| (at, message.role, message.synthetic))
        .collect();
    assert_eq!((empty, session.compactions.len(), session.compactions[0].taken.len()), (vec![(9, Role::User, true)], 1, 3));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    std::fs::write(&path, &log).unwrap();
    let report: Value = serde_json::from_str(&ctxsim(&["backtest", path.to_str().unwrap(), "-q", "--json"]).stdout()).unwrap();
    let event = &report["events"][0];
    assert_eq!(
        (&event["kind"], &event["verdict"], &event["recorded_call"], &event["predicted_call"]),
        (&json!("prune"), &json!("hit"), &json!(5), &json!(5))
    );
    // Notices alone are no session.
    let alone = json!({"info": {"id": "ses_2", "version": "1.15.6", "title": "t", "time": {"created": 1, "updated": 2}}, "messages": [user("msg_1", 1000, notice)]});
    assert_eq!(read_text("session.json", &alone.to_string()).0.len(), 0);
}
