//! References: against an independent script and the first measurements, and the session that `docs/references.md` works by hand.

use crate::counting::counter;
use crate::made::Native;
use crate::support::{project, python, shared};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::Corpus;
use ctxsim::estimate::Vocabulary;
use ctxsim::experiment::{Axis, Distance, Newest, curve, distances, least_budget, quantiles, to_results};
use ctxsim::format::{Source, sniff};
use ctxsim::measure::{self, Content, Definition, Kinds, Measure, Recall, TextScale, Wanted};
use ctxsim::policy::{Facts, Plan, Policy};
use ctxsim::sim::hindsight::{Lookahead, costs};
use ctxsim::sim::{Conditions, Guesses, Refetching, in_hindsight, simulate};
use ctxsim::statistics::{self, Chance, sorted, wilson};
use ctxsim::trace::{Evidence, PartKind, Trace};
use ctxsim::transcript::{Message, Part, Role, Scale, Transcript};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The sessions of a file, recognised by these rules; the words are kept.
pub fn read(path: &Path, definition: Definition) -> Vec<Trace> {
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
    let of = |part: std::borrow::Cow<'_, ctxsim::trace::PartRow>| {
        let text = part.text.content.as_deref().unwrap_or_default();
        match part.kind {
            PartKind::Thinking | PartKind::Tools => 0,
            PartKind::ToolCall => serde_json::from_str(text).map_or(0, |value| characters(&value)),
            _ => text.chars().count(),
        }
    };
    trace.messages.iter().map(|row| trace.parts_of(row).map(of).sum::<usize>() / 4).collect()
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
        reference.kind == kind && trace.parts.get(reference.sources[0].part as usize).unwrap().kind == PartKind::ToolResult
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

