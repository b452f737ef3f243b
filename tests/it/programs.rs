//! Policies whose decisions a program takes: the examples beside their presets, the protocol, what a hostile program can do, and the page for agent makers.

use crate::made::Native;
use crate::support::{self, Program, files, fits, interpreter, project, shared, skip};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const EXAMPLES: [(&str, &str, &str); 2] =
    [("swe-agent@1.0", "examples/policies/swe_agent.toml", "python3"), ("opencode@2025-12", "examples/policies/opencode.toml", "node")];

/// `ctxsim` with these words, and on its path the interpreter itself before a shim of its name.
fn ctxsim(words: &[&str]) -> Program {
    let path = std::env::var("PATH").unwrap();
    let folder = interpreter().and_then(Path::parent);
    support::ctxsim(words).env("PATH", folder.map_or(path.clone(), |folder| format!("{}:{path}", folder.display())))
}

/// Can these programs be started here? Otherwise the test skips and says so.
fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| std::process::Command::new(name).arg("--version").output().is_err());
    if let Some(name) = missing {
        skip("CTXSIM_REQUIRE_PROGRAMS", &format!("there is no {name}"));
    }
    missing.is_none()
}

/// What a replay says of its one policy, without the words by which that differs from another one of the same decisions.
fn told(logs: &str, policy: &str) -> Value {
    let mut told = ctxsim(&["replay", logs, "-p", policy, "--json", "--series", "--quiet"]).json()["policies"][0].take();
    for key in ["policy", "summary_model", "params", "jumps"] {
        told.as_object_mut().unwrap().remove(key);
    }
    // Rules show that they may act below a limit, which a program does not.
    let mut warnings: Vec<Value> =
        told["sessions"].as_array_mut().into_iter().flatten().map(|session| session["warnings"].take()).collect();
    warnings.push(told["warnings"].take());
    warnings.iter_mut().for_each(|warnings| drop(warnings.as_object_mut().unwrap().remove("never_fires")));
    told["warnings"] = warnings.into();
    told
}

/// The first place at which two values differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            one.iter().find_map(|(key, value)| difference(value, &other[key]).map(|rest| format!("/{key}{rest}")))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let differ = |(place, (one, other))| difference(one, other).map(|rest| format!("/{place}{rest}"));
            one.iter().zip(other).enumerate().find_map(differ)
        }
        _ => (one != other).then(|| format!(": {one} and {other}").chars().take(300).collect()),
    }
}

/// Do both act alike at each call: events, contexts, costs?
fn assert_same(logs: &str, preset: &str, document: &str) {
    let (one, other) = (told(logs, preset), told(logs, document));
    assert!(one["sessions"].as_array().is_some_and(|sessions| !sessions.is_empty()), "{one}");
    assert_eq!(difference(&one, &other), None, "{document} over {logs}");
    let diff = ctxsim(&["diff", logs, "-p", preset, "-p", document, "--json", "--quiet"]).json();
    assert_eq!(diff["parted_sessions"], 0, "{document} over {logs}: {}", diff["sessions"]);
}

#[test]
fn the_worked_examples_do_what_their_presets_do() {
    for (preset, document, _) in EXAMPLES.into_iter().filter(|(.., program)| has(&[program])) {
        assert_same("transcripts/", preset, document);
    }
}

/// Over recorded sessions of all agents.
#[test]
#[ignore = "takes minutes"]
fn the_worked_examples_do_what_their_presets_do_over_real_sessions() {
    let Some(shared) = shared() else { return };
    for folder in ["transcripts", "transcripts-2"] {
        let logs = shared.join(folder);
        for (preset, document, _) in EXAMPLES.into_iter().filter(|(.., program)| has(&[program])) {
            assert_same(&logs.to_string_lossy(), preset, document);
        }
    }
}

