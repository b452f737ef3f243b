//! The texts of logs, for programs that are to see them: each log is read once more, when its first session is asked about.

use crate::corpus::words_in;
use crate::format::Reader;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The texts of one log: by session its id, and its texts by part.
type Log = Vec<(String, Arc<Vec<String>>)>;

/// The texts of all logs that were asked about. They stay in memory to the end of the run.
pub struct Texts {
    format: Option<&'static Reader>,
    logs: Mutex<BTreeMap<String, Arc<OnceLock<Log>>>>,
}

impl Texts {
    /// No log has been read yet.
    pub fn new(format: Option<&'static Reader>) -> Texts {
        Texts { format, logs: Mutex::default() }
    }

    /// The texts of a session of so many parts; `None` where its log cannot be read again, as of measured traces and standard input.
    pub fn of(&self, source: &str, session: &str, parts: usize) -> Option<Arc<Vec<String>>> {
        let log = Arc::clone(self.logs.lock().unwrap_or_else(PoisonError::into_inner).entry(source.to_owned()).or_default());
        let log = log.get_or_init(|| words_in(source, self.format).into_iter().map(|(id, texts)| (id, Arc::new(texts))).collect());
        log.iter().find(|(id, texts)| id == session && texts.len() == parts).map(|(_, texts)| Arc::clone(texts))
    }
}
