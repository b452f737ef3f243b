//! Agents' own configuration: keys that their documentation knows, and snippets that say what the policy says when they are read back.

use crate::support::{scripted, shared};
use ctxsim::advice::Unset;
use ctxsim::policy::{ConfigurationFile, Policy, Syntax, presets};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

/// What the agents' documentation names, by preset's system: the page of facts, and how its keys begin.
const DOCUMENTED: [(&str, &str, &[&str]); 21] = [
    ("opencode", "opencode.md", &["compaction.", "tool_output.", "OPENCODE_", "PRUNE_"]),
    (
        "codex",
        "codex.md",
        &["model_auto_compact_token_limit", "tool_output_token_limit", "model_context_window", "COMPACT_USER_MESSAGE_MAX_TOKENS"],
    ),
    ("kilo", "../policies-2026-11/kilo-7.7.9.md", &["compaction.", "tool_output."]),
    ("kimi-code", "../policies-2026-11/kimi-code-2.1.0.md", &["loop_control.", "COMPACT_", "DEFAULT_", "TOOL_RESULT_"]),
    ("zed", "../policies-2026-11/zed-1.14.md", &["agent.auto_compact."]),
    ("pi", "pi.md", &["compaction."]),
    (
        "claude-code",
        "claude-code.md",
        &["env.", "autoCompact", "DISABLE_AUTO_COMPACT", "idleCompaction", "CLAUDE_", "BASH_MAX_OUTPUT_LENGTH", "TASK_MAX_OUTPUT_LENGTH"],
    ),
    ("gemini-cli", "gemini-cli.md", &["model.", "tools.", "contextManagement.tools.outputMasking."]),
    ("qwen-code", "../policies-2026-11/qwen-code-0.24.4.md", &["model.chatCompression.", "tools.", "context."]),
    ("cline", "../policies-2026-11/cline-3.0.65.md", &["compactionEnabled", "CLINE_MESSAGE_BUILDER_", "DEFAULT_"]),
    ("picoclaw", "picoclaw.md", &["agents.defaults.", "messages that summarizeSession keeps"]),
    ("baseagent", "baseagent.md", &[]),
    ("mycoder", "mycoder.md", &["contextWindow", "preserveRecentMessages"]),
    ("langchain", "langchain-deepagents.md", &["trigger", "keep", "max_tokens"]),
    ("goose", "../policies-2026-11/goose-newer.md", &["GOOSE_"]),
    ("copilot-cli", "../policies-2026-11/copilot-cli-1.0.80.md", &["infiniteSessions."]),
    // Read in their sources alone: kimi_cli/config.py, vibe/core/config/vibe_schema.py.
    ("kimi-cli", "", &["loop_control.", "max_preserved_messages"]),
    ("mistral-vibe", "", &["auto_compact_threshold", "COMPACT_USER_MESSAGE_MAX_TOKENS"]),
    // docs/reference/session-management-compaction.md of openclaw/openclaw.
    ("openclaw", "", &["agents.defaults.compaction."]),
    // The arguments of strands.agent.conversation_manager, and of google.adk.apps and google.adk.plugins.
    ("strands", "", &["window_size", "summary_ratio", "preserve_recent_messages"]),
    ("google-adk", "", &["compaction_interval", "token_threshold", "event_retention_size", "num_invocations_to_keep", "remove_amount"]),
];

