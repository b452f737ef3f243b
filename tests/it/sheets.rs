//! What the seven systems that this project started from declare as their defaults, written down by hand from what is known of each, against
//! what `ctxsim policy show` prints. A path leads through `worked_out`: formulas as the numbers that they give for the window.

use crate::support::ctxsim;
use serde_json::{Value, json};

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

/// A sheet has what stands at a place; an object, what stands at the places below it.
fn holds(preset: &str, window: u64, sheets: &[&Value]) {
    let document = shown(preset, window);
    sheets.iter().flat_map(|sheet| sheet.as_object().unwrap()).for_each(|(place, expected)| held(&document, place, expected, preset));
}

fn held(document: &Value, path: &str, expected: &Value, preset: &str) {
    if let Some(below) = expected.as_object() {
        return below.iter().for_each(|(place, expected)| held(document, &format!("{path}/{place}"), expected, preset));
    }
    let found = at(document, path);
    let same = match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
        _ => found == expected,
    };
    assert!(same, "{preset}: {path} is {found}, the sheet says {expected}");
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
    let common = json!({
        "model_context_limit": 200_000, "output_token_max": 32_000, "prune_minimum": 20_000, "protect_last_turns": 2,
        "max_output_tokens": 2_500, "exec_output_chars": 100_000, "reactive": null,
        "window": {"default": 200_000, "reserve": 32_000},
        "estimator": {
            "unit": "chars", "denominator": 4, "rounding": "floor", "round_at": "part", "per_message": 4, "image_tokens": 1_000,
            "tools": null,
        },
        "rule/exec-cap": {"truncate/max": 100_000, "truncate/unit": "chars"},
        "rule/prune": {
            "at": "pre_call", "when/level/of": "est_request", "select/kind/0": "tool_result", "select/tail/0/n": 2,
            "select/tail/0/unit": "user_messages", "select/tail/1/of": "selected", "select/tail/1/crossing": "select",
            "min_saving/tokens": 20_000, "min_saving/cmp": "gt", "mask/text": CLEARED,
        },
        "rule/compact": {
            "at": "pre_call", "mode": "commit_if_fewer", "summarise/role": "user", "summarise/input": "context", "select": null,
        },
    });
    // As its code is: bytes, 10,003 of them pass whole, and what is pruned is forgotten; the scan stops at what is cleared.
    let code = json!({
        "auto_compact_threshold": 0.85, "prune_protect": 40_000,
        "rule/prune": {"when/level/gt": 142_800, "select/tail/1/n": 40_000, "mode": "view", "select/stop_at/0": "masked"},
        "rule/compact": {"when/level/gt": 142_800},
        "rule/middle-out": {"truncate/unit": "bytes", "truncate/max": 10_003, "truncate/keep": 10_000, "truncate/head": 0.5},
    });
    holds("baseagent", 200_000, &[&common, &code]);
    // As its document has it: code points, 2 x max - 50 at each end, no stop at what is cleared, and what is pruned stays so.
    let documented = json!({
        "rule/prune": {"when/level/gt": 142_800, "select/tail/1/n": 40_000, "select/stop_at": null, "mode": null},
        "rule/middle-out": {
            "truncate/unit": "chars", "truncate/max": 10_000, "truncate/keep": 9_900, "truncate/marker": "\n\n[...truncated...]\n\n",
        },
    });
    holds("baseagent@documented", 200_000, &[&common, &documented]);
    let tuned = |threshold: f64, limit: u64, protect: u64| {
        json!({
            "auto_compact_threshold": threshold,
            "rule/compact": {"when/level/gt": limit},
            "rule/prune": {"select/tail/1/n": protect},
        })
    };
    holds("baseagent@long-task", 200_000, &[&common, &tuned(0.70, 117_600, 30_000)]);
    holds("baseagent@complex-task", 200_000, &[&common, &tuned(0.90, 151_200, 60_000)]);
}

