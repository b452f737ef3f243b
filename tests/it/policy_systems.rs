//! Main facts of the presets of other systems: thresholds, above or at, what is kept.

use crate::policies::{Session, calls_of, preset, run, text};
use ctxsim::catalog::Family;
use ctxsim::policy::{Facts, Hook, Policy, Recorder, presets};
use ctxsim::sim::{Event, EventKind, Outcome};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Length, Part, Role, Text};

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
    // A window that is set is compacted by as elsewhere, at 33,000 below it, and is at least 100,000; turned off, nothing is.
    let at_limit = |settings: &[(&str, &str)], prompt| {
        calls_of(&replay("claude-code@at-limit", settings, &pending(prompt, 500, 2_000)), EventKind::Compact)
    };
    for (window, threshold) in [("150k", 117_000), ("40k", 67_000), ("900k", 167_000)] {
        let set = [("autoCompactWindow", window)];
        assert!(at_limit(&set, threshold - 1_001).is_empty(), "{window}");
        assert_eq!(at_limit(&set, threshold - 1_000), [1], "{window}");
    }
    assert!(at_limit(&[("autoCompactWindow", "150k"), ("autoCompactEnabled", "no")], 160_000).is_empty());
    assert!(at_limit(&[("autoCompactWindow", "150k"), ("DISABLE_AUTO_COMPACT", "yes")], 160_000).is_empty());
    // Of an id that it does not recognise it takes the window to be 200,000, and so it does of each model where that is asked for.
    let on_a_million = |name: &str, settings: &[(&str, &str)]| {
        calls_of(&run(&preset(name, settings), &pending(166_000, 500, 2_000), 1_000_000), EventKind::Compact)
    };
    assert_eq!(on_a_million("claude-code@unrecognised", &[]), [1]);
    assert_eq!(on_a_million("claude-code@at-limit", &[("CLAUDE_CODE_DISABLE_1M_CONTEXT", "yes")]), [1]);
    assert!(on_a_million("claude-code@unrecognised", &[("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "201k")]).is_empty());
    assert!(on_a_million("claude-code@early", &[]).is_empty());
    // The override can only lower.
    let override_of = |percent| [("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", percent)];
    assert_eq!(calls_of(&replay("claude-code", &override_of("50"), &pending(89_000, 500, 2_000)), EventKind::Compact), [1]);
    assert!(calls_of(&replay("claude-code", &override_of("50"), &pending(88_999, 500, 2_000)), EventKind::Compact).is_empty());
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
    // 50,000 tokens are protected beside the newest message; what lies beyond must be 30,000, with its name and what wraps it.
    for (chars, prunes) in [(119_980, vec![]), (119_984, vec![3])] {
        let trace = Session::default()
            .user(4)
            .step(4, None, "custom", text(chars, chars / 4))
            .step(4, None, "custom", text(199_980, 49_995))
            .step(4, None, "custom", text(4, 1))
            .reply(4, None)
            .trace();
        assert_eq!(calls_of(&run(&preset("gemini-cli", &[]), &trace, 1_048_576), EventKind::Prune), prunes, "{chars}");
    }
    // An output that a placeholder would not shorten counts, and stays.
    let trace = Session::default()
        .user(4)
        .step(4, None, "custom", text(40, 10))
        .step(4, None, "custom", text(119_960, 29_990))
        .step(4, None, "custom", text(199_980, 49_995))
        .step(4, None, "custom", text(4, 1))
        .reply(4, None)
        .trace();
    let outcome = run(&preset("gemini-cli", &[]), &trace, 1_048_576);
    assert_eq!(of_kind(&outcome, EventKind::Prune).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(4, 1)]);
}

#[test]
fn gemini_cli_of_each_release_has_its_own_threshold_and_what_came_later_is_missing() {
    // Results of 12,000 tokens and 40 lines. 50,000 tokens of the newest stay whole; masking needs 30,000 beyond them.
    let lines = || Text { length: Length { newlines: 39, ..text(48_000, 12_000).length }, ..text(48_000, 12_000) };
    let session = |results, prompt| {
        let steps = (0..results).fold(Session::default().user(4), |session, _| session.step(4, None, "read_file", lines()));
        steps.reply(40, Some((prompt, 10))).user(4).reply(4, Some((prompt + 11, 1))).trace()
    };
    for (version, share, calls, cut, masked) in [
        ("gemini-cli", 50, 2, true, true),
        ("gemini-cli@0.29", 50, 2, true, false),
        ("gemini-cli@0.26", 50, 2, true, false),
        ("gemini-cli@0.17", 50, 1, false, false),
        ("gemini-cli@0.11", 20, 1, false, false),
        ("gemini-cli@0.1", 70, 1, false, false),
    ] {
        let limit = share * 2_000;
        assert!(of_kind(&replay(version, &[], &session(6, limit - 1)), EventKind::Compact).is_empty(), "{version}");
        let outcome = replay(version, &[], &session(6, limit));
        assert_eq!(of_kind(&outcome, EventKind::Compact).len(), 1, "{version}");
        assert_eq!(outcome.totals.summariser_calls, calls, "{version}");
        assert_eq!(!of_kind(&outcome, EventKind::Truncate).is_empty(), cut, "{version}");
        let below = run(&preset(version, &[]), &session(10, limit), 1_048_576);
        assert_eq!(!of_kind(&below, EventKind::Prune).is_empty(), masked, "{version}");
    }
}

/// Most of the prompt is system prompt and tools, which its estimate does not know.
#[test]
fn gemini_cli_holds_its_estimate_of_the_new_history_against_the_last_prompt() {
    let small = Session::default().user(400).reply(40, Some((100_000, 10))).user(4).step(40, Some((100_020, 10)), "t", text(40, 10));
    let small = small.reply(4, None).trace();
    // A summary of 1,512 tokens takes the place of 110.
    let outcome = replay("gemini-cli", &[], &small);
    assert_eq!((calls_of(&outcome, EventKind::Compact)[0], outcome.totals.failed_sessions), (1, 0));
    // One that is larger than the last prompt is rejected and paid for, and no other one is asked for in the session.
    let outcome = replay("gemini-cli", &[("summary_tokens", "100000")], &small);
    assert_eq!((calls_of(&outcome, EventKind::Compact), outcome.totals.summariser_calls), (vec![], 2));
    assert_eq!(outcome.summaries.iter().map(|summary| (summary.call, summary.output)).collect::<Vec<_>>(), [(1, 200_000)]);
}

/// Before 0.21.0 the newest four messages stay, or fewer where they reach a fifth of the window, and an hour's pause clears results older than 20 messages.
#[test]
fn kimi_code_of_june_2026_keeps_four_messages_and_clears_after_an_idle_hour() {
    let steps = |steps, newest| {
        let all = (1..steps).fold(Session::default().user(4), |session, _| session.step(40, None, "Bash", text(4_000, 1_000)));
        all.step(40, None, "Bash", text(newest, newest / 4))
    };
    for (output, newest, touched) in [(9, 4_000, vec![]), (10, 4_000, vec![9]), (10, 160_000, vec![11])] {
        let trace = steps(5, newest).reply(4, Some((149_989, output))).user(0).reply(4, None).trace();
        let outcome = replay("kimi-code@0.20", &[("tool_result_max_chars", "1000000")], &trace);
        let found = of_kind(&outcome, EventKind::Compact);
        assert_eq!(found.iter().map(|event| event.touched).collect::<Vec<_>>(), touched, "{output} {newest}");
    }
    for (seconds, prompt, touched) in [(3_599, 99_990, vec![]), (3_600, 99_980, vec![]), (3_600, 99_990, vec![3])] {
        let trace = steps(12, 4_000).reply(4, Some((prompt, 9))).at(0).user(0).at(seconds).reply(4, None).at(seconds).trace();
        let outcome = replay("kimi-code@0.20", &[], &trace);
        let found = of_kind(&outcome, EventKind::Prune);
        assert_eq!(found.iter().map(|event| event.touched).collect::<Vec<_>>(), touched, "{seconds} {prompt}");
    }
}

#[test]
fn kimi_code_compacts_50_000_tokens_below_its_window_and_keeps_what_was_typed() {
    // A reply of 150,000 tokens and what wraps a result of nothing: the role of its message.
    for (output, compactions) in [(8, vec![]), (9, vec![(1, 2)])] {
        let outcome = replay("kimi-code", &[], &hidden(149_990, output));
        let found = of_kind(&outcome, EventKind::Compact);
        assert_eq!(found.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), compactions, "{output}");
        // The summariser reads the request as it stands, from the cache, and its instruction.
        for (event, summary) in found.iter().zip(&outcome.summaries) {
            assert_eq!((summary.prompt, summary.output, summary.calls), (event.before + 1_120, 1_500, 1));
            assert!(summary.prefix > 149_000, "{}", summary.prefix);
        }
    }
    // Windows of up to 50,000 have the ratio alone.
    let small = |prompt| calls_of(&run(&preset("kimi-code", &[]), &hidden(prompt, 0), 50_000), EventKind::Compact);
    assert_eq!((small(42_498), small(42_499)), (vec![], vec![1]));
    // Of 30,001 tokens that were typed, and three roles, 20,000 stay: the newest 18,000, which is 2,997 of the oldest message, and its first
    // 2,000. The summary comes, what wraps it and what asks to go on, and a note in the gap.
    let typed = Session::default().user(60_000).reply(4, None).user(60_000).reply(4, None).user(4).reply(4, Some((150_000, 1)));
    let outcome = replay("kimi-code", &[], &typed.user(4).reply(4, None).trace());
    let compaction = of_kind(&outcome, EventKind::Compact);
    assert_eq!(compaction.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(2, 2)]);
    let freed = compaction[0].before - compaction[0].after;
    assert!((10_003 + 2 - 2_382 - 130..10_003 + 2 - 2_382).contains(&freed), "{freed}");
    // What was cut once is cut from what is left: the context after a compaction does not grow from one to the next.
    let mut again = Session::default().user(12_000).reply(4, None).user(36_000).reply(4, None).user(40_000);
    for _ in 0..30 {
        again = again.step(4, None, "custom", text(16_000, 4_000));
    }
    let outcome = run(&preset("kimi-code", &[]), &again.reply(4, None).trace(), 49_000);
    let after: Vec<u64> = of_kind(&outcome, EventKind::Compact).iter().map(|event| event.after).collect();
    assert!(after.len() >= 3 && after.iter().all(|size| size.abs_diff(after[0]) < 400), "{after:?}");
}

