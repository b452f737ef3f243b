//! Words of the policy language that several systems need: what each does, with figures worked by hand.

use crate::conformance::excerpt::apply_rule;
use crate::policies::{Session, calls_of, run, text};
use ctxsim::policy::{Facts, Policy, presets};
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Length, Lines, Part, Role, Shape, Text};

const WINDOW: u64 = 10_000;

fn policy(rules: &str) -> Policy {
    Policy::parse("words", &format!("[params]\nfactor = 1.3\n[estimator]\nunit = \"chars\"\nnumerator = 1\ndenominator = 4\n{rules}"))
        .unwrap()
}

fn refused(rules: &str) -> String {
    Policy::parse("words.toml", &format!("[params]\nfactor = 1.3\n{rules}")).unwrap_err().to_string()
}

fn replay(rules: &str, trace: &Trace) -> Outcome {
    run(&policy(rules), trace, WINDOW)
}

fn sizes(outcome: &Outcome) -> Vec<u64> {
    outcome.answered().iter().map(|call| call.actual).collect()
}

/// A prompt of 1,000 tokens, a reply of 100, and a result of 300 that comes after it.
fn step() -> Session {
    Session::default().user(4_000).step(400, Some((1_000, 100)), "t", text(1_200, 300))
}

#[test]
fn a_level_may_look_at_a_formula_over_sizes() {
    let rule = |of: &str, limit: &str| {
        format!("[[rule]]\nid = \"r\"\nat = \"mid_turn\"\nwhen.level = {{ of = \"{of}\", {limit} }}\nsummarise = {{ prompt_tokens = 0 }}\n")
    };
    let trace = step().reply(4, Some((1_400, 1))).trace();
    // 1,000 + 100 + 1.3 x 300 = 1,490.
    for (limit, fires) in [("ge = 1490", true), ("gt = 1490", false), ("ge = 1490.5", false)] {
        let outcome = replay(&rule("=usage_total + factor * pending", limit), &trace);
        assert_eq!(!calls_of(&outcome, EventKind::Compact).is_empty(), fires, "{limit}");
    }
    // The estimate is scaled by what the last request taught, at most fourfold: the request is 1,400 by estimate, the last usage 1,000.
    assert_eq!(calls_of(&replay(&rule("=min(4, max(1, 2100 / est_request)) * est_request", "ge = 2100"), &trace), EventKind::Compact), [1]);
    // Where no usage is known, its names are 0.
    let unknown = Session::default().user(4_000).step(400, None, "t", text(1_200, 300)).reply(4, None).trace();
    let by_estimate = rule("=if(usage_in > 0, 0, est_request)", "ge = 1").replace("mid_turn", "pre_call");
    assert_eq!(calls_of(&replay(&by_estimate, &unknown), EventKind::Compact), [0]);
    let said = refused(&rule("=usage_totl + 1", "ge = 1"));
    assert!(said.contains("words.toml:6") && said.contains("`usage_totl`"), "{said}");
    assert!(refused(&rule("=factor * 2", "ge = 1")).contains("looks at no size"));
    assert!(refused(&rule("usage_totl", "ge = 1")).contains("did you mean `usage_total`?"));
}

#[test]
fn a_counting_endpoint_tells_the_next_prompt_exactly() {
    let rule = |limit: u64| {
        format!("[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.level = {{ of = \"next_prompt\", ge = {limit} }}\nsummarise = {{}}\n")
    };
    // By its estimate the result is 300 tokens; in truth it is 900.
    let dense = Session::default().user(4_000).step(400, Some((1_000, 100)), "t", text(1_200, 900)).reply(4, Some((2_000, 1))).trace();
    assert_eq!(calls_of(&replay(&rule(2_000), &dense), EventKind::Compact), [1]);
    assert!(calls_of(&replay(&rule(2_001), &dense), EventKind::Compact).is_empty());
}

