use crate::support::{ctxsim, files, fixture, in_short, project, prompts, read_source, read_text, shared};
use ctxsim::format::Source;
use ctxsim::transcript::{Loss, Part, Transcript, Trust};
use serde_json::json;
use std::fs;
use std::io::Cursor;
use std::path::Path;

fn marks(transcript: &Transcript) -> Vec<(Trust, bool)> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    calls.map(|call| (call.usage.map(|usage| usage.trust).unwrap_or_default(), call.unchained)).collect()
}

fn by_start<'t>(transcripts: &'t [Transcript], start: &str) -> &'t Transcript {
    let begins = |transcript: &&Transcript| in_short(transcript).iter().any(|line| line == start);
    transcripts.iter().find(begins).unwrap_or_else(|| panic!("no session with {start}"))
}

#[test]
fn exchanges_of_several_interfaces_in_one_log() {
    let (transcripts, lost) = fixture("api-exchange/exchanges.jsonl");
    let expected = [
        ("exchange with an unknown interface", 1),
        ("absurd usage numbers", 1),
        ("request without a reply", 1),
        ("not JSON", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));

    let talk = by_start(&transcripts, "u: hello");
    let expected = ["s: Be good | tools 66", "u: hello", "a: ~4 | look(call_1)", "t: look(call_1)=", "a: done", "u: and?", "a: more"];
    assert_eq!(in_short(talk), expected);
    assert_eq!(prompts(talk), [(60, 20), (90, 5), (110, 6)]);
    // What the provider keeps is known from the log, and yet the prompt is not in the request.
    assert_eq!(marks(talk), [(Trust::Provider, false), (Trust::Provider, false), (Trust::Beyond, true)]);
    let usage = talk.messages[2].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.reasoning, usage.cache_read), (Some(12), 0));
    let [compaction] = talk.compactions.as_slice() else { panic!("{:?}", talk.compactions) };
    assert_eq!((compaction.before, compaction.automatic, compaction.tokens_before), (7, Some(false), Some(130)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().output, 30);

    let searched = by_start(&transcripts, "u: search");
    assert_eq!((prompts(searched), marks(searched)), (vec![(9000, 7)], vec![(Trust::Beyond, true)]));
    assert_eq!(prompts(by_start(&transcripts, "u: later")), [(0, 0)]);

    let google = by_start(&transcripts, "u: weather?");
    let expected = ["s: Be brief | tools 44", "u: weather?", "a: ~3 | look()", "t: look()=", "a: Sunny."];
    assert_eq!(in_short(google), expected);
    assert_eq!(prompts(google), [(40, 14), (260, 3)]);
    assert_eq!(marks(google), [(Trust::Provider, false), (Trust::Beyond, true)]);

    // The events of a stream are put together.
    let streamed = by_start(&transcripts, "a: Hello");
    assert_eq!((in_short(streamed), prompts(streamed)), (vec!["u: hi".to_owned(), "a: Hello".to_owned()], vec![(12, 2)]));
}

