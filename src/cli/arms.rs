//! Runs under a policy, and the runs that it is predicted from: as `validate` and its chart name, read and compare them.

use super::failure::Failure;
use super::logs::Logs;
use super::policies::Policies;
use super::pricing::Pricing;
use super::shell::option;
use crate::corpus::Corpus;
use crate::cost::Tariff;
use crate::experiment::validate::{Index, IndexRow, Label, PairBy, Sides, Validation, identity, labels, predicted, recorded, validate};
use crate::measure::Recall;
use crate::policy::Policy;
use crate::reading::{name_of, path_of};
use crate::report::{counted, first_few, grouped};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// So many files are named.
const NAMED: usize = 3;

/// The arms of an experiment.
#[derive(Args, Clone, Debug, Default)]
pub struct Arms {
    /// Runs under the policy: a file, a folder, a glob; may be given several times, each an arm of its own
    #[arg(long = "with", value_name = "AFTER", value_parser = OsStringValueParser::new().map(|name| name_of(&name)))]
    after: Vec<String>,
    /// What tells which runs are of one task: `id`, `file`, `folder`, or a column of the index [default: the column `task`; ids, where both sides share most]
    #[arg(long, value_name = "BY")]
    pair_by: Option<String>,
    /// A table that names the runs of all arms, instead of BEFORE and --with
    #[arg(long, value_name = "FILE", conflicts_with_all = ["logs", "after"], requires = "before")]
    index: Option<PathBuf>,
    /// The column of the index that names the arm
    #[arg(long, value_name = "COLUMN", requires = "index", default_value = "arm")]
    arm: String,
    /// The arms of the index without the policy; several with commas
    #[arg(long, value_name = "ARM", requires = "index", value_delimiter = ',')]
    before: Vec<String>,
    /// In each arm, turn a parameter of the policy to what a column of the index says
    #[arg(long, value_name = "PARAM=COLUMN", requires = "index")]
    set_by: Vec<String>,
}

/// Logs of one side with where their sessions belong.
type Labelled = (Corpus, Vec<Label>);

/// What arms are read with.
pub struct ReadWith<'a> {
    pub logs: &'a Logs,
    pub policies: &'a Policies,
    pub pricing: &'a Pricing,
    pub tariff: &'a Tariff<'a>,
}

/// Runs of all arms, compared.
pub struct Compared {
    /// The runs without the policy.
    pub before: Corpus,
    /// The policy as it was named; absent where nothing is predicted.
    pub policy: Option<Policy>,
    pub validation: Validation,
    /// Sentences on files that were not found, and on sessions that stand on both sides.
    pub notes: Vec<String>,
    /// What `--strict` complains of.
    pub complaints: Vec<String>,
}

impl ReadWith<'_> {
    fn read(&self, logs: Vec<String>, are_listed: bool, policy: Option<&Policy>) -> Result<Corpus, Failure> {
        let policies: Vec<Policy> = policy.cloned().into_iter().collect();
        Logs { logs, are_listed, ..self.logs.clone() }.read_for(Policies::wanted(&policies, Recall::Nothing))
    }
}

impl Arms {
    /// Reads all runs, predicts, and compares. Fails where an arm cannot be read, or the policy does not hold.
    pub fn compared(&self, asked: &ReadWith<'_>) -> Result<Compared, Failure> {
        let policy = match asked.policies.policies.as_slice() {
            [] => None,
            _ => Some(asked.policies.only("validate", asked.logs, &[])?),
        };
        let mut notes = Vec::new();
        let ((before, before_labels), arms) = match &self.index {
            Some(path) => self.by_index(path, asked, policy.as_ref(), &mut notes)?,
            None => self.by_folders(asked, policy.as_ref(), &mut notes)?,
        };
        let untouched = recorded(&before, asked.tariff, &before_labels);
        let settings = asked.policies.settings(asked.logs)?;
        let cache = asked.pricing.cache;
        let side = |arm: &ArmRead| {
            let predicted = match &arm.policy {
                Some(policy) => predicted(&before, policy, &settings, (asked.tariff, cache), &before_labels)?,
                None => Vec::new(),
            };
            let after = recorded(&arm.read.0, asked.tariff, &arm.read.1);
            Ok(Sides { name: arm.name.clone(), before: untouched.clone(), predicted, after })
        };
        let validation = validate(arms.iter().map(side).collect::<Result<Vec<Sides>, Failure>>()?);
        let complaints =
            std::iter::once(&before).chain(arms.iter().map(|arm| &arm.read.0)).flat_map(|corpus| asked.logs.complaints(corpus)).collect();
        Ok(Compared { before, policy, validation, notes, complaints })
    }

