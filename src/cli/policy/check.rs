//! `ctxsim policy check`: what cannot work in a policy, found without any log.

use super::facts::ForModel;
use super::trial::trial;
use crate::advice::{Finding, Gravity};
use crate::cli::door::Door;
use crate::cli::failure::Failure;
use crate::cli::print::{page, print};
use crate::policy::{FALLBACK_WINDOW, Facts, Policy as Document, figure};
use crate::render::{escape, item};
use crate::report::counted;
use clap::Args;

/// Windows that are looked at beside the policy's own where none is given.
const OTHER_WINDOWS: [u64; 3] = [32_000, 128_000, 1_000_000];

const EXAMPLES: &str = "\
Examples:
  ctxsim policy check mine.toml --model gpt-5
  ctxsim policy check pi --window 16k

If a program decides for the policy, it is tried on ten made-up sessions.

Exit codes: 1 where something cannot work; what works in some sessions only
(doubt) counts with --strict.";

/// Find without any log what cannot work: triggers that never fire, ends that protect everything, fallbacks that cannot shrink
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// A preset or a policy file
    policy: String,
    #[command(flatten)]
    model: ForModel,
    /// Exit code 1 for doubts as well
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let policy = Document::load(&self.policy)?;
        let facts = self.model.facts()?;
        let window = facts.window.or_else(|| policy.default_window()).unwrap_or(FALLBACK_WINDOW);
        let findings = policy.advise(&facts);
        let mut out = format!("{} on {}\n", escape(&policy.name), limits(window, &facts));
        findings.iter().for_each(|finding| out += &line(finding));
        let (said, mut complaints) = if policy.program().is_some() { trial(&policy, &self.policy, door)? } else { Default::default() };
        if findings.is_empty() && complaints.is_empty() {
            out += "  nothing found\n";
        }
        // What the policy is not set up to use is told, and is no reason to fail.
        policy.without_effect(&facts).iter().for_each(|idle| out += &item("  ", &format!("note: {}", idle.words()), page()));
        if self.model.is_open() {
            // How it would fare elsewhere is told, and is no reason to fail.
            for other in OTHER_WINDOWS.into_iter().filter(|other| *other != window) {
                let elsewhere = policy.advise(&Facts { window: Some(other), ..facts });
                let defects: Vec<&Finding> =
                    elsewhere.iter().filter(|finding| finding.gravity == Gravity::Defect && !findings.contains(finding)).collect();
                if !defects.is_empty() {
                    out += &format!("on a window of {}\n", figure(other as f64));
                    defects.into_iter().for_each(|finding| out += &line(finding));
                }
            }
        }
        out += &said;
        print(&out)?;
        let grave = findings.iter().filter(|finding| self.strict || finding.gravity == Gravity::Defect).count();
        if grave > 0 {
            complaints.push(format!("policy {}: {}", policy.name, counted(grave as u64, "finding")));
        }
        Failure::checked(complaints)
    }
}

fn limits(window: u64, facts: &Facts) -> String {
    let mut words = format!("a window of {}", figure(window as f64));
    if facts.max_input > 0 {
        words += &format!(", input limit {}", figure(facts.max_input as f64));
    }
    if facts.max_output > 0 {
        words += &format!(", replies up to {}", figure(facts.max_output as f64));
    }
    words
}

fn line(finding: &Finding) -> String {
    let gravity = match finding.gravity {
        Gravity::Defect => "cannot work",
        Gravity::Doubt => "doubt",
    };
    let keys = if finding.keys.is_empty() { String::new() } else { format!(" {}:", finding.keys.join(", ")) };
    item("  ", &format!("{gravity}:{keys} {}", finding.sentence), page())
}