#[test]
fn a_cassette_with_every_kind_of_body() {
    let (transcripts, lost) = fixture("vcr/talk.yaml");
    let expected = [("request to no model", 1), ("request without a message in response (failed call)", 1)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    let [talk] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let expected = ["u: Hi", "a: Hello: you", "u: Bye", "a: Bye | look(t1)", "t: look(t1)=", "a: Done"];
    assert_eq!(in_short(talk), expected);
    assert_eq!(prompts(talk), [(20, 5), (40, 17), (70, 4)]);
}

#[test]
fn a_cassette_that_breaks_off_or_swells() {
    let (transcripts, lost) = fixture("vcr/cut.yaml");
    assert_eq!(transcripts.iter().flat_map(prompts).collect::<Vec<_>>(), [(20, 5)]);
    assert_eq!(lost.first().map(|(reason, _)| reason.as_str()), Some("cut off at the end of the file"));
    let (transcripts, lost) = fixture("vcr/bomb.yaml");
    assert!(transcripts.is_empty());
    assert_eq!(lost.first().map(|(reason, _)| reason.as_str()), Some("YAML that names make far larger than it is"));
}

#[test]
fn a_quotation_may_stand_further_to_the_left_than_its_key() {
    let body = |mark: char, text: &str| {
        let response = format!("  response:\n    body:\n      string: {mark}{text}{mark}\n    status: {{code: 200}}\n");
        let request = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
        format!("- request:\n    uri: https://api.openai.com/v1/chat/completions\n    body: '{request}'\n{response}")
    };
    let reply = |say: &str, prompt: u64| {
        let message = format!(r#"{{"role":"assistant","content":"{say}"}}"#);
        format!(
            "{{\n  \"choices\":\n    [{{\"message\": {message}}}],\n  \"usage\": {{\"prompt_tokens\": {prompt}, \"completion_tokens\": 2}}\n}}"
        )
    };
    let single = body('\'', &reply("It''s", 20));
    let double = body('"', &reply("Yes", 30).replace('"', "\\\""));
    let yaml = format!("interactions:\n{single}{double}version: 1\n");
    assert_eq!(cassette(yaml.as_bytes()), (Vec::new(), vec![(20, 2), (30, 2)]));
    // A line break of another kind is no line to move.
    let losses = cassette(yaml.replace("{\n", "{\r").as_bytes()).0;
    assert_eq!(losses.first().map(|loss| loss.reason.as_str()), Some("quotation further to the left than its key"));
}

/// What is said of a cassette, and the prompts of all its sessions, the smallest first.
fn cassette(yaml: &[u8]) -> (Vec<Loss>, Vec<(u64, u64)>) {
    let source = Source::from_reader(Path::new("talk.yaml"), Box::new(Cursor::new(yaml.to_vec()))).unwrap();
    let (transcripts, losses) = read_source(source);
    let mut all: Vec<(u64, u64)> = transcripts.iter().flat_map(prompts).collect();
    all.sort_unstable();
    (losses, all)
}

/// YAML closes no brackets, so most cuts leave YAML that is sound. Wherever a cassette is cut, it says so, or holds all that it held.
fn every_cut_is_told(yaml: &str, places: impl Iterator<Item = usize>) {
    let (all_losses, all) = cassette(yaml.as_bytes());
    for place in places {
        let (losses, kept) = cassette(&yaml.as_bytes()[..place]);
        let reasons = ["cut off at the end of the file", "cassette without its last line (may be cut off)"];
        let cut: Vec<&Loss> = losses.iter().filter(|loss| reasons.contains(&loss.reason.as_str())).collect();
        let last_line = yaml.as_bytes()[..place].split_inclusive(|byte| *byte == b'\n').count() as u64;
        let told: Vec<(u64, u64)> = cut.iter().map(|loss| (loss.count, loss.first_line)).collect();
        let whole = cut.is_empty() && kept == all && losses == all_losses;
        assert!(whole || told == [(1, last_line)], "cut at {place}: {losses:?} {kept:?}");
        assert!(kept.iter().all(|prompt| all.contains(prompt)), "cut at {place}: {kept:?} of {all:?}");
    }
}

#[test]
fn a_cassette_that_was_cut_off_says_so_wherever_it_was_cut() {
    let data = project().join("tests/data/vcr");
    let python = fs::read_to_string(data.join("talk.yaml")).unwrap();
    let first = python.find("uri:").unwrap();
    every_cut_is_told(&python, first..python.len());
    // Where all interactions are whole, nothing says that there were more.
    let without_version = &python[..python.rfind("version:").unwrap()];
    let (losses, kept) = cassette(without_version.as_bytes());
    assert!(losses.iter().any(|loss| loss.reason == "cassette without its last line (may be cut off)"), "{losses:?}");
    assert_eq!(kept, cassette(python.as_bytes()).1);
    // The last key may stand there in part, and its line need not end.
    assert_eq!(cassette(python.trim_end().as_bytes()), cassette(python.as_bytes()));

    // Recorders in Go write the version first, so that the list closes the file: an interaction that ends before its time shows the cut.
    let go = "---\nversion: 1\ninteractions:\n".to_owned()
        + &[("Hi", 20), ("Ho", 30)].map(|(said, prompt)| go_interaction(said, prompt)).concat();
    let second = go.rfind("- request:").unwrap();
    assert_eq!(cassette(go.as_bytes()), (vec![], vec![(20, 5), (30, 5)]));
    every_cut_is_told(&go, second + 15..go.len() - "    duration: 1s".len());
    every_cut_is_told(&go, go.find("url:").unwrap()..go.find("\n    headers: {}").unwrap());
}

fn go_interaction(said: &str, prompt: u64) -> String {
    let request = format!(r#"{{"model":"claude-x","messages":[{{"role":"user","content":"{said}"}}]}}"#);
    let reply = format!(
        r#"{{"id":"{said}","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{{"input_tokens":{prompt},"output_tokens":5}}}}"#
    );
    format!(
        "- request:\n    body: '{request}'\n    headers:\n      Accept:\n      - '*/*'\n    url: https://api.example.com/v1/messages\n    method: POST\n  \
         response:\n    body: '{reply}'\n    headers: {{}}\n    status: 200 OK\n    code: 200\n    duration: 1s\n"
    )
}

#[test]
fn real_cassettes_that_were_cut_off_say_so() {
    let Some(shared) = shared() else { return };
    for path in files(&shared.join("transcripts/vcr_yaml")) {
        let yaml = fs::read_to_string(&path).unwrap();
        let lines: Vec<usize> = yaml.match_indices('\n').map(|(at, _)| at + 1).collect();
        let step = 1 + lines.len() / 12;
        let after_the_head = lines.iter().copied().filter(|at| *at > 400 && yaml.len() < 100_000);
        every_cut_is_told(&yaml, after_the_head.step_by(step).filter(|at| *at < yaml.len()));
    }
}

#[test]
fn a_prompt_with_an_attached_file_is_partial() {
    let reply = r#""role":"assistant","content":"b","stop_reason":"end_turn""#;
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":9}}"#;
    let (chat, anthropic) = (
        format!(r#"{{"choices":[{{"message":{{{reply}}}}}],"usage":{{"prompt_tokens":9,"completion_tokens":1}}}}"#),
        format!(r#"{{{reply},"usage":{{"input_tokens":9,"output_tokens":1}}}}"#),
    );
    let answered = |part: &str| format!(r#""parts":[{{"functionResponse":{{"name":"look","response":{{}},"parts":[{part}]}}}}]"#);
    let (pdf, film) = (
        answered(r#"{"inline_data":{"mime_type":"application/pdf","data":"QQ=="}}"#),
        answered(r#"{"fileData":{"mimeType":"video/mp4","fileUri":"files/f"}}"#),
    );
    let within = r#""content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"document","source":{"type":"url","url":"https://a/b.pdf"}}]}]"#;
    let rows = [
        ("openai_chat", "messages", r#""content":[{"type":"input_audio","input_audio":{"data":"QQ=="}}]"#, chat.as_str()),
        ("openai_chat", "messages", r#""content":[{"type":"file","file":{"filename":"a.pdf"}}]"#, &chat),
        ("anthropic_messages", "messages", r#""content":[{"type":"document","source":{"type":"file","file_id":"f"}}]"#, &anthropic),
        ("anthropic_messages", "messages", r#""content":[{"type":"document","source":{"type":"base64","data":"QQ=="}}]"#, &anthropic),
        ("anthropic_messages", "messages", within, &anthropic),
        ("gemini_generate", "contents", &pdf, gemini),
        ("gemini_generate", "contents", &film, gemini),
        ("gemini_generate", "contents", r#""parts":[{"file_data":{"mime_type":"video/mp4","file_uri":"files/f"}}]"#, gemini),
        ("gemini_generate", "contents", r#""parts":[{"inlineData":{"mimeType":"video/mp4","data":"QQ=="}}]"#, gemini),
        ("gemini_generate", "contents", r#""parts":[{"inlineData":{"mimeType":"application/pdf","data":"QQ=="}}]"#, gemini),
    ];
    for (api, list, said, response) in rows {
        let log = format!(r#"{{"api":"{api}","request":{{"{list}":[{{"role":"user",{said}}}]}},"response":{response}}}"#);
        let (sessions, lost) = read_text("log.jsonl", &log);
        assert_eq!(sessions.iter().flat_map(marks).collect::<Vec<_>>(), [(Trust::Beyond, true)], "{api} {said}");
        assert_eq!(lost, [(ATTACHED.to_owned(), 1)], "{api} {said}");
        let parts = sessions.iter().flat_map(|session| session.messages.iter()).flat_map(|message| &message.parts);
        assert!(parts.into_iter().all(|part| !matches!(part, Part::Image(_))), "{api} {said}");
    }
}

const ATTACHED: &str = "attached file whose size in tokens is unknown";

#[test]
fn a_document_of_words_is_text_and_one_of_bytes_is_a_file() {
    let reply = r#"{"role":"assistant","content":"b","stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}"#;
    let converse = r#"{"output":{"message":{"role":"assistant","content":[{"text":"b"}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":1}}"#;
    let read = |address: &str, said: &str, response: &str| {
        let request = format!(r#"{{"messages":[{{"role":"user","content":[{said}]}}]}}"#);
        let exchange =
            json!({ "request": { "method": "POST", "uri": address, "body": request }, "response": { "body": { "string": response } } });
        let (sessions, lost) = read_text("talk.json", &json!({ "interactions": [exchange] }).to_string());
        (in_short(&sessions[0]), marks(&sessions[0]), lost)
    };
    let anthropic =
        |source: &str| read("https://api.anthropic.com/v1/messages", &format!(r#"{{"type":"document","source":{source}}}"#), reply);
    let bedrock = |source: &str| {
        read("https://a.com/model/m/converse", &format!(r#"{{"document":{{"format":"xlsx","name":"n","source":{source}}}}}"#), converse)
    };
    let words = (vec!["u: other Words".to_owned(), "a: b".to_owned()], vec![(Trust::Provider, false)], vec![]);
    assert_eq!(anthropic(r#"{"type":"text","media_type":"text/plain","data":"Words"}"#), words);
    assert_eq!(anthropic(r#"{"type":"content","content":[{"type":"text","text":"Words"}]}"#), words);
    assert_eq!(bedrock(r#"{"text":"Words"}"#), words);
    assert_eq!(bedrock(r#"{"content":[{"text":"Words"}]}"#), words);
    let (_, file, lost) = bedrock(r#"{"bytes":"UEsDBA=="}"#);
    assert_eq!((file, lost), (vec![(Trust::Beyond, true)], vec![(ATTACHED.to_owned(), 1)]));
}

#[test]
fn a_picture_that_a_tool_gave_to_gemini_stands_behind_its_answer() {
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAC0lEQVR4nGNgwAIAABUAAapll8QAAAAASUVORK5CYII=";
    for (data, kind) in [("inlineData", "mimeType"), ("inline_data", "mime_type")] {
        let answer = format!(
            r#"{{"functionResponse":{{"name":"look","response":{{"result":"r"}},"parts":[{{"{data}":{{"{kind}":"image/png","data":"{image}"}}}},{{"odd":1}}]}}}}"#
        );
        let asked = r#"{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]}"#;
        let request = format!(r#"{{"contents":[{asked},{{"role":"user","parts":[{answer}]}}]}}"#);
        let response = r#"{"candidates":[{"content":{"parts":[{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":9}}"#;
        let (sessions, lost) = read_text("log.jsonl", &format!(r#"{{"api":"gemini_generate","request":{request},"response":{response}}}"#));
        assert_eq!(in_short(&sessions[0])[2], "t: look()= | 2x3");
        assert_eq!(lost, [("unknown content part".to_owned(), 1)]);
    }
}

#[test]
fn a_prompt_that_gemini_does_not_count_follows_from_the_total() {
    let read = |usage: &str| {
        let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#;
        let response = format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"b"}}]}}}}],"usageMetadata":{usage}}}"#);
        prompts(&read_text("log.jsonl", &format!(r#"{{"api":"gemini_generate","request":{request},"response":{response}}}"#)).0[0])
    };
    assert_eq!(read(r#"{"candidatesTokenCount":1,"thoughtsTokenCount":125,"totalTokenCount":701}"#), [(575, 126)]);
    // What its own tools gave the model is in the total.
    assert_eq!(read(r#"{"candidatesTokenCount":1,"toolUsePromptTokenCount":80,"totalTokenCount":101}"#), [(100, 1)]);
    assert_eq!(read(r#"{"totalTokenCount":701}"#), [(0, 0)]);
}

#[test]
fn sounds_that_mistral_counts_beside_the_prompt_are_a_part_of_it() {
    let read = |usage: &str| {
        let request = r#"{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":"QQ=="}]}]}"#;
        let response = format!(r#"{{"choices":[{{"message":{{"role":"assistant","content":"b"}}}}],"usage":{usage}}}"#);
        prompts(&read_text("log.jsonl", &format!(r#"{{"api":"openai_chat","request":{request},"response":{response}}}"#)).0[0])
    };
    let sounds = |counts: &str| read(&format!(r#"{{{counts},"prompt_tokens_details":{{"audio_tokens":375,"cached_tokens":9}}}}"#));
    assert_eq!(sounds(r#""prompt_tokens":16,"completion_tokens":2,"total_tokens":393"#), [(391, 2)]);
    // Its older responses do not list them.
    assert_eq!(read(r#"{"prompt_audio_seconds":0,"prompt_tokens":16,"total_tokens":393,"completion_tokens":2}"#), [(391, 2)]);
    assert_eq!(read(r#"{"prompt_audio_seconds":null,"prompt_tokens":16,"total_tokens":393,"completion_tokens":2}"#), [(16, 2)]);
    // Others count them in, or give no total.
    assert_eq!(sounds(r#""prompt_tokens":391,"completion_tokens":2,"total_tokens":393"#), [(391, 2)]);
    assert_eq!(sounds(r#""prompt_tokens":391,"completion_tokens":2"#), [(391, 2)]);
    // Something else is in the total, too: nothing is sure of it.
    assert_eq!(sounds(r#""prompt_tokens":16,"completion_tokens":2,"total_tokens":394"#), [(16, 2)]);
}

#[test]
fn instructions_to_gemini_are_one_part_or_a_list() {
    for parts in [r#"{"parts":{"text":"S"}}"#, r#"{"parts":[{"text":"S"}]}"#, r#""S""#] {
        let request = format!(r#"{{"systemInstruction":{parts},"contents":[{{"role":"user","parts":{{"text":"a"}}}}]}}"#);
        let response = r#"{"candidates":[{"content":{"parts":[{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":9}}"#;
        let (sessions, _) = read_text("log.jsonl", &format!(r#"{{"api":"gemini_generate","request":{request},"response":{response}}}"#));
        assert_eq!(in_short(&sessions[0]), ["s: S", "u: a", "a: b"]);
    }
}

/// Each request begins with other words than the one before, so that few go on with it, and repeats the replies of all.
#[test]
fn a_reply_that_a_request_repeats_is_no_second_call() {
    let log = |api: &str| -> Vec<String> {
        let gemini = api == "gemini_generate";
        // Google's interface gives no ids to calls of tools.
        let call = |number: u64| match gemini {
            true => format!(r#"{{"role":"model","parts":[{{"functionCall":{{"name":"look","args":{{"at":{number}}}}}}}]}}"#),
            false => format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{number}","type":"function","function":{{"name":"look","arguments":"{{\"at\":{number}}}"}}}}]}}"#
            ),
        };
        let said = |role: &str, words: &str| match gemini {
            true => format!(r#"{{"role":"{role}","parts":[{{"text":"{words}"}}]}}"#),
            false => format!(r#"{{"role":"{role}","content":"{words}"}}"#),
        };
        let exchange = |number: u64| {
            // Reply 0 is that of no call of the log.
            let replies = (0..number).flat_map(|earlier| [call(earlier), said("user", "On")]);
            let list: Vec<String> = [said("user", &format!("State {number}"))].into_iter().chain(replies).collect();
            let (list, reply) = (list.join(","), call(number));
            match gemini {
                true => format!(
                    r#"{{"api":"{api}","request":{{"contents":[{list}]}},"response":{{"candidates":[{{"content":{reply}}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":1}}}}}}"#
                ),
                false => format!(
                    r#"{{"api":"{api}","request":{{"messages":[{list}]}},"response":{{"choices":[{{"message":{reply}}}],"usage":{{"prompt_tokens":9,"completion_tokens":1}}}}}}"#
                ),
            }
        };
        (1..=70).map(exchange).collect()
    };
    for api in ["openai_chat", "gemini_generate"] {
        let oldest_first = log(api);
        let newest_first: Vec<String> = oldest_first.iter().rev().cloned().collect();
        for lines in [oldest_first, newest_first] {
            let (sessions, lost) = read_text("log.jsonl", &lines.join("\n"));
            assert_eq!(lost, [], "{api}");
            let calls: Vec<(u64, u64)> = sessions.iter().flat_map(prompts).collect();
            let unseen = calls.iter().filter(|call| **call == (0, 0)).count();
            assert_eq!((calls.len() - unseen, unseen), (70, 1), "{api}");
        }
    }
}

/// How many calls of a log of chats have usage, and how many have none. A line is an exchange: the messages of its request and then the reply, with `u`ser, `a`ssistant, `c`all
/// (its id, and what it looks at) or `t`ool in front.
fn counted(exchanges: impl IntoIterator<Item = String>) -> (usize, usize) {
    counted_at("openai_chat", exchanges)
}

/// The interfaces at which replies of no call of the log are counted, and those at which logged calls alone are.
const APIS: [&str; 2] = ["openai_chat", "gemini_generate"];
const LOGGED_ALONE: [&str; 3] = ["anthropic_messages", "openai_responses", "bedrock"];

/// The same of a log of one of these. At Gemini, calls of tools have no ids.
fn counted_at(api: &str, exchanges: impl IntoIterator<Item = String>) -> (usize, usize) {
    let message = |told: &str| {
        let (who, words) = told.split_at(1);
        let (id, at) = words.trim().split_once(' ').unwrap_or_default();
        let role = match who {
            "u" => "user",
            "s" => "system",
            _ if api == "gemini_generate" => "model",
            _ => "assistant",
        };
        let words = words.trim();
        match (api, who) {
            ("gemini_generate", "c") => {
                format!(r#"{{"role":"model","parts":[{{"functionCall":{{"name":"look","args":{{"at":{at}}}}}}}]}}"#)
            }
            ("gemini_generate", "t") => {
                format!(r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"look","response":{{"result":"{at}"}}}}}}]}}"#)
            }
            ("gemini_generate", _) => format!(r#"{{"role":"{role}","parts":[{{"text":"{words}"}}]}}"#),
            ("openai_responses", "c") => {
                format!(r#"{{"type":"function_call","call_id":"{id}","name":"look","arguments":"{{\"at\":{at}}}"}}"#)
            }
            ("openai_responses", "t") => format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{at}"}}"#),
            ("anthropic_messages", "c") => {
                format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"look","input":{{"at":{at}}}}}]}}"#)
            }
            ("anthropic_messages", "t") => {
                format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{at}"}}]}}"#)
            }
            ("bedrock", "c") => {
                format!(r#"{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"{id}","name":"look","input":{{"at":{at}}}}}}}]}}"#)
            }
            ("bedrock", "t") => {
                format!(r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"{at}"}}]}}}}]}}"#)
            }
            ("bedrock", _) => format!(r#"{{"role":"{role}","content":[{{"text":"{words}"}}]}}"#),
            (_, "c") => format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"look","arguments":"{{\"at\":{at}}}"}}}}]}}"#
            ),
            (_, "t") => format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{at}"}}"#),
            _ => format!(r#"{{"role":"{role}","content":"{words}"}}"#),
        }
    };
    let line = |exchange: String| {
        let mut messages: Vec<String> = exchange.split('|').map(message).collect();
        let reply = messages.pop().unwrap();
        let list = messages.join(",");
        let (key, response) = match api {
            "gemini_generate" => (
                "contents",
                format!(r#"{{"candidates":[{{"content":{reply}}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":1}}}}"#),
            ),
            "openai_responses" => ("input", format!(r#"{{"output":[{reply}],"usage":{{"input_tokens":9,"output_tokens":1}}}}"#)),
            "anthropic_messages" => {
                ("messages", format!(r#"{},"usage":{{"input_tokens":9,"output_tokens":1}}}}"#, reply.strip_suffix('}').unwrap()))
            }
            "bedrock" => ("messages", format!(r#"{{"output":{{"message":{reply}}},"usage":{{"inputTokens":9,"outputTokens":1}}}}"#)),
            _ => ("messages", format!(r#"{{"choices":[{{"message":{reply}}}],"usage":{{"prompt_tokens":9,"completion_tokens":1}}}}"#)),
        };
        let request = format!(r#"{{"{key}":[{list}]}}"#);
        if api == "bedrock" {
            let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku/converse";
            let [request, response] = [request, response].map(serde_json::Value::from);
            return format!(
                r#"{{"request":{{"method":"POST","url":"{url}","body":{request}}},"response":{{"statusCode":200,"body":{response}}}}}"#
            );
        }
        format!(r#"{{"api":"{api}","request":{request},"response":{response}}}"#)
    };
    let log: Vec<String> = exchanges.into_iter().map(line).collect();
    let (sessions, lost) = read_text("log.jsonl", &log.join("\n"));
    assert_eq!(lost, []);
    let calls: Vec<(u64, u64)> = sessions.iter().flat_map(prompts).collect();
    let unseen = calls.iter().filter(|call| **call == (0, 0)).count();
    (calls.len() - unseen, unseen)
}

/// Many logs hold one exchange a file, and each file repeats the replies of those before: a call counts once in a folder, too.
#[test]
fn a_reply_counts_once_in_a_folder_of_one_exchange_a_file() {
    let reply = |turn: usize| {
        let words =
            format!("Turn {turn} goes on and on, so that no other reply says the same by chance, however many there are in the log");
        let call =
            format!(r#"{{"id":"call_gKnoVx3jEQlwl5zC2TbCd{turn:03}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}"#);
        let result = format!(r#"{{"role":"tool","tool_call_id":"call_gKnoVx3jEQlwl5zC2TbCd{turn:03}","content":"{turn}"}}"#);
        match turn % 2 {
            0 => (format!(r#"{{"role":"assistant","content":"{words}"}}"#), r#"{"role":"user","content":"Go on"}"#.to_owned()),
            _ => (format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#), result),
        }
    };
    let exchange = |turn: usize| {
        let before: String = (0..turn).map(reply).map(|(reply, next)| format!(",{reply},{next}")).collect();
        let usage = format!(r#"{{"prompt_tokens":{},"completion_tokens":30}}"#, 100 + 50 * turn);
        format!(
            r#"{{"api":"openai_chat","request":{{"messages":[{{"role":"user","content":"Begin"}}{before}]}},"response":{{"id":"chatcmpl-{turn:012}","choices":[{{"message":{}}}],"usage":{usage}}}}}"#,
            reply(turn).0
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let calls = |turns: std::ops::Range<usize>| {
        for turn in turns.clone() {
            std::fs::write(folder.path().join(format!("{turn}.json")), exchange(turn)).unwrap();
        }
        let inspected = ctxsim(&["inspect", "-q", "--json", folder.path().to_str().unwrap()]).stdout();
        let inspected: serde_json::Value = serde_json::from_str(&inspected).unwrap();
        [&inspected["corpus"]["calls"], &inspected["corpus"]["calls_with_usage"]].map(|count| count.as_u64().unwrap())
    };
    // What no file logs is a call all the same, and counts once.
    assert_eq!(calls(6..9), [9, 3]);
    assert_eq!(calls(0..9), [9, 9]);
    // Clients leave out what a model says before a call.
    let said = exchange(1).replace(r#""content":null,"tool_calls""#, r#""content":"Now I look at what there is, and I say so at such a length that no other reply says the same by chance","tool_calls""#);
    std::fs::write(folder.path().join("1.json"), said).unwrap();
    assert_eq!(calls(0..0), [9, 9]);
    // A model may say the same again, to other questions or to the same one: each logged call counts, with an id and without.
    let again = |id: &str| {
        let reply = reply(0).0;
        format!(
            r#"{{"api":"openai_chat","request":{{"model":"m","messages":[{{"role":"user","content":"Begin"}}]}},"response":{{{id}"choices":[{{"message":{reply}}}],"usage":{{"prompt_tokens":9,"completion_tokens":30}}}}}}"#
        )
    };
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir(folder.path()).unwrap();
    for file in 20..23 {
        std::fs::write(folder.path().join(format!("{file}.json")), again(&format!(r#""id":"chatcmpl-{file:012}","#))).unwrap();
        std::fs::write(folder.path().join(format!("{}.json", file + 10)), again("").replace("Begin", &format!("Begin {file}"))).unwrap();
    }
    assert_eq!(calls(0..0), [6, 6]);
}

/// Requests that repeat a reply as it was, behind the same question, cannot be told from those of another conversation: such a reply counts once.
#[test]
fn replies_of_other_calls_count_as_far_as_they_can_be_told() {
    let greeted = |first: &str, number: u64| format!("u{first} {number}|uHi|aHello!|uQuestion {number}|aAnswer {number}");
    let talks = |first: &'static str| (0..50).map(move |number| greeted(first, number));
    assert_eq!(counted(talks("Chat")), (50, 1));
    assert_eq!(counted(talks("Chat").chain(["uChat 50|uHi|aHello!".to_owned()])), (51, 0));
    // Some models count their calls behind the name of the tool, and some tools write one mark over all ids.
    for id in ["functions.look:0", "call_ID_REDACTED_FOR_SHARING"] {
        let called = |number: u64| format!("uTask {number}|c{id} {number}|t{id} x|aDone {number}");
        assert_eq!(counted(["uTask 9|c{id} 9".replace("{id}", id)].into_iter().chain((0..9).map(called))), (10, 9), "{id}");
    }
}

/// A greeting stands first, and later conversations begin so: whichever goes on with it, each call counts.
#[test]
fn no_call_is_lost_where_conversations_begin_alike() {
    let of = |exchanges: &[&str]| counted(exchanges.iter().map(|exchange| (*exchange).to_owned()));
    assert_eq!(of(&["uHi|aHello!", "uHi|aHello!|uQuestion|aAnswer"]), (2, 0));
    assert_eq!(of(&["uHi|aHello!", "uHi|aHello!", "uHi|aHello!|uQuestion|aAnswer", "uHi|aHello!|uOther|aElse"]), (4, 0));
    assert_eq!(of(&["uHi|aHello!", "uHi|aHello!|uQuestion|aAnswer", "uHi|aHello!|uOther|aElse"]).0, 3);
    assert_eq!(of(&["uHi|aHello!", "uHi|aWelcome.|uQuestion|aAnswer"]).0, 2);
    // Agents begin with equal calls, each with an id of its own.
    let (one, other) = ("call_aAbBcCdDeEfFgG1234567890", "call_zZyYxXwWvVuUtT0987654321");
    let began = |task: &str, id: &str| format!("u{task}|c{id} 1|t{id} x|aDone with {task}");
    assert_eq!(counted([began("One", one), began("Two", other)]), (2, 2));
}

/// Windows keep the task and the newest calls, which say nothing, and have no ids at Google's interface.
#[test]
fn calls_in_a_window_that_keeps_the_first_message_are_known() {
    let window = |keeps: usize, first: &dyn Fn(usize) -> String, turn: usize| {
        let kept: String = (turn.saturating_sub(keeps)..turn).map(|at| format!("|cc{at} {at}|tc{at} found{at}")).collect();
        format!("{}{kept}|cc{turn} {turn}", first(turn))
    };
    let (task, day) = (|_: usize| "uGo".to_owned(), |turn: usize| format!("uDay {turn}"));
    for api in APIS {
        for keeps in 1..4 {
            let log = || (0..12).map(|turn| window(keeps, &task, turn));
            assert_eq!(counted_at(api, log()), (12, 0), "{api} {keeps}");
            assert_eq!(counted_at(api, log().rev()), (12, 0), "{api} {keeps}");
            // What the first window of the log holds is all that shows of the calls before.
            assert_eq!(counted_at(api, log().skip(5)), (7, keeps), "{api} {keeps}");
        }
        // Where the first message changes too, what a call goes on with tells it.
        assert_eq!(counted_at(api, (0..12).map(|turn| window(2, &day, turn))), (12, 0), "{api}");
    }
}

/// The day in the first message is another one in each request.
#[test]
fn a_reply_behind_what_changes_counts_once() {
    let day = |history: &str, number: u64| {
        let since: String = (0..number).map(|turn| format!("|aReply {turn}|uGo on {turn}")).collect();
        format!("uDay {number}{history}{since}|aReply {number}")
    };
    assert_eq!(counted((0..10).map(|number| day("", number))), (10, 0));
    assert_eq!(counted((0..10).rev().map(|number| day("", number))), (10, 0));
    // Three replies before the log begins.
    assert_eq!(counted((0..4).map(|number| day("|aOld 0|uOn 0|aOld 1|uOn 1|aOld 2|uOn 2", number))), (4, 3));
    let empty = ["uDay 1|a", "uDay 2|a|uOn|a", "uDay 3|a|uOn|a|uAnd on|a"].map(str::to_owned);
    assert_eq!(counted(empty), (3, 0));
    let renamed = ["uA|aOk|uB|ca1 1", "uA|aOk|uB|uBe quick|cz9 1|tz9 x|aDone"].map(str::to_owned);
    assert_eq!(counted(renamed), (2, 1));
}

/// Logs of conversations of eight exchanges, as clients of many kinds send them: how many calls without usage stand in them. What the replies say is short and
/// the same, or tells them apart, or is so long that nothing else says it.
#[test]
fn replies_of_no_call_of_the_log_are_counted_whatever_clients_do() {
    const TURNS: usize = 8;
    let long = "which goes on and on, so that no other reply says the same by chance, however many there are in the log";
    let say: [&dyn Fn(&str) -> String; 3] = [&|_| "aok".into(), &|tag| format!("aReply {tag}"), &|tag| format!("aReply {tag}, {long}")];
    for (api, say) in APIS.into_iter().flat_map(|api| say.map(|say| (api, say))) {
        // One exchange for each turn: how its request writes its question and those before, and what stands first and last.
        let log =
            |first: &dyn Fn(usize) -> String, asked: &dyn Fn(usize, usize) -> String, last: &dyn Fn(usize) -> String| -> Vec<String> {
                let exchange = |turn: usize| {
                    let before: String = (0..turn).map(|at| format!("{}|{}|", asked(at, turn), say(&at.to_string()))).collect();
                    format!("{}{before}{}{}|{}", first(turn), asked(turn, turn), last(turn), say(&turn.to_string()))
                };
                (0..TURNS).map(exchange).collect()
            };
        let none = |_: usize| String::new();
        let question = |at: usize, _: usize| format!("uQuestion {at}");
        let grown = log(&none, &question, &none);
        let window = |messages: usize| {
            let shortened = |exchange: &String| {
                let all: Vec<&str> = exchange.split('|').collect();
                all[all.len().saturating_sub(messages + 1)..].join("|")
            };
            grown.iter().map(shortened).collect::<Vec<_>>()
        };
        let newest = |log: &[String]| log.iter().rev().cloned().collect::<Vec<_>>();
        let day = log(&|turn| format!("uDay {turn}|"), &question, &none);
        let prefixed = log(&none, &|at, turn| format!("u{}Question {at}", if at == turn { "<now> " } else { "" }), &none);
        let always = log(&none, &|at, turn| format!("u[{at} of {turn}] Question {at}"), &none);
        let reminded = log(&none, &question, &|turn| format!("|uRemember {turn}"));
        let begun = log(&none, &question, &|_| "|a{".to_owned());
        let lost = [&grown[..3], &grown[4..]].concat();
        let rows = [
            ("growing", grown.clone(), 0),
            ("newest first", newest(&grown), 0),
            ("twice", [&grown[..], &grown[..]].concat(), 0),
            ("window", window(5), 0),
            ("window that begins with a reply", window(4), 0),
            ("window, newest first", newest(&window(5)), 0),
            ("the day in front", day.clone(), 0),
            ("the question with a prefix", prefixed, 0),
            ("all questions anew", always, 0),
            ("a reminder behind the question", reminded, 0),
            ("the answer begun", begun, 0),
            ("another reply to one request", [&grown[..], &[format!("uQuestion 0|{}", say("other"))]].concat(), 0),
            ("begins in the middle", grown[5..].to_vec(), 5),
            ("one lost", lost, 1),
        ];
        for (name, log, unseen) in rows {
            let calls = log.len();
            assert_eq!(counted_at(api, log), (calls, unseen), "{name}, {api}, {}", say("N"));
        }
        // Examples stand in front, other ones in each request.
        let shown = |number: usize| {
            (0..3).map(|at| (number * 7 + at * 3) % 20).map(|at| format!("uExample {at}|{}|", say(&format!("e{at}")))).collect::<String>()
        };
        let examples = counted_at(api, (0..40).map(|number| format!("{}uQuestion {number}|{}", shown(number), say(&number.to_string()))));
        assert!(examples.0 == 40 && examples.1 <= 20, "{examples:?} {api}");
    }
    // Tools that were called at once, each with its result in turn, and results that are shortened.
    for api in APIS {
        let tools = |turn: usize, result: &dyn Fn(usize) -> String| {
            let before: String = (0..turn).map(|at| format!("|cc{at} {at}|tc{at} {}", result(at))).collect();
            format!("uGo{before}|cc{turn} {turn}")
        };
        let shortened = |turn: usize| tools(turn, &|at| if at + 1 < turn { "gone".into() } else { format!("found{at}") });
        assert_eq!(counted_at(api, (0..TURNS).map(shortened)), (TURNS, 0), "{api}");
        assert_eq!(counted_at(api, (5..TURNS).map(shortened)), (TURNS - 5, 5), "{api}");
    }
}

/// A client loads what its agent needs by calls that no model made, and begins the answer.
#[test]
fn what_a_client_puts_into_a_conversation_is_no_call() {
    let loaded = "uGo|cx1 1|tx1 a|cauto_load_0f10f8b659c3c105 2|tauto_load_0f10f8b659c3c105 b|cx3 3".to_owned();
    assert_eq!(counted([loaded]), (1, 1));
    assert_eq!(counted(["uGo|aI begin|sBe quick|aDone".to_owned()]), (1, 0));
    assert_eq!(counted(["uGo|aI begin|uBe quick|aDone".to_owned()]), (1, 1));
}

/// A folder may hold one exchange a file, each with all replies before it, and no file knows the calls of the others.
#[test]
fn requests_of_some_interfaces_count_logged_calls_alone() {
    let exchange = |turn: usize| {
        let before: String = (0..turn).map(|at| format!("|cc{at} {at}|tc{at} {at}")).collect();
        format!("uGo{before}|cc{turn} {turn}")
    };
    for api in LOGGED_ALONE {
        assert_eq!(counted_at(api, [exchange(9)]), (1, 0), "{api}");
        assert_eq!(counted_at(api, (0..10).map(exchange)), (10, 0), "{api}");
        assert_eq!(counted_at(api, (5..10).map(exchange)), (5, 0), "{api}");
    }
}

/// The provider's own tool parts a reply, and the client writes the call and its result anew.
#[test]
fn all_that_a_reply_says_is_of_its_call() {
    let asked = r#"{"role":"user","content":"Look"}"#;
    let searched = |key: &str| format!(r#"{{"type":"tool_search_call","status":"completed","arguments":{{"{key}":["look"]}}}}"#);
    let result = |text: &str| format!(r#"{{"type":"tool_search_output","status":"completed","tools":["{text}"]}}"#);
    let [called, found, said] = [
        r#"{"type":"function_call","call_id":"call_gKnoVx3jEQlwl5zC2TbCdVHW","name":"look","arguments":"{}"}"#,
        r#"{"type":"function_call_output","call_id":"call_gKnoVx3jEQlwl5zC2TbCdVHW","output":"It"}"#,
        r#"{"role":"assistant","content":"loaded"}"#,
    ];
    let exchange = |input: &str, output: &str, prompt: u64| {
        let usage = format!(r#"{{"input_tokens":{prompt},"output_tokens":2}}"#);
        format!(r#"{{"api":"openai_responses","request":{{"input":[{input}]}},"response":{{"output":[{output}],"usage":{usage}}}}}"#)
    };
    for (last, next) in [(called, found), (said, asked)] {
        let first = exchange(asked, &format!("{},{},{last}", searched("paths"), result("old")), 10);
        let history = format!("{asked},{},{},{last},{next}", searched("queries"), result("new"));
        let second = exchange(&history, r#"{"role":"assistant","content":"Done"}"#, 20);
        let (sessions, _) = read_text("log.jsonl", &format!("{first}\n{second}"));
        assert_eq!(sessions.iter().flat_map(prompts).collect::<Vec<_>>(), [(10, 2), (20, 2)]);
        // No part of the reply stands there twice: question, reply, result, rest of the reply, what came then, second reply.
        assert_eq!(sessions.iter().map(|session| session.messages.len()).collect::<Vec<_>>(), [6], "{next}");
    }
}

/// A request and its response in two files are one call, by whatever names people tell them apart and whichever file is read first.
#[test]
fn a_request_and_its_response_in_two_files_are_one_call() {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let chat = json!({"id": "c1", "object": "chat.completion", "created": 1_760_000_000, "model": "gpt-5", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Ho"}}], "usage": {"prompt_tokens": 8, "completion_tokens": 2}});
    let claude = json!({"id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "Ho"}], "usage": {"input_tokens": 8, "output_tokens": 2}});
    let events = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"usage\":{\"input_tokens\":8,\"output_tokens\":1}}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Ho\"}}\n\n\
        event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n\
        event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let asked = |model: &str| json!({"model": model, "max_tokens": 100, "messages": messages}).to_string();
    let responses = [("gpt-5", chat.to_string()), ("claude-sonnet-4-5", claude.to_string()), ("claude-sonnet-4-5", events.to_owned())];
    let names = [
        ("request.json", "response.json"),
        ("turn_request.json", "turn_response.json"),
        ("req-1.json", "resp-1.json"),
        ("Request2.json", "Response2.json"),
        ("a.req.json", "a.res.json"),
    ];
    for (place, (model, response)) in responses.iter().enumerate() {
        // What the files hold and what they are called do not depend on each other.
        for (sent, came) in names.into_iter().take(if place == 0 { names.len() } else { 1 }) {
            let folder = tempfile::tempdir().unwrap();
            let paths = [(sent, asked(model)), (came, response.clone())].map(|(name, text)| {
                let path = folder.path().join(name);
                fs::write(&path, text).unwrap();
                path.display().to_string()
            });
            let read = |paths: &[&str]| {
                let told = ctxsim(&[&["replay", "-p", "none", "--json"], paths].concat()).json();
                (
                    told["recorded"]["calls"].clone(),
                    told["recorded"]["prompt_tokens"].clone(),
                    told["recorded"]["output_tokens"].clone(),
                    told["corpus"]["sessions"].clone(),
                )
            };
            let one = (json!(1), json!(8), json!(2), json!(1));
            assert_eq!(read(&[&folder.path().display().to_string()]), one, "{sent} {model}");
            assert_eq!(read(&[&paths[1], &paths[0]]), one, "{sent} {model}");
            // Either of them alone is the call, too.
            assert_eq!(read(&[&paths[0]]), one, "{sent} {model}");
            assert_eq!(read(&[&paths[1]]), one, "{sent} {model}");
        }
    }
    // Names alone make no pair.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("request.json"), asked("gpt-5")).unwrap();
    fs::write(folder.path().join("response.json"), r#"{"status":"ok"}"#).unwrap();
    let told = ctxsim(&["inspect", &folder.path().display().to_string(), "--json"]).json();
    assert_eq!(told["corpus"]["sessions"], json!(1), "{told}");
}

/// Vertex AI says how a call is billed: what was bought before, and tiers, have no list price.
#[test]
fn a_response_of_gemini_names_the_tier_that_it_was_made_in() {
    let model = |traffic: &str| {
        let usage = json!({"promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10, "trafficType": traffic});
        let response = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Ho"}]}}], "modelVersion": "gemini-2.5-pro", "usageMetadata": usage});
        let request = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]});
        let (transcripts, _) =
            read_text("talk.jsonl", &json!({"api": "gemini_generate", "request": request, "response": response}).to_string());
        assert_eq!(prompts(&transcripts[0]), [(8, 2)]);
        transcripts[0].messages[1].call.as_ref().unwrap().model.clone()
    };
    let named = ["ON_DEMAND", "TRAFFIC_TYPE_UNSPECIFIED", "PROVISIONED_THROUGHPUT", "ON_DEMAND_FLEX"].map(model);
    assert_eq!(named, ["gemini-2.5-pro", "gemini-2.5-pro", "gemini-2.5-pro:provisioned_throughput", "gemini-2.5-pro:on_demand_flex"]);
}

/// The field at which a record does not decode is named, and not what it holds.
#[test]
fn a_record_of_an_unexpected_shape_names_the_field() {
    let good = r#"{"api":"openai_chat","request":{"model":"m","messages":[{"role":"user","content":"Hi"}]},"response":{"choices":[{"message":{"role":"assistant","content":"Ho"}}]}}"#;
    let (_, lost) = read_text("log.jsonl", &format!("{good}\n{}\n", r#"{"ctxsim":"native/1","session":"s"}"#));
    assert!(lost.iter().all(|(reason, _)| !reason.contains("field")), "{lost:?}");
    let head = r#"{"ctxsim":"native/1","session":"s","agent":"made"}"#;
    let odd = r#"{"role":"assistant","text":"a","usage":{"prompt":1,"output_is_placeholder":"secret"}}"#;
    let (_, lost) = read_text("log.jsonl", &format!("{head}\n{{\"role\":\"user\",\"text\":\"a\"}}\n{odd}\n"));
    assert_eq!(lost, [("record of an unexpected shape (field `output_is_placeholder`)".to_owned(), 1)]);
}
