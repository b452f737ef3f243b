//! Edges that the golden vectors do not reach, each with what the system's own code does there.

use super::excerpt::{apply, apply_to_texts, tool_cap};
use super::given::{ENDLESS, Given, call, part, plan};
use ctxsim::format::agents::pi::refusal::{Answer, Refusals, Rules};
use ctxsim::policy::{Facts, Plan};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;
use serde_json::{Value, json};

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, item_bytes: 0, sealed_thousandths: 0 };

fn preset(name: &'static str, settings: &[(&str, Value)]) -> Plan {
    let settings: Vec<(&str, &Value)> = settings.iter().map(|(name, value)| (*name, value)).collect();
    plan(name, FACTS, &settings)
}

/// Messages, a letter each (`u`, `a`, `c` for a call, `t`), and how many letters each of them says.
fn conversation(said: &[(char, usize)]) -> Given {
    let mut given = Given::default();
    for (who, letters) in said {
        let words = "x".repeat(*letters);
        match who {
            'u' => given.push(Role::User, vec![part(PartKind::Text, &words)]),
            'c' => given.push(Role::Assistant, vec![call("bash", &words)]),
            't' => given.push(Role::Tool, vec![part(PartKind::ToolResult, &words)]),
            _ => given.push(Role::Assistant, vec![part(PartKind::Text, &words)]),
        };
    }
    given
}

/// The messages that are left after a rule.
fn left(given: &Given, plan: &Plan, rule: &str) -> Vec<u32> {
    let mut probe = given.probe(plan, &ENDLESS);
    probe.force(rule);
    probe.context().live().filter_map(|(_, entry)| entry.message.get()).collect()
}

#[test]
fn pi_falls_back_to_the_oldest_place_or_to_the_newest() {
    // The newest result alone is more than what stays, and nothing behind it could be first.
    let said = conversation(&[('t', 40), ('u', 40), ('c', 4), ('t', 4_000)]);
    let keep = [("keepRecentTokens", json!(100))];
    assert_eq!(left(&said, &preset("pi@0.58", &keep), "compact"), [1, 2, 3]);
    assert_eq!(left(&said, &preset("pi@1.5", &keep), "compact"), [2, 3]);
}

#[test]
fn pi_cuts_results_for_its_summariser_at_whole_characters_since_1_5() {
    let result = format!("x{}", "😀".repeat(1_000));
    let shown = |name| {
        let plan = preset(name, &[]);
        let cap = plan.rule.iter().find_map(|rule| rule.summarise.as_ref()).and_then(tool_cap);
        apply(&cap.unwrap(), &result).unwrap()
    };
    let note = "\n\n[... 1 more characters truncated]";
    assert_eq!(shown("pi@1.5"), format!("x{}{note}", "😀".repeat(999)));
    assert_eq!(shown("pi@0.58"), format!("x{}\u{fffd}{note}", "😀".repeat(999)));
}

#[test]
fn pi_knows_no_refusal_by_a_window_that_it_does_not_know() {
    for rules in [Rules::Before1, Rules::Since1] {
        for stop_reason in ["stop", "length"] {
            let answer = Answer { stop_reason, prompt: 10, window: Some(0), ..Answer::default() };
            assert!(!Refusals::by(rules).include(&answer));
        }
    }
}

#[test]
fn opencode_keeps_turns_and_nothing_that_stands_in_front_of_them() {
    let plan = preset("opencode@1.15", &[]);
    // What was left of a turn that was split before is in no turn.
    assert_eq!(left(&conversation(&[('a', 40), ('a', 40), ('u', 40), ('a', 40)]), &plan, "compact"), [2, 3]);
    // Where the turns are all there is, everything is summarised.
    assert_eq!(left(&conversation(&[('u', 40), ('a', 40), ('u', 40), ('a', 40)]), &plan, "compact"), [0_u32; 0]);
}

#[test]
fn opencode_keeps_a_tail_where_a_refused_request_was_the_first() {
    let plan = preset("opencode@1.15", &[("preserve_recent_tokens", json!(100))]);
    let said = [('u', 40), ('a', 4_000), ('a', 40)];
    assert_eq!(left(&conversation(&said), &plan, "overflow"), [2]);
    // With a request before it, the last one is replayed, and what came of it is gone.
    let said = [('u', 40), ('a', 4_000), ('u', 40), ('a', 40)];
    assert_eq!(left(&conversation(&said), &plan, "overflow"), [2]);
}

#[test]
fn opencode_counts_an_empty_line_that_it_keeps() {
    let plan = preset("opencode@1.15", &[("tool_output_max_lines", json!(1))]);
    let limits = plan.rule.iter().find(|rule| rule.id == "output-limit").and_then(|rule| rule.truncate.as_ref()).unwrap();
    assert!(apply(limits, "\n\n\n").unwrap().starts_with("\n\n...3 lines truncated..."));
}

#[test]
fn codex_measures_what_stays_of_user_messages_without_escapes() {
    // 99 bytes, of which 66 are written with two letters each in JSON.
    let lines = "a\r\n".repeat(33);
    let mut given = Given::default();
    given.push(Role::User, vec![part(PartKind::Text, &lines)]);
    given.push(Role::Assistant, vec![part(PartKind::Text, "done")]);
    for (tokens, whole) in [(25, true), (24, false)] {
        let plan = preset("codex@2026-06", &[("user_message_tokens", json!(tokens))]);
        let rule = plan.rule.iter().find(|rule| rule.id == "compact-step").unwrap();
        let probe = given.probe(&plan, &ENDLESS);
        assert_eq!(rule.select.messages(probe.context().view(), 0).shortened.is_empty(), whole, "{tokens}");
    }
}

#[test]
fn codex_keeps_no_result_for_what_a_user_said_before_it() {
    let plan = preset("codex@2026-06", &[]);
    let said = conversation(&[('u', 40), ('c', 4), ('u', 40), ('t', 400), ('a', 4)]);
    assert_eq!(left(&said, &plan, "compact-step"), [0, 2]);
}

#[test]
fn codex_joins_texts_of_nothing_but_for_the_first() {
    let plan = preset("codex@2026-06", &[("tool_output_token_limit", json!(1))]);
    let limits = plan.rule.iter().find(|rule| rule.id == "shell-limit").and_then(|rule| rule.truncate.as_ref()).unwrap();
    let left = apply_to_texts(limits, &[Some(""), Some("abcdef"), Some(""), Some("z")]).unwrap();
    assert_eq!(left, [Some("Total output lines: 3\n\nab…2 tokens truncated…\nz".to_owned())]);
}

#[test]
fn picoclaw_cuts_where_it_was_told_if_no_user_asked_anything() {
    let plan = preset("picoclaw", &[("keep_messages", json!(1))]);
    assert_eq!(left(&conversation(&[('a', 40), ('c', 4), ('t', 40)]), &plan, "summarise"), [2]);
}
