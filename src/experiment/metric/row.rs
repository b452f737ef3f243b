//! A measure: what it is called, how it is read from sums, and where it stands.

use crate::experiment::charges::Charges;
use crate::names::named;
use crate::sim::Totals;
use crate::units::signed;

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Names and ids, which may be shortened.
    Name,
    /// Sentences, which may be wrapped. A table has one such column at most, and it is the last.
    Prose,
    /// A number of calls, events or sessions.
    Count,
    /// A number of tokens.
    Tokens,
    /// A share of something.
    Share,
    /// Dollars; values are thousand-millionths of one.
    Money,
}

named! {
    /// Where a number comes from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Provenance: name {
        /// It stands in the logs.
        Recorded = "recorded",
        /// It is counted by a tokenizer, or rests partly on such counts.
        Estimated = "estimated",
        /// It is what a policy would have done.
        Simulated = "simulated",
    }
}

/// Which end of a column is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller, the better.
    Less,
    /// The larger, the better.
    More,
    /// Neither end is the good one.
    Neither,
}

/// A measure of sessions, by themselves or together.
#[derive(Debug)]
pub struct Metric {
    /// Its name: the column of spreadsheets, the field of documents, and what is typed where settings are judged by it.
    pub key: &'static str,
    /// Its heading for people. A soft hyphen (U+00AD) marks where a word may be broken.
    pub header: &'static str,
    /// What it says, for the legend; empty where the heading says it all.
    pub meaning: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Which end of it is the good one.
    pub better: Better,
    /// On a narrow page columns of a lower number come first.
    pub priority: u8,
    /// How it is read from sums.
    pub of: Of,
    /// Of what it can be told.
    pub known: Known,
    /// Where it is a column.
    pub stands: Stands,
    /// The part of a document that it is a field of.
    pub part: Part,
    /// Are settings judged by it?
    pub judged: bool,
    /// The key of what it is a share of where a limit is given in percent; empty where of nothing in particular.
    pub share_of: &'static str,
    /// What it takes to know it.
    pub known_from: KnownFrom,
    /// How the values of sessions come together.
    pub over_sessions: OverSessions,
    /// Does it count failures? Then sessions that fail are compared as well.
    pub of_failures: bool,
    /// Does it follow from the sizes of contexts alone? Then an oracle's is that of the policy that it stands beside.
    pub by_size: bool,
    /// Does a log know it as well as a replay?
    pub in_logs: bool,
}

/// How a measure is read from sums.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// A number read from the sums of a replay.
    Sum(fn(&Totals) -> u64),
    /// A signed number read from the same sums.
    Difference(fn(&Totals) -> i64),
    /// A part and a whole, read from the same sums.
    Share(fn(&Totals) -> (i64, u64)),
    /// A number read from the sums of bills.
    Charge(fn(&Charges) -> u64),
}

/// What a measure comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number without a sign.
    Number(u64),
    /// A number that may be below zero.
    Signed(i64),
    /// A part of a whole; of nothing, where that is 0.
    Share(i64, u64),
}

/// Of what a measure can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Of every replay and every recording.
    Always,
    /// Of those with a call that is answered: a mean over none is none.
    Called,
    /// Of policies that bring at least half of the sessions to their end, as the recording did.
    Compared,
    /// Of replays for which the best possible was worked out.
    Hindsight,
}

/// Where a measure is a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// In tables for people and in spreadsheets.
    Always,
    /// In spreadsheets, and in those tables for people where it is more than nothing in some row.
    WhereItTells,
    /// In spreadsheets alone.
    Spreadsheets,
    /// In no table; it may be a field of documents all the same.
    Nowhere,
}

/// Parts of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Counts of calls and of events at calls.
    Calls,
    /// Counts of sessions by their end.
    Sessions,
    /// Sizes and sums of contexts.
    Tokens,
    /// References kept and lost.
    Retention,
    /// Money and tokens of bills.
    Charges,
    /// The metric is no field of documents.
    None,
}

/// How the values of sessions come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverSessions {
    /// They add up, so that sessions can be resampled.
    Sum,
    /// The largest one counts.
    Largest,
}

impl OverSessions {
    /// What values of sessions come to together; `None` where their amounts add up to more than a number holds.
    pub fn of(self, mut values: impl Iterator<Item = i64>) -> Option<i64> {
        match self {
            OverSessions::Sum => {
                let add =
                    |(sum, amount): (i64, i64), value: i64| Some((sum.checked_add(value)?, amount.checked_add(value.checked_abs()?)?));
                values.try_fold((0, 0), add).map(|(sum, _)| sum)
            }
            OverSessions::Largest => Some(values.max().unwrap_or(0)),
        }
    }
}

