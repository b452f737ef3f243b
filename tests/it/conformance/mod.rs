//! Every golden vector, through the code that the presets drive: estimators, triggers, selections, actions and the loop, by the
//! presets' own documents. `docs/fidelity.md` tells what is not modelled, and why.

mod baseagent;
mod cline;
mod codex;
mod cuts;
mod digest;
mod edges;
pub mod excerpt;
mod gemini;
mod given;
mod hermes;
mod kimi;
mod kimi_cli;
mod mutations;
mod mycoder;
mod opencode;
mod opencode_2;
mod own;
mod pi;
mod picoclaw;
mod qwen;
mod vibe;

use super::support;
use ctxsim::format::ground::whole_characters;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// One vector, its texts expanded.
pub struct Case {
    name: String,
    input: Value,
    params: Value,
    expected: Value,
}

/// What came of a vector that did not fail.
pub enum Passed {
    /// Everything that it expects.
    Whole,
    /// Nothing in the vocabulary stands for what it is about: the reason.
    NotModelled(&'static str),
}

/// `Err` says what was wrong.
type Checked = Result<Passed, String>;

/// A function of a system: the name of its file, and the check.
struct Function {
    name: &'static str,
    check: fn(&Case) -> Checked,
}

impl Function {
    /// The check; a panic is a failure like any other.
    fn run(&self, case: &Case) -> Checked {
        std::panic::catch_unwind(|| (self.check)(case)).unwrap_or_else(|_| Err("it panicked".to_owned()))
    }
}

const fn function(name: &'static str, check: fn(&Case) -> Checked) -> Function {
    Function { name, check }
}

const FUNCTIONS: [Function; 85] = [
    function("baseagent_estimate_tokens", baseagent::estimate_tokens),
    function("baseagent_is_overflow", baseagent::is_overflow),
    function("baseagent_loop", baseagent::whole_loop),
    function("baseagent_manage_context", baseagent::manage_context),
    function("baseagent_middle_out_truncate", baseagent::middle_out_truncate),
    function("baseagent_prune", baseagent::prune),
    function("cline_agentic_compaction_v3_0_65", cline::agentic_compaction),
    function("cline_basic_compaction_v3_0_65", cline::basic_compaction),
    function("cline_command_output_v3_0_65", cline::command_output),
    function("cline_cut_index_v3_0_65", cline::cut_index),
    function("cline_serialise_v3_0_65", cline::serialise),
    function("cline_trigger_v3_0_65", cline::trigger),
    function("codex_build_compacted_history", codex::build_compacted_history),
    function("codex_estimate_items", codex::estimate_items),
    function("codex_model_limits", codex::model_limits),
    function("codex_record_items_truncation", codex::record_items_truncation),
    function("codex_remove_first_item", codex::remove_first_item),
    function("codex_total_token_usage", codex::total_token_usage),
    function("codex_truncate_output_items", codex::truncate_output_items),
    function("codex_truncate_text", codex::truncate_text),
    function("gemini_compress_v0_61", gemini::compress),
    function("gemini_estimate_tokens_v0_61", gemini::estimate_tokens),
    function("gemini_mask_v0_61", gemini::mask),
    function("gemini_split_point_v0_61", gemini::split_point),
    function("gemini_truncate_output_v0_61", gemini::truncate_output),
    function("kimi_compaction_shape_v2_1", kimi::compaction_shape),
    function("kimi_estimate_messages_v2_1", kimi::estimate_messages),
    function("kimi_estimate_text_v2_1", kimi::estimate_text),
    function("kimi_overflow_shrink_v2_1", kimi::overflow_shrink),
    function("kimi_select_user_messages_v2_1", kimi::select_user_messages),
    function("kimi_should_compact_v2_1", kimi::should_compact),
    function("kimi_tool_result_truncation_v2_1", kimi::tool_result_truncation),
    function("mycoder_compact_history", mycoder::compact_history),
    function("mycoder_loop", mycoder::whole_loop),
    function("mycoder_status_update", mycoder::status_update),
    function("mycoder_tool_output_limit", mycoder::tool_output_limit),
    function("opencode_compaction_select_v1_15", opencode::compaction_select),
    function("opencode_filter_compacted_v1_15", opencode::filter_compacted),
    function("opencode_is_overflow_2025_12", opencode::is_overflow_2025),
    function("opencode_is_overflow_v1_15", opencode::is_overflow),
    function("opencode_prune_2025_12", opencode::prune_2025),
    function("opencode_prune_v1_15", opencode::prune),
    function("opencode_token_estimate", opencode::token_estimate),
    function("opencode_truncate_tool_output_v1_15", opencode::truncate_tool_output),
    function("kilo_compaction_select_v7_7_9", opencode::kilo_select),
    function("kilo_is_overflow_v7_7_9", opencode::kilo_overflow),
    function("kilo_prune_v7_7_9", opencode::kilo_prune),
    function("opencode_compaction_select_v1_18_33", opencode::select_1_18),
    function("opencode_is_overflow_v1_18_33", opencode::overflow_1_18),
    function("opencode_prune_v1_18_33", opencode::prune_1_18),
    function("opencode_tool_truncate_v1_18_33", opencode::truncate_1_18),
    function("kilo_preflight_v7_7_9", opencode::kilo_preflight),
    function("opencode_required_v2", opencode_2::required),
    function("opencode_tail_v2", opencode_2::tail),
    function("opencode_truncate_tool_output_v2", opencode_2::truncate_tool_output),
    function("opencode_summariser_text_v1_18_33", opencode::summariser_text),
    function("kilo_summariser_text_v7_7_9", opencode::summariser_text),
    function("pi_estimate_context_tokens", pi::estimate_context_tokens),
    function("pi_estimate_tokens", pi::estimate_tokens),
    function("pi_estimate_context_tokens_v0_73_1", pi::estimate_context_tokens),
    function("pi_estimate_tokens_v0_73_1", pi::estimate_tokens),
    function("pi_find_cut_point_v0_73_1", pi::find_cut_point),
    function("pi_prepare_compaction_v0_73_1", pi::prepare_compaction),
    function("pi_should_compact_v0_73_1", pi::should_compact),
    function("pi_find_cut_point", pi::find_cut_point),
    function("pi_is_context_overflow", pi::is_context_overflow),
    function("pi_prepare_compaction", pi::prepare_compaction),
    function("pi_serialize_conversation", pi::serialize_conversation),
    function("pi_should_compact", pi::should_compact),
    function("pi_truncate", pi::truncate),
    function("picoclaw_estimate_tokens", picoclaw::estimate_tokens),
    function("picoclaw_force_compression", picoclaw::force_compression),
    function("picoclaw_is_over_budget", picoclaw::is_over_budget),
    function("picoclaw_safe_boundary", picoclaw::safe_boundary),
    function("picoclaw_shell_truncate_bytes", picoclaw::shell_truncate_bytes),
    function("picoclaw_summarize", picoclaw::summarize),
    function("picoclaw_trim_history", picoclaw::trim_history),
    function("picoclaw_truncate_context_smart_unused", picoclaw::truncate_context_smart),
    function("qwen_clamp_output_v0_24", qwen::clamp_output),
    function("qwen_compress_v0_24", qwen::compress),
    function("qwen_estimate_contents_v0_24", qwen::estimate_contents),
    function("qwen_microcompact_v0_24", qwen::microcompact),
    function("qwen_prompt_estimate_v0_24", qwen::prompt_estimate),
    function("qwen_thresholds_v0_24", qwen::thresholds),
    function("qwen_truncate_tool_output_v0_24", qwen::truncate_tool_output),
];

/// The files of vectors below the shared folders, in whatever folders they lie; none where there are none.
fn files() -> Vec<PathBuf> {
    let Some(shared) = support::shared() else { return Vec::new() };
    let mut folders = vec![shared.join("vectors"), shared.join("vectors-2")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        let (inner, here): (Vec<PathBuf>, Vec<PathBuf>) = support::files(&folder).into_iter().partition(|path| path.is_dir());
        folders.extend(inner);
        files.extend(here.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")));
    }
    files.sort();
    files
}

/// The name of the function that a file is about.
fn function_of(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The vectors of a file. JSON cannot say half of a character: there they stand as the texts are hashed, with U+FFFD in its place.
fn cases_in(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let vectors: Value = whole_characters(&text).as_deref().unwrap_or(&text).parse().unwrap();
    let case = |vector: &Value| Case {
        name: given::text(&vector["name"]).to_owned(),
        input: given::expanded(&vector["input"]),
        params: vector["params"].clone(),
        expected: vector["expected"].clone(),
    };
    vectors.as_array().unwrap().iter().map(case).collect()
}

/// The vectors of a function that is held against a preset or not, what came of each, and the presets that were asked for.
struct Vectors {
    function: Option<&'static Function>,
    tried: Vec<(Case, Checked)>,
    presets: BTreeSet<&'static str>,
}

/// All vectors by the name of their function; none where they are absent.
fn vectors() -> &'static BTreeMap<String, Vectors> {
    static VECTORS: LazyLock<BTreeMap<String, Vectors>> = LazyLock::new(|| {
        let mut cases: BTreeMap<String, Vec<Case>> = BTreeMap::new();
        files().iter().for_each(|file| cases.entry(function_of(file)).or_default().extend(cases_in(file)));
        let tried = |(name, cases): (String, Vec<Case>)| {
            let function = FUNCTIONS.iter().find(|function| function.name == name);
            let run =
                |case: &Case| function.map_or(Ok(Passed::NotModelled("no preset is held against this function")), |one| one.run(case));
            let (tried, presets) =
                given::presets_of(|| cases.into_iter().map(|case| (run(&case), case)).map(|(of, case)| (case, of)).collect());
            (name, Vectors { function, tried, presets })
        };
        cases.into_iter().map(tried).collect()
    });
    // Each test that finds none says so.
    support::shared();
    &VECTORS
}

/// `Err` where what was found is not what the vector expects.
fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}

/// By system how many vectors pass, and how many there are.
pub fn tallies() -> BTreeMap<String, (usize, usize)> {
    let mut tallies: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (name, vectors) in vectors() {
        let (passed, all) = tallies.entry(name.split('_').next().unwrap().to_owned()).or_default();
        *passed += vectors.tried.iter().filter(|(_, checked)| matches!(checked, Ok(Passed::Whole))).count();
        *all += vectors.tried.len();
    }
    tallies
}

#[test]
fn every_vector_passes_or_is_named_as_not_modelled() {
    let (mut passed, mut all, mut broken) = (0, 0, Vec::new());
    for (name, Vectors { tried: cases, .. }) in vectors() {
        let mut wrong = Vec::new();
        let mut not_modelled: BTreeMap<&str, usize> = BTreeMap::new();
        for (case, checked) in cases {
            match checked {
                Ok(Passed::Whole) => {}
                Ok(Passed::NotModelled(reason)) => *not_modelled.entry(reason).or_default() += 1,
                Err(difference) => wrong.push(format!("{name}: {}: {difference}", case.name)),
            }
        }
        let unknown = not_modelled.values().sum::<usize>();
        let passes = cases.len() - wrong.len() - unknown;
        println!("{name}: {passes} of {} passed, {} wrong, {unknown} not modelled", cases.len(), wrong.len());
        not_modelled.iter().for_each(|(reason, count)| println!("    {count} not modelled: {reason}"));
        wrong
            .iter()
            .take(if std::env::var_os("CONFORMANCE_ALL").is_some() { usize::MAX } else { 3 })
            .for_each(|line| println!("    WRONG {line:.600}"));
        if !wrong.is_empty() {
            broken.push(format!("{name}: {} wrong", wrong.len()));
        }
        passed += passes;
        all += cases.len();
    }
    println!("{passed} of {all} vectors passed");
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// What a file of vectors may hold that no recording of JSON may.
#[test]
fn a_file_of_vectors_may_hold_half_of_a_character() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("function.json");
    std::fs::write(&file, r#"[{"name":"half","input":{"text":"a\ud83d","whole":"\ud83d\ude00"},"params":{},"expected":{}}]"#).unwrap();
    let cases = cases_in(&file);
    assert_eq!(function_of(&file), "function");
    assert_eq!((given::text(&cases[0].input["text"]), given::text(&cases[0].input["whole"])), ("a\u{fffd}", "\u{1f600}"));
}
