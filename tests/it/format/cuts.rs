//! Agents that cut their own history before they ask: a request goes on with its session, and what left stands there in full.

use crate::support::{ctxsim, in_short, prompts, read_text};
use ctxsim::transcript::{CompactionKind, Transcript};
use serde_json::{Value, json};

/// A conversation as an agent holds it.
struct Agent {
    messages: Vec<Value>,
    log: String,
    calls: u64,
    /// How ids of calls begin.
    ids: &'static str,
}

const DRAWN: &str = "call_Qm7vT2xLk9Zp4Rb8";

/// Instructions and a task.
fn agent(ids: &'static str, task: &str) -> Agent {
    let messages = vec![json!({"role": "system", "content": "Be careful."}), json!({"role": "user", "content": task})];
    Agent { messages, log: String::new(), calls: 0, ids }
}

impl Agent {
    /// Sends what it holds, and keeps the reply.
    fn ask(&mut self, reply: Value) {
        let tokens: usize = self.messages.iter().map(|message| message.to_string().len() / 4).sum();
        self.calls += 1;
        let record = json!({
            "api": "openai_chat",
            "url": "https://api.openai.com/v1/chat/completions",
            "request": {"model": "gpt-5", "messages": self.messages},
            "response": {
                "id": format!("chatcmpl-{}-{}", self.messages[1].to_string().len(), self.calls), "model": "gpt-5", "created": 1_767_323_000 + self.calls,
                "choices": [{"message": reply}], "usage": {"prompt_tokens": tokens, "completion_tokens": 20},
            },
        });
        self.log += &format!("{record}\n");
        self.messages.push(reply);
    }

