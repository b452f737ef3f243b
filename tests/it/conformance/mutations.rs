//! Is the suite awake? Each number that a preset declares is changed, and some vector of its system must notice.

use super::given::{Mutation, with_mutation};
use super::{Case, FUNCTIONS, Function, Passed, cases};
use ctxsim::policy::Policy;

/// The presets that vectors exist for, by the beginning of the names of their functions.
const PRESETS: [(&str, &str); 10] = [
    ("baseagent", "baseagent_"),
    ("picoclaw", "picoclaw_"),
    ("pi@0.12", "pi_"),
    ("pi@0.58", "pi_"),
    ("pi@1.5", "pi_"),
    ("opencode@1.15", "opencode_"),
    ("opencode@2025-12", "opencode_"),
    ("mycoder@1.7", "mycoder_"),
    ("mycoder@documented", "mycoder_"),
    ("codex@2026-06", "codex_"),
];

const ASSUMED: &str = "the size of a text that the vectors leave to a scripted model, or of a prompt that they do not weigh";
const HIDDEN: &str = "what a log hides: given by hand, and each vector that has it sets it";
const LIMIT: &str = "a tool's own limit, of which there is no vector";
const TRIM: &str = "a figure of the loop that no vector reaches";

/// Parameters that no vector can tell, with the reason.
const UNSEEN: &[(&str, &str)] = &[
    ("summary_tokens", ASSUMED),
    ("summary_prefix_tokens", ASSUMED),
    ("summary_wrapper_tokens", ASSUMED),
    ("summary_prompt_tokens", ASSUMED),
    ("continue_tokens", ASSUMED),
    ("status_tokens", ASSUMED),
    ("summary_tool_chars", ASSUMED),
    ("hidden_prompt_tokens", HIDDEN),
    ("system_prompt_tokens", HIDDEN),
    ("tool_definition_tokens", HIDDEN),
    ("base_instruction_tokens", HIDDEN),
    ("exec_output_chars", LIMIT),
    ("read_file_bytes", LIMIT),
    ("web_fetch_bytes", LIMIT),
    ("bash_max_chars", LIMIT),
    ("read_max_lines", LIMIT),
    ("read_line_chars", LIMIT),
    ("grep_max_lines", LIMIT),
    ("grep_line_chars", LIMIT),
    ("find_max_lines", LIMIT),
    ("ls_max_lines", LIMIT),
    ("list_max_lines", LIMIT),
    ("line_max_chars", LIMIT),
    ("view_limit", LIMIT),
    ("page_limit", LIMIT),
    ("max_llm_retries", TRIM),
];

/// Parameters of one preset alone that its vectors cannot tell.
const UNSEEN_IN: &[(&str, &str, &str)] = &[
    ("pi@0.12", "keepRecentTokens", "no vector with 20,000 has replies whose usage lies so far apart; those with other numbers do"),
    ("mycoder@documented", "status_every", "its vectors ask for a compaction alone; mycoder@1.7 has those of the updates"),
    ("mycoder@documented", "high_usage_percent", "as above"),
    ("mycoder@documented", "status_sent", "as above"),
    ("mycoder@documented", "tool_output_limit", "as above"),
    ("mycoder@1.7", "status_sent", "1 or 0 for a provider, which the vectors do not tell apart"),
];

/// The vectors that the preset answers as it stands.
fn passing(function: &Function) -> Vec<Case> {
    cases(function.name).into_iter().filter(|case| matches!(function.run(case), Ok(Passed::Whole))).collect()
}

fn notices(functions: &[(&Function, Vec<Case>)], mutation: &Mutation) -> bool {
    with_mutation(mutation, || {
        functions.iter().any(|(function, cases)| cases.iter().any(|case| !matches!(function.run(case), Ok(Passed::Whole))))
    })
}

#[test]
fn every_number_of_a_preset_matters_to_a_vector() {
    let mut asleep = Vec::new();
    let (mut noticed, mut all) = (0, 0);
    for (preset, prefix) in PRESETS {
        let functions: Vec<(&Function, Vec<Case>)> =
            FUNCTIONS.iter().filter(|function| function.name.starts_with(prefix)).map(|function| (function, passing(function))).collect();
        if functions.iter().all(|(_, cases)| cases.is_empty()) {
            return println!("skipped: no vectors");
        }
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
            if notices(&functions, &mutation) {
                noticed += 1;
                continue;
            }
            let known = UNSEEN.iter().find(|(unseen, _)| unseen == name).map(|(_, reason)| *reason);
            let known = known.or(UNSEEN_IN.iter().find(|(of, unseen, _)| *of == preset && unseen == name).map(|(.., reason)| *reason));
            match known {
                Some(reason) => println!("{preset} {name}: unnoticed, {reason}"),
                None => asleep.push(format!("{preset}: {name} = {} instead of {:?}", mutation.value, parameter.value)),
            }
        }
    }
    println!("{noticed} of {all} changed numbers noticed");
    assert!(asleep.is_empty(), "no vector notices\n{}", asleep.join("\n"));
}