#[test]
fn every_line_has_the_shape_that_the_page_says() {
    if !has(&["python3", "node"]) {
        return;
    }
    let page = fs::read_to_string(project().join("docs/policy-program.md")).unwrap();
    let schema = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let schema: Value = serde_json::from_str(schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Stands between, and writes down what is said.
    let between = "import subprocess, sys\n\
                   inner = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n\
                   log = open('said-%d' % inner.pid, 'ab')\n\
                   for line in sys.stdin.buffer:\n    inner.stdin.write(line); inner.stdin.flush()\n    answer = inner.stdout.readline()\n\
                   \x20   log.write(b'> ' + line + b'< ' + answer); log.flush()\n    sys.stdout.buffer.write(answer); sys.stdout.buffer.flush()\n";
    fs::write(folder.path().join("between.py"), between).unwrap();
    for file in files(&project().join("examples/policies")) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let mut seen = std::collections::BTreeMap::new();
    for name in ["swe_agent", "opencode", "fading"] {
        let document = folder.path().join(format!("{name}.toml"));
        let text = fs::read_to_string(&document).unwrap().replace("command = [", "command = [\"python3\", \"between.py\", ");
        fs::write(&document, text + "\n[[rule]]\nid = \"arrival\"\nat = \"ingest\"\nask = true\n").unwrap();
        let answers = "run(lambda view: ";
        let script = folder.path().join(format!("{name}.py"));
        if let Ok(text) = fs::read_to_string(&script) {
            let text = text.replace("run(decide)", "run(lambda view: [] if view.arrives else decide(view))");
            fs::write(script, text.replace(answers, "run(lambda view: [] if view.arrives else ")).unwrap();
        } else {
            let script = folder.path().join(format!("{name}.mjs"));
            let text = fs::read_to_string(&script).unwrap().replace("run((view) =>", "run((view) => view.arrives ? [] :");
            fs::write(script, text).unwrap();
        }
        let shown = if name == "fading" { &["--with-content"][..] } else { &[] };
        let ran = ctxsim(&["replay", "transcripts/", "-p", &document.to_string_lossy(), "--json", "--window", "60k"]).args(shown).code(0);
        assert!(!ran.stderr().contains("its program"), "{}", ran.stderr());
    }
    for file in files(folder.path()).into_iter().filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("said-")) {
        for line in fs::read_to_string(file).unwrap().lines() {
            let (from, line) = line.split_at(2);
            let value: Value = serde_json::from_str(line).unwrap();
            let kind = match (from, value["n"] == 0) {
                ("> ", true) => "begin",
                ("> ", false) => "question",
                (_, true) => "ready",
                _ => "answer",
            };
            fits(&value, &schema["$defs"][kind], &schema).unwrap_or_else(|why| panic!("{why}: {line}"));
            for key in value.as_object().unwrap().keys() {
                *seen.entry(format!("{kind} {key}")).or_insert(0) += 1;
            }
            *seen.entry("text".to_owned()).or_insert(0) += usize::from(line.contains("\"text\":"));
        }
    }
    for key in
        ["question gone", "question put", "question changed", "question arrives", "question attempt", "answer edits", "answer when", "text"]
    {
        assert!(seen.get(key).is_some_and(|count| *count > 0), "no line with {key}: {seen:?}");
    }
}

/// A policy of one rule that asks a Python script of this text.
fn policy(folder: &Path, name: &str, at: &str, script: &str) -> String {
    fs::write(folder.join(format!("{name}.py")), script).unwrap();
    fs::copy(project().join("examples/policies/ctxsim_policy.py"), folder.join("ctxsim_policy.py")).unwrap();
    let document = folder.join(format!("{name}.toml"));
    let text =
        format!("[program]\ncommand = [\"python3\", \"{name}.py\"]\nseconds = 1\n[[rule]]\nid = \"it\"\nat = \"{at}\"\nask = true\n");
    fs::write(&document, text).unwrap();
    document.to_string_lossy().into_owned()
}

const SECRET: &str = "sesame-4711";

