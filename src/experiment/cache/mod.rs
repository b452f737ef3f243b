//! What recorded usage says of the prompt cache: what each call read, beside what it was expected to read, and why it read less.

mod breaks;
mod cause;
mod step;

pub use breaks::{CacheBreak, CacheReads, GAPS, Kept, Reads, cache_reads, lacks, paid_again, reads_of};
pub use cause::Cause;
pub use step::{Before, Step, Steps};
