//! FILE -> TRANSCRIPT. One file per recorded format, one row per format in [`READERS`].
//!
//! A reader looks at the head of a file and says whether it is its own ([`Reader::claims`]), and turns a whole file into
//! transcripts ([`Reader::read`]). Damage is reported through [`Source::lose`] and never ends a file that has more to give.

pub mod agents;
mod benchmarks;
mod exchange;
pub mod ground;
mod marks;
pub mod native;
mod reader;
mod recorder;
mod standing;
mod sums;
pub mod traffic;
mod usage;
mod wire;

#[cfg(feature = "sqlite")]
pub use ground::sqlite::remove_copies;
pub use ground::{ReadError, Source};
pub use reader::{Claim, Read, Reader};
pub use sums::sum_in_dollars;
pub use traffic::openai_chat::LeftOut;

/// Does this agent write with each call what its provider reports as read from the cache, so that a zero is a count? Gemini CLI does, and speaks to Google
/// alone. aider has words for what is read and written, and bills all else as uncached. Agents that speak to many write a zero for those that report nothing, too.
pub fn counts_cache(agent: &str) -> bool {
    [agents::gemini_cli::READER.name, agents::aider::READER.name].contains(&agent)
}

/// Are there sessions of this agent whose usage holds no counts of the cache, beside others that count it? Cline's conversations without the list of the
/// screen have what was read and what was written as one sum.
pub fn counts_cache_in_part(agent: &str) -> bool {
    agent == agents::cline::READER.name
}

/// All readers, the more specific ones first. The order decides among those that say [`Claim::Maybe`] alone: a test holds that no two say [`Claim::Yes`]
/// of one file.
pub const READERS: &[&Reader] = &[
    &native::READER,
    &agents::qwen_code::READER,
    &agents::claude_code::READER,
    &agents::managed_agents::READER,
    &agents::codex::READER,
    &agents::aider::READER,
    &agents::copilot_cli::READER,
    &agents::deepseek_harness::READER,
    &agents::factory_droid::READER,
    &agents::pi::READER,
    &agents::opencode::READER,
    &agents::cline::READER,
    &agents::cline_cli::READER,
    &agents::crush::READER,
    &agents::goose::READER,
    &agents::hermes::READER,
    &agents::vscode_chat::READER,
    &agents::continue_dev::READER,
    &agents::kimi_code::READER,
    &agents::kimi_cli::READER,
    &agents::kiro_cli::READER,
    &agents::grok_cli::READER,
    &agents::junie::READER,
    &agents::mistral_vibe::READER,
    &agents::muse::READER,
    &agents::picoclaw::READER,
    &agents::mycoder::READER,
    &agents::baseagent::READER,
    &agents::gemini_cli::READER,
    &agents::gemini_stream::READER,
    &agents::adk::READER,
    &agents::amp::READER,
    &agents::zed::READER,
    &agents::pydantic_ai::READER,
    &agents::langchain::READER,
    &agents::openai_agents::READER,
    &agents::agno::READER,
    &agents::crewai::READER,
    &agents::mini_swe_agent::READER,
    &agents::trae_agent::READER,
    &benchmarks::tau2::READER,
    &agents::swe_agent::READER,
    &traffic::litellm::READER,
    &agents::openhands::READER,
    &benchmarks::atif::READER,
    &benchmarks::tau_bench::READER,
    &benchmarks::inspect::READER,
    &traffic::api_exchange::READER,
    &traffic::vcr::READER,
    &traffic::telemetry::LANGFUSE,
    &traffic::telemetry::LANGSMITH,
    &traffic::telemetry::OTLP,
    &benchmarks::sharegpt::READER,
    &agents::autogen::READER,
    &benchmarks::plain_talk::DISPLAYED,
    &benchmarks::plain_talk::SUMMARISER,
    &traffic::anthropic_messages::READER,
    &traffic::openai_chat::READER,
];

/// The reader of this name.
pub fn by_name(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name).copied()
}

/// The reader that claims this file, and how surely; `None` where no reader knows it.
pub fn sniff(source: &Source) -> Option<(&'static Reader, Claim)> {
    if let Some(claim) = traffic::api_exchange::half(source) {
        return Some((&traffic::api_exchange::READER, claim));
    }
    let mut best: Option<(&'static Reader, Claim)> = None;
    for reader in READERS {
        let claim = (reader.claims)(source);
        if claim > best.map_or(Claim::No, |(_, claim)| claim) {
            best = Some((reader, claim));
        }
        if claim == Claim::Yes {
            break;
        }
    }
    best
}

/// Why no reader claims a file, where that is known.
pub fn why_unclaimed(source: &Source) -> Option<String> {
    let is_of_cursor = source.outline().shows("role=user,assistant message.content[].type !type !id !uuid !message.role");
    let of_cursor = || "is a transcript of Cursor, which holds neither usage nor what its tools returned".to_owned();
    is_of_cursor.then(of_cursor).or_else(|| ground::sqlite::why_unclaimed(source))
}
