//! TRANSCRIPT -> TRACE: token counts, truth anchored on recorded usage. Texts end here.

mod behind;
mod build;
mod calibration;
mod contexts;
mod evidence;
mod json_strings;
mod kind;
mod known;
mod limit;
mod pieces;
mod prints;
mod readings;
mod references;
mod repetition;
mod scale;
mod skim;
mod thinking;
mod truth;
mod unseen;
mod wanted;

pub use build::{Measure, impossible_times, own_vocabulary, trace};
pub use evidence::Definition;
pub use prints::Runs;
pub use readings::searches;
pub use scale::{Content, PublicCounters, TextScale, forget_texts};
pub use skim::SkimScale;
pub use unseen::{overhead, unseen_above};
pub use wanted::{Kinds, Recall, Wanted};
