//! The model catalogue: names as logs spell them, windows, picture formulas.

use crate::support::shared;
use ctxsim::catalog::{Catalog, CatalogError, Family, ImageRule, Thinking, VocabularyName};
use std::collections::BTreeSet;

fn catalog() -> Catalog {
    Catalog::builtin().expect("the tables that ship with the program parse")
}

/// The id that a name leads to.
fn id(name: &str) -> Option<String> {
    catalog().find(name).map(|model| model.id.clone())
}

#[test]
fn every_recorded_model_is_known() {
    /// Names in the recorded sessions that are no model's, and why.
    const NO_MODEL: [(&str, &str); 4] = [
        ("", "the session names none"),
        ("-", "the session names none"),
        ("None", "the session names none"),
        ("whissle", "a private voice agent in front of an unnamed model"),
    ];
    let Some(shared) = shared() else { return };
    let sources = std::fs::read_to_string(shared.join("transcripts/SOURCES.tsv")).expect("readable");
    let mut lines = sources.lines();
    let column = lines.next().and_then(|head| head.split('\t').position(|name| name == "models")).expect("a column of models");
    let names: BTreeSet<&str> =
        lines.flat_map(|line| line.split('\t').nth(column).unwrap_or("").split([',', ';'])).map(str::trim).collect();
    let catalog = catalog();
    let unknown: Vec<&str> = names.iter().copied().filter(|name| catalog.find(name).is_none()).collect();
    let expected: Vec<&str> = NO_MODEL.iter().map(|(name, _)| *name).filter(|name| names.contains(name)).collect();
    assert_eq!(unknown, expected);
    assert!(names.len() > 60, "only {} names", names.len());
}

