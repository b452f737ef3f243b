//! The policies that ship with the program: one TOML document for each system and version.

/// One built-in policy.
pub struct Preset {
    /// Its name: `system@version`, or `system` alone.
    pub name: &'static str,
    /// Its document.
    pub text: &'static str,
}

/// All presets; the newest version of a system stands before its older ones, and a bare system name means that one.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

const PRESETS: &[Preset] = &[
    Preset { name: "none", text: include_str!("presets/none.toml") },
    Preset { name: "baseagent", text: include_str!("presets/baseagent.toml") },
    Preset { name: "baseagent@documented", text: include_str!("presets/baseagent-documented.toml") },
    Preset { name: "baseagent@long-task", text: include_str!("presets/baseagent-long-task.toml") },
    Preset { name: "baseagent@complex-task", text: include_str!("presets/baseagent-complex-task.toml") },
    Preset { name: "picoclaw", text: include_str!("presets/picoclaw.toml") },
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
    Preset { name: "pi@0.58", text: include_str!("presets/pi-0.58.toml") },
    Preset { name: "pi@0.12", text: include_str!("presets/pi-0.12.toml") },
    Preset { name: "pi@recommended", text: include_str!("presets/pi-recommended.toml") },
    Preset { name: "opencode@1.15", text: include_str!("presets/opencode-1.15.toml") },
    Preset { name: "opencode@2025-12", text: include_str!("presets/opencode-2025-12.toml") },
    Preset { name: "codex@2026-06", text: include_str!("presets/codex-2026-06.toml") },
    Preset { name: "codex@2025-12", text: include_str!("presets/codex-2025-12.toml") },
];
