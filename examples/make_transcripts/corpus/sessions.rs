//! The sessions of the corpus, each there for something that a policy should meet.

use super::author::{Author, Bulk, Language, Turn};
use super::claude_code::{self, ClaudeCode, Sides};
use super::codex::Codex;
use super::gemini::Gemini;
use super::mini_swe::{MiniSwe, OPENING, Protocol};
use super::opencode::{self, OpenCode};
use super::pi::{self, Pi};
use super::provider::Provider;
use super::random::Random;
use super::sources::{File, SEED};
use super::story::Agent;

/// 2 March 2026, 00:00 UTC.
const MONDAY: i64 = 1_772_409_600_000;
const HOUR: i64 = 3_600_000;
const TWO_HOURS: u64 = 7_200_000;

const SMALL: Turn = Turn { reads: 2, bulk: &[], edits: 1 };
const MIDDLE: Turn = Turn { reads: 3, bulk: &[Bulk::Tests(24)], edits: 2 };
const LONG: Turn = Turn { reads: 4, bulk: &[Bulk::Log(18_000), Bulk::Dump(200), Bulk::Tests(24)], edits: 2 };
const DATA: Turn = Turn { reads: 2, bulk: &[Bulk::Json(60)], edits: 1 };
const LOOKING: Turn = Turn { reads: 3, bulk: &[Bulk::Profile(40)], edits: 0 };

/// All files, in the order of the table.
pub fn all() -> Vec<File> {
    let mut files = long_window();
    files.extend(automatic_compaction());
    files.extend(inline_sub_agent());
    files.extend(rewind());
    files.extend(chinese());
    files.push(codex_compaction());
    files.push(codex_small());
    files.push(pi_sudden());
    files.push(pi_branches());
    files.extend(opencode_prune());
    files.push(mini_swe_long());
    files.push(mini_swe_tools());
    files.push(gemini());
    files
}

/// Chance for the author, for the agent, and for the pauses between turns.
struct Chance {
    author: Random,
    agent: Random,
    pauses: Random,
}

impl Chance {
    fn of(session: &str) -> Chance {
        let stream = |part: &str| Random::new(SEED, &format!("{session}/{part}"));
        Chance { author: stream("author"), agent: stream("agent"), pauses: stream("pauses") }
    }
}

/// Seconds to some minutes until the user writes again.
fn pause(agent: &mut dyn Agent, pauses: &mut Random) {
    agent.wait(pauses.between(15_000, 270_000));
}

/// Turns of these kinds, over and over, until the next prompt has this size.
fn grow(agent: &mut dyn Agent, author: &mut Author, pauses: &mut Random, turns: &[Turn], goal: u64) {
    for turn in turns.iter().cycle() {
        author.turn(agent, *turn);
        pause(agent, pauses);
        if agent.prompt() >= goal {
            break;
        }
    }
}

fn claude(version: &'static str, model: &'static str, limit: u64) -> claude_code::Setup {
    claude_code::Setup { version, model, limit, sides: Sides::Folder, placeholders: false }
}

fn long_window() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("long-window");
    let mut author = Author::new(author, Language::English, 24, 150);
    let setup = claude("2.1.217", "claude-sonnet-5", 967_000);
    let mut agent = ClaudeCode::new(agent, MONDAY + 8 * HOUR, Provider::claude_new(18_400), setup);
    author.turn(&mut agent, MIDDLE);
    pause(&mut agent, &mut pauses);
    author.delegated_turn(&mut agent, LOOKING);
    pause(&mut agent, &mut pauses);
    grow(&mut agent, &mut author, &mut pauses, &[LONG, MIDDLE], 226_000);
    agent.finish(
        "claude-code/long-window.jsonl",
        "Grows past 200k on a window of one million, without a compaction; a sub-agent in a file of its own",
    )
}

fn automatic_compaction() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("automatic-compaction");
    let mut author = Author::new(author, Language::English, 20, 150);
    let setup = claude("2.1.79", "claude-opus-4-6", 167_000);
    let mut agent = ClaudeCode::new(agent, MONDAY + 32 * HOUR, Provider::claude(16_200), setup);
    grow(&mut agent, &mut author, &mut pauses, &[LONG, MIDDLE], 90_000);
    agent.wait(TWO_HOURS);
    // Until the compaction has made the prompt small again, and then some more.
    while agent.prompt() >= 90_000 {
        author.turn(&mut agent, LONG);
        pause(&mut agent, &mut pauses);
    }
    author.turn(&mut agent, LONG);
    agent.finish(
        "claude-code/automatic-compaction.jsonl",
        "A recorded automatic compaction near 167k of 200k, and a pause of two hours that outlives the cache",
    )
}