fn counted(script: &str, paths: &[PathBuf]) -> Option<BTreeMap<(String, String), Vec<usize>>> {
    let text = python(script, paths)?;
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
    let Some(expected) = counted("references.py", &paths) else { return };
    let Some(with_summaries) = counted("references.py", &[&[PathBuf::from("--summaries")], paths.as_slice()].concat()) else { return };
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

fn data(name: &str) -> PathBuf {
    project().join("tests/data/references").join(name)
}

pub fn worked() -> Trace {
    read(&data("worked.jsonl"), Definition::Refined).remove(0)
}

pub fn masking(results: u64) -> Plan {
    let mut policy = Policy::load(&data("newest_result.toml").to_string_lossy()).unwrap();
    policy.set("n", &results.to_string()).unwrap();
    policy.plan(&Facts { window: Some(100_000), ..Facts::default() }).unwrap()
}

pub const WIDE: Conditions = Conditions {
    window: 10_000_000,
    prompt_limit: 10_000_000,
    reserve: None,
    recorded_summary: None,
    guesses: Guesses::Own,
    refetch: Refetching::Never,
    names_all_lost: false,
};

#[test]
fn the_session_worked_by_hand() {
    let trace = worked();
    let truths: Vec<u64> = trace.parts.iter().map(|part| part.truth).collect();
    assert_eq!(truths[1..9], [40, 300, 30, 280, 60, 10, 20, 100]);
    let found: Vec<(u32, Evidence, u32, Vec<u32>)> = trace
        .references
        .iter()
        .map(|found| (found.message, found.kind, found.weight, found.sources.iter().map(|place| place.part).collect()))
        .collect();
    let expected = [
        (1, Evidence::Identifier, 1, vec![0]),
        (5, Evidence::Line, 1, vec![2]),
        (5, Evidence::Identifier, 1, vec![1, 0]),
        (9, Evidence::Line, 1, vec![4]),
        (9, Evidence::Line, 1, vec![5, 2]),
    ];
    assert_eq!(found, expected);

    let corpus = Corpus { traces: vec![trace.clone()].into(), ..Corpus::default() };
    let all = distances(&corpus);
    let far: Vec<(u64, u64, u64)> = all.iter().map(|one| (one.tokens, one.output_tokens, one.messages)).collect();
    assert_eq!(far, [(0, 0, 1), (310, 280, 3), (610, 580, 4), (190, 110, 5), (130, 110, 4)]);
    let lines = to_results(&all, Evidence::Line);
    let kept: Vec<(u64, u64)> = curve(&lines, Axis::Messages).points.iter().map(|point| (point.retained, point.kept)).collect();
    assert_eq!(kept, [(1, 0), (2, 0), (5, 2)]);
    // A line of 310 tokens falls between the first source, 300 tokens, and what comes behind it.
    let newest = |axis, limit, crossing_goes| Newest { axis, limit, crossing_goes }.kept(&lines).0;
    assert_eq!([310, 311, 609, 610].map(|limit| newest(Axis::Tokens, limit, false)), [1, 2, 2, 2]);
    assert_eq!([310, 311, 469, 470, 609, 610].map(|limit| newest(Axis::Tokens, limit, true)), [0, 0, 0, 1, 1, 2]);
    // Results alone: the sources are the second and the third from the newest.
    assert_eq!([1, 2, 3].map(|limit| newest(Axis::Results, limit, false)), [0, 1, 2]);

    let none = simulate(&trace, &Plan::default(), &WIDE).totals.retention;
    assert_eq!((none.of(Evidence::Line).kept, none.of(Evidence::Line).all(), none.broken_calls), (3, 3, 0));
    let masked = simulate(&trace, &masking(1), &WIDE);
    let lines = masked.totals.retention.of(Evidence::Line);
    assert_eq!((lines.kept, lines.cleared, lines.broken()), (1, 2, 2));
    assert_eq!(masked.totals.retention.of(Evidence::Identifier).broken(), 0);
    assert_eq!(masked.totals.retention.broken_calls, 2);
    assert_eq!(costs(&trace, trace.calls.len()), [120, 600, 840]);
    assert_eq!(masked.totals.retention.needed_tokens, 1_560);
    let judged = in_hindsight(&trace, &masking(1), &WIDE, &mut |_, _| {}).totals.retention;
    assert_eq!((judged.of(Evidence::Line).kept, judged.oracle, judged.oracle_broken_calls, judged.achievable), (1, 1, 2, 1));
    assert_eq!(Lookahead::beside(&trace, &masking(1), &WIDE).rooms, [0, 25, 66, 97, 158]);
    let everything = Lookahead::of_everything(&trace);
    assert_eq!(everything.taken, [25, 340, 310, 70, 120]);
    for (budget, kept, bound, at_equal_prices) in [(350, 1, 1, 2), (500, 2, 2, 3), (609, 2, 2, 3), (610, 3, 3, 3)] {
        let ahead = everything.at_budget(budget);
        let met: Vec<bool> = ahead.oracle();
        assert_eq!(met.iter().filter(|met| **met).count(), kept, "{budget}");
        assert_eq!((ahead.bound(0), ahead.bound_at_equal_prices()), (bound, at_equal_prices), "{budget}");
    }
    let corpus = Corpus { traces: vec![trace.clone()].into(), ..Corpus::default() };
    let least = least_budget(&corpus).unwrap();
    assert_eq!((least.references, least.needed, least.impossible, least.attained), (3, 3, Some(0), 1_000));
    let named: Vec<(u32, u32, Option<&str>, u64, u32)> = masked
        .broken
        .iter()
        .map(|broken| (broken.call, broken.source, broken.tool.as_deref(), broken.distance_tokens, broken.distance_calls))
        .collect();
    assert_eq!(named, [(2, 2, Some("read"), 310, 1), (4, 4, Some("bash"), 190, 2)]);
}

/// Wherever a line stands in a text, in whatever dress, and however often: the ends of its first time and the starts of its last are those that a search finds.
#[test]
fn pieces_stand_where_a_search_finds_them() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let units = |text: &str| scale.weigh(text).evidence.unwrap().units;
    let lines = [
        "let first_total = compute_total(cart, region);",
        "return \"second_total\" + \t price.rounded();",
        "the third — of these très long lines",
    ];
    let mut chance = Chance::new(5);
    for round in 0..60 {
        let mut text = String::new();
        for _ in 0..2 + chance.below(30) {
            let line = lines.get(chance.below(6)).copied().unwrap_or("short \"é\" \\ 😀");
            text += &match chance.below(4) {
                0 => format!("  \t{line}\r\n"),
                1 => format!("  12→  {line}\n"),
                2 => format!("+ {line}  \n"),
                _ => format!("{line}\n"),
            };
        }
        let json = serde_json::json!({"exit": 0, "more": ["a \"quoted\" word"], "output": text}).to_string();
        let hex = json.replace('é', "\\u00e9").replace('—', "\\u2014").replace('😀', "\\ud83d\\ude00").replace('è', "\\u00E8");
        let quoted = |line: &str| serde_json::to_string(line).unwrap().trim_matches('"').to_owned();
        let in_hex = |line: &str| quoted(line).replace('—', "\\u2014").replace('è', "\\u00E8");
        for (whole, written) in [(&text, &str::to_owned as &dyn Fn(&str) -> String), (&json, &quoted), (&hex, &in_hex)] {
            let found = units(whole);
            for line in lines {
                let hash = units(line).iter().find(|unit| unit.is_line()).unwrap().hash;
                let place =
                    found.iter().find(|unit| unit.hash == hash).map(|unit| (unit.at.first_end as usize, unit.at.last_start as usize));
                let line = written(line);
                let expected = whole.find(&line).map(|start| (start + line.len(), whole.rfind(&line).unwrap()));
                assert_eq!(place, expected, "{round}: {line} in {whole}");
            }
        }
    }
}

