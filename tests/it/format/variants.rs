use crate::sums::compare;
use crate::support::{fixture, in_short, project, prompts, read_source};
use ctxsim::format::{Claim, Source, sniff};
use ctxsim::transcript::Transcript;
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// The sessions of a text under this name, by the reader that must claim it, and the reasons for losses.
fn read(reader: &str, name: &str, text: &str) -> (Vec<Transcript>, Vec<String>) {
    let open = || Source::from_reader(Path::new(name), Box::new(Cursor::new(text.to_owned()))).unwrap();
    assert_eq!(sniff(&open()).map(|(reader, _)| reader.name), Some(reader), "{name}");
    let (transcripts, losses) = read_source(open());
    (transcripts, losses.into_iter().map(|loss| loss.reason).collect())
}

#[test]
fn a_conversation_that_gemini_cli_saved() {
    let text = r#"[{"role":"user","parts":[{"text":"Setting"}]},{"role":"model","parts":[{"text":"Fine"}]},
        {"role":"user","parts":[{"text":"List"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"path":"."}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a b"}}}]}]"#;
    let lines = ["u: Setting", "a: Fine", "u: List", "a: ls()", "t: ls()="];
    let (transcripts, lost) = read("gemini-cli", "checkpoint-x.json", text);
    assert_eq!((in_short(&transcripts[0]), lost), (lines.map(str::to_owned).to_vec(), vec![]));
    let newer = format!(r#"{{"history":{text},"authType":"oauth"}}"#);
    assert_eq!(in_short(&read("gemini-cli", "checkpoint-y.json", &newer).0[0]), lines);
}

#[test]
fn batch_exports_and_older_usage_of_langfuse() {
    let line = |id: &str, details: &str| {
        format!(
            r#"{{"id":"{id}","trace_id":"t","type":"GENERATION","start_time":"2026-01-01T00:00:00.00{id}Z","parent_observation_id":null,"provided_model_name":"m","input":"[{{\"role\":\"user\",\"content\":\"{id}\"}}]","output":"{{\"role\":\"assistant\",\"content\":\"Yes\"}}","usage_details":{details},"total_cost":"0.002"}}"#
        )
    };
    // Without a total, the names tell that the parts lie beside each other; a total knows better.
    let details = [
        r#"{"input":100,"output":7,"input_cache_read":50}"#,
        r#"{"input":100,"output":7,"input_cache_read":50,"total":107}"#,
        r#"{"input":100,"output":7,"cached_tokens":50}"#,
        r#""{\"input\":\"60\",\"output\":2}""#,
    ];
    let lines: Vec<String> = details.iter().zip(["1", "2", "3", "4"]).map(|(details, id)| line(id, details)).collect();
    let (transcripts, lost) = read("langfuse", "observations.jsonl", &lines.join("\n"));
    assert_eq!(transcripts.iter().flat_map(prompts).collect::<Vec<_>>(), [(150, 7), (100, 7), (100, 7), (60, 2)]);
    assert_eq!(lost, Vec::<String>::new());
    let call = transcripts[0].messages.last().unwrap().call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cost_nano_usd), ("m", Some(2_000_000)));
    let older = r#"{"trace":{"id":"t","projectId":"p"},"observations":[{"id":"o","traceId":"t","type":"GENERATION","startTime":"2026-01-01T00:00:00Z",
        "input":"Hi","output":"Ho","usage":{"unit":"TOKENS","input":33,"output":4,"total":37},"calculatedTotalCost":0.002}]}"#;
    assert_eq!(prompts(&read("langfuse", "trace.json", older).0[0]), [(33, 4)]);
}

#[test]
fn spans_of_the_ai_sdk() {
    let text = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[
        {"traceId":"a","spanId":"1","startTimeUnixNano":"1750000000000000000","attributes":[{"key":"ai.usage.promptTokens","value":{"intValue":"40"}}]},
        {"traceId":"a","spanId":"2","parentSpanId":"1","startTimeUnixNano":"1750000000000000001","attributes":[
            {"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"40"}},
            {"key":"gen_ai.usage.output_tokens","value":{"intValue":4}},{"key":"ai.response.text","value":{"stringValue":"Ok"}},
            {"key":"ai.prompt.messages","value":{"stringValue":"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]"}}]}]}]}]}"#;
    let (transcripts, lost) = read("otlp", "spans.json", text);
    assert_eq!(
        (in_short(&transcripts[0]), prompts(&transcripts[0]), lost),
        (vec!["u: Hi".to_owned(), "a: Ok".to_owned()], vec![(40, 4)], vec![])
    );
}

