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

const PRESETS: &[Preset] = &[Preset { name: "none", text: include_str!("presets/none.toml") }];