#[test]
fn opencode_2_keeps_whole_turns_as_text() {
    // The window less an output of 32,000. A single turn goes as a whole.
    for (prompt, compactions) in [(167_999, vec![]), (168_000, vec![(1, 3)])] {
        let outcome = replay("opencode@2", &[], &hidden(prompt, 0));
        let found = of_kind(&outcome, EventKind::Compact);
        assert_eq!(found.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), compactions, "{prompt}");
        for (event, summary) in found.iter().zip(&outcome.summaries) {
            assert_eq!((summary.prompt, summary.calls), (event.before + 500, 1));
        }
    }
    // The newest turn fits 15,000 tokens: its result counts and stays with 2,000 characters; the turn before it does not fit.
    let trace = Session::default().user(80_000).reply(4, None).user(400).step(40, None, "custom", text(40_000, 10_000));
    let outcome = replay("opencode@2", &[], &trace.reply(40, Some((169_000, 10))).user(4).reply(4, None).trace());
    let found = of_kind(&outcome, EventKind::Compact);
    assert_eq!(found.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(2, 2)]);
    // 20,000 tokens went, and 9,500 of the result; the summary came, and the tags around it.
    let freed = found[0].before - found[0].after;
    assert!((20_000 + 9_400 - 1_560..=20_000 + 9_500 - 1_560).contains(&freed), "{freed}");
    // The summariser reads what goes, and all that the log does not show, but not what stays.
    assert!(outcome.summaries[0].prompt < found[0].before + 500 - 10_000);
}

