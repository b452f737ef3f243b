//! Cost against tokens saved, a dot for each policy, the recording and the user's own agents, with the front of those that no other one beats in both. What a policy pays and saves in a
//! session that it fails is that of a shorter one: only policies that fail the fewest sessions stand on the front.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few};
use super::kind::{Kind, Material, Need};
use crate::cost::CacheKind;
use crate::experiment::{Beside, RecordedSession, Replay};
use crate::list::Arrange;
use crate::report::answer::verdict;
use crate::report::asked::Asked;
use crate::report::cost_figures;
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::recording::RECORDED;
use crate::report::words::{counted, counted_as, dollars, grouped, percent_of};
use crate::statistics::front;
use crate::trace::Evidence;
use crate::units::signed;

/// A policy or the recording: its cost in thousand-millionths of a dollar, and the tokens that it saves.
struct Point<'a> {
    name: &'a str,
    cost: u64,
    saved: i64,
    /// Recorded tokens that the saving is a share of.
    whole: u64,
    /// Sessions that it fails.
    failed: u64,
}

impl Point<'_> {
    fn of(replay: &Replay, cache: CacheKind) -> Point<'_> {
        let Replay { policy, bill, totals, .. } = replay;
        let (cost, saved, whole) = (bill.with(cache).nano_usd(), totals.tokens_saved(), totals.recorded_tokens);
        Point { name: policy, cost, saved, whole, failed: totals.failed_sessions }
    }

    fn place(&self) -> (f64, f64) {
        (self.cost as f64, self.saved as f64 / self.whole.max(1) as f64)
    }
}

/// Cost against tokens saved.
pub const COST: Kind = Kind {
    name: "cost",
    sentence: "cost against tokens saved, a dot for each policy, and their front",
    // The verdict looks at the reused text that is kept.
    needs: &[Need::Recall, Need::Replays, Need::Baselines, Need::Money],
    usual: None,
    draw: cost,
};