/// A summary that a program takes begins the count of every rule anew, as does whatever else succeeds for the rules that count together.
#[test]
fn failures_are_forgiven_where_a_program_decides() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    // At the calls that are named: a summariser that is refused, and a success.
    let script = |failing: &str, success: &str| {
        format!(
            "from ctxsim_policy import *\n\
             def decide(view):\n    old = [m for m in view.messages if m.role in ('user', 'assistant')][:2]\n\
             \x20   results = view.items(kind='tool_result', state='whole')[:1]\n\
             \x20   if view.call in {failing}: return [summarise(old, prompt_tokens=900000000)]\n\
             \x20   return {success} if view.call == 2 else []\nrun(decide)\n"
        )
    };
    let refused = |name: &str, script: &str, rules: &str| {
        let document = policy(folder.path(), name, "manual", script);
        let text = fs::read_to_string(&document).unwrap() + rules;
        fs::write(&document, text).unwrap();
        let told = ctxsim(&["replay", &log, "-p", &document, "--json"]).json();
        told["policies"][0]["events"]["summariser_overflow"].as_u64().unwrap_or(0)
    };
    let plain = "[[rule]]\nid = \"plain\"\nat = \"pre_call\"\nsummarise = { prompt_tokens = 900000000 }\ngive_up_after = 2\n";
    let asks = "[[rule]]\nid = \"asks\"\nat = \"pre_call\"\nask = true\n";
    // Twice, and twice again behind the summary.
    let summary = "[summarise(old, tokens=5)]";
    assert_eq!(refused("mixed", &script("()", summary), &format!("{plain}{asks}")), 4);
    // A placeholder is no summary, and no success of the other rule.
    let masked = "[mask(results, 'x')]";
    assert_eq!(refused("masked", &script("()", masked), &format!("{plain}{asks}")), 2);
    let together = format!(
        "[[rule]]\nid = \"first\"\nat = \"manual\"\nask = true\ngive_up_after = 2\n{}",
        asks.to_owned() + "give_up_after = 2\ngive_up_with = \"first\"\n"
    );
    for (name, success) in [("summed", summary), ("cleared", masked), ("nothing", "[]")] {
        let forgiven = success != "[]";
        assert_eq!(refused(name, &script("(1, 3, 4, 5)", success), &together), if forgiven { 3 } else { 2 }, "{name}");
    }
}

/// One session of twelve calls, in which a secret stands.
fn log(folder: &Path) -> String {
    let begun = Native::new(json!({"window": 50_000})).line(json!({"role": "user", "text": format!("Look for {SECRET}.")}));
    let log = (0..12).fold(begun, |log, step| {
        let call = json!({"call": {"id": format!("c{step}"), "name": "read", "arguments": {"path": format!("{SECRET}{step}")}}});
        let result = json!({"result": {"id": format!("c{step}"), "text": format!("{SECRET} {}", "line of a file\n".repeat(100))}});
        log.line(json!({"role": "assistant", "parts": [call]})).line(json!({"role": "tool", "parts": [result]}))
    });
    log.line(json!({"role": "assistant", "text": "done"})).write(folder, "log.jsonl")
}

/// How a script begins that answers as it should until it is asked the third time: `n` is the number of the question, `line` what was said.
const ANSWERS: &str = "import json, os, sys, time\n\
    def say(**words): print(json.dumps(words), flush=True)\n\
    for line in sys.stdin:\n    question = json.loads(line); n = question['n']\n    if n == 0: say(n=0, ready='ctxsim.policy/1')\n    elif n < 3: say(n=n, edits=[])\n    else:\n        ";

