//! One test binary; a module for each room or promise.

/// Pictures: their size by the first bytes of their base64 text.
mod format_image;
/// Compact JSON, and escapes of half characters.
mod format_json;
/// Codex CLI rollouts.
mod read_codex;
/// Gemini CLI chats.
mod read_gemini_cli;
/// mini-swe-agent trajectories.
mod read_mini_swe_agent;
/// The program's own shape, and the example of its documentation.
mod read_native;
/// OpenAI chat messages in their many wrappings.
mod read_openai_chat;
/// What tests of readers share.
mod support;
