//! Readers, one file per format, and what all of them must do.

/// Sessions and events of Google's Agent Development Kit.
pub mod adk;
/// Records of the agents' latest versions, and older ones that recorded files rarely show, in a few lines each.
pub mod agent_variants;
/// Agno: sessions of agents and teams, in databases and in JSON.
pub mod agno;
/// Conversations of the AI SDK.
mod ai_sdk;
/// aider: the chat's history and the requests'.
pub mod aider;
/// Threads of Amp.
pub mod amp;
/// Anthropic Messages: exchanges joined to sessions, documents, messages.
pub mod anthropic_messages;
/// Harbor's trajectories: copied steps, handoffs, mocked usage.
pub mod atif;
/// BaseAgent's events.
pub mod baseagent;
/// Which reader claims a file.
mod claims;
/// Claude Code: real files against an independent count, and the traps of the format one by one.
pub mod claude_code;
/// What Claude Code asks over its own conversation, beside it.
mod claude_code_forks;
mod claude_code_returns;
/// Cline, Roo and Kilo: a task's two files, or the screen's list alone.
pub mod cline;
/// Sessions of the Cline CLI.
pub mod cline_cli;
/// Codex CLI rollouts.
pub mod codex;
/// Conversations that their provider shortened, of which the client drops what the compaction stands for.
mod compacted;
/// Sessions of Continue.
pub mod continue_dev;
/// Copies of a log under other names, shorter ones, and logs that only look alike.
mod copies;
/// GitHub Copilot CLI events: no prompts by call, totals at the exit.
pub mod copilot_cli;
/// Tasks of crewAI.
#[cfg(feature = "sqlite")]
pub mod crewai;
/// Crush and the archived Go OpenCode.
#[cfg(feature = "sqlite")]
pub mod crush;
/// Agents that cut their own history.
mod cuts;
/// Cut and garbled files.
pub mod damaged;
/// DeepSeek Harness events.
pub mod deepseek_harness;
/// Exchanges with models' interfaces: logs of several dialects, cassettes, streams.
pub mod exchanges;
/// Sessions of Factory Droid, with their settings beside.
pub mod factory_droid;
/// Gemini CLI chats.
pub mod gemini_cli;
/// Runs that Gemini CLI printed.
pub mod gemini_stream;
/// goose: databases and lines.
pub mod goose;
/// Sessions of the Grok CLI: updates, history, the log of requests.
pub mod grok_cli;
/// Hermes Agent: snapshots, lines, exports, the database with sessions that compactions part.
pub mod hermes;
/// Pictures: their size by the first bytes of their base64 text.
pub mod image;
/// Inspect AI: archives and logs, attachments, pools of messages.
pub mod inspect;
/// Compact JSON, and escapes of half characters.
pub mod json;
/// Events of Junie.
pub mod junie;
/// Kimi CLI contexts.
pub mod kimi_cli;
/// Wires of Kimi Code.
pub mod kimi_code;
/// Conversations of Kiro CLI: values, databases, streams.
pub mod kiro_cli;
/// Messages and states of LangChain and LangGraph.
pub mod langchain;
/// Requests with their responses as LiteLLM logs them, joined to sessions.
pub mod litellm;
/// Logs of calls that programs write themselves.
mod logged_calls;
/// Events of Claude Managed Agents.
pub mod managed_agents;
/// mini-swe-agent trajectories.
pub mod mini_swe_agent;
/// Sessions of Mistral Vibe: folders, sub-agents, the documents of its first version.
pub mod mistral_vibe;
/// Sessions of Muse Code.
pub mod muse;
/// MyCoder's lists of messages.
pub mod mycoder;
/// The program's own shape, and the example of its documentation.
pub mod native;
/// Sessions of the OpenAI Agents SDK.
#[cfg(feature = "sqlite")]
pub mod openai_agents;
/// OpenAI chat messages in their many wrappings.
pub mod openai_chat;
/// OpenCode's exports and storage trees.
pub mod opencode;
/// OpenCode's database, which is read without a trace.
#[cfg(feature = "sqlite")]
pub mod opencode_database;
/// OpenCode 2: its own table of messages, and exports of them.
#[cfg(feature = "sqlite")]
pub mod opencode_second;
/// OpenHands: evaluations, resolver, lists of events.
pub mod openhands;
/// OpenHands' SDK: conversations in folders, events, evaluations.
pub mod openhands_sdk;
/// Interfaces that say what Chat Completions says under other names.
mod own_interfaces;
/// Agents whose requests change what came before: instructions, what goes with one request alone, questions aside.
mod passing;
/// Sessions of pi and OpenClaw: lists, trees, damage.
pub mod pi;
/// PicoClaw sessions.
pub mod picoclaw;
/// Message lists of pydantic-ai.
pub mod pydantic_ai;
/// Qwen Code chats.
pub mod qwen_code;
/// What recorders keep beside the bodies, and bodies without their other half.
mod recorded_streams;
mod recorders;
/// Requests whose replies come back in another shape, and the streams that replies come in.
pub mod replies;
/// SWE-agent trajectories.
pub mod swe_agent;
/// Files whose references would make them far larger than they are.
pub mod swollen;
/// Conversations without usage: ShareGPT, AutoGen, printed talks.
pub mod talks;
/// tau2-bench: agent and simulated user told apart.
pub mod tau2;
/// The first tau-bench.
pub mod tau_bench;
/// Langfuse and OpenTelemetry: innermost calls, shapes of messages, dialects of usage.
pub mod telemetry;
/// LangSmith, lists of Langfuse, Jaeger and Tempo.
pub mod traced;
/// trae-agent trajectories.
pub mod trae_agent;
/// Optional fields and forms that descriptions name and no recorded file shows, in a few lines each.
pub mod variants;
/// VS Code chat exports.
pub mod vscode_chat;
/// Threads of Zed: usage of a turn, older versions, packed rows.
pub mod zed;