    /// Calls a tool, and keeps what that returns.
    fn call(&mut self) {
        let number = self.calls;
        let id = format!("{}{number}", self.ids);
        let function = json!({"name": "read", "arguments": format!("{{\"path\":\"src/{number}.rs\"}}")});
        self.ask(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        let text = format!("line {number} of a file\n").repeat(20);
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }

    /// Asks something behind the end of the conversation, apart from that.
    fn aside(&mut self, stays: usize, question: &str, reply: &str) {
        let mut sent = vec![self.messages[0].clone()];
        sent.extend_from_slice(&self.messages[self.messages.len() - stays..]);
        sent.push(json!({"role": "user", "content": question}));
        let held = std::mem::replace(&mut self.messages, sent);
        self.ask(json!({"role": "assistant", "content": reply}));
        self.messages = held;
    }

    fn calls(mut self, count: usize) -> Agent {
        (0..count).for_each(|_| self.call());
        self
    }

    fn read(&self) -> Vec<Transcript> {
        read(&self.log)
    }
}

fn read(log: &str) -> Vec<Transcript> {
    let (sessions, lost) = read_text("own.jsonl", log);
    assert_eq!(lost, []);
    sessions
}

fn only(sessions: Vec<Transcript>) -> Transcript {
    let [session] = <[Transcript; 1]>::try_from(sessions).unwrap_or_else(|sessions| panic!("{} sessions", sessions.len()));
    session
}

/// The uncut conversation of so many calls of tools.
fn whole(ids: &str, task: &str, count: usize) -> Vec<String> {
    let begin = ["s: Be careful.".to_owned(), format!("u: {task}")].into_iter();
    begin.chain((0..count).flat_map(|number| [format!("a: read({ids}{number})"), format!("t: read({ids}{number})=")])).collect()
}

/// The uncut conversation without the last result, which no request holds.
fn asked(ids: &str, task: &str, count: usize) -> Vec<String> {
    let mut all = whole(ids, task, count);
    all.pop();
    all
}

/// Kind, place, what stayed and what was put in, of each event.
fn events(session: &Transcript) -> Vec<(CompactionKind, usize, Option<usize>, Option<&str>)> {
    let summary = |at: usize| session.compactions[at].summary.as_ref().and_then(|summary| summary.content.as_deref());
    let events = session.compactions.iter().enumerate();
    events.map(|(at, event)| (event.kind, event.before, event.kept_from, summary(at))).collect()
}

#[test]
fn the_oldest_pairs_leave_and_the_head_stays() {
    // With drawn ids, and with counted ones.
    for ids in [DRAWN, "c"] {
        for head in [1, 2] {
            let mut agent = agent(ids, "Fix it").calls(5);
            agent.messages.drain(head..6);
            let mut agent = agent.calls(3);
            agent.messages.drain(head..4 + head);
            let session = only(agent.calls(1).read());
            assert_eq!(in_short(&session), asked(ids, "Fix it", 9), "{ids} {head}");
            // The agent has the last result before it cuts.
            assert_eq!(events(&session), [(CompactionKind::Compact, 12, Some(6), None), (CompactionKind::Compact, 18, Some(10), None)]);
            let unchained: Vec<bool> = session.messages.iter().filter_map(|message| Some(message.call.as_ref()?.unchained)).collect();
            assert_eq!(unchained, [false, false, false, false, false, true, false, false, true]);
        }
    }
}

#[test]
fn a_window_that_slides_with_every_request() {
    let mut agent = agent(DRAWN, "Fix it").calls(3);
    for _ in 0..20 {
        agent.messages.drain(2..4);
        agent = agent.calls(1);
    }
    let session = only(agent.read());
    assert_eq!(in_short(&session), asked(DRAWN, "Fix it", 23));
    let expected: Vec<_> = (0..20).map(|cut| (CompactionKind::Compact, 8 + 2 * cut, Some(4 + 2 * cut), None)).collect();
    assert_eq!(events(&session), expected);
}

#[test]
fn the_oldest_message_alone_leaves() {
    let mut agent = agent(DRAWN, "Fix it").calls(3);
    agent.messages.remove(1);
    let session = only(agent.calls(2).read());
    assert_eq!(in_short(&session), asked(DRAWN, "Fix it", 5));
    assert_eq!(events(&session), [(CompactionKind::Compact, 8, Some(2), None)]);
}

/// The log ends with a request that cuts, as those before it.
#[test]
fn a_talk_of_which_the_newest_messages_are_sent() {
    // The question alone leaves first, or the question with its reply.
    for (most, cuts) in [(7, 6), (8, 5)] {
        let mut talk = agent(DRAWN, "Where do I begin?");
        for number in 0..9 {
            talk.ask(json!({"role": "assistant", "content": format!("Begin with chapter {number}: it says what the words mean.")}));
            talk.messages.push(json!({"role": "user", "content": format!("And what comes after chapter {number}?")}));
            let more = talk.messages.len().saturating_sub(most);
            talk.messages.drain(1..1 + more);
        }
        let session = only(talk.read());
        assert_eq!((session.messages.len(), prompts(&session).len()), (19, 9), "{most}");
        let before: Vec<usize> = events(&session).iter().map(|(_, before, ..)| *before).collect();
        assert_eq!(before, (9 - cuts..9).map(|call| 1 + 2 * call).collect::<Vec<_>>(), "{most}");
    }
}

#[test]
fn a_summary_takes_the_place_of_the_oldest() {
    let mut agent = agent(DRAWN, "Fix it").calls(5);
    agent.messages.splice(1..8, [json!({"role": "user", "content": "So far: two files were read."})]);
    let session = only(agent.calls(2).read());
    assert_eq!(in_short(&session), asked(DRAWN, "Fix it", 7));
    assert_eq!(events(&session), [(CompactionKind::Compact, 12, Some(8), Some("So far: two files were read."))]);
}

#[test]
fn a_summary_that_a_request_apart_wrote() {
    let summary =
        "Two files were read: the first one declares the parser with all of its states, the second one has the tests that fail today.";
    // Another conversation that says it and goes on is a session, and so is one whose words stand nowhere.
    for (wrote, goes_on, sessions) in
        [(summary, false, 1), (summary, true, 2), ("Nothing that the agent put in, though it is as long as that.", false, 2)]
    {
        let mut agent = agent(DRAWN, "Fix it").calls(5);
        let held = agent.messages.clone();
        agent.messages =
            [&[json!({"role": "system", "content": "You summarise."})], &held[1..6], &[json!({"role": "user", "content": "Summarise."})]]
                .concat();
        agent.ask(json!({"role": "assistant", "content": wrote}));
        if goes_on {
            agent.messages.push(json!({"role": "user", "content": "Shorter."}));
            agent.ask(json!({"role": "assistant", "content": "Two files."}));
        }
        let put_in = json!({"role": "user", "content": format!("Summary of what came before:\n{summary}")});
        agent.messages = [&held[..1], &[put_in], &held[8..]].concat();
        let read = agent.calls(2).read();
        assert_eq!(read.len(), sessions, "{wrote} {goes_on}");
        let session = read.iter().find(|session| !session.compactions.is_empty()).unwrap();
        let call = session.compactions[0].call.as_ref();
        assert_eq!(call.map(|call| call.usage.unwrap().output), (sessions == 1).then_some(20), "{wrote} {goes_on}");
        assert_eq!(session.compactions.len(), 1);
    }
}

/// A summariser with instructions of its own is shown the whole history, with a question behind it or without, or the beginning of it as a text.
#[test]
fn a_summary_that_other_instructions_asked_for() {
    let summary =
        "Two files were read: the first one declares the parser with all of its states, the second one has the tests that fail today.";
    for (shown, usage) in [0, 1, 2].into_iter().flat_map(|shown| [(shown, true), (shown, false)]) {
        let mut agent = agent(DRAWN, "Fix it").calls(5);
        let held = agent.messages.clone();
        let other = json!({"role": "system", "content": "You summarise."});
        let question = json!({"role": "user", "content": "Summarise."});
        agent.messages = match shown {
            0 => [&[other], &held[1..], &[question]].concat(),
            1 => [&[other], &held[1..]].concat(),
            _ => vec![other, json!({"role": "user", "content": format!("The conversation: {:?}", &held[1..8])})],
        };
        agent.ask(json!({"role": "assistant", "content": summary}));
        let put_in = json!({"role": "user", "content": format!("Summary of what came before:\n{summary}")});
        agent.messages = [&held[..1], &[put_in], &held[8..]].concat();
        let agent = agent.calls(2);
        let counted = |line: &str| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record["response"].as_object_mut().unwrap().retain(|key, _| usage || key != "usage");
            format!("{record}\n")
        };
        let session = only(read(&agent.log.lines().map(counted).collect::<String>()));
        assert_eq!(prompts(&session).len(), 7, "{shown} {usage}");
        assert_eq!(in_short(&session)[..12], whole(DRAWN, "Fix it", 5), "{shown} {usage}");
        let text = format!("Summary of what came before:\n{summary}");
        assert_eq!(events(&session), [(CompactionKind::Compact, 12, Some(8), Some(text.as_str()))], "{shown} {usage}");
        let call = session.compactions[0].call.as_ref().unwrap();
        assert_eq!(call.usage.map(|usage| usage.output), usage.then_some(20), "{shown} {usage}");
    }
}

