//! LOGS OF AGENTS, as they write them themselves: one file or folder an agent. None knows another.

pub mod aider;
pub mod autogen;
pub mod baseagent;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod copilot_cli;
pub mod crush;
pub mod deepseek_harness;
pub mod gemini_cli;
pub mod goose;
pub mod kimi_cli;
pub mod mini_swe_agent;
pub mod mycoder;
pub mod opencode;
pub mod openhands;
pub mod pi;
pub mod picoclaw;
pub mod qwen_code;
pub mod swe_agent;
pub mod vscode_chat;
