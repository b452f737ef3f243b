//! Mistral Vibe: cases made by functions of 2.26.1, and by running the core of 3.0.3.

use super::given::{ENDLESS, Given, list, part, plan, text};
use super::own::upstream;
use ctxsim::policy::{Facts, Plan};
use ctxsim::sim::{Probe, Standing};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;

fn preset(name: &'static str, window: u64) -> Plan {
    plan(name, Facts { window: Some(window), max_input: 0, max_output: 0, family: None, ..Facts::default() }, &[])
}

/// The newest messages of the user within 20,000 tokens, and the ends of the one on the line. What the program puts in the user's name goes.
#[test]
fn twenty_thousand_tokens_of_the_users_messages_stay() {
    let plan = preset("mistral-vibe@2.26", 262_144);
    let rule = plan.rule.iter().find(|rule| rule.id == "compact").unwrap();
    for case in list(&upstream("vibe")["selected"]) {
        let (mut given, mut names) = (Given::default(), Vec::new());
        for message in list(&case["messages"]) {
            let role = if message[0] == "assistant" { Role::Assistant } else { Role::User };
            let words = text(&message[1]).repeat(message[2].as_u64().unwrap() as usize);
            let index = given.push(role, vec![part(PartKind::Text, &words)]);
            given.trace.messages[index as usize].synthetic = message[3] == true;
            names.push((text(&message[1]).to_owned(), words.len() as u64));
        }
        let probe = given.probe(&plan, &ENDLESS);
        let view = probe.context().view();
        let selection = rule.select.messages(view, view.request());
        let live = probe.context().live().zip(&names).filter(|((id, _), _)| !selection.gone.contains(id));
        let kept: Vec<(&str, u64)> = live
            .map(|((id, _), (name, length))| {
                let cut = selection.shortened.iter().find(|cut| cut.id == id);
                (name.as_str(), cut.map_or(length.div_ceil(4), |cut| cut.keeps))
            })
            .collect();
        let expected: Vec<(&str, u64)> =
            list(&case["kept"]).iter().map(|kept| (text(&kept[0]), kept[2].as_u64().unwrap().div_ceil(4))).collect();
        assert_eq!(kept, expected, "{case}");
    }
}

#[test]
fn the_threshold_lies_below_the_window() {
    for case in list(&upstream("vibe")["bounds"]) {
        let plan = preset("mistral-vibe@3", case["window"].as_u64().unwrap());
        let mut given = Given::default();
        given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        for (short, fires) in [(1, false), (0, true)] {
            let mut probe = given.probe(&plan, &ENDLESS);
            probe.report(case["threshold"].as_u64().map(|threshold| (threshold - short, 0)));
            assert_eq!(probe.verdict("compact").map(|verdict| verdict.fires), Some(fires), "{case}");
        }
    }
}

/// From how many characters of a new message on it compacts, whatever the usage before. It adds some ten tokens a message.
#[test]
fn the_estimate_of_the_next_request_is_scaled_by_usage() {
    // Of this window the threshold is 50,000.
    let plan = preset("mistral-vibe@3", 110_000);
    for case in list(&upstream("vibe")["trigger"]) {
        let of = |name: &str| case[name].as_u64().unwrap();
        let fires = |more: i64| {
            let mut given = Given::default();
            given.push(Role::System, vec![part(PartKind::Text, &"s".repeat(12_604))]);
            given.push(Role::User, vec![part(PartKind::Text, &"u".repeat(of("first") as usize))]);
            given.push(Role::Assistant, vec![part(PartKind::Text, &"r".repeat(40))]);
            given.push(Role::User, vec![part(PartKind::Text, &"n".repeat((of("fires_from") as i64 + more) as usize))]);
            let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
            (0..3).for_each(|message| probe.enter(message, Standing::Recorded));
            probe.report(Some((of("usage"), of("output"))));
            probe.enter(3, Standing::Recorded);
            probe.verdict("compact").is_some_and(|verdict| verdict.fires)
        };
        assert_eq!((fires(-150), fires(250)), (false, true), "{case}");
    }
}
