//! What the seven systems that this project started from declare as their defaults, written down by hand from what is known of each, against
//! what `ctxsim policy show` prints. A path leads through `worked_out`: formulas as the numbers that they give for the window.

use crate::support::ctxsim;
use serde_json::{Value, json};

/// A place in the document, and what stands there.
type Rows = Vec<(&'static str, Value)>;

fn shown(preset: &str, window: u64) -> Value {
    ctxsim(&["policy", "show", preset, "--json", "--window", &window.to_string()]).json()
}

/// What stands at a place: keys, ids of rules, places in lists. A first step that is a parameter's name is its number.
fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    if let Some(parameter) = document["params"].get(path) {
        return &parameter["worked_out"];
    }
    let step = |value: &'a Value, step: &str| match value {
        Value::Array(list) => {
            let named = list.iter().find(|entry| entry["id"] == step);
            named.or_else(|| list.get(step.parse::<usize>().ok()?)).unwrap_or(&Value::Null)
        }
        value => value.get(step).unwrap_or(&Value::Null),
    };
    path.split('/').fold(&document["worked_out"], step)
}

fn holds(preset: &str, window: u64, rows: Rows) {
    let document = shown(preset, window);
    for (path, expected) in rows {
        let found = at(&document, path);
        let same = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
            _ => *found == expected,
        };
        assert!(same, "{preset} at {window}: {path} is {found}, the sheet says {expected}");
    }
}

