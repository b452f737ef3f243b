//! What the settings of a search are judged by.

use super::logs::Logs;
use super::mistyped::tell_renamed;
use super::shell::option;
use crate::experiment::{Objective, SweepError};
use clap::Args;

/// What is sought, and what it must keep.
#[derive(Args, Clone, Debug, Default)]
pub struct Goal {
    /// What is to be as small as can be [default: net_cost where anything is priced, else tokens]
    #[arg(long, value_name = "MEASURE", alias = "minimize", group = "objective")]
    minimise: Option<String>,
    /// What is to be as large as can be
    #[arg(long, value_name = "MEASURE", alias = "maximize", group = "objective")]
    maximise: Option<String>,
    /// What a setting must keep, as in 'overflows = 0'; may be given several times
    #[arg(long, value_name = "CONSTRAINT")]
    subject_to: Vec<String>,
}

impl Goal {
    /// The objective; `None` where none was typed.
    pub fn objective(&self) -> Result<Option<Objective>, SweepError> {
        Objective::asked(self.minimise.as_deref(), self.maximise.as_deref())
    }

    /// What a setting must keep, each read by this.
    pub fn limits<L>(&self, parse: impl Fn(&str) -> Result<L, SweepError>) -> Result<Vec<L>, SweepError> {
        self.subject_to.iter().map(|text| parse(text)).collect()
    }

    /// Says what measures are called today.
    pub fn tell_renamed(&self, logs: &Logs) {
        tell_renamed(self.minimise.iter().chain(&self.maximise).chain(&self.subject_to), logs);
    }

    /// The options as they would be typed again.
    pub fn words(&self) -> Vec<String> {
        [option("--minimise", &self.minimise), option("--maximise", &self.maximise), option("--subject-to", &self.subject_to)].concat()
    }
}
