//! `ctxsim report`: what is written, what a browser makes of it, and that nothing in a transcript is ever more than text.

use crate::browser::Browser;
use crate::made::Native;
use crate::support::{ctxsim, names_below, project};
use base64::Engine as _;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A report on these logs, in a folder of its own.
fn report(logs: &str, further: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_string_lossy().into_owned();
    let arguments: Vec<&str> = ["report", logs, "--quiet", "-o", &out].iter().chain(further).copied().collect();
    ctxsim(&arguments).code(0);
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

const SAMPLES: &str = "transcripts";
const POLICIES: [&str; 6] = ["--policy", "none", "--policy", "opencode", "--policy", "codex"];

#[test]
fn the_same_logs_give_the_same_bytes() {
    let (one, other) = (report(SAMPLES, &POLICIES), report(SAMPLES, &[&POLICIES[..], &["--threads", "1"]].concat()));
    let files = names_below(one.path());
    assert_eq!(files, names_below(other.path()));
    for expected in
        ["index.html", "summary.md", "replay.json", "sessions.csv", "tools.csv", "regions.csv", "references.csv", "charts/cost.svg"]
    {
        assert!(files.iter().any(|name| name == expected), "{expected} in {files:?}");
    }
    for name in files {
        assert!(fs::read(one.path().join(&name)).unwrap() == fs::read(other.path().join(&name)).unwrap(), "{name}");
    }
    let page = read(one.path(), "index.html");
    assert!(
        page.contains("ctxsim report transcripts --policy none --policy opencode --policy codex</code>"),
        "the command stands in the page"
    );
    assert!(page.contains("automatic compactions and "), "what presets predict stands in the page");
    assert!(read(one.path(), "summary.md").contains("charts/survival.svg"));
}

/// The report of the sample corpus that ships with the program. To renew it: the command in the first line of `reports/summary.md`.
#[test]
fn the_sample_report_is_what_its_command_makes() {
    let shipped = project().join("reports");
    let first = read(&shipped, "summary.md").lines().next().unwrap_or_default().to_owned();
    assert_eq!(first, "<!-- ctxsim report transcripts/ -->");
    let made = report("transcripts/", &[]);
    for name in names_below(made.path()) {
        let (old, new) = (fs::read(shipped.join(&name)).unwrap_or_default(), fs::read(made.path().join(&name)).unwrap());
        assert!(old == new, "reports/{name} is not what `ctxsim report transcripts/ -o reports/` writes today");
    }
}

#[test]
fn folders_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    let out = folder.path().to_string_lossy().into_owned();
    let log = "tests/data/cli/session.jsonl";
    let refused = ctxsim(&["report", log, "--policy", "none", "--quiet", "-o", &out]).code(2);
    assert!(refused.stderr().contains("--force"));
    assert_eq!(names_below(folder.path()), ["thesis.tex"]);
    ctxsim(&["report", log, "--policy", "none", "--quiet", "-o", &out, "--force"]).code(0);
    assert_eq!(read(folder.path(), "thesis.tex"), "years of work");
    // From now on it is a report of ours.
    ctxsim(&["report", log, "--policy", "none", "--quiet", "-o", &out]).code(0);
    let home = tempfile::tempdir().unwrap();
    let inside = home.path().join("sessions/report");
    let path = inside.to_string_lossy().into_owned();
    let refused = ctxsim(&["report", log, "--policy", "none", "--force", "-o", &format!("{path}/")]).env("CODEX_HOME", home.path()).code(2);
    assert!(refused.stderr().contains("nothing is ever written"));
    assert!(!inside.exists());
}