/// Bedrock's Converse, with a body and with a binary stream; the second request goes on with the first.
#[test]
fn bedrock_speaks_in_other_names() {
    let (transcripts, lost) = fixture("vcr/bedrock.yaml");
    let [session] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let lines: Vec<String> = in_short(session).into_iter().map(|line| line.split(" | tools").next().unwrap().to_owned()).collect();
    let expected = ["s: Be brief", "u: Hi", "a: ~4 | Looking | look(c1)", "t: look(c1)!", "a: Done | look(c2)"];
    assert_eq!((lines, lost), (expected.map(str::to_owned).to_vec(), vec![]));
    assert_eq!(prompts(session), [(30, 6), (50, 7)]);
    let call = session.messages.last().unwrap().call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cache_read), ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 20));
    compare("vcr", &[project().join("tests/data/vcr/bedrock.yaml")]);
}

#[test]
fn kimi_sizes_without_a_prompt_are_counted() {
    let text = r#"{"role":"_checkpoint","id":0}
{"role":"user","content":"Hi"}
{"role":"assistant","content":"Ho"}
{"role":"_usage","token_count":530}
"#;
    let (transcripts, lost) = read("kimi-cli", "context.jsonl", text);
    assert_eq!((prompts(&transcripts[0]), lost), (vec![(0, 0)], vec!["size with a reply, but none without it (not used)".to_owned()]));
}

/// Relatives of Cline keep sealed reasoning as an entry before the reply, and sums of what was deleted.
#[test]
fn entries_of_cline_that_are_no_messages() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("task");
    fs::create_dir(&task).unwrap();
    let conversation = r#"[{"role":"user","ts":1,"content":[{"type":"text","text":"Do"}]},
        {"role":"assistant","ts":3,"type":"reasoning","encrypted_content":"abcd"},
        {"role":"assistant","ts":3,"content":[{"type":"text","text":"Done"}]}]"#;
    let screen = r#"[{"ts":2,"type":"say","say":"api_req_started","text":"{\"tokensIn\":40,\"tokensOut\":5,\"cacheReads\":10}"},
        {"ts":4,"type":"say","say":"deleted_api_reqs","text":"{\"tokensIn\":9}"}]"#;
    fs::write(task.join("api_conversation_history.json"), conversation).unwrap();
    fs::write(task.join("ui_messages.json"), screen).unwrap();
    let (transcripts, losses) = read_source(Source::open(&task.join("api_conversation_history.json")).unwrap());
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Do".to_owned(), "a: Done".to_owned()], vec![(50, 5)]));
    assert_eq!(losses.iter().map(|loss| loss.reason.as_str()).collect::<Vec<_>>(), ["usage of requests that were deleted, as a sum alone"]);
}

#[test]
fn a_run_of_tau_bench_whose_other_list_is_null() {
    let text = r#"[{"task_id":1,"reward":1.0,"info":{"task":{}},"trial":0,"traj":null,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}]}]"#;
    assert_eq!(in_short(&read("tau-bench", "runs.json", text).0[0]), ["u: Hi", "a: Ho"]);
}

