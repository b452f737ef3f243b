//! Main facts of the presets of other systems: thresholds, above or at, what is kept.

use crate::policies::{Session, calls_of, preset, run, text};
use ctxsim::sim::{Event, EventKind, Outcome};
use ctxsim::trace::Trace;

const WINDOW: u64 = 200_000;

fn replay(name: &str, settings: &[(&str, &str)], trace: &Trace) -> Outcome {
    run(&preset(name, settings), trace, WINDOW)
}

fn of_kind(outcome: &Outcome, kind: EventKind) -> Vec<&Event> {
    outcome.events.iter().filter(|event| event.kind == kind).collect()
}

/// Usage of a first call, nearly all of it the user's text, and a result of so many characters that comes after it.
fn pending(prompt: u64, output: u64, chars: u32) -> Trace {
    after((prompt as u32).saturating_sub(100) * 4, prompt, output, chars)
}

/// The same, nearly all of it hidden from the log.
fn hidden(prompt: u64, output: u64) -> Trace {
    after(400, prompt, output, 0)
}

fn after(said: u32, prompt: u64, output: u64, chars: u32) -> Trace {
    let next = prompt + output + u64::from(chars) / 4;
    let step = Session::default().user(said).step(40, Some((prompt, output)), "custom", text(chars, chars / 4));
    step.reply(40, Some((next, 10))).trace()
}

#[test]
fn claude_code_compacts_at_window_less_33_000() {
    for (chars, early) in [(1_996, vec![]), (2_000, vec![1])] {
        let outcome = replay("claude-code", &[], &pending(166_000, 500, chars));
        assert_eq!(calls_of(&outcome, EventKind::Compact), early, "{chars}");
        assert!(calls_of(&replay("claude-code@at-limit", &[], &pending(166_000, 500, chars)), EventKind::Compact).is_empty());
    }
    assert_eq!(calls_of(&replay("claude-code@at-limit", &[], &pending(199_000, 500, 2_000)), EventKind::Compact), [1]);
    // The override can only lower.
    let override_of = |percent| [("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", percent)];
    assert_eq!(calls_of(&replay("claude-code", &override_of("50"), &pending(99_000, 500, 2_000)), EventKind::Compact), [1]);
    assert_eq!(calls_of(&replay("claude-code", &override_of("99"), &pending(166_500, 500, 2_000)), EventKind::Compact), [1]);
    // The optional rule keeps the newest three results, and of others 40,000 tokens; it clears no less than 20,000.
    let steps = (0..8).fold(Session::default().user(400), |session, _| session.step(4, None, "Read", text(4_000, 1_000)));
    let settings =
        [("microcompact", "1"), ("microcompact_threshold", "6000"), ("microcompact_keep_tokens", "4500"), ("microcompact_least", "4000")];
    let steps = steps.reply(4, None).trace();
    assert!(calls_of(&replay("claude-code", &settings[1..], &steps), EventKind::Prune).is_empty());
    // At 8,000 tokens of results four older ones are 4,000.
    let touched = |settings| {
        of_kind(&replay("claude-code", settings, &steps), EventKind::Prune).iter().map(|event| event.touched).collect::<Vec<u32>>()
    };
    assert_eq!(touched(&settings), [4]);
    assert!(touched(&settings[..2]).is_empty());
}

#[test]
fn gemini_cli_compresses_at_half_and_masks_from_30_000_tokens_on() {
    for (prompt, compressions) in [(99_999, vec![]), (100_000, vec![1])] {
        let trace = Session::default().user(400_000).reply(40, Some((prompt, 10))).user(4).reply(4, Some((prompt + 11, 1))).trace();
        let outcome = replay("gemini-cli", &[], &trace);
        assert_eq!(calls_of(&outcome, EventKind::Compact), compressions, "{prompt}");
        if prompt == 100_000 {
            assert_eq!((outcome.totals.summariser_calls, of_kind(&outcome, EventKind::Compact)[0].touched), (2, 2));
        }
    }
    // 50,000 tokens are protected beside the newest message; what lies beyond must be 30,000.
    for (chars, prunes) in [(119_996, vec![]), (120_000, vec![3])] {
        let trace = Session::default()
            .user(4)
            .step(4, None, "custom", text(chars, chars / 4))
            .step(4, None, "custom", text(200_000, 50_000))
            .step(4, None, "custom", text(4, 1))
            .reply(4, None)
            .trace();
        assert_eq!(calls_of(&run(&preset("gemini-cli", &[]), &trace, 1_048_576), EventKind::Prune), prunes, "{chars}");
    }
}

