//! `ctxsim report`: everything that a replay has to say, as a folder: a page, a summary, tables, the record.

use super::content::Content;
use super::door::{Company, Door, NONE_IS_OWN, WRITES};
use super::failure::Failure;
use super::logs::Logs;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::print::{page, print, print_content};
use super::shell::flag;
use super::target::{Ending, OUTPUT, Target, Writes, forms};
use crate::catalog::Scenario;
use crate::corpus::{Corpus, Excerpts, Vocabularies, excerpts};
use crate::cost::Check;
use crate::experiment::drift::{Basis, DriftSettings, pairs};
use crate::experiment::{Composer, Replay, check_model, choose, plan_for, price, reads, recorded_under, recorders, recording, sample};
use crate::measure::Wanted;
use crate::policy::{FALLBACK_WINDOW, Policy};
use crate::render::chart::{self, Look, Size, Theme};
use crate::render::{Pictures, csv_into, html, json_into, prose, summary};
use crate::report::chart::{Life, busiest};
use crate::report::{self, Asked, Baselines, By, Parts, Story, Told, story};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ctxsim report transcripts/ -o reports/
  ctxsim report logs/ --policy none --policy codex --policy mine.toml
  ctxsim report corpus.ctxtrace -o reports/
                                   from measured traces: nothing is read twice

The folder gets index.html (open it in a browser), summary.md (for pull
requests), CSV files, and replay.json, from which they come. The page sends no
request and needs no network. docs/report.md tells what stands in it.";

/// What a report is written as.
const PAGE: Writes = Writes { files: &[Ending::Html, Ending::Md, Ending::Json], folder: true };

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
    #[command(flatten)]
    own: OwnAgents,
    /// The folder that the report is written into; FILE.html is the page alone, FILE.md the summary, FILE.json the figures, `-` prints one of
    /// them [default: reports/]
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    output: Option<PathBuf>,
    /// Print the page, the summary or the figures alone
    #[arg(long, value_name = "FORM", value_parser = forms(&PAGE), help_heading = WRITES)]
    format: Option<Ending>,
    /// Write into a folder that holds other things than a report of ctxsim; what has the same name is replaced
    #[arg(long, help_heading = WRITES)]
    force: bool,
    /// Put the charts of summary.md into it as data, so that it is one file to paste
    #[arg(long)]
    inline: bool,
}

