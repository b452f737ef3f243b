//! The files of the corpus, and the table that says what each holds.

use std::fmt::Write;

/// One file.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the corpus.
    pub path: String,
    /// What it holds.
    pub content: String,
    /// Its row in the table; none for the table itself.
    pub row: Option<Row>,
}

/// What the table says of a file.
#[derive(Clone, Debug)]
pub struct Row {
    /// The format, as the program names it.
    pub format: String,
    /// Agent with version, and model.
    pub model: String,
    /// Sessions, side chains included.
    pub sessions: u64,
    /// Calls with usage.
    pub calls: u64,
    /// The largest prompt among them, in tokens.
    pub largest: u64,
    /// What the file is there for.
    pub shows: String,
}

/// The seed of everything.
pub const SEED: u64 = 0x7469_6465;

impl File {
    /// A file without a row.
    pub fn new(path: &str, content: String) -> File {
        File { path: path.to_owned(), content, row: None }
    }

    /// Describes the file.
    pub fn row(&mut self, format: &str, model: &str, sessions: u64, calls: u64, largest: u64, shows: &str) {
        self.row = Some(Row { format: format.to_owned(), model: model.to_owned(), sessions, calls, largest, shows: shows.to_owned() });
    }
}

/// The files and, last of them, `SOURCES.md`.
pub fn with_table(mut files: Vec<File>) -> Vec<File> {
    let mut page = format!("{}\n", INTRODUCTION.replace("{SEED}", &format!("{SEED:#x}")));
    page.push_str("| file | format | agent / model | sessions | calls with usage | largest prompt | what it shows |\n|---|---|---|---:|---:|---:|---|\n");
    let (mut sessions, mut calls, mut largest) = (0, 0, 0);
    for (file, row) in files.iter().filter_map(|file| file.row.as_ref().map(|row| (file, row))) {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} |",
            file.path, row.format, row.model, row.sessions, row.calls, row.largest, row.shows
        );
        sessions += row.sessions;
        calls += row.calls;
        largest = largest.max(row.largest);
    }
    let _ = writeln!(page, "| **all** | | | {sessions} | {calls} | {largest} | |");
    files.push(File::new("SOURCES.md", page));
    files
}

const INTRODUCTION: &str = "# Where these transcripts come from

They are no recordings: a program that is part of this project makes them up, so that every command can be tried
without transcripts of their own. Structure and field names follow the agents' own logs; people, project, code and output are invented.

    cargo run --release --example make_transcripts -- transcripts/

writes the same bytes each time (seed {SEED}); a test compares them. This page is written by the same command.

The recorded usage comes from a fixed stand-in for the providers, so every prompt is explained to the token. A text costs its
`o200k_base` tokens times a rate (GPT 1.00, Gemini 1.20, Claude up to 4.6 1.25, later Claude models 1.57; rounded half up). A message that is
no reply costs its texts plus a fixed amount (GPT 4, Gemini 5, Claude 7). A reply costs its recorded output, less the reasoning where the
provider does not send that back (GPT, Gemini). A prompt is a hidden overhead (system prompt, tools; constant in a session) plus all that
stands before it. So the differences between prompts are right by construction, and what a real provider would have reported may differ.

Calls with usage count sub-agents and recorded summariser calls in the same file; the largest prompt is among the same calls.
";