fn inline_sub_agent() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("inline-sub-agent");
    let mut author = Author::new(author, Language::English, 12, 110);
    let setup = claude_code::Setup { sides: Sides::Inline, ..claude("1.0.95", "claude-sonnet-4-20250514", 167_000) };
    let mut agent = ClaudeCode::new(agent, MONDAY + 56 * HOUR, Provider::claude(14_100), setup);
    author.delegated_turn(&mut agent, LOOKING);
    pause(&mut agent, &mut pauses);
    author.turn(&mut agent, SMALL);
    agent.finish("claude-code/inline-sub-agent.jsonl", "A sub-agent as a side chain between the lines of its parent")
}

fn rewind() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("rewind");
    let mut author = Author::new(author, Language::English, 12, 120);
    let setup = claude("2.1.84", "claude-opus-4-6", 167_000);
    let mut agent = ClaudeCode::new(agent, MONDAY + 58 * HOUR, Provider::claude(13_300), setup);
    author.turn(&mut agent, SMALL);
    pause(&mut agent, &mut pauses);
    author.turn(&mut agent, LOOKING);
    pause(&mut agent, &mut pauses);
    agent.rewind();
    author.turn(&mut agent, MIDDLE);
    pause(&mut agent, &mut pauses);
    author.turn(&mut agent, SMALL);
    agent.finish("claude-code/rewind.jsonl", "The user goes back before the second turn and asks for something else: a fork in the tree")
}

fn chinese() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("chinese");
    let mut author = Author::new(author, Language::Chinese, 8, 100);
    let setup = claude_code::Setup { placeholders: true, ..claude("2.1.63", "claude-sonnet-4-6", 167_000) };
    let mut agent = ClaudeCode::new(agent, MONDAY + 60 * HOUR, Provider::claude(15_800), setup);
    for turn in [SMALL, SMALL, SMALL] {
        author.turn(&mut agent, turn);
        pause(&mut agent, &mut pauses);
    }
    agent.finish("claude-code/chinese.jsonl", "User and model talk Chinese; only the last line of a message has the final output count")
}

fn codex_compaction() -> File {
    let Chance { author, agent, mut pauses } = Chance::of("codex-compaction");
    let mut author = Author::new(author, Language::English, 20, 150);
    let mut agent = Codex::new(agent, MONDAY + 80 * HOUR, Provider::openai(5_200), "gpt-5-codex");
    const DENSE: Turn = Turn { reads: 2, bulk: &[Bulk::Log(24_000), Bulk::Dump(420), Bulk::Dump(300)], edits: 1 };
    grow(&mut agent, &mut author, &mut pauses, &[DENSE, MIDDLE], 205_000);
    while agent.prompt() >= 100_000 {
        author.turn(&mut agent, DENSE);
        pause(&mut agent, &mut pauses);
    }
    author.turn(&mut agent, SMALL);
    agent.finish("codex/compaction.jsonl", "Reaches nine tenths of a window of 272k; a recorded compaction with its replacement history")
}

fn codex_small() -> File {
    let Chance { author, agent, mut pauses } = Chance::of("codex-small");
    let mut author = Author::new(author, Language::English, 10, 110);
    let mut agent = Codex::new(agent, MONDAY + 84 * HOUR, Provider::openai(4_700), "gpt-5.2-codex");
    grow(&mut agent, &mut author, &mut pauses, &[SMALL, DATA], 32_000);
    agent.finish("codex/small.jsonl", "A small session: token counts written twice, patches instead of edits")
}

fn pi_sudden() -> File {
    let Chance { author, agent, mut pauses } = Chance::of("pi-sudden");
    let mut author = Author::new(author, Language::English, 12, 110);
    let setup = pi::Setup {
        provider: "anthropic",
        api: "anthropic-messages",
        model: "claude-opus-4-5",
        window: 200_000,
        prices: [5_000, 25_000, 500, 6_250],
    };
    let mut agent = Pi::new(agent, MONDAY + 104 * HOUR, Provider::claude(2_900), setup);
    const JUMP: Turn = Turn { reads: 1, bulk: &[Bulk::Export(560)], edits: 1 };
    const LARGE_JUMP: Turn = Turn { reads: 1, bulk: &[Bulk::Export(640)], edits: 1 };
    for turn in [MIDDLE, JUMP, SMALL, LARGE_JUMP, LONG, LONG, SMALL] {
        author.turn(&mut agent, turn);
        pause(&mut agent, &mut pauses);
    }
    agent.finish("pi/sudden-results.jsonl", "Single tool results of 40k to 60k tokens; a recorded compaction that keeps the newest entries")
}

