//! The oracle and the bound: over random sessions no policy is ahead of the oracle and the oracle is never ahead of the bound; on sessions small
//! enough to try every choice, the best choice lies between the two.

use crate::made;
use ctxsim::policy::{Facts, Policy, presets};
use ctxsim::sim::hindsight::Lookahead;
use ctxsim::sim::{Conditions, in_hindsight};
use ctxsim::trace::{CallRow, Evidence, MessageRow, PartKind, PartRow, Place, Reference, Trace};
use ctxsim::transcript::{Length, Role, Standing, Text};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn part(kind: PartKind, tokens: u64) -> PartRow {
    let chars = tokens as u32 * 4;
    PartRow {
        tool: (kind == PartKind::ToolResult).then_some(0).into(),
        text: Text {
            length: Length { bytes: chars, utf16: chars, chars, newlines: chars / 40 },
            tokens: tokens as u32,
            json_bytes: chars,
            ..Text::default()
        },
        truth: tokens,
        ..made::part(kind)
    }
}

/// A step of a session: does the user speak before it, what the reply and the result weigh, and which earlier parts the reply takes up (for each reference
/// one or two numbers, taken modulo the parts that are there).
type Step = (bool, u64, u64, Vec<(u32, Option<u32>)>);

fn steps(largest: u64, length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let reference = (any::<u32>(), proptest::option::weighted(0.3, any::<u32>()));
    let step = (proptest::bool::weighted(0.2), 1..60_u64, 1..largest, proptest::collection::vec(reference, 0..3));
    proptest::collection::vec(step, length)
}

fn session(steps: &[Step]) -> Trace {
    let mut trace = Trace { tools: vec!["read".to_owned()], ..Trace::default() };
    let mut turn = 1;
    let mut visible = 0;
    let push = |trace: &mut Trace, role: Role, kind: PartKind, tokens: u64, turn: u32| {
        let first_part = trace.parts.len() as u32;
        trace.parts.push(part(kind, tokens));
        trace.messages.push(MessageRow { first_part, part_count: 1, turn, ..made::message(role) });
    };
    push(&mut trace, Role::System, PartKind::Text, 50, 0);
    push(&mut trace, Role::User, PartKind::Text, 20, 1);
    visible += 70;
    for (place, (speaks, reply, result, references)) in steps.iter().enumerate() {
        if *speaks && place > 0 {
            turn += 1;
            push(&mut trace, Role::User, PartKind::Text, 15, turn);
            visible += 15;
        }
        let message = trace.messages.len() as u32;
        let parts = trace.parts.len() as u32;
        let mut taken = BTreeSet::new();
        for (one, other) in references {
            let mut sources = vec![one % parts];
            sources.extend(other.map(|other| other % parts).filter(|other| *other != one % parts));
            if taken.insert(sources[0]) {
                // Two pieces, anywhere in each source.
                let place = |part: u32| {
                    let (first, bytes) = (trace.pieces.len() as u32, trace.parts.get(part as usize).unwrap().text.length.bytes);
                    let starts = [*one, one.rotate_left(16) ^ part].map(|number| (number % bytes.max(1)) as usize);
                    trace.pieces.extend(starts.map(|start| Standing::once(start..start + 4)));
                    Place { part, first, pieces: 2 }
                };
                let sources = sources.into_iter().map(place).collect();
                trace.references.push(Reference { message, kind: Evidence::Line, weight: 2, sources, beside: Vec::new(), summary: None });
            }
        }
        trace.calls.push(CallRow { visible, output: *reply, ..made::call(message) });
        push(&mut trace, Role::Assistant, PartKind::ToolCall, *reply, turn);
        push(&mut trace, Role::Tool, PartKind::ToolResult, *result, turn);
        visible += reply + result;
    }
    trace
}

fn conditions(window: u64) -> Conditions {
    Conditions { window, prompt_limit: window, ..Conditions::default() }
}

