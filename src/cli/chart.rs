//! `ctxsim chart`: one chart into a file, its data beside it.

use super::arms::Arms;
use super::choices::{Choices, one_of};
use super::door::{Door, NONE_IS_OWN, WRITES};
use super::failure::Failure;
use super::logs::Logs;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::print::{page, print, print_content};
use super::target::{Ending, OUTPUT, Target, Writes, forms};
use crate::policy::suggestion;
use crate::render::chart::{Look, Size, Theme, csv, png, svg};
use crate::render::table_alone;
use crate::report::chart::{Chart as Drawn, KINDS, Kind, by_name};
use crate::report::{Cell, Column, Table};
use clap::{Arg, ArgMatches, Args, Command};
use std::path::{Path, PathBuf};

mod question;

const POLICIES: &str = "A preset or a policy file; may be given several times, but for `overflows` [default: the main presets; the session's own agent for context, \
     baseagent for sweeps, none for overflows]";

/// What a chart is written as.
const PICTURE: Writes = Writes { files: &[Ending::Svg, Ending::Png, Ending::Csv], folder: true };

/// What charts are drawn for.
const THEMES: Choices<Theme> = &[("light", Theme::Light, "On white paper"), ("dark", Theme::Dark, "On a dark screen")];

const EXAMPLES: &str = "\
Examples:
  ctxsim chart list                the kinds, with a sentence each
  ctxsim chart context logs/ --session 4f2a -p opencode -o session.svg
  ctxsim chart survival logs/ -o survival.png --size large --theme dark
  ctxsim chart sweep logs/ -p baseagent -o sweep.svg \\
      --vary prune_protect=10k..80k:10k
  ctxsim chart cost logs/ -o - > cost.svg
  ctxsim chart predicted before/ --with after/ -p mine.toml

docs/charts.md shows what each of them says.";

/// Draw one chart as SVG or PNG, with its data beside it as CSV
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)), mut_arg("minimise", of_sweeps), mut_arg("maximise", of_sweeps), mut_arg("subject_to", of_sweeps))]
pub struct Chart {
    /// What to draw; `list` lists the kinds
    #[arg(value_name = "KIND")]
    kind: String,
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    own: OwnAgents,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    arms: Arms,
    #[command(flatten)]
    question: question::Question,
    /// Where to draw it: FILE.svg or FILE.png, its data goes into FILE.csv; FILE.csv holds the data alone; a folder gets KIND.svg, `-` prints
    /// SVG [default: KIND.svg]
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    output: Option<PathBuf>,
    /// The form of the output, where its name does not say it: in a folder, on standard output [default: svg]
    #[arg(long, value_name = "FORM", value_parser = forms(&PICTURE), help_heading = WRITES)]
    format: Option<Ending>,
    /// Write over a chart or data that are there already
    #[arg(long, help_heading = WRITES)]
    force: bool,
    /// small (640x400), medium, large (1440x900), or WIDTHxHEIGHT in pixels
    #[arg(long, value_name = "SIZE", default_value = "medium", value_parser = size)]
    size: Size,
    /// The colours: on white paper, or on a dark screen
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = one_of(THEMES))]
    theme: Theme,
}

/// An option that charts of sweeps alone use, and says so.
fn of_sweeps(option: Arg) -> Arg {
    let help = option.get_help().map(|help| format!("sweep, sweep-map, sweep-trade: {}", help.to_string().replacen("What", "what", 1)));
    option.help(help.unwrap_or_default())
}

impl Chart {
    pub fn run(&self, typed: Option<&ArgMatches>, door: &Door) -> Result<(), Failure> {
        if self.kind == "list" {
            return match (&self.output, self.format) {
                (None, None) => print(&list()),
                _ => Err(Failure::Usage("`chart list` prints a table alone: it has neither --format nor -o".to_owned())),
            };
        }
        let kind = by_name(&self.kind).ok_or_else(|| {
            let hint = suggestion(&self.kind, KINDS.into_iter().map(|kind| kind.name));
            Failure::Usage(format!("there is no chart `{}`{hint} (`ctxsim chart list` lists them)", self.kind))
        })?;
        if let Some(typed) = typed {
            question::refuse_unused(kind, &Chart::augment_args(Command::new("chart")), typed)?;
        }
        let form = self.format.unwrap_or(Ending::Svg);
        let usual = form.file(kind.name);
        let target = match Target::of(OUTPUT, self.output.as_deref().unwrap_or(Path::new(&usual)), &PICTURE, self.format)? {
            Target::Folder(folder) => Target::File(folder.join(usual), form),
            target => target,
        };
        if let Target::File(path, _) = &target {
            door.file("output", path, NONE_IS_OWN)?;
            door.file("output", &path.with_extension("csv"), NONE_IS_OWN)?;
        }
        self.policies.check_model(&self.logs)?;
        let asked = question::ChartQuestion {
            question: &self.question,
            logs: &self.logs,
            policies: &self.policies,
            pricing: &self.pricing,
            own: &self.own,
            arms: &self.arms,
        };
        let (chart, complaints) = asked.chart(kind)?;
        self.give(door, &chart, &target)?;
        Failure::checked(complaints)
    }

    fn give(&self, door: &Door, chart: &Drawn, target: &Target) -> Result<(), Failure> {
        let phase = self.logs.phase("drawing");
        let look = Look { size: self.size, theme: self.theme };
        let form = if let Target::File(_, ending) = target { *ending } else { self.format.unwrap_or(Ending::Svg) };
        let bytes = match form {
            Ending::Png => png(chart, look)?,
            Ending::Csv => csv(chart)?.into_bytes(),
            _ => svg(chart, look).into_bytes(),
        };
        drop(phase);
        let Target::File(path, _) = target else { return print_content(&bytes.into()) };
        let drawn = door.file("output", path, NONE_IS_OWN)?;
        if form == Ending::Csv {
            door.put(&[(&drawn, &bytes.as_slice().into())])?;
            door.tell(&format!("wrote {}", path.display()));
            return Ok(());
        }
        let beside = path.with_extension("csv");
        let data = csv(chart)?;
        let listed = door.file("output", &beside, NONE_IS_OWN)?;
        door.put(&[(&drawn, &bytes.as_slice().into()), (&listed, &data.as_str().into())])?;
        door.tell(&format!("wrote {} and {}", path.display(), beside.display()));
        Ok(())
    }
}

fn list() -> String {
    let columns = vec![Column::name("kind", "kind"), Column::prose("sentence", "what it shows")];
    let row = |kind: &Kind| vec![Cell::name(kind.name), Cell::name(kind.sentence)];
    table_alone(&Table { labels: 1, columns, rows: KINDS.into_iter().map(row).collect() }, page())
}

fn size(text: &str) -> Result<Size, String> {
    let named = [("small", Size::SMALL), ("medium", Size::MEDIUM), ("large", Size::LARGE)];
    if let Some((_, size)) = named.into_iter().find(|(name, _)| *name == text) {
        return Ok(size);
    }
    let (least, most) = (Size::LEAST, Size::MOST);
    let (width, height) = text.split_once('x').ok_or("it is small, medium, large, or WIDTHxHEIGHT as in 1200x750")?;
    let pixels = |text: &str, least: u32, most: u32| text.parse().ok().filter(|pixels| (least..=most).contains(pixels));
    match (pixels(width, least.width, most.width), pixels(height, least.height, most.height)) {
        (Some(width), Some(height)) => Ok(Size { width, height }),
        _ => Err(format!("a chart has {}x{} to {}x{} pixels", least.width, least.height, most.width, most.height)),
    }
}
