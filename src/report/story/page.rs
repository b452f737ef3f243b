//! The page: chapters, and the sessions one by one.

use super::browser::Browser;
use crate::report::chart::Chart;
use crate::report::document::{Report, Section};

/// A report that is read from the top down, and the data to look closer.
pub struct Story<'a> {
    /// The name of the command that asked.
    pub question: &'static str,
    /// One line: what was looked at.
    pub title: String,
    /// The command that makes this report again. Absent on a screen, where the user has just typed it.
    pub command: Option<String>,
    /// What came out: the verdict in one sentence, then what it costs. Empty where nothing is compared.
    pub verdict: Vec<String>,
    /// The first screen: the table of policies, whether to change anything, how far to trust that. Empty where nothing is compared.
    pub brief: Vec<Section>,
    /// The questions of the page, one by one.
    pub chapters: Vec<Chapter>,
    /// What the numbers rest on and what was left out.
    pub notes: Vec<String>,
    /// The sessions, call by call. Absent where a report holds tables alone.
    pub browser: Option<Browser<'a>>,
}

/// One question of a story.
pub struct Chapter {
    /// The chapter's name in links.
    pub id: &'static str,
    /// Its heading; empty for none.
    pub title: &'static str,
    /// Sentences before everything else.
    pub lead: Vec<String>,
    /// Charts, each kind once in a story.
    pub charts: Vec<Chart>,
    /// Tables and sentences of the chapter.
    pub sections: Vec<Section>,
}

impl Story<'_> {
    /// The story of a report with no more to tell than its tables.
    pub fn of(report: &Report) -> Story<'static> {
        Story {
            question: report.record.schema().0,
            title: report.title.clone(),
            command: report.command.clone(),
            verdict: Vec::new(),
            brief: Vec::new(),
            chapters: vec![Chapter { id: "tables", title: "", lead: Vec::new(), charts: Vec::new(), sections: report.sections.clone() }],
            notes: report.notes.clone(),
            browser: None,
        }
    }
}
