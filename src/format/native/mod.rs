//! The program's own shape, for agents that are not listed: one line per session's head, message or event. `docs/native.md` describes it.
//! It is read, and it is what other formats are converted to.

mod measured;
mod read;
mod redact;
mod write;

pub use read::READER;
pub use redact::redacted;
pub use write::write;