/// A router asks before each turn of an agent: both repeat one history, each behind instructions of its own.
#[test]
fn roles_that_share_a_history_are_sessions_of_their_own() {
    let mut agent = agent(DRAWN, "What is it?");
    let mut roles = [Vec::new(), Vec::new()];
    for turn in 0..6 {
        for (role, name) in ["You choose who replies.", "You reply."].iter().enumerate() {
            let held = agent.messages.clone();
            agent.messages[0] = json!({"role": "system", "content": name});
            let reply = if role == 0 { format!("agent {turn}") } else { format!("It is the answer number {turn} to what was asked.") };
            roles[role].push(reply.clone());
            agent.ask(json!({"role": "assistant", "content": reply}));
            let replied = agent.messages.pop();
            agent.messages = held;
            agent.messages.extend(replied.filter(|_| role == 1));
        }
        agent.messages.push(json!({"role": "user", "content": format!("And number {turn}?")}));
    }
    let sessions = agent.read();
    let replies = |session: &Transcript| {
        let logged = session.messages.iter().filter(|message| message.call.as_ref().is_some_and(|call| call.usage.is_some()));
        logged.map(|message| message.parts[0].text().unwrap().as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sessions.iter().map(replies).collect::<Vec<_>>(), roles);
}

#[test]
fn a_summary_that_the_conversation_was_asked_for() {
    let summary =
        "Three files were read: the first one declares the parser, the second one its errors, and the third one has the tests that fail.";
    // What stays behind the summary: nothing, or the last call and its result.
    for stays in [0, 2] {
        let mut agent = agent(DRAWN, "Fix it").calls(5);
        let held = agent.messages.clone();
        agent.messages.push(json!({"role": "user", "content": "Summarise the conversation."}));
        agent.ask(json!({"role": "assistant", "content": summary}));
        let put_in = json!({"role": "user", "content": format!("Summary of what came before:\n{summary}")});
        agent.messages = [&held[..1], &[put_in], &held[held.len() - stays..]].concat();
        let session = only(agent.calls(2).read());
        let mut expected = whole(DRAWN, "Fix it", 5);
        expected.extend([6, 7].map(|number| format!("a: read({DRAWN}{number})")));
        expected.insert(13, format!("t: read({DRAWN}6)="));
        assert_eq!(in_short(&session), expected, "{stays}");
        let text = format!("Summary of what came before:\n{summary}");
        assert_eq!(events(&session), [(CompactionKind::Compact, 12, Some(12 - stays), Some(text.as_str()))], "{stays}");
        let call = session.compactions[0].call.as_ref().unwrap();
        assert_eq!((call.id.as_str(), call.usage.unwrap().output), ("chatcmpl-34-6 771+20", 20));
    }
}

#[test]
fn results_are_masked_or_cut_in_their_place() {
    let short = ["[Old result cleared]".to_owned(), "line 0 of a file\n".repeat(3)];
    for text in short {
        for role in ["tool", "user"] {
            let mut agent = agent(DRAWN, "Fix it");
            let call = |agent: &mut Agent| {
                agent.call();
                // Some agents have results as messages of the user.
                if role == "user" {
                    let result = agent.messages.pop().unwrap();
                    let text = format!("Observation: {}", result["content"].as_str().unwrap());
                    agent.messages.push(json!({"role": "user", "content": text}));
                }
            };
            (0..4).for_each(|_| call(&mut agent));
            agent.messages[3]["content"] = json!(text);
            agent.messages[5]["content"] = json!(text);
            (0..2).for_each(|_| call(&mut agent));
            agent.messages[7]["content"] = json!(text);
            (0..2).for_each(|_| call(&mut agent));
            let session = only(agent.read());
            assert_eq!(session.messages.len(), 17, "{text} {role}");
            // What is the result of a call stands before the cut, and what may be a question behind it.
            let result = usize::from(role == "tool");
            assert_eq!(
                events(&session),
                [(CompactionKind::Prune, 9 + result, None, None), (CompactionKind::Prune, 13 + result, None, None)],
                "{text} {role}"
            );
            let taken: Vec<&[(usize, usize)]> = session.compactions.iter().map(|event| &*event.taken).collect();
            assert_eq!(taken, [&[(3, 0), (5, 0)][..], &[(7, 0)]]);
        }
    }
}

/// What goes with one request alone is no history: the session goes back to before it.
#[test]
fn what_is_sent_once_is_no_history() {
    let mut agent = agent(DRAWN, "Fix it").calls(2);
    // A reminder behind the newest result, which the next request lacks.
    agent.messages.push(json!({"role": "user", "content": "Two steps are left."}));
    agent.call();
    agent.messages.remove(6);
    let session = only(agent.calls(1).read());
    assert_eq!((&*session.compactions, session.takes_up), (&[][..], None));
    assert_eq!(session.messages.iter().filter_map(|message| message.rewind).collect::<Vec<_>>(), [6]);
}

#[test]
fn a_prompt_that_was_refused_is_cut_and_sent_again() {
    let mut agent = agent(DRAWN, "Fix it").calls(4);
    let refused = json!({
        "api": "openai_chat", "request": {"model": "gpt-5", "messages": agent.messages},
        "response": {"error": {"message": "context_length_exceeded"}},
    });
    agent.log += &format!("{refused}\n");
    agent.messages.drain(2..6);
    agent.call();
    let (sessions, lost) = read_text("own.jsonl", &agent.log);
    assert_eq!(lost.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
    let session = only(sessions);
    assert_eq!(in_short(&session), asked(DRAWN, "Fix it", 5));
    assert_eq!(events(&session), [(CompactionKind::Compact, 10, Some(6), None)]);
}

#[test]
fn requests_to_other_interfaces() {
    let id = |number: usize| format!("toolu_01A9vT2xLk9Zp4Rb8{number}");
    let pair = |number: usize| {
        let call = json!({"type": "tool_use", "id": id(number), "name": "read", "input": {"path": format!("{number}.rs")}});
        let result = json!({"type": "tool_result", "tool_use_id": id(number), "content": "line\n".repeat(30)});
        [json!({"role": "assistant", "content": [call]}), json!({"role": "user", "content": [result]})]
    };
    let mut held = vec![json!({"role": "user", "content": "Fix it"})];
    let mut log = String::new();
    for number in 0..6 {
        if number == 4 {
            held.drain(1..5);
        }
        let [call, result] = pair(number);
        let usage = json!({"input_tokens": 100 * held.len(), "output_tokens": 20});
        let response = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "claude-x", "content": call["content"], "usage": usage});
        let request = json!({"model": "claude-x", "max_tokens": 9, "system": "Be careful.", "messages": held});
        log += &format!("{}\n", json!({"api": "anthropic_messages", "request": request, "response": response}));
        held.extend([call, result]);
    }
    let session = only(read(&log));
    assert_eq!((session.messages.len(), session.messages.iter().filter(|message| message.call.is_some()).count()), (13, 6));
    assert_eq!(events(&session), [(CompactionKind::Compact, 10, Some(6), None)]);
    assert_eq!(prompts(&session).iter().map(|(prompt, _)| *prompt).collect::<Vec<_>>(), [100, 300, 500, 700, 500, 700]);

    // Responses has calls and results beside its messages.
    let mut held = vec![json!({"role": "user", "content": "Fix it"})];
    let mut log = String::new();
    for number in 0..6 {
        if number == 4 {
            held.drain(1..5);
        }
        let call = json!({"type": "function_call", "call_id": format!("{DRAWN}{number}"), "name": "read", "arguments": format!("{{\"path\":{number}}}")});
        let usage = json!({"input_tokens": 100 * held.len(), "output_tokens": 20});
        let response = json!({"id": format!("resp_{number}"), "object": "response", "model": "gpt-5", "output": [call], "usage": usage});
        let request = json!({"model": "gpt-5", "instructions": "Be careful.", "input": held});
        log += &format!("{}\n", json!({"api": "openai_responses", "request": request, "response": response}));
        held.extend([call, json!({"type": "function_call_output", "call_id": format!("{DRAWN}{number}"), "output": "line\n".repeat(30)})]);
    }
    let session = only(read(&log));
    assert_eq!(events(&session), [(CompactionKind::Compact, 10, Some(6), None)]);
}