#[test]
fn picoclaw() {
    // Two fifths of the characters, rounded down once a message, 12 a message, 256 a picture, definitions in one with 20 each. Over where the
    // request is above window less max_tokens; a summary above 20 messages or 75 % of the window; four messages stay.
    let rows = json!({
        "max_tokens": 32_768, "context_window": 131_072, "summarize_message_threshold": 20, "summarize_token_percent": 75,
        "max_llm_retries": 2, "exec_output_bytes": 10_000, "read_file_bytes": 65_536, "web_fetch_bytes": 50_000, "keep_messages": 4,
        "window": {"default": 131_072, "reserve": 32_768},
        "estimator": {
            "unit": "chars", "call_unit": "bytes", "numerator": 2, "denominator": 5, "rounding": "floor", "round_at": "message",
            "message_units": 12, "definition_units": 20, "image_tokens": 256, "ids": "counted", "tools": "counted",
        },
        "reactive": {"retries": 2},
        "rule/exec-limit": {
            "truncate/max": 10_000, "truncate/boundary": "split", "truncate/marker": "\n... (truncated, {removed_bytes} more chars)",
        },
        "rule/read-limit": {"truncate/max": 65_536},
        "rule/web-limit": {"truncate/max": 50_000, "truncate/marker": "\n[Content truncated due to size limit]"},
        "rule/compress": {
            "at": "turn_start", "when/all/0/level/gt": 98_304, "when/all/1/count/gt": 2, "select/tail/0/n": 0.5,
            "select/tail/0/unit": "turn_share",
            "drop/marker": "[Emergency compression dropped {dropped} oldest messages due to context limit]",
        },
        "rule/trim": {"mode": "turn", "select/take/turns_until_request": 98_304},
        "rule/compress-reactive": {"at": "overflow"},
        "rule/summarise": {
            "at": "turn_end", "when/all/0/any/0/count/gt": 20, "when/all/0/any/1/level/of": "est_history",
            "when/all/0/any/1/level/gt": 98_304, "when/all/1/count/gt": 4, "select/tail/0/n": 4, "summarise/calls": 3,
            "summarise/calls_above": 10, "summarise/input": "prose",
        },
    });
    holds("picoclaw", 200_000, &[&rows]);
    // 75 % of the window at three code points a token.
    holds("picoclaw@smart", 200_000, &[&json!({"max_context_runes": 450_000, "runes_per_token": 3})]);
}

#[test]
fn progressive() {
    // 200,000 less 20,000 and 15,000 are 165,000; len // 4; 85 % in the recommended hybrid, 80 % in the proactive mode.
    let common = json!({
        "output_reserve": 20_000, "safety_buffer": 15_000,
        "estimator": {"unit": "chars", "denominator": 4, "rounding": "floor"},
        "window": {"reserve": 20_000, "safety_buffer": 15_000},
    });
    let micro = |limit: f64| {
        json!({
            "rule/micro": {
                "when/level/gt": limit, "truncate/unit": "chars", "truncate/clean": true,
                "truncate/marker": "\n\n[Truncated, {chars} chars total]",
            },
        })
    };
    let summary = json!({
        "rule/summarise": {
            "when/level/gt": 140_250, "select/tail/0/n": 5, "select/tail/0/unit": "messages", "select/pairs": "split",
            "summarise/role": "system",
        },
    });
    let reset = |at: &str| json!({"rule/reset": {"at": at, "select/tail/0/n": 3, "inject/0/role": "system"}});
    for hybrid in ["progressive", "progressive@hybrid"] {
        holds(hybrid, 200_000, &[&common, &micro(140_250.0), &summary, &reset("overflow"), &json!({"reactive/retries": 1})]);
    }
    holds("progressive@micro", 200_000, &[&common, &micro(140_250.0), &json!({"reactive/retries": 0})]);
    holds("progressive@summarise", 200_000, &[&common, &summary]);
    holds("progressive@aggressive", 200_000, &[&common, &reset("pre_call"), &json!({"rule/reset/when/level/gt": 140_250})]);
    holds("progressive@proactive", 200_000, &[&common, &micro(132_000.0)]);
    for preset in ["progressive", "progressive@micro", "progressive@summarise", "progressive@aggressive", "progressive@proactive"] {
        holds(preset, 200_000, &[&json!({"usable_input": 165_000})]);
    }
    assert_eq!(rules("progressive@micro"), ["micro"]);
    assert_eq!(rules("progressive@summarise"), ["summarise"]);
    assert_eq!(rules("progressive@aggressive"), ["reset"]);
    assert_eq!(rules("progressive@proactive"), ["micro"]);
    // At most four sends, a level further after each refusal. The guard that ends after three conflicts with it: `--set max_retries=2`.
    let levels = json!({
        "reactive": {"retries": 3},
        "rule/micro-reactive": {"attempt": 1},
        "rule/summarise-reactive": {"attempt": 2},
        "rule/reset": {"attempt": 3},
    });
    holds("progressive@reactive", 200_000, &[&common, &levels, &reset("overflow")]);
}