#[test]
fn a_rule_may_run_in_a_gap() {
    let rule = "[summary]\ntokens = 100\n[[rule]]\nid = \"idle\"\nat = \"idle\"\nafter = \"54m\"\nwhen.level = { of = \"usage_total\", ge = 1100 }\nsummarise = { prompt_tokens = 0 }\n";
    let session = |gap: i64| {
        let begun = Session::default().user(4_000).at(0).reply(400, Some((1_000, 100))).at(60);
        begun.user(400).at(60 + gap).reply(40, Some((1_200, 10))).at(70 + gap).trace()
    };
    // One that is resumed in time, and compacted behind its last reply, as nothing says that the program ended.
    let outcome = replay(rule, &session(54 * 60 - 1));
    assert_eq!((calls_of(&outcome, EventKind::Compact), sizes(&outcome)), (vec![1], vec![1_000, 1_200]));
    // One that is not: the summary and the new message are the next prompt, and the summariser has read the prompt and the reply.
    let outcome = replay(rule, &session(54 * 60));
    assert_eq!((calls_of(&outcome, EventKind::Compact), sizes(&outcome)), (vec![1], vec![1_000, 200]));
    assert_eq!((outcome.summaries[0].prompt, outcome.summaries[0].prefix), (1_100, 1_000));
    assert!(refused("[[rule]]\nid = \"r\"\nat = \"idle\"\nsummarise = {}\n").contains("they go together"));
    assert!(refused("[[rule]]\nid = \"r\"\nat = \"idle\"\nafter = \"soon\"\nsummarise = {}\n").contains("`soon` is no time"));
}

#[test]
fn failures_in_a_row_end_a_rule_and_a_success_forgives_them() {
    let rule = |after: u32| {
        format!(
            "[summary]\ntokens = 5000\n[[rule]]\nid = \"r\"\nat = \"pre_call\"\nsummarise = {{ prompt_tokens = 0 }}\nno_inflate = true\ngive_up_after = {after}\n"
        )
    };
    let trace = (0..6).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(400, 100))).reply(4, None).trace();
    assert_eq!(calls_of(&replay(&rule(1), &trace), EventKind::NoGain), [0]);
    let outcome = replay(&rule(3), &trace);
    assert_eq!(calls_of(&outcome, EventKind::NoGain), [0, 1, 2]);
    // A summary that is rejected has been read for, and written.
    assert_eq!(
        outcome.summaries.iter().map(|summary| (summary.prompt, summary.output)).collect::<Vec<_>>(),
        [(100, 5_000), (219, 5_000), (338, 5_000)]
    );
    assert_eq!((outcome.totals.summariser_calls, outcome.totals.summariser_tokens), (3, 100 + 219 + 338 + 15_000));
    let said = refused("[[rule]]\nid = \"r\"\nat = \"pre_call\"\nsummarise = {}\nlatch_on_fail = true\n");
    assert!(said.contains("`latch_on_fail` is now `give_up_after = 1`"), "{said}");
}

/// Two rules, of which each fails where it runs, at the start of a turn and within one.
#[test]
fn rules_may_give_up_together() {
    let rules = |with: &str| {
        let rule = |id: &str, at: &str, with: &str| {
            format!("[[rule]]\nid = \"{id}\"\nat = \"{at}\"\nsummarise = {{}}\nno_inflate = true\ngive_up_after = 1\n{with}")
        };
        format!("[summary]\ntokens = 5000\n{}{}", rule("between", "turn_start", ""), rule("within", "mid_turn", with))
    };
    let trace = Session::default().user(400).step(40, None, "t", text(400, 100)).reply(40, None).user(400).reply(4, None).trace();
    let asked = |rules: &str| replay(rules, &trace).summaries.iter().map(|summary| summary.call).collect::<Vec<_>>();
    assert_eq!(asked(&rules("")), [1, 2]);
    assert_eq!(asked(&rules("give_up_with = \"between\"\n")), [1]);
    assert!(refused(&rules("give_up_with = \"betwen\"\n")).contains("did you mean `between`?"));
    let alone = "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nsummarise = {}\ngive_up_with = \"r\"\n";
    assert!(refused(alone).contains("`give_up_with` needs `give_up_after`"));
    // The rule that is named counts its own failures, and is there.
    let itself = rules("give_up_with = \"within\"\n");
    assert!(refused(&itself).contains("names `within`, whose failures are counted with those of `within`"));
    let chain = rules("give_up_with = \"between\"\n")
        + "[[rule]]\nid = \"last\"\nat = \"post_call\"\nsummarise = {}\ngive_up_after = 1\ngive_up_with = \"within\"\n";
    assert!(refused(&chain).contains("rule `last`: `give_up_with` names `within`, whose failures are counted with those of `between`"));
    let off = rules("give_up_with = \"between\"\n").replace("at = \"turn_start\"", "at = \"turn_start\"\nif = \"=factor > 2\"");
    assert!(refused(&off).contains("names `between`, which its `if` takes out"));
    let both = off.replace("at = \"mid_turn\"", "at = \"mid_turn\"\nif = \"=factor > 2\"");
    assert!(replay(&both, &trace).summaries.is_empty());
}