fn pi_branches() -> File {
    let Chance { author, agent, mut pauses } = Chance::of("pi-branches");
    let mut author = Author::new(author, Language::English, 10, 100);
    let setup = pi::Setup {
        provider: "openai-codex",
        api: "openai-codex-responses",
        model: "gpt-5.4",
        window: 272_000,
        prices: [2_500, 15_000, 250, 0],
    };
    let mut agent = Pi::new(agent, MONDAY + 106 * HOUR, Provider::openai(3_100), setup);
    author.turn(&mut agent, SMALL);
    pause(&mut agent, &mut pauses);
    author.turn(&mut agent, LOOKING);
    pause(&mut agent, &mut pauses);
    agent.rewind();
    author.turn(&mut agent, SMALL);
    agent.finish("pi/branches.jsonl", "A branch that is left, with its summary, in the tree of one file")
}

fn opencode_prune() -> Vec<File> {
    let Chance { author, agent, mut pauses } = Chance::of("opencode-prune");
    let mut author = Author::new(author, Language::English, 18, 130);
    let setup = opencode::Setup { model: "claude-sonnet-4-5", provider: "anthropic", limit: 168_000, title: "Readings lost at midnight" };
    let mut agent = OpenCode::new(agent, MONDAY + 128 * HOUR, Provider::claude(12_400), setup, None);
    const BROAD: Turn = Turn { reads: 3, bulk: &[Bulk::Tests(60)], edits: 1 };
    grow(&mut agent, &mut author, &mut pauses, &[BROAD], 110_000);
    agent.wait(TWO_HOURS);
    // Past the pruning, which needs old results; then so much in one turn that only a compaction helps.
    const HEAVY: Turn = Turn { reads: 4, bulk: &[Bulk::Log(26_000), Bulk::Dump(400), Bulk::Log(26_000), Bulk::Dump(400)], edits: 3 };
    for turn in [BROAD, BROAD, HEAVY] {
        author.turn(&mut agent, turn);
        pause(&mut agent, &mut pauses);
    }
    author.turn(&mut agent, BROAD);
    let Chance { author, agent: chance, .. } = Chance::of("opencode-sub-agent");
    let mut helper = Author::new(author, Language::English, 12, 110);
    let setup = opencode::Setup { title: "Find writers of datum (@general subagent)", ..setup };
    let mut child = OpenCode::new(chance, MONDAY + 129 * HOUR, Provider::claude(7_900), setup, Some(agent.session()));
    helper.turn(&mut child, LOOKING);
    let shows = "Many middling tool results over a dozen turns: a recorded pruning, a recorded compaction, a pause of two hours";
    vec![
        agent.finish("opencode/prune-and-compaction.json", shows),
        child.finish("opencode/sub-agent.json", "A sub-agent of the session above"),
    ]
}

fn mini_swe_long() -> File {
    let Chance { author, agent, .. } = Chance::of("mini-swe-long");
    let mut author = Author::new(author, Language::English, 14, 130);
    let mut agent = MiniSwe::new(agent, MONDAY + 150 * HOUR, Provider::openai(OPENING), Protocol::Text, "tidewatch__tidewatch-412");
    let task = "<pr_description>\nReadings of the last minutes before midnight are missing from the nightly export. They are in the spool, and they are in the table on the next day with the wrong date. Make the export complete and the date right, without a change to the spool format.\n</pr_description>\n\n<instructions>\nWork in the project's folder. Change code only below src/. When you are done, submit with: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n</instructions>";
    author.run(&mut agent, task, 120);
    agent.finish("mini-swe-agent/120-steps.traj.json", "One instruction, 120 steps: nothing that waits for a user's turn ever runs")
}

fn mini_swe_tools() -> File {
    let Chance { author, agent, .. } = Chance::of("mini-swe-tools");
    let mut author = Author::new(author, Language::English, 8, 100);
    let mut agent = MiniSwe::new(agent, MONDAY + 153 * HOUR, Provider::openai(320), Protocol::Tools, "tidewatch__tidewatch-377");
    author.run(
        &mut agent,
        "Operators see duplicate rows after a restart of the worker. Find the cause, fix it, add a test, then submit.",
        26,
    );
    agent.finish("mini-swe-agent/tool-calls.traj.json", "The newer trajectory format with real tool calls")
}

fn gemini() -> File {
    let Chance { author, agent, mut pauses } = Chance::of("gemini");
    let mut author = Author::new(author, Language::English, 12, 130);
    let mut agent = Gemini::new(agent, MONDAY + 176 * HOUR, Provider::gemini(12_100), "gemini-3-pro-preview");
    grow(&mut agent, &mut author, &mut pauses, &[MIDDLE, DATA, SMALL], 56_000);
    agent.finish("gemini-cli/session.json", "Results inside the calling message; thoughts counted apart from the output")
}
