use crate::support::{assert_lost, files, fixture, in_short, prompts, read_all, read_text, shared, skip};
use ctxsim::policy::{Facts, Policy};
use ctxsim::transcript::{Transcript, Trust};

#[test]
fn usage_before_its_items_belongs_to_the_response_that_follows() {
    let (transcripts, lost) = fixture("codex/usage_first.jsonl");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    // The head's instructions are shown again by a message and not counted twice.
    assert_eq!(
        in_short(session),
        [
            "*: <user_instructions>\nBe brief.\n</user_instructions>",
            "u: Hello",
            "a: ~40 | shell(c1) | shell(c2)",
            "t: shell(c1)=",
            "t: shell(c2)!",
            "a: Bye",
        ]
    );
    assert_eq!(prompts(session), [(100, 20), (150, 10)]);
    assert_eq!(session.messages[2].call.as_ref().unwrap().usage.unwrap().reasoning, Some(8));
    assert_eq!((session.id.as_str(), session.version.as_str(), session.window), ("s1", "0.94.0", Some(258_400)));
}

#[test]
fn printed_runs_show_replies_and_results_and_a_sum_for_each_turn() {
    let (transcripts, lost) = fixture("codex/printed.jsonl");
    assert_lost(&lost, &[("not JSON", 1), ("result that is not printed", 2)]);
    let [first, second] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((first.agent.as_str(), first.id.as_str()), ("codex", "019d0000-0000-7000-8000-000000000001"));
    assert_eq!(
        in_short(first),
        [
            "a: Hello",
            "a: ~0 | web_search(ws_1) | Two commands | shell(item_4) | mcp__docs__find(item_5)",
            "t: shell(item_4)=",
            "t: mcp__docs__find(item_5)=",
            "a: update_plan(item_6)",
            "t: update_plan(item_6)=",
            "a: apply_patch(item_7)",
            "t: apply_patch(item_7)=",
            "a: list_mcp_resources(item_8)",
            "t: list_mcp_resources(item_8)!",
            "a: Done",
            "a: Bye",
        ]
    );
    // Each turn reports the sum of the thread, and a run that takes it up goes on with it. What came since is one call's where there is one reply.
    let sent = prompts(first);
    assert_eq!((sent.len(), sent[0], sent[6]), (7, (1000, 20), (2500, 10)));
    let sum = sent[1..6].iter().fold((0, 0), |sum, call| (sum.0 + call.0, sum.1 + call.1));
    assert_eq!(sum, (8000, 200));
    assert!(sent[1..6].is_sorted_by_key(|(prompt, _)| *prompt), "{sent:?}");
    let last = first.messages[11].call.as_ref().unwrap();
    let usage = last.usage.unwrap();
    assert_eq!((usage.cache_read, usage.reasoning, usage.trust, last.unchained), (2000, Some(0), Trust::Partial, true));
    // A tool's text blocks reach the model as their JSON, unless there is a picture among them.
    assert_eq!(in_short(second), ["a: I read | mcp__screen__shot(item_1)", "t: mcp__screen__shot(item_1)= | 2x3"]);
    assert!(second.refused && !first.refused);
}

#[test]
fn a_printed_thread_that_is_taken_up_behind_another_goes_on_with_its_sum() {
    let run = |thread: &str, sum: u32| {
        format!(
            r#"{{"type":"thread.started","thread_id":"{thread}"}}
{{"type":"turn.started"}}
{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"Hello"}}}}
{{"type":"turn.completed","usage":{{"input_tokens":{sum},"cached_input_tokens":0,"output_tokens":{}}}}}
"#,
            sum / 100
        )
    };
    let (transcripts, lost) = read_text("x.jsonl", &[run("x", 10_000), run("y", 11_000), run("x", 21_000)].concat());
    assert_eq!(lost, []);
    assert_eq!(transcripts.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["x", "y", "x"]);
    assert_eq!(transcripts.iter().flat_map(prompts).collect::<Vec<_>>(), [(10_000, 100), (11_000, 110), (11_000, 110)]);
}