#[test]
fn a_summary_may_be_held_against_the_last_prompt() {
    // The history is 1,000 + 100 + 100 tokens by estimate; the newest message stays, and the last prompt was 1,000.
    let trace = Session::default().user(4_000).reply(400, Some((1_000, 100))).user(400).reply(4, Some((1_200, 1))).trace();
    let compacts = |limit: &str, tokens: u64| {
        let rule = format!(
            "[summary]\ntokens = {tokens}\n[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.level = {{ of = \"usage_in\", ge = 1 }}\nselect = {{ tail = [{{ n = 1, unit = \"messages\" }}] }}\nsummarise = {{}}\nno_inflate = {limit}\n"
        );
        let outcome = replay(&rule, &trace);
        (calls_of(&outcome, EventKind::Compact), outcome.totals.summariser_calls)
    };
    assert_eq!((compacts("\"usage_in\"", 900), compacts("\"usage_in\"", 901)), ((vec![1], 1), (vec![], 1)));
    // What it replaces are 1,100.
    assert_eq!((compacts("true", 1_100), compacts("true", 1_101)), ((vec![1], 1), (vec![], 1)));
    let masks = "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nmask = { text = \"\" }\nno_inflate = \"usage_in\"\n";
    assert!(refused(masks).contains("needs summarise"));
}

#[test]
fn an_agent_may_give_up_instead_of_calling() {
    let rules = "[[rule]]\nid = \"hard\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_plus_pending\", ge = 1400 }\nrefuse = true\n";
    let trace = step().step(4, Some((1_400, 1)), "t", text(4, 1)).reply(4, Some((1_402, 1))).trace();
    let outcome = replay(rules, &trace);
    assert_eq!((outcome.ended_at(), calls_of(&outcome, EventKind::GiveUp)), (Some(1), vec![1]));
    // Nothing was sent that a provider could refuse.
    assert_eq!((outcome.totals.failed_sessions, outcome.totals.refused, outcome.totals.overflows), (1, 0, 0));
    // A compaction that fails may end the session too.
    let failed = "[summary]\ntokens = 9000\n[[rule]]\nid = \"compact\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_plus_pending\", ge = 1400 }\nsummarise = {}\nno_inflate = true\nelse = \"end\"\n[[rule]]\nid = \"end\"\nat = \"manual\"\nrefuse = true\n";
    assert_eq!(replay(failed, &trace).ended_at(), Some(1));
    assert!(refused("[[rule]]\nid = \"r\"\nat = \"post_call\"\nrefuse = true\n").contains("about to be made"));
}

#[test]
fn items_go_until_what_is_left_is_small_enough() {
    let rule = |take: &str| {
        format!(
            "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nselect = {{ kind = [\"tool_result\"], tail = [{{ n = 1, unit = \"items\", of = \"selected\" }}], take = {take} }}\nmask = {{ text = \"\" }}\n"
        )
    };
    // Results of 100, 200, 300 and 400 tokens: 1,000 in all, of which the newest always stays.
    let results = [400, 800, 1_200, 1_600];
    let session = results.iter().fold(Session::default().user(4), |session, chars| session.step(4, None, "t", text(*chars, chars / 4)));
    let trace = session.reply(4, None).trace();
    let cleared = |take: &str| {
        let outcome = replay(&rule(take), &trace);
        outcome.events.iter().filter(|event| event.kind == EventKind::Prune && event.call == 4).map(|event| event.touched).sum::<u32>()
    };
    assert_eq!(cleared("{ down_to = { tokens = 700, above = 999 } }"), 2);
    assert_eq!(cleared("{ down_to = { tokens = 700, above = 1000 } }"), 0);
    assert_eq!(cleared("{ down_to = { tokens = 10, above = 999 } }"), 3);
    assert!(refused(&rule("{ down_to = { tokens = 1 } }").replace("mask = { text = \"\" }", "drop = {}")).contains("takes items"));
}

