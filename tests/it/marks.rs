//! Results that the recording agent has cut: readers see its marks, and its own limits leave them alone.

use crate::policies::{Session, calls_of, preset, run, text};
use crate::support::read_source;
use ctxsim::format::Source;
use ctxsim::policy::Policy;
use ctxsim::sim::EventKind;
use ctxsim::trace::Trace;
use ctxsim::transcript::{Part, Text};
use std::io::Cursor;
use std::path::Path;

/// For each result of a log: has the agent cut it?
fn cut(name: &str, log: String) -> Vec<bool> {
    let source = Source::from_reader(Path::new(name), Box::new(Cursor::new(log))).unwrap();
    let (transcripts, _) = read_source(source);
    let parts = transcripts.iter().flat_map(|transcript| &transcript.messages).flat_map(|message| &message.parts);
    parts.filter_map(|part| if let Part::ToolResult { text, .. } = part { Some(text.truncated) } else { None }).collect()
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn readers_know_the_marks_of_their_agents() {
    let claude = |results: &[&str]| {
        let lines = results.iter().enumerate().map(|(number, result)| {
            let result = json(result);
            format!(
                r#"{{"type":"assistant","uuid":"a{number}","sessionId":"s","message":{{"id":"m{number}","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"tool_use","id":"c{number}","name":"Bash","input":{{}}}}],"usage":{{"input_tokens":9,"output_tokens":9}}}}}}
{{"type":"user","uuid":"u{number}","parentUuid":"a{number}","sessionId":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{number}","content":{result}}}]}}}}"#
            )
        });
        cut("s.jsonl", lines.collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(
        claude(&[
            "one\n\n... [269 lines truncated] ...\nShell cwd was reset to /x",
            "<persisted-output>\nOutput too large (41.2KB). Full output saved to: /x",
            "error\n\n... [2841 characters truncated] ...\n\nend",
            "<status>completed</status>\n\n<output>\n[Truncated. Full output: /x.output]\n\nend\n</output>",
            "a log that says \"... [269 lines truncated] ...\"",
            "The whole output",
        ]),
        [true, true, true, true, false, false]
    );
    let codex = |results: &[&str]| {
        let head = r#"{"type":"session_meta","payload":{"id":"s","cli_version":"0.118.0"}}"#.to_owned();
        let lines = results.iter().map(|result| {
            let result = json(result);
            format!(
                r#"{{"type":"response_item","payload":{{"type":"function_call","name":"shell","arguments":"{{}}","call_id":"c"}}}}
{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"c","output":{result}}}}}"#
            )
        });
        cut("rollout-s.jsonl", std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(
        codex(&[
            "Exit code: 0\nTotal output lines: 900\nOutput:\n\nhead…1200 tokens truncated…tail",
            r#"{"output":"head\n[... omitted 44 of 300 lines ...]\ntail","metadata":{"exit_code":0}}"#,
            "head…77 chars truncated…tail",
            "Exit code: 0\nOriginal token count: 12\nOutput:\nwhole",
        ]),
        [true, true, true, false]
    );
    let opencode = |metadata: &str, output: &str| {
        let output = json(output);
        cut(
            "session.json",
            format!(
                r#"{{"info":{{"id":"ses_1","version":"1.2.20","directory":"/x"}},"messages":[{{"info":{{"id":"msg_1","sessionID":"ses_1","role":"assistant","time":{{"created":1,"completed":2}},"tokens":{{"input":9,"output":9,"reasoning":0,"cache":{{"read":0,"write":0}}}}}},"parts":[{{"id":"p","type":"tool","callID":"c","tool":"read","state":{{"status":"completed","input":{{}},"output":{output},"metadata":{metadata},"time":{{"start":1,"end":2}}}}}}]}}]}}"#
            ),
        )
    };
    assert_eq!(opencode(r#"{"truncated":true}"#, "head"), [true]);
    assert_eq!(opencode(r#"{"truncated":false}"#, "whole"), [false]);
    assert_eq!(opencode("{}", "head\n\n(Output was truncated due to length limit)"), [true]);
}

/// One step whose result is this, in a log of this agent.
fn log(agent: &str, tool: &str, result: Text) -> Trace {
    let session = Session::default().user(40).step(40, None, tool, result).reply(40, None);
    Trace { agent: agent.to_owned(), ..session.trace() }
}

fn cuts(policy: &Policy, trace: &Trace) -> usize {
    calls_of(&run(policy, trace, 200_000), EventKind::Truncate).len()
}

#[test]
fn an_agents_own_limits_leave_alone_what_it_has_cut() {
    let marked = || Text { truncated: true, ..text(30_120, 7_500) };
    let ours = preset("claude-code", &[]);
    assert_eq!(cuts(&ours, &log("claude-code", "Bash", marked())), 0);
    assert_eq!(cuts(&preset("claude-code@2.1.20", &[]), &log("claude-code", "Bash", marked())), 0);
    assert_eq!(cuts(&preset("claude-code@at-limit", &[]), &log("claude-code", "Bash", marked())), 0);
    // Without the mark, in another agent's log, or under a lower limit it is a result like others.
    assert_eq!(cuts(&ours, &log("claude-code", "Bash", text(30_120, 7_500))), 1);
    assert_eq!(cuts(&ours, &log("pi", "Bash", marked())), 1);
    assert_eq!(cuts(&preset("claude-code", &[("BASH_MAX_OUTPUT_LENGTH", "10k")]), &log("claude-code", "Bash", marked())), 1);
    // More than 30,000 is not to be had, whatever is set.
    assert_eq!(cuts(&preset("claude-code", &[("BASH_MAX_OUTPUT_LENGTH", "100k")]), &log("claude-code", "Bash", text(30_120, 7_500))), 1);
    // Another system's limit takes what is there.
    assert_eq!(cuts(&preset("mini-swe-agent", &[]), &log("claude-code", "Bash", marked())), 1);
    let large = || Text { truncated: true, ..text(60_000, 15_000) };
    assert_eq!(cuts(&preset("opencode@1.2", &[]), &log("opencode", "read", large())), 0);
    assert_eq!(cuts(&preset("codex", &[]), &log("codex", "shell", large())), 0);
    assert_eq!(cuts(&preset("qwen-code", &[]), &log("qwen-code", "read_file", large())), 0);
    // What sets the flag by itself goes by limits of its own alone, until version 2 bounds all.
    for (policy, tool, bytes, cut) in [
        ("opencode@1.2", "read", 60_000, 0),
        ("opencode@1.18", "read", 80_000, 1),
        ("kilo", "grep", 60_000, 0),
        ("opencode@1.15", "webfetch", 60_000, 1),
        ("opencode@2", "read", 60_000, 1),
    ] {
        assert_eq!(cuts(&preset(policy, &[]), &log("opencode", tool, text(bytes, bytes / 4))), cut, "{policy} {tool} {bytes}");
    }
    // A variant that no log is recorded under says so.
    assert_eq!(cuts(&preset("pi@1.5", &[]), &log("pi", "bash", large())), 0);
    assert_eq!(cuts(&preset("pi@recommended", &[]), &log("pi", "bash", large())), 1);
}

#[test]
fn a_document_inherits_the_agents_of_its_system() {
    let own = Policy::parse("mine", "extends = \"claude-code\"\n").unwrap();
    let marked = || Text { truncated: true, ..text(30_120, 7_500) };
    assert_eq!(cuts(&own, &log("claude-code", "Bash", marked())), 0);
    let other = Policy::parse("mine", "extends = \"claude-code\"\nagents = [\"my-agent\"]\n").unwrap();
    assert_eq!(cuts(&other, &log("claude-code", "Bash", marked())), 1);
    assert_eq!(cuts(&other, &log("my-agent", "Bash", marked())), 0);
}

#[test]
fn claude_code_cuts_no_reports_of_sub_agents() {
    let ours = preset("claude-code", &[]);
    for tool in ["Agent", "Task"] {
        assert_eq!(cuts(&ours, &log("claude-code", tool, text(47_038, 11_760))), 0);
    }
    assert_eq!(cuts(&ours, &log("claude-code", "TaskOutput", text(47_038, 11_760))), 1);
}
