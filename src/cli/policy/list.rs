//! `ctxsim policy list`: names of all presets.

use crate::cli::failure::Failure;
use crate::cli::output::print;
use ctxsim::policy::{Policy as Document, presets};

/// Prints a line for each preset.
pub fn run() -> Result<(), Failure> {
    let width = presets().iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for preset in presets() {
        let about = Document::parse(preset.name, preset.text)?.about;
        out += &format!("{:width$}  {about}\n", preset.name);
    }
    print(&out)
}