/// What a compaction has kept is text within its own message, and the next one summarises it with that.
#[test]
fn opencode_2_keeps_nothing_twice() {
    // 147,000 tokens are hidden. The first compaction keeps a message of 5,000; two results of 10,000 come within its turn.
    let begun = Session::default().user(80_000).reply(40, Some((167_000, 10))).user(20_000);
    let trace = (0..2).fold(begun, |session, _| session.step(4, None, "custom", text(40_000, 10_000))).reply(4, None).trace();
    let outcome = replay("opencode@2", &[], &trace);
    let found = of_kind(&outcome, EventKind::Compact);
    assert_eq!(found.iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(1, 2), (3, 2)]);
    // What stays is the summary and its tags, and of either result 500 tokens.
    assert!((148_560 + 1_000..148_560 + 1_200).contains(&found[1].after), "{}", found[1].after);
}

#[test]
fn kilo_looks_ahead_before_a_turn_where_a_percentage_is_set() {
    // The usage of 99,010 tokens, and 1.3 times the estimate of a message of 760 or 761, at a limit of 100,000.
    let session = |chars| Session::default().user(200_000).reply(40, Some((99_000, 10))).user(chars).reply(4, None).trace();
    let compactions = |settings: &[(&str, &str)], chars| calls_of(&replay("kilo@7.7", settings, &session(chars)), EventKind::Compact);
    let percent = [("threshold_percent", "50")];
    assert_eq!((compactions(&percent, 2_984), compactions(&percent, 2_992), compactions(&[], 2_992)), (vec![], vec![1], vec![]));
    // A head of 152,000 tokens is longer than a piece of 118,771: two summaries, and one of both.
    let long = Session::default().user(608_000).reply(40, Some((170_000, 10))).user(4).reply(4, None).trace();
    let outcome = replay("kilo@7.7", &[], &long);
    assert_eq!(outcome.summaries.iter().map(|summary| summary.calls).collect::<Vec<_>>(), [3]);
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
    // (300,000 + 94) / 3 and (0 + 273) / 3, rounded up, make 100,123; the limit is 0.9 x 200,000.
    for (chars, fires) in [(239_534, false), (239_535, true)] {
        let trace = Session::default().user(300_000).reply(0, None).user(chars).reply(4, None).trace();
        let agentic = replay("cline@agentic", &[], &trace);
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
    let steps = (0..11).fold(Session::default().user(400), |session, _| session.step(20, None, "custom", text(47_960, 12_000)));
    let whole = [("result_units", "48000")];
    let outcome = replay("cline@agentic", &whole, &steps.step(20, None, "custom", text(47_960, 12_000)).reply(4, None).trace());
    let compactions = of_kind(&outcome, EventKind::Compact);
    assert_eq!(compactions.iter().map(|event| event.rule.as_str()).collect::<Vec<_>>(), ["agentic-single-turn"]);
    // Two results of 16,000 and their calls stay.
    assert_eq!((compactions[0].call, compactions[0].touched), (12, 25 - 4));
    // No text of a result is longer than 8,000 units in a request, its mark included, and the trigger counts the request.
    for name in ["cline@agentic", "cline@3.0", "cline@basic"] {
        for (chars, cut) in [(8_000, vec![]), (8_001, vec![1])] {
            let trace = Session::default().user(400).step(20, None, "custom", text(chars, chars / 4)).reply(4, None).trace();
            assert_eq!(calls_of(&replay(name, &[], &trace), EventKind::Truncate), cut, "{name} {chars}");
        }
        let long = (0..12).fold(Session::default().user(400), |session, _| session.step(20, None, "custom", text(47_960, 12_000)));
        assert!(calls_of(&replay(name, &[], &long.reply(4, None).trace()), EventKind::Compact).is_empty(), "{name}");
        assert!(calls_of(&replay(name, &[("compactionEnabled", "no")], &steps_over()), EventKind::Compact).is_empty(), "{name}");
    }
}

/// The last files that were read or written come back, a note for one that is too large, and no other result.
#[test]
fn claude_code_reads_files_again() {
    let sizes = [900, 300, 800, 400, 500, 600];
    let read =
        sizes.into_iter().fold(Session::default().user(400), |session, tokens| session.step(4, None, "Read", text(4 * tokens, tokens)));
    let trace = read.step(4, Some((166_950, 10)), "Grep", text(400, 100)).reply(4, None).trace();
    let injected = |settings: &[(&str, &str)]| {
        let outcome = replay("claude-code", settings, &trace);
        assert_eq!(calls_of(&outcome, EventKind::Compact).len(), 1);
        outcome.totals.injected_tokens
    };
    // A summary of 3,000 and 2,000 beside the files; each of these is larger than 200 tokens.
    for (files, come) in [("2", 2), ("5", 5), ("6", 6), ("7", 6)] {
        assert_eq!(injected(&[("restored_files", files), ("restored_file_tokens", "200")]), 3_000 + 2_000 + 60 * come, "{files}");
    }
    let whole = injected(&[("restored_files", "2")]);
    assert!((3_000 + 2_000 + 1_100..3_000 + 2_000 + 1_200).contains(&whole), "{whole}");
}

/// More than any of its limits.
fn steps_over() -> Trace {
    Session::default().user(300_000).reply(0, None).user(250_000).reply(4, None).trace()
}

/// Its own engine of before 2026-06-24: the last usage, output included, at 160,000 of 200,000, at 97,000 of 128,000 and at 80 % of larger windows.
#[test]
fn cline_classic_hides_half_behind_the_first_two_messages() {
    let steps = |usage: u64| {
        let steps = (0..6).fold(Session::default().user(4), |session, _| session.step(4, None, "custom", text(400, 100)));
        steps.reply(4, Some((usage - 10, 10))).user(4).reply(4, None).trace()
    };
    for (window, limit) in [(200_000, 160_000), (128_000, 98_000), (64_000, 37_000), (1_000_000, 960_000), (100_000, 80_000)] {
        let drops = |usage| {
            let outcome = run(&preset("cline@classic", &[]), &steps(usage), window);
            of_kind(&outcome, EventKind::Drop).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>()
        };
        assert!(drops(limit - 1).is_empty(), "{window}");
        // Of 15 messages 13 stand behind the first two: 6 go.
        assert_eq!(drops(limit), [(7, 6)], "{window}");
    }
}

/// What stands in the middle of a longer one is part of the limit, and of the output of Qwen Code's shell a preview alone stays.
#[test]
fn results_of_tools_have_the_limits_of_their_tool() {
    for (policy, tool, longest, left) in [
        ("openhands", "terminal", 30_000, 30_000..=30_000),
        ("openhands", "grep", 50_000, 50_000..=50_000),
        ("openhands", "file_editor", 16_000, 16_000..=16_000),
        // With the words around it.
        ("qwen-code", "run_shell_command", 30_000, 1..=4_500),
    ] {
        let plan = preset(policy, &[]).plan(&Facts { window: Some(WINDOW), ..Facts::default() }).unwrap();
        let arrives = |chars: u32| {
            let limits = plan.rule.iter().filter(|rule| {
                rule.at == Hook::Ingest && (rule.select.tools.is_empty() || rule.select.tools.iter().any(|name| name == tool))
            });
            limits
                .filter(|rule| !rule.select.not_tools.iter().any(|name| name == tool))
                .find_map(|rule| rule.arrives(&text(chars, chars / 4)))
        };
        assert!(arrives(longest).is_none(), "{policy} {tool}");
        let cut = arrives(longest + 1).unwrap();
        assert!(left.contains(&cut.text.length.chars), "{policy} {tool}: {}", cut.text.length.chars);
    }
}

#[test]
fn openhands_condenses_above_240_events() {
    let session = |steps: usize| (0..steps).fold(Session::default().user(4), |session, _| session.step(4, None, "custom", text(400, 100)));
    assert!(of_kind(&replay("openhands", &[], &session(119).reply(4, None).trace()), EventKind::Compact).is_empty());
    let outcome = replay("openhands", &[], &session(120).reply(4, None).trace());
    // The system prompt and 241 messages, less the first two and the newest 117, whose first is a result: it goes with its call.
    assert_eq!(of_kind(&outcome, EventKind::Compact).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>(), [(120, 124)]);
    // It reads 62 thoughts of a token and 62 results of 100, no calls; of longer ones the first 500 characters, 125 tokens.
    assert_eq!(outcome.summaries[0].prompt, 62 * 101 + 900);
    let long = (0..120).fold(Session::default().user(4), |session, _| session.step(800, None, "custom", text(4_000, 1_000)));
    assert_eq!(replay("openhands", &[], &long.reply(4, None).trace()).summaries[0].prompt, 62 * 250 + 900);
    let masking = replay("openhands@observation-masking", &[], &session(4).reply(4, None).trace());
    // Of nine messages the newest five keep their observations: three of them, so that one of four is masked.
    assert_eq!(of_kind(&masking, EventKind::Prune).last().map(|event| (event.call, event.touched)), Some((4, 1)));
    // Its result is a message of the user of three tokens, and its reply goes: of the task of one, and of steps of 1 + 10 + 100, three whole ones stay.
    assert_eq!(masking.calls.iter().map(|call| call.actual).collect::<Vec<_>>(), [1, 112, 223, 334, 1 + 3 + 3 * 111]);
    // A reply that calls nothing stays, however old it is.
    let said = Session::default().user(4).reply(40, None).user(4);
    let said = (0..4).fold(said, |session, _| session.step(4, None, "custom", text(400, 100))).reply(4, None);
    assert_eq!(replay("openhands@observation-masking", &[], &said.trace()).calls.last().unwrap().actual, 12 + 3 + 3 * 111);
    // The first of 13 messages and the newest nine, whose first is a result: its call has gone, and it goes too.
    let recent = replay("openhands@recent", &[], &session(6).reply(4, None).trace());
    assert_eq!(of_kind(&recent, EventKind::Drop).last().map(|event| event.touched), Some(4));
    let amortized = replay("openhands@amortized", &[], &session(50).reply(4, None).trace());
    assert_eq!(calls_of(&amortized, EventKind::Drop), [50]);
}

#[test]
fn swe_agent_until_1_0_masks_all_but_the_newest_observations_anew_for_each_request() {
    let session = (0..7).fold(Session::default().user(400), |session, _| session.step(4, None, "bash", text(4_000, 1_000)));
    let trace = session.reply(4, None).trace();
    let prunes = |name: &str| {
        let outcome = replay(name, &[], &trace);
        of_kind(&outcome, EventKind::Prune).iter().map(|event| (event.call, event.touched)).collect::<Vec<_>>()
    };
    assert_eq!(prunes("swe-agent@1.0"), [(6, 1), (7, 2)]);
    // The default configuration has no processor that masks.
    assert_eq!(prunes("swe-agent"), []);
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
        // A saving below clear_at_least is a veto: 20,000 tokens of the public vocabulary are 25,000 of Claude's.
        let prunes_from = |least| calls_of(&replay("anthropic", &[("clear_at_least", least)], &trace), EventKind::Prune).len();
        assert_eq!((prunes_from("25000"), prunes_from("25001")), (prunes.len(), 0));
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
    // A message of 5 tokens, calls of 20, and results of 3 + (characters + 6) / 4: 99,997 together, or 100,001.
    for (chars, prunes) in [(99_894, vec![]), (99_895, vec![(4, 1)])] {
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
fn roo_keeps_free_what_it_takes_a_reply_for() {
    let reserve = |family, max_output| {
        let facts = Facts { window: Some(WINDOW), max_output, family, ..Facts::default() };
        Policy::load("roo").unwrap().plan(&facts).unwrap().window.reserve
    };
    let claude = Some(Family::ClaudeOld);
    assert_eq!([64_000, 4_096, 0].map(|output| reserve(claude, output)), [8_192, 4_096, 8_192]);
    assert_eq!([128_000, 0].map(|output| reserve(Some(Family::Gpt), output)), [128_000, 8_192]);
    assert_eq!([Some(Family::Deepseek), None].map(|family| reserve(family, 128_000)), [40_000; 2]);
    assert_eq!([32_000, 0].map(|output| reserve(None, output)), [32_000, 8_192]);
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
    // A single message is not condensed, however large.
    assert!(calls_of(&replay("roo", &[], &Session::default().user(600_000).reply(4, None).trace()), EventKind::Compact).is_empty());
    // Kilo: window less output; less 20,000 as well before 7.7.
    assert_eq!((at("kilo", 167_990, 9), at("kilo", 167_990, 10)), (vec![], vec![1]));
    assert_eq!((at("kilo@89415151", 147_990, 9), at("kilo@89415151", 147_990, 10)), (vec![], vec![1]));
    // Zed: at nine tenths of window less output.
    assert_eq!((at("zed", 151_190, 9), at("zed", 151_190, 10)), (vec![], vec![1]));
    // Letta: above nine tenths.
    assert_eq!((at("letta", 179_990, 10), at("letta", 179_990, 11)), (vec![], vec![1]));
    // Letta Code: above window less 16,384, after each reply. What is hidden alone comes near to that.
    assert_eq!((at("letta-code", 183_600, 6), at("letta-code", 183_600, 17)), (vec![], vec![0, 1]));
    // Qwen Code 0.15: the prompt alone, at seven tenths.
    let qwen = |prompt| {
        let trace = Session::default().user(400_000).reply(40, Some((prompt, 99))).user(4).reply(4, None).trace();
        calls_of(&replay("qwen-code@0.15", &[], &trace), EventKind::Compact)
    };
    assert_eq!((qwen(139_999), qwen(140_000)), (vec![], vec![1]));
    // OpenAI's truncation drops the oldest messages where the prompt does not fit, and only then.
    let refused = replay("openai@truncation", &[], &pending(190_000, 10, 80_000));
    assert_eq!((refused.totals.overflows, refused.totals.failed_sessions), (1, 0));
}

fn touched(outcome: &Outcome, kind: EventKind) -> Vec<(u32, u32)> {
    of_kind(outcome, kind).iter().map(|event| (event.call, event.touched)).collect()
}

#[test]
fn qwen_code_compresses_33_000_below_the_window_and_puts_files_back() {
    // 166,000 and 500 are reported; (1,936 + 64) / 4 = 500 of the result is pending, and 167,000 is the limit.
    for (chars, compressions) in [(1_932, vec![]), (1_936, vec![(1, 1)])] {
        let outcome = replay("qwen-code", &[], &pending(166_000, 500, chars));
        assert_eq!(touched(&outcome, EventKind::Compact), compressions, "{chars}");
        if chars == 1_936 {
            // The summariser reads the request as it stands, 166,500 + 484, and 900; all but the last prompt is what the cache holds.
            let summary = &outcome.summaries[0];
            assert_eq!((summary.prompt, summary.output), (167_884, 1_500));
            // The user's 165,900 go; a summary of 1,500 with 53 around it comes, and five files of 2,000.
            assert_eq!(outcome.calls[1].actual, 166_984 - 165_900 + 1_553 + 10_000);
        }
    }
    // A share above (window - 33,000) / window has no effect, a lower one has.
    let at =
        |share, prompt| touched(&replay("qwen-code", &[("autoCompactThreshold", share)], &pending(prompt, 500, 1_936)), EventKind::Compact);
    assert_eq!((at("0.9", 165_999), at("0.9", 166_000), at("0.5", 99_000)), (vec![], vec![(1, 1)], vec![(1, 1)]));
    // What is too large for any compression is not sent: from 177,000 on.
    let first = |chars| replay("qwen-code", &[], &Session::default().user(chars).reply(4, None).trace()).ended_at();
    assert_eq!((first(707_996), first(708_000)), (None, Some(0)));
}

#[test]
fn qwen_code_clears_old_results_by_size_and_after_an_idle_hour() {
    let steps = |count: usize, chars| {
        (0..count).fold(Session::default().user(4), |session, _| session.step(4, None, "read_file", text(chars, chars / 4)))
    };
    // 21 results of 25,000 characters are more than 500,000: the oldest go until 250,000 are left.
    for (count, prunes) in [(20, vec![]), (21, vec![(21, 11)])] {
        let outcome = replay("qwen-code", &[], &steps(count, 25_000).reply(4, None).trace());
        assert_eq!(touched(&outcome, EventKind::Prune), prunes, "{count}");
    }
    // Seven results after an hour: five stay, whatever their size.
    for (gap, prunes) in [(3_599, vec![]), (3_600, vec![(8, 2)])] {
        let session = steps(7, 400).reply(4, None).at(0).user(4).at(gap).reply(4, None).at(gap);
        assert_eq!(touched(&replay("qwen-code", &[], &session.trace()), EventKind::Prune), prunes, "{gap}");
    }
}

#[test]
fn cline_takes_a_request_for_what_the_last_one_came_to() {
    for (prompt, compactions) in [(179_999, vec![]), (180_001, vec![(2, 1)])] {
        let session = Session::default().user(300_000).reply(60_000, Some((75_000, 15_000))).user(400);
        let step = session.step(40, Some((prompt, 10)), "custom", text(400, 100));
        let outcome = replay("cline", &[], &step.reply(4, Some((prompt + 120, 1))).trace());
        // By its own estimate the request is some 120,000; 0.9 x 200,000 is the limit. 20,000 tokens stay, the reply on the line included.
        assert_eq!(touched(&outcome, EventKind::Compact), compactions, "{prompt}");
        let asked: Vec<(u64, u64)> = outcome.summaries.iter().map(|summary| (summary.prompt, summary.output)).collect();
        // The user's 75,000 tokens, and the instruction.
        assert_eq!(asked, compactions.iter().map(|_| (75_500, 1_500)).collect::<Vec<_>>());
    }
}

#[test]
fn logs_are_recorded_under_the_rule_of_their_version_or_day() {
    let under = |agent, version, day| {
        let recorder = Recorder { agent, version, day, ..Recorder::default() };
        let known = presets().iter().map(|known| Policy::load(known.name).unwrap());
        known.filter(|policy| policy.recorded(recorder).is_some()).map(|policy| policy.name).collect::<Vec<_>>()
    };
    for (version, name) in
        [("0.15.10", "qwen-code@0.15"), ("0.21.2", "qwen-code@0.24"), ("0.24.4", "qwen-code@0.24"), ("", "qwen-code@0.24")]
    {
        assert_eq!(under("qwen-code", version, "2026-11-01"), [name]);
    }
    for (versions, name) in
        [(["1.0.162", "1.1.56"], "2025-12"), (["1.1.58", "1.14.33"], "1.2"), (["1.14.34", "1.18.16"], "1.15"), (["1.18.17", ""], "1.18")]
    {
        versions.iter().for_each(|version| assert_eq!(under("opencode", version, "2026-11-01"), [format!("opencode@{name}")], "{version}"));
    }
    for (days, name) in [
        (["2025-08-01", "2025-10-31"], "gemini-cli@0.1"),
        (["2025-11-01", "2025-11-20"], "gemini-cli@0.11"),
        (["2025-11-21", "2026-01-27"], "gemini-cli@0.17"),
        (["2026-01-28", "2026-02-17"], "gemini-cli@0.26"),
        (["2026-02-18", "2026-02-24"], "gemini-cli@0.29"),
        (["2026-02-25", ""], "gemini-cli"),
    ] {
        days.iter().for_each(|day| assert_eq!(under("gemini-cli", "", day), [name], "{day}"));
    }
    for (agent, day, name) in [
        ("pi", "2026-08-27", "pi@0.73"),
        ("pi", "2026-08-28", "pi@1.5"),
        ("kimi-code", "2026-06-30", "kimi-code@0.20"),
        ("kimi-code", "2026-07-01", "kimi-code"),
    ] {
        assert_eq!(under(agent, "", day), [name], "{day}");
    }
    for (day, name) in [("2026-09-22", "cline@agentic"), ("2026-09-23", "cline@3.0")] {
        assert_eq!(under("cline-cli", "", day), [name]);
    }
    for (day, name) in
        [("2026-02-28", "without-pairs"), ("2026-03-01", "2026-03"), ("2026-09-30", "2026-03"), ("2026-10-01", "without-pairs")]
    {
        assert_eq!(under("goose", "", day), [format!("goose@{name}")]);
    }
}

#[test]
fn goose_summarises_old_pairs_one_by_one() {
    let session = |count| (0..count).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(400, 100)));
    // 3 x 160,000 / 20,000 = 24 calls of older turns stay, and up to ten more. The lines are made beside a request, for the next one.
    for (count, compactions) in [(34, vec![]), (35, vec![(36, 20)])] {
        let trace = session(count).reply(40, None).user(400).step(40, None, "t", text(400, 100)).reply(4, None).trace();
        let outcome = replay("goose", &[], &trace);
        assert_eq!(touched(&outcome, EventKind::Compact), compactions, "{count}");
        let plain = replay("goose@without-pairs", &[], &trace);
        assert!(plain.summaries.is_empty());
        if count == 35 {
            // Ten replies of 10 tokens with a call of 9 and a result of 100, each with an instruction of 200; a line of 40 comes for each.
            let summary = &outcome.summaries[0];
            assert_eq!((summary.calls, summary.prompt, summary.output), (10, 10 * (119 + 200), 10 * 40));
            let less = |call: usize| plain.calls[call].actual - outcome.calls[call].actual;
            assert_eq!((less(36), less(37)), (0, 10 * (119 - 40)));
        }
    }
    // Ten go beside each request of a turn, until no more than 34 are left. Its own calls do not count.
    let turn = (0..5).fold(session(60).reply(40, None).user(400), |session, _| session.step(40, None, "t", text(400, 100)));
    assert_eq!(touched(&replay("goose", &[], &turn.reply(4, None).trace()), EventKind::Compact), [(61, 20), (62, 20), (63, 20)]);
    // Parallel calls go together.
    let call = || Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(400, 100), error: false };
    let parallel = |session: Session| {
        let calls = session.push(Role::Assistant, vec![call(), call(), call()], Some(None));
        (0..3).fold(calls, |session, _| session.push(Role::Tool, vec![result()], None))
    };
    let many = (0..12).fold(Session::default().user(400), |session, _| parallel(session)).reply(40, None).user(400).reply(4, None);
    assert_eq!(touched(&replay("goose", &[], &many.trace()), EventKind::Compact), [(13, 16)]);
    let on = |settings: &[(&str, &str)]| {
        of_kind(&replay("goose", settings, &session(35).reply(40, None).user(400).reply(4, None).trace()), EventKind::Compact).len()
    };
    assert_eq!((on(&[]), on(&[("GOOSE_TOOL_PAIR_SUMMARIZATION", "0")]), on(&[("GOOSE_TOOL_CALL_CUTOFF", "25")])), (1, 0, 0));
    // A threshold that switches compaction off counts as 0.8: of 20 calls and ten more, 35 would be too many.
    let off = |threshold| on(&[("GOOSE_AUTO_COMPACT_THRESHOLD", threshold)]);
    assert_eq!((off("0"), off("1.5")), (on(&[]), on(&[])));
}

