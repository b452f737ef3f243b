//! What several tests need: a plain scale, the folder of real transcripts, reading a whole file.

use ctxsim::format::{Claim, Source, sniff};
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

/// The folder that real transcripts lie under. Where it is absent the test skips, says so, and is counted; where `CTXSIM_REQUIRE_SHARED` is 1
/// it fails instead.
pub fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CTXSIM_SHARED").unwrap_or_else(|| "../shared".into()));
    if folder.join("transcripts").is_dir() {
        return Some(folder);
    }
    skip("CTXSIM_REQUIRE_SHARED", &format!("no real transcripts at {} (set CTXSIM_SHARED)", folder.display()));
    None
}

/// Says that this test skips and why, and has it counted, a line each in the file that `CTXSIM_SKIPPED` names. Fails where the variable that
/// demands what is missing is 1.
pub fn skip(demand: &str, reason: &str) {
    let is_required = std::env::var_os(demand).is_some_and(|value| value == "1");
    assert!(!is_required, "{reason}, and {demand} is 1");
    println!("skipped: {reason}");
    if let Some(list) = std::env::var_os("CTXSIM_SKIPPED") {
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        file.and_then(|mut file| std::io::Write::write_all(&mut file, format!("{name}\n").as_bytes())).unwrap();
    }
}

/// All transcripts of a file and what was lost, by the reader that claims it. The words are kept.
pub fn read_all(path: &Path) -> (Vec<Transcript>, Vec<Loss>) {
    read_source(Source::open(path).unwrap())
}

/// The same of a source that is open already.
pub fn read_source(mut source: Source) -> (Vec<Transcript>, Vec<Loss>) {
    let (reader, _) = sniff(&source).unwrap_or_else(|| panic!("no reader claims {}", source.path.display()));
    let mut transcripts = Vec::new();
    (reader.read)(&mut source, &PlainScale { keep_content: true }, &mut |transcript| transcripts.push(transcript)).unwrap();
    (transcripts, source.losses().to_vec())
}

/// The claim on a file, by the name of its reader.
pub fn claim(path: &Path) -> Option<(&'static str, Claim)> {
    sniff(&Source::open(path).unwrap()).map(|(reader, claim)| (reader.name, claim))
}

/// The entries of a folder, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
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
