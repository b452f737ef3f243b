//! Kimi CLI: cases made by the functions of the package kimi-cli 1.52.0.

use super::given::{ENDLESS, chat, list, part, plan, text};
use super::own::upstream;
use ctxsim::policy::{Facts, Plan};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;

fn preset(window: u64) -> Plan {
    plan("kimi-cli@1.28", Facts { window: Some(window), max_input: 0, max_output: 0, family: None, ..Facts::default() }, &[])
}

/// What goes, and what each message counts for. Where nothing goes it makes no request.
#[test]
fn the_last_two_messages_stay_with_the_results_between_them() {
    for case in list(&upstream("kimi_cli")["prepare"]) {
        let (plan, given) = (preset(262_144), chat(list(&case["messages"])));
        let probe = given.probe(&plan, &ENDLESS);
        let view = probe.context().view();
        let rule = plan.rule.iter().find(|rule| rule.id == "compact").unwrap();
        // The system's message stands beside its history, and never in it; the function takes one for any other.
        let name = text(&case["name"]);
        if !name.contains('s') {
            let gone = rule.select.messages(view, view.request()).gone.len() as u64;
            assert_eq!(Some(gone), case["gone"].as_u64(), "{name}");
        }
        let sizes: Vec<u64> =
            probe.context().live().filter(|(_, entry)| entry.role != Role::System).map(|(_, entry)| entry.estimated).collect();
        let roles = name.chars().filter(|_| name != "empty");
        let expected = list(&case["tokens"]).iter().zip(roles).filter(|(_, role)| *role != 's').filter_map(|(size, _)| size.as_u64());
        assert_eq!(sizes, expected.collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn it_compacts_by_the_share_or_by_the_reserve() {
    for case in list(&upstream("kimi_cli")["trigger"]) {
        let plan = preset(case["window"].as_u64().unwrap());
        let mut given = super::given::Given::default();
        given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        let mut probe = given.probe(&plan, &ENDLESS);
        probe.report(case["used"].as_u64().map(|used| (used, 0)));
        assert_eq!(probe.verdict("compact").map(|verdict| verdict.fires), case["compact"].as_bool(), "{case}");
    }
}