/// What a tool returned last went into a request of which nothing is printed.
#[test]
fn a_printed_turn_that_ends_on_a_result_has_no_usage_of_one_call() {
    let text = r#"{"type":"thread.started","thread_id":"x"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I look"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}
{"type":"turn.completed","usage":{"input_tokens":9000,"cached_input_tokens":0,"output_tokens":20}}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"Done"}}
{"type":"turn.completed","usage":{"input_tokens":14000,"cached_input_tokens":0,"output_tokens":30}}
"#;
    let (transcripts, lost) = read_text("x.jsonl", text);
    assert_lost(&lost, &[("usage of the whole session alone", 1)]);
    assert_eq!(in_short(&transcripts[0]), ["a: I look | shell(item_1)", "t: shell(item_1)=", "a: Done"]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (5000, 10)]);
}

#[test]
fn a_printed_turn_that_begins_with_a_command_begins_a_reply() {
    let command = r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}"#;
    let said = |text: &str| format!(r#"{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"{text}"}}}}"#);
    let end =
        |sum: u32| format!(r#"{{"type":"turn.completed","usage":{{"input_tokens":{sum},"cached_input_tokens":0,"output_tokens":20}}}}"#);
    let start = r#"{"type":"turn.started"}"#;
    let head = r#"{"type":"thread.started","thread_id":"x"}"#;
    let text = [head, start, &said("Hello"), &end(4000), start, command, &said("Done"), &end(13_000)].join("\n");
    let (transcripts, lost) = read_text("x.jsonl", &text);
    // Two requests of the second turn share what it reports.
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["a: Hello", "a: shell(item_1)", "t: shell(item_1)=", "a: Done"]);
    assert_eq!(prompts(&transcripts[0]), [(4000, 20), (4500, 0), (4500, 0)]);
}

#[test]
fn usage_after_its_items_compaction_abort_and_roll_back() {
    let (transcripts, lost) = fixture("codex/usage_after.jsonl");
    assert_eq!(lost, [("unknown response item".to_owned(), 1), ("unknown record type".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "s: You are Codex.",
            "s: Permissions",
            "*: <environment_context>x</environment_context>",
            "u: One",
            "a: ~40 | shell(c1) | shell(c2)",
            "t: shell(c1)=",
            "t: shell(c2)! | 2x3",
            "a: apply_patch(c3)",
            "t: apply_patch(c3)=",
            "a: After",
            "u: Two",
            "a: Half an ans",
            "u: Three",
            "a: Third",
            "u: Four",
            "a: web_search(ws_1) | Fourth",
        ]
    );
    assert_eq!(prompts(session), [(1000, 50), (1100, 30), (400, 5), (450, 6), (430, 7)]);
    assert_eq!(session.parent.as_deref(), Some("s0"));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.tokens_after), (9, Some(321)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("What was done so far"));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1150);
    // An interrupted answer is no call, and the next one does not continue its chain. The model changed as well.
    assert!(session.messages[11].call.is_none());
    assert!(session.messages[13].call.as_ref().unwrap().unchained);
    // Two turns were taken back: "Two" and "Three".
    assert_eq!(session.messages[14].rewind, Some(10));
    assert_eq!(session.side_calls, []);
}

