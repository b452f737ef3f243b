//! Is the suite awake? Each number that a preset declares is changed, and some vector of its system must notice.

use super::given::{Mutation, with_mutation};
use super::{Case, Checked, Function, Passed, own, vectors};
use crate::support::skip;
use ctxsim::policy::Policy;

/// The presets that vectors exist for, by the beginning of the names of their functions.
const PRESETS: [(&str, &str); 11] = [
    ("baseagent", "baseagent_"),
    ("picoclaw", "picoclaw_"),
    ("picoclaw@smart", "picoclaw_"),
    ("pi@0.12", "pi_"),
    ("pi@0.58", "pi_"),
    ("pi@1.5", "pi_"),
    ("opencode@1.15", "opencode_"),
    ("opencode@2025-12", "opencode_"),
    ("mycoder@1.7", "mycoder_"),
    ("mycoder@documented", "mycoder_"),
    ("codex@2026-06", "codex_"),
];

/// Parameters that no vector can tell, with the reason.
const UNSEEN: &[(&str, &str, &str)] = &[];

/// The whole set has so many vectors. A part of it passes or fails case by case, but may not try every number.
const WHOLE_SET: usize = 1_000;

fn notices(functions: &[(&Function, Vec<&Case>)], own: &[Case], mutation: &Mutation) -> bool {
    with_mutation(mutation, || {
        let mut own = own.iter().filter(|case| own::preset(case) == mutation.preset);
        own.any(|case| own::check(case).is_err())
            || functions.iter().any(|(function, cases)| cases.iter().any(|case| !matches!(function.run(case), Ok(Passed::Whole))))
    })
}

#[test]
fn every_number_of_a_preset_matters_to_a_vector() {
    let mut asleep = Vec::new();
    let (mut noticed, mut all) = (0, 0);
    let count: usize = vectors().values().filter(|vectors| vectors.function.is_some()).map(|vectors| vectors.tried.len()).sum();
    if count < WHOLE_SET {
        return skip("CTXSIM_REQUIRE_COLLECTION", &format!("{count} vectors are too few to notice every number"));
    }
    for (preset, prefix) in PRESETS {
        // The vectors that the presets answer as they stand.
        let passing = |tried: &'static [(Case, Checked)]| {
            tried.iter().filter(|(_, checked)| matches!(checked, Ok(Passed::Whole))).map(|(case, _)| case).collect()
        };
        let functions: Vec<(&Function, Vec<&Case>)> = vectors()
            .iter()
            .filter(|(name, vectors)| name.starts_with(prefix) && vectors.presets.contains(preset))
            .filter_map(|(_, vectors)| Some((vectors.function?, passing(&vectors.tried))))
            .collect();
        if !vectors().keys().any(|name| name.starts_with(prefix)) {
            return skip("CTXSIM_REQUIRE_SHARED", "no vectors");
        }
        let own: Vec<Case> = own::cases(prefix.trim_end_matches('_')).into_iter().filter(|case| own::check(case).is_ok()).collect();
        let policy = Policy::load(preset).unwrap();
        for (name, parameter) in &policy.params {
            let changed = match (parameter.value.as_integer(), parameter.value.as_float()) {
                (Some(0), _) => "1".to_owned(),
                (Some(1), _) if parameter.unit == "0 or 1" => "0".to_owned(),
                (Some(number), _) => (number * 3 / 2 + 1).to_string(),
                (_, Some(number)) => (number * 0.75).to_string(),
                // A formula over other parameters moves with them.
                _ => continue,
            };
            all += 1;
            let mutation = Mutation { preset, parameter: name.clone(), value: changed };
            if notices(&functions, &own, &mutation) {
                noticed += 1;
                continue;
            }
            let known = UNSEEN.iter().find(|(of, unseen, _)| *of == preset && unseen == name).map(|(.., reason)| *reason);
            match known {
                Some(reason) => println!("{preset} {name}: unnoticed, {reason}"),
                None => asleep.push(format!("{preset}: {name} = {} instead of {:?}", mutation.value, parameter.value)),
            }
        }
    }
    println!("{noticed} of {all} changed numbers noticed");
    assert!(asleep.is_empty(), "no vector notices\n{}", asleep.join("\n"));
}
