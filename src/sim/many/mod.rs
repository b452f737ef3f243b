//! Many replays of one session: what they have in common is worked out once.

mod batch;
mod decision;
mod family;
mod observer;
mod shared;

pub use batch::{Batch, BatchOutcome};
pub use shared::SharedSession;