    /// What an arm is named by.
    pub fn named_by(&self) -> &str {
        if self.index.is_some() { &self.arm } else { "after" }
    }

    /// What was typed, for the line that names the command.
    pub fn words(&self) -> Vec<String> {
        let index = self.index.as_ref();
        let words = [
            option("--with", &self.after),
            option("--pair-by", &self.pair_by),
            option("--index", index.map(|index| index.display())),
            option("--arm", index.map(|_| &self.arm)),
            option("--before", index.map(|_| self.before.join(","))),
            option("--set-by", &self.set_by),
        ];
        words.concat()
    }

    /// Arms by what `--with` names.
    fn by_folders(
        &self,
        asked: &ReadWith<'_>,
        policy: Option<&Policy>,
        notes: &mut Vec<String>,
    ) -> Result<(Labelled, Vec<ArmRead>), Failure> {
        if self.after.is_empty() {
            return Err(Failure::Usage("the runs under the policy are missing: --with AFTER, or --index".to_owned()));
        }
        let mut before = asked.read(asked.logs.logs.clone(), false, policy)?;
        let mut after: Vec<(String, Corpus)> = self
            .after
            .iter()
            .map(|name| Ok((name.clone(), asked.read(vec![name.clone()], false, policy)?)))
            .collect::<Result<_, Failure>>()?;
        notes.extend(without_copies(&mut before, &mut after)?);
        let pair_by = match self.pair_by.as_deref() {
            Some("id") => Some(PairBy::Id),
            Some("file") => Some(PairBy::File),
            Some("folder") => Some(PairBy::Folder),
            Some(other) => {
                return Err(Failure::Usage(format!("`--pair-by {other}`: without --index there are id, file and folder")));
            }
            None => {
                let ids = |corpus: &Corpus| corpus.traces.each().map(|trace| trace.id.clone()).collect::<BTreeSet<String>>();
                let known = ids(&before);
                let shares_most = |(_, corpus): &(String, Corpus)| {
                    let own = ids(corpus);
                    2 * own.intersection(&known).count() > own.len().min(known.len())
                };
                after.iter().all(shares_most).then_some(PairBy::Id)
            }
        };
        let read = |(name, corpus): (String, Corpus)| {
            let labels = labels(&corpus, pair_by);
            ArmRead { name, read: (corpus, labels), policy: policy.cloned() }
        };
        let labels = labels(&before, pair_by);
        Ok(((before, labels), after.into_iter().map(read).collect()))
    }