const A: &str = "let first_total = compute_first_total(cart, region);";
const B: &str = "let final_total = compute_final_total(cart, region);";
const C: &str = "let other_total = compute_other_total(cart, region);";

/// Readings of these texts one after the other, and a reply that repeats these lines; cut by `baseagent` to so many tokens of four bytes. The references to
/// lines kept and truncated, and the pieces lost.
fn cut_to(tokens: usize, results: &[String], reply: &[&str]) -> (u64, u64, Vec<u32>) {
    let mut log = Native::new(serde_json::json!({"window": 400_000})).line(serde_json::json!({"role": "user", "text": "go"}));
    for (place, text) in results.iter().enumerate() {
        let call = serde_json::json!({"call": {"id": format!("c{place}"), "name": "read", "arguments": {"n": place}}});
        log = log.line(serde_json::json!({"role": "assistant", "parts": [call]}));
        log = log.line(serde_json::json!({"role": "tool", "parts": [{"result": {"id": format!("c{place}"), "text": text}}]}));
    }
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    std::fs::write(file.path(), log.line(serde_json::json!({"role": "assistant", "text": reply.join("\n")})).text()).unwrap();
    let trace = read(file.path(), Definition::Refined).remove(0);
    let mut policy = Policy::load("baseagent").unwrap();
    policy.set("max_output_tokens", &tokens.to_string()).unwrap();
    let outcome = simulate(&trace, &policy.plan(&Facts { window: Some(400_000), ..Facts::default() }).unwrap(), &WIDE);
    let lines = outcome.totals.retention.of(Evidence::Line);
    assert_eq!(lines.broken(), lines.truncated);
    let lost = outcome.broken.iter().filter(|broken| broken.kind == Evidence::Line).map(|broken| broken.weight);
    (lines.kept, lines.truncated, lost.collect())
}

/// 400 lines with these at those places.
fn rows(lines: &[(usize, &str)]) -> String {
    let at = |row: usize| lines.iter().find(|(place, _)| *place == row).map(|(_, line)| (*line).to_owned());
    (0..400).map(|row| at(row).unwrap_or_else(|| format!("row {row} of a long listing of many rows that are alike")) + "\n").collect()
}

