//! What every agent needs to take a session down: chance, a clock, the provider's ledger, and a count of what was written.

use super::clock::Clock;
use super::provider::{Ledger, Provider, Usage};
use super::random::Random;
use super::story::Reply;

/// Where the invented project lies.
pub const HOME: &str = "/home/mara/tidewatch";

/// The common part of all agents.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// For ids and durations.
    pub random: Random,
    /// The session's time.
    pub clock: Clock,
    /// The provider's view of the main context.
    pub ledger: Ledger,
    /// Calls with usage, sub-agents' ones included.
    pub calls: u64,
    /// The largest prompt among them.
    pub largest: u64,
}

/// What one call reported, and when its stream began and ended.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// The usage.
    pub usage: Usage,
    /// When the request went out.
    pub began: Clock,
}

impl Recorder {
    /// A new session with this provider, starting at this time.
    pub fn new(random: Random, start: i64, provider: Provider) -> Recorder {
        Recorder { random, clock: Clock { now: start }, ledger: Ledger::new(provider), calls: 0, largest: 0 }
    }

    /// What a text costs with this provider.
    pub fn tokens(&self, text: &str) -> u64 {
        self.ledger.provider.tokens(text)
    }

    /// Adds a message of one text; gives its cost.
    pub fn message(&mut self, text: &str) -> u64 {
        let texts = self.tokens(text);
        self.ledger.message(texts)
    }

    /// Makes the call for a reply: `tools` are the names and arguments as the agent writes them.
    pub fn call(&mut self, reply: &Reply, tools: &[(&str, &str)]) -> Timed {
        let thinking = self.tokens(&reply.thinking);
        let called: u64 = tools.iter().map(|(name, arguments)| self.tokens(name) + self.tokens(arguments) + CALL_WRAPPING).sum();
        let visible = self.tokens(&reply.text) + called + END_OF_REPLY;
        let began = self.clock;
        let usage = self.ledger.call(began.now, thinking, visible);
        self.count(usage);
        self.think_time(usage);
        Timed { usage, began }
    }

    /// Counts a call.
    pub fn count(&mut self, usage: Usage) {
        self.calls += 1;
        self.largest = self.largest.max(usage.prompt);
    }

    /// The time that a model takes for a reply.
    pub fn think_time(&mut self, usage: Usage) {
        let pause = self.random.between(900, 2600);
        self.clock.wait(pause + usage.output * 14);
    }

    /// The time that a tool takes.
    pub fn tool_time(&mut self, slow: bool) {
        let pause = if slow { self.random.between(1800, 21_000) } else { self.random.between(12, 240) };
        self.clock.wait(pause);
    }
}

/// Tokens around a tool call inside a reply.
const CALL_WRAPPING: u64 = 6;
/// The token that ends a reply.
const END_OF_REPLY: u64 = 1;