#[test]
fn the_oldest_may_have_a_budget_beside_the_newest() {
    let rule = |oldest: u64| {
        format!(
            "[summary]\ntokens = 10\n[[rule]]\nid = \"r\"\nat = \"manual\"\nsummarise = {{}}\n[[rule]]\nid = \"s\"\nat = \"pre_call\"\nwhen.count = {{ of = \"turns\", ge = 4 }}\nselect = {{ protect = [{{ kind = [\"user\"], tokens = 500, oldest = {oldest} }}] }}\nsummarise = {{ prompt_tokens = 0 }}\n"
        )
    };
    // Four user messages of 400, 300, 200 and 100 tokens; replies of 10.
    let trace = [1_600, 1_200, 800, 400].iter().fold(Session::default(), |session, chars| session.user(*chars).reply(40, None)).trace();
    let last = |oldest| *sizes(&replay(&rule(oldest), &trace)).last().unwrap();
    // 100 and 200 whole, and 200 of the 300; beside a summary of 10.
    assert_eq!(last(0), 510);
    // 100 and 200 whole and 50 of the 300, and 150 of the 400.
    assert_eq!(last(150), 510);
    assert!(refused(&rule(501)).contains("cannot be larger"));
}

#[test]
fn a_summary_may_be_made_in_pieces_or_pair_by_pair() {
    let rule = |per: &str| {
        format!(
            "[summary]\ntokens = 50\n[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"calls\", ge = 3 }}\nselect = {{ kind = [\"assistant\", \"tool_result\"] }}\nsummarise = {{ input = \"selection\", prompt_tokens = 5, per = {per} }}\n"
        )
    };
    let trace = (0..3).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(360, 90))).reply(4, None).trace();
    let made = |per: &str| {
        let outcome = replay(&rule(per), &trace);
        let summary = outcome.summaries[0];
        (summary.calls, summary.prompt, summary.output, outcome.calls.last().unwrap().actual)
    };
    // Three replies of 10 tokens, each with a call of 9 and a result of 90.
    assert_eq!(made("\"all\""), (1, 332, 50, 150));
    assert_eq!(made("\"pair\""), (3, 342, 150, 250));
    // 327 tokens in four pieces of at most 100, their summaries in two, and those in one.
    assert_eq!(made("{ tokens = 100 }"), (7, 327 + 20 + 200 + 10 + 100 + 5, 350, 150));
    assert_eq!(made("{ tokens = 327 }"), (1, 332, 50, 150));
}

#[test]
fn a_summary_may_be_made_in_the_background() {
    let rule = |delay: u32, rest: &str| {
        format!(
            "[summary]\ntokens = 10\n[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.level = {{ of = \"usage_total\", ge = 400 }}\nsummarise = {{ prompt_tokens = 0 }}\ndelay = {delay}\n{rest}"
        )
    };
    // Prompts of 100, 209, 318, 427, 536: each step adds a reply of 10, its call of 9 and a result of 90.
    let trace = (0..4).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(360, 90))).reply(4, None).trace();
    assert_eq!(sizes(&replay("", &trace)), [100, 209, 318, 427, 536]);
    let at_once = replay(&rule(0, ""), &trace);
    assert_eq!((sizes(&at_once), calls_of(&at_once, EventKind::Compact)), (vec![100, 209, 318, 427, 10], vec![4]));
    // From 200 on: asked for before the third call, when 318 tokens stood there; it takes their place two calls later.
    let later = replay(&rule(2, "").replace("400", "200"), &trace);
    assert_eq!((sizes(&later), calls_of(&later, EventKind::Compact)), (vec![100, 209, 318, 427, 228], vec![4]));
    assert_eq!((later.summaries.len(), later.summaries[0].call, later.summaries[0].prompt), (1, 2, 318));
    // A rule that summarises meanwhile waits for it, and asks for no other.
    let wait =
        "[[rule]]\nid = \"wait\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_total\", ge = 300 }\nsummarise = { prompt_tokens = 0 }\n";
    let waited = replay(&rule(9, wait).replace("400", "200"), &trace);
    assert_eq!((calls_of(&waited, EventKind::Compact), waited.summaries.len()), (vec![3], 1));
    assert!(refused("[[rule]]\nid = \"r\"\nat = \"pre_call\"\ndrop = {}\ndelay = 1\n").contains("needs summarise"));
}