#[test]
fn what_still_stands_in_one_of_the_ends_is_not_lost() {
    let cut = |results: &[String], reply: &[&str]| cut_to(2_500, results, reply);
    // One line in what is left at the start and one in what is left at the end.
    assert_eq!(cut(&[rows(&[(3, A), (397, B)])], &[A, B]), (1, 0, vec![]));
    // A line of the removed middle that stands in one of the ends, too.
    assert_eq!(cut(&[rows(&[(200, A), (397, A)])], &[A]), (1, 0, vec![]));
    assert_eq!(cut(&[rows(&[(3, A), (200, A)])], &[A]), (1, 0, vec![]));
    assert_eq!(cut(&[rows(&[(200, A)])], &[A]), (0, 1, vec![1]));
    // Of three pieces one is lost.
    assert_eq!(cut(&[rows(&[(3, A), (200, B), (397, C)])], &[A, B, C]), (0, 1, vec![1]));
    // What one source has lost another shows, and together they show it all; or not.
    let (first, then) = (rows(&[(3, A), (200, B)]), rows(&[(200, A), (397, B)]));
    assert_eq!(cut(&[first, then.clone()], &[A, B]), (1, 0, vec![]));
    assert_eq!(cut(&[rows(&[(190, A), (200, B)]), then], &[A, B]), (0, 1, vec![1]));
    // Older parts that each hold a part of it show it together; one alone shows what it holds.
    let (one, other, both) = (rows(&[(3, A)]), rows(&[(397, B)]), rows(&[(200, A), (210, B)]));
    assert_eq!(cut(&[one.clone(), other, both.clone()], &[A, B]), (1, 0, vec![]));
    assert_eq!(cut(&[one, both.clone()], &[A, B]), (0, 1, vec![1]));
    assert_eq!(cut(&[both], &[A, B]), (0, 1, vec![2]));
    // JSON without a line break: an escape takes more bytes than its character, and the end that is left is one of the text as it is written.
    let json = |text: String| serde_json::json!({"output": text}).to_string();
    assert_eq!(cut(&[json(rows(&[(310, A)]))], &[A]), (1, 0, vec![]));
    assert_eq!(cut(&[json(rows(&[(305, A)]))], &[A]), (0, 1, vec![1]));
}

/// Whatever the limit, and wherever and however often the lines stand: lost are those that neither end holds.
#[test]
fn lost_are_the_lines_that_no_end_holds() {
    let mut chance = Chance::new(3);
    let mut seen = BTreeMap::new();
    for round in 0..150 {
        let lines: Vec<(usize, &str)> = (0..3 + chance.below(4)).map(|place| (chance.below(400), [A, B, C][place % 3])).collect();
        let (text, tokens) = (rows(&lines), 500 + chance.below(2_000));
        let (head, tail) = (&text[..2 * tokens], &text[text.len() - 2 * tokens..]);
        let reply: Vec<&str> = [A, B, C].into_iter().filter(|line| text.contains(line)).collect();
        let lost = reply.iter().filter(|line| !head.contains(**line) && !tail.contains(**line)).count() as u32;
        let expected = if lost == 0 { (1, 0, vec![]) } else { (0, 1, vec![lost]) };
        assert_eq!(cut_to(tokens, &[text], &reply), expected, "{round}: {tokens} {lines:?}");
        *seen.entry(lost).or_insert(0) += 1;
    }
    assert!((0..=3).all(|lost| seen[&lost] > 5), "{seen:?}");
}

/// Do two texts have a line in common?
fn meet(one: &str, other: &str) -> bool {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let lines = |text: &str| -> Vec<u64> {
        let evidence = scale.weigh(text).evidence.unwrap();
        evidence.units.iter().filter(|unit| unit.is_line()).map(|unit| unit.hash).collect()
    };
    let (one, other) = (lines(one), lines(other));
    one.iter().any(|hash| other.contains(hash))
}