    /// Arms and tasks by the index.
    fn by_index(
        &self,
        path: &Path,
        asked: &ReadWith<'_>,
        policy: Option<&Policy>,
        notes: &mut Vec<String>,
    ) -> Result<(Labelled, Vec<ArmRead>), Failure> {
        let named = |reason: String| Failure::Usage(format!("{}: {reason}", path.display()));
        let text = crate::reading::text(path).map_err(|error| named(format!("cannot be read: {error}")))?;
        let index = Index::parse(&text).map_err(named)?;
        let task = self.pair_by.as_deref().unwrap_or("task");
        index.check(&self.arm).map_err(named)?;
        if self.pair_by.is_some() {
            index.check(task).map_err(named)?;
        }
        let known = index.values(&self.arm);
        if let Some(unknown) = self.before.iter().find(|arm| !known.contains(arm)) {
            return Err(named(format!("no row has {} `{unknown}`; there are {}", self.arm, known.join(", "))));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let is_count = |row: &&IndexRow| row.cell("compactions").is_empty() || row.cell("compactions").parse::<u32>().is_ok();
        if let Some(row) = index.rows.iter().find(|row| !is_count(row)) {
            return Err(named(format!(
                "the row of `{}` counts `{}` compactions, which is no whole number up to {}",
                row.file,
                row.cell("compactions"),
                grouped(u64::from(u32::MAX))
            )));
        }
        let mut read = |rows: Vec<&IndexRow>| -> Result<Labelled, Failure> {
            let files: BTreeMap<PathBuf, &IndexRow> = rows.iter().map(|row| (folder.join(path_of(&row.file)), *row)).collect();
            let corpus = asked.read(files.keys().map(|file| name_of(file.as_os_str())).collect(), true, policy)?;
            let label = |source: &str| {
                let row = files.get(Path::new(source));
                let cell = |column: &str| row.map(|row| row.cell(column)).filter(|cell| !cell.is_empty());
                let compactions = cell("compactions").and_then(|count| count.parse().ok());
                Label { run: source.to_owned(), task: cell(task).map(str::to_owned), compactions }
            };
            let labels: Vec<Label> = corpus.traces.each().map(|trace| label(&trace.source)).collect();
            let found: BTreeSet<&str> = labels.iter().map(|label| label.run.as_str()).collect();
            let lost: Vec<&str> = files
                .iter()
                .filter(|(file, _)| !found.contains(name_of(file.as_os_str()).as_str()))
                .map(|(_, row)| row.file.as_str())
                .collect();
            if !lost.is_empty() {
                notes.push(format!("{} of the index hold no session: {}.", counted(lost.len() as u64, "file"), first_few(&lost, NAMED)));
            }
            Ok((corpus, labels))
        };
        let of = |arm: &str| index.rows.iter().filter(|row| row.cell(&self.arm) == arm).collect::<Vec<&IndexRow>>();
        let before = read(self.before.iter().collect::<BTreeSet<_>>().into_iter().flat_map(|arm| of(arm)).collect())?;
        let mut arms = Vec::new();
        for name in known.iter().filter(|arm| !self.before.contains(arm)) {
            let rows = of(name);
            let policy = policy.map(|policy| self.set_by(policy, name, &rows)).transpose()?;
            arms.push(ArmRead { name: name.clone(), read: read(rows)?, policy });
        }
        if arms.is_empty() {
            return Err(named(format!("every row is of an arm of --before, by its column {}", self.arm)));
        }
        Ok((before, arms))
    }

    /// The policy of an arm.
    fn set_by(&self, policy: &Policy, arm: &str, rows: &[&IndexRow]) -> Result<Policy, Failure> {
        let mut policy = policy.clone();
        for setting in &self.set_by {
            let Some((param, column)) = setting.split_once('=') else {
                return Err(Failure::Usage(format!("`--set-by {setting}` lacks a column: it is written --set-by PARAM=COLUMN")));
            };
            let values: BTreeSet<&str> = rows.iter().map(|row| row.cell(column)).collect();
            match values.into_iter().collect::<Vec<_>>().as_slice() {
                [one] if !one.is_empty() => policy.set(param, one)?,
                _ => {
                    return Err(Failure::Usage(format!(
                        "`--set-by {setting}`: the runs of {} {arm} have no single value in that column",
                        self.arm
                    )));
                }
            }
        }
        Ok(policy)
    }
}

/// Leaves out the sessions that stand on both sides, for they are runs of neither, and says so. Where a side is nothing but these, they stay.
fn without_copies(before: &mut Corpus, after: &mut [(String, Corpus)]) -> Result<Vec<String>, Failure> {
    let of = |corpus: &Corpus| corpus.traces.each().map(|trace| identity(&trace)).collect::<BTreeSet<(String, u64)>>();
    let known = of(before);
    let (mut said, mut out) = (Vec::new(), BTreeSet::new());
    for (name, corpus) in after {
        let own = of(corpus);
        let shared: BTreeSet<(String, u64)> = own.intersection(&known).cloned().collect();
        let sessions = counted(shared.len() as u64, "session");
        if shared.len() == own.len() || shared.len() == known.len() {
            said.push(format!("Held against themselves: {sessions} that BEFORE and {name} share."));
        } else if !shared.is_empty() {
            said.push(format!("Left out of both sides: {sessions} that BEFORE and {name} share."));
            corpus.leave_out(&|trace| shared.contains(&identity(trace)));
            out.extend(shared);
        }
    }
    if !known.is_empty() && out.len() == known.len() {
        return Err(Failure::NothingReadable("each session of BEFORE is one of an arm too: nothing is left to predict from".to_owned()));
    }
    if !out.is_empty() {
        before.leave_out(&|trace| out.contains(&identity(trace)));
    }
    Ok(said)
}

/// An arm as it was read, with its policy as it was set.
struct ArmRead {
    name: String,
    read: Labelled,
    policy: Option<Policy>,
}
