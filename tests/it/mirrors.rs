use crate::made::Native;
use crate::support::{ctxsim, files, project, python, shared};
use serde_json::{Value, json};
use std::path::PathBuf;

const PROJECT: &str = "tests/data/claude-code/mirrors/project";

fn inspected(arguments: &[&str]) -> Value {
    ctxsim(&["inspect", "--json"]).args(arguments).json()
}

fn total(calls: u64, prompt: u64, output: u64) -> Value {
    json!({ "calls": calls, "prompt_tokens": prompt, "output_tokens": output })
}

/// Calls, prompt tokens and output tokens without and with what is mirrored alone, as a script counts them in the raw lines.
fn independent(files: &[PathBuf]) -> Option<[Value; 2]> {
    let text = python("claude_code_totals.py", files)?;
    let row = |line: &str| {
        let numbers: Vec<u64> = line.split('\t').map(|number| number.parse().unwrap()).collect();
        total(numbers[0], numbers[1], numbers[2])
    };
    let rows: Vec<Value> = text.lines().map(row).collect();
    Some([rows[0].clone(), rows[1].clone()])
}

fn totals(corpus: &Value) -> [Value; 2] {
    let own = ["calls_with_usage", "recorded_prompt_tokens", "recorded_output_tokens", "placeholder_output_tokens"];
    let own = own.map(|key| corpus[key].as_u64().unwrap());
    let mut with_mirrored = corpus["with_mirrored"].clone();
    if let Some(output) = with_mirrored["output_tokens"].as_u64() {
        // Where a log holds a placeholder, an estimate stands in its place.
        with_mirrored["output_tokens"] = (output + own[3] - corpus["estimated_output_tokens"].as_u64().unwrap()).into();
    }
    [total(own[0], own[1], own[2] + own[3]), with_mirrored]
}

#[test]
fn mirrored_calls_are_summed_apart_and_once() {
    let corpus = inspected(&[PROJECT])["corpus"].clone();
    // The first helper has a file of its own; two replies of the second stand in mirrors alone, one of them in two sessions.
    assert_eq!(corpus["mirrored"], total(2, 310, 10));
    assert_eq!(totals(&corpus), [total(4, 3_675, 42), total(6, 3_985, 52)]);
    let files = ["s1.jsonl", "s2.jsonl", "s1/subagents/agent-h1.jsonl"].map(|name| project().join(PROJECT).join(name));
    if let Some(expected) = independent(&files) {
        assert_eq!(totals(&corpus), expected);
    }
    let shown = ctxsim(&["inspect", PROJECT, "--details"]).columns(200).stdout();
    let sentence = "With 2 calls of sub-agents that are only mirrored in the logs of those who started them: 6 calls, 3,985 prompt tokens, 52 output tokens.";
    assert!(shown.contains(sentence), "{shown}");
}

#[test]
fn without_its_file_a_helper_is_known_from_the_mirror() {
    let corpus = inspected(&[&format!("{PROJECT}/s1.jsonl")])["corpus"].clone();
    assert_eq!((&corpus["calls_with_usage"], &corpus["mirrored"]), (&json!(2), &total(3, 612, 19)));
    assert_eq!(inspected(&["transcripts/codex"])["corpus"]["mirrored"], Value::Null);
}

/// A session that is a copy of another goes, and what it mirrors stays, wherever the two files stand in the order.
#[test]
fn mirrored_calls_of_a_copy_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let session = std::fs::read_to_string(project().join(PROJECT).join("s1.jsonl")).unwrap();
    let lines: Vec<&str> = session.lines().collect();
    // The copy has all mirrors, and fewer calls: the longer file owns them.
    let last = lines.iter().rposition(|line| line.contains("\"type\":\"assistant\",\"uuid\"")).unwrap();
    let without: Vec<&str> = lines.iter().enumerate().filter(|(index, _)| *index != last).map(|(_, line)| *line).collect();
    let expected = inspected(&[&format!("{PROJECT}/s1.jsonl")])["corpus"]["mirrored"].clone();
    for (copy, whole) in [("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")] {
        std::fs::write(folder.path().join(copy), without.join("\n")).unwrap();
        std::fs::write(folder.path().join(whole), lines.join("\n")).unwrap();
        assert_eq!(inspected(&[&folder.path().to_string_lossy()])["corpus"]["mirrored"], expected, "{copy}");
    }
}

