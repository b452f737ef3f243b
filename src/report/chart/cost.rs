//! Cost against tokens saved, a dot a policy, with the front of those that no other one beats in both.

use super::{Axis, Chart, Drawing, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use crate::cost::CacheKind;
use crate::experiment::{Corpus, Replay};
use crate::report::replay::short_title as of_what;
use crate::report::words::{dollars, percent};
use crate::report::{Cell, Column, Provenance, Table, Unit};
use crate::report::{cost_figures, notes};

/// A policy: its cost in thousand-millionths of a dollar, and the tokens that it saves.
struct Point<'a> {
    replay: &'a Replay,
    cost: u64,
    saved: i64,
}

impl Point<'_> {
    fn place(&self) -> (f64, f64) {
        (self.cost as f64, self.saved as f64 / self.replay.totals.baseline_tokens.max(1) as f64)
    }

    /// Is the other one as good in both, and better in one?
    fn beaten_by(&self, other: &Point<'_>) -> bool {
        other.cost <= self.cost && other.saved >= self.saved && (other.cost < self.cost || other.saved > self.saved)
    }
}

/// The chart of these policies, whose bills have been made, with the cache that was asked for.
pub fn cost(corpus: &Corpus, replays: &[Replay], cache: CacheKind) -> Result<Chart, NothingToDraw> {
    let point = |replay| Point { replay, cost: replay.bill.with(cache).nano_usd(), saved: replay.totals.tokens_saved() };
    let points: Vec<Point<'_>> = replays.iter().filter(|replay| replay.bill.is_priced()).map(point).collect();
    let on_front = |point: &Point<'_>| !points.iter().any(|other| point.beaten_by(other));
    let mut front: Vec<&Point<'_>> = points.iter().filter(|point| on_front(point)).collect();
    front.sort_by_key(|point| (point.cost, point.saved));
    let cheapest = front.first().ok_or(NothingToDraw("no call of these sessions has a known price".to_owned()))?;
    let title = format!("{} is cheapest: {}", cheapest.replay.policy, dollars(i64::try_from(cheapest.cost).unwrap_or(i64::MAX)));
    let most = front.iter().max_by_key(|point| point.saved);
    let saving = most.map(|point| (&point.replay.policy, percent(point.saved, point.replay.totals.baseline_tokens)));
    let title = match saving {
        Some((policy, share)) if *policy != cheapest.replay.policy => format!("{title}; {policy} saves most tokens: {share}"),
        Some((_, share)) => format!("{title}, and saves most tokens: {share}"),
        None => title,
    };
    let line = Series {
        name: "no policy is both cheaper and more saving".to_owned(),
        hue: Hue::Limit,
        form: Form::Line,
        provenance: Provenance::Simulated,
        points: front.iter().map(|point| point.place()).collect(),
        band: Vec::new(),
        named: if front.len() > 1 { Named::Key } else { Named::Nowhere },
    };
    let dots = points.iter().enumerate().map(|(number, point)| Series {
        name: point.replay.policy.clone(),
        hue: Hue::Other(number),
        form: Form::Dots,
        points: vec![point.place()],
        named: Named::Beside,
        ..line.clone()
    });
    let with = match cache {
        CacheKind::None => "without a prompt cache",
        CacheKind::Modelled => "with the provider's prompt cache",
        CacheKind::Perfect => "with a perfect prompt cache",
    };
    let mut notes: Vec<String> = cost_figures::unpriced(replays.iter()).into_iter().collect();
    notes.extend(notes::below_a_replay(corpus));
    Ok(Chart {
        kind: super::Kind::Cost.name(),
        title,
        subtitle: format!("List price of all calls {with} against prompt tokens saved, simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of("cost", Quantity::Money) },
            y: Axis { from: None, ..Axis::of("prompt tokens saved", Quantity::Share) },
            series: std::iter::once(line.clone()).chain(dots).collect(),
            limits: Vec::new(),
            marks: Vec::new(),
        }),
        notes,
        data: data(&points, &on_front),
    })
}

fn data(points: &[Point<'_>], on_front: &dyn Fn(&Point<'_>) -> bool) -> Table {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::number("cost_usd", "cost", Unit::Money, Provenance::Simulated),
        Column::number("tokens_saved", "tokens saved", Unit::Tokens, Provenance::Simulated),
        Column::number("tokens_saved_share", "saved", Unit::Share, Provenance::Simulated),
        Column::name("front", "front"),
    ];
    let row = |point: &Point<'_>| {
        vec![
            Cell::Name(point.replay.policy.clone()),
            Cell::money(point.cost),
            Cell::SignedTokens(point.saved),
            Cell::Share { part: point.saved, whole: point.replay.totals.baseline_tokens },
            Cell::Name(if on_front(point) { "yes" } else { "" }.to_owned()),
        ]
    };
    Table { labels: 1, columns, rows: points.iter().map(row).collect() }
}
