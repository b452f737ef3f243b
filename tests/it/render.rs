//! Every form of a report: it fits its page, and whatever stands in a transcript stays text.

use ctxsim::corpus::{Corpus, CorpusFacts, Skipped};
use ctxsim::cost::CacheKind;
use ctxsim::experiment::Replay;
use ctxsim::render::{Emphasis, Figures, Page, csv, escape, json, markdown, prose, text};
use ctxsim::report::{Asked, Baselines, By, Cell, Column, Depth, Report, Screen, Section, Table, grouped, percent, replay};
use ctxsim::sim::{CallOutcome, Carried, Cause, EventKind, Outcome, Totals, Warning};
use ctxsim::trace::Trace;
use unicode_width::UnicodeWidthStr;

const HOSTILE: &str = "=cmd|'x'!A0\u{1b}[31mred\u{202e}`*|<script>\n\ttab 会话";

/// Totals as large as they come, so that columns are as wide as they get.
fn totals(size: u64) -> Totals {
    Totals {
        sessions: 1,
        calls: 12_345,
        overflows: 321,
        reply_cut: 3_000,
        over_budget: 10_000,
        missed: 21,
        peak_tokens: 1_048_576,
        prompt_tokens: size,
        anchored_tokens: size / 2,
        baseline_tokens: 9_876_543_210,
        compared_sessions: 1,
        compared_tokens: size,
        recorded_tokens: 9_876_543_210,
        summariser_tokens: 123_456_789,
        events: [(EventKind::Prune, 4_000), (EventKind::Compact, 3), (EventKind::Reset, 2)].into(),
        causes: [(Cause::BlindSpot, 300), (Cause::Drift, 21)].into(),
        warnings: [(Warning::Oscillation, 1)].into(),
        tools: [(HOSTILE.to_owned(), Carried { results: 2, tokens: 10, carried: 40, overflows: 1 })].into(),
        ..Totals::default()
    }
}

fn corpus() -> Corpus {
    let trace = Trace { id: HOSTILE.to_owned(), agent: "+agent".to_owned(), source: format!("logs/{HOSTILE}"), ..Trace::default() };
    let skipped = vec![Skipped { path: HOSTILE.to_owned(), reason: "no reader knows its format".to_owned() }];
    let facts = CorpusFacts {
        files: 2,
        sessions: 2,
        called_sessions: 2,
        calls: 24_690,
        calls_with_usage: 24_690,
        anchored_millionths: 400_000,
        has_context_tokens: true,
        skipped,
        ..CorpusFacts::default()
    };
    Corpus { facts, traces: vec![trace, Trace { id: "second".to_owned(), ..Trace::default() }].into() }
}

fn replays() -> Vec<Replay> {
    let one = |policy: &str, size: u64| {
        let outcome = |size| Outcome {
            broken: Vec::new(),
            policy: policy.to_owned(),
            window: 200_000,
            prompt_limit: 200_000,
            behind: Default::default(),
            totals: totals(size),
            calls: vec![CallOutcome::default()].into(),
            events: Vec::new(),
            summaries: Vec::new(),
            refetches: Vec::new(),
        };
        let outcomes = vec![outcome(size), outcome(size / 2)];
        let mut sum = Totals::default();
        outcomes.iter().for_each(|outcome| sum += &outcome.totals);
        Replay {
            policy: policy.to_owned(),
            outcomes: outcomes.into(),
            totals: sum,
            unknown_models: vec![(HOSTILE.to_owned(), 200_000)],
            ..Replay::default()
        }
    };
    vec![one("none", 9_876_543_210), one("opencode@2025-12", 1_234_567_890), one("pi", 2_345_678_901)]
}

fn report(by: By) -> Report {
    let asked = Asked { by, cache: CacheKind::Modelled, named: true, ..Asked::default() };
    let report = replay(&corpus(), &replays(), Baselines::default(), &asked);
    Report { command: Some(format!("ctxsim replay '{HOSTILE}'")), ..report }
}

fn plain(width: usize) -> Page {
    Page { width, emphasis: Emphasis::Plain, figures: Figures::Exact }
}

