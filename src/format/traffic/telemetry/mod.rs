//! Traces of model calls as observability tools keep them: spans that nest, of which the innermost ones with a model are the calls.

mod calls;
mod langfuse;
mod langsmith;
mod messages;
mod otlp;
mod spans;
mod tokens;

pub use langfuse::READER as LANGFUSE;
pub use langsmith::READER as LANGSMITH;
pub use otlp::READER as OTLP;
