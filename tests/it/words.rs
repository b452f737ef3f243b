//! Plain words: a user reads none of the banned ones, and `docs/words.md` explains each word of the screens.

use crate::help::helps;
use crate::support::{below, project};
use ctxsim::context::Region;
use ctxsim::experiment::metric::{METRICS, Metric, Part, Provenance, Stands, Unit};
use ctxsim::sim::Category;
use regex::Regex;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// What is not said, as expressions over whole words, and what is said instead.
const BANNED: [(&str, &str); 19] = [
    ("(some|no|any|every)body('s)?", "name the subject: a user, an agent, no policy"),
    ("in vain", "without effect"),
    ("(tells?|telling|told) of", "describes, reports"),
    ("noughts?", "zero"),
    ("redr(aw|aws|awn|ew)", "resample"),
    ("unrecoverable", "failed session"),
    (r"squeez\w+", "reply cut"),
    ("premature(ly)?", "early"),
    (r"belie(f|fs|ve|ves|ved|ving)", "the policy's estimate"),
    (r"guess\w*", "estimate"),
    ("(bears?|borne|bearing) (it |them )?out", "where the log shows it"),
    ("(an?|one) (row|line|dot|file|table|column|test|replay|record|figure) an? [a-z]+", "one row per policy"),
    ("gate (is|stands) (open|shut|closed)", "PASS, FAIL"),
    ("(takes?|took|taken|taking) (up again|[a-z]+ up again)", "reused text, lines the model repeats"),
    ("(of )?achievable", "of best possible"),
    ("nothing (that )?((could|can|would) )?mend(s|ed)?", "failed session"),
    ("(all but )?an? twentieth( of)?", "5th or 95th percentile"),
    ("(calls|corpora|sessions) lies? below", "percentile"),
    ("follow whatever", "Replay keeps the recorded messages"),
];

/// Literals of the code that hold a banned word, and why: names that programs and older command lines use.
const ALLOWED: [(&str, &str, &str); 9] = [
    ("src/cli/replay.rs", "unrecoverable", "the older name of a finding, still taken"),
    ("src/cli/replay.rs", "squeezed", "the older name of a finding, still taken"),
    ("src/experiment/measure.rs", "unrecoverable", "the older name of a measure, still taken"),
    ("src/experiment/measure.rs", "squeezed", "the older name of a measure, still taken"),
    ("src/experiment/measure.rs", "premature", "the older name of a measure, still taken"),
    ("src/sim/event.rs", "unrecoverable", "the name of an event in JSON"),
    ("assets/page", "unrecoverable", "the name of an event in JSON"),
    ("src/report", "belief", "a key of JSON and CSV"),
    ("src/policy/schema.json", "belief", "the name of a section of policy files"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let whole = |words: &str| Regex::new(&format!(r"(?i)(?:^|[^\w]){words}(?:$|[^\w])")).unwrap();
    BANNED.iter().map(|(words, instead)| (whole(&format!("(?:{words})")), *instead)).collect()
});

/// The name of a function.
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bfn (\w+)").unwrap());

/// The banned words of a text, each with its surroundings and what is said instead. What stands in backticks without a space is a name.
fn banned(text: &str) -> Vec<String> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`[^\s`]+`").unwrap());
    let text = NAME.replace_all(text, "`…`").split_whitespace().collect::<Vec<_>>().join(" ");
    let found = PATTERNS.iter().flat_map(|(pattern, instead)| pattern.find_iter(&text).map(move |found| (found, instead)));
    let around = |at: usize, reach: isize| text.floor_char_boundary(at.saturating_add_signed(reach).min(text.len()));
    found.map(|(found, instead)| format!("{} -> {instead}", &text[around(found.start(), -40)..around(found.end(), 40)])).collect()
}

/// The comments of a piece of code, those on neighbouring lines as one, and its string literals as they read.
fn comments_and_literals(code: &str) -> (Vec<String>, Vec<String>) {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        let raw = r##"r"[^"]*"|r#"(?s:.*?)"#"##;
        Regex::new(&format!(
            r#"(?P<comment>//[^\n]*(?:\n\s*//[^\n]*)*)|(?P<raw>{raw})|(?P<string>"(?s:[^"\\]|\\.)*"|`[^`]*`)|'(?:\\[^']*|[^'\\])'"#
        ))
        .unwrap()
    });
    static BREAK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").unwrap());
    // What is put into a literal is named by the code.
    static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$?\{[^}]*\}").unwrap());
    static SLASHES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s*//[/!]?").unwrap());
    let (mut comments, mut literals) = (Vec::new(), Vec::new());
    for token in TOKEN.captures_iter(code) {
        if let Some(comment) = token.name("comment") {
            comments.push(SLASHES.replace_all(comment.as_str(), " ").into_owned());
        } else if let Some(literal) = token.name("raw").or_else(|| token.name("string")) {
            let inside = literal.as_str().trim_start_matches('r').trim_matches('#').trim_matches(['"', '`']);
            let inside = BREAK.replace_all(inside, "").replace("\\u{ad}", "");
            literals.push(PLACE.replace_all(&inside, "…").replace("\\n", " ").replace("\\\"", "\""));
        }
    }
    (comments, literals)
}