#[test]
fn the_same_line_is_known_in_any_dress() {
    let line = "let total = basket.iter().sum::<u64>();";
    let dressed = [
        format!("fn f() {{\r\n\t\t{line}\r\n}}"),
        format!("    12→  {line}"),
        format!("00012| {line}"),
        format!("37:{line}"),
        format!("-    {line}\n+    other"),
        format!("> {line}"),
        serde_json::json!({"path": "a.rs", "old": format!("x\n  {line}\ny")}).to_string(),
        serde_json::json!({"output": format!("1\n{line}\n"), "exit": 0}).to_string(),
    ];
    for text in &dressed {
        assert!(meet(line, text), "{text}");
    }
    let minified = format!("{}function a(){{return b.concat(c).filter(Boolean)}}{}", "var x1=1;".repeat(60), "y();".repeat(60));
    assert!(meet(&minified, &minified.replace("var x1=1;", "var x2=2;")));
    assert!(meet("请把价格四舍五入到两位小数，然后运行所有测试。", "用户说：请把价格四舍五入到两位小数，好的。"));
    for (one, other) in [("------------------------------", "------------------------------"), ("too short", "too short")] {
        assert!(!meet(one, other), "{one}");
    }
}

/// A path, an address or an identifier is a name however long it is, in a listing as in an argument.
#[test]
fn a_line_that_is_one_name_is_no_line() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let units = |text: &str| scale.weigh(text).evidence.unwrap().units;
    let has_lines = |text: &str| units(text).iter().any(|unit| unit.is_line());
    let names = [
        "/home/me/projects/ledger/src/accounts/opening_balance.rs",
        "C:\\projects\\ledger\\accounts\\opening_balance.rs",
        "https://example.org/guides/accounts?page=2&sort=name#opening",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ];
    for name in names {
        assert!(!has_lines(name) && !has_lines(&format!("\"{name}\",")), "{name}");
        assert!(!has_lines(&serde_json::json!({"file_path": name}).to_string()), "{name}");
        assert!(has_lines(&format!("wrote {name} and left it")), "{name}");
    }
    assert!(!has_lines(&serde_json::json!({"file_path": "/home/me/my own documents/opening balance.txt"}).to_string()));
    assert!(has_lines("self.ledger.accounts[0].opening_balance(region);") && has_lines("请把这个文件里的所有函数都改成异步的"));
    assert_eq!(units(names[0]).len(), 1, "the name is one still");
}

#[test]
fn a_text_of_very_many_lines_gives_a_bounded_number_of_pieces() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let text: String = (0..200_000).map(|number| format!("line number {number} of a very long text\n")).collect();
    let evidence = scale.weigh(&text).evidence.unwrap();
    assert!(evidence.units.len() <= 32_768 && evidence.left_out > 100_000);
    // What is left out there is left out elsewhere by the same rule, so what stays still meets its like.
    let again = scale.weigh(&text[..text.len() / 2]).evidence.unwrap();
    assert!(evidence.units.iter().any(|unit| again.units.iter().any(|other| other.hash == unit.hash)));
}

#[test]
fn who_keeps_more_breaks_no_more() {
    let Some(folder) = shared() else { return };
    for path in crate::support::files(&folder.join("transcripts/claude-code")) {
        for trace in read(&path, Definition::Refined) {
            let none = simulate(&trace, &Plan::default(), &WIDE).totals.retention;
            assert_eq!(none.of(Evidence::Line).broken() + none.of(Evidence::Identifier).broken(), 0);
            let broken = [1, 3, 10, 30].map(|results| {
                let kept = simulate(&trace, &masking(results), &WIDE).totals.retention;
                assert_eq!(kept.of(Evidence::Line).all(), none.of(Evidence::Line).all());
                kept.of(Evidence::Line).broken() + kept.of(Evidence::Identifier).broken()
            });
            assert!(broken.windows(2).all(|pair| pair[0] >= pair[1]), "{broken:?}");
            let corpus = Corpus { traces: vec![trace].into(), ..Corpus::default() };
            let all = distances(&corpus);
            let curve = curve(&to_results(&all, Evidence::Line), Axis::Tokens);
            assert!(curve.points.windows(2).all(|pair| pair[0].kept <= pair[1].kept));
        }
    }
}

