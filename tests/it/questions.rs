//! `docs/questions.md`: what users ask, each with a command over the samples and the first lines of its answer.

use crate::support::{project, shell};
use std::fs;

/// What a line of the page prints, on a page of 80 columns: its pipes are the shell's.
fn printed(line: &str) -> String {
    let ran = shell("sh", line).current_dir(project()).env("COLUMNS", "80").output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    // A usage error prints nothing there.
    assert!(!said.trim().is_empty(), "{line}\n{}", String::from_utf8_lossy(&ran.stderr));
    said.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Each answer is what its command prints today: `CTXSIM_WRITE=1 cargo test --test it questions` renews them.
#[test]
fn the_answers_are_real() {
    let path = project().join("docs/questions.md");
    let page = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (mut made, mut rest, mut answered) = (String::new(), page.as_str(), 0);
    while let Some((before, after)) = rest.split_once("```text\n$ ") {
        let (line, after) = after.split_once('\n').unwrap();
        let (_, after) = after.split_once("```\n").unwrap();
        made += &format!("{before}```text\n$ {line}\n{}```\n", printed(line));
        (rest, answered) = (after, answered + 1);
    }
    made += rest;
    if std::env::var_os("CTXSIM_WRITE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let asked = page.lines().filter(|line| line.starts_with("## ")).count();
    assert!(asked == 30 && answered >= 29, "{answered} of {asked} questions have an answer");
    let first = page.lines().zip(made.lines()).find(|(known, now)| known != now);
    assert!(page == made, "{first:?}: CTXSIM_WRITE=1 cargo test --test it questions");
}
