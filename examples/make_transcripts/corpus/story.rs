//! What happens in a session, in no agent's own words: the author tells it, an agent writes it down as it would.

/// Something that the model had done.
#[derive(Clone, Debug)]
pub enum Action {
    /// Lines of a file, from a line number (from 1) on.
    Read {
        /// Relative to the project.
        path: String,
        /// The first line's number.
        from: usize,
        /// The lines.
        lines: Vec<String>,
        /// Is it the whole file?
        whole: bool,
    },
    /// A search over the project.
    Search {
        /// What was looked for.
        pattern: String,
        /// Where.
        folder: String,
        /// Path, line number and line of each hit.
        hits: Vec<(String, usize, String)>,
    },
    /// A command.
    Shell {
        /// The command line.
        command: String,
        /// What it is for.
        purpose: String,
        /// What it printed.
        output: String,
        /// Its exit code.
        code: i64,
    },
    /// A replacement in a file.
    Edit {
        /// Relative to the project.
        path: String,
        /// The lines that go.
        old: String,
        /// The lines that come.
        new: String,
        /// Were the old lines found?
        found: bool,
    },
    /// A tool from outside the agent, whose result is not shortened.
    Export {
        /// The station that is exported.
        station: String,
        /// How many readings.
        count: u64,
        /// The result.
        output: String,
    },
    /// A sub-agent's work.
    Task {
        /// A few words.
        purpose: String,
        /// What it is told.
        prompt: String,
        /// What it does.
        steps: Vec<Reply>,
        /// What it reports.
        report: String,
    },
}

/// One reply of the model, with what its tools returned.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Reasoning; empty where there is none.
    pub thinking: String,
    /// Prose; empty where there is none.
    pub text: String,
    /// Tools, run side by side. A reply without any ends the turn.
    pub actions: Vec<Action>,
}

/// Something that records a session: an agent with its format and its own context management.
pub trait Agent {
    /// The user says something.
    fn user(&mut self, text: &str);
    /// The model replies; the tools run.
    fn reply(&mut self, reply: &Reply);
    /// Time passes.
    fn wait(&mut self, millis: u64);
    /// The turn is over.
    fn end_turn(&mut self) {}
    /// Would this agent compact before its next call?
    fn wants_compaction(&self) -> bool {
        false
    }
    /// It compacts, and this is the summary.
    fn compact(&mut self, _summary: &str) {}
    /// The user goes back to before the last message and will say something else.
    fn rewind(&mut self) {}
    /// The size of the next prompt.
    fn prompt(&self) -> u64;
}

/// Keeps the replies of a sub-agent until its parent writes them down.
#[derive(Debug, Default)]
pub struct Sketch {
    /// What was replied.
    pub steps: Vec<Reply>,
}

impl Agent for Sketch {
    fn user(&mut self, _text: &str) {}

    fn reply(&mut self, reply: &Reply) {
        self.steps.push(reply.clone());
    }

    fn wait(&mut self, _millis: u64) {}

    fn prompt(&self) -> u64 {
        0
    }
}