/// Without ids a session is known by what it says: the same conversation in two files is one, a second run is another.
#[test]
fn copies_without_ids_are_known_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let said = |replies: &[&str]| {
        let turns =
            replies.iter().map(|reply| format!(r#"{{"role":"user","content":"Go on"}},{{"role":"assistant","content":"{reply}"}}"#));
        format!(r#"{{"messages":[{}]}}"#, turns.collect::<Vec<_>>().join(","))
    };
    let write = |name: &str, lines: &[String]| std::fs::write(folder.path().join(name), lines.join("\n")).unwrap();
    write("a.jsonl", &[said(&["one", "two", "six"])]);
    // The same session before its last reply; a run that parts from it; what another session may well begin with.
    write("b.jsonl", &[said(&["one", "two", "ten"]), said(&["one", "two"]), said(&["one"])]);
    let corpus = inspected(&[&folder.path().to_string_lossy()])["corpus"].clone();
    assert_eq!((&corpus["sessions"], &corpus["calls"]), (&json!(3), &json!(7)), "{corpus}");
    assert_eq!(corpus["duplicates"]["sessions"], json!(1), "{corpus}");
    // Equal lines of one file are runs of their own.
    write("b.jsonl", &[said(&["one", "three"]), said(&["one", "three"])]);
    let logs = folder.path().to_string_lossy().into_owned();
    assert_eq!(inspected(&[&logs])["corpus"]["sessions"], json!(3));
    // What stands in two parts of a corpus is the same: the logs beside their own trace, and a single reply, which tells too little elsewhere.
    write("c.jsonl", &[said(&["one"]), said(&["one"])]);
    let traces = tempfile::tempdir().unwrap();
    let trace = traces.path().join("all.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", &logs, "-o", &trace]).code(0);
    let totals = |places: &[&str]| ["sessions", "calls", "files"].map(|key| inspected(places)["corpus"][key].clone());
    assert_eq!(totals(&[&logs, &trace]), totals(&[&logs]));
    assert_eq!(totals(&[&logs]), [5, 9, 3].map(|count| json!(count)));
}

/// Two runs may say the same and call the same tools: who replied gave the calls other ids.
#[test]
fn calls_of_tools_tell_runs_apart() {
    let folder = tempfile::tempdir().unwrap();
    let log = |id: &str| {
        let call = format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","function":{{"name":"look","arguments":"{{}}"}}}}]}}"#
        );
        format!(
            r#"{{"messages":[{{"role":"user","content":"Go"}},{call},{{"role":"tool","tool_call_id":"{id}","content":"4"}},{{"role":"assistant","content":"It is 4"}}]}}"#
        )
    };
    let logs = folder.path().to_string_lossy().into_owned();
    for (second, sessions) in [("call_1", 1), ("call_2", 2)] {
        std::fs::write(folder.path().join("one.jsonl"), log("call_1")).unwrap();
        std::fs::write(folder.path().join("two.jsonl"), log(second)).unwrap();
        assert_eq!(inspected(&[&logs])["corpus"]["sessions"], json!(sessions), "{second}");
    }
}

/// Where ids are missing here and there, a copy of the file is a copy all the same.
#[test]
fn a_call_without_an_id_is_copied_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let log = Native::new(json!({}))
        .line(json!({"role": "user", "id": "a-long-id-of-the-first", "text": "go"}))
        .line(json!({"role": "assistant", "text": "cut off", "usage": {"prompt": 900, "output": 10}}))
        .line(json!({"role": "assistant", "id": "a-long-id-of-the-last", "text": "done", "usage": {"prompt": 1000, "output": 10}}));
    let logs = folder.path().to_string_lossy().into_owned();
    for name in ["one.jsonl", "two.jsonl"] {
        log.write(folder.path(), name);
        let corpus = inspected(&[&logs])["corpus"].clone();
        assert_eq!(
            [&corpus["sessions"], &corpus["calls"], &corpus["recorded_prompt_tokens"]],
            [&json!(1), &json!(2), &json!(1900)],
            "{name}"
        );
    }
}