#[test]
fn goose_compacts_above_80_percent_between_turns_alone() {
    for (output, compactions) in [(10, vec![]), (11, vec![1])] {
        let usage = Some((159_990, output));
        let trace = Session::default().user(400).reply(40, usage).user(400).reply(4, Some((160_200, 1))).trace();
        assert_eq!(calls_of(&replay("goose", &[], &trace), EventKind::Compact), compactions, "{output}");
    }
    // Within a turn nothing is looked at before the provider refuses, and then everything but the user's message goes.
    let refused = replay("goose", &[], &pending(190_000, 10, 80_000));
    assert_eq!((refused.totals.overflows, refused.totals.failed_sessions), (1, 0));
    assert_eq!(calls_of(&refused, EventKind::Compact), [1]);
}

#[test]
fn cline_acts_at_nine_tenths_of_its_own_estimate() {
    // (300,000 + 40) / 3 and (0 + 40) / 3, rounded up, make 100,028; the limit is 0.9 x 0.9 x 200,000.
    for (chars, fires) in [(185_873, false), (185_876, true)] {
        let trace = Session::default().user(300_000).reply(0, None).user(chars).reply(4, None).trace();
        let agentic = replay("cline", &[], &trace);
        let compactions = of_kind(&agentic, EventKind::Compact);
        assert_eq!(
            compactions.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(),
            if fires { vec![(1, 2)] } else { vec![] }
        );
        // Without a model the user's prompts stay, and only the reply goes.
        let basic = replay("cline@basic", &[], &trace);
        let drops = of_kind(&basic, EventKind::Drop);
        assert_eq!(drops.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), if fires { vec![(1, 1)] } else { vec![] });
    }
    // A single turn: at least 20,000 tokens stay, the message on the line included.
    let steps = (0..10).fold(Session::default().user(400), |session, _| session.step(20, None, "custom", text(47_960, 12_000)));
    let outcome = replay("cline", &[], &steps.step(20, None, "custom", text(47_960, 12_000)).reply(4, None).trace());
    let compactions = of_kind(&outcome, EventKind::Compact);
    assert_eq!(compactions.iter().map(|event| event.rule.as_str()).collect::<Vec<_>>(), ["agentic-single-turn"]);
    // Two results of 16,000 and their calls stay.
    assert_eq!((compactions[0].call, compactions[0].touched), (11, 23 - 4));
}

#[test]
fn openhands_condenses_above_240_events() {
    let session = |steps: usize| (0..steps).fold(Session::default().user(4), |session, _| session.step(4, None, "custom", text(400, 100)));
    assert!(of_kind(&replay("openhands", &[], &session(119).reply(4, None).trace()), EventKind::Compact).is_empty());
    let outcome = replay("openhands", &[], &session(120).reply(4, None).trace());
    // 241 messages less the first two and the newest 117, with neither end parting a call from its result.
    assert_eq!(of_kind(&outcome, EventKind::Compact).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(120, 120)]);
    let masking = replay("openhands@observation-masking", &[], &session(4).reply(4, None).trace());
    // Of nine messages the newest five keep their observations: three of them, so that one of four is masked.
    assert_eq!(of_kind(&masking, EventKind::Prune).last().map(|event| (event.call, event.touched)), Some((4, 1)));
    let recent = replay("openhands@recent", &[], &session(6).reply(4, None).trace());
    assert_eq!(of_kind(&recent, EventKind::Drop).last().map(|event| event.touched), Some(2));
    let amortized = replay("openhands@amortized", &[], &session(50).reply(4, None).trace());
    assert_eq!(calls_of(&amortized, EventKind::Drop), [50]);
}

#[test]
fn swe_agent_masks_all_but_the_newest_observations_anew_for_each_request() {
    let session = (0..7).fold(Session::default().user(400), |session, _| session.step(4, None, "bash", text(4_000, 1_000)));
    let trace = session.reply(4, None).trace();
    let prunes = |name: &str| {
        let outcome = replay(name, &[], &trace);
        of_kind(&outcome, EventKind::Prune).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>()
    };
    assert_eq!(prunes("swe-agent"), [(6, 1), (7, 2)]);
    assert_eq!(prunes("complexity-trap@masking"), []);
    let long = (0..32).fold(Session::default().user(400), |session, _| session.step(4, None, "bash", text(4_000, 1_000)));
    let summaries = replay("complexity-trap@summary", &[], &long.reply(4, None).trace());
    // At 31 steps the oldest 21 go; ten and one more are no reason for another one.
    assert_eq!(of_kind(&summaries, EventKind::Compact).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(31, 42)]);
}

