//! One test binary; a module for each room or promise.

mod counting;
mod scale;
