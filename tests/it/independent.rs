//! Figures of the readers against scripts that count them straight from the raw files, in another language.

use ctxsim::format::{Claim, Source, sniff};
use ctxsim::transcript::{Call, Transcript};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is compared of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls with usage.
    pub calls: u64,
    /// Prompt tokens of all calls.
    pub prompt: u64,
    /// Output tokens of all calls.
    pub output: u64,
    /// The largest prompt.
    pub max_prompt: u64,
}

/// All calls of a transcript, wherever they belong.
pub fn calls(transcript: &Transcript) -> impl Iterator<Item = &Call> {
    let replies = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    let summaries = transcript.compactions.iter().filter_map(|compaction| compaction.call.as_ref());
    replies.chain(summaries).chain(&transcript.side_calls)
}

/// The figures of these transcripts.
pub fn figures(transcripts: &[Transcript]) -> Figures {
    let mut figures = Figures::default();
    for usage in transcripts.iter().flat_map(calls).filter_map(|call| call.usage) {
        figures.calls += 1;
        figures.prompt += usage.prompt;
        figures.output += usage.output;
        figures.max_prompt = figures.max_prompt.max(usage.prompt);
    }
    figures
}

/// Runs `tests/independent/<script>` over the files and compares its figures with the readers', file by file.
pub fn compare(script: &str, paths: &[PathBuf]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent").join(script);
    let Ok(ran) = Command::new("python3").arg(&script).args(paths).output() else {
        println!("skipped: no python3 on this machine");
        return;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(text.lines().count(), paths.len());
    for (path, line) in paths.iter().zip(text.lines()) {
        let numbers: Vec<u64> = line.split('\t').skip(1).map(|number| number.parse().unwrap()).collect();
        let expected = Figures { calls: numbers[0], prompt: numbers[1], output: numbers[2], max_prompt: numbers[3] };
        assert_eq!(figures(&crate::support::read_all(path).0), expected, "{}", path.display());
    }
}

/// The files of a folder, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The claim on a file, by the name of its reader.
pub fn claim(path: &Path) -> Option<(&'static str, Claim)> {
    sniff(&Source::open(path).unwrap()).map(|(reader, claim)| (reader.name, claim))
}

/// The rows of the list of real transcripts whose path starts so: path, calls with usage, largest prompt.
pub fn listed(shared: &Path, folder: &str) -> Vec<(PathBuf, u64, u64)> {
    let transcripts = shared.join("transcripts");
    let list = std::fs::read_to_string(transcripts.join("SOURCES.tsv")).unwrap();
    let rows = list.lines().filter(|line| line.starts_with(folder)).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (transcripts.join(fields[0]), fields[5].parse().unwrap(), fields[6].parse().unwrap())
    });
    rows.collect()
}
