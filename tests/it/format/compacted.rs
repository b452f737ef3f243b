//! Conversations that their provider shortened: the client sends the compaction in the place of what it stands for.

use crate::support::{in_short, prompts, read_text};
use ctxsim::transcript::Transcript;
use serde_json::{Value, json};

const TURNS: [&str; 4] = ["apples", "pears", "plums", "figs"];

fn log(api: &str, exchanges: &[(Value, Value)]) -> Vec<Transcript> {
    let line = |(asked, replied): &(Value, Value)| json!({ "api": api, "request": asked, "response": replied }).to_string() + "\n";
    let (transcripts, lost) = read_text("talk.jsonl", &exchanges.iter().map(line).collect::<String>());
    assert_eq!(lost, []);
    transcripts
}

/// Messages of a session less the parts without words, its prompts, and its compactions by the message that they stand before.
fn told(transcripts: &[Transcript]) -> Vec<(Vec<String>, Vec<u64>, Vec<usize>)> {
    let told = |session: &Transcript| {
        let said = in_short(session).into_iter().map(|line| line.rsplit('|').next().unwrap_or_default().trim().to_owned());
        let prompts = prompts(session).into_iter().map(|(prompt, _)| prompt).collect();
        (said.collect(), prompts, session.compactions.iter().map(|event| event.before).collect())
    };
    transcripts.iter().map(told).collect()
}

fn ask(what: &str) -> Value {
    json!({ "type": "message", "role": "user", "content": format!("Tell me of {what}") })
}

fn said(what: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "id": format!("msg_{what}"), "content": [{ "type": "output_text", "text": format!("All of {what}") }] })
}

fn item(name: &str) -> Value {
    json!({ "type": "compaction", "id": format!("cmp_{name}"), "encrypted_content": format!("gAAAAAB{name}") })
}

/// An exchange with OpenAI: what is sent, what comes back, and the tokens of the prompt.
fn asked(input: &[Value], output: &[Value], tokens: u64) -> (Value, Value) {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 4, "total_tokens": tokens + 4 });
    let reply = json!({ "id": format!("resp_{tokens}"), "model": "gpt-5.1", "status": "completed", "output": output, "usage": usage });
    (json!({ "model": "gpt-5.1", "input": input }), reply)
}

/// OpenAI's guide on compaction: what stands before the newest compaction item may be dropped.
#[test]
fn what_stands_before_a_compaction_item_may_be_dropped() {
    let [apples, pears, plums, figs] = TURNS;
    let first = [ask(apples), said(apples)];
    let begun = [first.as_slice(), &[ask(pears)]].concat();
    let made = [item("a"), said(pears)];
    let calls = |kept: &[Value]| {
        let third = [kept, &made, &[ask(plums)]].concat();
        let fourth = [third.as_slice(), &[said(plums), ask(figs)]].concat();
        vec![
            asked(&first[..1], &first[1..], 100),
            asked(&begun, &made, 900),
            asked(&third, &[said(plums)], 300),
            asked(&fourth, &[said(figs)], 400),
        ]
    };
    let kept = told(&log("openai_responses", &calls(&begun)));
    assert_eq!((kept.len(), kept[0].0.len(), kept[0].1.clone(), kept[0].2.clone()), (1, 8, vec![100, 900, 300, 400], vec![3]));
    assert_eq!(told(&log("openai_responses", &calls(&[]))), kept);
    // One request later.
    let mut later = calls(&begun);
    later[3] = calls(&[]).remove(3);
    assert_eq!(told(&log("openai_responses", &later)), kept);
    // Another way on from the same compaction is a conversation of its own, and so is one from a compaction that the log lacks.
    let other = [made.as_slice(), &[ask("nuts")]].concat();
    let mut both = calls(&[]);
    both.push(asked(&other, &[said("nuts")], 310));
    both.push(asked(&[item("b"), said(pears), ask("nuts")], &[said("nuts")], 320));
    assert_eq!(told(&log("openai_responses", &both)).len(), 3);
}