/// The banned words of a file, by what a user reads of its kind.
fn banned_in(path: &str, text: &str) -> Vec<String> {
    let allowed = |literal: &str| ALLOWED.iter().any(|(place, known, _)| path.starts_with(place) && literal == *known);
    match path.rsplit('.').next() {
        Some("rs" | "js") => {
            let (comments, literals) = comments_and_literals(text);
            comments.iter().chain(literals.iter().filter(|literal| !allowed(literal))).flat_map(|said| banned(said)).collect()
        }
        // The keys of a schema are names; what a user reads of it are literals all the same.
        Some("json") => comments_and_literals(text).1.iter().filter(|literal| !allowed(literal)).flat_map(|said| banned(said)).collect(),
        // So are the sections of a policy.
        Some("toml") => banned(&text.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n")),
        _ => banned(text),
    }
}

#[test]
fn a_banned_word_is_found_wherever_it_hides() {
    for sentence in [
        "Somebody asked for it.",
        "the rule fires in\n   vain",
        "| `missed` | overflows while the policy believed it fits |",
        "A row a policy.",
        "the gate is open",
        "lines that replies take up again",
        "what nothing could mend",
        "Nobody's event (guessed)",
    ] {
        assert_eq!(banned(sentence).len(), 1 + usize::from(sentence.contains("guessed")), "{sentence}");
    }
    for sentence in ["a `belief` and its `achieved_share`", "investigate the aggregate", "one row per policy", "a relief"] {
        assert_eq!(banned(sentence), Vec::<String>::new(), "{sentence}");
    }
    let code = "/// Taken in\n    /// vain.\nfn f<'a>() -> &'a str { let c = '\"'; \"so \\\n    no\\u{ad}body\" }\nlet x = r#\"told \"of\" it\"#; // belief_of";
    let (comments, literals) = comments_and_literals(code);
    assert_eq!((comments.len(), literals.as_slice()), (2, &["so nobody".to_owned(), "told \"of\" it".to_owned()][..]));
    assert_eq!(banned_in("src/x.rs", code).len(), 2);
    assert_eq!(banned_in("src/x.rs", "f(\"belief\"); g(\"achievable\")").len(), 2);
    assert_eq!(banned_in("src/report/x.rs", "f(\"belief\"); g(\"its belief\")").len(), 1);
    assert_eq!(banned_in("x.toml", "[belief]\nhelp = \"its belief\"").len(), 1);
}

/// Documents, help, presets, catalogue, the page's script, every literal and comment of the code, and the comments and names of tests.
#[test]
fn what_a_user_reads_is_said_plainly() {
    let root = project();
    let mut paths: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "transcripts/SOURCES.md"]
            .map(|name| root.join(name))
            .into();
    paths.extend(["docs", "src", "catalog", "assets/page"].iter().flat_map(|folder| below(&root.join(folder))));
    let mut found = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        // Pictures and fonts are no text.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        found.extend(banned_in(&name, &text).into_iter().map(|said| format!("{name}: {said}")));
    }
    // Tests are read by whoever changes the program: their comments and their names, while the texts in them may hold anything.
    for path in below(&root.join("tests/it"))
        .iter()
        .chain(&below(&root.join("benches")))
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let name = path.strip_prefix(root).unwrap().display();
        let code = fs::read_to_string(path).unwrap();
        let names = NAMED.captures_iter(&code).map(|name| name[1].replace('_', " "));
        let said = comments_and_literals(&code).0.into_iter().chain(names);
        found.extend(said.flat_map(|said| banned(&said)).map(|said| format!("{name}: {said}")));
    }
    let all = helps();
    assert!(all.len() > 25, "{} commands", all.len());
    found.extend(all.iter().flat_map(|(command, help)| banned(help).into_iter().map(move |said| format!("{command} --help: {said}"))));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A measure as a row of the glossary.
fn row(metric: &Metric) -> String {
    let unit = match metric.unit {
        Unit::Count => "count",
        Unit::Tokens => "tokens",
        Unit::Share => "share",
        Unit::Money => "dollars",
        Unit::Name | Unit::Prose => panic!("{} is no number", metric.key),
    };
    let figure = match metric.provenance {
        Provenance::Recorded => "recorded",
        Provenance::Estimated => "estimated",
        Provenance::Simulated => "simulated",
    };
    let tables = match metric.stands {
        Stands::Always => "tables, CSV",
        Stands::WhereItTells => "tables where it is not 0, CSV",
        Stands::Spreadsheets => "CSV",
        Stands::Nowhere => "",
    };
    let stands: Vec<&str> =
        [tables, if metric.part == Part::None { "" } else { "JSON" }].into_iter().filter(|place| !place.is_empty()).collect();
    let judged = if metric.judged { "yes" } else { "" };
    let cells =
        [&format!("`{}`", metric.key), &metric.header.replace('\u{ad}', ""), judged, unit, figure, &stands.join(", "), metric.meaning];
    format!("| {} |\n", cells.join(" | "))
}

/// The glossary has every measure, made from the table of measures, and every region and kind of source.
#[test]
fn the_glossary_has_every_measure() {
    let path = project().join("docs/words.md");
    let page = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (head, rule) = ("| key |", "|---|---|---|---|---|---|---|\n");
    let (written, after) = page.split_once(head).unwrap();
    let heading = after.split_once(rule).unwrap().0;
    let made = format!("{written}{head}{heading}{rule}{}", METRICS.iter().map(row).collect::<String>());
    if std::env::var_os("CTXSIM_WRITE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    assert!(page == made, "docs/words.md is not up to date: CTXSIM_WRITE=1 cargo test --test it words");
    let unexplained: Vec<&str> = METRICS.iter().filter(|metric| metric.meaning.is_empty()).map(|metric| metric.key).collect();
    assert!(unexplained.is_empty(), "without a meaning: {unexplained:?}");
    for name in Region::ALL.iter().map(|region| region.name()).chain(Category::ALL.iter().map(|category| category.name())) {
        assert!(written.contains(name), "docs/words.md does not explain {name}");
    }
}