/// Keys that the pages of facts do not spell out, with what does.
const ELSEWHERE: [(&str, &str); 23] = [
    // Constants in the source of Kimi Code 2.1.0, packages/agent-core-v2/src/agent.
    ("kimi-code", "COMPACT_USER_MESSAGE_MAX_TOKENS"),
    ("kimi-code", "COMPACT_USER_MESSAGE_HEAD_TOKENS"),
    ("kimi-code", "DEFAULT_TOOL_RESULT_MAX_CHARS"),
    ("kimi-code", "TOOL_RESULT_MAX_LINE_CHARS"),
    ("kimi-code", "TOOL_RESULT_PREVIEW_HEAD_CHARS"),
    ("kimi-code", "TOOL_RESULT_PREVIEW_TAIL_CHARS"),
    // Claude Code's change log of 2.1.299, and tools that read its settings.
    ("claude-code", "idleCompaction"),
    ("claude-code", "CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS"),
    // Its documentation of environment variables, 2026-08-22.
    ("claude-code", "CLAUDE_CODE_DISABLE_1M_CONTEXT"),
    // Cline's sources: services/global-settings.ts, session/services/message-builder.ts, extensions/context/compaction-shared.ts.
    ("cline", "compactionEnabled"),
    ("cline", "CLINE_MESSAGE_BUILDER_MAX_TOOL_RESULT_CHARS"),
    ("cline", "DEFAULT_PRESERVE_RECENT_TOKENS"),
    // As in OpenCode, of which it is a fork.
    ("kilo", "auto"),
    // The settings reference of Gemini CLI, docs/reference/configuration.md, `contextManagement`.
    ("gemini-cli", "protectionThresholdTokens"),
    ("gemini-cli", "minPrunableThresholdTokens"),
    // Gemini CLI up to 0.11.2: packages/cli/src/config/settingsSchema.ts, core/src/core/client.ts.
    ("gemini-cli", "contextPercentageThreshold"),
    // Codex's configuration reference and its source.
    ("codex", "model_context_window"),
    ("codex", "COMPACT_USER_MESSAGE_MAX_TOKENS"),
    // Constants in the source of OpenCode, packages/opencode/src/session/compaction.ts.
    ("opencode", "PRUNE_PROTECT"),
    ("opencode", "PRUNE_MINIMUM"),
    // The settings reference of Qwen Code, `tools` and `model.chatCompression`.
    ("qwen-code", "maxRecentFilesToRetain"),
    ("qwen-code", "truncateToolOutputThreshold"),
    ("qwen-code", "truncateToolOutputLines"),
];

fn configured() -> Vec<Policy> {
    let all = presets().iter().map(|preset| Policy::parse(preset.name, preset.text).unwrap());
    all.filter(|policy| !policy.configuration_files().is_empty()).collect()
}

fn system(policy: &Policy) -> &str {
    policy.name.split('@').next().unwrap()
}

#[test]
fn every_key_belongs_to_a_parameter_and_is_documented() {
    let pages = shared().map(|shared| shared.join("design/policies"));
    let policies = configured();
    for (name, ..) in DOCUMENTED {
        assert!(policies.iter().any(|policy| system(policy) == name), "{name} has lost its configuration");
    }
    for policy in &policies {
        let Some((_, page, beginnings)) = DOCUMENTED.iter().find(|(name, ..)| *name == system(policy)) else {
            panic!("{} is not in the table", policy.name)
        };
        let facts = pages.as_ref().and_then(|pages| std::fs::read_to_string(pages.join(page)).ok());
        for file in policy.configuration_files() {
            for (param, key) in &file.keys {
                // A preset that extends another one may have left a parameter out; its own presets hold all that they name.
                let known = policy.params.contains_key(param);
                assert!(known || policy.name.contains('@'), "{}: no parameter {param}", policy.name);
                let last = key.path().rsplit('.').next().unwrap();
                let elsewhere = ELSEWHERE.iter().any(|(name, known)| *name == system(policy) && *known == last);
                let prose = file.syntax == Syntax::Source && last.contains(' ');
                let begins = beginnings.is_empty() || beginnings.iter().any(|beginning| key.path().starts_with(beginning));
                assert!(prose || begins, "{}: `{}` of {}", policy.name, key.path(), file.file);
                let Some(facts) = &facts else { continue };
                assert!(
                    elsewhere || prose || facts.to_lowercase().contains(&last.to_lowercase()),
                    "{}: `{last}` of {} is not documented in {page}",
                    policy.name,
                    file.file
                );
            }
        }
    }
}

