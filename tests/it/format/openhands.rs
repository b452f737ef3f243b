use crate::support::{assert_lost, fixture, in_short, prompts, read_source, read_text};
use ctxsim::format::Source;
use ctxsim::transcript::{Part, Usage};
use std::io::Cursor;
use std::path::Path;

#[test]
fn one_response_is_one_message_and_a_condensation_is_a_fact() {
    let (transcripts, lost) = fixture("openhands/output.jsonl");
    // The second run lists a cost, and no usage.
    assert_lost(&lost, &[("cost of the whole session alone ($0.10 in one file)", 1)]);
    let session = &transcripts[0];
    let expected = [
        "s: tools 21",
        "s: You are OpenHands",
        "u: Fix it",
        "*: other Use the token",
        "a: Look twice | execute_bash(t1) | execute_bash(t2)",
        "t: execute_bash(t1)=",
        "t: execute_bash(t2)!",
        "a: What now?",
        "u: Go on",
        "a: Done",
    ];
    assert_eq!(in_short(session), expected);
    assert_eq!((session.id.as_str(), session.version.as_str()), ("x__y-1", "0.35.0"));
    assert_eq!(prompts(session), [(900, 30), (1000, 8), (1100, 5)]);
    let first = session.messages[4].call.as_ref().unwrap();
    assert_eq!((first.model.as_str(), first.usage.unwrap().cost_nano_usd), ("claude-sonnet-4", Some(100_000_000)));
    let compaction = &session.compactions[0];
    let usage: Usage = compaction.call.as_ref().unwrap().usage.unwrap();
    assert_eq!((compaction.before, compaction.kept_from, usage.prompt, usage.cache_read), (7, Some(6), 700, 100));
    assert_eq!(session.side_calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["gen-5"]);
    assert_eq!(in_short(&transcripts[1]), ["u: Fix", "a: Look | run()", "t: run()="]);
}

#[test]
fn arguments_beside_the_action_and_lists_of_events() {
    let (transcripts, lost) = fixture("openhands/resolver.jsonl");
    assert_lost(&lost, &[("cost of the whole session alone ($0.07 in one file)", 1)]);
    assert_eq!(in_short(&transcripts[0]), ["u: Do it", "a: I touch | run()", "t: run()!", "a: Ready"]);
    let (transcripts, lost) = fixture("openhands/events.json");
    assert_eq!((lost, prompts(&transcripts[0])), (vec![], vec![(900, 30)]));
}

#[test]
fn damage_costs_what_is_damaged() {
    let (transcripts, lost) = fixture("openhands/broken.jsonl");
    let expected = [
        ("record of an unexpected shape", 1),
        ("unknown record type", 1),
        ("absurd usage numbers", 1),
        ("session without messages", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}

#[test]
fn of_a_long_result_the_model_saw_both_ends() {
    let event =
        |kind: &str| format!(r#"{{"id":1,"source":"agent","observation":"{kind}","content":"{}","extras":{{}}}}"#, "abcdefghij".repeat(10));
    let text = format!(
        r#"{{"instance_id":"x","test_result":{{}},"metadata":{{"agent_class":"CodeActAgent","llm_config":{{"model":"m","max_message_chars":40}}}},"history":[
            {{"id":0,"source":"user","action":"message","args":{{"content":"Go"}}}},{},{}]}}"#,
        event("run"),
        event("read")
    );
    let (transcripts, _) = read_source(Source::from_reader(Path::new("output.json"), Box::new(Cursor::new(text))).unwrap());
    let texts: Vec<String> = transcripts[0]
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult { text, .. } => text.content.as_deref().map(str::to_owned),
            _ => None,
        })
        .collect();
    let shown = "abcdefghijabcdefghij\n[... Observation truncated due to length ...]\nabcdefghijabcdefghij";
    assert_eq!(texts, [shown.to_owned(), "abcdefghij".repeat(10)]);
}