#[test]
fn mycoder() {
    // A status every fifth call, or from 50 % on, which rounding makes 49.5 %; text results of 12 KiB, views of 10 KiB, pages of 11 KiB.
    let common = json!({
        "status_every": 5, "high_usage_percent": 50, "high_usage": 99_000, "tool_output_limit": 12_288, "view_limit": 10_240,
        "page_limit": 11_264, "reactive": null,
        "rule/output-limit": {"truncate/max": 12_288, "truncate/unit": "utf16", "truncate/marker": "...(truncated)"},
        "rule/view-limit": {"truncate/max": 10_240, "truncate/marker": "\n<response clipped>"},
        "rule/page-limit": {"truncate/max": 11_264},
        "rule/status": {
            "at": "post_call", "when/all/0/level/gt": 0, "when/all/1/any/0/count/ge": 5, "when/all/1/any/1/level/ge": 99_000,
            "inject/0/role": "system", "inject/0/place": "before_reply",
        },
        "window": {"reserve": null},
    });
    holds("mycoder@1.7", 200_000, &[&common]);
    // As shipped its compaction tool changes nothing: no rule stands for it.
    assert_eq!(rules("mycoder@1.7"), ["view-limit", "page-limit", "output-limit", "status"]);
    let documented = json!({
        "preserveRecentMessages": 10,
        "rule/compactHistory": {
            "select/tail/0/n": 10, "select/tail/0/unit": "messages", "select/pairs": "split", "summarise/role": "system",
            "summarise/input": "selection",
        },
    });
    holds("mycoder@documented", 200_000, &[&common, &documented]);
}