/// Of seven results of 30,000 tokens the summariser reads six: a tenth, one at least, goes from their middle.
#[test]
fn goose_leaves_results_out_of_a_summary_that_is_refused() {
    let session =
        |count, chars| (0..count).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(chars, chars / 4)));
    let outcome = replay("goose", &[], &session(7, 120_000).reply(4, None).trace());
    assert_eq!((calls_of(&outcome, EventKind::Compact), outcome.summaries[0].prompt), (vec![7], 7 * 19 + 6 * 30_000 + 600));
    // Without any of its results but the newest, which an odd number's middle never reaches, it is still too large.
    let outcome = run(&preset("goose", &[]), &session(1, 199_000).reply(4, None).trace(), 40_000);
    assert_eq!((outcome.totals.failed_sessions, outcome.summaries.len()), (1, 0));
}

#[test]
fn codex_keeps_prompts_and_the_context_in_front_of_them() {
    // What the program says in the user's name goes; what stands in front of the first prompt comes back.
    let session = Session::default().user(4_000).noted().user(400).reply(40, Some((180_000, 10))).user(800).noted().user(4).reply(4, None);
    let outcome = replay("codex", &[], &session.trace());
    let compaction = of_kind(&outcome, EventKind::Compact)[0];
    assert_eq!((compaction.call, compaction.touched), (1, 2));
    assert_eq!(compaction.after - compaction.before, 1_605 - (10 + 200));
}

