//! What is shown while a run lasts: in a terminal a line for each phase that takes its time, and nothing of it afterwards or in a pipe.

use crate::support::{ctxsim, program, python};
use serde_json::Value;

/// What is drawn in a terminal, and what is left there.
fn in_a_terminal(seconds: &str, file: &str, words: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    let program = program().to_string_lossy().into_owned();
    let shown = python("terminal.py", [&[seconds, file, program.as_str()], words].concat())?;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["code"], 0, "{words:?}: {shown}");
    let lines = |key: &str| shown[key].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect();
    Some((lines("drawn"), lines("left")))
}

/// What is left on the screen is what a pipe gets, and nothing on progress is in either.
fn nothing_is_left(words: &[&str], left: &[String]) {
    let ran = ctxsim(words).columns(100).code(0);
    assert!(!ran.stderr().contains('\u{1b}') && !ran.stderr().contains(" left"), "{}", ran.stderr());
    let said = |text: &str| text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<String>>();
    let left: Vec<String> = left.iter().filter(|line| !line.is_empty()).cloned().collect();
    let both = [said(&ran.stdout()), said(&ran.stderr())].concat();
    assert!(left.iter().all(|line| both.contains(line)) && left.len() >= said(&ran.stdout()).len(), "{left:?}\n{both:?}");
}

#[test]
fn reading_is_shown_while_it_lasts() {
    let Some((drawn, left)) = in_a_terminal("1.5", "transcripts/pi/sudden-results.jsonl", &["inspect", "-"]) else { return };
    assert!(drawn.iter().any(|line| line.starts_with("reading ") && line.contains("0/1 files")), "{drawn:?}");
    assert!(left.iter().any(|line| line.contains("1 session")) && !left.iter().any(|line| line.contains("reading ")), "{left:?}");
    // Whoever asks for quiet sees none of it.
    let (drawn, _) = in_a_terminal("1.5", "transcripts/pi/sudden-results.jsonl", &["inspect", "-", "-q"]).unwrap();
    assert!(!drawn.iter().any(|line| line.contains("reading")), "{drawn:?}");
}

#[test]
fn a_search_counts_its_settings() {
    // So many that it lasts: optimised code is some thirty times as fast.
    let (step, settings) = if cfg!(debug_assertions) { ("1k", 56) } else { ("10", 5_501) };
    let vary = format!("keepRecentTokens=5k..60k:{step}");
    let words = ["sweep", "transcripts/", "-p", "pi", "--vary", &vary, "--all"];
    let Some((drawn, left)) = in_a_terminal("0", "/dev/null", &words) else { return };
    let told = format!(" % of {} settings, ", if settings > 1_000 { "5,501".to_owned() } else { settings.to_string() });
    let counted: Vec<&String> = drawn.iter().filter(|line| line.starts_with("searching ") && line.contains(&told)).collect();
    assert!(!counted.is_empty(), "{drawn:?}");
    assert!(!left.iter().any(|line| line.contains("searching")), "{left:?}");
    if settings < 1_000 {
        nothing_is_left(&words, &left);
    }
}

#[test]
fn simulating_and_drawing_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("{}/", folder.path().display());
    let words = ["report", "transcripts/", "-o", &out, "--force"];
    let Some((drawn, left)) = in_a_terminal("0", "/dev/null", &words) else { return };
    // Optimised code may be done before there is anything to show.
    if cfg!(debug_assertions) {
        for phase in ["simulating, ", "drawing, "] {
            assert!(drawn.iter().any(|line| line.contains(phase)), "{phase}: {drawn:?}");
        }
    }
    assert!(!left.iter().any(|line| line.contains("simulating,") || line.contains("drawing,")), "{left:?}");
    nothing_is_left(&words, &left);
}