#[test]
fn pi() {
    // Above window less 16,384; 20,000 stay.
    let settings = json!({
        "enabled": 1, "reserveTokens": 16_384, "keepRecentTokens": 20_000,
    });
    let old = json!({
        "bash_max_chars": 10_485_760, "read_max_lines": 2_000, "read_line_chars": 2_000, "grep_max_lines": 100, "find_max_lines": 1_000,
        "ls_max_lines": 500, "reactive": null,
        "rule/bash-limit": {"truncate/unit": "utf16"},
        "rule/compact": {
            "at": "post_call", "when/level/of": "usage_total", "when/level/gt": 183_616, "select/tail/0/of": "usage",
            "select/snap/to/0": "user", "select/carried": "lost",
        },
    });
    holds("pi@0.12", 200_000, &[&settings, &old]);
    // From 0.58 on: one ceil(/4) of UTF-16 units a message, 4,800 a picture, 2,000 lines or 51,200 bytes, lines of grep 500 characters,
    // results in the summariser's request 2,000 units; one recovery.
    let newer = |image: Value, carried: Value, missing: &str| {
        json!({
            "tool_max_bytes": 51_200, "tool_max_lines": 2_000, "grep_line_chars": 500, "summary_tool_cap": 2_000,
            "estimator": {
                "unit": "utf16", "denominator": 4, "rounding": "ceil", "round_at": "message", "per_message": null, "image_units": 4_800,
                "user_images": image, "system": "ignored",
            },
            "reactive": {"retries": 1},
            "rule/bash-limit": {"truncate/head": 0},
            "rule/read-limit": {"truncate/head": 1, "truncate/max": 51_200, "truncate/max_lines": 2_000},
            "rule/compact": {
                "at": "turn_end", "when/level/of": "usage_total", "when/level/gt": 183_616, "select/tail/0/n": 20_000,
                "select/carried": carried, "select/snap/to": ["user", "assistant"], "select/snap/missing": missing,
                "summarise/tool_cap_utf16": 2_000, "summarise/role": "user",
            },
            "rule/compact-turn-start": {"when/level/gt": 183_616},
        })
    };
    holds("pi@0.58", 200_000, &[&settings, &newer(json!("ignored"), json!("lost"), "oldest")]);
    holds("pi@0.73", 200_000, &[&settings, &newer(json!("ignored"), Value::Null, "oldest")]);
    holds("pi@1.5", 200_000, &[&settings, &newer(Value::Null, Value::Null, "turn")]);
    // Only 1.5 looks between the steps of a run, at the results that have come since.
    let step = json!({
        "rule/compact-step": {"at": "mid_turn", "when/level/of": "usage_plus_pending", "when/level/gt": 183_616},
    });
    holds("pi@1.5", 200_000, &[&step]);
    for older in ["pi@0.58", "pi@0.73"] {
        assert!(!rules(older).contains(&"compact-step".to_owned()), "{older}");
    }
    // The proposal: limits for each tool, an estimate after each result that flags the turn, recovery from a refusal.
    let proposal = json!({
        "rule/compact-result": {
            "at": "tool_result", "when/level/of": "usage_plus_pending", "when/level/gt": 183_616, "select/tail/0/n": 20_000,
        },
        "rule/bash-limit": {"truncate/max": 30_000},
        "rule/read-limit": {"truncate/max": 50_000},
        "rule/grep-limit": {"truncate/max": 20_000},
        "rule/other-limit": {"truncate/max": 30_000},
        "reactive": {"retries": 1},
    });
    holds("pi@recommended", 200_000, &[&settings, &proposal]);
}

#[test]
fn opencode() {
    let common = |prune: u64| {
        json!({
            "auto": 1, "output_token_max": 32_000, "usable": 168_000, "prune": prune, "prune_protect": 40_000, "prune_minimum": 20_000,
            "window": {"reserve": 32_000},
            "estimator": {"unit": "utf16", "denominator": 4, "rounding": "round"},
            "rule/compact": {"at": "pre_call", "when/level/of": "usage_total"},
            "rule/prune": {
                "at": "turn_end", "select/tail/0/n": 2, "select/tail/0/unit": "user_messages", "select/tail/1/n": 40_000,
                "select/tail/1/crossing": "select", "select/not_errors": true, "select/stop_at": ["summary", "masked"],
                "min_saving/tokens": 20_000, "min_saving/cmp": "gt", "mask/text": CLEARED,
            },
        })
    };
    // As documented (2025-12): above, pruning on, no tail, no answer to a refusal; cache writes do not count.
    let documented = json!({
        "bash_max_chars": 30_000, "read_max_lines": 2_000, "line_max_chars": 2_000, "list_max": 100, "reactive": null,
        "belief": {"cache_write": "ignored"},
        "rule/compact": {"when/level/gt": 168_000, "summarise/input": "selection", "select": null},
        "rule/prune": {"select/not_tools": null},
    });
    holds("opencode@2025-12", 200_000, &[&common(1), &documented]);
    // 1.15: at or above, pruning off, two turns and 8,000 tokens of tail, 2,000 lines or 51,200 bytes a result, one recovery.
    let later = |turns: u64, cap: u64| {
        json!({
            "reserved": 20_000, "tail_turns": turns, "tool_output_max_lines": 2_000, "tool_output_max_bytes": 51_200,
            "summary_tool_chars": cap,
            "belief": {"cache_write": null},
            "reactive": {"retries": 1},
            "rule/compact": {
                "when/level/ge": 168_000, "select/tail/0/unit": "turns", "select/tails": "intersection", "select/all_kept": "everything",
                "summarise/tool_cap_utf16": cap,
            },
            "rule/compact-turn-end": {"at": "turn_end"},
            "rule/overflow": {"select/replay": "last_user"},
            "rule/prune": {"select/not_tools": ["skill"]},
            "rule/output-limit": {"truncate/max": 51_200, "truncate/max_lines": 2_000, "truncate/whole_lines": true},
            "rule/shell-limit": {"truncate/head": 0},
        })
    };
    holds("opencode@1.15", 200_000, &[&common(0), &later(2, 2_000), &json!({"preserve_recent_tokens": 8_000})]);
    // A quarter of what is usable, between 2,000 and 8,000.
    holds("opencode@1.15", 56_000, &[&json!({"usable": 24_000, "preserve_recent_tokens": 6_000})]);
    holds("opencode@1.15", 36_000, &[&json!({"usable": 4_000, "preserve_recent_tokens": 2_000})]);
    holds("opencode@1.15", 20_000, &[&json!({"usable": 0})]);
    // Of a command's output the start stays.
    let mut of_1_2 = later(0, 0);
    of_1_2["rule/shell-limit"]["truncate/head"] = 1.into();
    holds("opencode@1.2", 200_000, &[&common(1), &of_1_2]);
    // The newest that was read: 15,000 tokens over all turns.
    holds("opencode@1.18", 200_000, &[&common(0), &later(1_000_000, 2_000), &json!({"preserve_recent_tokens": 15_000})]);
}