/// What is packed for a session adds up to what the record says of it, call by call.
#[test]
fn what_stands_in_the_context_adds_up_to_the_simulated_prompt() {
    let folder = report(SAMPLES, &POLICIES);
    let page = read(folder.path(), "index.html");
    let (_, after) = page.split_once("id=\"overview\">").unwrap();
    let overview: Value = serde_json::from_str(after.split("</script>").next().unwrap()).unwrap();
    let mut arguments = vec!["replay", SAMPLES, "--series", "--json"];
    arguments.extend(POLICIES);
    let replay: Value = ctxsim(&arguments).json();
    let sessions = overview["sessions"].as_array().unwrap();
    let mut calls = 0;
    for place in 0..sessions.len() {
        let Some((_, packed)) = page.split_once(&format!("id=\"calls-{place}\">")) else { continue };
        let session = unpacked(packed.split("</script>").next().unwrap());
        let whole: Vec<Vec<i64>> = session["whole"].as_array().unwrap().iter().map(running).collect();
        for (policy, packed) in session["policies"].as_array().unwrap().iter().enumerate() {
            let recorded = &replay["policies"][policy]["sessions"][place];
            assert_eq!(recorded["session"], sessions[place]["id"]);
            let stack = packed["stack"].as_array().unwrap().iter().zip(&whole);
            let stack: Vec<Vec<i64>> = stack.map(|(own, whole)| if own.is_null() { whole.clone() } else { running(own) }).collect();
            for (call, row) in recorded["series"].as_array().unwrap().iter().enumerate() {
                let sum: i64 = stack.iter().map(|sizes| sizes[call]).sum();
                assert_eq!(Some(sum), row["actual"].as_i64(), "session {place}, policy {policy}, call {call}");
                calls += 1;
            }
        }
    }
    assert!(calls > 2_000, "{calls}");
}

fn running(steps: &Value) -> Vec<i64> {
    let mut sum = 0;
    steps
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            sum += step.as_i64().unwrap_or(0);
            sum
        })
        .collect()
}

fn unpacked(text: &str) -> Value {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    serde_json::from_reader(flate2::read::DeflateDecoder::new(bytes.as_slice())).unwrap()
}

