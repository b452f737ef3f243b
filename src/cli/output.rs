//! Where a report goes: to stdout in one form, to a folder in all of them.

use super::content::Content;
use super::door::{Company, Door, NONE_IS_OWN, WRITES};
use super::failure::Failure;
use super::print::{USUAL_WIDTH, page, print_content};
use super::target::{self, Ending, Target, Writes};
use crate::render::{Emphasis, Figures, Page, csv_into, html, json_into, markdown, screen, text};
use crate::report::{Depth, Parts, Report, Story};
use clap::builder::{EnumValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The option that names the place.
const OUTPUT: &str = "output";

/// What a report is written as: each form, and how the names of its files end. A folder gets all of them.
const FORMS: [(Format, Ending); 5] = [
    (Format::Table, Ending::Txt),
    (Format::Markdown, Ending::Md),
    (Format::Csv, Ending::Csv),
    (Format::Json, Ending::Json),
    (Format::Html, Ending::Html),
];
const REPORT: Writes = Writes { files: &[Ending::Txt, Ending::Md, Ending::Csv, Ending::Json, Ending::Html], folder: true };

/// The form of the output, and where it goes.
#[derive(Args, Clone, Debug, Default)]
pub struct Output {
    /// Print JSON; docs/json.md describes it
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print the rows as CSV, with all columns and exact figures
    #[arg(long, group = "form")]
    pub csv: bool,
    /// Print Markdown, for pages and pull requests
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Print a page for a browser, which needs no network; `ctxsim report` makes a fuller one
    #[arg(long, group = "form")]
    pub html: bool,
    /// The form of the output, by its name
    #[arg(long, value_name = "FORM", group = "form", value_parser = usual_forms())]
    pub format: Option<Format>,
    /// Show everything: all tables and columns, exact figures, what they mean, all notes
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "html"])]
    pub details: bool,
    /// Show all rows of each table, not the most telling alone
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "html", "details"])]
    pub all: bool,
    /// Write into this file instead, in the form that its name ends in: .txt, .md, .csv, .json, .html. Into a folder (`reports/`) go all
    /// forms, beside what is printed. Text and JSON name the command that made them
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    pub output: Option<PathBuf>,
    /// Write over files that are there already and are none of ctxsim's own
    #[arg(long, help_heading = WRITES)]
    pub force: bool,
}

/// Is the report printed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// The report is printed, whatever files are written.
    Too,
    /// Something else was, by the name `-`.
    Never,
}

/// A form by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people to read
    Table,
    /// All figures for programs; docs/json.md describes it
    Json,
    /// Rows for spreadsheets
    Csv,
    /// Tables for pages and pull requests
    Markdown,
    /// A page for browsers
    Html,
    /// JUnit XML for build servers
    Junit,
    /// Commands of a GitHub workflow
    Github,
}

/// The forms of every report, without those that hold checks alone.
fn usual_forms() -> impl TypedValueParser<Value = Format> {
    let shown = Format::value_variants().iter().filter(|form| !matches!(form, Format::Junit | Format::Github));
    PossibleValuesParser::new(shown.filter_map(Format::to_possible_value)).try_map(|name| Format::from_str(&name, false))
}

/// All forms, for a command whose report is one of checks.
pub fn forms_of_checks() -> EnumValueParser<Format> {
    EnumValueParser::new()
}

/// The page of a file, and how much stands on it.
const OF_FILES: (Page, Depth) = (Page { width: USUAL_WIDTH, emphasis: Emphasis::Plain, figures: Figures::Exact }, Depth::Details);

impl Output {
    /// Is it read by people, not by programs alone?
    pub fn is_read(&self) -> bool {
        !matches!(self.form(), Format::Json | Format::Csv)
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
        let for_people = self.form() == Format::Table && !matches!(self.target(), Ok(Target::File(..)));
        for_people && self.depth() != Depth::Details
    }

    /// The form that is asked for.
    pub fn form(&self) -> Format {
        let short = [(self.json, Format::Json), (self.csv, Format::Csv), (self.markdown, Format::Markdown), (self.html, Format::Html)];
        short.into_iter().find(|(typed, _)| *typed).map(|(_, form)| form).or(self.format).unwrap_or(Format::Table)
    }