/// What it takes to know a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownFrom {
    /// The sums of a replay.
    Replay,
    /// The bill of its calls.
    Bill,
    /// The bill of a replay in which the agent reads again what it misses.
    ClosedLoop,
}

/// A metric with these words and defaults for the rest: simulated, shown nowhere, not judged.
pub const fn metric(key: &'static str, header: &'static str, meaning: &'static str, unit: Unit, of: Of) -> Metric {
    Metric {
        key,
        header,
        meaning,
        unit,
        of,
        provenance: Provenance::Simulated,
        better: Better::Neither,
        priority: 0,
        known: Known::Always,
        stands: Stands::Nowhere,
        part: Part::None,
        judged: false,
        share_of: "",
        known_from: KnownFrom::Replay,
        over_sessions: OverSessions::Sum,
        of_failures: false,
        by_size: false,
        in_logs: false,
    }
}

/// A number of calls, events, sessions.
pub const fn count(key: &'static str, header: &'static str, meaning: &'static str, of: fn(&Totals) -> u64) -> Metric {
    metric(key, header, meaning, Unit::Count, Of::Sum(of))
}

/// A number of tokens.
pub const fn tokens(key: &'static str, header: &'static str, meaning: &'static str, of: fn(&Totals) -> u64) -> Metric {
    metric(key, header, meaning, Unit::Tokens, Of::Sum(of))
}

pub(super) const fn share(key: &'static str, header: &'static str, meaning: &'static str, of: fn(&Totals) -> (i64, u64)) -> Metric {
    metric(key, header, meaning, Unit::Share, Of::Share(of))
}

pub(super) const fn charge(key: &'static str, header: &'static str, unit: Unit, known_from: KnownFrom, of: fn(&Charges) -> u64) -> Metric {
    Metric { known_from, ..metric(key, header, "", unit, Of::Charge(of)).field(Part::Charges) }
}

/// What rows of a table say beside.
impl Metric {
    pub(super) const fn says(self, meaning: &'static str) -> Metric {
        Metric { meaning, ..self }
    }

    pub(super) const fn table(self, priority: u8, better: Better) -> Metric {
        Metric { stands: Stands::Always, priority, better, ..self }
    }

    pub(super) const fn where_it_tells(self) -> Metric {
        Metric { stands: Stands::WhereItTells, ..self }
    }

    pub(super) const fn spreadsheets(self) -> Metric {
        Metric { stands: Stands::Spreadsheets, ..self }
    }

    pub(super) const fn field(self, part: Part) -> Metric {
        Metric { part, ..self }
    }

    pub(super) const fn from(self, provenance: Provenance) -> Metric {
        Metric { provenance, ..self }
    }

    pub(super) const fn known(self, known: Known) -> Metric {
        Metric { known, ..self }
    }

    pub(super) const fn judged(self) -> Metric {
        Metric { judged: true, ..self }
    }

    pub(super) const fn share_of(self, share_of: &'static str) -> Metric {
        Metric { share_of, ..self }
    }

    pub(super) const fn largest(self) -> Metric {
        Metric { over_sessions: OverSessions::Largest, ..self }
    }

    pub(super) const fn of_failures(self) -> Metric {
        Metric { of_failures: true, ..self }
    }

    pub(super) const fn by_size(self) -> Metric {
        Metric { by_size: true, ..self }
    }

    pub(super) const fn in_logs(self) -> Metric {
        Metric { in_logs: true, ..self }
    }
}

impl Metric {
    /// What it comes to; `None` where it cannot be told.
    pub fn amount(&self, totals: &Totals) -> Option<Amount> {
        let is_known = match self.known {
            Known::Always => true,
            Known::Called => totals.calls > 0,
            Known::Compared => totals.is_comparable(),
            Known::Hindsight => totals.retention.knows_hindsight(),
        };
        match self.of {
            Of::Sum(of) => is_known.then(|| Amount::Number(of(totals))),
            Of::Difference(of) => is_known.then(|| Amount::Signed(of(totals))),
            Of::Share(of) => is_known.then(|| of(totals)).map(|(part, whole)| Amount::Share(part, whole)),
            Of::Charge(_) => None,
        }
    }

    /// Can its values lie below zero?
    pub fn may_be_negative(&self) -> bool {
        matches!(self.of, Of::Difference(_) | Of::Share(_))
    }

    /// The value that settings are judged by.
    pub fn value(&self, totals: &Totals, charges: &Charges) -> i64 {
        match self.of {
            Of::Sum(of) => signed(of(totals)),
            Of::Difference(of) => of(totals),
            Of::Share(of) => of(totals).0,
            Of::Charge(of) => signed(of(charges)),
        }
    }
}
