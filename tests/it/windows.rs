use crate::made::{self, Native};
use crate::support::ctxsim;
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::corpus::Corpus;
use ctxsim::experiment::{Replay, ReplaySettings, WindowFrom, replay};
use ctxsim::policy::Policy;
use ctxsim::trace::{CallRow, CompactionRow};
use ctxsim::transcript::Usage;
use serde_json::{Value, json};
use std::path::Path;

/// A session of one call with this head and this prompt, read as the program reads it.
fn session(head: Value, prompt: u64, output: u64) -> Corpus {
    let folder = tempfile::tempdir().unwrap();
    let usage = json!({"prompt": prompt, "output": output});
    let log = Native::new(head)
        .line(json!({"role": "user", "time": "2026-03-01T10:00:00Z", "text": "hello there"}))
        .line(json!({"role": "assistant", "time": "2026-03-01T10:00:05Z", "text": "hi", "usage": usage}));
    let corpus = corpus(&Catalog::builtin().unwrap(), &[Path::new(&log.write(folder.path(), "session.jsonl"))]);
    assert_eq!((corpus.traces.len(), corpus.traces[0].largest_prompt()), (1, prompt), "{:?}", corpus.facts);
    corpus
}

/// That nothing overflows says nothing where the window was taken so that it does not.
#[test]
fn the_first_screen_counts_sessions_whose_window_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    for (name, model, prompt) in [("a", "zork-1", 242_000), ("b", "zork-1", 1_000), ("c", "gpt-4o", 337_000), ("d", "gpt-4o", 1_000)] {
        let log = Native::new(json!({"session": name, "agent": "mine", "model": model}));
        log.asked(&format!("hello {name}"), "hi", prompt, 0).write(folder.path(), &format!("{name}.jsonl"));
    }
    let logs = folder.path().to_string_lossy().into_owned();
    let screen =
        |more: &[&str]| ctxsim(&["replay", &logs, "-p", "none"]).args(more).stdout().split_whitespace().collect::<Vec<_>>().join(" ");
    let unknown = "! Window not known for 2 sessions: 200k to 242k taken; --window N sets it";
    let outgrown = "! Known window smaller than recorded prompts of 1 session: 337k taken; --window N sets it";
    assert!(screen(&[]).contains(&format!("{unknown} {outgrown}")), "{}", screen(&[]));
    assert!(["not known", "known window"].iter().all(|words| !screen(&["--window", "400k"]).contains(words)));
}

/// What calls carry beside the conversation no log shows, and without usage nothing tells.
#[test]
fn screens_count_sessions_whose_overhead_nothing_tells() {
    let folder = tempfile::tempdir().unwrap();
    let usage = json!({"prompt": 1000, "output": 9});
    for (name, first, usage) in [("a", "user", None), ("b", "system", None), ("c", "user", Some(usage))] {
        let log = Native::new(json!({"session": name, "agent": "mine", "model": "claude-opus-4-5"}));
        let log = log.line(json!({"role": first, "text": format!("hello {name}")}));
        log.line(json!({"role": "assistant", "text": "hi", "usage": usage})).write(folder.path(), &format!("{name}.jsonl"));
    }
    let logs = folder.path().to_string_lossy().into_owned();
    for words in [&["inspect", &logs][..], &["replay", &logs, "-p", "none"], &["cost", &logs, "-p", "none"]] {
        let screen = ctxsim(words).stdout().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(screen.contains("! 1 session is without recorded usage and instructions: figures lack the system prompt"), "{screen}");
        assert_eq!(screen.contains("of the bill that is recorded"), words[0] != "inspect", "{screen}");
    }
}

fn replayed(corpus: &Corpus, policy: &str, window: Option<u64>, model: Option<&str>) -> Replay {
    let catalog = Catalog::builtin().unwrap();
    let settings = ReplaySettings { window, model: model.map(str::to_owned), ..ReplaySettings::new(&catalog) };
    replay(corpus, &[Policy::load(policy).unwrap()], &settings).unwrap().remove(0)
}

/// Window, limit of a prompt, and where the window comes from.
fn window(corpus: &Corpus, window: Option<u64>, model: Option<&str>) -> (u64, u64, WindowFrom) {
    let replay = replayed(corpus, "none", window, model);
    (replay.outcomes[0].window, replay.outcomes[0].prompt_limit, replay.windows[0])
}