/// What hostile programs do, the warning that counts them, and a part of the sentence.
const HOSTILE: [(&str, &str, &str, &str); 16] = [
    ("silent", "time.sleep(100)", "program_silent", "no answer within 1 s"),
    ("endless", "\n        while True: sys.stdout.write('x' * 65536)", "program_garbled", "more than 4194304 bytes"),
    ("flood", "\n        while True: say(n=n, edits=[], x=line)", "program_garbled", "its answer is none"),
    ("garbage", "print(line[:40] + '}{', flush=True)", "program_garbled", "it is no JSON"),
    ("bytes", "sys.stdout.buffer.write(bytes(range(256)) + b'\\n'); sys.stdout.flush()", "program_garbled", "it is no JSON"),
    ("word", "say(n=n, edits=[], secret=line)", "program_garbled", "a word or a value that the protocol does not know"),
    ("number", "say(n=n + 1, edits=[])", "program_garbled", "the number of the question"),
    ("huge", "say(n=n, edits=[dict(inject=dict(what='x', tokens=10**18))])", "program_garbled", "a number beyond"),
    ("deep", "print('[' * 100000, flush=True)", "program_garbled", "it is no JSON"),
    (
        "stranger",
        "say(n=n, edits=[dict(mask=dict(text=line), items=[999999])])",
        "program_wrong",
        "item 999999, which is not in the context",
    ),
    (
        "twice",
        "say(n=n, edits=[dict(drop={}, messages=[1]), dict(drop={}, messages=[1])])",
        "program_wrong",
        "message 1, which is not in the context",
    ),
    (
        "liar",
        "say(n=n, when={'count': {'of': 'calls', 'gt': 1000}}, edits=[dict(drop={}, messages=[1])])",
        "program_wrong",
        "does not hold",
    ),
    ("exit", "sys.exit(3)", "program_ended", "it ended before the session did"),
    ("crash", "os.abort()", "program_ended", "it ended before the session did"),
    ("unasked", "say(n=n, edits=[]); say(n=n, edits=[])", "program_garbled", ""),
    (
        "forks",
        "\n        for _ in range(20):\n            if os.fork() == 0: time.sleep(1000)\n        time.sleep(1000)",
        "program_silent",
        "no answer within 1 s",
    ),
];

#[test]
fn a_hostile_program_ends_its_session_with_a_sentence() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    for (name, does, warning, sentence) in HOSTILE {
        let document = policy(folder.path(), name, "pre_call", &format!("{ANSWERS}{does}\n"));
        let begun = std::time::Instant::now();
        let ran = ctxsim(&["replay", &log, "-p", &document, "-p", "none", "--json", "--with-content"]).code(0);
        assert!(begun.elapsed().as_secs() < 60, "{name} takes {:?}", begun.elapsed());
        let told = ran.json();
        let [hostile, none] = [0, 1].map(|place| &told["policies"][place]);
        assert_eq!(hostile["warnings"][warning], 1, "{name}: {} {}", hostile["warnings"], ran.stderr());
        // Nothing that was asked and answered before counts for less, and no other policy is touched.
        assert_eq!((&hostile["failed_sessions"], &hostile["overflows"]), (&1.into(), &0.into()), "{name}");
        assert_eq!((&none["calls"], &none["failed_sessions"]), (&13.into(), &0.into()), "{name}");
        assert!(ran.stderr().contains(sentence) && ran.stderr().contains("its program (python3"), "{name}: {}", ran.stderr());
        assert!(!ran.stdout().contains(SECRET) && !ran.stderr().contains(SECRET), "{name}: {}", ran.stderr());
        let left =
            std::process::Command::new("ps").args(["-eo", "args"]).output().map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
        assert!(left.is_ok_and(|left| !left.contains(&format!("python3 {name}.py"))), "{name} still runs");
    }
}

#[test]
fn what_cannot_begin_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let document = folder.path().join("absent.toml");
    let with = |command: &str| {
        fs::write(&document, format!("[program]\ncommand = {command}\n[[rule]]\nid = \"it\"\nat = \"pre_call\"\nask = true\n")).unwrap();
        ctxsim(&["replay", &log, "-p", &document.to_string_lossy(), "--json"])
    };
    let ran = with("[\"./no-such-program\"]").code(0);
    assert_eq!(ran.json()["policies"][0]["warnings"]["program_not_started"], 1);
    assert!(ran.stderr().contains("fails 1 session: it cannot be started"), "{}", ran.stderr());
    // A gate replays each session twice, and there is nothing to compare with.
    let with_gate = ["gate", &log, "-p", &document.to_string_lossy(), "--baseline", "none.json", "--update-baseline"];
    let ran = ctxsim(&with_gate).within(folder.path()).code(2);
    assert!(ran.stderr().contains("fails 1 session: it cannot be started"), "{}", ran.stderr());
    assert!(ran.stderr().contains("brings none of 1 session with a call to its end") && !folder.path().join("none.json").exists());
    let ran = with("[\"cat\"]").code(0);
    assert_eq!(ran.json()["policies"][0]["warnings"]["program_garbled"], 1);
    assert!(ran.stderr().contains("as ctxsim.policy/1 has it"), "{}", ran.stderr());
    assert!(with("[]").code(2).stderr().contains("`[program]` needs a command"));
}

