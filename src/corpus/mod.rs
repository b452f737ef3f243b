//! FILES -> TRACES: found, read on all cores, each message counted once, sums over them; `.ctxtrace` files, other formats and excerpts written from them.

mod convert;
mod counters;
mod discover;
mod excerpt;
mod facts;
mod forms;
mod gathered;
mod impose;
mod once;
mod overhead;
mod read;
mod segment;
mod selection;
mod settings;
mod stores;
mod tracefile;
mod unseen;

pub use convert::{ConvertError, Converted, Target, convert};
pub use discover::{Found, Home, discover, homes};
pub use excerpt::{Excerpts, excerpts, words_in};
pub use gathered::{Corpus, CorpusFacts, Duplicates, FileLoss, Mirrored, Skipped, UnseenFacts};
pub use impose::impose;
pub use overhead::{KnownOverheads, version};
pub use read::{Parts, joined, read, settled};
pub use segment::{Bounds, Segment, prompt_of, segment};
pub use selection::{ProjectPattern, Projects, Selected, Selection};
pub use settings::{Progress, ReadSettings, Vocabularies};
pub use stores::{is_log, session_in, store_of};
pub use tracefile::{TRACE_FORM, TraceFileError, is_trace_file, read_traces, read_traces_up_to, write_traces};
