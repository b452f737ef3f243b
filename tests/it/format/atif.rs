use crate::support::{fixture, in_short, prompts, read_source, read_text};
use ctxsim::format::Source;
use ctxsim::transcript::Trust;
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;

#[test]
fn copied_steps_make_no_calls_and_a_handoff_is_a_compaction() {
    let (transcripts, lost) = fixture("atif/trajectory.json");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    let expected = ["s: tools 21", "u: Task", "a: Earlier", "a: ~0 | Look | bash(c1)", "t: bash(c1)= | 0x0", "a: End"];
    assert_eq!(in_short(session), expected);
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("s-1", Some("s-0")));
    assert_eq!(prompts(session), [(682, 60), (300, 5)]);
    let call = session.messages[3].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cache_read, call.usage.unwrap().trust), ("gpt-4o", 100, Trust::Provider));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.summary.as_ref().unwrap().length.bytes), (5, 20));
}

#[test]
fn what_a_mock_server_made_up_is_marked() {
    let (transcripts, lost) = fixture("atif/broken.json");
    let expected = [("cut off at the end of the file", 1), ("message of an unknown role", 1), ("absurd usage numbers", 2)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().trust, Trust::Mock);
    assert_eq!(prompts(&transcripts[0]), [(100, 5), (0, 0), (0, 0)]);
}

#[test]
fn version_1_7_marks_compactions_and_holds_its_sub_agents() {
    let child = r#"{"schema_version":"ATIF-v1.7","trajectory_id":"child","agent":{"name":"r","version":"1","model_name":"mini"},
        "steps":[{"step_id":1,"source":"user","message":"Search","is_copied_context":true},
            {"step_id":2,"source":"agent","message":"Found","llm_call_count":1,"metrics":{"prompt_tokens":25,"completion_tokens":9}}]}"#;
    let compaction = r#""extra":{"context_management":{"type":"compaction","boundary":"replace"}}"#;
    let parent = format!(
        r#"{{"schema_version":"ATIF-v1.7","session_id":"run","trajectory_id":"parent","agent":{{"name":"o","version":"1","model_name":"big"}},"steps":[
            {{"step_id":1,"source":"user","message":"Task"}},
            {{"step_id":2,"source":"agent","message":"","llm_call_count":0,"tool_calls":[{{"tool_call_id":"c1","function_name":"delegate","arguments":{{}}}}],
                "observation":{{"results":[{{"source_call_id":"c1","content":"Started","subagent_trajectory_ref":[{{"trajectory_id":"child"}}]}}]}}}},
            {{"step_id":3,"source":"system","message":"Compacted","observation":{{"results":[{{"content":"The task so far"}}]}},{compaction}}},
            {{"step_id":4,"source":"agent","message":"Ready","llm_call_count":1,"metrics":{{"prompt_tokens":42,"completion_tokens":12}}}},
            {{"step_id":5,"source":"agent","message":"Tried","llm_call_count":3,"metrics":{{"prompt_tokens":140,"completion_tokens":30}}}}],
            "subagent_trajectories":[{child}]}}"#
    );
    let source = Source::from_reader(Path::new("trajectory.json"), Box::new(Cursor::new(format!("[{parent}]")))).unwrap();
    let (transcripts, lost) = read_source(source);
    let [run, started] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    // The program itself made the step without a call; of three calls together none is known.
    assert_eq!(in_short(run), ["u: Task", "a: delegate(c1)", "t: delegate(c1)=", "a: Ready", "a: Tried"]);
    assert_eq!((prompts(run), run.messages[1].call.is_none()), (vec![(42, 12), (0, 0)], true));
    let summary = run.compactions[0].summary.as_ref().and_then(|summary| summary.content.as_deref());
    assert_eq!((run.compactions[0].before, summary), (3, Some("The task so far")));
    assert_eq!((started.id.as_str(), started.parent.as_deref(), prompts(started)), ("run/child", Some("run"), vec![(25, 9)]));
    assert_eq!(lost.into_iter().map(|loss| loss.reason).collect::<Vec<_>>(), ["usage of several calls in one step"]);
}