/// After a refusal OpenCode asks the newest user message again, also where nothing but the words stand before it that a compaction has put in to go on.
#[test]
fn opencode_replays_behind_the_words_that_go_on() {
    // 148,000 tokens are hidden. The first compaction comes within the first turn; then a message of 600 tokens, and a result of 60,000.
    let begun = Session::default().user(80_000).step(40, Some((168_000, 10)), "custom", text(4_000, 1_000)).reply(40, None);
    let trace = begun.user(2_400).step(40, None, "custom", text(240_000, 60_000)).reply(4, None).trace();
    for name in ["opencode@1.15", "opencode@1.18"] {
        let outcome = replay(name, &[("tool_output_max_bytes", "1000000")], &trace);
        assert_eq!(calls_of(&outcome, EventKind::Compact), [1, 3], "{name}");
        let refused = of_kind(&outcome, EventKind::Compact)[1];
        // Of the first compaction its summary, the newest step and the words to go on are left, and go into the second summary or stay before the message.
        let (least, most) = (148_000 + 1_510 + 600, 148_000 + 1_510 + 600 + 1_100);
        assert!((least..most).contains(&refused.after) && outcome.calls[3].refused == 1, "{name}: {refused:?}");
    }
}

/// A summariser whose own request does not fit ends a session of OpenCode: nothing is asked again.
#[test]
fn opencode_stops_where_its_summariser_is_refused() {
    // A message of 166,000 tokens and a reply of 40,000 do not fit the window of 200,000; a message of 100,000 does.
    let session = |said: u32| {
        let step = Session::default().user(said).step(160_000, Some((167_000, 40_000)), "custom", text(4_000, 1_000));
        step.reply(40, None).user(400).reply(4, None).trace()
    };
    for name in ["opencode@1.2", "opencode@1.15", "opencode@1.18", "kilo@89415151"] {
        let outcome = replay(name, &[], &session(664_000));
        assert_eq!((calls_of(&outcome, EventKind::Unrecoverable), outcome.totals.recovered), (vec![1], 0), "{name}");
        assert_eq!(calls_of(&outcome, EventKind::Overflow), Vec::<u32>::new(), "{name}");
        let outcome = replay(name, &[], &session(400_000));
        assert_eq!((outcome.totals.failed_sessions, calls_of(&outcome, EventKind::Compact).len()), (0, 1), "{name}");
    }
}

