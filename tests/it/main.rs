//! One test binary; a module for each room or promise.
/// The rules of the house: who may know whom, and what no room may hold.
mod architecture;
/// Recorded compactions beside predicted ones: a made session, the samples, real files.
mod backtest;
/// Databases that no agent wrote so.
#[cfg(feature = "sqlite")]
mod bad_databases;
/// Files that no agent wrote so: empty, binary, cut, huge, absurd.
mod bad_input;
/// Settings that fly together come to the sums of each by itself.
mod batch;
/// Chromium through its driver, for pages.
mod browser;
/// Bills held against recordings.
mod calibration;
mod catalog;
/// Charts: golden pictures, words that never meet, files from outside.
mod chart;
/// Charts of more policies than anybody could tell apart.
mod chart_many;
/// The program from outside: forms, exit codes, sentences.
mod cli;
/// Agents' own configuration: documented keys, snippets read back.
mod configuration;
/// Sessions written down in another shape, and without their words: a replay gives the same numbers.
mod convert;
/// Money: prices, prompt caches, bills; real files against an independent count.
mod cost;
/// Damaged files, format by format: the same figures, or the loss named.
mod damage;
/// The same bytes for any number of threads and order of files, and from measured traces.
mod determinism;
/// `ctxsim diff`: where two policies part.
mod diff;
/// The one door for writing: every option that writes, against all that must not be written over.
#[cfg(unix)]
mod door;
/// Drift: the example worked by hand, bars on recorded sessions, calibration.
mod drift;
/// `ctxsim explain`, line by line.
mod explain;
/// Sessions that a policy fails: where they end, what still counts, how they rank.
mod failed;
/// Pictures: their size by the first bytes of their base64 text.
mod format_image;
/// Compact JSON, and escapes of half characters.
mod format_json;
/// `ctxsim gate`: limits, baselines, forms, exit codes.
mod gate;
/// `--help` of every command: it fits the page, and its examples run.
mod help;
/// A cloned repository with settings, names, links and pipes that mean harm.
#[cfg(unix)]
mod hostile_repository;
/// What logs hold, against the raw files and the samples' own page.
mod inspect;
/// Two totals: with and without the calls of sub-agents that are only mirrored.
mod mirrors;
/// The oracle and the bound beside policies and beside every possible choice.
mod oracle;
/// What `cargo package` would publish.
mod package;
/// Files that were packed: whole, cut off, in several frames.
mod packed;
/// `ctxsim report`: files, the page in a browser, hostile names.
mod page;
/// Policies: the session worked by hand, the main facts of each preset, properties.
mod policies;
/// `ctxsim policy`: words, schema, what cannot work.
mod policy_commands;
/// Policies as documents: presets, inheritance, mistakes.
mod policy_documents;
/// Main facts of the presets of other systems: thresholds, comparisons, what is kept.
mod policy_systems;
/// A project's defaults, the demo, completions and manual pages.
mod project;
/// What agents read again after recorded compactions.
mod read_again;
/// Records of the agents' latest versions, and older ones that recorded files rarely show, in a few lines each.
mod read_agent_variants;
/// aider: the chat's history and the requests'.
mod read_aider;
/// Anthropic Messages: exchanges joined to sessions, documents, messages.
mod read_anthropic_messages;
/// Harbor's trajectories: copied steps, handoffs, mocked usage.
mod read_atif;
/// BaseAgent's events.
mod read_baseagent;
/// Claude Code: real files against an independent count, and the traps of the format one by one.
mod read_claude_code;
/// Cline, Roo and Kilo: a task's two files, or the screen's list alone.
mod read_cline;
/// Sessions of the Cline CLI.
mod read_cline_cli;
/// Codex CLI rollouts.
mod read_codex;
/// GitHub Copilot CLI events: no prompts by call, totals at the exit.
mod read_copilot_cli;
/// Crush and the archived Go OpenCode.
#[cfg(feature = "sqlite")]
mod read_crush;
/// Cut and garbled files.
mod read_damaged;
/// DeepSeek Harness events.
mod read_deepseek_harness;
/// Exchanges with models' interfaces: logs of several dialects, cassettes, streams.
mod read_exchanges;
/// Sessions of Factory Droid, with their settings beside.
mod read_factory_droid;
/// Gemini CLI chats.
mod read_gemini_cli;
/// goose: databases and lines.
mod read_goose;
/// Sessions of the Grok CLI: updates, history, the log of requests.
mod read_grok_cli;
/// Inspect AI: archives and logs, attachments, pools of messages.
mod read_inspect;
/// Events of Junie.
mod read_junie;
/// Kimi CLI contexts.
mod read_kimi_cli;
/// Wires of Kimi Code.
mod read_kimi_code;
/// Conversations of Kiro CLI: values, databases, streams.
mod read_kiro_cli;
/// Requests with their responses as LiteLLM logs them, joined to sessions.
mod read_litellm;
/// mini-swe-agent trajectories.
mod read_mini_swe_agent;
/// Sessions of Muse Code.
mod read_muse;
/// MyCoder's lists of messages.
mod read_mycoder;
/// The program's own shape, and the example of its documentation.
mod read_native;
/// OpenAI chat messages in their many wrappings.
mod read_openai_chat;
/// OpenCode's exports and storage trees.
mod read_opencode;
/// OpenCode's database, which is read without a trace.
#[cfg(feature = "sqlite")]
mod read_opencode_database;
/// OpenHands: evaluations, resolver, lists of events.
mod read_openhands;
/// OpenHands' SDK: conversations in folders, events, evaluations.
mod read_openhands_sdk;
/// Sessions of pi and OpenClaw: lists, trees, damage.
mod read_pi;
/// PicoClaw sessions.
mod read_picoclaw;
/// Qwen Code chats.
mod read_qwen_code;
/// Requests whose replies come back in another shape, and the streams that replies come in.
mod read_replies;
/// SWE-agent trajectories.
mod read_swe_agent;
/// Conversations without usage: ShareGPT, AutoGen, printed talks.
mod read_talks;
/// tau2-bench: agent and simulated user told apart.
mod read_tau2;
/// The first tau-bench.
mod read_tau_bench;
/// Langfuse and OpenTelemetry: innermost calls, shapes of messages, dialects of usage.
mod read_telemetry;
/// Optional fields and forms that descriptions name and no recorded file shows, in a few lines each.
mod read_variants;
/// VS Code chat exports.
mod read_vscode_chat;
/// The recording and the user's own agents beside policies, on sessions made for it.
mod recording;
/// References: what later messages take up again, and what policies lose of it.
mod references;
/// The closed loop: what is read again, by hand and by properties.
mod refetch;
/// Every form of a report: pages, and words of others that stay words.
mod render;
/// The sample corpus and its table.
mod samples;
/// Every real file: who claims it, and its calls against its row and an independent count.
mod sources;
/// Growth of time and memory, from outside.
mod speed;
/// Sums by reader and by independent script.
mod sums;
/// What tests of readers share.
mod support;
/// What is typed: one name for one thing, options that fit, files that are not written over.
mod typed;
mod usage;

/// Every golden vector, through the presets.
mod conformance;
mod counting;
/// Licences of all that is built in, and advisories.
mod licences;
/// The README's report and commands.
mod manual;
mod marks;
/// One door for reading: streams, links, devices, bounds.
mod reading;
mod scale;
/// Many settings: designs, constraints, the same bytes after a kill.
mod sweep;
/// Truth: shares, exact reproduction of recorded prompts, anchored prediction.
mod truth;
/// `ctxsim tune`: the optimum, held-out sessions, refusals.
mod tune;
/// Logs that begin in the middle: what they lack is conversation, and no overhead.
mod unseen;
/// Windows: from where they come, and which goes before which.
mod windows;
/// Texts that make tokenizers slow.
mod worst_strings;