#[test]
fn a_session_of_very_many_lines_gives_a_bounded_number_of_pieces() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let lines = 1_500_000_u64;
    let (mut kept, mut left_out) = (0, 0);
    for result in 0..lines / 10_000 {
        let text: String = (0..10_000).map(|line| format!("a line of its own, {:08}\n", result * 10_000 + line)).collect();
        let evidence = scale.weigh(&text).evidence.unwrap();
        kept += evidence.units.len() as u64;
        left_out += u64::from(evidence.left_out);
    }
    // All of the first half million, every other one of the next million.
    assert_eq!(kept + left_out, lines);
    assert!((1_000_000..1_050_000).contains(&kept), "{kept}");
}

#[test]
fn one_line_without_end_gives_a_bounded_number_of_pieces() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let code: String = (0..100_000).map(|number| format!("function f{number}(a){{return a.concat(b).filter(c{number})}}")).collect();
    let json = serde_json::to_string(&serde_json::json!({"path": "bundle.js", "content": code})).unwrap();
    for text in [&code, &json] {
        let evidence = scale.weigh(text).evidence.unwrap();
        assert!(evidence.units.len() <= 32_768 && evidence.left_out > 10_000, "{} {}", evidence.units.len(), evidence.left_out);
    }
}

#[test]
fn what_is_not_wanted_is_not_measured() {
    let counter = counter(Vocabulary::O200kBase);
    let weigh = |wanted, text: &str| TextScale::new(counter.clone(), Content::Drop).wanting(wanted).weigh(text);
    let call = r#"{"path":"src/prices/round.rs","old":"let rounded = (price * 100.0).round() / 100.0;"}"#;
    let (sizes, all) = (weigh(Wanted::SIZES, call), weigh(Wanted::default(), call));
    assert_eq!((sizes.tokens, sizes.length), (all.tokens, all.length));
    let (sizes, all) = (sizes.evidence.unwrap(), all.evidence.unwrap());
    // What repetitions are known by is always there, for policies may act on it.
    assert_eq!((sizes.identity, sizes.subject, sizes.values), (all.identity, all.subject, all.values));
    assert!(sizes.units.is_empty() && !all.units.is_empty() && all.path.is_none());
    let paths = weigh(Wanted { references: Recall::WithPaths, kinds: Kinds::Told }, call);
    assert_eq!(paths.evidence.unwrap().path.as_deref(), Some("src/prices/round.rs"));
    assert_eq!(weigh(Wanted::SIZES, "[1, 2, 3, {\"a\": \"b\"}]").kind, Default::default());
}

