//! The policies that ship with the program: one TOML document for each system and version.

use std::sync::{LazyLock, OnceLock};

/// A policy that ships with the program.
pub struct Preset {
    /// Name of the form `system@version`, or `system` alone.
    pub name: &'static str,
    /// TOML document of the policy.
    pub text: &'static str,
}

/// All presets; the newest version of a system stands before its older ones, and a bare system name means that one.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

const PRESETS: &[Preset] = &[
    Preset { name: "none", text: include_str!("presets/none.toml") },
    Preset { name: "supersede", text: include_str!("presets/supersede.toml") },
    Preset { name: "baseagent", text: include_str!("presets/baseagent.toml") },
    Preset { name: "baseagent@documented", text: include_str!("presets/baseagent-documented.toml") },
    Preset { name: "baseagent@long-task", text: include_str!("presets/baseagent-long-task.toml") },
    Preset { name: "baseagent@complex-task", text: include_str!("presets/baseagent-complex-task.toml") },
    Preset { name: "picoclaw", text: include_str!("presets/picoclaw.toml") },
    Preset { name: "picoclaw@smart", text: include_str!("presets/picoclaw-smart.toml") },
    Preset { name: "progressive", text: include_str!("presets/progressive.toml") },
    Preset { name: "progressive@hybrid", text: include_str!("presets/progressive.toml") },
    Preset { name: "progressive@micro", text: include_str!("presets/progressive-micro.toml") },
    Preset { name: "progressive@summarise", text: include_str!("presets/progressive-summarise.toml") },
    Preset { name: "progressive@aggressive", text: include_str!("presets/progressive-aggressive.toml") },
    Preset { name: "progressive@proactive", text: include_str!("presets/progressive-proactive.toml") },
    Preset { name: "progressive@reactive", text: include_str!("presets/progressive-reactive.toml") },
    Preset { name: "mycoder@1.7", text: include_str!("presets/mycoder-1.7.toml") },
    Preset { name: "mycoder@documented", text: include_str!("presets/mycoder-documented.toml") },
    Preset { name: "pi@1.5", text: include_str!("presets/pi-1.5.toml") },
    Preset { name: "pi@0.73", text: include_str!("presets/pi-0.73.toml") },
    Preset { name: "pi@0.58", text: include_str!("presets/pi-0.58.toml") },
    Preset { name: "pi@0.12", text: include_str!("presets/pi-0.12.toml") },
    Preset { name: "pi@recommended", text: include_str!("presets/pi-recommended.toml") },
    Preset { name: "openclaw", text: include_str!("presets/openclaw.toml") },
    Preset { name: "opencode@1.18", text: include_str!("presets/opencode-1.18.toml") },
    Preset { name: "opencode@2", text: include_str!("presets/opencode-2.toml") },
    Preset { name: "opencode@1.15", text: include_str!("presets/opencode-1.15.toml") },
    Preset { name: "opencode@1.2", text: include_str!("presets/opencode-1.2.toml") },
    Preset { name: "opencode@2025-12", text: include_str!("presets/opencode-2025-12.toml") },
    Preset { name: "codex@2026-06", text: include_str!("presets/codex-2026-06.toml") },
    Preset { name: "codex@remote-v2", text: include_str!("presets/codex-remote-v2.toml") },
    Preset { name: "codex@token-budget", text: include_str!("presets/codex-token-budget.toml") },
    Preset { name: "codex@2025-12", text: include_str!("presets/codex-2025-12.toml") },
    Preset { name: "codex@2025-10", text: include_str!("presets/codex-2025-10.toml") },
    Preset { name: "claude-code@early", text: include_str!("presets/claude-code-early.toml") },
    Preset { name: "claude-code@idle", text: include_str!("presets/claude-code-idle.toml") },
    Preset { name: "claude-code@2.1.29", text: include_str!("presets/claude-code-2.1.29.toml") },
    Preset { name: "claude-code@2.1.20", text: include_str!("presets/claude-code-2.1.20.toml") },
    Preset { name: "claude-code@2.1.7", text: include_str!("presets/claude-code-2.1.7.toml") },
    Preset { name: "claude-code@2.1.1", text: include_str!("presets/claude-code-2.1.1.toml") },
    Preset { name: "claude-code@at-limit", text: include_str!("presets/claude-code-at-limit.toml") },
    Preset { name: "claude-code@unrecognised", text: include_str!("presets/claude-code-unrecognised.toml") },
    Preset { name: "gemini-cli", text: include_str!("presets/gemini-cli.toml") },
    Preset { name: "gemini-cli@0.29", text: include_str!("presets/gemini-cli-0.29.toml") },
    Preset { name: "gemini-cli@0.26", text: include_str!("presets/gemini-cli-0.26.toml") },
    Preset { name: "gemini-cli@0.17", text: include_str!("presets/gemini-cli-0.17.toml") },
    Preset { name: "gemini-cli@0.11", text: include_str!("presets/gemini-cli-0.11.toml") },
    Preset { name: "gemini-cli@0.1", text: include_str!("presets/gemini-cli-0.1.toml") },
    Preset { name: "kimi-code", text: include_str!("presets/kimi-code.toml") },
    Preset { name: "kimi-code@0.20", text: include_str!("presets/kimi-code-0.20.toml") },
    Preset { name: "kimi-cli@1.28", text: include_str!("presets/kimi-cli-1.28.toml") },
    Preset { name: "kimi-cli@1.17", text: include_str!("presets/kimi-cli-1.17.toml") },
    Preset { name: "kimi-cli@0.39", text: include_str!("presets/kimi-cli-0.39.toml") },
    Preset { name: "qwen-code@0.24", text: include_str!("presets/qwen-code-0.24.toml") },
    Preset { name: "qwen-code@0.15", text: include_str!("presets/qwen-code-0.15.toml") },
    Preset { name: "cline@3.0", text: include_str!("presets/cline-3.0.toml") },
    Preset { name: "cline@agentic", text: include_str!("presets/cline-agentic.toml") },
    Preset { name: "cline@basic", text: include_str!("presets/cline-basic.toml") },
    Preset { name: "cline@classic", text: include_str!("presets/cline-classic.toml") },
    Preset { name: "roo", text: include_str!("presets/roo.toml") },
    Preset { name: "kilo@7.7", text: include_str!("presets/kilo-7.7.toml") },
    Preset { name: "kilo@89415151", text: include_str!("presets/kilo-89415151.toml") },
    Preset { name: "mistral-vibe@3", text: include_str!("presets/mistral-vibe-3.toml") },
    Preset { name: "mistral-vibe@2.26", text: include_str!("presets/mistral-vibe-2.26.toml") },
    Preset { name: "mistral-vibe@2.11", text: include_str!("presets/mistral-vibe-2.11.toml") },
    Preset { name: "mistral-vibe@1.1", text: include_str!("presets/mistral-vibe-1.1.toml") },
    Preset { name: "hermes@0.19", text: include_str!("presets/hermes-0.19.toml") },
    Preset { name: "hermes@0.17", text: include_str!("presets/hermes-0.17.toml") },
    Preset { name: "hermes@0.13", text: include_str!("presets/hermes-0.13.toml") },
    Preset { name: "zed", text: include_str!("presets/zed.toml") },
    Preset { name: "goose@2026-03", text: include_str!("presets/goose-2026-03.toml") },
    Preset { name: "goose@without-pairs", text: include_str!("presets/goose-without-pairs.toml") },
    Preset { name: "openhands@llm", text: include_str!("presets/openhands-llm.toml") },
    Preset { name: "openhands@default-agent", text: include_str!("presets/openhands-default-agent.toml") },
    Preset { name: "openhands@observation-masking", text: include_str!("presets/openhands-observation-masking.toml") },
    Preset { name: "openhands@recent", text: include_str!("presets/openhands-recent.toml") },
    Preset { name: "openhands@amortized", text: include_str!("presets/openhands-amortized.toml") },
    Preset { name: "crush", text: include_str!("presets/crush.toml") },
    Preset { name: "aider", text: include_str!("presets/aider.toml") },
    Preset { name: "copilot-cli", text: include_str!("presets/copilot-cli.toml") },
    Preset { name: "vscode-copilot", text: include_str!("presets/vscode-copilot.toml") },
    Preset { name: "vscode-copilot@0.42", text: include_str!("presets/vscode-copilot-0.42.toml") },
    Preset { name: "swe-agent", text: include_str!("presets/swe-agent.toml") },
    Preset { name: "swe-agent@1.0", text: include_str!("presets/swe-agent-1.0.toml") },
    Preset { name: "complexity-trap@masking", text: include_str!("presets/complexity-trap-masking.toml") },
    Preset { name: "complexity-trap@summary", text: include_str!("presets/complexity-trap-summary.toml") },
    Preset { name: "complexity-trap@hybrid", text: include_str!("presets/complexity-trap-hybrid.toml") },
    Preset { name: "mini-swe-agent", text: include_str!("presets/mini-swe-agent.toml") },
    Preset { name: "langchain@summarization", text: include_str!("presets/langchain-summarization.toml") },
    Preset { name: "langchain@trim", text: include_str!("presets/langchain-trim.toml") },
    Preset { name: "langchain@clear-tool-uses", text: include_str!("presets/langchain-clear-tool-uses.toml") },
    Preset { name: "deepagents@0.7.32", text: include_str!("presets/deepagents-0.7.32.toml") },
    Preset { name: "deepagents@0.7.8", text: include_str!("presets/deepagents-0.7.8.toml") },
    Preset { name: "anthropic@context-editing", text: include_str!("presets/anthropic-context-editing.toml") },
    Preset { name: "anthropic@compaction", text: include_str!("presets/anthropic-compaction.toml") },
    Preset { name: "anthropic@background", text: include_str!("presets/anthropic-background.toml") },
    Preset { name: "openai@compaction", text: include_str!("presets/openai-compaction.toml") },
    Preset { name: "openai@truncation", text: include_str!("presets/openai-truncation.toml") },
    Preset { name: "letta", text: include_str!("presets/letta.toml") },
    Preset { name: "letta-code", text: include_str!("presets/letta-code.toml") },
    Preset { name: "autogen@buffered", text: include_str!("presets/autogen-buffered.toml") },
    Preset { name: "autogen@head-and-tail", text: include_str!("presets/autogen-head-and-tail.toml") },
    Preset { name: "autogen@token-limited", text: include_str!("presets/autogen-token-limited.toml") },
    Preset { name: "google-adk@token-threshold", text: include_str!("presets/google-adk-token-threshold.toml") },
    Preset { name: "google-adk@sliding-window", text: include_str!("presets/google-adk-sliding-window.toml") },
    Preset { name: "google-adk@context-filter", text: include_str!("presets/google-adk-context-filter.toml") },
    Preset { name: "strands@sliding-window", text: include_str!("presets/strands-sliding-window.toml") },
    Preset { name: "strands@summarizing", text: include_str!("presets/strands-summarizing.toml") },
    Preset { name: "vercel-ai", text: include_str!("presets/vercel-ai.toml") },
    Preset { name: "llamaindex@memory", text: include_str!("presets/llamaindex-memory.toml") },
    Preset { name: "llamaindex@buffer", text: include_str!("presets/llamaindex-buffer.toml") },
];