fn widest(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with("$ ")).map(UnicodeWidthStr::width).max().unwrap_or(0)
}

const ALL: [By; 4] = [By::Policy, By::Session, By::Tool, By::Region];

#[test]
fn no_line_is_wider_than_the_page() {
    for by in ALL {
        for width in [60, 72, 80, 100, 120, 160, 250] {
            let text = text(&report(by), plain(width));
            assert!(widest(&text) <= width, "{by:?} at {width}:\n{text}");
        }
    }
}

#[test]
fn a_wide_page_is_used() {
    let (narrow, wide) = (text(&report(By::Policy), plain(80)), text(&report(By::Policy), plain(160)));
    assert!(widest(&wide) > 140, "{wide}");
    let tables = |text: &str| text.lines().filter(|line| line.contains("opencode@2025-12")).count();
    assert!(tables(&wide) < tables(&narrow), "a narrow page repeats the names of the rows:\n{wide}");
}

#[test]
fn every_figure_is_on_a_narrow_page_too() {
    let narrow = text(&report(By::Policy), plain(80));
    for figure in ["24,690", "642", "1,048,576", "600,033", "14,814,814,815", "17,901,234,585", "246,913,578", "90.6 %", "50.0 %"] {
        assert!(narrow.contains(figure), "{figure} is missing:\n{narrow}");
    }
}

#[test]
fn words_of_a_transcript_stay_words() {
    for by in ALL {
        let report = report(by);
        for form in [text(&report, plain(80)), markdown(&report), csv(&report).expect("csv"), json(&report).expect("json")] {
            assert!(!form.contains(['\u{1b}', '\u{202e}', '\t']), "{by:?}: {form}");
        }
    }
    assert_eq!(escape("a\u{1b}[0m\u{202e}b\u{0}"), "a\\u{1b}[0m\\u{202e}b\\u{0}");
    assert_eq!(escape("会话 ok"), "会话 ok");
}

#[test]
fn bold_is_for_terminals_and_for_the_best() {
    let report = report(By::Policy);
    assert!(!text(&report, plain(160)).contains('\u{1b}'));
    let bold = text(&report, Page { width: 160, emphasis: Emphasis::Bold, figures: Figures::Exact });
    let row = bold.lines().find(|line| line.starts_with("opencode@2025-12")).expect("its row");
    assert!(row.contains("\u{1b}[1m 1,851,851,835\u{1b}[0m"), "the fewest prompt tokens are set off: {row:?}");
    assert!(!bold.lines().find(|line| line.starts_with("none")).expect("its row").contains('\u{1b}'), "none is nowhere the best:\n{bold}");
}

