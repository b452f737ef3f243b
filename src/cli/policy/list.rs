//! `ctxsim policy list`: names of all presets.

use crate::cli::door::Door;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::when::now;
use crate::policy::{Policy as Document, presets};
use crate::report::{Cell, Column, Depth, Table, Unit, by_name, list};
use clap::Args;
use jiff::civil::Date;

const EXAMPLES: &str = "\
Examples:
  ctxsim policy list
  ctxsim policy list --age         how old is what each preset mirrors?
  ctxsim policy list --age --as-of 2026-12-31";

/// Names of all presets, with a line on each
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct List {
    /// Say which version each preset mirrors, of which day, and how many days ago that was
    #[arg(long)]
    age: bool,
    /// Count the days up to this one instead of today: 2026-12-31
    #[arg(long, value_name = "DATE", requires = "age", value_parser = day)]
    as_of: Option<Date>,
    #[command(flatten)]
    output: Output,
}

fn day(text: &str) -> Result<Date, String> {
    Date::strptime("%Y-%m-%d", text).map_err(|_| "a day is written 2026-12-31".to_owned())
}

impl List {
    /// Prints a row for each preset.
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let policies = presets().iter().map(|preset| Document::parse(preset.name, preset.text)).collect::<Result<Vec<Document>, _>>()?;
        if !self.age {
            let columns = vec![Column::name("policy", "policy"), Column::prose("about", "what it does")];
            let rows = policies.into_iter().map(|policy| vec![Cell::Name(policy.name), Cell::Name(policy.about)]).collect();
            let table = Table { labels: 1, columns, rows };
            let all = list("policies", "Presets".to_owned(), table);
            return self.output.list(door, "ctxsim policy list", if self.output.depth() == Depth::Screen { by_name(all) } else { all });
        }
        let as_of = self.as_of.unwrap_or_else(|| now().to_zoned(jiff::tz::TimeZone::UTC).date());
        let columns = vec![
            Column::name("policy", "policy"),
            Column::name("version", "mirrors version"),
            Column::name("date", "of"),
            Column::recorded("age_days", "age in days", Unit::Count),
        ];
        let row = |policy: Document| {
            let age = policy.mirrored.age_days(as_of).map_or(Cell::Empty, Cell::Count);
            let day = Cell::Name(policy.mirrored.day());
            vec![Cell::Name(policy.name), Cell::Name(policy.mirrored.version.unwrap_or_default()), day, age]
        };
        let table = Table { labels: 1, columns, rows: policies.into_iter().map(row).collect() };
        let command = format!("ctxsim policy list --age --as-of {as_of}");
        self.output.list(door, &command, list("policies", format!("Presets, their age as of {as_of}"), table))
    }
}