/// A fork repeats the reply that started it without its usage. Where items have no ids, its tool call tells that it is the same one.
#[test]
fn a_copied_reply_without_usage_is_known_by_its_tool_call() {
    let folder = tempfile::tempdir().unwrap();
    let item = |payload: &str| format!("{{\"type\":\"response_item\",\"payload\":{payload}}}\n");
    let head = |id: &str| format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\"}}}}\n");
    let usage = |total: u64, input: u64| {
        let sums =
            format!(r#""total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{input},"output_tokens":1}}"#);
        format!("{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\"info\":{{{sums}}}}}}}\n")
    };
    let said = |role: &str| item(&format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"output_text","text":"{role}"}}]}}"#));
    let reasoning = item(r#"{"type":"reasoning","summary":[],"encrypted_content":"abcd"}"#);
    let spawn = item(r#"{"type":"function_call","call_id":"call_eZzi5JF98tFi9v9t","name":"spawn_agent","arguments":"{}"}"#);
    let result = item(r#"{"type":"function_call_output","call_id":"call_eZzi5JF98tFi9v9t","output":"ok"}"#);
    let begin = [said("user"), reasoning, spawn].concat();
    let origin = [head("s0"), begin.clone(), usage(900, 900), result.clone()].concat();
    // The copy is the longer one, too.
    let more: String = (1..4).map(|turn| said("assistant") + &usage(800 * turn, 800) + &said("user")).collect();
    let fork = [head("s1"), begin, result, more].concat();
    std::fs::write(folder.path().join("origin.jsonl"), origin).unwrap();
    std::fs::write(folder.path().join("fork.jsonl"), fork).unwrap();
    let corpus = inspected(&[&folder.path().to_string_lossy()])["corpus"].clone();
    assert_eq!([&corpus["calls"], &corpus["recorded_prompt_tokens"]], [&json!(4), &json!(3_300)]);
}

/// A measured corpus says the same as its logs, and sub-agents that are left out are left out of mirrors too.
#[test]
fn traces_and_selections_know_of_mirrors() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("all.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", PROJECT, "-o", &traces]).code(0);
    assert_eq!(totals(&inspected(&[&traces])["corpus"]), totals(&inspected(&[PROJECT])["corpus"]));
    let native = folder.path().join("native.jsonl").to_string_lossy().into_owned();
    ctxsim(&["convert", PROJECT, "--redact", "-o", &native]).code(0);
    assert_eq!(totals(&inspected(&[&native])["corpus"]), totals(&inspected(&[PROJECT])["corpus"]));
    assert_eq!(inspected(&[PROJECT, "--subagents", "exclude"])["corpus"]["mirrored"], Value::Null);
}

#[test]
fn both_totals_of_real_logs_are_those_of_the_script() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("transcripts/claude-code");
    let Some(expected) = independent(&files(&folder)) else { return };
    assert_eq!(totals(&inspected(&[&folder.to_string_lossy()])["corpus"]), expected);
}

const RUN: &str = "9ff9e1ad-f3bc-46c1-8b2f-f240cb66f557";

/// A log of this agent and id, with so many calls.
fn log_of(agent: &str, id: &str, calls: u64) -> Native {
    let time = |second: u64| format!("2026-01-01T00:00:{second:02}Z");
    let log = Native::new(json!({"session": id, "agent": agent})).line(json!({"role": "user", "time": time(0), "text": "Go"}));
    let reply = |call: u64| json!({"role": "assistant", "time": time(call), "id": format!("reply-of-{agent}-number-{call}"), "text": "done", "usage": {"prompt": 1000, "output": 10}});
    (1..=calls).fold(log, |log, call| log.line(reply(call)))
}

/// A log of this agent and id: how long each reply is, and its prompt.
fn said(agent: &str, id: &str, replies: impl IntoIterator<Item = (usize, Option<usize>)>) -> Native {
    let log = Native::new(json!({"session": id, "agent": agent})).line(json!({"role": "user", "text": "Go"}));
    replies.into_iter().zip(1..).fold(log, |log, ((length, prompt), second)| {
        let mut reply = json!({"role": "assistant", "time": second * 1000, "id": format!("{agent}-of-{id}-number-{second}"), "text": "x".repeat(length)});
        if let Some(prompt) = prompt {
            reply["usage"] = json!({"prompt": prompt, "output": 10});
        }
        log.line(reply)
    })
}

