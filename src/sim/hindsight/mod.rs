//! What could have been kept of the references to lines, now that the whole session is known: by the oracle, and by any policy at most.
//!
//! Both stand beside a policy, at its own budget: at each call they carry no more tokens than the policy did. `docs/references.md` says what they may
//! do and proves the bound.

mod beside;
mod bound;
mod lookahead;
pub(super) mod needed;
mod needs;
mod oracle;

pub(super) use beside::add;
pub use beside::in_hindsight;
pub use lookahead::{Lookahead, Source};
pub use needed::costs;
pub use needs::{Need, Way};
