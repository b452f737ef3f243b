//! What several tests need: a plain scale, the folder of real transcripts, reading a whole file.

use ctxsim::format::{Claim, Source, sniff};
use ctxsim::transcript::{Length, Loss, Message, Part, Role, Scale, Text, Transcript};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The program as tests start it: relative paths are the project's, and neither the settings nor the width of whoever runs the tests count.
pub struct Program(Command);

/// `ctxsim` with these words.
pub fn ctxsim(words: &[&str]) -> Program {
    let mut command = Command::new(program());
    command.current_dir(project()).env("CTXSIM_CONFIG", "").env_remove("COLUMNS").stdin(Stdio::null());
    Program(command).args(words)
}

/// The folder of the project. Cargo starts the tests in the one of their package.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Where the program lies: the one that Cargo compiles for the tests.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_program"))
}

/// A `PATH` on which the program is found, by the name of users, before any other of its name.
pub fn path_with_program() -> String {
    #[cfg(unix)]
    use std::os::unix::fs::symlink;
    #[cfg(windows)]
    use std::os::windows::fs::symlink_file as symlink;
    // The link says where it leads from where it stands, so that it is right in a copy of the folder too.
    let folder = program().with_file_name("on-path");
    std::fs::create_dir_all(&folder).unwrap();
    let linked = symlink(Path::new("..").join(program().file_name().unwrap()), folder.join("ctxsim"));
    assert!(linked.is_ok() || folder.join("ctxsim").is_symlink(), "{linked:?}");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

impl Program {
    /// Further words.
    pub fn args<W: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = W>) -> Program {
        self.0.args(words);
        self
    }

    /// Runs in this folder.
    pub fn within(mut self, folder: &Path) -> Program {
        self.0.current_dir(folder);
        self
    }

    /// Prints to a page of so many columns.
    pub fn columns(self, columns: usize) -> Program {
        self.env("COLUMNS", columns.to_string())
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        self.0.env(name, value);
        self
    }

    /// Takes these variables out of its environment.
    pub fn without(mut self, names: &[&str]) -> Program {
        for name in names {
            self.0.env_remove(name);
        }
        self
    }

    /// Takes all variables out of its environment.
    pub fn alone(mut self) -> Program {
        self.0.env_clear();
        self
    }

    /// Lives in this folder: no log, and no setting, lies elsewhere.
    pub fn at_home(self, home: &Path) -> Program {
        let elsewhere = ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME"];
        self.env("HOME", home).without(&elsewhere)
    }

    /// The command itself, for tests that do something while it runs.
    pub fn command(self) -> Command {
        self.0
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Ran {
        Ran(self.0.output().expect("the program starts"))
    }

    /// Runs it to its end, which has to be this exit code.
    pub fn code(self, code: i32) -> Ran {
        let words = format!("{:?}", self.0);
        let ran = self.run();
        assert_eq!(ran.status.code(), Some(code), "{words}: {}", ran.stderr());
        ran
    }

    /// What it prints, where it ends well.
    pub fn stdout(self) -> String {
        self.code(0).stdout()
    }

    /// The same as JSON.
    pub fn json(self) -> Value {
        self.code(0).json()
    }
}

/// A run of the program that has ended.
pub struct Ran(Output);

impl Deref for Ran {
    type Target = Output;
    fn deref(&self) -> &Output {
        &self.0
    }
}

impl Ran {
    /// What it printed, as text.
    pub fn stdout(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("UTF-8")
    }

    /// What it said beside, as text.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What it printed, as JSON. Parsed by a function that the library of JSON compiles itself, and so optimised.
    pub fn json(&self) -> Value {
        self.stdout().parse().expect("JSON")
    }
}

/// A scale that takes a quarter of the bytes for tokens.
pub struct PlainScale {
    /// Keep the words of each text?
    pub keep_content: bool,
}

impl Scale for PlainScale {
    fn weigh(&self, text: &str) -> Text {
        let length = Length::of(text);
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
    let folder = project().join(std::env::var_os("CTXSIM_SHARED").unwrap_or_else(|| "../shared".into()));
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
        let file = std::fs::OpenOptions::new().append(true).create(true).open(project().join(list));
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
    reader.sessions(&mut source, &PlainScale { keep_content: true }, &mut |transcript| transcripts.push(transcript)).unwrap();
    (transcripts, source.losses().to_vec())
}

/// The same of a log of this name and text; what was lost in short.
pub fn read_text(name: &str, text: &str) -> (Vec<Transcript>, Vec<(String, u64)>) {
    let source = Source::from_reader(Path::new(name), Box::new(std::io::Cursor::new(text.to_owned()))).unwrap();
    let (transcripts, losses) = read_source(source);
    (transcripts, losses.into_iter().map(|loss| (loss.reason, loss.count)).collect())
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

/// All files in a folder and in those below it, by name; a file itself.
pub fn below(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() { files(path).iter().flat_map(|path| below(path)).collect() } else { vec![path.to_owned()] }
}

/// Their names within the folder, by name.
pub fn names_below(folder: &Path) -> Vec<String> {
    let name = |path: PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
    let mut names: Vec<String> = below(folder).into_iter().map(name).collect();
    names.sort();
    names
}

/// Numbers of a seeded generator, the same in every run.
pub struct Drawn(pub u64);

impl Drawn {
    /// The next number, below this one.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A text of these letters.
    pub fn text(&mut self, alphabet: &str, bytes: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut text = String::new();
        while text.len() < bytes {
            text.push(letters[self.below(letters.len())]);
        }
        text
    }
}

/// The rows of a CSV, each cell by its heading.
pub fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// A line for this shell, which finds the program, in the folder of the project.
pub fn shell(shell: &str, line: &str) -> Command {
    let mut command = Command::new(shell);
    command.args(["-c", line]).current_dir(project()).env("PATH", path_with_program()).env("CTXSIM_CONFIG", "");
    command
}

/// Does a value have the shape that a schema says? Of JSON Schema what the program's own schemas use.
pub fn fits(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{value} is not {what}"));
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(value, root.pointer(reference.trim_start_matches('#')).unwrap(), root);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return if choices.iter().any(|choice| fits(value, choice, root).is_ok()) { Ok(()) } else { wrong("any of the choices") };
    }
    let known = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    let is_known = match &schema["type"] {
        Value::Null => true,
        Value::Array(types) => types.iter().any(known),
        only => known(only),
    };
    let is_one = schema["enum"].as_array().is_none_or(|values| values.contains(value));
    let is_same = schema.get("const").is_none_or(|only| only == value);
    let is_formula = schema["pattern"] != "^=" || value.as_str().is_none_or(|text| text.starts_with('='));
    if !(is_known && is_one && is_same && is_formula) {
        return wrong(&schema.to_string());
    }
    value.as_array().into_iter().flatten().try_for_each(|item| fits(item, &schema["items"], root))?;
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        value.get(key).map(drop).ok_or_else(|| format!("no {key} in {value}"))?;
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match (schema["properties"].get(key), &schema["additionalProperties"]) {
            (Some(property), _) => fits(inner, property, root)?,
            (None, Value::Bool(false)) => return wrong(&format!("without `{key}`")),
            (None, other) => fits(inner, other, root)?,
        }
    }
    Ok(())
}

/// The sessions of a fixture under `tests/data`, and each reason for a loss with its count.
pub fn fixture(name: &str) -> (Vec<Transcript>, Vec<(String, u64)>) {
    let (transcripts, losses) = read_all(&project().join("tests/data").join(name));
    (transcripts, losses.into_iter().map(|loss| (loss.reason, loss.count)).collect())
}

/// What was lost of a fixture is this, in whatever order.
pub fn assert_lost(lost: &[(String, u64)], expected: &[(&str, u64)]) {
    let mut lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    lost.sort_unstable();
    assert_eq!(lost, expected);
}

/// The interpreter itself, asked for once: a `python3` on the path may be a shim that takes longer than what it starts.
pub fn interpreter() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let ask = || Some(Command::new("python3").args(["-c", "import sys; print(sys.executable, end='')"]).output().ok()?.stdout);
    let found = FOUND.get_or_init(|| Some(PathBuf::from(String::from_utf8(ask()?).unwrap())).filter(|path| path.is_file()));
    if found.is_none() {
        skip("CTXSIM_REQUIRE_PYTHON", "no python3");
    }
    found.as_deref()
}

/// A script of `tests/independent`. Where there is no python3 the test skips, and says so.
pub fn scripted(script: &str) -> Option<Command> {
    let mut command = Command::new(interpreter()?);
    command.current_dir(project()).arg(project().join("tests/independent").join(script));
    Some(command)
}

/// What a script of `tests/independent` prints when it is given these words. Where there is no python3 the test skips, and says so.
pub fn python<W: AsRef<OsStr>>(script: &str, words: impl IntoIterator<Item = W>) -> Option<String> {
    let ran = scripted(script)?.args(words).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8(ran.stdout).unwrap())
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