/// Sessions, calls and prompt tokens of these logs together.
fn together(logs: &[Native]) -> [u64; 3] {
    let folder = tempfile::tempdir().unwrap();
    for (number, log) in logs.iter().enumerate() {
        log.write(folder.path(), &format!("{number}.jsonl"));
    }
    let corpus = inspected(&[&folder.path().to_string_lossy()])["corpus"].clone();
    ["sessions", "calls", "recorded_prompt_tokens"].map(|key| corpus[key].as_u64().unwrap())
}

/// Harnesses name runs by their task: two agents have one id, and some of their replies are of one length.
#[test]
fn one_length_in_common_joins_no_runs() {
    let pi = || said("pi", RUN, (0..50).map(|reply| (100 + reply, Some(1000 + 137 * reply))));
    let codex = |first: usize| said("codex", RUN, (0..50).map(|reply| (first + reply, None)));
    let apart = together(&[pi(), codex(1000)]);
    assert_eq!(apart[..2], [2, 100]);
    assert_eq!(together(&[pi(), codex(149)]), apart);
    // More than half of them are.
    assert_eq!(together(&[pi(), codex(120)])[..2], [1, 50]);
}

/// Two long runs have replies of the same lengths, and prompts of other sizes.
#[test]
fn replies_alone_join_no_runs_with_usage() {
    let log =
        |agent: &str, calls: usize, first: usize| said(agent, RUN, (0..calls).map(|reply| (100 + reply % 40, Some(first + 137 * reply))));
    assert_eq!(together(&[log("pi", 60, 1000), log("codex", 50, 1001)])[..2], [2, 110]);
    // Where a form measures most of its prompts otherwise, some agree.
    let other = said("codex", RUN, (0..50).map(|reply| (100 + reply % 40, Some(1001 + 137 * reply - usize::from(reply == 7)))));
    assert_eq!(together(&[log("pi", 60, 1000), other])[..2], [1, 60]);
    // Short replies are of the same lengths in any two runs.
    let short = |agent: &str, prompt: Option<usize>| said(agent, RUN, (0..60).map(|reply| (24 + reply % 40, prompt)));
    assert_eq!(together(&[short("pi", Some(1000)), short("codex", None)])[..2], [2, 120]);
}

/// What a run started goes with it, and what that started.
#[test]
fn descendants_go_with_their_run() {
    let family = |agent: &str, calls: usize| {
        let ids = [RUN.to_owned(), format!("{RUN}/{agent}"), format!("{RUN}/{agent}/1")];
        let prompts = |first: usize| (0..calls).map(move |call| (first / 10 + call, Some(first + 137 * call)));
        let mut logs: Vec<Native> = ids.iter().zip([1000, 5000, 9000]).map(|(id, first)| said(agent, id, prompts(first))).collect();
        for (log, parent) in logs.iter_mut().skip(1).zip(&ids) {
            log.0[0]["parent"] = json!(parent);
        }
        logs
    };
    let both: Vec<Native> = family("pi", 3).into_iter().chain(family("harness", 2)).collect();
    assert_eq!(together(&both), together(&family("pi", 3)));
}

