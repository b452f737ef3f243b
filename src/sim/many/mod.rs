//! Many replays of one session: what they have in common is worked out once.

mod batch;
mod cuts;
mod decision;
mod delta;
mod deltas;
mod family;
mod observer;
mod shared;

pub use batch::{Account, Batch, BatchOutcome};
pub use shared::SharedSession;
