//! Many replays of one session: what they have in common is worked out once.

mod batch;
mod cuts;
mod decision;
mod family;
mod observer;
mod shared;
mod sway;
mod sways;

pub use batch::{Batch, BatchOutcome};
pub use shared::SharedSession;