#[test]
fn each_spelling_leads_to_its_model() {
    let spellings = [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("anthropic/claude-opus-4.1", "claude-opus-4-1"),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("claude-4.5-opus-high-thinking", "claude-opus-4-5"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("vertex_ai/claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("CLAUDE-OPUS-4-7", "claude-opus-4-7"),
        ("openai/gpt-5-2025-08-07", "gpt-5"),
        ("openai.gpt-5.6-luna", "gpt-5.6-luna"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("gpt-oss:20b", "gpt-oss-20b"),
        ("gpt-5.3-codex-spark", "gpt-5.3-codex-spark"),
        ("gpt-5.3-codex-high", "gpt-5.3-codex"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("azure/gpt-4-0613", "gpt-4"),
        ("ft:gpt-4o-2024-08-06:someone::abc", "gpt-4o"),
        ("o3-mini-high", "o3-mini"),
        ("gemini/gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("models/gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("gemini-2.0-flash-exp", "gemini-2.0-flash"),
        ("gemini-3.1-pro-preview-customtools", "gemini-3.1-pro-preview"),
        ("ollama/gemma3", "gemma-3"),
        ("google/gemma-3-27b-it:free", "gemma-3"),
        ("azureai/Meta-Llama-3-1-405B-Instruct-jqf", "llama-3.1"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1"),
        ("ollama/llama3.1:8b", "llama-3.1"),
        ("llama-3.3-70b-versatile", "llama-3.3"),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "llama-4-maverick"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek-r1-distill-llama"),
        ("deepseek/deepseek-chat-v3-0324:free", "deepseek-v3"),
        ("us.deepseek.r1-v1:0", "deepseek-r1"),
        ("openrouter/qwen/qwen3-235b-a22b", "qwen3-235b-a22b"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b-instruct-2507"),
        ("z-ai/glm-4.6", "glm-4.6"),
        ("glm-4.6v", "glm-4.6v"),
        ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-0905"),
        ("MiniMaxAI/MiniMax-M2.5", "minimax-m2.5"),
        ("xai/grok-4-fast-reasoning", "grok-4-fast"),
        ("mistral.mistral-large-2407-v1:0", "mistral-large-2407"),
    ];
    for (spelled, expected) in spellings {
        assert_eq!(id(spelled).as_deref(), Some(expected), "{spelled}");
    }
}

#[test]
fn what_may_cost_more_is_not_billed_as_the_model_it_is_named_after() {
    let catalog = catalog();
    for (spelled, expected) in [
        ("gpt-5-2025-08-07", "gpt-5"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("claude-opus-4.6-1m", "claude-opus-4-6[1m]"),
        ("claude-4.5-opus-high-thinking", "claude-opus-4-5"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("deepseek/deepseek-v3.2-exp", "deepseek-v3.2"),
        ("grok-4-fast-non-reasoning", "grok-4-fast"),
        ("zai-org/GLM-4.6-FP8", "glm-4.6"),
        ("custom:GPT-5.4-Mini-[OpenAI-BYOK]-0", "gpt-5.4-mini"),
        ("o3-pro-2025-06-10", "o3-pro"),
        ("gpt-5.4-pro-2026-03-05", "gpt-5.4-pro"),
        ("glm-4.5-air", "glm-4.5-air"),
        ("moonshotai/kimi-k2", "kimi-k2-0711"),
        ("kimi-k2-turbo-preview", "kimi-k2-turbo"),
        ("chat-latest", "gpt-chat-latest"),
    ] {
        assert_eq!(catalog.billed_as(spelled).map(|model| model.id.as_str()), Some(expected), "{spelled}");
    }
    for (name, window) in [
        ("o3-deep-research", "o3"),
        ("gpt-5.6-pro", "gpt-5.6"),
        ("o4-mini-deep-research", "o4-mini"),
        ("gpt-4o-audio-preview", "gpt-4o"),
        ("ft:gpt-4o", "gpt-4o"),
        ("gpt-5-priority", "gpt-5"),
        ("gpt-5-custom", "gpt-5"),
        ("claude-opus-4-6-fast", "claude-opus-4-6"),
        ("glm-4.5-x", "glm-4.5"),
        ("gemini-2.5-pro-exp-03-25", "gemini-2.5-pro"),
        ("grok-code-fast-1:free", "grok-code-fast-1"),
    ] {
        assert_eq!((id(name).as_deref(), catalog.billed_as(name)), (Some(window), None), "{name}");
    }
}

#[test]
fn another_version_is_another_model() {
    for name in ["gpt-5.9", "gpt-5.9-mini", "gpt-5.3", "claude-opus-4-9", "claude-opus-5.7", "grok-4.2", "glm-4.9v", "kimi-k2.9", "gpt-7"] {
        assert_eq!(id(name), None, "{name}");
    }
    for name in ["", "-", "/", ".", ":", "[1m]", "a.b:c", "gpt", "claude", "écrit-gpt-5", "gpt-5é", "x/[1M]", ":0", "-v1:0"] {
        assert_eq!(id(name), None, "{name}");
    }
}

#[test]
fn the_mark_of_the_bigger_window_gives_it() {
    let catalog = catalog();
    let window = |name: &str| catalog.find(name).map(|model| (model.id.as_str(), model.context.0));
    assert_eq!(window("claude-sonnet-4-5-20250929"), Some(("claude-sonnet-4-5", 200_000)));
    assert_eq!(window("claude-sonnet-4-5-20250929[1m]"), Some(("claude-sonnet-4-5[1m]", 1_000_000)));
    assert_eq!(window("anthropic/Claude-Opus-4.6[1M]"), Some(("claude-opus-4-6[1m]", 1_000_000)));
    assert_eq!(window("claude-sonnet-5[1m]"), Some(("claude-sonnet-5", 1_000_000)));
    assert_eq!(window("claude-haiku-4-5[1m]"), Some(("claude-haiku-4-5", 200_000)));
}

#[test]
fn the_catalogue_is_big_and_its_windows_are_sane() {
    let catalog = catalog();
    assert!(catalog.models().len() >= 200, "{} models", catalog.models().len());
    for model in catalog.models() {
        assert!((8_000..=10_000_000).contains(&model.context.0), "{}", model.id);
        assert!(model.prompt_limit() <= model.context, "{}", model.id);
        assert_eq!(catalog.find(&model.id).map(|found| &found.id), Some(&model.id));
        assert_eq!(catalog.find(&model.id.to_uppercase()).map(|found| &found.id), Some(&model.id));
        assert!((900..=2_000).contains(&model.tokens_per_1000_o200k), "{}", model.id);
        assert!((1..=10).contains(&model.per_message), "{}", model.id);
    }
    let providers: BTreeSet<&str> = catalog.models().map(|model| model.provider.as_str()).collect();
    for provider in ["anthropic", "openai", "google", "deepseek", "qwen", "mistral", "xai", "meta", "moonshot", "zhipu", "minimax"] {
        assert!(providers.contains(provider), "{provider}");
    }
}

#[test]
fn known_facts_hold() {
    let catalog = catalog();
    let model = |name: &str| catalog.find(name).expect(name);
    assert_eq!(model("gpt-5").context.0, 400_000);
    assert_eq!(model("gpt-5").prompt_limit().0, 272_000);
    // Codex compacts it at 90 % of the window, and recorded prompts exceed the 100,000 that models.dev has for one.
    assert_eq!(model("gpt-5.3-codex-spark").prompt_limit().0, 128_000);
    assert_eq!(["gemma-4-31b-it", "google/gemma-4-E4B-it", "gemma4:e2b"].map(|name| model(name).context.0), [262_144, 131_072, 131_072]);
    assert_eq!(["devstral-small-2507", "labs-devstral-small-2512"].map(|name| model(name).context.0), [128_000, 256_000]);
    assert_eq!(model("gpt-4o").prompt_limit().0, 128_000);
    assert_eq!(model("o1").context.0, 200_000);
    assert_eq!(model("gpt-4-32k").context.0, 32_768);
    assert_eq!(model("gpt-4o").vocabulary, Some(VocabularyName::O200kBase));
    assert_eq!(model("gpt-4").vocabulary, Some(VocabularyName::Cl100kBase));
    assert_eq!(model("claude-opus-4-6").vocabulary, None);
    assert_eq!(model("claude-opus-4-6").family, Family::ClaudeOld);
    assert_eq!(model("claude-opus-4-7").family, Family::ClaudeNew);
    assert_eq!((model("claude-opus-4-6").tokens_per_1000_o200k, model("claude-opus-4-7").tokens_per_1000_o200k), (1_250, 1_570));
    for (name, thinking) in [
        ("claude-opus-4-5", Thinking::Kept),
        ("claude-sonnet-4-6", Thinking::Kept),
        ("claude-sonnet-4-5", Thinking::Turn),
        ("claude-haiku-4-5", Thinking::Turn),
        ("claude-3-5-sonnet", Thinking::Dropped),
        ("gpt-5-mini", Thinking::Dropped),
        ("gpt-5-codex", Thinking::Turn),
        ("gemini-3-pro-preview", Thinking::Dropped),
        ("deepseek-reasoner", Thinking::Turn),
        ("deepseek-v4-flash", Thinking::Kept),
    ] {
        assert_eq!(model(name).thinking, thinking, "{name}");
    }
    assert_eq!(catalog.family(Family::Other).tokens_per_1000_o200k, 1_000);
}

#[test]
fn pictures_cost_what_the_providers_say() {
    let catalog = catalog();
    let cases = [
        // Anthropic's own table: standard tier, then high.
        ("claude-sonnet-4-5", 1000, 1000, 1_296),
        ("claude-sonnet-4-5", 1920, 1080, 1_560),
        ("claude-sonnet-4-5", 3840, 2160, 1_560),
        ("claude-opus-4-8", 1000, 1000, 1_296),
        ("claude-opus-4-8", 1920, 1080, 2_691),
        ("claude-opus-4-8", 3840, 2160, 4_784),
        ("claude-opus-4-8", 1, 1, 1),
        ("claude-opus-4-8", 0, 0, 37 * 37),
        // OpenAI's examples of tiles.
        ("gpt-4o", 1024, 1024, 85 + 4 * 170),
        ("gpt-4o", 2048, 4096, 85 + 6 * 170),
        ("gpt-4o", 512, 512, 85 + 170),
        ("gpt-4o", 1920, 1080, 85 + 6 * 170),
        ("gpt-4o", 0, 0, 85 + 4 * 170),
        ("gpt-5", 1024, 1024, 70 + 4 * 140),
        ("o3", 1024, 1024, 75 + 4 * 150),
        ("gpt-4o-mini", 1024, 1024, 2833 + 4 * 5667),
        // OpenAI's examples of patches, and their multipliers, limits and the lack of them.
        ("gpt-5.2", 1024, 1024, 1_024),
        ("gpt-5.2", 1800, 2400, 1_452),
        ("gpt-5.2", 1920, 1266, 1_457),
        ("gpt-5-mini", 1800, 2400, 2_353),
        ("o4-mini", 1024, 1024, 1_762),
        ("gpt-5.4", 1600, 1600, 2_500),
        ("gpt-5.4", 4000, 1000, 64 * 16),
        ("gpt-5.6", 4000, 4000, 125 * 125),
        // Gemini.
        ("gemini-2.5-pro", 384, 384, 258),
        ("gemini-2.5-pro", 1536, 768, 516),
        ("gemini-3-pro-preview", 3840, 2160, 1_120),
    ];
    for (name, width, height, tokens) in cases {
        assert_eq!(catalog.find(name).expect(name).image_tokens(width, height), tokens, "{name} {width} x {height}");
    }
}

#[test]
fn no_picture_is_too_big_or_too_thin() {
    for model in catalog().models() {
        for (width, height) in [(u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX), (1, 1)] {
            let tokens = model.image_tokens(width, height);
            match model.image {
                ImageRule::Anthropic { budget, .. } => assert!((1..=budget).contains(&tokens), "{}", model.id),
                ImageRule::OpenaiPatches { budget: Some(budget), per_1000_patches, .. } => {
                    assert!(tokens >= 1 && tokens * 1000 <= budget * per_1000_patches + 999, "{} {tokens}", model.id)
                }
                _ => assert!(tokens >= 1, "{}", model.id),
            }
        }
    }
}

#[test]
fn a_catalogue_with_a_mistake_says_which() {
    const FAMILIES: &str = include_str!("../../catalog/families.toml");
    let parse = |rows: &str| Catalog::parse(&format!("models = [\n{rows}\n]"), FAMILIES).map(|catalog| catalog.models().len());
    let row = |id: &str, more: &str| format!(r#"{{ id = "{id}", provider = "p", context = 1000, family = "other"{more} }},"#);
    assert_eq!(parse(&row("a", "")).ok(), Some(1));
    let twice = parse(&(row("a.b", "") + &row("c", r#", aliases = ["A-B"]"#))).unwrap_err();
    assert_eq!(twice.to_string(), "the name a-b stands twice in the table of models, for a.b and for c");
    let above = parse(&row("a", ", max_input = 1001")).unwrap_err();
    assert_eq!(above.to_string(), "the limits of a contradict its window of 1000 tokens");
    assert!(parse(&row("a", ", long_context = 1000")).is_err());
    let unknown = parse(&row("a", ", prise = 1")).unwrap_err().to_string();
    assert!(unknown.contains("unknown field `prise`"), "{unknown}");
    assert!(matches!(parse("oops"), Err(CatalogError::Models(_))));
    assert!(matches!(Catalog::parse("models = []", "[gpt]"), Err(CatalogError::Families(_))));
}