impl Report {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let printed = if self.format.is_some() { "-" } else { "reports/" };
        let target = Target::of(OUTPUT, self.output.as_deref().unwrap_or(Path::new(printed)), &PAGE, self.format)?;
        match &target {
            Target::Printed => {}
            Target::File(path, _) => drop(door.file("output", path, NONE_IS_OWN)?),
            Target::Folder(folder) => drop(door.folder("output", folder, Company::Own, &["index.html".to_owned()])?),
        }
        let policies = self.policies.load_once_each(&self.logs, &[])?;
        self.policies.check_model(&self.logs)?;
        // Estimators are held against an exact count too. In most logs it costs nothing; another vocabulary takes a sixth of the whole run.
        let corpus = self.logs.read_in(Vocabularies::O200kBase, Wanted::default())?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let settings = self.policies.settings(&self.logs)?;
        let phase = self.logs.phase("simulating");
        // What nothing shortens is replayed with the others, and no second time where it is one of them.
        let none = Policy::load("none")?;
        let unchanged = policies.iter().position(|policy| *policy == none);
        let all: Vec<Policy> = policies.iter().cloned().chain(unchanged.is_none().then(|| none.clone())).collect();
        let mut replays = self.policies.replay(&all, &corpus, &self.logs)?;
        price(&corpus, &mut replays, &tariff);
        let (replayed, beside) = replays.split_at(policies.len());
        let Some(unchanged) = unchanged.map_or(beside.first(), |place| replayed.get(place)) else { return Ok(()) };
        let recording = recording(&corpus, &tariff);
        let own = self.own.replay(&corpus, &self.policies, &self.logs, &tariff)?;
        let baselines = Baselines { recording: Some(&recording), own: own.as_ref() };
        let checks = check_model(&corpus, &tariff);
        let (predicted, scenarios) = (self.policies.predicted(&corpus, &self.logs)?, Scenario::builtin()?);
        let choice = choose(replayed, &sample(corpus.traces.each()), self.pricing.cache).unwrap_or_default();
        let reads = reads(&corpus, baselines.with_own(replayed), &tariff);
        let compared: Vec<Policy> = policies.iter().filter(|policy| **policy != none).cloned().collect();
        let replay = self.policies.settings(&self.logs)?;
        let paired = pairs(
            &corpus,
            &DriftSettings { compared: &compared, replayed: &[], replay, basis: Basis::Tokens, vocabularies: Vocabularies::O200kBase },
        )?;
        // One session stands for all: that in which most happens, under its own agent where that is known, else under the best policy.
        let example = busiest(&corpus, &baselines.with_own(replayed).collect::<Vec<_>>());
        let recorders = recorders()?;
        let mine = corpus.traces.at(example).and_then(|trace| recorded_under(&trace, &recorders, &settings)).map(|(policy, _)| policy);
        let mine = mine.zip(own.as_ref().map(|own| &own.replay));
        let shown = mine.or_else(|| policies.get(choice.place).zip(replayed.get(choice.place)));
        let mut lives = Vec::new();
        if let Some((policy, replay)) = shown {
            let found = plan_for(&corpus, policy, &settings, example)?;
            lives.extend(found.map(|(plan, conditions)| Life { replay, plan, conditions, is_own: mine.is_some() }));
        }
        drop(phase);
        let phase = self.logs.phase("drawing");
        let excerpts = if self.policies.programs.with_content { excerpts(&corpus, self.logs.reader()?) } else { Excerpts::default() };
        let told = Told {
            corpus: &corpus,
            replays: replayed,
            composer: &Composer::new(&corpus, &policies, &settings)?,
            baselines,
            unchanged,
            checks: &checks,
            predicted,
            scenarios: &scenarios,
            cache: self.pricing.cache,
            choice: &choice,
            reads: &reads,
            paired: &paired,
            example: (example, &lives),
            window: self.policies.window().unwrap_or(FALLBACK_WINDOW),
            excerpts: &excerpts,
        };
        let story = story(told, Some(self.command()));
        let mut files = self.tables(&corpus, replayed, &checks, baselines);
        self.pages(&story, &target, &mut files)?;
        drop(phase);
        self.write(door, &target, &story, &files)?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    /// The charts, the page and the summary.
    fn pages<'a>(&self, story: &'a Story<'_>, target: &Target, files: &mut Vec<(String, Content<'a>)>) -> Result<(), Failure> {
        for drawn in story.chapters.iter().flat_map(|chapter| &chapter.charts) {
            let look = |theme| Look { size: Size::MEDIUM, theme };
            files.push((format!("charts/{}.svg", drawn.kind), chart::svg(drawn, look(Theme::Light)).into()));
            files.push((format!("charts/{}-dark.svg", drawn.kind), chart::svg(drawn, look(Theme::Dark)).into()));
            files.push((format!("charts/{}.csv", drawn.kind), Content::made(|out| chart::csv_into(drawn, out))));
        }
        // A summary that stands alone has no folder of pictures beside it.
        let pictures = if self.inline || target.folder().is_none() { Pictures::Inlined } else { Pictures::Linked };
        files.push(("summary.md".to_owned(), summary(story, &SUMMARISED, pictures).into()));
        files.push(("index.html".to_owned(), html(story)?.into()));
        Ok(())
    }

    fn write(&self, door: &Door, target: &Target, story: &Story<'_>, files: &[(String, Content<'_>)]) -> Result<(), Failure> {
        let nothing = Content::from("");
        let alone = |ending: Ending| {
            let name = match ending {
                Ending::Md => "summary.md",
                Ending::Json => "replay.json",
                _ => "index.html",
            };
            files.iter().find(|(known, _)| known == name).map_or(&nothing, |(_, content)| content)
        };
        match target {
            Target::Printed => print_content(alone(self.format.unwrap_or(Ending::Html)))?,
            Target::File(path, ending) => {
                door.put(&[(&door.file("output", path, NONE_IS_OWN)?, alone(*ending))])?;
                Report::say(door, story, path)?;
            }
            Target::Folder(folder) => {
                door.fill("output", folder, Company::Own, files)?;
                match self.format.map(alone) {
                    Some(content) => print_content(content)?,
                    None => Report::say(door, story, &folder.join("index.html"))?,
                }
            }
        }
        Ok(())
    }

    /// The tables for spreadsheets, and the record for programs.
    fn tables<'a>(
        &'a self,
        corpus: &'a Corpus,
        replays: &'a [Replay],
        checks: &'a BTreeMap<String, Check>,
        baselines: Baselines<'a>,
    ) -> Vec<(String, Content<'a>)> {
        let kinds = [("sessions", By::Session), ("tools", By::Tool), ("regions", By::Region), ("references", By::Reference)];
        let report = move |by: By, parts: Parts| {
            let asked = Asked { by, parts, cache: self.pricing.cache, checks: Some(checks), ..Asked::default() };
            report::replay(corpus, replays, baselines, &asked)
        };
        let rows = Parts { sections: false, rows: true, record: false };
        let mut files: Vec<(String, Content<'a>)> = Vec::new();
        for (name, by) in kinds {
            files.push((format!("{name}.csv"), Content::made(move |out| csv_into(&report(by, rows), out))));
        }
        let record = Parts { record: true, rows: false, ..rows };
        let named = move || report::Report { command: Some(self.command()), ..report(By::Policy, record) };
        let json = move |out: &mut dyn Write| json_into(&named(), out);
        files.push(("replay.json".to_owned(), Content::made(json)));
        files
    }

    /// The command as it would be typed again. Where the report is written changes nothing in it.
    fn command(&self) -> String {
        let after = [self.policies.words(), self.pricing.words(), self.own.words(), flag("--inline", self.inline)].concat();
        self.logs.command(&["report"], &after)
    }

    fn say(door: &Door, story: &Story<'_>, page_at: &Path) -> Result<(), Failure> {
        let verdict: String = story.verdict.iter().map(|sentence| prose(sentence, page())).collect();
        print(&verdict)?;
        door.tell(&format!("wrote the report into {}", page_at.display()));
        Ok(())
    }
}
