//! `sweep`: many settings of policies, the best first.

use super::asked::{SetIn, Swept};
use super::document::{Better, Cell, Column, Fields, Report, Screen, Section, Table, Unit};
use super::figures::{cell as figure_cell, cells, column, tabled};
use super::judged::{self, Bundle, Judged, bundled, judged};
use super::measures::{CLOSED_LOOP, against, bound_cell, share_cell, supposed, value_cell};
use super::record::sweep::SweepRecord;
use super::ties::ties;
use super::title::title;
use super::words::{capital, counted, counted_as, grouped, short_dollars};
use super::{causes, cautions, cost_figures, finding, notes};
use crate::advice::WithoutEffect;
use crate::experiment::metric::{in_spreadsheets, metric_of};
use crate::experiment::{Against, Difference, Direction, KnownFrom, Measure, Metric, RecordedSummaries, Row, Standing, never_reached};
use crate::list::Gather;
use crate::policy::{Facts, Policy, number};
use crate::statistics::{Estimate, FEWEST, Finding, Within, effective};
use crate::units::signed;
use std::collections::{BTreeMap, BTreeSet};

/// So many settings stand in the table for people; spreadsheets and programs get all of them.
const SHOWN: usize = 20;

/// The report on a sweep.
pub fn sweep(swept: &Swept<'_>) -> Report {
    let judged = judged(swept);
    let notes = all_notes(swept, &judged);
    let further: Vec<&Metric> = in_spreadsheets().collect();
    let bundles = bundled(swept, &judged);
    let is_own = |bundle: &Bundle<'_, '_>| swept.own.contains(&bundle.judged.row.setting);
    // The own setting is what the others are compared with: it is always there.
    let (shown, rest) = bundles.split_at(SHOWN.min(bundles.len()));
    let shown: Vec<&Bundle<'_, '_>> = shown.iter().chain(rest.iter().filter(|bundle| is_own(bundle))).collect();
    let figures = tabled(shown.iter().map(|bundle| &bundle.judged.row.totals));
    let rows: Vec<(&Judged<'_>, String)> = shown.iter().map(|bundle| (bundle.judged, bundle.words(swept))).collect();
    let lines = verdict(swept, &judged).into_iter().chain(mixed(swept, &judged)).chain(taken_for_held(swept, &judged));
    let lines = lines.chain(at_edge(&judged)).chain(ties(swept, &judged));
    let lines = lines.chain(never_act(swept, &judged)).chain(decide_nothing(swept, &judged)).chain(notes::manual_undone(&[swept.corpus]));
    let cautioned = [cautions::shrunk(&[swept.corpus], swept.corpus.facts.calls), cautions::of_shares(swept.corpus)];
    let lines = lines.chain(cautioned.into_iter().filter_map(cautions::told));
    let lines: Vec<String> = lines.collect();
    let mut sections = Vec::new();
    if !lines.is_empty() {
        sections.push(Section::lines(lines.clone()));
    }
    let brief = sections.iter().cloned().chain([brief(swept, &rows).titled(goal(swept))]);
    let below: Vec<String> = base(swept, rows.iter().map(|(judged, _)| *judged)).into_iter().chain(left_out(swept, &judged)).collect();
    let brief = brief.chain((!below.is_empty()).then(|| Section::lines(below))).collect();
    // The verdict comes first, and stays.
    let spare = lines.iter().skip(1).rev().cloned().collect();
    // What the others are compared with is shown wherever it stands.
    let held = shown.iter().enumerate().filter(|(_, bundle)| is_own(bundle)).map(|(place, _)| place).collect();
    let screen = Some(Screen { sections: brief, held, spare, ..Screen::default() });
    sections.push(table(swept, &rows, &figures).titled(goal(swept)));
    let all: Vec<(&Judged<'_>, String)> = judged.iter().map(|judged| (judged, judged.setting.words())).collect();
    let (facts, record) = (&swept.corpus.facts, SweepRecord::new(swept, &judged));
    let title = format!("{} over {}", counted(swept.rows.len() as u64, "setting"), title(facts));
    Report { title, screen, ..Report::over(facts, sections, notes, table(swept, &all, &further), record) }
}

/// What is sought, and what is limited.
fn measures(swept: &Swept<'_>) -> impl Iterator<Item = Measure> {
    std::iter::once(swept.objective.measure).chain(swept.constraints.iter().map(|constraint| constraint.measure))
}

/// What the net cost supposes of the setting that comes first, beside the own one of its policy.
fn taken_for_held(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Option<String> {
    let first = judged.iter().find(|judged| judged.verdict.standing == Standing::Best).or(judged.first())?;
    let own = swept.own.get(first.setting.base)?;
    let own = judged.iter().find(|judged| judged.row.setting == *own)?;
    supposed(measures(swept), [first.row, own.row])
}

/// That the agent's own mix of versions costs otherwise than the preset that is swept; `None` where it costs as much.
fn mixed(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Option<String> {
    let ((name, mixed), [base], [own]) = (swept.mixed.as_ref()?, swept.bases, swept.own) else { return None };
    let own = judged.iter().find(|judged| judged.row.setting == *own)?;
    let [mixed, alone] = [*mixed, own.row.charges.nano_usd].map(|nano_usd| short_dollars(signed(nano_usd)));
    (mixed != alone).then(|| format!("Each session by the preset of its version ({name}) costs {mixed}, all by {} {alone}.", base.name))
}

/// The best setting beside the own one of its policy.
fn verdict(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Option<String> {
    let breaking = judged.iter().filter(|judged| judged.verdict.standing == Standing::Breaks).count();
    let Some(best) = judged.iter().find(|judged| judged.verdict.standing == Standing::Best) else {
        let none = "Nothing is recommended: no setting that was looked at keeps all constraints.";
        return (breaking > 0).then(|| none.to_owned());
    };
    if !best.verdict.untold.is_empty() {
        let untold = best.verdict.untold.iter().filter_map(|place| swept.constraints.get(*place));
        let words = untold.map(|constraint| format!("'{}'", constraint.words)).collect::<Vec<_>>().join(" and ");
        return Some(format!(
            "Nothing is recommended: no setting is known to keep {words}. Its interval lies on both sides of the limit, and more sessions would tell."
        ));
    }
    // Policies that stand beside the settings for comparison are not what is asked about.
    let is_varied = |one: &&Judged<'_>| judged.iter().filter(|other| other.setting.base == one.setting.base).count() > 1;
    let allowed = || judged.iter().filter(is_varied).find(|judged| judged.verdict.standing != Standing::Breaks);
    let best = Some(best).filter(is_varied).or_else(allowed).unwrap_or(best);
    let own = swept.own.get(best.setting.base)?;
    let own = judged.iter().find(|judged| judged.row.setting == *own)?;
    let measure = swept.objective.measure;
    let point = swept.point(best.setting.base);
    let named = format!("{} {}", best.policy, best.setting.words());
    let too_few = || {
        let drawn = finding::drawn_by(swept.sampling.sought());
        format!("it takes {FEWEST} {drawn} at the least, and an objective that adds up over them")
    };
    let Some(Against { finding, difference }) = best.verdict.own else {
        let why = (!swept.judges(own.row)).then(|| finding::estimated(&swept.bars).unwrap_or_else(too_few));
        return Some(match why {
            Some(why) => format!(
                "Cannot judge: {why}. Of the settings that were looked at and are allowed {point} of {} come out first.",
                best.policy
            ),
            None => format!("Keep {point} of {}: no setting that was looked at and is allowed is better.", best.policy),
        });
    };
    let (summarised, but) = swept.told(best.row, own.row, difference.as_ref());
    let set = swept.yours.get(best.setting.base).map(|set| set.words.as_str()).filter(|words| !words.is_empty());
    let which = format!(" of {}{}", best.policy, set.map_or_else(String::new, |words| format!(" with {words}")));
    let values = against(&measure, [best.row, own.row], &which, difference.as_ref(), &swept.bars) + &summarised;
    let (failed, of_own) = (best.row.failed_sessions(), own.row.failed_sessions());
    let fewer =
        if failed < of_own { format!("; it fails {} instead of {}", counted(failed, "session"), grouped(of_own)) } else { String::new() };
    Some(match finding {
        Finding::Better => {
            let but = but.map(|but| format!("; but it {but}"));
            let comes = match (&but, swept.objective.direction) {
                (None, _) => "is better than",
                _ if failed < of_own => "fails fewer sessions than",
                (_, Direction::Minimise) => "comes to less than",
                (_, Direction::Maximise) => "comes to more than",
            };
            let (long, but) = (judged::if_as_long(&measure), but.unwrap_or_default());
            format!(
                "{named} {comes} {point}{long}{fewer}: {values}{but}. The setting was chosen on these same sessions; `ctxsim tune` tests it on others."
            )
        }
        Finding::Worse if matches!(own.verdict.standing, Standing::Breaks | Standing::CannotTell) => {
            format!("{named} is the best that is allowed, and worse than {point}, which are not: {values}.")
        }
        // Only failed sessions go before what is sought.
        Finding::Worse => {
            format!("Keep {point} of {}: {named} is worse{fewer}, which is no more than the uncertainty: {values}.", best.policy)
        }
        Finding::NoDifference(within) => format!(
            "Keep {point} of {}: {named} comes out first, with no difference {}: {values}.",
            best.policy,
            finding::within(within, swept.bars.worth)
        ),
        Finding::CannotJudge => {
            format!("Cannot judge: {}. {named}: {values}.", finding::estimated(&swept.bars).unwrap_or_else(too_few))
        }
    })
}

/// Policies whose own settings no session reaches.
fn never_act(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Vec<String> {
    let of = |((policy, own), thresholds): ((&Policy, &usize), &Vec<Option<u64>>)| {
        let own = judged.iter().find(|judged| judged.row.setting == *own)?;
        Some(format!("With its own settings {} {}.", policy.name, causes::never_acts(&never_reached(&own.row.totals, thresholds)?)))
    };
    swept.bases.iter().zip(swept.own).zip(swept.thresholds).filter_map(of).collect()
}

/// Parameters that were turned and change nothing: by the policy's other settings, or in these sessions.
fn decide_nothing(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Vec<String> {
    let of = |(base, policy): (usize, &Policy)| {
        let mine: Vec<&Judged<'_>> = judged.iter().filter(|judged| judged.setting.base == base).collect();
        let turned: BTreeSet<&String> = mine.iter().flat_map(|judged| judged.setting.values.iter().map(|(name, _)| name)).gather();
        let (turned_too, facts) = (turned.clone(), Facts { window: policy.default_window(), ..Facts::default() });
        // These facts are not those of every model of the corpus: what makes a difference here has an effect.
        let idle = policy.without_effect(&facts).into_iter();
        let idle = idle.filter(|idle| turned.contains(&idle.name) && !decides(&idle.name, &mine));
        // What another swept parameter takes away, its other values may give back.
        let idle = idle.filter(|idle| !idle.because.as_ref().is_some_and(|(other, _)| turned_too.contains(other)));
        let idle: Vec<WithoutEffect> = idle.collect();
        let known: BTreeSet<String> = idle.iter().map(|idle| idle.name.clone()).gather();
        let here = turned.into_iter().filter(|name| !known.contains(*name) && !decides(name, &mine)).cloned().collect::<Vec<_>>();
        let here = here.into_iter().map(|name| format!("{name} decides nothing in these sessions"));
        idle.iter().map(WithoutEffect::words).chain(here).map(|words| format!("{}: {words}.", policy.name)).collect::<Vec<_>>()
    };
    swept.bases.iter().enumerate().flat_map(of).collect()
}

/// Do settings that differ in this parameter alone come to something else?
fn decides(name: &str, mine: &[&Judged<'_>]) -> bool {
    let mut by_others: BTreeMap<Vec<&(String, String)>, (&Judged<'_>, bool)> = BTreeMap::new();
    let mut compared = false;
    for judged in mine {
        if !judged.setting.values.iter().any(|(param, _)| param == name) {
            continue;
        }
        let others = judged.setting.values.iter().filter(|(param, _)| param != name).collect();
        let (first, differs) = by_others.entry(others).or_insert((judged, false));
        compared |= first.row.setting != judged.row.setting;
        *differs |= first.row.totals != judged.row.totals || first.row.charges != judged.row.charges;
    }
    !compared || by_others.values().any(|(_, differs)| *differs)
}

/// The best at an end of the values of a parameter: there may be better ones beyond.
fn at_edge(judged: &[Judged<'_>]) -> Option<String> {
    let best = judged.iter().find(|judged| judged.verdict.standing == Standing::Best)?;
    // Where several are equally good, none of them may stand inside.
    let tied = |judged: &&Judged<'_>| {
        [Standing::Best, Standing::Equal].contains(&judged.verdict.standing) && judged.setting.base == best.setting.base
    };
    let value = |judged: &Judged<'_>, param: &str| {
        judged.setting.values.iter().find(|(name, _)| name == param).and_then(|(_, value)| number(value))
    };
    let at_edge = |(param, words): &&(String, String)| {
        let all = judged.iter().filter(|judged| judged.setting.base == best.setting.base).filter_map(|judged| value(judged, param));
        let mut all: Vec<f64> = all.collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let ([first, _, .., last], false) = (all.as_slice(), words.starts_with('=')) else { return false };
        judged.iter().filter(tied).all(|judged| value(judged, param).is_some_and(|value| value == *first || value == *last))
    };
    let edges: Vec<String> = best.setting.values.iter().filter(at_edge).map(|(param, value)| format!("{param}={value}")).collect();
    (!edges.is_empty())
        .then(|| format!("{} stands at the edge of what was looked at: a wider range may hold a better value.", edges.join(", ")))
}

fn goal(swept: &Swept<'_>) -> String {
    let verb = if swept.objective.direction == Direction::Minimise { "least" } else { "most" };
    let constraints: Vec<&str> = swept.constraints.iter().map(|constraint| constraint.words.as_str()).collect();
    let subject = if constraints.is_empty() { String::new() } else { format!(", subject to {}", constraints.join(" and ")) };
    format!("By {verb} {}{subject}", swept.objective.measure.words())
}

/// What the column of verdicts says.
const VERDICT: Column = Column {
    meaning: "how it stands to the first setting that keeps all constraints, over the sessions that both bring to their end (least, most: first, but not called better; \
              `ctxsim sweep --help` has all words)",
    explained: true,
    ..Column::name("verdict", "verdict")
};

/// What the verdicts on constraints say, in a line.
const TOLD: &str = "`cannot tell`: the 90 % interval lies on both sides of the limit";

/// What decides of each setting: what is sought, how far that is from the own one, what fails, and what is lost.
fn brief(swept: &Swept<'_>, rows: &[(&Judged<'_>, String)]) -> Table {
    let measure = swept.objective.measure;
    let header = if measure.whole.is_some() { "objective" } else { measure.part.header };
    let mut fields = Fields::<&(&Judged<'_>, String)>::new();
    if swept.bases.len() > 1 {
        fields = fields.with(Column::name("policy", "policy"), |(judged, _)| Cell::name(judged.policy));
    }
    let difference = |judged: &Judged<'_>| {
        let own = judged.verdict.own.and_then(|own| own.difference).filter(|own| own.whole.is_some());
        own.map_or(Cell::Empty, |own| Cell::Name(finding::share(own.share.value)))
    };
    // Where a constraint divides the settings, what it limits and how they stand to it go before all other figures.
    let asked = |judged: &Judged<'_>| !judged.verdict.broken.is_empty() || !judged.verdict.untold.is_empty();
    let is_asked = rows.iter().any(|(judged, _)| asked(judged));
    let mut limited: Vec<Measure> = Vec::new();
    for limit in swept.constraints.iter().map(|constraint| constraint.measure).filter(|limit| is_asked && limit.name() != measure.name()) {
        if limited.iter().all(|known| known.name() != limit.name()) {
            limited.push(limit);
        }
    }
    fields = fields
        .with(Column::name("setting", "setting, simulated"), |(_, setting)| Cell::name(setting))
        .with(Column::simulated("objective", header, measure.part.unit), move |(judged, _)| value_cell(judged.row, &measure))
        .with(Column::simulated("difference", beside(swept), Unit::Share).priority(u8::from(is_asked)), move |(judged, _)| {
            difference(judged)
        });
    for limit in limited.iter().copied() {
        let header = if limit.whole.is_some() { "limited" } else { limit.part.header };
        fields = fields.with(Column::simulated(limit.part.key, header, limit.part.unit), move |(judged, _)| value_cell(judged.row, &limit));
    }
    for (key, header) in [
        ("failed_sessions", "failed"),
        ("overflows", "over\u{ad}flows"),
        ("compactions", "compac\u{ad}tions"),
        ("prunes", "prunes"),
        ("references_kept_share", "reused text kept"),
    ] {
        let tells = ["prunes", "overflows"].contains(&key);
        let none = |metric: &Metric| rows.iter().all(|(judged, _)| metric.value(&judged.row.totals, &judged.row.charges) == 0);
        let is_there = |metric: &Metric| limited.iter().any(|limit| limit.whole.is_none() && limit.part.key == metric.key);
        let Some(metric) = metric_of(key).filter(|metric| !(is_there(metric) || tells && none(metric))) else { continue };
        fields = fields.with(Column { header, priority: 1, ..column(metric) }, |(judged, _)| figure_cell(metric, &judged.row.totals));
    }
    let untold = rows.iter().any(|(judged, _)| !judged.verdict.untold.is_empty());
    let verdict = Column { priority: u8::from(!is_asked), meaning: TOLD, explained: untold, ..VERDICT };
    fields.with(verdict, |(judged, _)| Cell::name(&judged.short)).table(if swept.bases.len() > 1 { 2 } else { 1 }, rows)
}

fn table(swept: &Swept<'_>, judged: &[(&Judged<'_>, String)], figures: &[&'static Metric]) -> Table {
    let simulated = |key, header, meaning| Column::simulated(key, header, Unit::Count).says(meaning);
    let share = |key, header, meaning| Column { unit: Unit::Share, ..simulated(key, header, meaning) };
    let mut columns = vec![
        Column::name("policy", "policy"),
        Column::name("setting", "setting"),
        VERDICT,
        Column::name("front", "front").says("no other setting is as good in everything and better in something"),
        simulated("objective", "objective", "what is sought, over all sessions"),
        simulated("objective_low", "from", "the lower bound of its interval over sessions"),
        simulated("objective_high", "to", "the upper one"),
        Column::name("against_own", "against own").says("how it stands to the own setting of its policy"),
        share("difference", "differ\u{ad}ence", "the difference from it, as a share of what it comes to"),
        share("difference_low", "from", "the lower bound of its interval over sessions"),
        share("difference_high", "to", "the upper one"),
    ];
    for column in columns.iter_mut().skip(2) {
        column.priority = 1;
    }
    if let Some(column) = columns.get_mut(4) {
        column.better = if swept.objective.direction == Direction::Minimise { Better::Less } else { Better::More };
    }
    columns.extend(figures.iter().map(|figure| column(figure)));
    columns.extend(cost_figures::COLUMNS.into_iter().filter(|_| swept.billed));
    let row = |(judged, setting): &(&Judged<'_>, String)| {
        let measure = &swept.objective.measure;
        let spread = judged.row.spread.get(&measure.name());
        let bound = |bound: Option<i64>| bound.map_or(Cell::Empty, |part| bound_cell(part, measure));
        let mut row = vec![
            Cell::Name(judged.policy.to_owned()),
            Cell::Name(setting.clone()),
            Cell::name(&judged.words),
            Cell::Name(if judged.verdict.on_front { "yes" } else { "" }.to_owned()),
            value_cell(judged.row, measure),
            bound(spread.map(|(low, _)| *low)),
            bound(spread.map(|(_, high)| *high)),
            Cell::name(judged.against_own()),
        ];
        let difference = judged.verdict.own.and_then(|own| own.difference).filter(|own| own.whole.is_some()).map(|own| own.share);
        let of: [fn(Estimate) -> f64; 3] = [|share| share.value, |share| share.low, |share| share.high];
        row.extend(of.map(|of| difference.map_or(Cell::Empty, |share| share_cell(of(share)))));
        row.extend(cells(figures.iter().copied(), &judged.row.totals));
        row.extend(cost_figures::of_charges(&judged.row.charges).into_iter().filter(|_| swept.billed));
        row
    };
    Table { labels: 2, columns, rows: judged.iter().map(row).collect() }
}

/// Where every setting that is allowed fails sessions, so does the best one.
fn ended_early(best: &Row) -> Option<String> {
    let (open, net) = (best.totals.failed_sessions, best.charges.net_failed_sessions);
    let closed = if net > open { format!(" ({} in the closed loop)", grouped(net)) } else { String::new() };
    let constraint = if net > open { "net_failed_sessions = 0" } else { "failed_sessions = 0" };
    (open.max(net) > 0).then(|| {
        format!(
            "The best setting fails {}{closed} of {}, and no setting fails fewer. What the logs hold behind a failed call is not counted; \
             --subject-to '{constraint}' passes such settings over.",
            grouped(open),
            counted(best.totals.called_sessions, "session")
        )
    })
}

/// Which sessions the differences of the table are over, where they are not all.
fn base<'j>(swept: &Swept<'_>, judged: impl Iterator<Item = &'j Judged<'j>>) -> Option<String> {
    let differences: Vec<Difference> = judged.filter_map(|judged| judged.verdict.own?.difference).collect();
    let fewest = differences.iter().filter(|difference| difference.left_out > 0).min_by_key(|difference| difference.compared)?;
    let least = if differences.iter().any(|other| other.compared != fewest.compared) { " at least" } else { "" };
    Some(format!("`{}` is over{least} {}.", beside(swept).replace('\u{ad}', ""), finding::over(fewest)?))
}

/// What the differences from the own setting are called.
fn beside(swept: &Swept<'_>) -> &'static str {
    let marks: Vec<&str> = swept.yours.iter().map(|set| SetIn::point(Some(set)).1).collect();
    let of = [("yours", "vs yours"), ("given", "vs given")].into_iter().find(|(mark, _)| marks.contains(mark));
    of.map_or("vs de\u{ad}faults", |(_, header)| header)
}

/// What has no price under the first setting, where bills were made.
fn left_out(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Option<String> {
    judged.first().filter(|_| swept.billed).and_then(|first| cost_figures::left_out(&first.row.charges))
}

fn all_notes(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    let standing = |standing: Standing| judged.iter().filter(|judged| judged.verdict.standing == standing).count() as u64;
    let allowed = judged.len() as u64 - standing(Standing::Breaks);
    let untold =
        judged.iter().filter(|judged| judged.verdict.standing != Standing::Breaks && !judged.verdict.untold.is_empty()).count() as u64;
    if judged.len() > SHOWN {
        all.push(format!("{} of {} settings are shown; CSV and JSON hold all of them.", SHOWN, grouped(judged.len() as u64)));
    }
    if !swept.constraints.is_empty() {
        let rest = if untold > 0 { format!("; of {} that cannot be told", grouped(untold)) } else { String::new() };
        all.push(format!("{} all constraints{rest}.", counted_as(allowed - untold, "setting keeps", "settings keep")));
    }
    all.extend(measures(swept).any(|measure| measure.known_from() == KnownFrom::ClosedLoop).then(|| CLOSED_LOOP.to_owned()));
    let resampled = judged.iter().any(|judged| !judged.row.spread.is_empty());
    if resampled {
        let own = judged.iter().find(|judged| swept.own.contains(&judged.row.setting)).and_then(|own| own.row.sums_of(0));
        let drawn = |values: &[i64]| effective(&swept.sampling.sought().sums(values.iter().copied()));
        let effective = own.map(|sums| drawn(if sums.wholes.is_empty() { &sums.parts } else { &sums.wholes }));
        all.push(finding::method(swept.sampling.sought(), swept.chance.0, effective));
        let tied = standing(Standing::NoDifference(Within::Sampling)) + standing(Standing::NoDifference(Within::OwnError));
        if allowed > 0 {
            all.push(format!(
                "{} otherwise, but cannot be told from the best one: the difference is smaller than the uncertainty.",
                counted_as(tied, "setting comes out", "settings come out")
            ));
        }
    } else {
        all.push("No uncertainty can be told: that takes two sessions, and an objective that adds up over them.".to_owned());
    }
    all.extend(judged.first().filter(|first| first.verdict.standing == Standing::Best).and_then(|best| ended_early(best.row)));
    all.extend(base(swept, judged.iter()));
    all.extend(left_out(swept, judged));
    let distinct: BTreeSet<String> = judged.iter().map(|judged| format!("{:?}", judged.row.totals)).gather();
    if distinct.len() < judged.len() {
        let (settings, results) = (counted(judged.len() as u64, "setting"), counted(distinct.len() as u64, "different result"));
        all.push(format!("{settings} came to {results}: some parameters decide nothing in these sessions."));
    }
    let yours = swept.bases.iter().zip(swept.yours).filter(|(_, set)| !set.words.is_empty());
    all.extend(yours.map(|(policy, set)| format!("{} of {}: {}.", capital(SetIn::point(Some(set)).0), policy.name, set.words)));
    if swept.bases.iter().any(Policy::takes_recorded_summaries) {
        let recorded = RecordedSummaries::fit(swept.corpus.traces.each()).describe();
        all.extend(recorded.map(|words| format!("Sizes of summaries: {words}.")));
    }
    all.extend(notes::notes(swept.corpus, &[]));
    all
}