#[test]
fn conversations_that_only_look_alike_stay_apart() {
    // Two agents with one head, whose calls have counted ids, take turns.
    let mut one = agent("c", "Fix the parser");
    let mut other = agent("c", "Fix the tests");
    for _ in 0..6 {
        one.call();
        other.log = std::mem::take(&mut one.log) + &other.log;
        other.call();
        one.log = std::mem::take(&mut other.log);
    }
    let sessions = read(&one.log);
    assert_eq!((sessions.len(), sessions.iter().map(|session| session.compactions.len()).sum::<usize>()), (2, 0));

    // A sub-agent that gets the head and the beginning of its parent's conversation, and a request that is sent again, cut nothing.
    let parent = agent(DRAWN, "Fix it").calls(4);
    let mut forked = agent("call_Zz3nW8yHd5Uc1Jq6x", "Fix it");
    forked.messages = parent.messages[..6].to_vec();
    forked.log.clone_from(&parent.log);
    let forked = forked.calls(3);
    let sessions = read(&forked.log);
    assert_eq!((sessions.len(), sessions.iter().map(|session| session.compactions.len()).sum::<usize>()), (2, 0));
    let mut again = agent(DRAWN, "Fix it").calls(4);
    let held = again.messages[..8].to_vec();
    again.messages = held;
    let sessions = again.calls(1).read();
    assert!(sessions.iter().all(|session| session.compactions.is_empty() && session.takes_up.is_none()));

    // Short texts that come again tell no session.
    let mut talk = agent(DRAWN, "continue");
    for _ in 0..6 {
        talk.ask(json!({"role": "assistant", "content": "ok"}));
        talk.messages.push(json!({"role": "user", "content": "continue"}));
    }
    talk.messages.drain(1..7);
    talk.ask(json!({"role": "assistant", "content": "ok"}));
    assert!(talk.read().iter().all(|session| session.compactions.is_empty()));
}

