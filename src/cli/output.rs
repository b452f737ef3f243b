//! Where a report goes: to stdout in one form, to a folder in all of them.

use super::door::{Company, Door, WRITES, is_stdout};
use super::failure::Failure;
use super::print::{USUAL_WIDTH, page, print};
use clap::Args;
use ctxsim::render::{Emphasis, Figures, Page, csv, html, json, markdown, screen, text};
use ctxsim::report::{Depth, Report, Story};
use std::path::{Path, PathBuf};

/// The option that names the folder.
const OUT: &str = "out";

/// The form of the output, and where it goes.
#[derive(Args, Clone, Debug, Default)]
pub struct Output {
    /// Print JSON; docs/json.md describes it
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print CSV
    #[arg(long, group = "form")]
    pub csv: bool,
    /// Print Markdown
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Print a page for a browser, which needs no network; `ctxsim report` makes a fuller one
    #[arg(long, group = "form")]
    pub html: bool,
    /// Show everything: all tables and columns, exact figures, what they mean, all notes
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "html"])]
    pub details: bool,
    /// Show all rows
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "html", "details"])]
    pub all: bool,
    /// Write all forms into this folder too; the text forms and JSON name the command that made them
    #[arg(long, short, value_name = "DIR", alias = "output", help_heading = WRITES)]
    pub out: Option<PathBuf>,
    /// Write over files that are there already and are none of ctxsim's own
    #[arg(long, help_heading = WRITES)]
    pub force: bool,
}

/// Is the report printed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// It is.
    Too,
    /// Something else was, by the name `-`.
    Never,
}

#[derive(Clone, Copy)]
enum Form {
    Text(Page),
    Screen(Page, Depth),
    Markdown,
    Csv,
    Json,
    Html,
}

impl Output {
    /// Is it laid out for people to read?
    pub fn is_for_people(&self) -> bool {
        !(self.json || self.csv || self.markdown)
    }

    /// How much is shown in a terminal.
    pub fn depth(&self) -> Depth {
        match self {
            Output { details: true, .. } => Depth::Details,
            Output { all: true, .. } => Depth::AllRows,
            _ => Depth::Screen,
        }
    }

    /// Is a first screen shown?
    pub fn has_screen(&self) -> bool {
        self.is_for_people() && !self.html && self.depth() != Depth::Details
    }

    /// The folder that the report is written into; standard output is none.
    pub fn folder(&self) -> Option<&Path> {
        self.out.as_deref().filter(|folder| !is_stdout(folder))
    }

    /// Refuses a folder that nothing may be written into, before anything is read.
    pub fn check(&self, door: &Door, name: &str) -> Result<(), Failure> {
        let names = ["txt", "md", "csv", "json"].map(|ending| format!("{name}.{ending}"));
        self.folder().map_or(Ok(()), |folder| door.folder(OUT, folder, Company::Any, &names).map(drop))
    }

    /// Prints a report, and writes it into the folder if there is one. `report` makes it, with the command named in it or not:
    /// whoever has just typed the command need not be told.
    pub fn give(&self, door: &Door, name: &str, command: String, report: impl Fn(Option<String>) -> Report) -> Result<(), Failure> {
        self.give_beside(door, name, command, Printed::Too, report)
    }

    /// The same where something else may be on standard output.
    pub fn give_beside(
        &self,
        door: &Door,
        name: &str,
        command: String,
        printed: Printed,
        report: impl Fn(Option<String>) -> Report,
    ) -> Result<(), Failure> {
        if let Some(folder) = self.folder() {
            let named = report(Some(command));
            let page = Page { width: USUAL_WIDTH, emphasis: Emphasis::Plain, figures: Figures::Exact };
            let forms = [("txt", Form::Text(page)), ("md", Form::Markdown), ("csv", Form::Csv), ("json", Form::Json)];
            let files = forms.into_iter().map(|(ending, form)| Ok((format!("{name}.{ending}"), rendered(&named, form)?.into_bytes())));
            door.fill(OUT, folder, Company::Any, &files.collect::<Result<Vec<_>, Failure>>()?)?;
        }
        if printed == Printed::Never {
            return Ok(());
        }
        let form = match self {
            Output { json: true, .. } => Form::Json,
            Output { csv: true, .. } => Form::Csv,
            Output { markdown: true, .. } => Form::Markdown,
            Output { html: true, .. } => Form::Html,
            _ => Form::Screen(page(), self.depth()),
        };
        print(&rendered(&report(None), form)?)
    }
}

fn rendered(report: &Report, form: Form) -> Result<String, Failure> {
    Ok(match form {
        Form::Text(page) | Form::Screen(page, Depth::Details) => text(report, page),
        Form::Screen(page, depth) => screen(report, page, depth),
        Form::Markdown => markdown(report),
        Form::Csv => csv(report)?,
        Form::Json => json(report)?,
        Form::Html => html(&Story::of(report))?,
    })
}