/// What another agent says begins a turn as the user's words do: taking back one turn takes back that alone.
#[test]
fn a_turn_of_another_agent_is_taken_back_by_itself() {
    let told =
        line("response_item", r#""type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"Found"}]"#);
    let back = |turns: u32| line("event_msg", &format!(r#""type":"thread_rolled_back","num_turns":{turns}"#));
    for (turns, expected) in [(1, 3), (2, 1)] {
        let log = [
            head(""),
            said("user", "One"),
            said("user", "Two"),
            said("assistant", "I look"),
            told.clone(),
            back(turns),
            said("user", "Go on"),
        ];
        let session = read(&log);
        assert_eq!(in_short(&session)[2..4], ["a: I look", "*: Found"]);
        assert_eq!(session.messages.last().unwrap().rewind, Some(expected), "{turns}");
    }
}

#[test]
fn damage_costs_only_what_it_touches() {
    let (transcripts, lost) = fixture("codex/broken.jsonl");
    let lost: Vec<&str> = lost.iter().map(|(reason, _)| reason.as_str()).collect();
    assert_eq!(lost, ["not JSON", "half of a surrogate pair (replaced)", "absurd usage numbers", "cut off at the end of the file"]);
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["u: Hi", "a: half \u{fffd}", "t: (none)=", "a: Sound \u{1f600}"]);
    assert_eq!(prompts(session), [(0, 0), (70, 3)]);
}

#[test]
fn files_from_before_payloads_are_read() {
    let (transcripts, lost) = fixture("codex/bare.jsonl");
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["s: Be kind.", "u: Hi", "a: ~0 | shell(c1)", "t: shell(c1)!", "a: Done"]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
}

#[test]
fn a_fork_keeps_its_own_id_and_shares_the_ids_of_copied_calls() {
    let (fork, _) = fixture("codex/fork.jsonl");
    let (origin, _) = fixture("codex/usage_first.jsonl");
    assert_eq!(fork[0].id, "s5");
    let id = |session: &Transcript| session.messages.iter().find_map(|message| message.call.as_ref()).unwrap().id.clone();
    assert_eq!(id(&fork[0]), id(&origin[0]));
}

#[test]
fn a_real_fork_repeats_its_origins_calls_under_the_same_ids() {
    let Some(shared) = shared() else { return };
    let session = |end: &str| {
        let path = files(&shared.join("transcripts/codex")).into_iter().find(|path| path.to_string_lossy().ends_with(end));
        path.map(|path| read_all(&path).0.remove(0))
    };
    let ids = |session: Transcript| {
        let calls = session.messages.into_iter().filter_map(|message| message.call);
        calls.map(|call| call.id).collect::<std::collections::BTreeSet<String>>()
    };
    let origin = session("9cd28a74-da7e-4458-a91a-fffec2be9d7a.jsonl");
    let fork = session("613a9a68-8816-40b2-a2d4-041ade599da6.jsonl");
    let (Some(origin), Some(fork)) = (origin, fork) else { return skip("CTXSIM_REQUIRE_COLLECTION", "another collection of rollouts") };
    let (origin, fork) = (ids(origin), ids(fork));
    // Ids are unique within a file, and every call of the origin is in the fork.
    assert_eq!((origin.len(), fork.len(), origin.intersection(&fork).count()), (56, 69, 56));
}

#[test]
fn what_the_providers_own_search_found_is_in_no_other_prompt() {
    let line = |kind: &str, payload: &str| format!(r#"{{"type":"{kind}","payload":{{"type":{payload}}}}}"#) + "\n";
    let said = |role: &str| line("response_item", &format!(r#""message","role":"{role}","content":[]"#));
    let usage = |total: u64, input: u64| {
        let sums =
            format!(r#""total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{input},"output_tokens":1}}"#);
        line("event_msg", &format!(r#""token_count","info":{{{sums}}}"#))
    };
    let search = line("response_item", r#""web_search_call","id":"ws_1","action":{"type":"search"}"#);
    let meta = line("session_meta", r#""x","id":"s""#);
    // Usage comes behind the items of its response, or before them.
    let behind = [&meta, &said("user"), &search, &said("assistant"), &usage(80, 80), &said("user"), &said("assistant"), &usage(97, 17)];
    let before = [&meta, &said("user"), &usage(80, 80), &said("assistant"), &search, &said("user"), &usage(97, 17), &said("assistant")];
    for lines in [behind, before] {
        let (sessions, _) = read_text("rollout.jsonl", &lines.map(String::as_str).concat());
        let calls = sessions[0].messages.iter().filter_map(|message| message.call.as_ref());
        let marks: Vec<_> = calls.map(|call| (call.usage.unwrap().prompt, call.usage.unwrap().trust, call.unchained)).collect();
        assert_eq!(marks, [(80, Trust::Beyond, false), (17, Trust::Provider, true)]);
    }
}

/// Codex takes three quarters of the bytes less 650 for what an encrypted item says, four to a token. A word in its place tells nothing.
#[test]
fn an_encrypted_summary_is_as_large_as_codex_takes_it_for() {
    let size = |content: &str| {
        let left = format!(
            r#"{{"message":"","replacement_history":[{{"type":"message"}},{{"type":"compaction","encrypted_content":"{content}"}}]}}"#
        );
        let said = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#;
        let (sessions, _) = read_text("rollout.jsonl", &format!("{said}\n{{\"type\":\"compacted\",\"payload\":{left}}}\n"));
        sessions[0].compactions[0].summary.as_ref().map(|summary| summary.tokens)
    };
    assert_eq!((size(&"x".repeat(4_200)), size("[removed]")), (Some(625), None));
}

/// Codex compacts at the start of a turn whose mark is another one than the last turn's.
#[test]
fn a_mark_that_differs_on_both_sides_of_a_compaction_names_its_cause() {
    let incompatible = |last: &str, this: &str| {
        let turn = |hash: &str| format!(r#"{{"type":"turn_context","payload":{{"model":"gpt-5.6","comp_hash":{hash}}}}}"#) + "\n";
        let compacted = r#"{"type":"compacted","payload":{"message":"All."}}"#.to_owned() + "\n";
        let said = r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}"#.to_owned() + "\n";
        let log = [turn(last), said.clone(), compacted, turn(this), said, turn(r#""4""#)].concat();
        read_text("rollout.jsonl", &log).0[0].compactions[0].incompatible
    };
    assert_eq!(incompatible(r#""2911""#, r#""3000""#), Some(true));
    assert_eq!(incompatible(r#""2911""#, r#""2911""#), Some(false));
    assert_eq!((incompatible("null", "3000"), incompatible("3000", "null")), (None, None));
}

/// From 0.142.2 on each item names its turn beside its text, and Codex counts that with it.
#[test]
fn what_stands_beside_each_item_is_counted_with_it() {
    let turn = r#"{"turn_id":"00000000-0000-7000-8000-000000000001"}"#;
    let said = format!(r#""type":"message","role":"user","content":[],"internal_chat_message_metadata_passthrough":{turn}"#);
    let (sessions, _) = read_text("rollout.jsonl", &format!(r#"{{"type":"response_item","payload":{{{said}}}}}"#));
    let codex = Policy::load("codex@2026-06").unwrap();
    let units = |item_bytes: u32| {
        let facts = Facts { item_bytes: item_bytes.into(), ..Facts::default() };
        codex.plan(&facts).unwrap().estimator.result_units
    };
    assert_eq!((sessions[0].item_bytes, units(0), units(sessions[0].item_bytes)), (96, 56, 152));
}

/// Two files on one stream are two sessions. A fork repeats the heads of those that it came from, and a resumed session its own.
#[test]
fn a_head_of_another_session_behind_replies_begins_one() {
    let head = |id: &str| format!(r#"{{"type":"session_meta","payload":{{"id":"{id}"}}}}"#) + "\n";
    let said = r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}"#.to_owned() + "\n";
    let usage = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9},"last_token_usage":{"input_tokens":9,"output_tokens":1}}}}"#.to_owned() + "\n";
    let fork = [head("fork"), head("origin"), said.clone(), usage.clone(), head("origin"), head("fork")].concat();
    let (sessions, _) = read_text("-", &[fork, head("other"), said, usage].concat());
    let calls = |session: &Transcript| session.messages.iter().filter(|message| message.call.is_some()).count();
    let found: Vec<(&str, usize)> = sessions.iter().map(|session| (session.id.as_str(), calls(session))).collect();
    assert_eq!(found, [("fork", 1), ("other", 1)]);
}

#[test]
fn calls_of_a_fork_that_repeats_no_head_are_those_of_its_origin() {
    let log = |head: &str, inputs: &[u64]| {
        let usage = |total: u64| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":9}}}}}}}}"#
            )
        };
        let head = format!(r#"{{"type":"session_meta","payload":{{{head}}}}}"#);
        let (sessions, _) =
            read_text("rollout.jsonl", &[head].into_iter().chain(inputs.iter().map(|total| usage(*total))).collect::<Vec<_>>().join("\n"));
        sessions[0].side_calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>()
    };
    let origin = log(r#""id":"a","forked_from_id":null"#, &[9, 18]);
    let fork = log(r#""id":"b","forked_from_id":"a""#, &[9, 18, 27]);
    assert_eq!((origin.len(), fork.len(), fork.starts_with(&origin)), (2, 3, true));
}

/// Lines of a rollout since version 0.153.
fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"type":"{kind}","payload":{{{payload}}}}}"#) + "\n"
}

fn said(role: &str, text: &str) -> String {
    line("response_item", &format!(r#""type":"message","role":"{role}","content":[{{"type":"output_text","text":"{text}"}}]"#))
}

fn used(input: u64, written: u64, output: u64) -> String {
    format!(r#"{{"input_tokens":{input},"cached_input_tokens":0,"cache_write_input_tokens":{written},"output_tokens":{output}}}"#)
}

fn record(id: &str, usage: &str) -> String {
    line("token_usage_record", &format!(r#""thread_id":"s","response_id":"{id}","usage":{usage}"#))
}

fn count(total: &str, last: &str) -> String {
    line("event_msg", &format!(r#""type":"token_count","info":{{"total_token_usage":{total},"last_token_usage":{last}}}"#))
}

fn head(more: &str) -> String {
    line("session_meta", &format!(r#""id":"s"{more}"#))
}

fn read(lines: &[String]) -> Transcript {
    let (mut sessions, lost) = read_text("rollout.jsonl", &lines.concat());
    assert_eq!((sessions.len(), lost), (1, vec![]));
    sessions.remove(0)
}

fn beside(session: &Transcript) -> Vec<(&str, u64)> {
    session.side_calls.iter().map(|call| (call.id.as_str(), call.usage.unwrap().prompt)).collect()
}

/// An agent that is updated within a session writes the same count again, with a number of which it knew nothing before.
#[test]
fn a_count_that_only_adds_a_zero_is_the_same_count() {
    let plain = |input: u64| format!(r#"{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":5}}"#);
    let talk = |more: &[String]| {
        let first = [head(""), said("user", "One"), said("assistant", "Two"), count(&plain(100), &plain(100))];
        prompts(&read(&[&first, more].concat()))
    };
    assert_eq!(talk(&[count(&used(100, 0, 5), &used(100, 0, 5))]), [(100, 5)]);
    assert_eq!(talk(&[said("assistant", "Three"), count(&used(230, 0, 10), &used(130, 0, 5))]), [(100, 5), (130, 5)]);
}

/// The program warns while it runs the tools of a reply: in the user's name, and before it counts the reply.
#[test]
fn a_warning_between_a_reply_and_its_count_is_the_programs_and_shifts_no_usage() {
    let call = |id: &str| line("response_item", &format!(r#""type":"function_call","name":"shell","call_id":"{id}","arguments":"{{}}""#));
    let result = |id: &str| line("response_item", &format!(r#""type":"function_call_output","call_id":"{id}","output":"x""#));
    let warning = "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.";
    let log = |warned: bool| {
        let warnings = if warned { said("user", warning) } else { String::new() };
        let first = [head(""), said("user", "One"), call("c"), warnings.clone(), call("d"), count(&used(100, 0, 5), &used(100, 0, 5))];
        let second = [result("c"), result("d"), call("e"), warnings, count(&used(250, 0, 12), &used(150, 0, 7)), result("e")];
        let third = [said("assistant", "Two"), count(&used(450, 0, 16), &used(200, 0, 4))];
        read(&[&first[..], &second, &third].concat())
    };
    let (warned, plain) = (log(true), log(false));
    assert_eq!((prompts(&warned), prompts(&plain)), (vec![(100, 5), (150, 7), (200, 4)], vec![(100, 5), (150, 7), (200, 4)]));
    assert_eq!(beside(&warned), []);
    let said_by_program = format!("*: {warning}");
    let expected = [
        "u: One",
        "a: shell(c) | shell(d)",
        &said_by_program,
        "t: shell(c)=",
        "t: shell(d)=",
        "a: shell(e)",
        &said_by_program,
        "t: shell(e)=",
        "a: Two",
    ];
    assert_eq!(in_short(&warned), expected);
}

/// What Codex itself takes for no words of the person.
#[test]
fn texts_that_the_program_puts_in_are_known_by_their_beginnings() {
    for text in [
        "Warning: The maximum number of unified exec processes you can keep open is 60 and you currently have 61 processes open.",
        "Warning: Your account was flagged for potentially high-risk cyber activity and this request was routed elsewhere.",
        r#"<hook_prompt hook_run_id=\"h\">Go on</hook_prompt>"#,
        "<external_editor>x</external_editor>",
        r#"<codex_internal_context source=\"goal\">x</codex_internal_context>"#,
    ] {
        let log = [head(""), said("user", "One"), said("user", text), said("assistant", "Two"), count(&used(100, 0, 5), &used(100, 0, 5))];
        let session = read(&log);
        assert_eq!((session.messages[0].synthetic, session.messages[1].synthetic), (false, true), "{text}");
    }
    // What a hook says parts two replies, also where no count stands behind the first.
    let hook = || said("user", r#"<hook_prompt hook_run_id=\"h\">Go on</hook_prompt>"#);
    let log =
        [head(""), said("user", "One"), said("assistant", "Two"), hook(), said("assistant", "Three"), hook(), said("assistant", "Four")];
    assert_eq!(read(&log).messages.iter().filter(|message| message.call.is_some()).count(), 3);
}

#[test]
fn what_was_written_to_the_cache_is_a_part_of_the_input() {
    let log = [head(""), said("user", "One"), said("assistant", "Two"), count(&used(100, 60, 5), &used(100, 60, 5))];
    let usage = read(&log).messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.prompt, usage.cache_write, usage.output), (100, 60, 5));
    let printed = r#"{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hello"}}
{"type":"turn.completed","usage":{"input_tokens":4000,"cached_input_tokens":1000,"cache_write_input_tokens":2500,"output_tokens":20}}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Bye"}}
{"type":"turn.completed","usage":{"input_tokens":9000,"cached_input_tokens":5000,"cache_write_input_tokens":2900,"output_tokens":40}}
"#;
    let (sessions, _) = read_text("x.jsonl", printed);
    let usages = sessions[0].messages.iter().filter_map(|message| message.call.as_ref()?.usage);
    let found: Vec<_> = usages.map(|usage| (usage.prompt, usage.cache_read, usage.cache_write)).collect();
    assert_eq!(found, [(4000, 1000, 2500), (5000, 4000, 400)]);
}

/// A response of the conversation has a record and, behind what its tools returned, a count. Others have a record alone.
#[test]
fn records_that_no_count_repeats_stand_beside_the_conversation() {
    let call = line("response_item", r#""type":"function_call","name":"shell","call_id":"c","arguments":"{}""#);
    let result = line("response_item", r#""type":"function_call_output","call_id":"c","output":"Done""#);
    let (first, second) = (used(100, 0, 5), used(140, 0, 6));
    let log = [
        head(""),
        said("user", "One"),
        call,
        record("r1", &first),
        record("judge", &used(90, 0, 3)),
        line("security_risk_score", r#""score":1"#),
        result,
        count(&used(100, 0, 5), &first),
        count(&used(100, 0, 5), &first),
        said("assistant", "Two"),
        record("r2", &second),
        record("r2", &second),
        count(&used(240, 0, 11), &second),
    ];
    let session = read(&log);
    assert_eq!((prompts(&session), beside(&session)), (vec![(100, 5), (140, 6)], vec![("judge", 90)]));
    // Copies of these calls in other files have no records: their ids are those of the counts.
    assert!(session.messages.iter().filter_map(|message| message.call.as_ref()).all(|call| call.id.starts_with("s/")));
}

#[test]
fn a_reply_whose_count_is_missing_has_the_usage_of_its_record() {
    let aborted = line("event_msg", r#""type":"turn_aborted""#);
    let search = line("response_item", r#""type":"web_search_call","id":"ws_1","action":{"type":"search"}"#);
    let log = [
        head(""),
        said("user", "One"),
        said("assistant", "Two"),
        record("r1", &used(100, 0, 5)),
        aborted,
        said("user", "Three"),
        // A search of the provider's own reads its context several times: the count of the last response is smaller.
        search,
        said("assistant", "Four"),
        record("r2", &used(900, 0, 7)),
        count(&used(1000, 0, 12), &used(130, 0, 7)),
        said("user", "Five"),
        said("assistant", "Six"),
        record("r3", &used(150, 0, 8)),
    ];
    let session = read(&log);
    assert_eq!((prompts(&session), beside(&session)), (vec![(100, 5), (900, 7), (150, 8)], vec![]));
    assert_eq!(session.messages[3].call.as_ref().unwrap().usage.unwrap().trust, Trust::Beyond);
}

/// The user breaks a turn off while its tools run: the reply has no count, but the totals hold it.
#[test]
fn an_interrupted_reply_has_what_the_totals_hold_beyond_the_next_one() {
    let log = |replies: &[&str]| {
        let first =
            [head(""), said("user", "One"), said("assistant", "Two"), count(&used(100, 0, 5), &used(100, 0, 5)), said("user", "Three")];
        let replies = replies.iter().flat_map(|text| [said("assistant", text), said("user", "Go on")]);
        let last = [said("assistant", "Five"), count(&used(430, 0, 30), &used(170, 0, 8))];
        first.into_iter().chain(replies).chain(last).collect::<Vec<String>>()
    };
    let session = read(&log(&["Four"]));
    assert_eq!((prompts(&session), beside(&session)), (vec![(100, 5), (160, 17), (170, 8)], vec![]));
    // Of two such replies the totals do not say whose it is.
    let (sessions, lost) = read_text("rollout.jsonl", &log(&["Four", "Four again"]).concat());
    assert_eq!(prompts(&sessions[0]), [(100, 5), (0, 0), (0, 0), (170, 8)]);
    assert_eq!(lost, [("usage of other calls, as a sum alone".to_owned(), 1)]);
}

#[test]
fn the_record_that_a_compaction_names_is_its_summarisers() {
    let summariser = |compacted: &str, counted: &[String]| {
        let first = used(100, 0, 5);
        let begin = [head(""), said("user", "One"), said("assistant", "Two"), record("r1", &first), count(&first, &first)];
        let end = [line("compacted", &format!(r#""message":"All"{compacted}"#)), said("assistant", "Three")];
        let session = read(&[&begin[..], &[record("sum", &used(110, 0, 40))], counted, &end].concat());
        assert_eq!(beside(&session), []);
        session.compactions[0].call.as_ref().map(|call| (call.usage.unwrap().prompt, call.usage.unwrap().output))
    };
    let both = [count(&used(210, 0, 45), &used(110, 0, 40))];
    let latest = r#","latest_token_usage_record":{"thread_id":"s","response_id":"sum"}"#;
    for named in [r#","compaction_response_id":"sum""#, latest] {
        assert_eq!((summariser(named, &[]), summariser(named, &both)), (Some((110, 40)), Some((110, 40))), "{named}");
    }
    // A record that a fork repeats of its origin is counted there.
    let log = [head(""), said("user", "One"), record("r1", &used(100, 0, 5)).replace(r#""s""#, r#""origin""#)];
    assert_eq!(beside(&read(&log)), []);
}

/// Since version 0.146 a fork names the history that it goes on with, and does not repeat it.
#[test]
fn a_fork_by_reference_begins_in_the_middle() {
    let begins = |base: &str| read(&[head(&format!(r#","history_base":{base}"#)), said("user", "One")]).begins_in_middle;
    let base = |lines: u64| format!(r#"{{"thread_id":"p","end_ordinal_exclusive":{lines},"end_byte_offset":900}}"#);
    assert_eq!((begins(&base(7)), begins(&base(0)), begins("null")), (true, false, false));
}

#[test]
fn what_a_sub_agent_repeats_of_its_parent_is_no_call_of_its_own() {
    let usage = used(100, 0, 5);
    let lines = [
        head(r#","subagent_history_start_ordinal":4"#),
        said("user", "One"),
        said("assistant", "Two"),
        count(&usage, &usage),
        said("user", "Task"),
        said("assistant", "Done"),
        count(&used(230, 0, 12), &used(130, 0, 7)),
    ];
    let numbered = lines.iter().enumerate().map(|(ordinal, line)| line.replacen('{', &format!(r#"{{"ordinal":{ordinal},"#), 1));
    let session = read(&numbered.collect::<Vec<_>>());
    assert_eq!(in_short(&session), ["u: One", "a: Two", "u: Task", "a: Done"]);
    assert_eq!((prompts(&session), beside(&session)), (vec![(130, 7)], vec![]));
}

#[test]
fn what_was_delivered_by_a_tool_is_no_reply_and_what_an_agent_says_reaches_the_model() {
    let delivered = said("assistant", "Told").trim_end().trim_end_matches('}').to_owned()
        + r#"},"metadata":{"delivered_assistant_message":"codex:code-mode-delivery:v1:complete"}}"#
        + "\n";
    let sent = line("inter_agent_communication", r#""author":"/lead/a","recipient":"/lead","content":"Report","trigger_turn":true"#);
    let sealed = sent.replace(r#""Report""#, r#""","encrypted_content":"abc""#);
    let log = [head(""), said("user", "One"), delivered, sent, said("assistant", "Two"), sealed];
    let (sessions, lost) = read_text("rollout.jsonl", &log.concat());
    assert_lost(&lost, &[("encrypted content whose size in tokens is unknown", 1)]);
    let header = "*: Message Type: NEW_TASK\nTask name: /lead\nSender: /lead/a\nPayload:\n";
    assert_eq!(in_short(&sessions[0]), ["u: One", "*: Report", "a: Two", header]);
}

/// Newer versions put definitions into the conversation.
#[test]
fn tools_that_join_the_conversation_are_definitions_of_tools() {
    let item = |rest: &str| line("response_item", rest);
    let tools = r#"[{"type": "function", "name": "find"}]"#;
    let log = [
        head(""),
        item(r#""type":"additional_tools","role":"developer","tools":[]"#),
        said("user", "One"),
        item(r#""type":"function_call","call_id":"c1","name":"shell","arguments":"{}""#),
        // What comes between a reply and its count changes the next one.
        line("dynamic_tools_updated", r#""dynamic_tools":[{"name":"x"}]"#),
        item(r#""type":"function_call_output","call_id":"c1","output":"out""#),
        count(&used(100, 0, 5), &used(100, 0, 5)),
        item(&format!(r#""type":"additional_tools","role":"developer","tools":{tools}"#)),
        item(r#""type":"configuration_update","reasoning":{"effort":"high"}"#),
        said("assistant", "Two"),
        count(&used(300, 0, 10), &used(200, 0, 5)),
        said("user", "Three"),
        said("assistant", "Four"),
        count(&used(550, 0, 15), &used(250, 0, 5)),
    ];
    let session = read(&log);
    assert_eq!(in_short(&session), ["u: One", "a: shell(c1)", "t: shell(c1)=", "s: tools 35", "a: Two", "u: Three", "a: Four"]);
    assert_eq!(prompts(&session), [(100, 5), (200, 5), (250, 5)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, true, false]);
}

/// Old versions say that a turn was broken off, and not where the next one begins.
#[test]
fn a_compaction_behind_an_aborted_turn_is_between_two() {
    let compacted = || line("compacted", r#""message":"All""#);
    let aborted = || line("event_msg", r#""type":"turn_aborted""#);
    let between = |middle: &[String]| {
        let begin = [head(""), said("user", "One"), said("assistant", "Two"), count(&used(100, 0, 5), &used(100, 0, 5))];
        let log: Vec<String> =
            begin.into_iter().chain(middle.iter().cloned()).chain([said("user", "Go on"), said("assistant", "Four")]).collect();
        let [event] = read(&log).compactions.try_into().expect("one compaction");
        (event.between_turns, event.automatic)
    };
    assert_eq!(between(&[aborted(), compacted()]), (true, None));
    assert_eq!(between(&[compacted()]), (false, None));
    assert_eq!(between(&[aborted(), said("user", "Three"), compacted()]), (false, None));
    // Where the log says that a turn begins, it says which compactions are the agent's own.
    let begun = line("event_msg", r#""type":"task_started""#);
    assert_eq!(between(&[aborted(), begun, compacted()]), (false, Some(true)));
}