#[test]
fn codex() {
    // ceil(bytes / 4); 9/10 of the window; 10,000 tokens a result, 1.2 times as many in the history; 20,000 of user messages stay. A picture
    // is its 7,373 bytes and what stands around them.
    let common = json!({
        "limit": 180_000, "tool_output_token_limit": 10_000, "tool_output_byte_limit": 10_000, "record_factor": 1.2,
        "user_message_tokens": 20_000, "effective_window_percent": 95, "reactive": null,
        "window": {"reserve": 0},
        "estimator": {
            "unit": "bytes", "message_unit": "json", "denominator": 4, "rounding": "ceil", "tools": null, "image_units": 7_373 + 60,
        },
        "belief": {"after_rewrite": "estimate", "full": 190_000},
        "rule/shell-limit": {
            "truncate/max": 40_000, "truncate/head": 0.5, "truncate/marker": "…{ceil((bytes - keep) / 4)} tokens truncated…",
        },
        "rule/shell-limit-bytes": {"truncate/max": 10_000},
        "rule/record-limit": {"truncate/max": 48_000},
        "rule/record-limit-bytes": {"truncate/max": 12_000, "truncate/marker": "…{removed_chars} chars truncated…"},
        "rule/compact-step": {
            "at": "mid_turn", "when/level/ge": 180_000, "select/protect/0/tokens": 20_000, "summarise/role": "user",
            "summarise/input": "context", "summarise/on_overflow": "drop_oldest",
        },
    });
    let of_2026 = json!({
        "rule/compact-step": {"when/level/of": "usage_plus_pending"},
        "rule/compact-turn-start": {"at": "turn_start", "when/level/ge": 180_000},
    });
    holds("codex@2026-06", 200_000, &[&common, &of_2026]);
    let documented = json!({
        "rule/compact-step": {"when/level/of": "usage_total"},
        "rule/compact-turn-end": {"when/level/ge": 180_000},
    });
    holds("codex@2025-12", 200_000, &[&common, &documented]);
    assert!(!rules("codex@2025-12").contains(&"compact-turn-start".to_owned()));
    for preset in ["codex@2026-06", "codex@2025-12"] {
        holds(preset, 272_000, &[&json!({"limit": 244_800})]);
        holds(preset, 96_000, &[&json!({"limit": 86_400})]);
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
