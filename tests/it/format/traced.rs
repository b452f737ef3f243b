use crate::support::{fixture, in_short, prompts, python, read_source};
use ctxsim::format::{Source, sniff};
use ctxsim::transcript::{Transcript, Trust};
use std::io::Cursor;
use std::path::Path;

/// The sessions of a text, by the reader that must claim it, and the reasons for losses.
fn read(reader: &str, text: &str) -> (Vec<Transcript>, Vec<String>) {
    let open = || Source::from_reader(Path::new("traces.json"), Box::new(Cursor::new(text.to_owned()))).unwrap();
    assert_eq!(sniff(&open()).map(|(reader, _)| reader.name), Some(reader), "{text}");
    let (transcripts, losses) = read_source(open());
    (transcripts, losses.into_iter().map(|loss| loss.reason).collect())
}

fn trusts(transcript: &Transcript) -> Vec<Trust> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    calls.map(|call| call.usage.map(|usage| usage.trust).unwrap_or_default()).collect()
}

#[test]
fn the_innermost_llm_runs_of_langsmith_are_calls() {
    let (transcripts, lost) = fixture("langsmith/runs.json");
    let [session] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let lines = in_short(session);
    assert!(lines[0].starts_with("s: Be brief | tools") || lines[0].starts_with("s: tools"), "{lines:?}");
    // The call that stands in the content and in the list beside it is one.
    assert_eq!(lines[lines.len() - 4..], ["u: Look it up", "a: I look | look(c1)", "t: look(c1)=", "a: Done"]);
    assert_eq!((prompts(session), trusts(session), lost), (vec![(100, 8), (150, 6)], vec![Trust::Provider; 2], vec![]));
    let usage = |index: usize| session.messages[index].call.as_ref().unwrap().usage.unwrap();
    let asked = lines.len() - 3;
    assert_eq!((usage(asked).cache_read, usage(asked).cache_write, usage(asked).cost_nano_usd), (30, 20, Some(2_000_000)));
    assert_eq!(usage(lines.len() - 1).cache_read, 90);
    let file = "tests/data/langsmith/runs.json";
    let Some(counted) = python("langsmith.py", [file]) else { return };
    assert_eq!(counted.trim(), format!("{file}\t2\t250\t14\t150"));
}

#[test]
fn what_langsmith_counts_itself_is_an_estimate() {
    let run = |id: &str, rest: &str| {
        format!(
            r#"{{"id":"{id}","trace_id":"t","parent_run_id":"c","run_type":"llm","start_time":"2026-01-01T00:00:0{id}Z","inputs":{{"messages":[{{"role":"user","content":"{id}"}}]}},{rest}}}"#
        )
    };
    let lines = [
        run(
            "1",
            r#""outputs":{"messages":[{"role":"assistant","content":"A"}]},"prompt_tokens":10,"completion_tokens":2,"total_tokens":12"#,
        ),
        run(
            "2",
            r#""outputs":{"choices":[{"message":{"role":"assistant","content":"B"}}],"usage_metadata":{"input_tokens":20,"output_tokens":3,"total_tokens":23}},"prompt_tokens":20"#,
        ),
        // Nothing was counted, and the third call failed.
        run(
            "3",
            r#""outputs":{"content":[{"type":"text","text":"C"}],"role":"assistant"},"prompt_tokens":0,"completion_tokens":0,"total_tokens":0"#,
        ),
        run("4", r#""outputs":null,"error":"RateLimitError","prompt_tokens":9,"completion_tokens":0,"total_tokens":9"#),
    ];
    let (transcripts, lost) = read("langsmith", &lines.join("\n"));
    let found: Vec<_> = transcripts.iter().map(|session| (in_short(session), prompts(session), trusts(session))).collect();
    let said = |line: &str, reply: &str| vec![format!("u: {line}"), format!("a: {reply}")];
    let expected = [
        (said("1", "A"), vec![(10, 2)], vec![Trust::Estimated]),
        (said("2", "B"), vec![(20, 3)], vec![Trust::Provider]),
        (said("3", "C"), vec![(0, 0)], vec![Trust::Provider]),
    ];
    assert_eq!(found, expected);
    assert_eq!(lost, ["run that failed, without a reply", "span with usage whose operation is no call of a model"]);
}

/// The SDK sends what a run began with, and later what it ended with; others export a run with those within it.
#[test]
fn batches_and_trees_of_langsmith() {
    let batch = r#"{"post":[{"id":"a","run_type":"llm","start_time":1728803138291,"trace_id":"a","dotted_order":"20260101T000000000001Za",
        "inputs":{"model":"m","messages":[{"role":"user","content":"Hi"}]},"extra":{"metadata":{"ls_model_name":"m"}}}],
        "patch":[{"trace_id":"a","dotted_order":"20260101T000000000001Za","end_time":1728803148730,
        "outputs":{"id":"chatcmpl-1","choices":[{"message":{"role":"assistant","content":"Ho"}}],"usage_metadata":{"input_tokens":43,"output_tokens":19,"total_tokens":62}}}]}"#;
    let (transcripts, lost) = read("langsmith", batch);
    let call = transcripts[0].messages[1].call.as_ref().unwrap();
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Hi".into(), "a: Ho".into()], vec![(43, 19)]));
    assert_eq!((call.model.as_str(), transcripts[0].messages[1].time, lost.len()), ("m", Some(1_728_803_138_291), 0));
    let tree = r#"[{"id":"a","trace_id":"a","run_type":"chain","start_time":"2026-01-01 00:00:00","inputs":{},"outputs":{},"total_tokens":7,
        "prompt_tokens":5,"completion_tokens":2,"child_runs":[{"id":"b","trace_id":"a","parent_run_id":null,"parent_run_ids":["a"],"run_type":"llm",
        "start_time":"2026-01-01 00:00:01","inputs":{"prompts":["Ask"]},"outputs":{"generations":[[{"text":"Say","type":"Generation"}]],
        "llm_output":{"token_usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}}}]}]"#;
    let (transcripts, lost) = read("langsmith", tree);
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Ask".into(), "a: Say".into()], vec![(5, 2)]));
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn a_list_of_observations_from_langfuse() {
    let list = r#"{"data":[{"id":"o2","traceId":"t","type":"GENERATION","parentObservationId":"o1","startTime":"2026-01-01T00:00:01Z","model":"m",
        "input":"[{\"role\":\"user\",\"content\":\"Hi\"}]","output":"Ho","usageDetails":{"input":33,"output":4,"total":37}},
        {"id":"o1","traceId":"t","type":"AGENT","parentObservationId":null,"startTime":"2026-01-01T00:00:00Z","usageDetails":{}}],
        "meta":{"page":1,"limit":50,"totalItems":2,"totalPages":1}}"#;
    let (transcripts, lost) = read("langfuse", list);
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0]), lost), (vec!["u: Hi".into(), "a: Ho".into()], vec![(33, 4)], vec![]));
}