/// Presets of systems whose server counts the request itself: no other may look at the exact total.
#[test]
fn only_a_server_knows_the_next_prompt() {
    let names = ["anthropic@context-editing", "anthropic@compaction", "anthropic@background", "openai@compaction"];
    let asking = presets().iter().filter(|preset| preset.text.contains("\"next_prompt\"")).map(|preset| preset.name);
    assert_eq!(asking.collect::<Vec<&str>>(), names);
}

/// What a limit leaves of a text that arrives, and how many characters of the measured one.
fn cut_by(truncate: &str, given: &str) -> (Option<String>, Option<u32>) {
    let plan = policy(&format!("[[rule]]\nid = \"r\"\nat = \"ingest\"\nno_inflate = true\ntruncate = {{ {truncate} }}\n"));
    let plan = plan.plan(&ctxsim::policy::Facts::default()).unwrap();
    let length = Length { newlines: given.matches('\n').count() as u32, ..text(given.len() as u32, 0).length };
    let shape = Shape { lines: Lines::of(given), ..Shape::default() };
    let measured = Text { length, shape: Some(Box::new(shape)), ..text(given.len() as u32, given.len() as u32 / 4) };
    (apply_rule(&plan.rule[0], given), plan.rule[0].arrives(&measured).map(|cut| cut.text.length.chars))
}

#[test]
fn a_line_on_the_limit_stays_in_part() {
    let limits = |keep: u32| {
        format!("max = {keep}, unit = \"chars\", head = 0.2, whole_lines = true, partial_line = {{ marker = \"..\" }}, marker = \"|\"")
    };
    let cut = |keep, given: &str| {
        let (words, numbers) = cut_by(&limits(keep), given);
        assert_eq!(words.as_ref().map(|words| words.chars().count() as u32), numbers, "{words:?}");
        words
    };
    // A fifth of 50 is 10: eight characters and the mark. Nothing of the line that has begun is in the end.
    assert_eq!(cut(50, &"x".repeat(200)).as_deref(), Some("xxxxxxxx..|"));
    // Of six lines one is from the start; it takes four of the ten, and the rest, 46, goes to the end: three lines of ten, and 14 of the next.
    let lines = ["aaa", "bbbbbbbbbbbbbbbbbbbbbbbb", "ccccccccccccccccccccc", "ddddddddd", "eeeeeeeee", "fffffffff"].join("\n");
    let left = format!("aaa|..{}\nddddddddd\neeeeeeeee\nfffffffff", "c".repeat(14));
    assert_eq!(cut(50, &lines), Some(left));
    // What would be no shorter is not cut.
    let marked = |marker: &str| cut_by(&format!("max = 9, keep = 8, unit = \"chars\", marker = \"{marker}\""), "abcdefghij");
    assert_eq!((marked("|"), marked("||")), ((Some("abcdefgh|".to_owned()), Some(9)), (None, None)));
    // A text of nothing, or of blanks, has a line of its own; a replay knows of the first.
    let (words, numbers) = cut_by("max = 9, unit = \"chars\", empty = \"(none)\"", "");
    assert_eq!((words.as_deref(), numbers), (Some("(none)"), Some(6)));
    assert_eq!(cut_by("max = 9, unit = \"chars\", empty = \"(none)\"", " \n").0.as_deref(), Some("(none)"));
}

#[test]
fn the_words_have_sentences() {
    let said = |name: &str, id: &str| {
        let plan = Policy::load(name).unwrap().plan(&ctxsim::policy::Facts::default()).unwrap();
        plan.rule.iter().find(|rule| rule.id == id).unwrap().sentence()
    };
    let limit = said("qwen-code", "output-limit");
    assert!(limit.contains("in whole lines and a part of the one on the limit; \"(tool completed with no output)\" stands for"), "{limit}");
    let compress = said("qwen-code", "compress");
    assert!(compress.contains("or there are 20 pictures in results or more"), "{compress}");
    let pairs = said("goose", "pairs");
    assert!(pairs.contains("a summary of 40 tokens"), "{pairs}");
    let mask = said("gemini-cli", "mask");
    assert!(mask.contains("with 10 and 10 lines of run_shell_command, else 250 and 250 utf16 of the original"), "{mask}");
}