/// The most references that can be kept at a budget, by trying for every part to carry it until each of its uses, or not at all. The sizes
/// are summed up anew from the trace.
fn best(trace: &Trace, budget: u64) -> usize {
    let entry = |part: u32| trace.calls.iter().position(|call| trace.message_of(part).unwrap() < call.message).unwrap();
    let system = |part: u32| trace.messages[trace.message_of(part).unwrap() as usize].role == Role::System;
    let call_of = |reference: &Reference| trace.calls.iter().position(|call| call.message == reference.message).unwrap();
    let parts: Vec<u32> =
        trace.references.iter().flat_map(|it| it.sources.iter().map(|place| place.part)).collect::<BTreeSet<_>>().into_iter().collect();
    let taken = |call: usize| -> u64 {
        let before = trace.calls[call].message;
        let since = if call == 0 { 0 } else { trace.calls[call - 1].message };
        let counts = |part: &u32| {
            let message = trace.message_of(*part).unwrap();
            message < before && (message >= since || system(*part))
        };
        (0..trace.parts.len() as u32).filter(counts).map(|part| trace.parts.get(part as usize).unwrap().truth).sum()
    };
    let rooms: Vec<u64> = (0..trace.calls.len()).map(|call| budget.saturating_sub(taken(call))).collect();
    let options = |part: u32| -> Vec<usize> {
        let mut options = vec![entry(part)];
        if system(part) {
            return vec![trace.calls.len()];
        }
        options.extend(trace.references.iter().filter(|it| it.sources.iter().any(|place| place.part == part)).map(call_of));
        options.sort_unstable();
        options.dedup();
        options
    };
    fn choose(at: usize, parts: &[u32], options: &[Vec<usize>], chosen: &mut Vec<usize>, judge: &mut dyn FnMut(&[usize])) {
        if at == parts.len() {
            return judge(chosen);
        }
        for option in &options[at] {
            chosen.push(*option);
            choose(at + 1, parts, options, chosen, judge);
            chosen.pop();
        }
    }
    let options: Vec<Vec<usize>> = parts.iter().map(|part| options(*part)).collect();
    let mut most = 0;
    choose(0, &parts, &options, &mut Vec::new(), &mut |until: &[usize]| {
        let there = |place: usize, call: usize| entry(parts[place]) <= call && call <= until[place];
        let fits = (0..rooms.len()).all(|call| {
            let old = |place: &usize| there(*place, call) && entry(parts[*place]) < call && !system(parts[*place]);
            (0..parts.len()).filter(old).map(|place| trace.parts.get(parts[place] as usize).unwrap().truth).sum::<u64>() <= rooms[call]
        });
        if fits {
            let kept = |it: &&Reference| {
                it.sources.iter().any(|source| there(parts.iter().position(|part| *part == source.part).unwrap(), call_of(it)))
            };
            most = most.max(trace.references.iter().filter(kept).count());
        }
    });
    most
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_best_choice_lies_between_oracle_and_bound(steps in steps(300, 1..6), budget in 50..900_u64) {
        let trace = session(&steps);
        let ahead = Lookahead::of_everything(&trace).at_budget(budget);
        let kept = ahead.oracle().iter().filter(|kept| **kept).count();
        let (bound, plain, best) = (ahead.bound(kept as u64), ahead.bound_at_equal_prices(), best(&trace, budget));
        prop_assert!(kept <= best, "oracle {kept}, best {best}");
        prop_assert!(best as u64 <= bound, "best {best}, bound {bound}");
        prop_assert!(bound <= plain, "bound {bound}, at equal prices {plain}");
        let wider = Lookahead::of_everything(&trace).at_budget(budget + 100);
        prop_assert!(ahead.bound_at_equal_prices() <= wider.bound_at_equal_prices());
    }

    #[test]
    fn no_policy_is_ahead_of_the_oracle_nor_the_oracle_of_the_bound(steps in steps(4_000, 10..60), window in 4_000..60_000_u64) {
        let trace = session(&steps);
        for preset in presets() {
            let plan = Policy::load(preset.name).unwrap().plan(&Facts { window: Some(window), ..Facts::default() });
            let Ok(plan) = plan else { continue };
            let outcome = in_hindsight(&trace, &plan, &conditions(window), &mut |_, _| {});
            let retention = &outcome.totals.retention;
            let lines = retention.of(Evidence::Line);
            prop_assert!(lines.kept <= retention.oracle, "{}: kept {}, oracle {}", preset.name, lines.kept, retention.oracle);
            prop_assert!(retention.oracle <= retention.achievable, "{}: oracle {}, bound {}", preset.name, retention.oracle, retention.achievable);
            prop_assert!(retention.achievable <= lines.all());
            prop_assert!(retention.oracle_broken_calls <= retention.broken_calls || retention.oracle > lines.kept);
        }
    }
}
