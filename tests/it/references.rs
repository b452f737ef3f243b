//! References: against an independent script and the first measurements, and the session that `docs/references.md` works by hand.

use crate::counting::counter;
use crate::support::shared;
use ctxsim::catalog::Catalog;
use ctxsim::estimate::Vocabulary;
use ctxsim::format::{Source, sniff};
use ctxsim::measure::{self, Content, Definition, Measure, TextScale};
use ctxsim::trace::{Evidence, PartKind, Trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The sessions of a file, recognised by these rules; the words are kept.
fn read(path: &Path, definition: Definition) -> Vec<Trace> {
    let catalog = Catalog::builtin().unwrap();
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Keep).recognising(definition);
    let mut source = Source::open(path).unwrap();
    let (reader, _) = sniff(&source).unwrap();
    let mut traces = Vec::new();
    (reader.read)(&mut source, &scale, &mut |transcript| {
        let measure = Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase };
        traces.push(measure::trace(transcript, "test", measure));
        scale.next_session();
    })
    .unwrap();
    traces
}

fn characters(value: &serde_json::Value) -> usize {
    use serde_json::Value::{Array, Object, String};
    match value {
        String(text) => text.chars().count(),
        Array(values) => values.iter().map(characters).sum(),
        Object(values) => values.values().map(characters).sum(),
        _ => 0,
    }
}

/// Visible tokens of each message as the first measurements took them: a quarter of the characters, of arguments those of their strings.
fn sizes(trace: &Trace) -> Vec<usize> {
    let of = |part: &ctxsim::trace::PartRow| {
        let text = part.text.content.as_deref().unwrap_or_default();
        match part.kind {
            PartKind::Thinking | PartKind::Tools => 0,
            PartKind::ToolCall => serde_json::from_str(text).map_or(0, |value| characters(&value)),
            _ => text.chars().count(),
        }
    };
    trace.messages.iter().map(|row| trace.parts_of(row).iter().map(of).sum::<usize>() / 4).collect()
}

/// References to tool results, and how many of them some limits keep.
fn kept(trace: &Trace, kind: Evidence) -> (usize, [usize; 4]) {
    let mut ends = sizes(trace);
    ends.iter_mut().fold(0, |before, size| {
        *size += before;
        *size
    });
    let message_of = |part: u32| trace.messages.partition_point(|row| row.first_part <= part) - 1;
    let results = trace.references.iter().filter(|reference| {
        reference.kind == kind && trace.parts[reference.sources[0].part as usize].kind == PartKind::ToolResult
    });
    let distances: Vec<usize> =
        results.map(|reference| ends[reference.message as usize - 1] - ends[message_of(reference.sources[0].part)]).collect();
    (distances.len(), [10_000, 20_000, 40_000, 80_000].map(|limit| distances.iter().filter(|distance| **distance <= limit).count()))
}

/// What the first measurements gave: shares that 10k, 20k, 40k and 80k tokens keep.
const FACTS: [(&str, Evidence, [f64; 4]); 10] = [
    ("pi-mono__", Evidence::Line, [0.75, 0.77, 0.84, 0.92]),
    ("pi-mono__", Evidence::Identifier, [0.62, 0.68, 0.76, 0.81]),
    ("pi.dev__", Evidence::Line, [0.81, 1.0, 1.0, 1.0]),
    ("pi.dev__", Evidence::Identifier, [0.67, 0.79, 0.90, 0.98]),
    ("cli__b6", Evidence::Line, [0.95, 0.95, 0.95, 0.95]),
    ("cli__b6", Evidence::Identifier, [0.80, 0.86, 0.92, 0.95]),
    ("oh-my-posh__", Evidence::Line, [0.87, 0.94, 0.97, 1.0]),
    ("oh-my-posh__", Evidence::Identifier, [0.68, 0.77, 0.85, 0.95]),
    ("context-evaluator__", Evidence::Line, [0.41, 0.49, 0.73, 1.0]),
    ("context-evaluator__", Evidence::Identifier, [0.47, 0.55, 0.79, 1.0]),
];

fn python(script: &str, paths: &[PathBuf]) -> Option<BTreeMap<(String, String), Vec<usize>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent").join(script);
    let Ok(output) = Command::new("python3").arg(script).args(paths).output() else {
        println!("skipped: no python3");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| {
        let mut cells = line.split('\t').map(str::to_owned);
        let name = (cells.next().unwrap(), cells.next().unwrap());
        (name, cells.map(|cell| cell.parse().unwrap()).collect())
    });
    Some(rows.collect())
}

#[test]
fn references_are_those_of_an_independent_script() {
    let Some(folder) = shared() else { return };
    let mut paths = Vec::new();
    for name in ["pi", "claude-code"] {
        paths.extend(crate::support::files(&folder.join("transcripts").join(name)));
    }
    let Some(expected) = python("references.py", &paths) else { return };
    let Some(with_summaries) = python("references.py", &[&[PathBuf::from("--summaries")], paths.as_slice()].concat()) else { return };
    for path in &paths {
        let traces = read(path, Definition::First);
        let trace = traces.iter().max_by_key(|trace| trace.messages.len()).unwrap();
        for (kind, name) in [(Evidence::Line, "line"), (Evidence::Identifier, "identifier")] {
            let expected = &expected[&(path.to_string_lossy().into_owned(), name.to_owned())];
            let (count, kept) = kept(trace, kind);
            let file = path.file_name().unwrap().to_string_lossy();
            // Readers part some messages otherwise than the script does, which may cost a reference or two.
            assert!(count.abs_diff(expected[0]) <= 1 + expected[0] / 20, "{file} {name}: {count}, {expected:?}");
            for (mine, theirs) in kept.iter().zip(&expected[1..]) {
                let shares = [(*mine, count), (*theirs, expected[0])].map(|(part, whole)| part as f64 / whole.max(1) as f64);
                assert!((shares[0] - shares[1]).abs() <= 0.02, "{file} {name}: {count} {kept:?}, {expected:?}");
            }
            if let Some((.., facts)) = FACTS.iter().find(|(start, fact, _)| file.starts_with(start) && *fact == kind) {
                let first = &with_summaries[&(path.to_string_lossy().into_owned(), name.to_owned())];
                for (kept, fact) in first[1..].iter().zip(facts) {
                    let share = *kept as f64 / first[0] as f64;
                    assert!((share - fact).abs() <= 0.02 + 1e-9, "{file} {name}: {share} {fact}");
                }
            }
        }
    }
}
