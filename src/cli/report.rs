//! `ctxsim report`: everything that a replay has to say, as a folder: a page, a summary, tables, the record.

use super::failure::{Failure, tell};
use super::logs::Logs;
use super::output::{print, write_into};
use super::policies::Policies;
use super::pricing::Pricing;
use super::replay::quoted;
use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::experiment::{Composed, Corpus, check_model, compose, homes, price};
use ctxsim::policy::Policy;
use ctxsim::render::chart::{self, Look, Size, Theme};
use ctxsim::render::{GENERATOR, csv, escape, html, json, summary};
use ctxsim::report::{self, Asked, By, Series, Story, Told, story};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ctxsim report transcripts/ -o reports/
  ctxsim report logs/ --policy none --policy codex --policy mine.toml
  ctxsim report corpus.ctxtrace -o /tmp/report    from measured traces: nothing is read twice

The folder gets index.html (open it in a browser), summary.md (for pull requests), CSV files, and replay.json, from which they come.
The page sends no request and needs no network. docs/report.md tells what stands in it.";

/// The chapters that are short enough for a pull request.
const SUMMARISED: [&str; 4] = ["policies", "overflow", "savings", "trust"];

/// Make a report for a browser: verdict, tables, charts, each session call by call; with a summary, CSV and JSON beside it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    /// The folder that the report is written into
    #[arg(long, short, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// Write into a folder that holds other things than a report of ctxsim; what has the same name is replaced
    #[arg(long)]
    force: bool,
}

impl Report {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        self.check_folder()?;
        let policies = self.policies.load_once_each(&self.logs)?;
        let catalog = Catalog::builtin()?;
        self.policies.check_model(&catalog, &self.logs)?;
        let corpus = self.logs.read(&catalog)?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, &catalog, self.logs.model.clone());
        let mut composed = compose(&corpus, &policies, &self.policies.settings(&catalog, &self.logs))?;
        price(&corpus, &mut composed.replays, &tariff);
        let mut unchanged = self.policies.replay(&[Policy::load("none")?], &corpus, &catalog, &self.logs)?;
        price(&corpus, &mut unchanged, &tariff);
        let checks = check_model(&corpus, &tariff);
        let Some(unchanged) = unchanged.first() else { return Ok(()) };
        let cache = self.pricing.cache.kind();
        let told = Told { corpus: &corpus, composed: &composed, unchanged, checks: &checks, cache, excerpts: &[] };
        let story = story(told, Some(self.command()));
        let mut files = self.tables(&corpus, &composed)?;
        for drawn in story.chapters.iter().flat_map(|chapter| &chapter.charts) {
            let look = |theme| Look { size: Size::MEDIUM, theme };
            files.push((format!("charts/{}.svg", drawn.kind), chart::svg(drawn, look(Theme::Light))));
            files.push((format!("charts/{}-dark.svg", drawn.kind), chart::svg(drawn, look(Theme::Dark))));
            files.push((format!("charts/{}.csv", drawn.kind), chart::csv(drawn)?));
        }
        files.push(("summary.md".to_owned(), summary(&story, &SUMMARISED)));
        files.push(("index.html".to_owned(), html(&story)?));
        write_into(&self.out, &files)?;
        self.say(&story)?;
        let complaints = self.logs.complaints(&corpus);
        if complaints.is_empty() { Ok(()) } else { Err(Failure::Check(complaints)) }
    }

    /// The tables for spreadsheets, and the record for programs.
    fn tables(&self, corpus: &Corpus, composed: &Composed) -> Result<Vec<(String, String)>, Failure> {
        let kinds = [("sessions", By::Session), ("tools", By::Tool), ("regions", By::Region), ("references", By::Reference)];
        let report = |by: By, command: Option<String>| {
            let asked = Asked { by, series: Series::LeftOut, cache: self.pricing.cache.kind(), command };
            report::replay(corpus, &composed.replays, &asked)
        };
        let mut files = Vec::new();
        for (name, by) in kinds {
            files.push((format!("{name}.csv"), csv(&report(by, None))?));
        }
        files.push(("replay.json".to_owned(), json(&report(By::Policy, Some(self.command())))?));
        Ok(files)
    }

    fn say(&self, story: &Story<'_>) -> Result<(), Failure> {
        let verdict: String = story.verdict.iter().map(|sentence| format!("{}\n", escape(sentence))).collect();
        print(&verdict)?;
        if !self.logs.quiet {
            tell(&format!("wrote the report into {}", self.out.join("index.html").display()));
        }
        Ok(())
    }

    /// Nothing is written among an agent's logs, and nothing among files of others unless somebody insists.
    fn check_folder(&self) -> Result<(), Failure> {
        let folder = resolved(&self.out);
        let agents = homes(&|name| std::env::var(name).ok());
        if let Some(home) = agents.iter().find(|home| folder.starts_with(resolved(&home.path))) {
            let sentence = format!("{} lies among the logs of {}, where nothing is ever written", self.out.display(), home.agent);
            return Err(Failure::Usage(sentence));
        }
        let is_empty = fs::read_dir(&self.out).map_or(true, |mut entries| entries.next().is_none());
        match is_empty || self.force || is_report(&self.out) {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "{} holds other things than a report of ctxsim: name another folder with -o, or write among them with --force",
                self.out.display()
            ))),
        }
    }

    /// The command as it would be typed again. Where the report is written changes nothing in it.
    fn command(&self) -> String {
        let mut words = vec!["ctxsim".to_owned(), "report".to_owned()];
        words.extend(self.logs.words());
        words.extend(self.policies.words());
        words.extend(self.pricing.words());
        quoted(&words)
    }
}

/// A path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut there = whole.as_path();
    loop {
        if let Ok(real) = there.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else { return whole };
        missing.push(name.to_owned());
        there = parent;
    }
}

/// Does the folder hold a page that ctxsim made?
fn is_report(folder: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(folder.join("index.html")).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}
