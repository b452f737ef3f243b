//! Hermes Agent: cases made by the functions of the package hermes-agent 0.19.0.

use super::given::{ENDLESS, Given, chat, expanded, list, part, plan};
use super::own::upstream;
use ctxsim::policy::{Facts, Plan};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;
use serde_json::Value;

fn preset(window: &Value) -> Plan {
    plan("hermes@0.19", Facts { window: window.as_u64(), max_input: 0, max_output: 0, family: None, ..Facts::default() }, &[])
}

#[test]
fn the_limit_is_a_share_of_the_window() {
    for case in list(&upstream("hermes")["limits"]) {
        let plan = preset(&case["window"]);
        let mut given = Given::default();
        given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        for (short, fires) in [(1, false), (0, true)] {
            let mut probe = given.probe(&plan, &ENDLESS);
            probe.report(case["threshold"].as_u64().map(|threshold| (threshold - short, 0)));
            assert_eq!(probe.verdict("first").map(|verdict| verdict.fires), Some(fires), "{case}");
        }
    }
}

/// What goes lies between the first three messages and the newest ones, or in front of the newest ones once it has compacted.
#[test]
fn the_middle_goes() {
    let (mut whole, mut all) = (0, 0);
    for (number, case) in list(&expanded(&upstream("hermes")["cuts"])).iter().enumerate() {
        let (plan, given) = (preset(&case["window"]), chat(list(&case["messages"])));
        let probe = given.probe(&plan, &ENDLESS);
        let view = probe.context().view();
        let sizes: Vec<u64> = view.messages().map(|message| message.in_ends).collect();
        assert_eq!(sizes, list(&case["tokens"]).iter().filter_map(Value::as_u64).collect::<Vec<_>>(), "{number}");
        let name = if case["later"] == true { "later" } else { "first" };
        let mut rules =
            [name.to_owned(), format!("{name}-within-turn")].map(|id| plan.rule.iter().find(|rule| rule.id == id).unwrap()).into_iter();
        let gone = rules
            .find_map(|rule| Some(rule.select.messages(view, view.request()).gone).filter(|gone| !gone.is_empty()))
            .unwrap_or_default();
        let found: Vec<u64> = probe.context().live().zip(0..).filter(|((id, _), _)| gone.contains(id)).map(|(_, place)| place).collect();
        // All that may go fits the tail: it is cut by two thirds of that, which the preset does not say.
        if case["fits"] == true {
            continue;
        }
        // Nor does it say that the newest reply with a text stays.
        let until = |name: &str| (case["start"].as_u64().unwrap()..case[name].as_u64().unwrap()).collect::<Vec<u64>>();
        assert_eq!(found, until("without_text_anchor"), "{number}");
        all += 1;
        whole += u32::from(found == until("end"));
    }
    assert!(whole * 4 >= all * 3 && all >= 12, "{whole} of {all}");
}
