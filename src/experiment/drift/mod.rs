//! How far estimates are from recorded usage, and why: compared, taken apart, held out, priced in tokens of safety.

mod along;
mod buffer;
mod calibrate;
mod consequence;
mod estimators;
mod figures;
mod findings;
mod fit;
mod halves;
mod hidden;
mod predict;
mod regression;
mod sample;
mod separate;

pub use crate::statistics::Interval;
pub use along::{STRETCHES, Stretch};
pub use buffer::{Buffer, LEVELS};
pub use calibrate::{Calibrated, document};
pub use consequence::{Consequence, Counts};
pub use estimators::{Estimates, Uncounted};
pub use figures::{Figures, Pair, PairList, Ratios, Worst};
pub use findings::{Along, Buffers, Comparison, DriftSettings, Findings, Paired, Pairs, Use, drift, pairs};
pub use fit::{EVIDENCE, FamilyCosts};
pub use hidden::{Overhead, Spread};
pub use predict::{Method, Prediction};
pub use regression::{Basis, COSTS, Costs};
pub use sample::{Amount, Content, Grown, Growth, LeftOut, Observation, Session, is_shrunk_unnoted, observe, shrunk_unnoted};
pub use separate::{Parts, Separated};