    /// Where the report goes.
    fn target(&self) -> Result<Target, Failure> {
        let is_typed = |form: Format| form != Format::Table || self.format.is_some();
        let asked = FORMS.iter().find(|(form, _)| *form == self.form() && is_typed(*form)).map(|(_, ending)| *ending);
        self.output.as_deref().map_or(Ok(Target::Printed), |path| Target::of(target::OUTPUT, path, &REPORT, asked))
    }

    /// Refuses a place that nothing may be written to, before anything is read.
    pub fn check(&self, door: &Door, name: &str) -> Result<(), Failure> {
        match self.target()? {
            Target::Printed => Ok(()),
            Target::File(path, _) => door.file(OUTPUT, &path, NONE_IS_OWN).map(drop),
            Target::Folder(folder) => door.folder(OUTPUT, &folder, Company::Any, &FORMS.map(|(_, ending)| ending.file(name))).map(drop),
        }
    }

    /// Prints a report, or writes it into the file that is asked for; into a folder in all forms. What is written names the command: whoever has just
    /// typed it need not be told.
    pub fn give(&self, door: &Door, name: &str, command: String, report: impl FnOnce() -> Report) -> Result<(), Failure> {
        self.give_beside(door, name, command, Printed::Too, report)
    }

    /// The same of a report that is made of no more than is looked at.
    pub fn give_parts(&self, door: &Door, name: &str, command: String, report: impl FnOnce(Parts) -> Report) -> Result<(), Failure> {
        let all = matches!(self.target()?, Target::Folder(_));
        let of = |form: Format| match form {
            Format::Json => Parts { sections: false, rows: false, record: true },
            Format::Csv => Parts { sections: false, rows: true, record: false },
            Format::Table | Format::Markdown => Parts { sections: true, rows: false, record: false },
            Format::Html | Format::Junit | Format::Github => Parts::default(),
        };
        let form = match self.target()? {
            Target::File(_, ending) => format_of(ending),
            _ => self.form(),
        };
        self.give(door, name, command, || report(if all { Parts::default() } else { of(form) }))
    }

    /// Gives a list of what the program knows.
    pub fn list(&self, door: &Door, command: &str, list: Report) -> Result<(), Failure> {
        let (name, _) = list.record.schema();
        self.check(door, name)?;
        self.give(door, name, command.to_owned(), || list)
    }

    /// The same where something else may be on standard output.
    pub fn give_beside(
        &self,
        door: &Door,
        name: &str,
        command: String,
        printed: Printed,
        report: impl FnOnce() -> Report,
    ) -> Result<(), Failure> {
        let target = self.target()?;
        // Tables of many sessions take their time, and so do pages with charts.
        let phase = door.phase("drawing");
        if let Target::File(path, ending) = &target {
            let place = door.file(OUTPUT, path, NONE_IS_OWN)?;
            let report = Report { command: Some(command), ..report() };
            door.put(&[(&place, &rendered(&report, format_of(*ending), OF_FILES)?)])?;
            drop(phase);
            door.tell(&format!("wrote {}", path.display()));
            return Ok(());
        }
        let mut report = report();
        if let Target::Folder(folder) = &target {
            report.command = Some(command);
            let files = FORMS.into_iter().map(|(form, ending)| Ok((ending.file(name), rendered(&report, form, OF_FILES)?)));
            door.fill(OUTPUT, folder, Company::Any, &files.collect::<Result<Vec<_>, Failure>>()?)?;
            door.tell(&format!("wrote {name}.txt, .md, .csv, .json and .html into {}", folder.display()));
        }
        if printed == Printed::Never {
            return Ok(());
        }
        report.command = None;
        let content = rendered(&report, self.form(), (page(), self.depth()))?;
        drop(phase);
        print_content(&content)
    }
}

/// The form of a file.
fn format_of(ending: Ending) -> Format {
    FORMS.iter().find(|(_, known)| *known == ending).map_or(Format::Table, |(form, _)| *form)
}

fn rendered(report: &Report, format: Format, (page, depth): (Page, Depth)) -> Result<Content<'_>, Failure> {
    Ok(match format {
        Format::Json => Content::made(|out| json_into(report, out)),
        Format::Csv => Content::made(|out| csv_into(report, out)),
        Format::Markdown => markdown(report).into(),
        Format::Html => html(&Story::of(report))?.into(),
        Format::Table | Format::Junit | Format::Github if depth == Depth::Details => text(report, page).into(),
        Format::Table | Format::Junit | Format::Github => screen(report, page, depth).into(),
    })
}
