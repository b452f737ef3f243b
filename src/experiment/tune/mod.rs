//! The cheapest setting of one policy that keeps its constraints: sought on some sessions, judged on the others.

mod asked;
mod bound;
mod decided;
mod run;
mod search;
mod space;
mod split;
mod verdict;

pub use asked::Tune;
pub use bound::Bound;
pub use decided::Decided;
pub use space::Axis;
pub use split::{HELD_OUT_PERCENT, Part, Split, split};
pub use verdict::{FEWEST, Trial, Tuned, Verdict, telling};
