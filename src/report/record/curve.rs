//! From how far back the model repeats texts, schema `ctxsim.curve/1`.

use crate::experiment::{AXES, Axis, Distance, Point, curve as curve_of, protections};
use crate::trace::Evidence;
use serde::Serialize;

/// The record of `ctxsim curve`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveRecord {
    curves: Vec<SeriesRecord>,
    presets: Vec<PresetRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SeriesRecord {
    axis: &'static str,
    evidence: Evidence,
    references: u64,
    sessions: u64,
    knee: Option<u64>,
    points: Vec<PointRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PointRecord {
    retained: u64,
    kept: u64,
    kept_share_low: Option<f64>,
    kept_share_high: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PresetRecord {
    preset: &'static str,
    rule: String,
    axis: &'static str,
    limit: u64,
    lines_kept: u64,
    lines: u64,
    names_kept: u64,
    names: u64,
}

impl CurveRecord {
    /// The record of distances by kind of evidence.
    pub fn new(by_kind: &[(Evidence, Vec<&Distance>)], window: u64) -> CurveRecord {
        let series = |axis: Axis, evidence: Evidence, distances: &[&Distance]| {
            let curve = curve_of(distances, axis);
            let point = |point: &Point| PointRecord {
                retained: point.retained,
                kept: point.kept,
                kept_share_low: point.band.map(|band| band.0 as f64 / 1e6),
                kept_share_high: point.band.map(|band| band.1 as f64 / 1e6),
            };
            SeriesRecord {
                axis: axis.name(),
                evidence,
                references: curve.references,
                sessions: curve.sessions,
                knee: curve.knee,
                points: curve.points.iter().map(point).collect(),
            }
        };
        let curves =
            AXES.into_iter().flat_map(|axis| by_kind.iter().map(move |(kind, distances)| series(axis, *kind, distances))).collect();
        let presets = protections(window).into_iter().map(|protection| {
            let of = |kind: usize| by_kind.get(kind).map_or((0, 0), |(_, all)| protection.newest.kept(all));
            let ((lines_kept, lines), (names_kept, names)) = (of(0), of(1));
            let (preset, axis, limit) = (protection.preset, protection.newest.axis.name(), protection.newest.limit);
            PresetRecord { preset, rule: protection.rule.clone(), axis, limit, lines_kept, lines, names_kept, names }
        });
        CurveRecord { curves, presets: presets.collect() }
    }
}