#[test]
fn anthropic_clears_above_100_000_tokens_for_each_request() {
    // The server counts the request itself: one token of the user, nine for each call, and the results.
    for (last, prunes) in [(39_963, vec![]), (39_964, vec![(4, 1)])] {
        let session = Session::default()
            .user(4)
            .step(0, None, "t", text(80_000, 20_000))
            .step(0, None, "t", text(80_000, 20_000))
            .step(0, None, "t", text(80_000, 20_000))
            .step(0, None, "t", text(80_000, last))
            .reply(4, None);
        let trace = session.trace();
        let outcome = replay("anthropic", &[], &trace);
        assert_eq!(
            of_kind(&outcome, EventKind::Prune).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(),
            prunes,
            "{last}"
        );
        // A saving below clear_at_least is a veto.
        assert!(of_kind(&replay("anthropic", &[("clear_at_least", "20001")], &trace), EventKind::Prune).is_empty());
    }
    let compactions = |prompt| calls_of(&replay("anthropic@compaction", &[], &hidden(prompt, 0)), EventKind::Compact);
    assert_eq!((compactions(149_999), compactions(150_000)), (vec![], vec![0, 1]));
}

#[test]
fn langchain_summarises_at_its_fraction_and_clears_above_its_limit() {
    for (output, compactions) in [(9, vec![]), (10, vec![(15, 11)])] {
        let steps = (0..14).fold(Session::default().user(400), |session, _| session.step(4, None, "t", text(400, 100)));
        let trace = steps.step(4, Some((169_990, output)), "t", text(400, 100)).reply(4, None).trace();
        let outcome = replay("langchain", &[], &trace);
        // Of 31 messages the newest 20 stay.
        assert_eq!(of_kind(&outcome, EventKind::Compact).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), compactions);
    }
    // 4 results of 99,948 characters and a message of 4; three tokens for each of nine messages, one for each call's name.
    for (chars, prunes) in [(99_948, vec![]), (99_976, vec![(4, 1)])] {
        let session = (0..4).fold(Session::default().user(4), |session, _| session.step(0, None, "t", text(chars, chars / 4)));
        let outcome = replay("langchain@clear-tool-uses", &[], &session.reply(4, None).trace());
        assert_eq!(
            of_kind(&outcome, EventKind::Prune).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(),
            prunes,
            "{chars}"
        );
    }
}

#[test]
fn others_act_where_their_code_says_so() {
    // The check before the second call; what a check after it finds is another matter.
    let at = |name: &str, prompt, output| {
        let outcome = replay(name, &[], &hidden(prompt, output));
        of_kind(&outcome, EventKind::Compact)
            .iter()
            .filter(|event| !event.rule.ends_with("turn-end"))
            .map(|event| event.call)
            .collect::<Vec<u32>>()
    };
    // Crush: a fifth of a window of 200,000 is left, and no more.
    assert_eq!((at("crush", 159_990, 9), at("crush", 159_990, 10)), (vec![], vec![1]));
    // Roo: above nine tenths less the reserve of 32,000.
    assert_eq!((at("roo", 147_990, 10), at("roo", 147_990, 11)), (vec![], vec![1]));
    // Kilo: window less output; less 20,000 as well before 7.7.
    assert_eq!((at("kilo", 167_990, 9), at("kilo", 167_990, 10)), (vec![], vec![1]));
    assert_eq!((at("kilo@89415151", 147_990, 9), at("kilo@89415151", 147_990, 10)), (vec![], vec![1]));
    // Zed: at nine tenths of window less output.
    assert_eq!((at("zed", 151_190, 9), at("zed", 151_190, 10)), (vec![], vec![1]));
    // Letta: above nine tenths.
    assert_eq!((at("letta", 179_990, 10), at("letta", 179_990, 11)), (vec![], vec![1]));
    // Qwen Code: the prompt alone, at seven tenths.
    let qwen = |prompt| {
        let trace = Session::default().user(400_000).reply(40, Some((prompt, 99))).user(4).reply(4, None).trace();
        calls_of(&replay("qwen-code", &[], &trace), EventKind::Compact)
    };
    assert_eq!((qwen(139_999), qwen(140_000)), (vec![], vec![1]));
    // OpenAI's truncation drops the oldest messages where the prompt does not fit, and only then.
    let refused = replay("openai@truncation", &[], &pending(190_000, 10, 80_000));
    assert_eq!((refused.totals.overflows, refused.totals.failed_sessions), (1, 0));
}