#[test]
fn a_rule_may_have_summaries_of_a_size_of_its_own() {
    let rule = |tokens: &str| {
        format!("[summary]\ntokens = 70\n[[rule]]\nid = \"r\"\nat = \"mid_turn\"\nsummarise = {{ prompt_tokens = 0{tokens} }}\n")
    };
    let trace = step().reply(4, None).trace();
    let written = |tokens: &str| replay(&rule(tokens), &trace).summaries[0].output;
    assert_eq!((written(""), written(", tokens = 40")), (70, 40));
}

#[test]
fn words_that_were_folded_are_sent_on() {
    let said = refused("[estimator]\ncall_names = \"joined\"\n");
    assert!(said.contains("`call_names` is now `round_at = \"item\"`"), "{said}");
    let said = refused("[[rule]]\nid = \"r\"\nat = \"first_call\"\nsummarise = {}\n");
    assert!(said.contains("`first_call` is now `turn_start`"), "{said}");
}

/// Of ten messages two go: a fifth of all, whatever the old end keeps.
#[test]
fn progress_is_a_share_of_all_messages() {
    let trace =
        (0..4).fold(Session::default().user(4), |session, _| session.step(4, None, "t", text(40, 10))).user(4).reply(4, None).trace();
    let rule = |least: &str| {
        format!(
            "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", ge = 10 }}\nselect = {{ head = [{{ n = 5, \
             unit = \"messages\" }}], take = {{ count = 2 }} }}\ndrop = {{}}\nmin_progress = {least}\n"
        )
    };
    let fires = |least| calls_of(&replay(&rule(least), &trace), EventKind::Drop).len();
    assert_eq!((fires("0.2"), fires("0.21")), (1, 0));
}

/// Two rules at one place, the second unless the first has fired: the first fires from the second call on, and finds nothing to do at that one.
#[test]
fn a_rule_may_run_unless_another_has_fired() {
    let rules = |unless: &str| {
        format!(
            "[[rule]]\nid = \"a\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", ge = 3 }}\nselect = {{ tail = [{{ n = 9, unit = \
             \"messages\" }}] }}\ndrop = {{}}\n[[rule]]\nid = \"b\"\nat = \"pre_call\"\ninject = [{{ what = \"x\", tokens = 1 }}]\n{unless}"
        )
    };
    let trace = (0..2).fold(Session::default().user(4), |session, _| session.reply(4, None).user(4)).reply(4, None).trace();
    let injected = |unless: &str| calls_of(&replay(&rules(unless), &trace), EventKind::Inject);
    assert_eq!((injected(""), injected("unless = \"a\"\n")), (vec![0, 1, 2], vec![0]));
    let lists = ["[]", "[\"b\", \"a\"]"].map(|list| injected(&format!("unless = {list}\n")));
    assert_eq!(lists, [vec![0, 1, 2], vec![0]]);
    for wrong in ["\"c\"", "[\"a\", \"c\"]"] {
        assert!(refused(&rules(&format!("unless = {wrong}\n"))).contains("rule `b`: `unless` names `c`, which is no rule"));
    }
}

/// A summariser that is refused leaves out one item after the other, and a call with its result.
#[test]
fn a_batch_of_calls_goes_call_by_call() {
    let said = || Part::Text(text(40, 10));
    let call = |id: &str| Part::ToolCall { id: id.to_owned(), name: String::new(), arguments: text(0, 0) };
    let result = |id: &str| Part::ToolResult { call_id: id.to_owned(), name: "t".to_owned(), text: text(16_000, 4_000), error: false };
    let ids = ["a", "b", "c"];
    let reply = [vec![said()], ids.map(call).to_vec()].concat();
    let session = Session::default().user(400).push(Role::Assistant, reply, Some(None));
    let trace = ids.iter().fold(session, |session, id| session.push(Role::Tool, vec![result(id)], None)).reply(4, None).trace();
    let rule = "[[rule]]\nid = \"r\"\nat = \"mid_turn\"\nsummarise = { input = \"selection\", prompt_tokens = 5, on_overflow = \"drop_oldest\" }\n";
    let outcome = replay(rule, &trace);
    // The user's message, the reply's text and one call go with its result: three tries. Two of 4,000 tokens, and their calls of 8, are read.
    let tries: Vec<u32> =
        outcome.events.iter().filter(|event| event.kind == EventKind::SummariserOverflow).map(|event| event.touched).collect();
    assert_eq!((tries, outcome.summaries[0].prompt, outcome.totals.failed_sessions), (vec![3], 2 * 4_008 + 5, 0));
}

/// Messages of 1,000, 100 and 100 tokens, of which each recorded prompt lacks a share in percent.
fn lacking(share: u64) -> Trace {
    let mut trace = Session::default().user(4_000).reply(400, None).user(400).reply(4, None).trace();
    trace.calls.iter_mut().for_each(|call| call.missing = call.visible * share / 100);
    trace
}

fn summarise_three(how: &str) -> String {
    format!(
        "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", gt = 2 }}\nsummarise = {{ prompt_tokens = 5, {how} }}\n"
    )
}

#[test]
fn no_summariser_reads_what_the_prompt_lacks() {
    for input in ["context", "head", "messages", "selection", "prose"] {
        let outcome = replay(&summarise_three(&format!("input = \"{input}\"")), &lacking(50));
        assert_eq!(outcome.summaries[0].prompt, 600 + 5, "{input}");
    }
    // One whose request does not fit leaves out the oldest message by what it came to there.
    let rule = summarise_three("input = \"selection\", on_overflow = \"drop_oldest\"");
    assert_eq!(run(&policy(&rule), &lacking(50), 590).summaries[0].prompt, 100 + 5);
    for (known, share) in presets().iter().flat_map(|known| [0, 30, 60, 95].map(|share| (known, share))) {
        let begun = Session::default().user(320_000).reply(40, None);
        let step = |session: Session, _| session.step(40, None, "t", text(40_000, 20_000)).user(4_000);
        let mut trace = (0..12).fold(begun, step).reply(40, None).trace();
        trace.calls.iter_mut().for_each(|call| call.missing = call.visible * share / 100);
        let policy = Policy::load(known.name).unwrap();
        let plan = policy.plan(&Facts { window: Some(100_000), ..Facts::default() }).unwrap();
        let own = plan.rule.iter().filter_map(|rule| rule.summarise.as_ref()).map(|how| how.prompt_tokens).max().unwrap_or(0);
        let outcome = run(&policy, &trace, 100_000);
        for summary in outcome.summaries.iter().filter(|summary| summary.calls == 1) {
            let here = outcome.events.iter().filter(|event| event.call == summary.call && event.kind != EventKind::SummariserOverflow);
            let largest = here.map(|event| event.before).chain(outcome.calls.get(summary.call as usize).map(|call| call.attempted)).max();
            assert!(summary.prompt <= largest.unwrap_or(0) + own, "{}, {share}: {summary:?}", known.name);
        }
    }
}

/// What stands behind the first message left out, and the instruction, stand nowhere in the request before.
#[test]
fn a_shortened_request_shares_what_stands_before_the_first_message_left_out() {
    let system = vec![Part::Text(text(400, 100))];
    let session = Session::default().push(Role::System, system, None).user(400).step(400, None, "t", text(4_000, 1_000));
    let trace = session.reply(400, None).user(40).reply(4, None).trace();
    let asked = |how: &str, window: u64| {
        let rule = format!(
            "[summary]\ntokens = 10\n[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", gt = 4 }}\n\
             select = {{ tail = [{{ n = 4, unit = \"messages\" }}] }}\nsummarise = {{ prompt_tokens = 5, {how} }}\n"
        );
        let summary = run(&policy(&rule), &trace, window).summaries[0];
        (summary.prompt, summary.prefix)
    };
    let call = asked("input = \"context\"", WINDOW).0 - 1_415;
    for (how, window, wanted) in [
        ("input = \"context\"", WINDOW, (1_415 + call, 1_300 + call)),
        ("input = \"head\"", WINDOW, (205, 200)),
        ("input = \"context\", on_overflow = \"drop_oldest\"", 1_400, (1_315 + call, 100)),
        ("input = \"context\", on_overflow = { keep = [0.5] }", 1_400, (215, 100)),
    ] {
        assert_eq!(asked(how, window), wanted, "{how}");
    }
}

#[test]
fn several_calls_for_one_summary_read_the_text_again_or_share_it() {
    let asked = |how: &str| {
        let summary = replay(&summarise_three(&format!("input = \"selection\", tokens = 50, {how}")), &lacking(0)).summaries[0];
        (summary.prompt, summary.output, summary.calls)
    };
    assert_eq!(asked("calls = 2"), (2 * 1_205 + 50, 100, 2));
    assert_eq!(asked("calls = 3, calls_above = 2"), (1_205 + 5 + 2 * 50 + 5, 150, 3));
    assert_eq!(asked("calls = 3, calls_above = 3"), (1_205, 50, 1));
}

#[test]
fn what_is_put_in_may_open_a_turn() {
    // One turn of three steps. The first compaction takes all of it, for nothing lies outside a turn.
    let trace = (0..3).fold(Session::default().user(4), |session, _| session.step(4, None, "t", text(4, 1))).reply(4, None).trace();
    let touched = |opens: bool| {
        let rule = format!(
            "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", gt = 3 }}\nselect = {{ tail = [{{ n = 1, unit = \"turns\" }}], \
             all_kept = \"everything\" }}\nsummarise = {{}}\ninject = [{{ what = \"go on\", tokens = 5, role = \"user\", opens_turn = {opens} }}]\n"
        );
        let outcome = replay(&rule, &trace);
        outcome.events.iter().filter(|event| event.kind == EventKind::Compact).map(|event| event.touched).collect::<Vec<_>>()
    };
    // Behind it the summary goes alone, or everything again.
    assert_eq!((touched(true), touched(false)), (vec![5, 1], vec![5, 4]));
}

/// The summariser reads the newest of what goes, from a message of the user on: 4 characters a token.
#[test]
fn a_summariser_may_read_the_newest_messages_alone() {
    let asked = |newest: &str, session: Session| {
        let rule = format!(
            "[[rule]]\nid = \"r\"\nat = \"pre_call\"\nwhen.count = {{ of = \"messages\", ge = 6 }}\nselect = {{ tail = [{{ n = 1, unit = \"messages\" }}] }}\n\
             summarise = {{ input = \"selection\", prompt_tokens = 5, tokens = 50, newest = {{ {newest}, otherwise = \"nothing is left\" }} }}\n"
        );
        let outcome = replay(&rule, &session.trace());
        (outcome.summaries.iter().map(|summary| (summary.prompt, summary.output)).collect::<Vec<_>>(), *sizes(&outcome).last().unwrap())
    };
    // Five messages of 100, 10, 200, 10 and 300 tokens go, the third of so many lines; one of 20 stays.
    let talk = |lines: u32| {
        let length = Length { newlines: lines - 1, ..text(800, 0).length };
        let lines = Part::Text(Text { length, ..text(800, 200) });
        let talk = Session::default().user(400).reply(40, None).push(Role::User, vec![lines], None).reply(40, None);
        talk.user(1_200).user(80).reply(4, None)
    };
    let users = |tokens: u64| format!("tokens = {tokens}, from = [\"user\"]");
    assert_eq!(asked("tokens = 0", talk(1)), (vec![(620 + 5, 50)], 70));
    assert_eq!(asked("tokens = 529", talk(1)), (vec![(10 + 200 + 10 + 300 + 5, 50)], 70));
    // The oldest of these is a reply, which goes.
    assert_eq!(asked(&users(529), talk(1)), (vec![(200 + 10 + 300 + 5, 50)], 70));
    // Of 20 lines of ten tokens 19 fit; of one line none does.
    assert_eq!(asked(&users(500), talk(20)), (vec![(190 + 10 + 300 + 5, 50)], 70));
    assert_eq!(asked(&users(500), talk(1)), (vec![(300 + 5, 50)], 70));
    // Nothing is left of so few: a sentence of 15 characters stands for it, and no model is asked.
    assert_eq!(asked(&users(299), talk(1)), (vec![], 4 + 20));
}
