//! Headings in `--help` that are marks.

/// The heading in `--help` of options that say where or what is written. The heading is the mark: a project's file sets none of them, nothing is
/// written for an option without it, and the tests find them by it.
pub const WRITES: &str = "What is written";

/// The heading of options that show content of logs. A project's file sets none of them.
pub const SHOWS: &str = "What is shown of the logs' content";

/// The heading of options that say which logs are read, and how: they stand behind those of the command itself.
pub const READS: &str = "Which logs, and how they are read";
