//! The independent counts: each is a Python script that was written from the raw format, not from the reader.

use crate::support::PlainScale;
use ctxsim::format::{Source, by_name};
use ctxsim::transcript::{Transcript, Usage};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
pub type Sums = (usize, u64, u64, u64);

/// The sums that a script prints for these files, in their order; `None` (with the reason printed) where Python is missing.
pub fn independent_sums(script: &str, files: &[PathBuf]) -> Option<Vec<Sums>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent").join(script);
    let Ok(output) = Command::new("python3").arg(script).args(files).output() else {
        println!("skipped: python3 is missing");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let sums = text.lines().map(|line| {
        let fields: Vec<u64> = line.split('\t').skip(1).map(|field| field.parse().unwrap()).collect();
        (fields[0] as usize, fields[1], fields[2], fields[3])
    });
    Some(sums.collect())
}

/// The same sums by a reader: the calls of all messages.
pub fn sums(transcripts: &[Transcript]) -> Sums {
    let messages = transcripts.iter().flat_map(|transcript| &transcript.messages);
    let usages: Vec<Usage> = messages.filter_map(|message| message.call.as_ref()?.usage).collect();
    (
        usages.len(),
        usages.iter().map(|usage| usage.prompt).sum(),
        usages.iter().map(|usage| usage.output).sum(),
        usages.iter().map(|usage| usage.prompt).max().unwrap_or(0),
    )
}

/// Calls with usage and largest prompt of each file of a format, as `SOURCES.tsv` of the shared folder has them.
pub fn recorded(shared: &Path, format: &str) -> Vec<(PathBuf, usize, u64)> {
    let sources = std::fs::read_to_string(shared.join("transcripts/SOURCES.tsv")).unwrap();
    let rows = sources.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let own = rows.filter(|row| row.len() > 6 && row[1] == format);
    own.map(|row| (shared.join("transcripts").join(row[0]), row[5].parse().unwrap(), row[6].parse().unwrap())).collect()
}

/// Reads every fixture of a format cut at each place, and with each byte in turn replaced: the reader may lose, but not panic.
pub fn cut_and_spoil(format: &str) {
    let reader = by_name(format).unwrap();
    let read = |bytes: Vec<u8>| {
        let mut source = Source::from_reader(Path::new("spoiled"), Box::new(std::io::Cursor::new(bytes))).unwrap();
        let _ = (reader.claims)(&source);
        let _ = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |_| {});
    };
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format)).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for at in 0..bytes.len() {
            read(bytes[..at].to_vec());
            let mut spoiled = bytes.clone();
            spoiled[at] = b"\"{[\\,\xff0"[at % 7];
            read(spoiled);
        }
    }
}