/// The prompts of all calls as the log has them.
fn sum(sessions: &[Transcript]) -> u64 {
    sessions.iter().flat_map(prompts).map(|(prompt, _)| prompt).sum()
}

#[test]
fn requests_apart_repeat_the_end_alone() {
    for ids in [DRAWN, "c"] {
        // A title, asked for once.
        let mut main = agent(ids, "Fix it").calls(6);
        main.aside(6, "Suggest a title.", "The parser");
        let main = main.calls(4);
        let sessions = main.read();
        let [apart, session] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
        let said: Vec<String> = asked(ids, "Fix it", 11).into_iter().filter(|said| !said.contains(&format!("{ids}6"))).collect();
        assert_eq!(in_short(session), said);
        assert_eq!(in_short(apart), [&said[..1], &said[8..14], &["u: Suggest a title.".to_owned(), "a: The parser".to_owned()]].concat());
        assert_eq!((prompts(session).len(), prompts(apart).len()), (10, 1));
        assert!(sessions.iter().all(|session| session.compactions.is_empty() && session.takes_up.is_none()));
        assert!(session.messages.iter().filter_map(|message| message.call.as_ref()).all(|call| !call.unchained));

        // A check behind each call, of which the last one ends the log: it may be a cut.
        let mut main = agent(ids, "Fix it").calls(3);
        for _ in 0..7 {
            main.call();
            main.aside(4, "Is the task complete?", "no");
        }
        let sessions = main.read();
        let logged: Vec<Value> = main.log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let tokens: u64 = logged.iter().map(|record| record["response"]["usage"]["prompt_tokens"].as_u64().unwrap()).sum();
        assert_eq!((sessions.len(), sum(&sessions)), (8, tokens), "{ids}");
        assert!(sessions.iter().all(|session| session.compactions.is_empty()));
        let (session, apart): (Vec<_>, Vec<_>) = sessions.iter().partition(|session| prompts(session).len() > 1);
        assert_eq!((session.len(), prompts(session[0]).len(), session[0].messages.len()), (1, 10, 21));
        assert!(apart.iter().all(|apart| in_short(apart).len() == 7));
        let takes_up: Vec<&str> = apart.iter().filter_map(|apart| apart.takes_up.as_deref()).collect();
        assert_eq!(takes_up, [session[0].id.as_str()]);
    }
}