/// OpenAI's guide on compaction: the output of `/responses/compact` is the next input as it is.
#[test]
fn the_output_of_a_compaction_is_the_next_input() {
    let [apples, pears, plums, figs] = TURNS;
    let begun = [ask(apples), said(apples), ask(pears), said(pears)];
    let output = [ask(apples), ask(pears), item("c")];
    let third = [output.as_slice(), &[ask(plums)]].concat();
    let fourth = [third.as_slice(), &[said(plums), ask(figs)]].concat();
    let line =
        |api: &str, (asked, replied): (Value, Value)| json!({ "api": api, "request": asked, "response": replied }).to_string() + "\n";
    let read = |third: &[Value], fourth: &[Value]| {
        let lines = [
            line("openai_responses", asked(&begun[..1], &begun[1..2], 100)),
            line("openai_responses", asked(&begun[..3], &begun[3..], 200)),
            line("openai_responses_compact", asked(&begun, &output, 250)),
            line("openai_responses", asked(third, &[said(plums)], 150)),
            line("openai_responses", asked(fourth, &[said(figs)], 180)),
        ];
        told(&read_text("talk.jsonl", &lines.concat()).0)
    };
    let messages: Vec<String> = TURNS.iter().flat_map(|what| [format!("u: Tell me of {what}"), format!("a: All of {what}")]).collect();
    assert_eq!(read(&third, &fourth), [(messages.clone(), vec![100, 200, 150, 180], vec![4])]);
    // The compaction item alone.
    assert_eq!(read(&third[2..], &fourth[2..]), [(messages.clone(), vec![100, 200, 150, 180], vec![4])]);
    // The request for it names the last response, and holds nothing.
    let after = |previous: &str, (mut asked, replied): (Value, Value)| {
        asked["previous_response_id"] = previous.into();
        (asked, replied)
    };
    let lines = [
        line("openai_responses", asked(&begun[..1], &begun[1..2], 100)),
        line("openai_responses", after("resp_100", asked(&begun[2..3], &begun[3..], 200))),
        line("openai_responses_compact", after("resp_200", asked(&[], &output, 250))),
        line("openai_responses", asked(&third, &[said(plums)], 150)),
        line("openai_responses", asked(&fourth, &[said(figs)], 180)),
    ];
    assert_eq!(told(&read_text("talk.jsonl", &lines.concat()).0), [(messages, vec![100, 200, 150, 180], vec![4])]);
}

/// Anthropic's page on compaction: the client may send what stands before the block, or not.
#[test]
fn what_stands_before_a_compaction_block_may_be_dropped() {
    let ask = |what: &str| json!({ "role": "user", "content": format!("Tell me of {what}") });
    let text = |what: &str| json!({ "type": "text", "text": format!("All of {what}") });
    let said = |content: &[Value]| json!({ "role": "assistant", "content": content });
    let block = json!({ "type": "compaction", "content": "Apples were told of." });
    let call = |messages: &[Value], content: &[Value], tokens: u64| {
        let pass = json!({ "type": "message", "input_tokens": tokens, "output_tokens": 4 });
        let mut usage = json!({ "input_tokens": tokens, "output_tokens": 4 });
        if content.first() == Some(&block) {
            usage["iterations"] = json!([{ "type": "compaction", "input_tokens": 900, "output_tokens": 9 }, pass]);
        }
        let reply = json!({ "id": format!("msg_{tokens}"), "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": content, "usage": usage });
        (json!({ "model": "claude-opus-4-6", "messages": messages }), reply)
    };
    let read = |kept: &[Value], passed: bool| {
        let first = [ask("apples"), said(&[text("apples")]), ask("pears")];
        let made = [block.clone(), text("pears")];
        let made = if passed { &made[..1] } else { &made[..] };
        // Where the server pauses behind the block, the client asks again.
        let behind: &[Value] = if passed { &[ask("pears")] } else { &[ask("plums")] };
        let third = [kept, &[said(made)], behind].concat();
        let fourth = [third.as_slice(), &[said(&[text("plums")]), ask("figs")]].concat();
        let calls = [
            call(&first[..1], &[text("apples")], 100),
            call(&first, made, 300),
            call(&third, &[text("plums")], 350),
            call(&fourth, &[text("figs")], 400),
        ];
        log("anthropic_messages", &calls)
    };
    let first = [ask("apples"), said(&[text("apples")]), ask("pears")];
    let kept = told(&read(&first, false));
    assert_eq!((kept.len(), kept[0].1.clone(), kept[0].2.clone()), (1, vec![100, 300, 350, 400], vec![3]));
    assert_eq!(told(&read(&[], false)), kept);
    let paused = told(&read(&[], true));
    assert_eq!((paused.len(), paused[0].1.clone(), paused[0].2.clone()), (1, vec![100, 300, 350, 400], vec![3]));
}
