//! Where a report goes: to stdout in one form, to a folder in all of them.

use super::failure::Failure;
use clap::Args;
use ctxsim::render::{Emphasis, Page, csv, html, json, markdown, text};
use ctxsim::report::{Report, Story};
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The width of a page where nobody knows it.
const USUAL_WIDTH: usize = 80;

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
    /// Write all forms into this folder too; the text forms and JSON name the command that made them
    #[arg(long, short, value_name = "DIR", alias = "output")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy)]
enum Form {
    Text(Page),
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

    /// Prints a report, and writes it into the folder if there is one. `report` makes it, with the command named in it or not:
    /// whoever has just typed the command need not be told.
    pub fn give(&self, name: &str, command: String, report: impl Fn(Option<String>) -> Report) -> Result<(), Failure> {
        if let Some(folder) = &self.out {
            let named = report(Some(command));
            let page = Page { width: USUAL_WIDTH, emphasis: Emphasis::Plain };
            let forms = [("txt", Form::Text(page)), ("md", Form::Markdown), ("csv", Form::Csv), ("json", Form::Json)];
            let files = forms.into_iter().map(|(ending, form)| Ok((format!("{name}.{ending}"), rendered(&named, form)?)));
            write_into(folder, &files.collect::<Result<Vec<_>, Failure>>()?)?;
        }
        let form = match self {
            Output { json: true, .. } => Form::Json,
            Output { csv: true, .. } => Form::Csv,
            Output { markdown: true, .. } => Form::Markdown,
            Output { html: true, .. } => Form::Html,
            _ => Form::Text(page()),
        };
        print(&rendered(&report(None), form)?)
    }
}

fn rendered(report: &Report, form: Form) -> Result<String, Failure> {
    Ok(match form {
        Form::Text(page) => text(report, page),
        Form::Markdown => markdown(report),
        Form::Csv => csv(report)?,
        Form::Json => json(report)?,
        Form::Html => html(&Story::of(report))?,
    })
}

/// The page that stdout is.
pub fn page() -> Page {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let terminal = io::stdout().is_terminal();
    let wished = set("COLUMNS").and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| usize::from(width.0));
    let emphasis = if terminal && set("NO_COLOR").is_none() { Emphasis::Bold } else { Emphasis::Plain };
    Page { width: wished.or_else(measured).unwrap_or(USUAL_WIDTH), emphasis }
}

/// Prints to stdout. A reader who goes away early has had enough: that is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Enough),
        Err(error) => Err(Failure::writing(Path::new("standard output"), &error)),
    }
}

/// Writes files into a folder: all beside their places first, then each put in place at once.
pub fn write_into(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let write = |(name, text): &(String, String)| {
        let place = folder.join(name);
        let parent = place.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| Failure::writing(parent, &error))?;
        Waiting::write(&place, |file| file.write_all(text.as_bytes()))
    };
    let waiting: Vec<Waiting> = files.iter().map(write).collect::<Result<_, _>>()?;
    waiting.into_iter().try_for_each(Waiting::put_in_place)
}

/// A file that is written and waits beside its place. One that is never put there is removed.
pub struct Waiting {
    beside: PathBuf,
    place: PathBuf,
}

impl Waiting {
    /// Writes a file beside its place.
    pub fn write(place: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Waiting, Failure> {
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let beside = place.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let waiting = Waiting { beside, place: place.to_owned() };
        let written = File::create(&waiting.beside).and_then(|mut file| {
            write(&mut file)?;
            file.sync_all()
        });
        written.map_err(|error| Failure::writing(place, &error))?;
        Ok(waiting)
    }

    /// Puts it in place, over whatever stood there.
    pub fn put_in_place(self) -> Result<(), Failure> {
        fs::rename(&self.beside, &self.place).map_err(|error| Failure::writing(&self.place, &error))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.beside);
    }
}