/// Kilo asks it again only where no reply has come since, and then keeps nothing else; within a turn its steps are summarised, and it is asked to go on.
#[test]
fn kilo_replays_a_message_that_was_not_answered() {
    let settings = [("tool_output_max_bytes", "1000000")];
    // 100,000 tokens are hidden.
    let begun = || Session::default().user(400).reply(40, Some((100_100, 10)));
    // A message of 110,000 tokens: the turn before it is summarised, and it alone does not fit.
    let first = replay("kilo@7.7", &settings, &begun().user(240_000).reply(40, None).user(200_000).reply(4, None).trace());
    let compact = of_kind(&first, EventKind::Compact)[0];
    assert_eq!((compact.call, compact.after), (2, 100_000 + 1_510 + 50_000));
    // Within a turn the results of 50,000 and 60,000 tokens go into the summary; what asks to go on is longer then.
    let steps = begun().user(2_400).step(40, None, "custom", text(200_000, 50_000)).step(40, None, "custom", text(240_000, 60_000));
    let within = replay("kilo@7.7", &settings, &steps.reply(4, None).trace());
    let compact = of_kind(&within, EventKind::Compact)[0];
    assert_eq!((compact.call, compact.after, within.calls[3].refused), (3, 100_000 + 1_510 + 80, 1));
    // All seven messages go into it, the steps of the turn among them.
    assert_eq!(compact.touched, 7);
}

/// A refusal lowers Kimi Code's limit, and not what it takes the context for.
#[test]
fn kimi_codes_limit_falls_after_a_refusal() {
    let growing = (0..6).fold(Session::default().user(400), |session, _| session.user(40_000).reply(40, None));
    let trace = growing.user(800_000).reply(40, None).user(40_000).reply(40, None).trace();
    let outcome = replay("kimi-code", &[], &trace);
    let limits =
        outcome.events.iter().filter(|event| event.kind == EventKind::Compact).filter_map(|event| Some((event.belief?, event.limit?)));
    for (belief, limit) in limits {
        assert!(belief >= limit && limit < 150_000 && belief < 260_000, "{belief} {limit}");
    }
    assert_eq!(outcome.totals.early, 0);
}