#[test]
fn a_browser_opens_the_page_and_everything_in_it_works() {
    let folder = report(SAMPLES, &POLICIES);
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = folder.path().join("index.html");
    browser.open(&page, "");
    browser.wait("return document.querySelectorAll('table.sessions tbody tr').length > 10");
    // A table sorts: numbers by value, the largest first, then the smallest. The second one of the policies has their tokens.
    let first = "return document.querySelectorAll('#policies tbody')[1].querySelector('tr td:nth-child(4)').dataset.value";
    let press = "document.querySelectorAll('#policies thead')[1].querySelector('th:nth-child(4) button').click();";
    let most: f64 = browser.words(&format!("{press}{first}")).parse().unwrap();
    let least: f64 = browser.words(&format!("{press}{first}")).parse().unwrap();
    assert!(most > least, "{most} {least}");
    assert_eq!(
        browser.words("return document.querySelectorAll('#policies thead')[1].querySelector('th:nth-child(4)').getAttribute('aria-sort')"),
        "ascending"
    );
    // The worst come first until the reader asks for another order.
    let overflows =
        "return [...document.querySelectorAll('table.sessions tbody tr')].slice(0, 4).map((row) => row.cells[5].textContent).join(' ')";
    assert_eq!(browser.words(overflows), "1 1 1 1");
    // Sessions are filtered and picked.
    let rows = "return document.querySelectorAll('table.sessions tbody tr').length";
    let all = browser.run(rows).as_u64().unwrap();
    browser.run(
        "const box = document.querySelector('#sessions input[type=search]'); box.value = 'gemini'; box.dispatchEvent(new Event('input'))",
    );
    assert_eq!(browser.run(rows).as_u64(), Some(3), "one session under three policies");
    browser.run("document.querySelector('#sessions input[type=checkbox]').click()");
    assert_eq!(browser.run(rows).as_u64(), Some(2));
    browser
        .run("const box = document.querySelector('#sessions input[type=search]'); box.value = ''; box.dispatchEvent(new Event('input'))");
    browser.run("document.querySelector('#sessions input[type=checkbox]').click()");
    assert_eq!(browser.run(rows).as_u64(), Some(all));
    // A session opens, is walked through by keyboard, and its address can be handed on.
    browser.run("document.querySelector('table.sessions tbody a').click()");
    browser.wait("return document.querySelectorAll('.view canvas').length === 2");
    let step =
        "const slider = document.querySelector('.view input[type=range]'); slider.value = 3; slider.dispatchEvent(new Event('input'));";
    assert!(browser.words(&format!("{step}return document.querySelector('.walk h4').textContent")).starts_with("Call 3 under none"));
    let address = browser.words("return location.hash");
    assert!(address.contains("session=") && address.contains("call=3"), "{address}");
    // Sessions and policies are known by their names, so that a link holds for a report over more of them.
    let third = format!("#{}&call=7&from=2&to=12", address_of(&browser, 2));
    assert!(third.contains("session=") && !third.contains("session=2") && third.contains("&policy=opencode%40"), "{third}");
    browser.open(&page, &third);
    browser.wait("return document.querySelectorAll('.view canvas').length === 2");
    assert!(browser.words("return document.querySelector('.walk h4').textContent").starts_with("Call 7 under opencode"));
    assert_eq!(browser.words("return location.hash"), third);
    browser.open(&page, "#session=2&policy=1");
    browser.wait("return document.querySelectorAll('table.sessions tbody tr').length > 10");
    assert_eq!(browser.run("return document.querySelectorAll('.view').length").as_u64(), Some(0), "a place is no name");
    // Both colours, without a word of complaint.
    browser.run("document.querySelector('button.theme').click()");
    assert_eq!(browser.words("return document.documentElement.dataset.theme"), "dark");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let own = format!("file://{}", page.display());
    let strangers: Vec<String> = browser
        .requests()
        .into_iter()
        // The browser opens a page of its own before it is given ours.
        .filter(|address| !address.starts_with("chrome:") && !address.starts_with("chrome-"))
        .filter(|address| !address.starts_with(&own) && !address.starts_with("data:") && address != "about:blank")
        .collect();
    assert!(strangers.is_empty(), "requests that leave the page: {strangers:?}");
}

#[test]
fn without_its_script_the_page_is_complete() {
    let folder = report(SAMPLES, &POLICIES);
    let Some(browser) = Browser::start(400, 800) else { return };
    browser.protocol("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.open(&folder.path().join("index.html"), "");
    // Without its script the page does not say when all of it is there.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let found = |selector: &str| {
        // The browser may number the document anew at any time.
        let tree = browser.protocol("DOM.getDocument", &json!({"depth": 1}));
        let found = browser.protocol("DOM.querySelectorAll", &json!({"nodeId": tree["root"]["nodeId"], "selector": selector}));
        found["nodeIds"].as_array().unwrap().len()
    };
    assert!(found(".verdict p") == 2 && found("#policies tbody tr") == 10 && found("#sessions tbody tr") > 10 && found("figure img") >= 10);
    assert_eq!(found("button"), 0, "no button that does nothing");
}

/// The address of the session at this place of the corpus under the second policy, on a page that is open.
fn address_of(browser: &Browser, place: usize) -> String {
    browser.words(&format!(
        "const overview = JSON.parse(document.getElementById('overview').textContent);\
         return new URLSearchParams({{session: overview.sessions[{place}].id, policy: overview.policies[1]}}).toString();"
    ))
}

const EVIL: [&str; 6] = [
    "</script><script>window.pwned=1</script>",
    "\"><img src=x onerror=window.pwned=1>",
    "\u{1b}[31mred\u{1b}[0m",
    "abc\u{202e}txt.exe",
    "=HYPERLINK(\"http://evil.example\")",
    "<!--<script>",
];

