//! What several tests need: a plain scale, the folder of real transcripts, reading a whole file.

use ctxsim::format::{Source, sniff};
use ctxsim::transcript::{Length, Loss, Message, Part, Role, Scale, Text, Transcript};
use std::path::{Path, PathBuf};

/// A scale that takes a quarter of the bytes for tokens.
pub struct PlainScale {
    /// Keep the words of each text?
    pub keep_content: bool,
}

impl Scale for PlainScale {
    fn weigh(&self, text: &str) -> Text {
        let length = Length {
            bytes: text.len() as u32,
            utf16: text.encode_utf16().count() as u32,
            chars: text.chars().count() as u32,
            newlines: text.matches('\n').count() as u32,
        };
        Text {
            length,
            tokens: length.bytes / 4,
            json_bytes: length.bytes,
            content: self.keep_content.then(|| text.into()),
            ..Text::default()
        }
    }
}

/// The folder that real transcripts lie under. Absent (with the reason printed) on machines that have none; never on the build server.
pub fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CTXSIM_SHARED").unwrap_or_else(|| "../shared".into()));
    if folder.join("transcripts").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "no real transcripts at {}", folder.display());
    println!("skipped: no real transcripts at {} (set CTXSIM_SHARED)", folder.display());
    None
}

/// All transcripts of a file and what was lost, by the reader that claims it. The words are kept.
pub fn read_all(path: &Path) -> (Vec<Transcript>, Vec<Loss>) {
    let mut source = Source::open(path).unwrap();
    let (reader, _) = sniff(&source).unwrap_or_else(|| panic!("nobody claims {}", path.display()));
    let mut transcripts = Vec::new();
    (reader.read)(&mut source, &PlainScale { keep_content: true }, &mut |transcript| transcripts.push(transcript)).unwrap();
    (transcripts, source.losses().to_vec())
}

/// What a file says of its calls: how many have usage, the sums of their prompts and outputs, the largest prompt.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub calls: u64,
    pub prompt: u64,
    pub output: u64,
    pub max_prompt: u64,
}

/// The sums over all calls of these transcripts: those of messages, of compactions and on the side.
pub fn sums(transcripts: &[Transcript]) -> Sums {
    let mut sums = Sums::default();
    for transcript in transcripts {
        let messages = transcript.messages.iter().filter_map(|message| message.call.as_ref());
        let compactions = transcript.compactions.iter().filter_map(|compaction| compaction.call.as_ref());
        for usage in messages.chain(compactions).chain(&transcript.side_calls).filter_map(|call| call.usage) {
            sums.calls += 1;
            sums.prompt += usage.prompt;
            sums.output += usage.output;
            sums.max_prompt = sums.max_prompt.max(usage.prompt);
        }
    }
    sums
}

/// What `tests/independent/<script>.py`, which knows nothing of the readers, finds in these files. Absent where there is no python3.
pub fn independent(script: &str, files: &[PathBuf]) -> Option<Vec<Sums>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent").join(script);
    let Ok(output) = std::process::Command::new("python3").arg(&script).args(files).output() else {
        println!("skipped: no python3 for {}", script.display());
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = |line: &str| {
        let numbers: Vec<u64> = line.split('\t').skip(1).map(|field| field.parse().unwrap()).collect();
        Sums { calls: numbers[0], prompt: numbers[1], output: numbers[2], max_prompt: numbers[3] }
    };
    Some(String::from_utf8(output.stdout).unwrap().lines().map(row).collect())
}

/// The rows of the shared `SOURCES.tsv` whose path starts with this: path, calls with usage, largest prompt.
pub fn sources(shared: &Path, start: &str) -> Vec<(PathBuf, u64, u64)> {
    let table = std::fs::read_to_string(shared.join("transcripts/SOURCES.tsv")).unwrap();
    let number = |field: &str| field.parse().unwrap_or(0);
    table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0].starts_with(start))
        .map(|row| (shared.join("transcripts").join(row[0]), number(row[5]), number(row[6])))
        .collect()
}

/// Reads every listed file and compares its calls with `SOURCES.tsv` and with the independent script.
pub fn compare_with_sources(start: &str, reader: &str, script: &str) {
    let Some(shared) = shared() else { return };
    let rows = sources(&shared, start);
    assert!(!rows.is_empty(), "no rows for {start}");
    let files: Vec<PathBuf> = rows.iter().map(|(path, ..)| path.clone()).collect();
    let counted = independent(script, &files);
    for (index, (path, calls, max_prompt)) in rows.iter().enumerate() {
        let (claimed_by, _) = sniff(&Source::open(path).unwrap()).unwrap_or_else(|| panic!("nobody claims {}", path.display()));
        assert_eq!(claimed_by.name, reader, "{}", path.display());
        let (transcripts, losses) = read_all(path);
        let sums = sums(&transcripts);
        assert_eq!((sums.calls, sums.max_prompt), (*calls, *max_prompt), "{} {losses:?}", path.display());
        if let Some(counted) = &counted {
            assert_eq!(sums, counted[index], "{}", path.display());
        }
        for transcript in &transcripts {
            assert!(!transcript.messages.is_empty(), "{}", path.display());
        }
        if !losses.is_empty() {
            println!("{}: {losses:?}", path.display());
        }
    }
}

/// The sessions of a fixture under `tests/data`, and each reason for a loss with its count.
pub fn fixture(name: &str) -> (Vec<Transcript>, Vec<(String, u64)>) {
    let (transcripts, losses) = read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name));
    (transcripts, losses.into_iter().map(|loss| (loss.reason, loss.count)).collect())
}

/// The message in short: its role's first letter, and for each part a letter and (for texts) the words.
pub fn shorthand(message: &Message) -> String {
    let words = |text: &Text| text.content.as_deref().unwrap_or_default().to_owned();
    let part = |part: &Part| match part {
        Part::Text(text) => words(text),
        Part::Thinking { sealed_bytes, .. } => format!("~{sealed_bytes}"),
        Part::ToolCall { id, name, .. } => format!("{name}({id})"),
        Part::ToolResult { call_id, name, error, .. } => format!("{name}({call_id}){}", if *error { "!" } else { "=" }),
        Part::Image(image) => format!("{}x{}", image.width, image.height),
        Part::Tools(text) => format!("tools {}", text.length.bytes),
        Part::Other(text) => format!("other {}", words(text)),
    };
    let role = match message.role {
        Role::System => 's',
        Role::User if message.synthetic => '*',
        Role::User => 'u',
        Role::Assistant => 'a',
        Role::Tool => 't',
    };
    format!("{role}: {}", message.parts.iter().map(part).collect::<Vec<_>>().join(" | "))
}

/// All messages in short.
pub fn in_short(transcript: &Transcript) -> Vec<String> {
    transcript.messages.iter().map(shorthand).collect()
}

/// Prompt and output of each message's call; (0, 0) where the call has no usage.
pub fn prompts(transcript: &Transcript) -> Vec<(u64, u64)> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    calls.map(|call| call.usage.map_or((0, 0), |usage| (usage.prompt, usage.output))).collect()
}