/// The head of a session of Codex: without a window, and with one.
fn codex(window: Option<u64>) -> Value {
    let mut head = json!({"agent": "codex", "version": "0.142.0", "model": "gpt-5.5"});
    window.into_iter().for_each(|window| head["window"] = window.into());
    head
}

#[test]
fn a_window_comes_from_the_flag_then_the_model_of_the_flag_then_the_log_then_the_catalogue() {
    let named = session(codex(Some(258_400)), 200_000, 1_000);
    assert_eq!(window(&named, Some(100_000), Some("gpt-5")), (100_000, 100_000, WindowFrom::Flag));
    // The model takes no larger prompt, unless the log shows one.
    assert_eq!(window(&named, Some(400_000), Some("gpt-5")), (400_000, 272_000, WindowFrom::Flag));
    let [short, long] = [272_000, 300_000].map(|prompt| session(json!({"agent": "a", "model": "gpt-5"}), prompt, 10));
    assert_eq!([&short, &long].map(|session| window(session, Some(400_000), None).1), [272_000, 400_000]);
    assert_eq!(window(&named, None, Some("gpt-5")), (400_000, 272_000, WindowFrom::Catalogue));
    // What is said of the limit is said of the model of the flag, whoever was recorded.
    assert_eq!(replayed(&named, "none", None, Some("gpt-5")).prompt_limits, [("gpt-5".to_owned(), 272_000, 400_000)]);
    assert!(replayed(&named, "none", None, Some("claude-opus-4-5")).prompt_limits.is_empty());
    // Codex names 95 % of the window that it reckons with.
    assert_eq!(window(&named, None, None), (272_000, 272_000, WindowFrom::Log));
    assert_eq!(replayed(&named, "none", None, None).own_windows, [("gpt-5.5".to_owned(), 272_000, 1_050_000)]);
    let silent = session(codex(None), 200_000, 1_000);
    assert_eq!(window(&silent, None, None), (1_050_000, 922_000, WindowFrom::Catalogue));
    assert!(replayed(&silent, "none", None, None).own_windows.is_empty());
    let unknown = session(json!({"agent": "a", "model": "nobody-knows-this"}), 1_000, 10);
    assert_eq!(window(&unknown, None, None).2, WindowFrom::Policy);
    let unknown = session(json!({"agent": "a", "model": "nobody-knows-this", "window": 64000}), 1_000, 10);
    assert_eq!(window(&unknown, None, None), (64_000, 64_000, WindowFrom::Log));
    // A model that is named is held to its window, though the recorded prompts were larger.
    assert_eq!(window(&named, None, Some("gpt-4")), (8_192, 8_192, WindowFrom::Catalogue));
    assert_eq!(replayed(&named, "none", None, Some("gpt-4")).totals.failed_sessions, 1);
    // Codex takes no window above 272,000 for a model's, whatever the provider takes.
    let limit = |corpus: &Corpus| replayed(corpus, "codex", None, None).thresholds;
    assert_eq!(limit(&silent), [Some(244_800)]);
    // The window that its log names goes first, whatever it is: nine tenths of 272,000, 372,000 and 500,000.
    let limits = |policy: &str| {
        [258_400, 353_400, 475_000].map(|named| replayed(&session(codex(Some(named)), 200_000, 10), policy, None, None).thresholds)
    };
    for policy in ["codex", "codex@remote-v2", "codex@token-budget"] {
        assert_eq!(limits(policy), [[Some(244_800)], [Some(334_800)], [Some(450_000)]], "{policy}");
    }
    // A model that the catalogue does not know says nothing.
    assert_eq!(window(&unknown, None, Some("nor-this")), (64_000, 64_000, WindowFrom::Log));
}

#[test]
fn what_was_recorded_did_fit_whatever_the_log_names() {
    // The reply goes beyond the named window, which is one of prompts: the agent goes by it all the same.
    let beyond = session(json!({"agent": "codex", "version": "0.57.0", "model": "gpt-5-codex", "window": 258400}), 271_000, 5_000);
    assert_eq!(window(&beyond, None, None), (276_000, 272_000, WindowFrom::Log));
    let larger = session(json!({"agent": "a", "model": "claude-opus-4-5", "window": 100000}), 150_000, 1_000);
    assert_eq!(window(&larger, None, None), (151_000, 151_000, WindowFrom::Outgrown));
    assert_eq!(replayed(&larger, "none", None, None).totals.overflows, 0);
}