/// A harness writes a trajectory of what the agent logs itself: the one with more usage counts, in whatever order and parts they are read.
#[test]
fn a_run_in_two_forms_counts_once() {
    let step = |step: u64, source: &str, rest: &str| {
        format!(r#"{{"step_id":{step},"timestamp":"2026-01-01T00:00:0{step}Z","source":"{source}","message":"Go"{rest}}}"#)
    };
    let metrics = r#","metrics":{"prompt_tokens":1000,"completion_tokens":10}"#;
    let trajectory = |id: &str| {
        let steps = [step(1, "user", ""), step(2, "agent", metrics), step(3, "agent", metrics)].join(",");
        format!(r#"{{"schema_version":"ATIF-v1.6","session_id":"{id}","agent":{{"name":"pi","version":"1"}},"steps":[{steps}]}}"#)
    };
    let keys = ["sessions", "calls", "recorded_prompt_tokens"];
    let told = |places: &[&str]| {
        let corpus = inspected(places)["corpus"].clone();
        (keys.map(|key| corpus[key].as_u64().unwrap()), corpus["duplicates"].clone())
    };
    let copies = |calls: u64| json!({"files": 1, "sessions": 1, "other_forms": 1, "calls": calls});
    let none = json!({"files": 0, "sessions": 0, "other_forms": 0, "calls": 0});
    for (log, other) in [("a.jsonl", "b.json"), ("b.jsonl", "a.json")] {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().to_string_lossy().into_owned();
        let write = |id: &str, calls: u64| {
            log_of("pi", id, calls).write(folder.path(), log);
            std::fs::write(folder.path().join(other), trajectory(id)).unwrap();
        };
        write(RUN, 3);
        assert_eq!(told(&[&logs]), ([1, 3, 3000], copies(2)), "{log}");
        assert!(ctxsim(&["inspect", &logs, "--details"]).columns(200).stdout().contains("1 session (1 is the same run in another form)"));
        let part = folder.path().join("part.ctxtrace").to_string_lossy().into_owned();
        ctxsim(&["trace", "build", &format!("{logs}/{other}"), "-o", &part]).code(0);
        assert_eq!(told(&[&part, &format!("{logs}/{log}")]), ([1, 3, 3000], copies(2)), "{log}");
        std::fs::remove_file(part).unwrap();
        write(RUN, 1);
        assert_eq!(told(&[&logs]), ([1, 2, 2000], copies(1)), "the trajectory has more");
        // It may repeat a step: the log has what the agent did to its context besides.
        let longer =
            (4..24).fold(trajectory(RUN), |made, number| made.replace("]}", &format!(",{}]}}", step(number % 10, "agent", metrics))));
        std::fs::write(folder.path().join(other), longer).unwrap();
        log_of("pi", RUN, 21).write(folder.path(), log);
        assert_eq!(told(&[&logs]).0, [1, 21, 21_000]);
        // Two agents on one task, by which both their runs are named.
        write(RUN, 3);
        std::fs::write(folder.path().join(other), trajectory(RUN).replace("1000", "7000")).unwrap();
        assert_eq!(told(&[&logs]), ([2, 5, 17_000], none.clone()), "{log}");
        // What people call a session is no name of a run.
        for name in ["session", "1712345678901", "django__django-12345"] {
            write(name, 3);
            assert_eq!(told(&[&logs]), ([2, 5, 5000], none.clone()), "{name}");
        }
    }
    // Where a print says other words than the log of its id, it is of another run.
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(project().join("tests/data/codex/printed.jsonl"), folder.path().join("codex.txt")).unwrap();
    log_of("codex", "019d0000-0000-7000-8000-000000000001", 3).write(folder.path(), "log.jsonl");
    assert_eq!(told(&[&folder.path().to_string_lossy()]), ([3, 11, 14_500], none));
}

/// A harness keeps what the agent wrote beside its own trajectory, each under the name of its file: they are one run where the calls begin at one time and
/// nine tenths of the prompts are of the same sizes.
#[test]
fn a_run_that_a_folder_holds_twice_counts_once() {
    let step = |step: u64, source: &str, rest: &str| {
        format!(r#"{{"step_id":{step},"timestamp":"2026-01-01T00:00:0{step}Z","source":"{source}","message":"Go"{rest}}}"#)
    };
    let metrics = r#","metrics":{"prompt_tokens":1000,"completion_tokens":10}"#;
    let steps = [step(1, "user", ""), step(2, "agent", metrics), step(3, "agent", metrics)].join(",");
    let trajectory = |id: &str| {
        format!(r#"{{"schema_version":"ATIF-v1.6","session_id":"{id}","agent":{{"name":"mine","version":"1"}},"steps":[{steps}]}}"#)
    };
    let reply = |id: &str, seconds: u64| {
        let usage = json!({"prompt": 1000, "output": 10});
        json!({"role": "assistant", "id": id, "text": "other words", "time": 1_767_225_600_000_u64 + seconds * 1000, "usage": usage})
    };
    let calls = |logs: &str| {
        let corpus = inspected(&[logs])["corpus"].clone();
        ["sessions", "calls"].map(|key| corpus[key].as_u64().unwrap())
    };
    for (log, other, begun, found) in [("a.jsonl", "b.json", 2, [1, 2]), ("b.jsonl", "a.json", 2, [1, 2]), ("a.jsonl", "b.json", 1, [2, 4])]
    {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().to_string_lossy().into_owned();
        let own = Native::new(json!({"session": "raw", "agent": "mine"})).line(json!({"role": "user", "text": "Go"}));
        own.line(reply("one", begun)).line(reply("two", 3)).write(folder.path(), log);
        std::fs::write(folder.path().join(other), trajectory("task__x")).unwrap();
        assert_eq!(calls(&logs), found, "{log} {begun}");
        // Nor is it lost where both have the id of the run.
        let both = tempfile::tempdir().unwrap();
        let own = Native::new(json!({"session": RUN, "agent": "mine"})).line(json!({"role": "user", "text": "Go"}));
        own.line(reply("one", begun)).line(reply("two", 3)).write(both.path(), log);
        std::fs::write(both.path().join(other), trajectory(RUN)).unwrap();
        assert_eq!(calls(&both.path().to_string_lossy()), [1, 2], "{log} {begun}");
        // What one reader made of two files are two runs.
        let again = Native::new(json!({"session": "again", "agent": "mine"})).line(json!({"role": "user", "text": "Go"}));
        again.line(reply("three", begun)).line(reply("four", 3)).write(folder.path(), "c.jsonl");
        assert_eq!(calls(&logs), found.map(|sum| sum + sum / found[0]));
        std::fs::remove_file(folder.path().join("c.jsonl")).unwrap();
        // In another folder it is another run.
        std::fs::create_dir(folder.path().join("other")).unwrap();
        std::fs::rename(folder.path().join(other), folder.path().join("other").join(other)).unwrap();
        assert_eq!(calls(&logs), [2, 4]);
    }
    // A third of the prompts stand in the smaller file alone.
    let folder = tempfile::tempdir().unwrap();
    let own = Native::new(json!({"session": "raw", "agent": "mine"})).line(json!({"role": "user", "text": "Go"}));
    own.line(reply("one", 2)).line(reply("two", 3)).line(reply("three", 4)).write(folder.path(), "a.jsonl");
    let other = [step(2, "agent", metrics), step(3, "agent", &metrics.replace("1000", "4000"))].join(",");
    std::fs::write(
        folder.path().join("b.json"),
        trajectory("task__x").replace(&steps, &[&other, &step(4, "agent", metrics)].map(String::as_str).join(",")),
    )
    .unwrap();
    assert_eq!(calls(&folder.path().to_string_lossy()), [2, 6]);
}

/// Claude Code prints its replies under their ids. Some versions log and print those of its requests, and some do not.
#[test]
fn a_print_beside_its_log_counts_once() {
    let line = |id: &str, beside: Value| {
        let prompt = 1000 + id[4..].parse::<u64>().unwrap();
        let mut line = json!({"type": "assistant", "uuid": format!("u-{id}"), "message": {"id": id, "role": "assistant", "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": "Ho"}], "stop_reason": "end_turn", "usage": {"input_tokens": prompt, "output_tokens": 5}}});
        line.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    let with_request = |id: &str, mut beside: Value, key: &str, has: bool| {
        if has {
            beside[key] = format!("req_{id}").into();
        }
        line(id, beside)
    };
    let logged = |id: &str, has: bool| {
        let beside = json!({"sessionId": RUN, "timestamp": "2026-01-01T00:00:01Z", "parentUuid": null, "version": "2.1.0"});
        with_request(id, beside, "requestId", has)
    };
    let printed = |id: &str, has: bool| with_request(id, json!({"session_id": RUN, "parent_tool_use_id": null}), "request_id", has);
    for [in_log, in_print] in [[true, false], [true, true], [false, false], [false, true]] {
        let folder = tempfile::tempdir().unwrap();
        let [log_path, print_path] = ["log.jsonl", "run.txt"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
        let read = |places: &[&str]| {
            let corpus = inspected(places)["corpus"].clone();
            let other_forms = corpus["duplicates"]["other_forms"].as_u64().unwrap();
            (["sessions", "calls", "recorded_prompt_tokens"].map(|key| corpus[key].as_u64().unwrap()), other_forms)
        };
        let told = |log: &[u64], print: &[u64]| {
            let text = |calls: &[u64], line: &dyn Fn(&str) -> String| {
                calls.iter().map(|call| line(&format!("msg_{call:020}"))).collect::<String>()
            };
            std::fs::write(&log_path, text(log, &|id| logged(id, in_log))).unwrap();
            std::fs::write(&print_path, text(print, &|id| printed(id, in_print))).unwrap();
            read(&[&log_path, &print_path])
        };
        assert_eq!(told(&[1, 2], &[1, 2]), ([1, 2, 2003], 1), "{in_log} {in_print}");
        let converted = tempfile::tempdir().unwrap();
        let native = converted.path().join("native.jsonl").to_string_lossy().into_owned();
        for more in [&[][..], &["--redact", "--force"]] {
            ctxsim(&["convert", &print_path, "-o", &native]).args(more).code(0);
            assert_eq!(read(&[&log_path, &native]), ([1, 2, 2003], 1), "{in_log} {in_print} {more:?}");
        }
        // The log breaks off, and the print begins late: ids tell what both hold.
        assert_eq!(told(&[1, 2, 3], &[2, 3, 4]), ([2, 4, 4010], 0), "{in_log} {in_print}");
    }
}

/// A print may say no more than a word: its log is of the same agent.
#[test]
fn a_print_of_a_word_counts_with_its_log() {
    let id = "019d0000-0000-7000-8000-000000000001";
    let item = |item: Value| json!({"type": "item.completed", "item": item});
    let command = |number: u64| {
        item(
            json!({"id": format!("item_{number}"), "type": "command_execution", "command": "ls", "aggregated_output": "a.rs", "exit_code": 0, "status": "completed"}),
        )
    };
    let done = item(json!({"id": "item_9", "type": "agent_message", "text": "Done."}));
    let usage = json!({"type": "turn.completed", "usage": {"input_tokens": 15000, "cached_input_tokens": 0, "output_tokens": 50}});
    let head = json!({"type": "thread.started", "thread_id": id});
    let lines = [head, json!({"type": "turn.started"}), command(0), command(1), done, usage];
    let log = || said("codex", id, (0..3).map(|call| (5, Some(1000 + 137 * call))));
    assert_eq!(together(&[Native(lines.to_vec()), log()]), together(&[log()]));
    assert_eq!(together(&[Native(lines.to_vec()), said("pi", id, [(5, Some(1000))])])[0], 2, "of another agent");
}

/// aider's two histories of one run have no id in common: the words of their replies are the same.
#[test]
fn both_histories_of_aider_count_once() {
    let long = format!("It says\n        \n{}\n\nand so on.", "one more word ".repeat(20));
    let [second, third] = ["Done.", "Yes."];
    let said = |reply: &str| format!("#### Go  \n\n{}\n\n> Tokens: 9.7k sent, 85 received.  \n\n", reply.replace("\n        \n", "\n\n"));
    let chat = |replies: &[&str]| {
        format!("# aider chat started at 2025-05-04 17:02:36\n\n{}", replies.iter().map(|reply| said(reply)).collect::<String>())
    };
    let sent = |minute: usize, reply: &str| {
        let lines: String = reply.lines().map(|line| format!("ASSISTANT {line}\n")).collect();
        format!("TO LLM 2025-05-04T17:0{minute}:00\n-------\nUSER Go {minute}\nLLM RESPONSE 2025-05-04T17:0{minute}:30\n{lines}")
    };
    let requests = |replies: &[&str]| replies.iter().enumerate().map(|(minute, reply)| sent(minute, reply)).collect::<String>();
    let folder = tempfile::tempdir().unwrap();
    let told = |chat: &str, requests: &str| {
        std::fs::write(folder.path().join(".aider.chat.history.md"), chat).unwrap();
        std::fs::write(folder.path().join(".aider.llm.history.md"), requests).unwrap();
        let names = [".aider.chat.history.md", ".aider.llm.history.md"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
        let corpus = inspected(&[&names[0], &names[1]])["corpus"].clone();
        ["sessions", "calls", "calls_with_usage"].map(|key| corpus[key].as_u64().unwrap())
    };
    let all = [&*long, second, third];
    assert_eq!(told(&chat(&all), &requests(&all)), [1, 3, 3]);
    // What the chat does not hold is a call of its own, and short words without a long reply before them tell nothing.
    assert_eq!(told(&chat(&all[..2]), &requests(&all)), [2, 3, 2]);
    assert_eq!(told(&chat(&all[1..]), &requests(&all[1..])), [2, 4, 2]);
    assert_eq!(told(&chat(&all), &requests(&[third, &long, second])), [2, 4, 3]);
}