#[test]
fn no_program_is_started_from_a_file_that_was_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let script = "open('ran', 'w').close()\nfrom ctxsim_policy import run\nrun(lambda view: [])\n";
    policy(folder.path(), "mine", "pre_call", script);
    fs::write(folder.path().join("ctxsim.toml"), "policy = [\"mine.toml\"]\n").unwrap();
    let ran = ctxsim(&["replay", &log]).within(folder.path()).env("CTXSIM_CONFIG", folder.path().join("ctxsim.toml")).code(2);
    assert!(ran.stderr().contains("starts a program, and stands in a project's file"), "{}", ran.stderr());
    // Through another document there is none either.
    fs::write(folder.path().join("other.toml"), "extends = \"mine.toml\"\n").unwrap();
    let ran = ctxsim(&["replay", &log, "-p", "other.toml"]).within(folder.path()).code(2);
    assert!(ran.stderr().contains("has no `[program]`, which is not inherited"), "{}", ran.stderr());
    assert!(!folder.path().join("ran").exists());
    if has(&["python3"]) {
        ctxsim(&["replay", &log, "-p", "mine.toml"]).within(folder.path()).code(0);
        assert!(folder.path().join("ran").exists());
    }
}

#[test]
fn a_program_sees_texts_only_where_it_is_said() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let script = "import json\nfrom ctxsim_policy import run, summarise\n\
        def decide(view):\n    texts = [item.text for item in view.items() if item.text]\n    open('seen', 'w').write(json.dumps(texts))\n\
        \x20   return [summarise(view.messages[:3], text='What was read: ' + 'word ' * 500, input='selection')] if view.call == 6 else []\n\
        run(decide)\n";
    let document = policy(folder.path(), "mine", "pre_call", script);
    let seen = |logs: &str, words: &[&str]| {
        let ran = ctxsim(&["replay", logs, "-p", &document, "--json"]).args(words).code(0);
        assert!(!ran.stdout().contains("What was read"), "{}", ran.stdout());
        (fs::read_to_string(folder.path().join("seen")).unwrap(), ran)
    };
    assert_eq!(seen(&log, &[]).0, "[]");
    let (texts, ran) = seen(&log, &["--with-content"]);
    assert!(texts.contains(SECRET) && texts.contains("line of a file"), "{texts}");
    // Its summary is measured as the text that it is: five words, and five hundred.
    let policy = &ran.json()["policies"][0];
    assert_eq!((&policy["compactions"], &policy["summariser_calls"]), (&1.into(), &1.into()));
    let tokens = policy["injected_tokens"].as_u64().unwrap();
    assert!((500..510).contains(&tokens), "{tokens}");
    let trace = folder.path().join("measured.ctxtrace");
    ctxsim(&["trace", "build", &log, "-o", &trace.to_string_lossy()]).code(0);
    fs::remove_file(&log).unwrap();
    let (texts, ran) = seen(&trace.to_string_lossy(), &["--with-content"]);
    assert_eq!(texts, "[]");
    assert!(ran.stderr().contains("the texts of 1 session could not be read again"), "{}", ran.stderr());
}

