//! One test binary; a module for each room or promise.

/// The sample corpus and its table.
mod samples;
