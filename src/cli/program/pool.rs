//! The processes of one policy's program, what they were asked and what they answered. One process a thread at most, kept over sessions.

use super::process::{Broken, LONGEST_ANSWER, Process, end_group};
use super::texts::Texts;
use crate::estimate::{Counter, Engine, Vocabulary};
use crate::measure::{Content, TextScale};
use crate::policy::{Answer, Consult, Decide, ItemSeen, Opening, PROTOCOL, Question, Refusal, Session};
use crate::transcript::{Scale, Text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128;

/// A program that never got through a session and was silent in so many is asked no more: each would take all the time that it may.
const SILENCES: u64 = 5;

/// Of so many sessions the questions of one are asked twice.
const ONE_IN: u128 = 16;

/// What a program is, and how it is asked.
pub struct Settings {
    /// The policy, for sentences.
    pub policy: String,
    pub words: Vec<String>,
    /// The folder of the document: the program runs there.
    pub folder: PathBuf,
    pub patience: Duration,
    /// Does the program's stderr show?
    pub shows_errors: bool,
    /// The texts of the logs, where they are handed over.
    pub texts: Option<Texts>,
    /// A number for the command and the files that it names.
    pub key: u128,
}

/// The processes, and what is known of their answers.
pub struct Pool {
    settings: Settings,
    idle: Mutex<Vec<Process>>,
    running: Mutex<BTreeSet<u32>>,
    answers: Mutex<HashMap<u128, Arc<[u8]>>>,
    told: Mutex<Told>,
    counter: Arc<Counter>,
}

/// Failures of one reason: in which sessions, by log and id (a question may replay each more than once), and the first of them by its id with the call.
type Failures = (BTreeSet<(String, String)>, (String, u64));

/// What is to be said of a program when the run is over.
#[derive(Default)]
struct Told {
    /// Failures by their reason.
    failures: BTreeMap<String, Failures>,
    /// Sessions in which it answered the same question differently, by id.
    differs: BTreeSet<String>,
    silences: u64,
    finished: u64,
    /// Sessions whose texts could not be read again.
    without_texts: u64,
    /// Answers that were not known before.
    is_new: bool,
}

impl Pool {
    /// No process runs yet. These answers are known.
    pub fn new(settings: Settings, answers: HashMap<u128, Arc<[u8]>>) -> Option<Arc<Pool>> {
        let counter = Arc::new(Counter::new(Vocabulary::O200kBase, Engine::default()).ok()?);
        let (idle, running, told) = (Mutex::default(), Mutex::default(), Mutex::default());
        Some(Arc::new(Pool { settings, idle, running, answers: Mutex::new(answers), told, counter }))
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every answer that is known, by the number of the questions before it.
    pub fn answers(&self) -> BTreeMap<u128, Arc<[u8]>> {
        locked(&self.answers).iter().map(|(key, answer)| (*key, Arc::clone(answer))).collect()
    }

    /// Answers have come that were not known before.
    pub fn has_new(&self) -> bool {
        locked(&self.told).is_new
    }

    /// Sentences on what went wrong, one for each reason.
    pub fn complaints(&self) -> Vec<String> {
        let told = locked(&self.told);
        let who = format!("policy {}: its program ({})", self.settings.policy, self.settings.words.join(" "));
        let sessions = |count: u64| if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") };
        let failed = told.failures.iter().map(|(why, (all, (session, call)))| {
            format!("{who} fails {}: {why} (session {session}, at call {})", sessions(all.len() as u64), call + 1)
        });
        let differs = told.differs.first().map(|session| {
            let count = sessions(told.differs.len() as u64);
            format!("{who} answers the same question differently in {count} (session {session}): the first answers count, and another run may come to others")
        });
        let unread = (told.without_texts > 0).then(|| {
            format!(
                "policy {}: the texts of {} could not be read again: its program saw lengths alone",
                self.settings.policy,
                sessions(told.without_texts)
            )
        });
        failed.chain(differs).chain(unread).collect()
    }

    /// Ends all processes that wait, and lets them end by themselves.
    pub fn dismiss(&self) {
        let idle = std::mem::take(&mut *locked(&self.idle));
        std::thread::scope(|scope| idle.into_iter().for_each(|process| drop(scope.spawn(|| process.farewell()))));
    }

    /// Ends whatever runs, at once.
    pub fn kill(&self) {
        locked(&self.running).iter().for_each(|id| end_group(*id));
    }

    fn process(&self) -> Result<Process, Broken> {
        // One that has ended since its last session, or speaks without being asked, is no use to the next one.
        while let Some(process) = self.waiting() {
            if !process.is_spent() {
                return Ok(process);
            }
            self.end(process);
        }
        let Settings { words, folder, shows_errors, .. } = &self.settings;
        // A process stands in the list before a signal can end the run.
        let mut running = locked(&self.running);
        let process = Process::start(words, folder, *shows_errors).map_err(|_| Broken::NotStarted)?;
        running.insert(process.id());
        Ok(process)
    }

    fn waiting(&self) -> Option<Process> {
        locked(&self.idle).pop()
    }

    fn end(&self, process: Process) {
        let id = process.id();
        drop(process);
        locked(&self.running).remove(&id);
    }

    fn fails(&self, why: String, source: &str, session: &str, call: u64) {
        let mut told = locked(&self.told);
        let first = (session.to_owned(), call);
        let entry = told.failures.entry(why).or_insert_with(|| (BTreeSet::new(), first.clone()));
        entry.0.insert((source.to_owned(), session.to_owned()));
        entry.1 = entry.1.clone().min(first);
    }
}

/// A lock whose holder has failed is as good as any.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who decides for a policy.
pub struct PoolDecider(pub Arc<Pool>);

impl Decide for PoolDecider {
    fn begin(&self, session: &Session<'_>) -> Box<dyn Consult> {
        let pool = Arc::clone(&self.0);
        let texts = pool.settings.texts.as_ref().map(|texts| texts.of(session.source, session.id, session.parts));
        locked(&pool.told).without_texts += u64::from(texts == Some(None));
        let texts = texts.flatten();
        let opening = Begin { begin: PROTOCOL, n: 0, content: texts.is_some(), opening: session.opening };
        let begin = serde_json::to_vec(&opening).unwrap_or_default();
        let chain = chained(pool.settings.key, &begin);
        Box::new(Conversation {
            pool,
            source: session.source.to_owned(),
            session: session.id.to_owned(),
            lines: vec![(begin, chain)],
            process: None,
            sent: 0,
            failed: false,
            texts,
        })
    }
}

/// The first line of a session.
#[derive(Serialize)]
struct Begin<'a> {
    begin: &'a str,
    n: u64,
    content: bool,
    #[serde(flatten)]
    opening: Opening<'a>,
}

/// A line behind the opening: a question with its number.
#[derive(Serialize)]
struct Numbered {
    n: u64,
    #[serde(flatten)]
    question: Question,
}

/// The conversation over one session. What was answered before to the same questions is not asked again, unless the process must be brought up to
/// where a new question stands.
struct Conversation {
    pool: Arc<Pool>,
    source: String,
    session: String,
    /// What is said, each with a number for all that has been said up to it.
    lines: Vec<(Vec<u8>, u128)>,
    process: Option<Process>,
    /// So many lines have been said to the process.
    sent: usize,
    failed: bool,
    /// The text of each part, in the order of parts; `None` where the program sees lengths alone.
    texts: Option<Arc<Vec<String>>>,
}

impl Consult for Conversation {
    fn ask(&mut self, question: Question) -> Result<Answer, Refusal> {
        let n = self.lines.len() as u64;
        let (call, question) = (question.call, self.with_texts(question));
        let line = serde_json::to_vec(&Numbered { n, question }).map_err(|_| Refusal::Garbled)?;
        let chain = chained(self.lines.last().map_or(0, |(_, chain)| *chain), &line);
        self.lines.push((line, chain));
        let known = locked(&self.pool.answers).get(&chain).cloned();
        let answer = match known {
            Some(answer) => answer,
            None => self.catch_up(call)?,
        };
        let mut refused = |why: String| {
            self.failed = true;
            self.pool.fails(format!("its answer is none: {why}"), &self.source, &self.session, call);
            Refusal::Garbled
        };
        match Answer::parse(&answer) {
            Ok(answer) if answer.n == n => Ok(answer),
            Ok(_) => Err(refused("it does not bear the number of the question".to_owned())),
            Err(why) => Err(refused(why)),
        }
    }

    fn wrong(&mut self, call: u32, why: &str) {
        self.failed = true;
        self.pool.fails(format!("its answer cannot be carried out: {why}"), &self.source, &self.session, u64::from(call));
    }

    fn weigh(&self, text: &str) -> Text {
        TextScale::new(Arc::clone(&self.pool.counter), Content::Drop).weigh(text)
    }
}

impl Conversation {
    /// Says to the process whatever it has not been told, and hands back its answer to the last line.
    fn catch_up(&mut self, call: u64) -> Result<Arc<[u8]>, Refusal> {
        let (silences, finished) = {
            let told = locked(&self.pool.told);
            (told.silences, told.finished)
        };
        let hopeless = finished == 0 && silences >= SILENCES;
        let broken = match if hopeless { Err(Broken::Silent) } else { self.say() } {
            Ok(answer) => return Ok(answer),
            Err(broken) => broken,
        };
        self.failed = true;
        if let Some(process) = self.process.take() {
            self.pool.end(process);
        }
        let (refusal, why) = match broken {
            Broken::NotStarted => (Refusal::NotStarted, "it cannot be started".to_owned()),
            Broken::Ended => (Refusal::Ended, "it ended before the session did".to_owned()),
            Broken::Silent => (Refusal::Silent, format!("it gave no answer within {} s", self.pool.settings.patience.as_secs_f64())),
            Broken::TooMuch => (Refusal::Garbled, format!("it answered with more than {} bytes", LONGEST_ANSWER)),
            Broken::Unasked => (Refusal::Garbled, "it spoke without being asked".to_owned()),
            Broken::OtherProtocol => (Refusal::Garbled, format!("it did not answer a session's first line as {PROTOCOL} has it")),
        };
        locked(&self.pool.told).silences += u64::from(broken == Broken::Silent);
        self.pool.fails(why, &self.source, &self.session, call);
        Err(refusal)
    }

    /// Says all lines that have not been said. What was answered before counts, whatever is answered now.
    fn say(&mut self) -> Result<Arc<[u8]>, Broken> {
        let pool = Arc::clone(&self.pool);
        let process = match &mut self.process {
            Some(process) => process,
            None => self.process.insert(pool.process()?),
        };
        let mut last = Arc::default();
        for (line, chain) in self.lines.iter().skip(self.sent) {
            let answer = process.ask(line, pool.settings.patience)?;
            self.sent += 1;
            if self.sent == 1 {
                is_ready(&answer)?;
                continue;
            }
            let mut answers = locked(&pool.answers);
            match answers.get(chain) {
                Some(known) => {
                    if **known != *answer.trim_ascii_end() {
                        locked(&pool.told).differs.insert(self.session.clone());
                    }
                    last = Arc::clone(known);
                }
                None => {
                    last = Arc::from(answer.trim_ascii_end());
                    answers.insert(*chain, Arc::clone(&last));
                    locked(&pool.told).is_new = true;
                }
            }
        }
        Ok(last)
    }

    /// The question with the texts of its items.
    fn with_texts(&self, mut question: Question) -> Question {
        let Some(texts) = &self.texts else { return question };
        let arrives = question.arrives.iter_mut().flat_map(|message| &mut message.items);
        let put = question.put.iter_mut().flat_map(|put| &mut put.message.items);
        for item in arrives.chain(put).chain(question.changed.iter_mut().flat_map(|changed| &mut changed.items)) {
            item.text = text_of(texts, item);
        }
        question
    }
}

/// The text of an item, or what is left of it at its two ends; `None` where nothing is.
fn text_of(texts: &[String], item: &ItemSeen) -> Option<String> {
    let text = texts.get(item.part? as usize).filter(|text| !text.is_empty())?;
    let Some((head, tail)) = item.ends else { return Some(text.clone()) };
    let head = text.get(..text.floor_char_boundary(head as usize))?;
    let tail = text.get(text.floor_char_boundary(text.len().saturating_sub(tail as usize)).max(head.len())..)?;
    match (head.is_empty(), tail.is_empty()) {
        (true, true) => None,
        (false, false) if head.len() + tail.len() < text.len() => Some(format!("{head}\n{tail}")),
        _ => Some(format!("{head}{tail}")),
    }
}

/// How a session's first line is answered.
#[derive(Deserialize)]
struct Ready {
    ready: String,
}

fn is_ready(answer: &[u8]) -> Result<(), Broken> {
    let ready = serde_json::from_slice(answer).is_ok_and(|ready: Ready| ready.ready == PROTOCOL);
    if ready { Ok(()) } else { Err(Broken::OtherProtocol) }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if self.failed || self.lines.len() < 2 {
            // What it will say next belongs to no session.
            if let Some(process) = self.process.take() {
                self.pool.end(process);
            }
            return;
        }
        locked(&self.pool.told).finished += 1;
        if self.lines.last().is_some_and(|(_, chain)| chain.is_multiple_of(ONE_IN)) {
            self.sent = 0;
            if self.say().is_err() {
                locked(&self.pool.told).differs.insert(self.session.clone());
            }
        }
        if let Some(process) = self.process.take() {
            locked(&self.pool.idle).push(process);
        }
    }
}

fn chained(chain: u128, line: &[u8]) -> u128 {
    xxh3_128(&[&chain.to_le_bytes()[..], line].concat())
}