/// A log in which every name is an attack.
fn hostile(folder: &Path) -> PathBuf {
    let lines: String = EVIL
        .iter()
        .enumerate()
        .map(|(place, evil)| {
            let log = Native::new(json!({"session": evil, "agent": evil, "version": evil, "model": evil, "window": 4000}));
            let log = (0..4).fold(log, |log, call| {
                let id = format!("c{place}-{call}");
                let tool = json!({"call": {"id": id, "name": evil, "arguments": {"path": evil}}});
                let usage = json!({"prompt": 1000 * (call + 1), "output": 20});
                let result = json!({"result": {"id": id, "name": evil, "text": evil.repeat(30), "error": false}});
                log.line(json!({"role": "user", "id": format!("{place}-u{call}"), "text": evil}))
                    .line(json!({"role": "assistant", "id": format!("{place}-a{call}"), "parts": [tool], "usage": usage}))
                    .line(json!({"role": "tool", "id": format!("{place}-t{call}"), "parts": [result]}))
            });
            log.text()
        })
        .collect();
    let path = folder.join("hostile.jsonl");
    fs::write(&path, lines).unwrap();
    path
}

#[test]
fn what_a_transcript_says_stays_text_in_every_form() {
    let logs = tempfile::tempdir().unwrap();
    let path = hostile(logs.path()).to_string_lossy().into_owned();
    let folder = report(&path, &["--policy", "none", "--policy", "baseagent", "--window", "3500", "--with-content"]);
    for name in names_below(folder.path()) {
        let text = read(folder.path(), &name);
        // The newest letters of JSON, CSV and Markdown are those of plain text; the page's own script holds escapes for none of these.
        for hazard in ['\u{1b}', '\u{202e}'] {
            assert!(!text.contains(hazard), "{name} holds {hazard:?}");
        }
        if name.ends_with(".csv") {
            let mut reader = csv_rows(&text);
            assert!(reader.all(|field| !field.starts_with(['=', '@', '+'])), "{name}");
        } else if name != "replay.json" {
            assert!(!text.contains(EVIL[0]) && !text.contains("<img src=x"), "{name}");
        }
    }
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = folder.path().join("index.html");
    browser.open(&page, "");
    let addresses: Vec<String> = (0..EVIL.len()).map(|place| address_of(&browser, place)).collect();
    for address in addresses {
        browser.open(&page, &format!("#{address}&call=3"));
        browser.wait("return document.querySelectorAll('.view canvas').length === 2 && document.querySelector('.excerpt') !== null");
        assert!(
            browser.run("return window.pwned === undefined && document.querySelectorAll('img[src=x]').length === 0").as_bool().unwrap()
        );
    }
    let shown = browser.words("return document.querySelector('#sessions').textContent");
    for words in ["</script><script>window.pwned=1</script>", "onerror=window.pwned=1", "\\u{1b}[31mred", "abc\\u{202e}txt.exe"] {
        assert!(shown.contains(words), "{words} is shown as it stands");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn csv_rows(text: &str) -> impl Iterator<Item = String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    records.into_iter().flat_map(|record| record.iter().map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn no_word_of_a_transcript_is_in_a_report_unless_it_is_asked_for() {
    let word = "xylophonic";
    let logs = tempfile::tempdir().unwrap();
    let log = Native::new(json!({})).asked(&format!("Play the {word} piece."), "Playing.", 900, 4);
    let path = log.write(logs.path(), "session.jsonl");
    let holds = |folder: &Path| {
        names_below(folder).iter().any(|name| {
            let text = read(folder, name);
            let calls = text.split("id=\"calls-0\">").nth(1).map(|packed| unpacked(packed.split("</script>").next().unwrap()).to_string());
            text.contains(word) || calls.is_some_and(|calls| calls.contains(word))
        })
    };
    assert!(!holds(report(&path, &["--policy", "none"]).path()));
    assert!(holds(report(&path, &["--policy", "none", "--with-content"]).path()));
}

/// Other commands' reports as pages: tables alone, no plots.
#[test]
fn any_report_is_a_page() {
    let shown = ctxsim(&["replay", "tests/data/cli/hostile.jsonl", "--policy", "none", "--by", "session", "--html"]).code(0);
    let page = shown.stdout();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<table class=\"sortable\">") && !page.contains("leeoniya"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("page.html"), page).unwrap();
    let Some(browser) = Browser::start(800, 600) else { return };
    browser.open(&folder.path().join("page.html"), "");
    browser.wait("return document.querySelectorAll('thead button').length > 5");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Many sessions: the page stays small and answers at once. 2,000 sessions of 100 calls where the program is optimised, or with
/// `CTXSIM_LARGE=1`; else a few. The aim is 20 seconds for the report and one second for each answer; a busy machine gets five times that.
#[test]
fn a_large_corpus_makes_a_page_that_answers_at_once() {
    let optimised = !cfg!(debug_assertions);
    let sessions = match std::env::var_os("CTXSIM_LARGE") {
        Some(_) => 2_000,
        None if optimised => 500,
        None => 60,
    };
    let logs = tempfile::tempdir().unwrap();
    let mut calls = 0;
    for session in 0..sessions {
        let head = json!({"session": format!("session-{session:04}"), "agent": "synthetic", "model": "claude-sonnet-4-6"});
        let mut log = Native::new(head);
        let mut prompt = 12_000_u64;
        let length = 30 + session * 37 % 141;
        for call in 0..length {
            if call % 12 == 0 {
                log = log.line(json!({"role": "user", "id": format!("u{session}-{call}"), "text": format!("task {call} of {session}")}));
            }
            let id = format!("c{session}-{call}");
            let tool = json!({"call": {"id": id, "name": "read", "arguments": {"path": format!("file{call}.rs")}}});
            let usage = json!({"prompt": prompt, "cache_read": prompt - 2_000, "output": 60});
            let text = format!("line {call} of file {session} ").repeat(12);
            let result = json!({"result": {"id": id, "name": "read", "text": text}});
            log = log.line(json!({"role": "assistant", "id": format!("a{session}-{call}"), "parts": [tool], "usage": usage}));
            log = log.line(json!({"role": "tool", "id": format!("t{session}-{call}"), "parts": [result]}));
            prompt += [300, 900, 1_500, 4_000, 400][(session + call * 7) % 5];
        }
        calls += length;
        log.write(logs.path(), &format!("{session}.jsonl"));
    }
    let start = std::time::Instant::now();
    let folder = report(&logs.path().to_string_lossy(), &[]);
    let page = folder.path().join("index.html");
    let size = fs::metadata(&page).unwrap().len();
    let took = start.elapsed();
    println!("{sessions} sessions, {calls} calls, 6 policies: report in {took:?}, page of {size} bytes");
    assert!(size < 10_000_000, "{size}");
    assert!(!optimised || took < Duration::from_secs(100), "{took:?}");
    let Some(browser) = Browser::start(1280, 900) else { return };
    let opened = browser.open(&page, "");
    let there = browser.wait("return document.querySelectorAll('table.sessions tbody tr').length === 50");
    // By a name, then by a number, each in both directions.
    let timed = "const start = performance.now(); const press = (place) => document.querySelectorAll('table.sessions thead button')[place].click(); \
                 [0, 0, 5, 5].forEach(press); return (performance.now() - start) / 4;";
    let sorted = Duration::from_secs_f64(browser.run(timed).as_f64().unwrap() / 1000.0);
    browser.run("document.querySelector('table.sessions tbody a').click()");
    let session = browser.wait("return document.querySelectorAll('.view canvas').length === 2");
    println!("page opened in {opened:?}, ready {there:?} later; sorted in {sorted:?}; a session opened in {session:?}");
    for answer in [opened + there, sorted, session] {
        assert!(!optimised || answer < Duration::from_secs(5), "{answer:?}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