#[test]
fn answers_are_kept_and_changes_of_mind_are_named() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let cache = folder.path().join("cache").to_string_lossy().into_owned();
    let script = "from ctxsim_policy import mask, run\nasked = open('asked', 'a')\n\
        def decide(view):\n    asked.write('.'); asked.flush()\n    results = view.items(kind='tool_result', state='whole')\n    return [mask(results[:-3], 'gone')] if results[:-3] else []\n\
        run(decide)\n";
    let document = policy(folder.path(), "mine", "pre_call", script);
    let asked = || fs::read_to_string(folder.path().join("asked")).map_or(0, |asked| asked.len());
    let replay = |words: &[&str]| ctxsim(&["replay", &log, "-p", &document, "--json", "--program-cache", &cache]).args(words).stdout();
    let first = replay(&[]);
    assert!(asked() >= 13, "{}", asked());
    let before = asked();
    let again = replay(&["--threads", "1"]);
    assert_eq!(first, again);
    // A session in sixteen may be asked again, as a trial: all of it, or nothing.
    assert!([0, 13].contains(&(asked() - before)), "{}", asked() - before);
    // Another program is another matter, and asked anew.
    let before = asked();
    fs::write(folder.path().join("mine.py"), script.replace("[:-3]", "[:-2]")).unwrap();
    assert_ne!(replay(&[]), first);
    assert!(asked() > before);
    // Within a run, a session that is replayed again asks nothing again.
    let before = asked();
    let none = ctxsim(&["diff", &log, "-p", &document, "-p", "none", "--json"]).json();
    assert_eq!(none["parted_sessions"], 1);
    assert!([13, 26].contains(&(asked() - before)), "{}", asked() - before);
}

#[test]
fn answers_are_kept_by_the_one_rule_for_files() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let document =
        policy(folder.path(), "mine", "pre_call", "from ctxsim_policy import run\nopen('ran', 'w').close()\nrun(lambda view: [])\n");
    let home = folder.path().join("home");
    let keep = |place: &Path| {
        ctxsim(&["replay", &log, "-p", &document, "--json", "--program-cache", &place.to_string_lossy()]).at_home(&home).run()
    };
    // Not among an agent's sessions: said before a program is started.
    let store = home.join(".claude/projects/p");
    fs::create_dir_all(&store).unwrap();
    let ran = keep(&store);
    assert!(ran.status.code() == Some(2) && ran.stderr().contains("lies in the folder of"), "{}", ran.stderr());
    assert!(!folder.path().join("ran").exists() && files(&store).is_empty());
    // Its own file is written anew, until it is another's.
    let cache = folder.path().join("cache");
    assert_eq!(keep(&cache).status.code(), Some(0));
    let kept = files(&cache).into_iter().find(|file| file.extension().is_some_and(|end| end == "jsonl")).unwrap();
    fs::write(&kept, "years of work\n").unwrap();
    let ran = keep(&cache);
    assert!(ran.status.code() == Some(2) && ran.stderr().contains("is there already"), "{}", ran.stderr());
    assert_eq!(fs::read_to_string(&kept).unwrap(), "years of work\n");
}

/// What the other commands make of it.
#[test]
fn every_command_takes_a_program() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("baseline.json").to_string_lossy().into_owned();
    let page = folder.path().join("page/").to_string_lossy().into_owned();
    let chart = folder.path().join("chart.svg").to_string_lossy().into_owned();
    let document = "examples/policies/fading.toml";
    let commands: [&[&str]; 8] = [
        &["cost"],
        &["gate", "--baseline", &baseline, "--update-baseline"],
        &["gate", "--baseline", &baseline],
        &["sweep", "--vary", "half_life=5,20", "--minimise", "cost"],
        &["tune", "--settings", "4"],
        &["chart", "survival", "-o", &chart],
        &["drift"],
        &["replay", "--refetch", "-o", &page],
    ];
    for words in commands {
        let (command, options) = words.split_at(1 + usize::from(words[0] == "chart"));
        let ran = ctxsim(command).args(["transcripts/pi", "-p", document]).args(options).code(0);
        assert!(!ran.stderr().contains("its program"), "{words:?}: {}", ran.stderr());
    }
    // A sweep's rows are those of a replay with the same settings.
    let sweep =
        ctxsim(&["sweep", "transcripts/pi", "-p", document, "--vary", "half_life=5,20", "--minimise", "prompt_tokens", "--json"]).json();
    for half_life in ["5", "20"] {
        let set = format!("half_life={half_life}");
        let alone = ctxsim(&["replay", "transcripts/pi", "-p", document, "--set", &set, "--json"]).json();
        let tokens = &alone["policies"][0]["prompt_tokens"];
        let rows = sweep["settings"].as_array().or(sweep["rows"].as_array()).unwrap_or_else(|| panic!("{sweep}"));
        assert!(rows.iter().any(|row| row.to_string().contains(&format!("\"prompt_tokens\":{tokens}"))), "{half_life}: {tokens}: {rows:?}");
    }
}

