//! What many numbers say, each of it defined once: quantiles, intervals, resamples, survival, the front of the best, chance with a seed.

mod chance;
mod front;
mod quantile;
mod resampling;
mod survival;
mod wilson;

pub use chance::Chance;
pub use front::front;
pub use quantile::{between, median, quantile, rank};
pub use resampling::{Interval, interval, resamples, weights};
pub use survival::{Step, survival};
pub use wilson::wilson;