/// The rules of a preset, in their order.
fn rules(preset: &str) -> Vec<String> {
    let document = shown(preset, 200_000);
    let on = |rule: &&Value| rule["if"] != json!(0);
    document["worked_out"]["rule"].as_array().unwrap().iter().filter(on).map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

const CLEARED: &str = "[Old tool result content cleared]";

#[test]
fn baseagent() {
    // 200,000 less 32,000, of which 85 %: 142,800 is none, 142,801 is. Code points, a quarter of them, rounded down part by part; 4 a message,
    // 1,000 a picture; tool definitions count nothing.
    let common = || -> Rows {
        vec![
            ("model_context_limit", json!(200_000)),
            ("output_token_max", json!(32_000)),
            ("prune_minimum", json!(20_000)),
            ("protect_last_turns", json!(2)),
            ("max_output_tokens", json!(2_500)),
            ("exec_output_chars", json!(100_000)),
            ("window/default", json!(200_000)),
            ("window/reserve", json!(32_000)),
            ("estimator/unit", json!("chars")),
            ("estimator/denominator", json!(4)),
            ("estimator/rounding", json!("floor")),
            ("estimator/round_at", json!("part")),
            ("estimator/per_message", json!(4)),
            ("estimator/image_tokens", json!(1_000)),
            ("estimator/tools", Value::Null),
            ("rule/exec-cap/truncate/max", json!(100_000)),
            ("rule/exec-cap/truncate/unit", json!("chars")),
            ("rule/prune/at", json!("pre_call")),
            ("rule/prune/when/level/of", json!("est_request")),
            ("rule/prune/select/kind/0", json!("tool_result")),
            ("rule/prune/select/tail/0/n", json!(2)),
            ("rule/prune/select/tail/0/unit", json!("user_messages")),
            ("rule/prune/select/tail/1/of", json!("selected")),
            ("rule/prune/select/tail/1/crossing", json!("select")),
            ("rule/prune/min_saving/tokens", json!(20_000)),
            ("rule/prune/min_saving/cmp", json!("gt")),
            ("rule/prune/mask/text", json!(CLEARED)),
            ("rule/compact/at", json!("pre_call")),
            ("rule/compact/mode", json!("commit_if_fewer")),
            ("rule/compact/summarise/role", json!("user")),
            ("rule/compact/summarise/input", json!("context")),
            ("rule/compact/select", Value::Null),
            ("reactive", Value::Null),
        ]
    };
    // As its code is: bytes, 10,003 of them pass whole, and what is pruned is forgotten; the scan stops at what is cleared.
    let code: Rows = vec![
        ("auto_compact_threshold", json!(0.85)),
        ("prune_protect", json!(40_000)),
        ("rule/prune/when/level/gt", json!(142_800)),
        ("rule/compact/when/level/gt", json!(142_800)),
        ("rule/prune/select/tail/1/n", json!(40_000)),
        ("rule/prune/mode", json!("view")),
        ("rule/prune/select/stop_at/0", json!("masked")),
        ("rule/middle-out/truncate/unit", json!("bytes")),
        ("rule/middle-out/truncate/max", json!(10_003)),
        ("rule/middle-out/truncate/keep", json!(10_000)),
        ("rule/middle-out/truncate/head", json!(0.5)),
    ];
    holds("baseagent", 200_000, [common(), code].concat());
    // As its document has it: code points, 2 x max - 50 at each end, no stop at what is cleared, and what is pruned stays so.
    let documented: Rows = vec![
        ("rule/prune/when/level/gt", json!(142_800)),
        ("rule/prune/select/tail/1/n", json!(40_000)),
        ("rule/prune/select/stop_at", Value::Null),
        ("rule/prune/mode", Value::Null),
        ("rule/middle-out/truncate/unit", json!("chars")),
        ("rule/middle-out/truncate/max", json!(10_000)),
        ("rule/middle-out/truncate/keep", json!(9_900)),
        ("rule/middle-out/truncate/marker", json!("\n\n[...truncated...]\n\n")),
    ];
    holds("baseagent@documented", 200_000, [common(), documented].concat());
    let tuned = |threshold: f64, limit: u64, protect: u64| -> Rows {
        vec![
            ("auto_compact_threshold", json!(threshold)),
            ("rule/compact/when/level/gt", json!(limit)),
            ("rule/prune/select/tail/1/n", json!(protect)),
        ]
    };
    holds("baseagent@long-task", 200_000, [common(), tuned(0.70, 117_600, 30_000)].concat());
    holds("baseagent@complex-task", 200_000, [common(), tuned(0.90, 151_200, 60_000)].concat());
}

#[test]
fn picoclaw() {
    // Two fifths of the characters, rounded down once a message, 12 a message, 256 a picture, definitions in one with 20 each. Over where the
    // request is above window less max_tokens; a summary above 20 messages or 75 % of the window; four messages stay.
    let rows: Rows = vec![
        ("max_tokens", json!(32_768)),
        ("context_window", json!(131_072)),
        ("summarize_message_threshold", json!(20)),
        ("summarize_token_percent", json!(75)),
        ("max_llm_retries", json!(2)),
        ("exec_output_bytes", json!(10_000)),
        ("read_file_bytes", json!(65_536)),
        ("web_fetch_bytes", json!(50_000)),
        ("keep_messages", json!(4)),
        ("window/default", json!(131_072)),
        ("window/reserve", json!(32_768)),
        ("estimator/unit", json!("chars")),
        ("estimator/call_unit", json!("bytes")),
        ("estimator/numerator", json!(2)),
        ("estimator/denominator", json!(5)),
        ("estimator/rounding", json!("floor")),
        ("estimator/round_at", json!("message")),
        ("estimator/message_units", json!(12)),
        ("estimator/definition_units", json!(20)),
        ("estimator/image_tokens", json!(256)),
        ("estimator/ids", json!("counted")),
        ("estimator/tools", json!("counted")),
        ("reactive/retries", json!(2)),
        ("rule/exec-limit/truncate/max", json!(10_000)),
        ("rule/exec-limit/truncate/boundary", json!("split")),
        ("rule/exec-limit/truncate/marker", json!("\n... (truncated, {removed_bytes} more chars)")),
        ("rule/read-limit/truncate/max", json!(65_536)),
        ("rule/web-limit/truncate/max", json!(50_000)),
        ("rule/web-limit/truncate/marker", json!("\n[Content truncated due to size limit]")),
        ("rule/compress/at", json!("turn_start")),
        ("rule/compress/when/all/0/level/gt", json!(98_304)),
        ("rule/compress/when/all/1/count/gt", json!(2)),
        ("rule/compress/select/tail/0/n", json!(0.5)),
        ("rule/compress/select/tail/0/unit", json!("turn_share")),
        ("rule/compress/drop/marker", json!("[Emergency compression dropped {dropped} oldest messages due to context limit]")),
        ("rule/trim/mode", json!("turn")),
        ("rule/trim/select/take/turns_until_request", json!(98_304)),
        ("rule/compress-reactive/at", json!("overflow")),
        ("rule/summarise/at", json!("turn_end")),
        ("rule/summarise/when/all/0/any/0/count/gt", json!(20)),
        ("rule/summarise/when/all/0/any/1/level/of", json!("est_history")),
        ("rule/summarise/when/all/0/any/1/level/gt", json!(98_304)),
        ("rule/summarise/when/all/1/count/gt", json!(4)),
        ("rule/summarise/select/tail/0/n", json!(4)),
        ("rule/summarise/summarise/calls", json!(3)),
        ("rule/summarise/summarise/calls_above", json!(10)),
        ("rule/summarise/summarise/input", json!("prose")),
    ];
    holds("picoclaw", 200_000, rows);
    // 75 % of the window at three code points a token.
    holds("picoclaw@smart", 200_000, vec![("max_context_runes", json!(450_000)), ("runes_per_token", json!(3))]);
}

#[test]
fn progressive() {
    // 200,000 less 20,000 and 15,000 are 165,000; len // 4; 85 % in the recommended hybrid, 80 % in the proactive mode.
    let common = || -> Rows {
        vec![
            ("output_reserve", json!(20_000)),
            ("safety_buffer", json!(15_000)),
            ("usable_input", json!(165_000)),
            ("estimator/unit", json!("chars")),
            ("estimator/denominator", json!(4)),
            ("estimator/rounding", json!("floor")),
            ("window/reserve", json!(20_000)),
            ("window/safety_buffer", json!(15_000)),
        ]
    };
    let micro = |limit: f64| -> Rows {
        vec![
            ("rule/micro/when/level/gt", json!(limit)),
            ("rule/micro/truncate/unit", json!("chars")),
            ("rule/micro/truncate/clean", json!(true)),
            ("rule/micro/truncate/marker", json!("\n\n[Truncated, {chars} chars total]")),
        ]
    };
    let summary = || -> Rows {
        vec![
            ("rule/summarise/when/level/gt", json!(140_250)),
            ("rule/summarise/select/tail/0/n", json!(5)),
            ("rule/summarise/select/tail/0/unit", json!("messages")),
            ("rule/summarise/select/pairs", json!("split")),
            ("rule/summarise/summarise/role", json!("system")),
        ]
    };
    let reset = |at: &str| -> Rows {
        vec![("rule/reset/at", json!(at)), ("rule/reset/select/tail/0/n", json!(3)), ("rule/reset/inject/0/role", json!("system"))]
    };
    for hybrid in ["progressive", "progressive@hybrid"] {
        holds(hybrid, 200_000, [common(), micro(140_250.0), summary(), reset("overflow"), vec![("reactive/retries", json!(1))]].concat());
    }
    holds("progressive@micro", 200_000, [common(), micro(140_250.0), vec![("reactive/retries", json!(0))]].concat());
    holds("progressive@summarise", 200_000, [common(), summary()].concat());
    holds("progressive@aggressive", 200_000, [common(), reset("pre_call"), vec![("rule/reset/when/level/gt", json!(140_250))]].concat());
    holds("progressive@proactive", 200_000, [common(), micro(132_000.0)].concat());
    assert_eq!(rules("progressive@micro"), ["micro"]);
    assert_eq!(rules("progressive@summarise"), ["summarise"]);
    assert_eq!(rules("progressive@aggressive"), ["reset"]);
    assert_eq!(rules("progressive@proactive"), ["micro"]);
    // At most four sends, a level further after each refusal. The guard that ends after three conflicts with it: `--set max_retries=2`.
    let levels: Rows = vec![
        ("reactive/retries", json!(3)),
        ("rule/micro-reactive/attempt", json!(1)),
        ("rule/summarise-reactive/attempt", json!(2)),
        ("rule/reset/attempt", json!(3)),
    ];
    let reserves = common().into_iter().filter(|(path, _)| *path != "usable_input");
    holds("progressive@reactive", 200_000, reserves.chain(levels).chain(reset("overflow")).collect());
}

#[test]
fn mycoder() {
    // A status every fifth call, or from 50 % on, which rounding makes 49.5 %; text results of 12 KiB, views of 10 KiB, pages of 11 KiB.
    let common = || -> Rows {
        vec![
            ("status_every", json!(5)),
            ("high_usage_percent", json!(50)),
            ("high_usage", json!(99_000)),
            ("tool_output_limit", json!(12_288)),
            ("view_limit", json!(10_240)),
            ("page_limit", json!(11_264)),
            ("rule/output-limit/truncate/max", json!(12_288)),
            ("rule/output-limit/truncate/unit", json!("utf16")),
            ("rule/output-limit/truncate/marker", json!("...(truncated)")),
            ("rule/view-limit/truncate/max", json!(10_240)),
            ("rule/view-limit/truncate/marker", json!("\n<response clipped>")),
            ("rule/page-limit/truncate/max", json!(11_264)),
            ("rule/status/at", json!("post_call")),
            ("rule/status/when/all/0/level/gt", json!(0)),
            ("rule/status/when/all/1/any/0/count/ge", json!(5)),
            ("rule/status/when/all/1/any/1/level/ge", json!(99_000)),
            ("rule/status/inject/0/role", json!("system")),
            ("rule/status/inject/0/place", json!("before_reply")),
            ("reactive", Value::Null),
            ("window/reserve", Value::Null),
        ]
    };
    holds("mycoder@1.7", 200_000, common());
    // As shipped its compaction tool changes nothing: no rule stands for it.
    assert_eq!(rules("mycoder@1.7"), ["view-limit", "page-limit", "output-limit", "status"]);
    let documented: Rows = vec![
        ("preserveRecentMessages", json!(10)),
        ("rule/compactHistory/select/tail/0/n", json!(10)),
        ("rule/compactHistory/select/tail/0/unit", json!("messages")),
        ("rule/compactHistory/select/pairs", json!("split")),
        ("rule/compactHistory/summarise/role", json!("system")),
        ("rule/compactHistory/summarise/input", json!("selection")),
    ];
    holds("mycoder@documented", 200_000, [common(), documented].concat());
}

#[test]
fn pi() {
    // Above window less 16,384; 20,000 stay.
    let settings = || -> Rows { vec![("enabled", json!(1)), ("reserveTokens", json!(16_384)), ("keepRecentTokens", json!(20_000))] };
    let old: Rows = vec![
        ("bash_max_chars", json!(10_485_760)),
        ("read_max_lines", json!(2_000)),
        ("read_line_chars", json!(2_000)),
        ("grep_max_lines", json!(100)),
        ("find_max_lines", json!(1_000)),
        ("ls_max_lines", json!(500)),
        ("rule/bash-limit/truncate/unit", json!("utf16")),
        ("rule/compact/at", json!("post_call")),
        ("rule/compact/when/level/of", json!("usage_total")),
        ("rule/compact/when/level/gt", json!(183_616)),
        ("rule/compact/select/tail/0/of", json!("usage")),
        ("rule/compact/select/snap/to/0", json!("user")),
        ("rule/compact/select/carried", json!("lost")),
        ("reactive", Value::Null),
    ];
    holds("pi@0.12", 200_000, [settings(), old].concat());
    // From 0.58 on: one ceil(/4) of UTF-16 units a message, 4,800 a picture, 2,000 lines or 51,200 bytes, lines of grep 500 characters,
    // results in the summariser's request 2,000 units; one recovery.
    let newer = |image: Value, carried: Value, missing: &str| -> Rows {
        vec![
            ("tool_max_bytes", json!(51_200)),
            ("tool_max_lines", json!(2_000)),
            ("grep_line_chars", json!(500)),
            ("summary_tool_cap", json!(2_000)),
            ("estimator/unit", json!("utf16")),
            ("estimator/denominator", json!(4)),
            ("estimator/rounding", json!("ceil")),
            ("estimator/round_at", json!("message")),
            ("estimator/per_message", Value::Null),
            ("estimator/image_units", json!(4_800)),
            ("estimator/user_images", image),
            ("estimator/system", json!("ignored")),
            ("reactive/retries", json!(1)),
            ("rule/bash-limit/truncate/head", json!(0)),
            ("rule/read-limit/truncate/head", json!(1)),
            ("rule/read-limit/truncate/max", json!(51_200)),
            ("rule/read-limit/truncate/max_lines", json!(2_000)),
            ("rule/compact/at", json!("turn_end")),
            ("rule/compact/when/level/of", json!("usage_total")),
            ("rule/compact/when/level/gt", json!(183_616)),
            ("rule/compact/select/tail/0/n", json!(20_000)),
            ("rule/compact/select/carried", carried),
            ("rule/compact/select/snap/to", json!(["user", "assistant"])),
            ("rule/compact/select/snap/missing", json!(missing)),
            ("rule/compact/summarise/tool_cap_utf16", json!(2_000)),
            ("rule/compact/summarise/role", json!("user")),
            ("rule/compact-turn-start/when/level/gt", json!(183_616)),
        ]
    };
    holds("pi@0.58", 200_000, [settings(), newer(json!("ignored"), json!("lost"), "oldest")].concat());
    holds("pi@0.73", 200_000, [settings(), newer(json!("ignored"), Value::Null, "oldest")].concat());
    holds("pi@1.5", 200_000, [settings(), newer(Value::Null, Value::Null, "turn")].concat());
    // Only 1.5 looks between the steps of a run, at the results that have come since.
    let step: Rows = vec![
        ("rule/compact-step/at", json!("mid_turn")),
        ("rule/compact-step/when/level/of", json!("usage_plus_pending")),
        ("rule/compact-step/when/level/gt", json!(183_616)),
    ];
    holds("pi@1.5", 200_000, step);
    for older in ["pi@0.58", "pi@0.73"] {
        assert!(!rules(older).contains(&"compact-step".to_owned()), "{older}");
    }
    // The proposal: limits for each tool, an estimate after each result that flags the turn, recovery from a refusal.
    let proposal: Rows = vec![
        ("rule/compact-result/at", json!("tool_result")),
        ("rule/compact-result/when/level/of", json!("usage_plus_pending")),
        ("rule/compact-result/when/level/gt", json!(183_616)),
        ("rule/compact-result/select/tail/0/n", json!(20_000)),
        ("rule/bash-limit/truncate/max", json!(30_000)),
        ("rule/read-limit/truncate/max", json!(50_000)),
        ("rule/grep-limit/truncate/max", json!(20_000)),
        ("rule/other-limit/truncate/max", json!(30_000)),
        ("reactive/retries", json!(1)),
    ];
    holds("pi@recommended", 200_000, [settings(), proposal].concat());
}

#[test]
fn opencode() {
    let common = |prune: u64| -> Rows {
        vec![
            ("auto", json!(1)),
            ("output_token_max", json!(32_000)),
            ("usable", json!(168_000)),
            ("prune", json!(prune)),
            ("prune_protect", json!(40_000)),
            ("prune_minimum", json!(20_000)),
            ("window/reserve", json!(32_000)),
            ("estimator/unit", json!("utf16")),
            ("estimator/denominator", json!(4)),
            ("estimator/rounding", json!("round")),
            ("rule/compact/at", json!("pre_call")),
            ("rule/compact/when/level/of", json!("usage_total")),
            ("rule/prune/at", json!("turn_end")),
            ("rule/prune/select/tail/0/n", json!(2)),
            ("rule/prune/select/tail/0/unit", json!("user_messages")),
            ("rule/prune/select/tail/1/n", json!(40_000)),
            ("rule/prune/select/tail/1/crossing", json!("select")),
            ("rule/prune/select/not_errors", json!(true)),
            ("rule/prune/select/stop_at", json!(["summary", "masked"])),
            ("rule/prune/min_saving/tokens", json!(20_000)),
            ("rule/prune/min_saving/cmp", json!("gt")),
            ("rule/prune/mask/text", json!(CLEARED)),
        ]
    };
    // As documented (2025-12): above, pruning on, no tail, no answer to a refusal; cache writes do not count.
    let documented: Rows = vec![
        ("bash_max_chars", json!(30_000)),
        ("read_max_lines", json!(2_000)),
        ("line_max_chars", json!(2_000)),
        ("list_max_lines", json!(100)),
        ("belief/cache_write", json!("ignored")),
        ("rule/compact/when/level/gt", json!(168_000)),
        ("rule/compact/summarise/input", json!("selection")),
        ("rule/compact/select", Value::Null),
        ("reactive", Value::Null),
        ("rule/prune/select/not_tools", Value::Null),
    ];
    holds("opencode@2025-12", 200_000, [common(1), documented].concat());
    // 1.15: at or above, pruning off, two turns and 8,000 tokens of tail, 2,000 lines or 51,200 bytes a result, one recovery.
    let common_1_15 = |prune: u64, turns: u64, cap: u64| -> Rows {
        let own: Rows = vec![
            ("reserved", json!(20_000)),
            ("tail_turns", json!(turns)),
            ("tool_output_max_lines", json!(2_000)),
            ("tool_output_max_bytes", json!(51_200)),
            ("summary_tool_chars", json!(cap)),
            ("belief/cache_write", Value::Null),
            ("reactive/retries", json!(1)),
            ("rule/compact/when/level/ge", json!(168_000)),
            ("rule/compact/select/tail/0/unit", json!("turns")),
            ("rule/compact/select/tails", json!("intersection")),
            ("rule/compact/select/all_kept", json!("everything")),
            ("rule/compact/summarise/tool_cap_utf16", json!(cap)),
            ("rule/compact-turn-end/at", json!("turn_end")),
            ("rule/overflow/select/replay", json!("last_user")),
            ("rule/prune/select/not_tools", json!(["skill"])),
            ("rule/output-limit/truncate/max", json!(51_200)),
            ("rule/output-limit/truncate/max_lines", json!(2_000)),
            ("rule/output-limit/truncate/whole_lines", json!(true)),
            ("rule/shell-limit/truncate/head", json!(0)),
        ];
        [common(prune), own].concat()
    };
    holds("opencode@1.15", 200_000, [common_1_15(0, 2, 2_000), vec![("preserve_recent_tokens", json!(8_000))]].concat());
    // A quarter of what is usable, between 2,000 and 8,000.
    holds("opencode@1.15", 56_000, vec![("usable", json!(24_000)), ("preserve_recent_tokens", json!(6_000))]);
    holds("opencode@1.15", 36_000, vec![("usable", json!(4_000)), ("preserve_recent_tokens", json!(2_000))]);
    holds("opencode@1.15", 20_000, vec![("usable", json!(0))]);
    holds("opencode@1.2", 200_000, common_1_15(1, 0, 0));
    // The newest that was read: 15,000 tokens over all turns.
    holds("opencode@1.18", 200_000, [common_1_15(0, 1_000_000, 2_000), vec![("preserve_recent_tokens", json!(15_000))]].concat());
}

#[test]
fn codex() {
    // ceil(bytes / 4); 9/10 of the window; 10,000 tokens a result, 1.2 times as many in the history; 20,000 of user messages stay.
    let common = || -> Rows {
        vec![
            ("limit", json!(180_000)),
            ("tool_output_token_limit", json!(10_000)),
            ("tool_output_byte_limit", json!(10_000)),
            ("record_factor", json!(1.2)),
            ("user_message_tokens", json!(20_000)),
            ("effective_window_percent", json!(95)),
            ("window/reserve", json!(0)),
            ("estimator/unit", json!("bytes")),
            ("estimator/message_unit", json!("json")),
            ("estimator/denominator", json!(4)),
            ("estimator/rounding", json!("ceil")),
            ("estimator/tools", Value::Null),
            // 7,373 for the picture's bytes, and what stands around them.
            ("estimator/image_units", json!(7_373 + 60)),
            ("belief/after_rewrite", json!("estimate")),
            ("belief/full", json!(190_000)),
            ("rule/shell-limit/truncate/max", json!(40_000)),
            ("rule/shell-limit/truncate/head", json!(0.5)),
            ("rule/shell-limit/truncate/marker", json!("…{ceil((bytes - keep) / 4)} tokens truncated…")),
            ("rule/shell-limit-bytes/truncate/max", json!(10_000)),
            ("rule/record-limit/truncate/max", json!(48_000)),
            ("rule/record-limit-bytes/truncate/max", json!(12_000)),
            ("rule/record-limit-bytes/truncate/marker", json!("…{removed_chars} chars truncated…")),
            ("rule/compact-step/at", json!("mid_turn")),
            ("rule/compact-step/when/level/ge", json!(180_000)),
            ("rule/compact-step/select/protect/0/tokens", json!(20_000)),
            ("rule/compact-step/summarise/role", json!("user")),
            ("rule/compact-step/summarise/input", json!("context")),
            ("rule/compact-step/summarise/on_overflow", json!("drop_oldest")),
            ("reactive", Value::Null),
        ]
    };
    let of_2026: Rows = vec![
        ("rule/compact-step/when/level/of", json!("usage_plus_pending")),
        ("rule/compact-turn-start/at", json!("turn_start")),
        ("rule/compact-turn-start/when/level/ge", json!(180_000)),
    ];
    holds("codex@2026-06", 200_000, [common(), of_2026].concat());
    let documented: Rows =
        vec![("rule/compact-step/when/level/of", json!("usage_total")), ("rule/compact-turn-end/when/level/ge", json!(180_000))];
    holds("codex@2025-12", 200_000, [common(), documented].concat());
    assert!(!rules("codex@2025-12").contains(&"compact-turn-start".to_owned()));
    for preset in ["codex@2026-06", "codex@2025-12"] {
        holds(preset, 272_000, vec![("limit", json!(244_800))]);
        holds(preset, 96_000, vec![("limit", json!(86_400))]);
    }
}

/// The text of a preset without a base shows its defaults too, and `--model` and `--window` belong to the numbers.
#[test]
fn texts_show_defaults_and_a_model_needs_numbers() {
    let text = |preset: &str| ctxsim(&["policy", "show", preset]).stdout();
    assert!(text("baseagent").contains("prune_protect = { value = 40_000,"));
    assert!(
        text("baseagent@complex-task").contains("prune_protect = 60_000")
            && text("baseagent@complex-task").contains("#   prune_minimum = 20000")
    );
    ctxsim(&["policy", "show", "pi", "--window", "200k"]).code(2);
    let sized = ctxsim(&["policy", "show", "codex", "--json", "--model", "gpt-5"]).json();
    assert_eq!((&sized["model"]["max_input"], &sized["params"]["limit"]["worked_out"]), (&json!(272_000), &json!(244_800)));
    assert_eq!(sized["mirrored"]["version"], "0.138.0");
}
