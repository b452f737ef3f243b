//! What many numbers say, each of it defined once: quantiles, what is drawn and how sure that makes a figure, the verdict on a difference, survival, the front of the
//! best, chance with a seed.

mod apportion;
mod chance;
mod front;
mod halving;
mod interval;
mod normal;
mod poisson;
mod quantile;
mod ranks;
mod sample;
mod survival;
mod verdict;
mod wilson;

pub use apportion::largest_remainder;
pub use chance::Chance;
pub use front::front;
pub use halving::first;
pub use interval::{Drawn, Estimate, Interval, RESAMPLES, Resamples, SEED, bounds, change, intervals, quotient, ratio, share};
pub use normal::LEVEL;
pub use poisson::{expected, expected_difference};
pub use quantile::{distinct, median, median_place, quantile, rank, sorted};
pub use ranks::rank_correlation;
pub use sample::{Deciding, DrawnBy, FEWEST, FEWEST_PROJECTS, Origin, Part, Sample, effective};
pub use survival::{Step, survival};
pub use verdict::{ANCHORED, Agreement, Bars, FINE, Finding, Keeping, WORTH, Within, agreement, finding, keeping, needed, showing};
pub use wilson::wilson;