/// OpenClaw's converter makes each result a step of the agent, names its call beside it, and has the sum of all tokens in what the format has no word for.
#[test]
fn steps_that_bring_results_alone_are_no_calls_and_the_total_tells_where_cached_tokens_lie() {
    let result = r#""message":"none","observation":{"results":[{"content":"none"}]}"#;
    let text = format!(
        r#"{{"schema_version":"ATIF-v1.6","session_id":"run","agent":{{"name":"openclaw","version":"unknown","model_name":"glm"}},"steps":[
            {{"step_id":1,"source":"user","message":"Task"}},
            {{"step_id":2,"source":"agent","message":"Look","tool_calls":[{{"tool_call_id":"c1","function_name":"exec","arguments":{{}}}}],
                "metrics":{{"prompt_tokens":137,"completion_tokens":71,"cached_tokens":100,"extra":{{"cache_creation_tokens":20,"total_tokens":328}}}}}},
            {{"step_id":3,"source":"agent",{result},"extra":{{"tool_call_id":"c1"}}}},
            {{"step_id":4,"source":"agent","message":"It says","observation":{{"results":[{{"content":"more"}}]}}}},
            {{"step_id":5,"source":"agent",{result},"llm_call_count":1}},
            {{"step_id":6,"source":"agent","message":"End","metrics":{{"prompt_tokens":137,"completion_tokens":7,"cached_tokens":100,"extra":"none"}}}}]}}"#
    );
    let source = Source::from_reader(Path::new("trajectory.json"), Box::new(Cursor::new(text))).unwrap();
    let (transcripts, lost) = read_source(source);
    let expected = ["u: Task", "a: Look | exec(c1)", "t: exec(c1)=", "a: It says", "t: ()=", "a: none", "t: ()=", "a: End"];
    assert_eq!((in_short(&transcripts[0]), lost), (expected.map(str::to_owned).to_vec(), Vec::new()));
    assert_eq!(prompts(&transcripts[0]), [(257, 71), (0, 0), (0, 0), (137, 7)]);
    let usage = transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write), (100, 20));
}

/// A reply of Claude Code's is a thought, words and two calls, each a line of its log. Harbor made each line a step at first, with the metrics of the reply or without them.
#[test]
fn steps_of_one_reply_are_one_call() {
    let metrics = |prompt: u64, read: u64, written: u64, output: u64| {
        json!({"prompt_tokens": prompt, "cached_tokens": read, "completion_tokens": output, "extra": {"cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": written}}})
    };
    let call = |id: &str| {
        json!({"source": "agent", "message": format!("Executed Bash {id}"), "tool_calls": [{"tool_call_id": id, "function_name": "Bash", "arguments": {}}],
            "observation": {"results": [{"source_call_id": id, "content": "none"}]}})
    };
    let read = |steps: Vec<Value>| {
        let agent = json!({"name": "claude-code", "version": "2.1.0", "model_name": "claude-opus-4-6"});
        let text = json!({"schema_version": "ATIF-v1.2", "session_id": "run", "agent": agent, "steps": steps}).to_string();
        let source = Source::from_reader(Path::new("trajectory.json"), Box::new(Cursor::new(text))).unwrap();
        let (mut transcripts, lost) = read_source(source);
        assert_eq!(lost, []);
        transcripts.remove(0)
    };
    let steps = |rows: [Option<Value>; 6]| {
        let said = |source: &str, words: &str| json!({"source": source, "message": words});
        let thought = json!({"source": "agent", "message": "", "reasoning_content": "Hm"});
        let mut steps =
            vec![said("user", "Go"), thought, said("agent", "Look"), call("c1"), call("c2"), said("agent", "Well"), said("agent", "Done")];
        for (step, metrics) in steps[1..].iter_mut().zip(rows) {
            if let Some(metrics) = metrics {
                step["metrics"] = metrics;
            }
        }
        steps
    };
    let first = |output: u64| Some(metrics(3, 0, 20_000, output));
    let old =
        steps([first(1), first(1), first(1), first(90), Some(metrics(21_000, 20_000, 500, 9)), Some(metrics(21_000, 20_000, 500, 9))]);
    let whole = Some(metrics(20_003, 0, 20_000, 90));
    let middle = steps([whole, None, None, None, Some(metrics(21_500, 20_000, 500, 9)), None]);
    for steps in [old, middle] {
        let session = read(steps.clone());
        let expected = ["u: Go", "a: ~0 | Look | Bash(c1) | Bash(c2)", "t: Bash(c1)=", "t: Bash(c2)=", "a: Well | Done"];
        assert_eq!(in_short(&session), expected);
        assert_eq!(prompts(&session), [(20_003, 90), (21_500, 9)]);
        let usage = session.messages[1].call.as_ref().unwrap().usage.unwrap();
        assert_eq!((usage.cache_read, usage.cache_write, usage.cache_write_1h), (0, 20_000, 20_000));
        // The user's words may stand between steps of the same metrics; a step without any behind them is another request. What the program says in the model's
        // place is no call.
        let mut asked = steps;
        let without = asked[3]["metrics"].is_null();
        asked.insert(3, json!({"source": "user", "message": "Stop"}));
        asked.push(json!({"source": "agent", "message": "API Error", "model_name": "<synthetic>", "metrics": metrics(0, 0, 0, 0)}));
        let unknown = if without { vec![(0, 0); 2] } else { vec![] };
        assert_eq!(prompts(&read(asked)), [vec![(20_003, 90)], unknown, vec![(21_500, 9)]].concat());
    }
}

