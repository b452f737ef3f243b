//! An `[estimator]` table out of a corpus: what content costs and what is hidden, family by family.

use super::fit::{from_growth, grown, shipped};
use super::hidden::over_calls;
use super::predict::{Method, Prediction, families};
use super::regression::{Basis, Costs};
use super::sample::Session;
use crate::catalog::{Catalog, Family};
use crate::estimate::ContentKind;
use crate::list::List;
use crate::statistics::{median, quantile, sorted};
use crate::units::counted;
use std::fmt::Write;

/// The estimator of one family of models, fitted to recorded usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// Family of the models.
    pub family: Family,
    /// Sessions with compared calls of the family.
    pub sessions: u64,
    /// Compared calls of these sessions.
    pub calls: u64,
    /// What content costs in that family.
    pub costs: Costs,
    /// Hidden overhead of a call: the median over sessions, and their 5th and 95th percentiles.
    pub overhead: (u64, u64, u64),
    /// Mean error on sessions that were held out, by source, in millionths; empty where no source has sessions enough.
    pub held_out: Vec<(String, u64)>,
}

/// The coefficients of every family of which calls are compared.
pub(super) fn calibrate(sessions: &List<Session>, predictions: &[Prediction], basis: Basis, catalog: &Catalog) -> Vec<Calibrated> {
    let method = if basis == Basis::Tokens { Method::Source } else { Method::SourceChars };
    let of = |family: Family| {
        let costs = from_growth(&grown(sessions.each(), family, basis), &shipped(family, basis, catalog));
        let overheads = sorted(sessions.each().filter_map(|session| over_calls(&session, family, &costs, basis)));
        let calls = sessions.each().map(|session| session.compared_of(family).count() as u64).sum();
        let held_out = predictions.iter().filter(|prediction| prediction.family == family && prediction.method == method);
        Some(Calibrated {
            family,
            sessions: overheads.len() as u64,
            calls,
            costs,
            overhead: (median(overheads.clone())?, quantile(&overheads, 50)?, quantile(&overheads, 950)?),
            held_out: held_out.filter_map(|prediction| Some((prediction.source.clone()?, prediction.figures.mape_millionths))).collect(),
        })
    };
    families(sessions).into_iter().filter_map(of).collect()
}

/// The table as TOML: a policy file, which extends `base` where there is one. `command` is how it was made.
pub fn document(calibrated: &[Calibrated], basis: Basis, base: Option<&str>, command: &str, catalog: &Catalog) -> String {
    let mut text = String::new();
    let unit = if basis == Basis::Tokens { "tokens" } else { "chars" };
    let _ = writeln!(text, "# An estimator fitted to recorded usage by: {}", one_line(command));
    let _ = writeln!(
        text,
        "# Weights are thousandths of a token for each of the {unit}. Overhead is the median over sessions of what calls carry unseen."
    );
    match base {
        Some(base) => drop(writeln!(text, "extends = {}", toml::Value::String(base.to_owned()))),
        None => drop(writeln!(
            text,
            "# A policy takes it over with `extends = \"...\"` in this place, or with the tables below copied into its file."
        )),
    }
    let other = shipped(Family::Other, basis, catalog);
    // Every key stands here, so that nothing of another policy's own estimator is left where this file extends one.
    let _ = write!(
        text,
        "\n[estimator]\nunit = \"{unit}\"\nmessage_unit = \"{unit}\"\ncall_unit = \"{unit}\"\nresult_unit = \"{unit}\"\nnon_ascii = {{ units = 1 }}\nnumerator = 1\ndenominator = 1000\n\
         rounding = \"round\"\nround_at = \"part\"\nper_message = {}\nmessage_units = 0\ntext_units = 0\nsystem_units = 0\nuser_units = 0\n\
         assistant_units = 0\ntool_units = 0\ncall_units = 0\nresult_units = 0\ndefinition_units = 0\nimage_units = 0\nimage_address_units = 0\n\
         image_link_units = 0\nthinking_units = 0\nimage_tokens = {}\nuser_images = \"counted\"\ncalls = \"counted\"\n\
         ids = \"ignored\"\nresult_names = \"ignored\"\nthinking = \"counted\"\nsealed = \"ignored\"\ntools = \"counted\"\nsystem = \"counted\"\noverhead = 0\n\
         safety_thousandths = 1000\nweights = {}\n",
        (other.message + 500) / 1000,
        catalog.family(Family::Other).image.tokens(0, 0),
        weights(&other)
    );
    for family in calibrated {
        let (overhead, low, high) = family.overhead;
        let name = family.family.name();
        let _ = write!(
            text,
            "\n# {} of {}. Overhead: p5 {low}, p95 {high}.",
            counted(family.calls, "call"),
            counted(family.sessions, "session")
        );
        for (source, error) in &family.held_out {
            let _ = write!(text, "\n# Held-out sessions of {}: mean error {}.{} %.", one_line(source), error / 10_000, error / 1000 % 10);
        }
        let _ = write!(
            text,
            "\n[estimator.families.{name}]\noverhead = {overhead}\nper_message = {}\nimage_tokens = {}\nweights = {}\n",
            (family.costs.message + 500) / 1000,
            catalog.family(family.family).image.tokens(0, 0),
            weights(&family.costs)
        );
    }
    text
}

/// What comes from outside, in a comment: it could end the line and go on as TOML, or as commands of a shell.
fn one_line(text: &str) -> String {
    let shown = |letter: char| {
        if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') {
            letter.escape_unicode().collect()
        } else {
            String::from(letter)
        }
    };
    text.chars().map(shown).collect()
}

fn weights(costs: &Costs) -> String {
    let of = |kind| costs.of(kind);
    format!(
        "{{ prose = {}, code = {}, json = {}, tool_output = {}, cjk = {}, thinking = {} }}",
        of(ContentKind::Prose),
        of(ContentKind::Code),
        of(ContentKind::Json),
        of(ContentKind::ToolOutput),
        of(ContentKind::Cjk),
        of(ContentKind::Thinking)
    )
}
