//! What many numbers say, each of it defined once: quantiles, intervals, resamples, chance with a seed.

mod chance;
mod quantile;
mod resampling;

pub use chance::Chance;
pub use quantile::{between, median, quantile, rank};
pub use resampling::{Interval, interval, resamples, weights};