#[test]
fn a_request_apart_that_got_no_reply_begins_none() {
    let mut main = agent(DRAWN, "Fix it").calls(6);
    let question = json!({"role": "user", "content": "Suggest a title."});
    let sent = [&main.messages[..1], &main.messages[8..], &[question]].concat();
    let request = json!({"model": "gpt-5", "messages": sent});
    main.log += &format!("{}\n", json!({"api": "openai_chat", "request": request, "response": {"error": {"message": "overloaded"}}}));
    let (sessions, lost) = read_text("own.jsonl", &main.calls(2).log);
    assert_eq!(lost.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
    let session = only(sessions);
    assert_eq!((in_short(&session), &*session.compactions), (asked(DRAWN, "Fix it", 8), &[][..]));
}

#[test]
fn an_agent_apart_that_goes_on_is_a_session() {
    let main = agent(DRAWN, "Fix it").calls(6);
    let mut apart = agent("call_Zz3nW8yHd5Uc1Jq6x", "Fix it");
    apart.messages.truncate(1);
    apart.messages.extend_from_slice(&main.messages[8..]);
    apart.messages.push(json!({"role": "user", "content": "Write down what was learned."}));
    apart.log.clone_from(&main.log);
    let mut apart = apart.calls(3);
    // Without what follows the cut would be one.
    assert_eq!(events(&only(apart.read())), [(CompactionKind::Compact, 14, Some(8), None)]);
    let first = (main.messages, apart.log);
    let mut main = agent(DRAWN, "Fix it");
    (main.messages, main.log, main.calls) = (first.0, first.1, 6);
    let mut main = main.calls(2);
    apart.log = std::mem::take(&mut main.log);
    let mut apart = apart.calls(1);
    main.log = std::mem::take(&mut apart.log);
    let sessions = main.calls(1).read();
    let [apart, session] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert_eq!(in_short(session), asked(DRAWN, "Fix it", 9));
    assert_eq!((in_short(apart).len(), prompts(session).len(), prompts(apart).len()), (15, 9, 4));
    assert!(sessions.iter().all(|session| session.compactions.is_empty() && session.takes_up.is_none()));
}

#[test]
fn a_talk_whose_texts_tell_it_goes_on() {
    let mut talk = agent(DRAWN, "Where do I begin?");
    for number in 0..6 {
        talk.ask(json!({"role": "assistant", "content": format!("Begin with chapter {number}: it says what the words mean.")}));
        talk.messages.push(json!({"role": "user", "content": format!("And what comes after chapter {number}?")}));
    }
    talk.messages.drain(1..9);
    talk.ask(json!({"role": "assistant", "content": "The index."}));
    // One request may ask apart: the next one tells.
    let sessions = talk.read();
    let [first, second] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert_eq!((&*first.compactions, second.takes_up.as_deref()), (&[][..], Some(first.id.as_str())));
    talk.messages.push(json!({"role": "user", "content": "And then?"}));
    talk.ask(json!({"role": "assistant", "content": "Nothing."}));
    let session = only(talk.read());
    assert_eq!(session.messages.len(), 17);
    assert_eq!(events(&session), [(CompactionKind::Compact, 13, Some(9), None)]);
}

#[test]
fn a_long_question_is_no_request_for_a_summary() {
    let said = format!("Summary: {}", "x".repeat(200));
    let words = vec![json!({"role": "user", "content": "same words"}); 6000];
    let mut first = agent("c", "Fix it");
    first.messages.extend_from_slice(&words);
    first.ask(json!({"role": "assistant", "content": said}));
    let mut other = agent("d", "Fix the tests");
    other.messages.extend_from_slice(&words[3000..]);
    other.messages.push(json!({"role": "user", "content": format!("It said {said}")}));
    other.messages.extend_from_slice(&words[3000..]);
    other.ask(json!({"role": "assistant", "content": "no"}));
    let begun = std::time::Instant::now();
    assert_eq!(read(&(first.log + &other.log)).len(), 2);
    assert!(begun.elapsed().as_secs() < 10);
}

/// With other instructions the request may be that of another agent: it stays a session, and the screens say what it repeats.
#[test]
fn what_is_not_certain_stays_a_session_and_is_said() {
    let mut agent = agent(DRAWN, "Fix it").calls(8);
    agent.messages.splice(..12, [json!({"role": "system", "content": "Be careful. So far: five files were read."})]);
    let agent = agent.calls(3);
    let sessions = agent.read();
    let [first, second] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert_eq!((first.takes_up.as_deref(), second.takes_up.as_deref()), (None, Some(first.id.as_str())));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.jsonl");
    std::fs::write(&path, &agent.log).unwrap();
    let path = path.to_str().unwrap();
    let said = |words: &[&str]| ctxsim(words).stdout();
    let told = said(&["inspect", "--details", path]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("1 session takes up the end of another: its agent cut its history."), "{told}");
    let told = said(&["replay", path, "-p", "none"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("In 1 session (3 of 11 calls) text was removed that the logs do not note"), "{told}");
    // Both are drawn as one, and the native shape keeps what is known.
    let swept: Value = serde_json::from_str(&said(&["sweep", path, "-p", "pi", "--vary", "reserveTokens=1k,2k", "--json"])).unwrap();
    assert_eq!(swept["clusters"], 1, "{swept}");
    let native = folder.path().join("native.jsonl");
    said(&["convert", path, "-o", native.to_str().unwrap()]);
    let (sessions, _) = read_text("native.jsonl", &std::fs::read_to_string(&native).unwrap());
    assert_eq!(sessions.iter().map(|session| session.takes_up.clone()).collect::<Vec<_>>(), [None, Some(first.id.clone())]);
}