/// The chart of policies whose bills have been made, with the cache that was asked for.
fn cost(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { replays, baselines, cache, .. } = *material;
    let told = |replay: &&Replay| replay.bill.is_priced() && replay.totals.is_comparable();
    let policies: Vec<Point<'_>> = replays.iter().filter(told).map(|replay| Point::of(replay, cache)).collect();
    let cheapest = policies.iter().min_by_key(|point| (point.failed, point.cost, point.saved));
    let cheapest = cheapest.ok_or(NothingToDraw::Nothing("no call of these sessions has a known price".to_owned()))?;
    let own = baselines.own.map(|own| &own.replay).filter(told).map(|own| {
        let (point, beyond) = (Point::of(own, cache), left_to_the_recording(material, own));
        Point { cost: point.cost + beyond.nano_usd, whole: point.whole + beyond.recorded_tokens, ..point }
    });
    let fewest = policies.iter().chain(&own).map(|point| point.failed).min().unwrap_or(0);
    let recording = baselines.recording.filter(|recording| recording.sum.is_priced());
    let recorded = recording.and_then(|recording| {
        let (cost, whole) = (recording.beside_nano_usd(cache)?, recording.sum.totals.prompt_tokens);
        Some(Point { name: RECORDED, cost, saved: 0, whole, failed: fewest })
    });
    let title = title(material, cheapest, recorded.as_ref());
    let named = policies.len();
    let (own_place, recorded_place) = (own.as_ref().map(|_| named), recorded.as_ref().map(|_| named + usize::from(own.is_some())));
    let points: Vec<Point<'_>> = policies.into_iter().chain(own).chain(recorded).collect();
    let failed: Vec<u64> = points.iter().map(|point| point.failed).collect();
    let on_front = front(&failed, |one, other| {
        let (Some(one), Some(other)) = (points.get(one), points.get(other)) else { return Vec::new() };
        vec![one.cost.cmp(&other.cost), other.saved.cmp(&one.saved)]
    });
    let mut front: Vec<&Point<'_>> = points.iter().zip(&on_front).filter(|(_, on)| **on).map(|(point, _)| point).collect();
    front.arrange_by_key(|point| (point.cost, point.saved));
    let line = "the front: none is both cheaper and saves more";
    let line = Series::of(line, Hue::Limit, Form::Steps, Provenance::Simulated, edge(&points, &front));
    let line = line.named(if points.len() > 1 { Named::Key } else { Named::Nowhere });
    // The ends of the front come first, then the others on it.
    let rank = |place: usize| {
        let point = points.get(place)?;
        let told = [front.first(), front.last()].into_iter().flatten().any(|told| std::ptr::eq(*told, point));
        Some((!told, !on_front.get(place)?, point.cost))
    };
    let shown = few(named, LINES, rank);
    let others = (0..named).filter(|place| !shown.places.contains(place)).filter_map(|place| points.get(place)).map(Point::place);
    let name = counted_as(shown.rest() as u64, "more policy", "more policies");
    let others = Series::of(name, Hue::Limit, Form::Dots, Provenance::Simulated, others.collect());
    let others = others.named(if shown.rest() > 0 { Named::Key } else { Named::Nowhere });
    let hues = shown.places.iter().enumerate().map(|(number, place)| (Hue::Other(number), Provenance::Simulated, *place));
    let own_hue = own_place.map(|place| (Hue::Own, Provenance::Simulated, place));
    let recorded_hue = recorded_place.map(|place| (Hue::Recorded, Provenance::Recorded, place));
    let dots = hues.chain(own_hue).chain(recorded_hue).filter_map(|(hue, provenance, place)| {
        let point = points.get(place)?;
        Some(Series::of(point.name, hue, Form::Dots, provenance, vec![point.place()]))
    });
    let few = shown.note("cost, the front first,", "have a name");
    let notes = few.into_iter().chain(off_the_front(&points, fewest)).chain(cost_figures::unpriced(replays.iter()));
    let covers = material.coverage().map(|covers| format!("{covers}; the others are added as recorded."));
    let dot = recording.and_then(|recording| dot_of(&recording.sum, recorded_place.and_then(|place| points.get(place))));
    let notes = notes.chain(covers).chain(dot).collect();
    Ok(Drawn {
        title,
        subtitle: format!("List price of all calls {} against prompt tokens saved; policies are simulated", with(cache)),
        data: data(points.iter().zip(on_front.iter().copied())),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of("cost", Quantity::Money) },
            y: Axis { from: None, ..Axis::of("prompt tokens saved", Quantity::Share) },
            series: [line, others].into_iter().chain(dots).collect(),
            limits: Vec::new(),
            marks: Vec::new(),
        }),
        notes,
    })
}

/// The verdict, or the lowest price where there is none, with what that policy gives up.
fn title(material: &Material<'_>, cheapest: &Point<'_>, recorded: Option<&Point<'_>>) -> String {
    let Material { corpus, replays, baselines, checks, cache, .. } = *material;
    let title = verdict(corpus, replays, baselines, &Asked { cache, checks, ..Asked::default() }).map(|(sentence, _)| sentence);
    let title = title.unwrap_or_else(|| {
        let price = |point: &Point<'_>| dollars(signed(point.cost));
        let beside = recorded.map_or_else(String::new, |recorded| format!("; {RECORDED}: {}", price(recorded)));
        let of = replays.iter().find(|replay| replay.policy == cheapest.name);
        let (kept, all) = of.map(|replay| replay.totals.retention.of(Evidence::Line)).map_or((0, 0), |lines| (lines.kept, lines.all()));
        let fails = (cheapest.failed > 0).then(|| format!("fails {}", counted(cheapest.failed, "session")));
        let keeps = (kept < all).then(|| format!("keeps {} of the reused text", percent_of(kept, all)));
        let gives_up: Vec<String> = fails.into_iter().chain(keeps).collect();
        let but = if gives_up.is_empty() { String::new() } else { format!(", which {}", gives_up.join(" and ")) };
        format!("The lowest price is {} under {}{but}{beside}", price(cheapest), cheapest.name)
    });
    // What follows the first sentence of a verdict stands on the first screen.
    title.split(". ").next().unwrap_or_default().replace("; it fails none that your agent ends", "").trim_end_matches('.').to_owned()
}

