//! A program tried on ten made sessions: does it speak the protocol, and does it give the same answers to the same questions?

use crate::cli::door::Door;
use crate::cli::failure::Failure;
use crate::cli::known::catalog;
use crate::cli::logs::Logs;
use crate::cli::program::{Errors, Programs};
use crate::corpus::Corpus;
use crate::experiment::{Replay, ReplaySettings, replay};
use crate::list::Arrange;
use crate::policy::Policy;
use crate::report::counted;
use crate::sim::Warning;
use serde_json::{Value, json};

/// What a made session has.
#[derive(Clone, Copy, Default)]
struct Made {
    turns: usize,
    steps: usize,
    /// Words of each result.
    words: usize,
    window: u64,
    /// Each so many results are of a tool that fails; 0 for none.
    fails: usize,
    /// The same file is read again and again.
    same: bool,
    /// Replies think first, results have pictures, texts are not English, the user goes back once.
    thinks: bool,
    pictures: bool,
    foreign: bool,
    rewinds: bool,
    /// Simulated seconds between two turns.
    pause: u64,
}

const PLAIN: Made = Made {
    turns: 3,
    steps: 4,
    words: 200,
    window: 200_000,
    fails: 0,
    same: false,
    thinks: false,
    pictures: false,
    foreign: false,
    rewinds: false,
    pause: 60,
};

/// The ten: talk alone, tools, a window that is outgrown, one that a single result outgrows, failures, readings again, reasoning, pictures, another
/// language and a rewind, long pauses.
const SESSIONS: [Made; 10] = [
    Made { steps: 0, ..PLAIN },
    PLAIN,
    Made { turns: 4, steps: 25, words: 900, window: 50_000, ..PLAIN },
    Made { turns: 1, steps: 2, words: 30_000, window: 20_000, ..PLAIN },
    Made { fails: 3, ..PLAIN },
    Made { same: true, steps: 12, ..PLAIN },
    Made { thinks: true, ..PLAIN },
    Made { pictures: true, ..PLAIN },
    Made { foreign: true, rewinds: true, ..PLAIN },
    Made { turns: 6, pause: 7_200, ..PLAIN },
];

/// Replays the sessions with the program twice, in two orders and with two processes. Says what came of it; the complaints are reasons to fail.
pub fn trial(policy: &Policy, name: &str, door: &Door) -> Result<(String, Vec<String>), Failure> {
    let folder = door.scratch()?;
    for (number, made) in SESSIONS.iter().enumerate() {
        let file = format!("made-{number}.jsonl");
        folder.write(&file, text(number, made).as_bytes()).map_err(|error| Failure::writing(folder.path(), &error))?;
    }
    let logs = Logs { logs: vec![folder.path().to_string_lossy().into_owned()], quiet: true, ..Logs::default() };
    let mut corpus = logs.read()?;
    corpus.traces.arrange_by(|one, other| one.id.cmp(&other.id));
    let settings = ReplaySettings::new(catalog()?);
    let attempt = |corpus: &Corpus| -> Result<Replay, Failure> {
        let asked = Programs::default().attach(policy.clone(), name, None, Errors::Shown)?;
        replay(corpus, &[asked], &settings)?.pop().ok_or_else(|| Failure::Usage("no session could be made".to_owned()))
    };
    let one = attempt(&corpus)?;
    let of = |(warning, sessions): (&Warning, &u64)| {
        let words = format!("in {sessions} of {} made sessions it {}", one.outcomes.len(), warning.sentence());
        PROGRAM.contains(warning).then_some(words)
    };
    let failed: Vec<String> = one.totals.warnings.iter().filter_map(of).collect();
    // What cannot be carried through once is not asked anew.
    if !failed.is_empty() {
        let said = failed.iter().map(|words| format!("  cannot work: {words}\n")).collect();
        return Ok((said, failed.iter().map(|words| format!("policy {}: {words}", policy.name)).collect()));
    }
    corpus.traces.reverse();
    let mut other = attempt(&corpus)?;
    other.outcomes.reverse();
    let differ = one.outcomes.each().zip(other.outcomes.each()).filter(|(one, other)| one != other).count();
    let acts = one.outcomes.each().map(|outcome| outcome.events.iter().filter(|event| !event.rule.is_empty()).count()).sum::<usize>();
    let calls = counted(one.totals.calls, "call");
    let said = format!("  tried on {} made sessions of {calls}: its rules acted {acts} times\n", one.outcomes.len());
    let mut complaints = Vec::new();
    if differ > 0 {
        complaints.push(format!(
            "policy {}: its program decides otherwise in {differ} of the made sessions where they come in another order: it must carry nothing over, and look at nothing but the view",
            policy.name
        ));
    }
    Ok((said, complaints))
}

/// What a session's warnings say of a program.
const PROGRAM: [Warning; 5] =
    [Warning::ProgramNotStarted, Warning::ProgramEnded, Warning::ProgramSilent, Warning::ProgramGarbled, Warning::ProgramWrong];

/// A session in the native shape.
#[expect(clippy::indexing_slicing, reason = "a key of a JSON object is set, not looked up")]
fn text(number: usize, made: &Made) -> String {
    let mut lines =
        vec![json!({"ctxsim": "native/1", "session": format!("made-{number}"), "agent": "made", "model": "gpt-5", "window": made.window})];
    let mut time = 1_767_323_045_000_u64;
    let mut say = |mut line: Value, seconds: u64| {
        time += seconds * 1_000;
        line["time"] = time.into();
        line["id"] = format!("made-{number}-{}", lines.len()).into();
        lines.push(line);
    };
    say(json!({"role": "system", "text": words(300, 7, made)}), 0);
    for turn in 0..made.turns {
        let back = made.rewinds && turn == 2;
        let mut asks = json!({"role": "user", "text": words(30, turn, made)});
        if back {
            asks["rewind"] = format!("made-{number}-2").into();
        }
        say(asks, if turn > 0 { made.pause } else { 1 });
        for step in 0..made.steps {
            let place = turn * made.steps + step;
            let (id, file) = (format!("call-{number}-{place}"), if made.same { step % 3 } else { place });
            let thought = made.thinks.then(|| json!({"thinking": words(60, place, made), "sealed_bytes": 900}));
            let call = json!({"call": {"id": id, "name": if place.is_multiple_of(2) { "read" } else { "bash" }, "arguments": {"path": format!("src/file{file}.rs")}}});
            let parts: Vec<Value> = thought.into_iter().chain([json!({"text": words(10, place, made)}), call]).collect();
            say(json!({"role": "assistant", "parts": parts}), 5);
            let error = made.fails > 0 && place.is_multiple_of(made.fails);
            let result =
                json!({"result": {"id": id, "text": words(made.words, if made.same { file } else { place }, made), "error": error}});
            let picture = made.pictures.then(|| json!({"image": {"width": 800, "height": 600}}));
            let parts: Vec<Value> = [Some(result), picture].into_iter().flatten().collect();
            say(json!({"role": "tool", "parts": parts}), 5);
        }
        say(json!({"role": "assistant", "text": words(40, turn, made)}), 5);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// So many words, other ones for each seed, ten a line.
fn words(count: usize, seed: usize, made: &Made) -> String {
    let word = |place: usize| {
        let number = (seed * 7_919 + place * 104_729) % 9_973;
        let word = if made.foreign { format!("水位{number}é") } else { format!("level{number}") };
        word + if place % 10 == 9 { "\n" } else { " " }
    };
    (0..count).map(word).collect()
}