#[test]
fn spreadsheets_find_no_formulas() {
    let report = report(By::Session);
    let text = csv(&report).expect("csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("well-formed");
    assert_eq!(rows.len(), 6, "one row per policy and session");
    for row in &rows {
        for field in row {
            let number = field.parse::<f64>().is_ok();
            assert!(number || !field.starts_with(['=', '+', '-', '@', '\t']), "{field}");
        }
    }
    assert!(text.contains("'=cmd|'x'!A0\\u{1b}"), "{text}");
    assert!(text.contains("'+agent"), "{text}");
}

#[test]
fn markdown_cells_hold_no_markup() {
    let text = markdown(&report(By::Session));
    assert!(!text.contains("<script>") && text.contains("&lt;script&gt;"), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    let first_table: Vec<usize> = rows.iter().take(8).map(|row| bars(row)).collect();
    assert!(first_table.windows(2).all(|pair| pair[0] == pair[1]), "{first_table:?}\n{text}");
    assert!(text.starts_with("<!-- ctxsim replay "), "{text}");
}

#[test]
fn json_says_the_same_and_gives_names_back_whole() {
    let report = report(By::Policy);
    let value: serde_json::Value = serde_json::from_str(&json(&report).expect("json")).expect("well-formed");
    assert_eq!(value["schema"], "ctxsim.replay/3");
    assert_eq!(value["corpus"]["anchored_share"], 0.4);
    assert_eq!(value["corpus"]["skipped"][0]["path"], HOSTILE);
    let policy = &value["policies"][1];
    assert_eq!(policy["policy"], "opencode@2025-12");
    assert_eq!(policy["overflows"], 642);
    assert_eq!(policy["events"]["prune"], 8_000);
    assert_eq!(policy["causes"]["blind_spot"], 600);
    assert_eq!(policy["tokens_saved"], 2 * 9_876_543_210_u64 - 1_234_567_890 - 617_283_945);
    assert_eq!(policy["sessions"][0]["session"], HOSTILE);
    assert_eq!(policy["sessions"][0].get("series"), None, "only when it is asked for");
    assert!(value["notes"].as_array().is_some_and(|notes| !notes.is_empty()));
}

#[test]
fn the_notes_say_what_the_numbers_rest_on() {
    let report = report(By::Policy);
    let said = |words: &str| report.notes.iter().any(|note| note.contains(words));
    for words in [
        "keeps the recorded messages",
        "40.0 % of all context tokens",
        "take the sizes above for estimates",
        "1 file skipped",
        "does not know",
        "Calls are recorded",
    ] {
        assert!(said(words), "{words}: {:#?}", report.notes);
    }
}

#[test]
fn numbers_in_words() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(percent(1, 8), "12.5 %");
    assert_eq!(percent(-1, 3), "-33.3 %");
    assert_eq!(percent(-1, 1_000_000), "0.0 %");
    assert_eq!(percent(5, 0), "-");
    assert_eq!(percent(i64::MAX, u64::MAX), "50.0 %");
}

/// What a user may want to type again is whole on the narrowest page; what comes from a log may be shortened.
#[test]
fn settings_are_never_shortened() {
    use ctxsim::report::Body;
    let setting = "auto_compact_threshold=0.3 prune_protect=5000 prune_minimum=2000";
    let id = "0199aaaa-bbbb-cccc-dddd-eeeeffff0000-and-more-of-it-than-fits";
    let columns = vec![Column::name("setting", "setting"), Column::name("part", "part"), Column::name("session", "session")];
    let row = vec![Cell::Name(setting.to_owned()), Cell::Name("held-out".to_owned()), Cell::Text(id.to_owned())];
    let body = Body::Table(Table { labels: 2, columns, rows: vec![row].into() });
    let shown = Report {
        sections: vec![Section { title: String::new(), body }],
        ..replay(&corpus(), &replays(), Baselines::default(), &Asked::default())
    };
    let text = text(&shown, Page { width: 80, emphasis: Emphasis::Plain, figures: Figures::Exact });
    assert!(setting.split(' ').all(|word| text.contains(word)) && !text.contains(id), "{text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
}

/// What a build server, a spreadsheet or a page would act upon.
#[test]
fn words_of_others_command_no_program() {
    for (words, shown) in [
        ("::error::X", "\\u{3a}:error::X"),
        ("read ::add-mask::x", "read \\u{3a}:add-mask::x"),
        ("one\n::error::X", "one\\u{a}\\u{3a}:error::X"),
        ("##[error]X", "\\u{23}#[error]X"),
        ("a\u{3164}b\u{2800}c\u{fe0f}d\u{e0100}", "a\\u{3164}b\\u{2800}c\\u{fe0f}d\\u{e0100}"),
        ("std::fs::read and a:b", "std::fs::read and a:b"),
        ("\u{26a0}\u{fe0f} careful", "\u{26a0}\u{fe0f} careful"),
    ] {
        assert_eq!(escape(words), shown);
    }
    let named = |id: &str| {
        let mut corpus = corpus();
        corpus.traces[0].id = id.to_owned();
        replay(&corpus, &replays(), Baselines::default(), &Asked { by: By::Session, ..Asked::default() })
    };
    for formula in ["\u{ff1d}1+1", " =1+1", "\"=1+1", "\u{a0}@SUM(1)", "\u{ff0b}1", "-1+1"] {
        let table = csv(&named(formula)).unwrap();
        let mut rows = ::csv::Reader::from_reader(table.as_bytes());
        let guarded = format!("'{formula}");
        assert!(rows.records().flatten().any(|row| row.iter().any(|field| field == guarded)), "{formula}: {table}");
    }
    for (words, shown) in [
        ("@octocat please", "@&#8203;octocat please"),
        ("pi@1.15 beside me@example.org", "pi@1.15 beside me@&#8203;example.org"),
        ("https://evil.example/x", "https&#58;//evil.example/x"),
        ("WWW.evil.example", "WWW&#46;evil.example"),
    ] {
        assert!(markdown(&named(words)).contains(shown), "{words}: {}", markdown(&named(words)));
    }
    let record = json(&named("##[error]X")).unwrap();
    assert!(!record.contains("##["));
    let value: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert!(value.to_string().contains("##[error]X"), "the value is the same");
}

/// Nor does a piece of a long word that comes to stand at the beginning of a line.
#[test]
fn a_broken_word_begins_no_command() {
    for width in 1..40 {
        let shown = prose("session of/a/very/long/path::error::boom:::::add-mask::x", plain(width));
        assert!(shown.lines().all(|line| !line.trim_start().starts_with("::")), "{width}: {shown}");
    }
}

/// A name of megabytes takes time that grows with it: each line is cut off once.
#[test]
fn a_word_of_megabytes_is_cut_into_lines() {
    let word = "m:".repeat(1 << 20);
    let shown = prose(&word, plain(80));
    assert!(shown.lines().all(|line| line.width() <= 80));
    assert_eq!(shown.replace('\n', ""), word);
}

/// A number stands in one line with its unit, however the text falls.
#[test]
fn no_line_ends_between_a_number_and_its_unit() {
    let told = "It saves (-3.7 %, $1.2 at 62.5M a day) of 1,204 kB. Of 12, no more; year 2026.";
    let lines = |width| prose(told, plain(width)).lines().map(str::to_owned).collect::<Vec<_>>();
    for width in 9..60 {
        let torn = lines(width).windows(2).any(|pair| {
            let joint = format!("{} {}", pair[0], pair[1]);
            ["-3.7 %,", "$1.2 at", "62.5M a", "1,204 kB."]
                .iter()
                .any(|whole| joint.contains(whole) && !pair.iter().any(|line| line.contains(whole)))
        });
        assert!(!torn, "{width}: {:?}", lines(width));
    }
    assert!(lines(9).contains(&"Of 12, no".to_owned()), "{:?}", lines(9));
}

/// Steps, warnings and rows give way to the table and its sentences; rows that are held stay.
#[test]
fn a_screen_keeps_its_answer() {
    let lines = |of: &str, count: usize| Section::lines(vec![of.to_owned(); count]);
    let shown = |sentences: usize, rows: usize| {
        let rows: Vec<_> = (0..rows).map(|number| vec![Cell::Name(format!("policy {number}"))]).collect();
        let table = Section::table(Table { labels: 1, columns: vec![Column::name("policy", "policy")], rows: rows.into() });
        let sections = vec![table, lines("sentence", sentences), lines("! warning", 4)];
        let next = (0..4).map(|number| (format!("ctxsim {number}"), "what it shows".to_owned())).collect();
        let screen = Screen { sections, next, held: vec![0, 11], ..Screen::default() };
        let report = Report { screen: Some(screen), ..report(By::Policy) };
        ctxsim::render::screen(&report, Page { figures: Figures::ThreeDigits, ..plain(80) }, Depth::Screen)
    };
    for (sentences, few) in [(6, false), (14, true), (30, true)] {
        let shown = shown(sentences, 12);
        let has = |row: usize| shown.lines().any(|line| line == format!("policy {row}"));
        assert!(has(0) && has(11) && has(10) != few && shown.contains("sentence"), "{sentences}: {shown}");
        assert!(
            !shown.contains("warning") && shown.contains(": --details") && (sentences > 14 || shown.lines().count() <= 29),
            "{sentences}: {shown}"
        );
    }
    assert!(shown(2, 12).contains("warning"));
}
