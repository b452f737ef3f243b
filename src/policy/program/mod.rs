//! DECISIONS THAT A PROCESS TAKES: what it is asked at a check point, what it may answer, and who asks it.
//!
//! Nothing here starts a process. Whoever does gives a policy something that decides ([`Decide`]), and a replay asks that. The protocol is
//! `docs/policy-program.md`.

mod answer;
mod question;

pub use answer::{Answer, Edit};
pub use question::{Changed, ItemSeen, Lengths, MessageSeen, Opening, Put, Question, SizesSeen, UsageSeen};

use crate::transcript::Text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The protocol, as the first line of every session names it.
pub const PROTOCOL: &str = "ctxsim.policy/1";

/// The program that decides where a rule asks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments: no shell reads them.
    pub command: Vec<String>,
    /// So many seconds may pass before an answer.
    #[serde(default = "usual_patience")]
    pub seconds: f64,
    /// The policy's parameters and the facts of the model, worked out.
    #[serde(skip)]
    pub params: BTreeMap<String, f64>,
    /// What decides; `None` where the program was not started.
    #[serde(skip)]
    pub decider: Option<Decider>,
}

fn usual_patience() -> f64 {
    10.0
}

impl Program {
    /// Why it cannot be started, as one sentence; `Ok` where it can.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.command.first() {
            None => Err("`[program]` needs a command: command = [\"python3\", \"my_policy.py\"]".to_owned()),
            Some(name) if name.is_empty() => Err("the command of `[program]` is empty".to_owned()),
            _ if !(0.1..=3_600.0).contains(&self.seconds) => {
                Err("`seconds` of `[program]` lies between 0.1 and 3600: so long it may take for an answer".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Answers questions of replays, session by session and on several threads at once.
pub trait Decide: Send + Sync {
    /// Opens the conversation with the program over one session.
    fn begin(&self, session: &Session<'_>) -> Box<dyn Consult>;
}

/// The conversation with a program over one session.
pub trait Consult {
    /// What is done at a check point. An error is the end of the session for the policy.
    fn ask(&mut self, question: Question) -> Result<Answer, Refusal>;

    /// An answer cannot be carried out, for this reason: at this call, from 0.
    fn wrong(&mut self, call: u32, why: &str);

    /// The size of a text that the program has written.
    fn weigh(&self, text: &str) -> Text;
}

/// A session that begins, and by which of its texts are found where they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// Id of the session, which the program is not told.
    pub id: &'a str,
    /// Log of the session, which the program is not told either.
    pub source: &'a str,
    /// Number of the session's parts.
    pub parts: usize,
    /// What the program is told.
    pub opening: Opening<'a>,
}

/// Why a program decides no more in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The program could not be started.
    NotStarted,
    /// The program ended before its answer.
    Ended,
    /// The program did not answer in time.
    Silent,
    /// What the program said is no answer.
    Garbled,
    /// The program's answer cannot be carried out.
    Wrong,
}

/// What decides for a program; equal to copies of itself alone.
#[derive(Clone)]
pub struct Decider(pub Arc<dyn Decide>);

impl PartialEq for Decider {
    fn eq(&self, other: &Decider) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Decider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Decider")
    }
}