#[test]
fn a_write_that_failed_shows_nothing_again() {
    let scale = TextScale::new(counter(Vocabulary::O200kBase), Content::Drop);
    let catalog = Catalog::builtin().unwrap();
    let shown_again = |error: bool| {
        let call = |name: &str, arguments: &str| {
            let (id, name) = (name.to_owned(), name.to_owned());
            Message::new(Role::Assistant, vec![Part::ToolCall { id, name, arguments: scale.weigh_json(arguments) }])
        };
        let result = |name: &str, text: &str, error| {
            let (call_id, name) = (name.to_owned(), name.to_owned());
            Message::new(Role::Tool, vec![Part::ToolResult { call_id, name, text: scale.weigh_result(text), error }])
        };
        let messages = vec![
            call("read", r#"{"path":"src/prices/round.rs"}"#),
            result("read", "let rounded = (price * 100.0).round() / 100.0;", false),
            call("write", r#"{"path":"src/prices/round.rs","content":"let rounded = price.round();"}"#),
            result("write", "done, or the user has refused", error),
        ];
        let transcript = Transcript { messages: messages.into(), ..Transcript::default() };
        let measure = Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase };
        measure::trace(transcript, "test", measure).repetitions.len()
    };
    assert_eq!([false, true].map(shown_again), [1, 0]);
}

fn distance(session: usize, tokens: u64) -> Distance {
    Distance {
        session,
        cluster: session,
        kind: Evidence::Line,
        result: true,
        tool: None,
        source_tokens: 1,
        tokens,
        output_tokens: 0,
        messages: 1,
        results: 1,
    }
}

/// Ten sessions with a reference each, from 1,000 to 10,000 tokens back: bounds lie within what was seen, and "all of them" is as sure as ten cases are.
#[test]
fn distances_have_intervals() {
    let distance = |place: usize| distance(place, (place as u64 + 1) * 1_000);
    let all: Vec<Distance> = (0..10).map(distance).collect();
    let all: Vec<&Distance> = all.iter().collect();
    let [most, half] = quantiles(&all, Axis::Tokens, [90, 50]).unwrap();
    assert_eq!((most.value, half.value), (9_000.0, 5_000.0));
    assert!(most.low < 9_000.0 && most.high == 10_000.0 && half.low < 5_000.0 && half.high > 5_000.0, "{most:?} {half:?}");
    assert!(quantiles(&all[..1], Axis::Tokens, [90]).is_none());
    let last = *curve(&all, Axis::Tokens).points.last().unwrap();
    assert_eq!((last.retained, last.kept, last.band), (10_000, 10, wilson(10, 10)));
}

/// Sessions whose references reach as far back as their session does, some of them a hundred times as far as others, and some with eight times as many: the bands of 100
/// corpora hold the share of all sessions in nine of ten, and rise as shares do; and the intervals of distances hold those of all.
#[test]
fn bands_of_the_curve_rise_and_hold_what_all_sessions_keep() {
    let mut chance = Chance::new(11);
    let session = |session: usize, chance: &mut Chance| {
        let (far, references) = (1_000 << chance.below(7), (2 + chance.below(12)) << chance.below(4));
        (0..references).map(|_| distance(session, chance.below(far * 2) as u64)).collect::<Vec<Distance>>()
    };
    let all: Vec<Vec<Distance>> = (0..20_000).map(|place| session(place, &mut chance)).collect();
    let whole: Vec<&Distance> = all.iter().flatten().collect();
    let distances = sorted(whole.iter().map(|distance| distance.tokens));
    let share = |limit: u64| distances.partition_point(|distance| *distance <= limit) as u64 * 1_000_000 / distances.len() as u64;
    let truths = [90, 50].map(|percent| statistics::quantile(&distances, percent * 10).unwrap() as f64);
    for clusters in [6, 12, 30] {
        let mut held: BTreeMap<u64, [u32; 2]> = BTreeMap::new();
        let mut of_distances = [0; 2];
        for _ in 0..100 {
            let drawn: Vec<Distance> = (0..clusters).flat_map(|_| all[chance.below(all.len())].clone()).collect();
            let drawn: Vec<&Distance> = drawn.iter().collect();
            let curve = curve(&drawn, Axis::Tokens);
            let found = quantiles(&drawn, Axis::Tokens, [90, 50]).unwrap();
            for ((held, found), truth) in of_distances.iter_mut().zip(found).zip(truths) {
                *held += u32::from((found.low..=found.high).contains(&truth));
            }
            let bands: Vec<(u64, u64)> = curve.points.iter().filter_map(|point| point.band).collect();
            assert!(bands.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1), "{curve:?}");
            for point in &curve.points {
                let (low, high) = point.band.unwrap();
                let [holds, of] = held.entry(point.retained).or_default();
                *holds += u32::from((low..=high).contains(&share(point.retained)));
                *of += 1;
            }
        }
        assert!(held.values().all(|[holds, of]| holds * 100 >= of * 86), "{clusters}: {held:?}");
        let [most, half] = of_distances;
        // What none of six sessions reaches is in no sample of them.
        assert!(half >= 88 && most >= if clusters == 6 { 75 } else { 88 }, "{clusters}: {of_distances:?}");
    }
}
