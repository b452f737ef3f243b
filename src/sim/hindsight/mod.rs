//! What could have been kept of the references to lines, now that the whole session is known: by the oracle, and by any policy at most.
//!
//! Both stand beside a policy, at its own budget: at each call they carry no more tokens than the policy did. `docs/references.md` says what they may
//! do and proves the bound.

mod beside;
mod bound;
mod lookahead;
mod oracle;

pub use super::needs::{Need, Way, costs};
pub(super) use beside::add;
pub use beside::in_hindsight;
pub use lookahead::{Lookahead, Source};