#[test]
fn policies_go_by_the_named_window() {
    let named = session(codex(Some(258_400)), 250_000, 1_000);
    let silent = session(codex(None), 250_000, 1_000);
    let over = |corpus: &Corpus| replayed(corpus, "opencode", None, None).totals.over_budget;
    assert_eq!((over(&named), over(&silent)), (1, 0));
}

/// What holds for a session of this agent on this host, day and largest prompt.
fn hosted(agent: &str, host: &str, model: &str, day: &str, prompt: u64) -> (u64, u64, WindowFrom) {
    let mut corpus = session(json!({"agent": agent, "model": model, "host": host}), prompt, 100);
    let time = format!("{day}T12:00:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond();
    corpus.traces[0].messages.iter_mut().for_each(|message| message.time = Some(time).into());
    window(&corpus, None, None)
}

#[test]
fn a_host_sets_limits_of_its_own_by_the_day() {
    let on = |host: &str, day: &str| hosted("opencode", host, "claude-sonnet-4.6", day, 50_000);
    assert_eq!(on("google-vertex", "2026-03-01"), (200_000, 200_000, WindowFrom::Catalogue));
    assert_eq!(on("anthropic", "2026-03-12"), (200_000, 200_000, WindowFrom::Host));
    assert_eq!(on("anthropic", "2026-03-13"), (1_000_000, 1_000_000, WindowFrom::Host));
    // A larger prompt shows that the bigger window was asked for.
    let asked = hosted("opencode", "anthropic", "claude-opus-4-6", "2026-03-12", 300_000);
    assert_eq!(asked, (1_000_000, 1_000_000, WindowFrom::Outgrown));
    assert_eq!(on("github-copilot", "2026-02-17"), (128_000, 128_000, WindowFrom::Host));
    assert_eq!(on("github-copilot", "2026-03-18"), (200_000, 200_000, WindowFrom::Host));
    assert_eq!(on("github-copilot", "2026-03-19"), (200_000, 128_000, WindowFrom::Host));
    assert_eq!(on("github-copilot", "2026-11-01"), (200_000, 168_000, WindowFrom::Host));
    // Before the first day that is known the first limits hold.
    assert_eq!(on("github-copilot", "2025-01-01"), (128_000, 128_000, WindowFrom::Host));
    // A subscription holds prompts to less than the maker does.
    let subscribed = |model: &str, day: &str| hosted("pi", "openai-codex", model, day, 50_000);
    assert_eq!(subscribed("gpt-5.3-codex", "2026-03-01"), (272_000, 272_000, WindowFrom::Host));
    for (model, limit) in [("gpt-6-astra", 272_000), ("gpt-6.1-sol", 500_000), ("gpt-6.2-sol", 500_000), ("gpt-6.2-astra", 272_000)] {
        assert_eq!(subscribed(model, "2026-11-21"), (limit, limit, WindowFrom::Host), "{model}");
    }
    assert_eq!(subscribed("gpt-6.1-sol", "2026-10-14").0, 272_000);
    // GitHub Copilot's later limits, among them those that have become the maker's.
    for (model, limits) in [
        ("gpt-5.5", (1_050_000, 922_000)),
        ("claude-opus-5", (1_000_000, 936_000)),
        ("gemini-3.8-flash", (1_000_000, 936_000)),
        ("grok-4.7", (500_000, 372_000)),
        ("kimi-k2.7-code", (256_000, 224_000)),
        ("mai-code-1-flash-picker", (256_000, 128_000)),
    ] {
        let (window, prompt, _) = hosted("opencode", "github-copilot", model, "2026-11-01", 50_000);
        assert_eq!((window, prompt), limits, "{model}");
    }
}

#[test]
fn an_agent_takes_limits_of_its_own_from_their_day_on() {
    let at = |agent: &str, host: &str, model: &str, day: &str| {
        let (window, prompt, _) = hosted(agent, host, model, day, 50_000);
        (window, prompt)
    };
    // pi stays in the tier of short prompts.
    assert_eq!(at("pi", "openai", "gpt-5.4", "2026-05-01"), (272_000, 272_000));
    assert_eq!(at("pi", "openai", "gpt-6.2-sol", "2026-11-21"), (272_000, 272_000));
    assert_eq!(at("opencode", "openai", "gpt-5.4", "2026-05-01"), (1_050_000, 922_000));
    // Before its own limits begin those of all agents hold, and after that no newer ones of all agents.
    assert_eq!(at("pi", "github-copilot", "claude-opus-4.8", "2026-07-08"), (200_000, 168_000));
    assert_eq!(at("pi", "github-copilot", "claude-opus-4.8", "2026-07-09"), (1_000_000, 1_000_000));
    assert_eq!(at("opencode", "github-copilot", "claude-opus-4.8", "2026-07-09"), (200_000, 168_000));
    assert_eq!(at("pi", "github-copilot", "gpt-5.4", "2026-07-17"), (1_000_000, 922_000));
    // Without limits of all agents the maker's hold before.
    assert_eq!(at("opencode", "anthropic", "claude-sonnet-4-5", "2026-07-16"), (200_000, 200_000));
    assert_eq!(at("opencode", "anthropic", "claude-sonnet-4-5", "2026-07-17"), (1_000_000, 1_000_000));
    assert_eq!(at("pi", "anthropic", "claude-sonnet-4-5", "2026-07-17"), (200_000, 200_000));
    // Crush has a list of its own, which took 1,000,000 tokens of Claude 4.6 for some months, and names its hosts otherwise.
    for (day, window) in [("2026-03-15", 200_000), ("2026-03-16", 1_000_000), ("2026-06-29", 1_000_000), ("2026-09-20", 200_000)] {
        assert_eq!(at("crush", "anthropic", "claude-sonnet-4-6", day), (window, window), "{day}");
        assert_eq!(at("crush", "anthropic", "claude-opus-4-6", day), (window, window), "{day}");
    }
    assert_eq!(at("crush", "copilot", "gpt-5.4", "2026-09-20"), (400_000, 400_000));
    assert_eq!(at("crush", "copilot", "claude-opus-4.8", "2026-06-06"), (264_000, 264_000));
    assert_eq!(at("crush", "bedrock", "us.anthropic.claude-sonnet-4-6", "2026-09-20"), (1_000_000, 1_000_000));
    // Windows of models.dev for a maker's own host are of those that load it, the limits of other hosts of all.
    for (agent, window) in [("hermes", 1_000_000), ("cline-cli", 1_000_000), ("pi", 1_000_000), ("zed", 200_000), ("mine", 200_000)] {
        assert_eq!(at(agent, "anthropic", "claude-sonnet-4-6", "2026-09-20"), (window, window), "{agent}");
        assert_eq!(at(agent, "github-copilot", "gpt-5.1", "2026-02-01").1, 128_000, "{agent}");
    }
    // Claude Code takes 200,000 on clouds unless [1m] was asked for, which a larger prompt shows.
    let on_cloud = |host: &str, day: &str, prompt: u64| hosted("claude-code", host, "claude-opus-4-8", day, prompt);
    assert_eq!(on_cloud("amazon-bedrock", "2026-07-21", 50_000), (200_000, 200_000, WindowFrom::Host));
    assert_eq!(on_cloud("vertexai", "2026-08-21", 300_000), (1_000_000, 1_000_000, WindowFrom::Host));
    assert_eq!(on_cloud("amazon-bedrock", "2026-07-20", 50_000).0, 1_000_000);
    // Cline holds a subscription to 95 % of 272,000.
    assert_eq!(at("cline-cli", "openai-codex", "gpt-5.5", "2026-09-30"), (400_000, 258_400));
}

#[test]
fn the_table_of_hosts_names_models_of_the_catalogue_day_after_day() {
    let catalog = Catalog::builtin().unwrap();
    let table: toml::Table = toml::from_str(include_str!("../../catalog/hosts.toml")).unwrap();
    let rows = table["limits"].as_array().unwrap();
    let text = |row: &toml::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let number = |row: &toml::Value, key: &str| row.get(key).and_then(toml::Value::as_integer);
    let mut last = (String::new(), String::new(), String::new(), String::new());
    for row in rows {
        let agent = row.get("agent").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        let place = (text(row, "host"), text(row, "model"), agent, text(row, "from"));
        assert!(place > last, "{place:?} does not stand behind {last:?}");
        assert_eq!(catalog.find(&place.1).map(|model| model.id.as_str()), Some(place.1.as_str()));
        assert!(number(row, "max_input").is_none_or(|limit| Some(limit) <= number(row, "context")), "{place:?}");
        last = place;
    }
}

#[test]
fn the_sessions_own_compactions_tell_a_window_that_the_server_sets() {
    let compacted = |version: &str, tokens: u64, automatic: bool| {
        let mut corpus = session(json!({"agent": "claude-code", "version": version, "model": "claude-sonnet-4-5"}), tokens, 1_000);
        // The call before the one that brings it on brought none on.
        let call = corpus.traces[0].calls[0].clone();
        corpus.traces[0].calls.push(call);
        corpus.traces[0].compactions.push(CompactionRow { automatic: Some(automatic), ..made::compaction(2) });
        let (window, _, from) = window(&corpus, None, None);
        (window, from)
    };
    assert_eq!(compacted("2.1.119", 365_989, true), (400_000, WindowFrom::Compactions));
    // As the catalogue has it.
    assert_eq!(compacted("2.1.119", 165_000, true), (200_000, WindowFrom::Catalogue));
    // It compacts at 193,237 of a window of 200,000, whatever more one prompt takes: the provider's own window is the catalogue's.
    let limit_at_200_000 =
        replayed(&session(json!({"agent": "claude-code", "model": "claude-sonnet-4-5"}), 1_000, 10), "claude-code@early", None, None)
            .thresholds[0];
    let took = |model: &str, prompt: u64| {
        let head = json!({"agent": "claude-code", "version": "2.1.114", "model": model});
        let mut corpus = session(head, 150_000, 1_000);
        let calls = &mut corpus.traces[0].calls;
        let call = calls[0].clone();
        calls.push(call.clone());
        let usage = Usage { prompt, ..call.usage.get().unwrap() };
        calls.push(CallRow { usage: Some(usage).into(), ..call });
        let compaction = CompactionRow { automatic: Some(true), tokens_before: Some(193_237), ..made::compaction(2) };
        corpus.traces[0].compactions.push(compaction);
        let replay = replayed(&corpus, "claude-code@early", None, None);
        assert_eq!(replay.thresholds, [limit_at_200_000], "{model} {prompt}");
        (replay.outcomes[0].window, replay.outcomes[0].prompt_limit, replay.windows[0])
    };
    assert_eq!(took("deepseek-v4-pro", 190_000), (200_000, 200_000, WindowFrom::Compactions));
    assert_eq!(took("deepseek-v4-pro", 229_000), (1_000_000, 1_000_000, WindowFrom::Compactions));
    // So where the catalogue itself begins with 200,000: its bigger window is the provider's, if that was enough.
    assert_eq!(took("claude-sonnet-4-6", 190_000), (200_000, 200_000, WindowFrom::Catalogue));
    assert_eq!(took("claude-sonnet-4-6", 229_000), (1_000_000, 1_000_000, WindowFrom::Compactions));
    assert_eq!(took("claude-sonnet-4-6", 199_500), (1_000_000, 1_000_000, WindowFrom::Compactions));
    assert_eq!(took("claude-sonnet-4-6", 1_001_000), (1_002_000, 1_002_000, WindowFrom::Outgrown));
    assert_eq!(took("claude-opus-4-5", 229_000), (230_000, 230_000, WindowFrom::Outgrown));
    // A session that begins with a copy of a larger one compacts at once, and then at its own limit.
    let mut corpus = session(json!({"agent": "claude-code", "version": "2.1.226", "model": "claude-opus-5"}), 203_000, 100);
    let call = corpus.traces[0].calls[0].clone();
    let used = |message: u32, prompt: u64| {
        let usage = Usage { prompt, ..call.usage.get().unwrap() };
        CallRow { message, usage: Some(usage).into(), ..call.clone() }
    };
    corpus.traces[0].calls = [203_000, 204_000, 165_000, 166_000, 165_500, 166_400]
        .iter()
        .zip(1..)
        .map(|(prompt, at)| used(at, *prompt))
        .collect::<Vec<_>>()
        .into();
    corpus.traces[0].compactions = [(3, 213_000), (5, 167_009), (7, 166_612)]
        .map(|(before, size)| CompactionRow { before, automatic: Some(true), tokens_before: Some(size), ..made::compaction(before) })
        .into();
    let replay = replayed(&corpus, "claude-code@early", None, None);
    assert_eq!((replay.thresholds[0], replay.windows[0]), (limit_at_200_000, WindowFrom::Compactions));
    // What stood above the limit from the first call on compacted there: that call names no larger window.
    let mut corpus = session(json!({"agent": "claude-code", "version": "2.1.92", "model": "claude-haiku-4-5"}), 173_900, 100);
    corpus.traces[0].calls = [173_900, 178_500, 178_600].iter().zip(1..).map(|(prompt, at)| used(at, *prompt)).collect::<Vec<_>>().into();
    corpus.traces[0].compactions = [(2, 177_860), (3, 179_106)]
        .map(|(before, size)| CompactionRow { before, automatic: Some(true), tokens_before: Some(size), ..made::compaction(before) })
        .into();
    assert_eq!(window(&corpus, None, None), (200_000, 200_000, WindowFrom::Catalogue));
    // By hand it may happen anywhere, and the rules of earlier versions are others.
    assert_eq!(compacted("2.1.119", 365_989, false).1, WindowFrom::Outgrown);
    assert_eq!(compacted("2.0.76", 365_989, true).1, WindowFrom::Outgrown);
}

/// Claude Code tries three times in a row to compact, and makes each call all the same: more calls above its limit than that show that another one
/// was in force. The last call of a log may be the one behind which a compaction would have come.
#[test]
fn calls_above_the_agents_own_limit_without_a_compaction_show_a_larger_window() {
    let folder = tempfile::tempdir().unwrap();
    let took = |model: &str, version: &str, prompts: &[u64]| {
        let head = json!({"session": "on", "agent": "claude-code", "version": version, "model": model});
        let log = prompts.iter().fold(Native::new(head), |log, prompt| log.asked(&format!("go on at {prompt}"), "yes", prompt * 1_000, 0));
        let corpus = corpus(&Catalog::builtin().unwrap(), &[Path::new(&log.write(folder.path(), "on.jsonl"))]);
        window(&corpus, None, None)
    };
    let above = [100, 168, 170, 172, 174, 176];
    assert_eq!(took("claude-opus-4-6", "2.1.110", &above), (1_000_000, 1_000_000, WindowFrom::Uncompacted));
    // A model without a longer window: the next one that the agent knows.
    assert_eq!(took("claude-opus-4-5", "2.1.110", &above), (400_000, 400_000, WindowFrom::Uncompacted));
    let usual = (200_000, 200_000, WindowFrom::Catalogue);
    // Three calls that another one follows are not enough, and what went back below the limit was no longer above it.
    assert_eq!(took("claude-opus-4-6", "2.1.110", above.split_last().unwrap().1), usual);
    assert_eq!(took("claude-opus-4-6", "2.1.110", &[168, 170, 40, 168, 170, 40, 172, 40]), usual);
    // Below the limit, and where the larger window is the catalogue's own.
    assert_eq!(took("claude-opus-4-6", "2.1.110", &[100, 160, 162, 163, 164, 165, 166]), usual);
    // The limit of early versions is 155,000.
    assert_eq!(took("claude-opus-4-6", "2.0.76", &above), (1_000_000, 1_000_000, WindowFrom::Uncompacted));
    let below = [100, 150, 151, 152, 153, 154, 154];
    assert_eq!([took("claude-opus-4-6", "2.0.76", &below), took("claude-opus-4-6", "2.1.20", &below)], [usual, usual]);
    assert_eq!(took("claude-opus-4-7", "2.1.119", &above), (1_000_000, 1_000_000, WindowFrom::Catalogue));
}

#[test]
fn a_note_says_what_a_window_without_compactions_rests_on() {
    let folder = tempfile::tempdir().unwrap();
    let head = json!({"session": "on", "agent": "claude-code", "version": "2.1.110", "model": "claude-opus-4-6"});
    let log = (168..176).fold(Native::new(head), |log, prompt| log.asked(&format!("go on at {prompt}"), "yes", prompt * 1_000, 0));
    let path = log.write(folder.path(), "on.jsonl");
    let words =
        |more: &[&str]| ctxsim(&["replay", &path, "-p", "none"]).args(more).stdout().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words(&[]).contains("! No compaction above the agent's own limit in 1 session: 1.00M taken; --window N sets it"),
        "{}",
        words(&[])
    );
    assert!(
        words(&["--details"]).contains("the next larger one is taken, in tokens: claude-opus-4-6 (1,000,000). --window N sets another.")
    );
}