#[test]
fn a_simulation_beside_its_results_belongs_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let simulations = folder.path().join("simulations");
    fs::create_dir(&simulations).unwrap();
    fs::write(folder.path().join("results.json"), r#"{"info":{"agent_info":{}},"tasks":[],"simulations":[]}"#).unwrap();
    fs::write(simulations.join("a.json"), r#"{"id":"a","task_id":"1","messages":[{"role":"user","content":"Hi"}]}"#).unwrap();
    let source = Source::open(&simulations.join("a.json")).unwrap();
    assert_eq!(sniff(&source).map(|(reader, claim)| (reader.name, claim)), Some(("tau2", Claim::Companion)));
}

#[test]
fn spans_as_libraries_print_them_and_as_phoenix_exports_them() {
    // OpenTelemetry's console exporter: objects one after the other, with plain attributes.
    let printed = r#"{
    "name": "chat m", "context": {"trace_id": "0xa", "span_id": "0x2"}, "parent_id": "0x1", "start_time": "2026-01-01T00:00:01.000Z",
    "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 4,
        "gen_ai.input.messages": "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]",
        "gen_ai.output.messages": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Ho\"}]}]"}
}
{
    "name": "invoke_agent", "context": {"trace_id": "0xa", "span_id": "0x1"}, "parent_id": null, "start_time": "2026-01-01T00:00:00.000Z",
    "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 40}
}"#;
    let (transcripts, lost) = read("otlp", "spans.json", printed);
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0]), lost), (vec!["u: Hi".into(), "a: Ho".into()], vec![(40, 4)], vec![]));
    assert_eq!(transcripts[0].messages[1].time, Some(1_767_225_601_000));

    // Phoenix: numbered messages, the kind beside the attributes; and the same with its names nested.
    let numbered = r#"{"llm.model_name":"m","llm.token_count.prompt":50,"llm.token_count.completion":5,"llm.input_messages.0.message.role":"user",
        "llm.input_messages.0.message.content":"Hi","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"Ho",
        "llm.tools.0.tool.json_schema":"{\"name\":\"look\"}"}"#;
    let nested = r#"{"llm":{"model_name":"m","token_count":{"prompt":50,"completion":5},"input_messages":[{"message":{"role":"user","content":"Hi"}}],
        "output_messages":[{"message":{"role":"assistant","content":"Ho"}}],"tools":[{"tool":{"json_schema":"{\"name\":\"look\"}"}}]}}"#;
    for attributes in [numbered, nested] {
        let text = format!(
            r#"[{{"name":"c","context":{{"trace_id":"a","span_id":"s"}},"span_kind":"LLM","parent_id":null,"start_time":"2026-01-01T00:00:00+00:00","attributes":{attributes},"events":[]}}]"#
        );
        let (transcripts, lost) = read("otlp", "trace.json", &text);
        let [call] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
        assert_eq!((in_short(call).len(), prompts(call), lost), (3, vec![(50, 5)], vec![]));
        assert!(in_short(call)[0].starts_with("s: tools"), "{:?}", in_short(call));
    }

    // any-agent has a word of its own for a call of a model; figures of operations that are none are said to be left out.
    let own = r#"{"spans":[{"name":"call_llm m","parent":null,"start_time":1758026601631711000,"context":{"trace_id":7,"span_id":2},
        "attributes":{"gen_ai.operation.name":"call_llm","gen_ai.request.model":"m","gen_ai.input.messages":"[{\"role\":\"user\",\"content\":\"Hi\"}]",
        "gen_ai.output":"[{\"tool.name\":\"look\",\"tool.args\":\"{}\"}]","gen_ai.usage.input_tokens":30,"gen_ai.usage.output_tokens":3}},
        {"name":"e","parent":null,"context":{"trace_id":7,"span_id":3},"attributes":{"gen_ai.operation.name":"embed","gen_ai.usage.input_tokens":9}}]}"#;
    let (transcripts, lost) = read("otlp", "trace.json", own);
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Hi".into(), "a: look()".into()], vec![(30, 3)]));
    assert_eq!(lost, ["span with usage whose operation is no call of a model"]);

    // The AI SDK: seconds and nanoseconds, and a reply whose parts are kept apart.
    let kept = r#"[{"name":"ai.generateText.doGenerate","spanContext":{"traceId":"a","spanId":"2"},"parentSpanContext":{"traceId":"a","spanId":"1"},
        "startTime":[1770131992,242000000],"attributes":{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":60,"gen_ai.usage.output_tokens":9,
        "ai.usage.cachedInputTokens":20,"ai.prompt.messages":"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]","ai.response.text":"Look",
        "ai.response.toolCalls":"[{\"type\":\"tool-call\",\"toolCallId\":\"c1\",\"toolName\":\"look\",\"input\":{}}]"}}]"#;
    let (transcripts, lost) = read("otlp", "spans.json", kept);
    assert_eq!((in_short(&transcripts[0]), lost), (vec!["u: Hi".into(), "a: Look | look(c1)".into()], vec![]));
    let call = transcripts[0].messages[1].call.as_ref().unwrap();
    assert_eq!((call.usage.unwrap().cache_read, transcripts[0].messages[1].time), (20, Some(1_770_131_992_242)));
}

#[test]
fn parts_of_chat_messages_under_other_names() {
    // LLaMA-Factory keeps a part's words under `value`, and a call as the JSON of its function.
    let text = r#"{"messages":[{"role":"user","content":[{"type":"text","value":"Hi"}]},
        {"role":"assistant","content":[{"type":"reasoning","value":"Hm"},{"type":"tool_call","value":"{\"name\":\"look\",\"arguments\":{\"at\":1}}"}]},
        {"role":"tool","content":[{"type":"text","value":"x"}]},{"role":"assistant","content":[{"type":"text","value":"Ho"}]}]}"#.replace('\n', "");
    let (transcripts, lost) = read("openai-chat", "data.jsonl", &text);
    assert_eq!((in_short(&transcripts[0]), lost), (["u: Hi", "a: ~0 | look()", "t: ()=", "a: Ho"].map(str::to_owned).to_vec(), vec![]));
    // LangChain keeps Anthropic's content beside the calls that it made of it.
    let call = r#"{"type":"tool_use","id":"t1","name":"look","input":{}}"#;
    let message = |calls: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":[{{"type":"text","text":"So"}},{call}]{calls}}}]}}"#
        )
    };
    for calls in ["", r#","tool_calls":[{"id":"t1","name":"look","args":{}}]"#] {
        let (transcripts, lost) = read("openai-chat", "data.jsonl", &message(calls));
        assert_eq!((in_short(&transcripts[0]), lost), (["u: Hi", "a: So | look(t1)"].map(str::to_owned).to_vec(), vec![]));
    }
}
