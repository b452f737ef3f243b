//! One test binary; a module for each room or promise.

/// Sums that scripts of another hand count from the raw files.
mod independent;
/// What several tests need.
mod support;

/// Pictures: their size by the first bytes of their base64 text.
mod format_image;
/// Anthropic Messages: exchanges joined to sessions, documents, messages; real files against an independent count.
mod read_anthropic_messages;
/// Claude Code: real files against an independent count, and the traps of the format one by one.
mod read_claude_code;