/// Is this name asked for by itself, or by that of its system alone?
pub fn is_called(name: &str, wanted: &str) -> bool {
    let base = name.split_once(" (").map_or(name, |(base, _)| base);
    [name, base].contains(&wanted) || base.split('@').next() == Some(wanted)
}

/// The preset of this name, or the newest one of this system.
pub fn preset(wanted: &str) -> Option<&'static Preset> {
    // A bare name stands before the versions of its system.
    presets().iter().find(|preset| is_called(preset.name, wanted))
}

/// Names under which presets are found: with their versions, and the bare names of their systems.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    presets().iter().flat_map(|preset| [Some(preset.name), preset.name.split('@').next()]).flatten()
}

/// What is worked out of presets, once for each: their texts never change, and a command asks for some more than once.
pub(super) struct Once<T>(LazyLock<Vec<OnceLock<T>>>);

impl<T: Clone> Once<T> {
    /// Nothing is worked out yet.
    pub(super) const fn new() -> Once<T> {
        Once(LazyLock::new(|| presets().iter().map(|_| OnceLock::new()).collect()))
    }

    /// What `read` makes of this preset. An error is not kept.
    pub(super) fn of<E>(&self, preset: &Preset, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let place = presets().iter().position(|other| other.name == preset.name);
        let Some(kept) = place.and_then(|place| self.0.get(place)) else { return read() };
        if let Some(known) = kept.get() {
            return Ok(known.clone());
        }
        let made = read()?;
        Ok(kept.get_or_init(|| made).clone())
    }
}