fn with(cache: CacheKind) -> &'static str {
    match cache {
        CacheKind::Recorded => "with the prompt cache as recorded",
        CacheKind::None => "without a prompt cache",
        CacheKind::Modelled => "with the provider's prompt cache",
        CacheKind::Perfect => "with a perfect prompt cache",
    }
}

/// Which of them fail more sessions than the others do at the least.
fn off_the_front(points: &[Point<'_>], fewest: u64) -> Option<String> {
    let failing = points.iter().filter(|point| point.failed > fewest);
    let failing: Vec<String> = failing.map(|point| format!("{} ({})", point.name, grouped(point.failed))).collect();
    let off = format!("Not on the front, for they fail more sessions than the others: {}.", failing.join(", "));
    (!failing.is_empty()).then_some(off)
}

/// What is to be said of the recording's dot, where its price is not the recorded one or there is none.
fn dot_of(recorded: &RecordedSession, dot: Option<&Point<'_>>) -> Option<String> {
    let price = dollars(signed(recorded.nano_usd()));
    match dot {
        None => Some(format!("The recording has no dot: its {price} are with another cache.")),
        Some(point) if point.cost != recorded.nano_usd() => {
            Some(format!("The recording's dot has the modelled cache that the policies have where logs count none; as recorded {price}."))
        }
        Some(_) => None,
    }
}

/// What the recording comes to over the sessions that the own agents do not cover: with it their cost is that of all sessions.
fn left_to_the_recording(material: &Material<'_>, own: &Replay) -> Beside {
    let sessions = material.baselines.recording.into_iter().flat_map(|recording| recording.sessions.each());
    let uncovered = sessions.zip(own.outcomes.each()).filter(|(_, outcome)| outcome.calls.is_empty()).map(|(session, _)| session);
    uncovered.fold(Beside::default(), |sum, session| Beside {
        nano_usd: sum.nano_usd + session.beside_nano_usd(material.cache).unwrap_or_else(|| session.nano_usd()),
        recorded_tokens: sum.recorded_tokens + session.totals.prompt_tokens,
        ..sum
    })
}

/// The edge of what the front beats: up to its cheapest policy, from one to the next in steps, and on behind the one that saves most.
fn edge(points: &[Point<'_>], front: &[&Point<'_>]) -> Vec<(f64, f64)> {
    let places = || points.iter().map(Point::place);
    let (dearest, lowest) = places().fold((f64::MIN, f64::MAX), |(x, y), place| (x.max(place.0), y.min(place.1)));
    let start = front.first().map(|point| (point.place().0, lowest));
    let end = front.last().map(|point| (dearest, point.place().1));
    start.into_iter().chain(front.iter().map(|point| point.place())).chain(end).collect()
}

/// A row for each policy, and whether it stands on the front.
fn data<'a>(points: impl Iterator<Item = (&'a Point<'a>, bool)>) -> Table {
    Fields::<(&Point<'_>, bool)>::new()
        .with(Column::name("policy", "policy"), |(point, _)| Cell::name(point.name))
        .with(Column::simulated("cost", "cost", Unit::Money), |(point, _)| Cell::money(point.cost))
        .with(Column::simulated("tokens_saved", "tokens saved", Unit::Tokens), |(point, _)| Cell::SignedTokens(point.saved))
        .with(Column::simulated("tokens_saved_share", "saved", Unit::Share), |(point, _)| Cell::Share {
            part: point.saved,
            whole: point.whole,
        })
        .with(Column::name("front", "front"), |(_, on_front)| Cell::name(if *on_front { "yes" } else { "" }))
        .table(1, points)
}