/// What each snippet says, read by another program in the language of the file.
fn read_back(snippets: &[(&ConfigurationFile, String)]) -> Option<Vec<BTreeMap<String, f64>>> {
    let mut child = scripted("configuration.py")?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = String::new();
    for (file, text) in snippets {
        let syntax = match file.syntax {
            Syntax::Json => "json",
            Syntax::Jsonc => "jsonc",
            Syntax::Toml => "toml",
            Syntax::Environment => "environment",
            Syntax::PythonDictionary => "python_dictionary",
            Syntax::PythonCall => "python_call",
            Syntax::Javascript => "javascript",
            Syntax::Source => "source",
        };
        lines += &format!("{}\n", serde_json::json!({ "syntax": syntax, "frame": file.frame, "text": text }));
    }
    // It answers line by line: one thread writes while the other reads.
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Each declared parameter is turned to the ends of its range; what the snippets say, set in the preset again, is the same policy.
#[test]
fn snippets_read_back_give_the_same_policy() {
    let (presets, mut turns, mut all) = (configured(), Vec::new(), Vec::new());
    for preset in &presets {
        for end in 0..2 {
            let mut turned = preset.clone();
            let ranges = preset.params.iter().filter_map(|(name, parameter)| Some((name.clone(), parameter.range?)));
            let keyed = |name: &String| preset.configuration_files().iter().any(|file| file.keys.contains_key(name));
            let names: Vec<String> = ranges
                .filter(|(name, _)| keyed(name))
                .map(|(name, range)| {
                    turned.set(&name, &if end == 0 { range.from } else { range.to }.to_string()).unwrap();
                    name
                })
                .collect();
            let snippets = turned.snippets(&names, &["measured\nand told".to_owned()]);
            assert_eq!(snippets.unset, [], "{}", preset.name);
            let files: Vec<(&ConfigurationFile, String)> = snippets
                .files
                .iter()
                .map(|snippet| {
                    let file = preset.configuration_files().iter().find(|file| file.file == snippet.file && file.syntax == snippet.syntax);
                    (file.unwrap(), snippet.text.clone())
                })
                .collect();
            turns.push((preset, turned, names, files.len()));
            all.extend(files);
        }
    }
    let Some(found) = read_back(&all) else { return };
    assert_eq!(found.len(), all.len());
    let mut found = all.iter().zip(&found);
    for (preset, turned, names, files) in turns {
        let mut again = preset.clone();
        for ((file, _), values) in found.by_ref().take(files) {
            for (path, value) in values {
                let (param, _) = file.keys.iter().find(|(name, key)| key.path() == path && names.contains(name)).unwrap();
                again.set(param, &value.to_string()).unwrap();
            }
        }
        assert_eq!(again, turned, "{}", preset.name);
    }
}

#[test]
fn what_cannot_be_configured_is_said_so() {
    let mut policy = Policy::load("opencode@1.15").unwrap();
    policy.set("tail_turns", "3").unwrap();
    policy.set("summary_tokens", "900").unwrap();
    let names = ["tail_turns", "summary_tokens", "usable", "prune_protect"].map(str::to_owned);
    let snippets = policy.snippets(&names, &["one".to_owned()]);
    assert_eq!(snippets.files[0].text, "// one\n{\n  \"compaction\": {\n    \"tail_turns\": 3\n  }\n}\n");
    assert_eq!((snippets.files[1].syntax, snippets.files[1].text.as_str()), (Syntax::Source, "PRUNE_PROTECT = 40000\n"));
    let unset: Vec<&str> = snippets.unset.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(unset, ["summary_tokens", "usable"]);
}

/// A value that stands for no such setting has no key; percent is taken where a share or percent is meant, and nowhere else.
#[test]
fn none_and_percent_are_written_as_the_agents_have_them() {
    for (name, param) in [("codex", "model_auto_compact_token_limit"), ("claude-code@early", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")] {
        let policy = Policy::load(name).unwrap();
        let snippets = policy.snippets(&[param.to_owned()], &[]);
        assert_eq!((snippets.files.len(), snippets.unset.as_slice()), (0, [(param.to_owned(), Unset::LeftOut)].as_slice()), "{name}");
    }
    let written = |name: &str, param: &str, value: &str| {
        let mut policy = Policy::load(name).unwrap();
        policy
            .set(param, value)
            .map(|()| policy.snippets(&[param.to_owned()], &[]).files[0].text.clone())
            .map_err(|error| error.to_string())
    };
    assert!(written("claude-code@early", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "60%").unwrap().contains("\"60\""));
    assert!(written("gemini-cli", "compressionThreshold", "60%").unwrap().contains("0.6"));
    assert!(written("codex", "model_auto_compact_token_limit", "150k").unwrap().contains("= 150000"));
    let refused = written("pi", "keepRecentTokens", "50%").unwrap_err();
    assert!(refused.contains("`keepRecentTokens`: `50%` of what? It counts tokens"), "{refused}");
}