#[test]
fn check_tries_the_program() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let good = policy(
        folder.path(),
        "good",
        "pre_call",
        "from ctxsim_policy import mask, run\nrun(lambda view: [mask(i, '-') for i in view.items('tool_result', 'whole')[:-2]])\n",
    );
    let ran = ctxsim(&["policy", "check", &good]).code(0);
    assert!(ran.stdout().contains("tried on 10 made sessions of"), "{}", ran.stdout());
    let carries = "from ctxsim_policy import mask, run\nseen, keep = set(), []\n\
        def decide(view):\n    seen.add(id(view)); keep.append(view)\n    results = view.items('tool_result', 'whole')\n\
        \x20   return [mask(results[0], '-')] if results and len(seen) < 3 else []\nrun(decide)\n";
    let carries = policy(folder.path(), "carries", "pre_call", carries);
    let ran = ctxsim(&["policy", "check", &carries]).code(1);
    assert!(ran.stderr().contains("where they come in another order"), "{}", ran.stderr());
    let breaks = policy(
        folder.path(),
        "breaks",
        "pre_call",
        "from ctxsim_policy import mask, run\nrun(lambda view: [mask(view.messages[99].items, '-')])\n",
    );
    let ran = ctxsim(&["policy", "check", &breaks]).code(1);
    assert!(ran.stderr().contains("IndexError") && ran.stdout().contains("in 10 of 10 made sessions it fails"), "{}", ran.stderr());
    // Failures are no acts, and no program that cannot start has nothing to be found.
    let absent = folder.path().join("absent.toml");
    fs::write(&absent, "[program]\ncommand = [\"./none\"]\n[[rule]]\nid = \"it\"\nat = \"pre_call\"\nask = true\n").unwrap();
    let ran = ctxsim(&["policy", "check", &absent.to_string_lossy()]).code(1);
    let said = ran.stdout().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("in 10 of 10 made sessions it fails because its program could not be started"), "{said}");
    assert!(!said.contains("acted") && !said.contains("nothing found"), "{said}");
    assert_eq!(ran.stderr().matches("it cannot be started").count(), 1, "{}", ran.stderr());
    for (_, document, program) in EXAMPLES {
        if has(&[program]) {
            ctxsim(&["policy", "check", document]).code(0);
        }
    }
    ctxsim(&["policy", "check", "examples/policies/fading.toml"]).code(0);
}

/// The blocks of a kind in the page's section for agent makers, without the indentation of its list.
fn blocks(kind: &str) -> Vec<String> {
    let page = fs::read_to_string(project().join("docs/policy-program.md")).unwrap();
    let section = page.split("## From an idea to a chart").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap().to_owned();
    let plain: String = section.lines().map(|line| format!("{}\n", line.strip_prefix("   ").unwrap_or(line))).collect();
    plain.split(&format!("```{kind}\n")).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_way_from_an_idea_to_a_chart_can_be_gone() {
    if !has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::copy(project().join("examples/policies/ctxsim_policy.py"), place("ctxsim_policy.py")).unwrap();
    fs::write(place("idea.py"), &blocks("python")[0]).unwrap();
    fs::write(place("idea.toml"), &blocks("toml")[0]).unwrap();
    let logs = project().join("transcripts").canonicalize().unwrap();
    let commands: Vec<String> = blocks("sh").iter().flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let command = command.replace("transcripts/", &logs.to_string_lossy());
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = ctxsim(&words).within(folder.path()).code(0);
        assert!(!ran.stderr().contains("its program"), "{command}: {}", ran.stderr());
    }
    assert!(fs::read_to_string(place("review.svg")).unwrap().contains("idea"));
    assert!(place("review/index.html").is_file() && place("cache").is_dir());
    // What the page promises of the idea: it does something.
    let told = ctxsim(&["replay", &logs.to_string_lossy(), "-p", "idea.toml", "--json"]).within(folder.path()).json();
    assert!(told["policies"][0]["prunes"].as_u64().is_some_and(|prunes| prunes > 0), "{}", told["policies"][0]["prunes"]);
}
