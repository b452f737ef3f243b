//! The verdicts of a backtest in words.

use super::words::grouped;
use crate::experiment::{Reason, Tested, Verdict};
use crate::transcript::CompactionKind;

/// What a verdict is called.
pub fn named(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Hit => "hit",
        Verdict::Missed => "missed",
        Verdict::FalseAlarm => "false alarm",
        Verdict::Manual => "manual",
        Verdict::ProbablyManual => "probably manual",
        Verdict::Untested => "untested",
    }
}

/// A reason in words; empty for a hit.
pub fn why(reason: Reason) -> String {
    let reached = |tokens, limit| format!("{} tokens had reached the limit of {}", grouped(tokens), grouped(limit));
    let below = |tokens, limit| format!("{} tokens are below the limit of {}", grouped(tokens), grouped(limit));
    match reason {
        Reason::None => String::new(),
        Reason::AskedFor => "a person asked for it".to_owned(),
        Reason::CutNothing => "its summary took in no message: the agent only made it anew".to_owned(),
        Reason::BehindGap => "the log lacks what stood right before it, which the agent counted".to_owned(),
        Reason::ByExtension => "an extension of the agent made it, and the log does not say what brought it on".to_owned(),
        Reason::Refusal => "the provider had refused the prompt as too large: no limit of the agent's brought it on".to_owned(),
        Reason::UnknownWindow => "the window is not known: neither the log nor the catalogue names it".to_owned(),
        Reason::NoRule => "the policy has no rule that does this, or it is off".to_owned(),
        Reason::OtherSelection => "the policy's rules found too little to prune there, or pruned at another call".to_owned(),
        Reason::NoUsage => "no call with usage stands before it".to_owned(),
        Reason::OtherModel => "another model was at work, and the limit is that of the session's main model".to_owned(),
        Reason::NoUsageThere => "no usage is recorded before the predicted compaction: the size there is not known".to_owned(),
        Reason::NoCallFollows => "no call follows in the log, and the policy looks before calls alone".to_owned(),
        Reason::NoLimit => "the policy compares no single size with a limit".to_owned(),
        Reason::Contradiction { said, used } => {
            format!(
                "the log contradicts itself: it says {} tokens before the event, its own usage comes to {}",
                grouped(said),
                grouped(used)
            )
        }
        Reason::TurnedOff { limit } => {
            format!("compaction was off: the session went on above the limit of {} until the provider refused a prompt", grouped(limit))
        }
        Reason::HigherLimit { limit, reached } => {
            format!("a higher limit than {} was in force: the session went on to {} tokens", grouped(limit), grouped(reached))
        }
        Reason::Unseen { limit, tokens, estimate } => {
            format!("{}, and {}", reached(tokens, limit), believed(estimate))
        }
        Reason::ResultNotInLog { limit, tokens, estimate } => {
            format!("{}; the log lacks what the last tool returned, and without it {}", reached(tokens, limit), believed(estimate))
        }
        Reason::Overestimated { limit, estimate, used } => format!(
            "the policy's estimate of {} had reached its limit of {}, where recorded usage and what came since come to {}",
            grouped(estimate),
            grouped(limit),
            grouped(used)
        ),
        Reason::TurnWasOver { limit, tokens } => {
            format!("the turn was over, and {}: a person asked for it, or a lower limit was in force", below(tokens, limit))
        }
        Reason::Incompatible => {
            "the mark of models that can share a history (`comp_hash`) changed there, and the agent compacts then whatever the size"
                .to_owned()
        }
        Reason::ModelChanged { limit, tokens } => {
            format!("{}; the model changed there, and agents compact then too", below(tokens, limit))
        }
        Reason::ReasoningNotInLog { limit, tokens, reasoning } => format!(
            "{}; the agent may have counted encrypted reasoning, {} tokens of it, which was taken out of the log",
            below(tokens, limit),
            grouped(reasoning)
        ),
        Reason::BeginsInMiddle { limit, tokens } => {
            format!("{}; the log begins in the middle, and what the agent counted of what came before is not known", below(tokens, limit))
        }
        Reason::JustBelow { limit, tokens, estimate } => format!(
            "{}, and the policy's estimate of {} came within 0.1 % of it: the agent's own may have reached it",
            below(tokens, limit),
            grouped(estimate)
        ),
        Reason::LowerLimit { limit, went_on, tokens } if went_on < tokens => format!(
            "another window or setting: a limit between {} and {} may have been in force, below the policy's of {}",
            grouped(went_on),
            grouped(tokens),
            grouped(limit)
        ),
        Reason::LowerLimit { limit, went_on, tokens } => format!(
            "it came at {} tokens, below the limit of {}, although the session had gone on at {} before: no fixed limit explains it",
            grouped(tokens),
            grouped(limit),
            grouped(went_on)
        ),
        Reason::NothingNoted => "the policy's estimate reached its limit; the log notes nothing there".to_owned(),
    }
}

/// The policy's estimate at a recorded event, in words.
fn believed(estimate: Option<u64>) -> String {
    let said = |estimate| format!("the policy's estimate there was {}", grouped(estimate));
    estimate.map_or_else(|| "the policy looked at no size there".to_owned(), said)
}

/// What an event is called.
pub fn kind_name(kind: CompactionKind) -> &'static str {
    match kind {
        CompactionKind::Compact => "compact",
        CompactionKind::Prune => "prune",
    }
}

/// Hits and what they are held against: recorded events that the agent made by itself; predictions that could be right or wrong.
pub fn scores(events: &[&Tested]) -> (u64, u64, u64) {
    let count = |verdict: Verdict| events.iter().filter(|event| event.verdict == verdict).count() as u64;
    let hits = count(Verdict::Hit);
    (hits, hits + count(Verdict::Missed), hits + count(Verdict::FalseAlarm))
}
