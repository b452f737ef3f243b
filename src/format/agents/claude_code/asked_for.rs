//! Whether a person asked for a summary. Versions before boundaries (1.0) do not say so; they write the command `/compact` beside the summary.

use crate::transcript::Compaction;

/// What stands beside a summary: up to a prompt or a reply, records of the agent's own alone.
#[derive(Default)]
pub(super) struct AskedFor {
    /// The command has come.
    command: bool,
    /// The compaction that a summary alone shows.
    summary: Option<usize>,
}

impl AskedFor {
    /// A user record has come, which the agent wrote or a person.
    pub fn read(&mut self, text: &str, by_agent: bool, compactions: &mut [Compaction]) {
        if !by_agent {
            *self = AskedFor::default();
        } else if text.contains("<command-name>/compact</command-name>") {
            self.command = true;
            self.settle(compactions);
        }
    }

    /// A summary without a boundary has come: the last compaction is its.
    pub fn summary(&mut self, compactions: &mut [Compaction]) {
        self.summary = compactions.len().checked_sub(1);
        self.settle(compactions);
    }

    fn settle(&self, compactions: &mut [Compaction]) {
        let asked = self.summary.filter(|_| self.command).and_then(|place| compactions.get_mut(place));
        asked.into_iter().for_each(|compaction| compaction.automatic = Some(false));
    }
}