/// What the totals hold beyond the steps is usage of calls that the trajectory does not show, unless files beside have them.
#[test]
fn totals_count_calls_that_no_step_has() {
    let run = |metrics: &str, reference: &str, totals: &str| {
        format!(
            r#"{{"schema_version":"ATIF-v1.5","session_id":"run","agent":{{"name":"terminus-2","version":"2","model_name":"m"}},"final_metrics":{totals},"steps":[
            {{"step_id":1,"source":"user","message":"Task"}},
            {{"step_id":2,"source":"system","message":"Handed over","observation":{{"results":[{{"content":"","subagent_trajectory_ref":[{reference}]}}]}}}},
            {{"step_id":3,"source":"agent","message":"Done"{metrics}}}]}}"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trajectory.json");
    let lost = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let (transcripts, lost) = read_source(Source::open(&path).unwrap());
        assert_eq!(transcripts.len(), 1);
        lost.into_iter().map(|loss| loss.reason).collect::<Vec<_>>()
    };
    let metrics = r#","metrics":{"prompt_tokens":100,"completion_tokens":9}"#;
    let totals = r#"{"total_prompt_tokens":150,"total_completion_tokens":12,"total_cached_tokens":50}"#;
    // The step that hands over may be a request of its own.
    assert_eq!(lost(&run("", "", totals)), ["usage of the whole session alone"]);
    assert_eq!(lost(&run(metrics, "", totals)), ["usage of other calls, as a sum alone"]);
    for fewer in ["null", "{}", r#"{"total_prompt_tokens":100,"total_completion_tokens":9}"#, r#"{"total_prompt_tokens":40}"#] {
        assert_eq!(lost(&run(metrics, "", fewer)), Vec::<String>::new(), "{fewer}");
    }
    let reference = r#"{"session_id":"s","trajectory_path":"trajectory.summarization-1-summary.json"}"#;
    assert_eq!(lost(&run(metrics, reference, totals)), ["usage of other calls, as a sum alone"]);
    let summariser = r#"{"schema_version":"ATIF-v1.5","session_id":"s","agent":{"name":"terminus-2"},"steps":[
        {"step_id":1,"source":"agent","message":"So far","metrics":{"prompt_tokens":50,"completion_tokens":3}}]}"#;
    std::fs::write(folder.path().join("trajectory.summarization-1-summary.json"), summariser).unwrap();
    assert_eq!(lost(&run(metrics, reference, totals)), Vec::<String>::new());
    // A run that goes on from another file may have the sums of both.
    let copied = metrics.replace("}", "},\"is_copied_context\":true");
    assert_eq!(lost(&run(&copied, "", totals)), Vec::<String>::new());
}

/// Devin exports messages of Chat Completions under the format's name.
#[test]
fn messages_in_place_of_steps() {
    let call = json!({"id": "call_1", "name": "write", "arguments": {}});
    let metrics = |prompt: u64| json!({"metrics": {"input_tokens": prompt, "output_tokens": 5, "ttft_ms": 9}});
    let text = json!({"schema_version": "ATIF-v1.7", "session_id": "cobalt", "agent": {"name": "devin", "model_name": "SWE-1.6"}, "messages": [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "So", "tool_calls": [call], "metadata": metrics(120)},
        {"role": "tool", "tool_call_id": "call_1", "content": "written"},
        {"role": "assistant", "content": "Done", "metadata": metrics(140)},
    ]});
    let (sessions, lost) = read_text("export.json", &text.to_string());
    assert_eq!(lost, []);
    assert_eq!(in_short(&sessions[0]), ["u: Go", "a: So | write(call_1)", "t: write(call_1)=", "a: Done"]);
    assert_eq!(prompts(&sessions[0]), [(120, 5), (140, 5)]);
    assert_eq!((sessions[0].id.as_str(), sessions[0].messages[1].call.as_ref().unwrap().model.as_str()), ("cobalt", "SWE-1.6"));
}