/// Summaries that no event tells, and tries that failed, were paid for.
#[test]
fn a_running_sum_above_the_replies_is_usage_of_other_calls() {
    let log = |sums: [(u64, u64); 2], usage: &str| {
        let reply = |id: u64, (prompt, output): (u64, u64)| {
            let response = format!(
                r#"{{"id":"gen-{id}","model":"m","choices":[{{"message":{{"role":"assistant","content":"Reply {id}"}}}}]{usage}}}"#
            );
            let sum =
                format!(r#"{{"accumulated_token_usage":{{"prompt_tokens":{prompt},"completion_tokens":{output},"per_turn_token":9}}}}"#);
            format!(
                r#"{{"id":{id},"source":"agent","action":"message","args":{{"content":"Reply {id}"}},
                    "tool_call_metadata":{{"function_name":"f","tool_call_id":"t{id}","model_response":{response}}},"llm_metrics":{sum}}}"#
            )
        };
        let [first, last] = sums;
        let events = [r#"{"id":0,"source":"user","action":"message","args":{"content":"Go"}}"#.to_owned(), reply(1, first), reply(2, last)];
        let text = format!("[{}]", events.join(","));
        let (transcripts, lost) = read_source(Source::from_reader(Path::new("trajectory.json"), Box::new(Cursor::new(text))).unwrap());
        (prompts(&transcripts[0]), lost.into_iter().map(|loss| (loss.reason, loss.count)).collect::<Vec<_>>())
    };
    let usage = r#","usage":{"prompt_tokens":100,"completion_tokens":10}"#;
    let replies = vec![(100, 10), (100, 10)];
    let others = vec![("usage of other calls, as a sum alone".to_owned(), 1)];
    assert_eq!(log([(100, 10), (200, 20)], usage), (replies.clone(), vec![]));
    assert_eq!(log([(100, 10), (900, 80)], usage), (replies.clone(), others.clone()));
    // The sum may begin anew: the largest one counts.
    assert_eq!(log([(900, 80), (100, 10)], usage), (replies.clone(), others.clone()));
    assert_eq!(log([(100, 10), (200, 21)], usage), (replies, others));
    assert_eq!(log([(0, 0), (0, 0)], ""), (vec![(0, 0), (0, 0)], vec![]));
    assert_eq!(log([(100, 10), (200, 20)], ""), (vec![(0, 0), (0, 0)], vec![("usage of the whole session alone".to_owned(), 1)]));
}

/// The first versions list what calls cost, and not what they used.
#[test]
fn costs_without_usage_are_those_of_the_whole_run() {
    let reply = |id: u64, usage: &str| {
        format!(
            r#"{{"id":{id},"source":"agent","action":"message","args":{{"content":"Reply {id}"}},"tool_call_metadata":{{"function_name":"f","tool_call_id":"t{id}",
                "model_response":{{"id":"gen-{id}","model":"m","choices":[{{"message":{{"role":"assistant","content":"Reply {id}"}}}}]{usage}}}}}}}"#
        )
        .replace('\n', "")
    };
    let run = |usage: &str, costs: &str| {
        let history =
            [r#"{"id":0,"source":"user","action":"message","args":{"content":"Go"}}"#.to_owned(), reply(1, usage), reply(2, usage)];
        format!(r#"{{"issue":{{}},"git_patch":"","history":[{}],"metrics":{{"accumulated_cost":0.6,"costs":{costs}}}}}"#, history.join(","))
    };
    let read = |lines: &[String]| {
        let (transcripts, lost) = read_text("output.jsonl", &lines.join("\n"));
        let costs = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()?.usage?.cost_nano_usd).collect::<Vec<_>>();
        (costs, lost)
    };
    let alone = |sum: &str, runs: u64| vec![(format!("cost of the whole session alone (${sum} in one file)"), runs)];
    let told = r#","usage":{"prompt_tokens":100,"completion_tokens":10}"#;
    assert_eq!(read(&[run("", "[0.1,0.5]"), run("", "[0.1,0.5]")]), (vec![], alone("1.20", 2)));
    assert_eq!(read(&[run(told, "[0.1,0.5]")]), (vec![100_000_000, 500_000_000], vec![]));
    // More requests than replies: which are whose is not known.
    assert_eq!(read(&[run(told, "[0.1,0.2,0.3]")]), (vec![], alone("0.60", 1)));
}