#[test]
fn traces_of_jaeger() {
    let trace = r#"{"traceID":"a","spans":[{"traceID":"a","spanID":"2","operationName":"chat m","references":[{"refType":"FOLLOWS_FROM","traceID":"b","spanID":"9"},
        {"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"startTime":1782229343903164,"duration":72,"tags":[
        {"key":"gen_ai.operation.name","type":"string","value":"chat"},{"key":"gen_ai.request.model","type":"string","value":"m"},
        {"key":"gen_ai.usage.input_tokens","type":"int64","value":40},{"key":"gen_ai.usage.output_tokens","type":"int64","value":4}],
        "logs":[{"timestamp":1782229343903165,"fields":[{"key":"event","type":"string","value":"gen_ai.user.message"},{"key":"content","type":"string","value":"Hi"}]},
        {"timestamp":1782229343903166,"fields":[{"key":"event","type":"string","value":"gen_ai.choice"},{"key":"message","type":"string","value":"Ho"}]}],"processID":"p1"},
        {"traceID":"a","spanID":"1","operationName":"invoke_agent","references":[],"startTime":1782229343903100,"duration":90,"tags":[
        {"key":"gen_ai.operation.name","type":"string","value":"invoke_agent"},{"key":"gen_ai.usage.input_tokens","type":"int64","value":40}],"logs":[],"processID":"p1"}],
        "processes":{"p1":{"serviceName":"agent","tags":[]}}}"#;
    for text in [trace.to_owned(), format!("[{trace}]"), format!(r#"{{"data":[{trace}],"total":0,"errors":null}}"#)] {
        let (transcripts, lost) = read("otlp", &text);
        assert_eq!(
            (in_short(&transcripts[0]), prompts(&transcripts[0]), lost),
            (vec!["u: Hi".into(), "a: Ho".into()], vec![(40, 4)], vec![])
        );
        assert_eq!(transcripts[0].messages[1].time, Some(1_782_229_343_903));
    }
}

#[test]
fn answers_of_tempo_and_values_with_underscores() {
    let camel = r#"{"scopeSpans":[{"spans":[{"traceId":"AAECAwQFBgcICQoLDA0ODw==","spanId":"AQIDBAUGBwg=","name":"chat","startTimeUnixNano":"1750000000000000000","attributes":[
        {"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.prompt","value":{"stringValue":"Hi"}},{"key":"gen_ai.completion","value":{"stringValue":"Ho"}},
        {"key":"gen_ai.usage.input_tokens","value":{"intValue":"40"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"4"}}]}]}]}"#;
    let snake = camel.replace("scopeSpans", "scope_spans").replace("stringValue", "string_value").replace("intValue", "int_value");
    let snake = snake.replace("traceId", "trace_id").replace("spanId", "span_id").replace("startTimeUnixNano", "start_time_unix_nano");
    let wholes = [
        format!(r#"{{"batches":[{camel}]}}"#),
        format!(r#"{{"trace":{{"resourceSpans":[{camel}]}},"metrics":{{}}}}"#),
        format!(r#"{{"resource_spans":[{snake}]}}"#),
    ];
    for text in wholes {
        let (transcripts, lost) = read("otlp", &text);
        assert_eq!(
            (in_short(&transcripts[0]), prompts(&transcripts[0]), lost),
            (vec!["u: Hi".into(), "a: Ho".into()], vec![(40, 4)], vec![])
        );
    }
}
