//! How files are read.

use super::selection::Selection;
use crate::catalog::Catalog;
use crate::estimate::{Engine, Vocabulary};
use crate::format::Reader;
use crate::measure::Wanted;
use crate::reading::Bounds;

/// How a corpus is read.
pub struct ReadSettings<'a> {
    /// Models by the names in logs.
    pub catalog: &'a Catalog,
    /// The model to take for every call.
    pub model: Option<String>,
    /// The reader to use for every file, instead of sniffing.
    pub format: Option<&'static Reader>,
    /// Engine that counts tokens.
    pub engine: Engine,
    /// The vocabulary for every text, instead of each model's own.
    pub vocabulary: Option<Vocabulary>,
    /// What every text is counted in beside it.
    pub vocabularies: Vocabularies,
    /// What is measured of logs beside sizes. A `.ctxtrace` holds what it holds.
    pub wanted: Wanted,
    /// How much of a file is read at most.
    pub bounds: Bounds,
    /// Dates and projects whose sessions are read.
    pub selection: Selection,
    /// Are sessions left out that another one started? It holds for conversions; what is read for a corpus is left out of it once copies are known
    /// ([`Corpus::leave_out_sub_agents`](super::Corpus::leave_out_sub_agents)).
    pub without_sub_agents: bool,
    /// Where the progress of reading is shown.
    pub progress: &'a (dyn Progress + Sync),
}

impl<'a> ReadSettings<'a> {
    /// Every file by its content, every text in its model's own vocabulary, within the usual bounds; progress is not shown.
    pub fn new(catalog: &'a Catalog) -> ReadSettings<'a> {
        ReadSettings {
            catalog,
            model: None,
            format: None,
            engine: Engine::default(),
            vocabulary: None,
            vocabularies: Vocabularies::default(),
            wanted: Wanted::default(),
            bounds: Bounds::default(),
            selection: Selection::default(),
            without_sub_agents: false,
            progress: &(),
        }
    }
}

/// In which vocabularies texts are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabularies {
    /// In each session's own vocabulary alone.
    #[default]
    Own,
    /// In `o200k_base` too, which most sessions' own is.
    O200kBase,
    /// In `o200k_base` and `cl100k_base` too, which takes about as long again.
    Public,
    /// In none: tokens are estimated from lengths, which is enough to say what was recorded.
    None,
}

/// Where the progress of reading is shown.
pub trait Progress {
    /// So many files will be read.
    fn files(&self, count: usize);
    /// One more file was read.
    fn file_done(&self);
}

/// No progress is shown.
impl Progress for () {
    fn files(&self, _: usize) {}
    fn file_done(&self) {}
}
