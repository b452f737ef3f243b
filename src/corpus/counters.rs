//! Which vocabulary a session is counted in, and the counters, each loaded when it is first needed.

use super::settings::{ReadSettings, Vocabularies};
use crate::catalog::Catalog;
use crate::estimate::{Counter, CounterError, Vocabulary};
use crate::list::Gather;
use crate::measure::{PublicCounters, own_vocabulary};
use crate::trace::Trace;
use memchr::memmem;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) struct Counters<'a> {
    catalog: &'a Catalog,
    model: Option<&'a str>,
    forced: Option<Vocabulary>,
    counters: Vec<Arc<Counter>>,
    public: Option<PublicCounters>,
}

impl<'a> Counters<'a> {
    pub fn new(settings: &'a ReadSettings<'_>) -> Result<Counters<'a>, CounterError> {
        let vocabularies = Vocabulary::ALL.iter();
        let counters: Vec<Arc<Counter>> = match settings.vocabulary {
            _ if settings.vocabularies == Vocabularies::None => Vec::new(),
            Some(vocabulary) => vec![Arc::new(Counter::new(vocabulary, settings.engine)?)],
            None => vocabularies.filter_map(|vocabulary| Counter::new(*vocabulary, settings.engine).ok()).map(Arc::new).collect(),
        };
        let counter = |wanted: Vocabulary| -> Result<Arc<Counter>, CounterError> {
            let known = counters.iter().find(|counter| counter.vocabulary() == wanted);
            known.map_or_else(|| Counter::new(wanted, settings.engine).map(Arc::new), |known| Ok(known.clone()))
        };
        let public = match settings.vocabularies {
            Vocabularies::Own | Vocabularies::None => None,
            Vocabularies::O200kBase => Some(PublicCounters { o200k_base: counter(Vocabulary::O200kBase)?, cl100k_base: None }),
            Vocabularies::Public => {
                Some(PublicCounters { o200k_base: counter(Vocabulary::O200kBase)?, cl100k_base: Some(counter(Vocabulary::Cl100kBase)?) })
            }
        };
        Ok(Counters { catalog: settings.catalog, model: settings.model.as_deref(), forced: settings.vocabulary, counters, public })
    }

    /// The counters of the public vocabularies, where every text is counted in them too.
    pub fn public(&self) -> Option<PublicCounters> {
        self.public.clone()
    }

    /// The counter of a vocabulary; the default one's where the engine lacks it. `None` where nothing is counted.
    pub fn get(&self, vocabulary: Vocabulary) -> Option<&Arc<Counter>> {
        self.counters.iter().find(|counter| counter.vocabulary() == vocabulary).or_else(|| self.counters.first())
    }

    /// The vocabulary of the first model that the head of a file names.
    pub fn guess(&self, head: &[u8]) -> Vocabulary {
        let named = self.model.map(str::to_owned).or_else(|| first_model(head));
        named.and_then(|model| self.of_model(&model)).unwrap_or_else(|| self.default())
    }

    /// The vocabulary that a session should be counted in.
    pub fn wanted(&self, trace: &Trace) -> Vocabulary {
        self.wanted_by(trace.main_model())
    }

    /// The vocabulary that the session of a model should be counted in.
    pub fn wanted_by(&self, model: Option<&str>) -> Vocabulary {
        self.model.or(model).and_then(|model| self.of_model(model)).unwrap_or_else(|| self.default())
    }

    /// The vocabularies other than this one that some session wants.
    pub fn others(&self, traces: &[Trace], than: Vocabulary) -> Vec<Vocabulary> {
        let wanted: BTreeSet<Vocabulary> = traces.iter().map(|trace| self.wanted(trace)).gather();
        wanted.into_iter().filter(|vocabulary| *vocabulary != than).collect()
    }

    fn default(&self) -> Vocabulary {
        self.forced.unwrap_or_default()
    }

    fn of_model(&self, model: &str) -> Option<Vocabulary> {
        let own = self.forced.or_else(|| own_vocabulary(self.catalog.find(model)?))?;
        self.counters.iter().any(|counter| counter.vocabulary() == own).then_some(own)
    }
}

/// The value of the first `"model": "..."` in these bytes.
fn first_model(head: &[u8]) -> Option<String> {
    let key = b"\"model\"";
    let at = memmem::find(head, key)? + key.len();
    let rest = head.get(at..)?;
    let text = String::from_utf8_lossy(rest.get(..rest.len().min(200))?).into_owned();
    let value = text.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split('"').next().map(str::to_owned)
}
