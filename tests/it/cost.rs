//! Money: prices, prompt caches, bills; the example of docs/cost.md; real files against an independent count.

use crate::made::{self, Native, Tables};
use crate::references::WIDE;
use crate::support::{ctxsim, files, project, python, read_all, rows, shared};
use ctxsim::catalog::{CatalogError, Prices, Rate, Rates};
use ctxsim::corpus::{ReadSettings, read};
use ctxsim::cost::{
    Ages, Bill, Bills, BillsSoFar, CacheKind, Calibration, Lifetime, PromptCache, Prunes, Request, Split, bills, check, prunes,
};
use ctxsim::policy::Plan;
use ctxsim::sim::{Event, EventKind, Lasts, Outcome, SummaryCall, simulate};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Role, Trust, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A call: minutes since the session began, prompt, prefix that stood before.
type Given = (i64, u64, u64);

/// A session of one model whose calls all have a hidden part of 1,500 tokens and replies of 100.
fn session(model: &str, calls: &[Given]) -> (Trace, Outcome) {
    let mut trace = Trace { id: "s".to_owned(), agent: "test".to_owned(), models: vec![model.to_owned()], ..Trace::default() };
    let mut outcome = Outcome::default();
    for (minutes, prompt, prefix) in calls {
        let usage = Usage { prompt: *prompt, output: 100, ..Usage::default() };
        made::add_call(&mut trace, &mut outcome, minutes * 60_000, usage, *prefix);
    }
    (trace, outcome)
}

/// A prompt in its parts: read, written for the usual lifetime, the rest.
fn parts(read: u64, write: u64, fresh: u64) -> Split {
    Split { read, write, write_1h: 0, fresh }
}

fn nano(bills: &Bills) -> [u64; 3] {
    [CacheKind::None, CacheKind::Modelled, CacheKind::Perfect].map(|cache| bills.with(cache).nano_usd())
}

/// docs/cost.md, "A bill worked by hand".
#[test]
fn the_bill_worked_by_hand() {
    let tables = Tables::builtin();
    let (trace, kept) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 3000, 2000), (2, 3500, 3000), (12, 4000, 3500)]);
    let bill = bills(&trace, &kept, &tables.tariff(), &Calibration::default());
    assert_eq!(nano(&bill), [43_500_000, 35_625_000, 20_550_000]);
    assert_eq!((bill.modelled.cache_read.tokens, bill.modelled.cache_write.tokens, bill.modelled.fresh.tokens), (5000, 7500, 0));
    assert_eq!((bill.perfect.cache_read.tokens, bill.perfect.fresh.tokens), (8500, 4000));

    let (_, mut pruned) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 3000, 2000), (2, 2700, 1600), (12, 3200, 2700)]);
    pruned.events.push(Event { call: 2, before: 3500, after: 2700, ..event() });
    let bill = bills(&trace, &pruned, &tables.tariff(), &Calibration::default());
    assert_eq!(nano(&bill), [38_700_000, 34_800_000, 21_690_000]);
    assert_eq!((bill.modelled.cache_read.tokens, bill.modelled.cache_write.tokens), (3500, 7400));
    let Prunes { all, calls, .. } = prunes(&trace, &pruned, &tables.tariff());
    assert_eq!((all.len(), calls), (1, 4));
    assert_eq!((all[0].removed, all[0].rewritten, all[0].calls_left), (800, 600, 2));
    assert_eq!((all[0].cost_nano_usd, all[0].saving_nano_usd, all[0].calls_to_pay()), (2_070_000, 240_000, Some(9)));
    assert!(!all[0].pays());
}

#[test]
fn calls_without_times_have_the_price_of_when_their_session_began() {
    let tables = Tables::builtin();
    let (mut trace, outcome) = session("o3", &[(0, 2000, 0)]);
    // The call's message moves behind one of a person, which has the only time.
    trace.messages.insert(0, made::message(Role::User));
    (trace.calls[0].message, trace.messages[1].time) = (1, None.into());
    for (day, input, output) in [("2025-06-09", 10_000, 40_000), ("2025-06-11", 2000, 8000)] {
        trace.messages[0].time = Some(format!("{day}T12:00:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond()).into();
        let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
        assert_eq!(bill.uncached.nano_usd(), 2000 * input + 100 * output, "{day}");
    }
}

fn event() -> Event {
    Event {
        call: 0,
        kind: EventKind::Prune,
        rule: String::new(),
        belief: None,
        limit: None,
        before: 0,
        after: 0,
        touched: 1,
        lasts: Lasts::Session,
        cause: None,
        count: None,
        tool: None,
    }
}

#[test]
fn summaries_are_billed_and_unknown_prices_are_no_zeros() {
    let tables = Tables::builtin();
    let (mut trace, mut outcome) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 2500, 2000)]);
    outcome.summaries.push(SummaryCall { call: 1, prompt: 2600, prefix: 2000, output: 300, calls: 1, ..SummaryCall::default() });
    let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
    assert_eq!((bill.calls, bill.unpriced_calls), (3, 0));
    assert_eq!(bill.modelled.summariser.tokens, 2900);
    assert_eq!(bill.uncached.summariser.nano_usd, 2600 * 3000 + 300 * 15_000);
    assert_eq!(bill.modelled.summariser.nano_usd, 2000 * 300 + 600 * 3000 + 300 * 15_000);
    // A summariser that waits for more than five minutes finds a cold cache; behind the last reply it may never have run.
    for (waited_seconds, prompt) in [(300, 2000 * 300 + 600 * 3000), (301, 2600 * 3000)] {
        outcome.summaries = vec![SummaryCall { call: 1, prompt: 2600, prefix: 2000, output: 300, calls: 1, waited_seconds, at_end: true }];
        let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default()).modelled;
        assert_eq!((bill.summariser.nano_usd, bill.at_end), (prompt + 300 * 15_000, bill.summariser));
    }
    trace.models = vec!["nobody-knows-it".to_owned()];
    let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
    assert_eq!((bill.calls, bill.unpriced_calls, bill.is_priced()), (3, 3, false));
    assert_eq!(bill.unpriced_models.iter().map(String::as_str).collect::<Vec<_>>(), ["nobody-knows-it"]);
    assert_eq!(nano(&bill), [0, 0, 0]);
    // Nor is a model billed by the price of another one that its name begins with; what is free costs nothing.
    for (name, unpriced_calls) in [("claude-sonnet-4-5-pro", 3), ("gpt-4o-2024-05-13", 3), ("grok-code-fast-1:free", 0)] {
        trace.models = vec![name.to_owned()];
        let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
        assert_eq!((bill.unpriced_calls, nano(&bill)), (unpriced_calls, [0, 0, 0]), "{name}");
    }
}

/// Settings of a sweep are billed with one cache: it has the bill that it has beside the others, which stay without calls. Nor does it matter how often a run is looked at
/// before it ends.
#[test]
fn one_bill_is_what_it_is_beside_the_others() {
    let tables = Tables::builtin();
    let (trace, mut outcome) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 2500, 2000), (2, 3000, 2500)]);
    outcome.summaries = vec![SummaryCall { call: 1, prompt: 2600, output: 300, calls: 1, ..SummaryCall::default() }];
    let all = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
    let caches = [CacheKind::None, CacheKind::Recorded, CacheKind::Modelled, CacheKind::Perfect];
    let (tariff, calibration) = (tables.tariff(), Calibration::default());
    for (cache, looks) in caches.into_iter().flat_map(|cache| (0..8_usize).map(move |looks| (cache, looks))) {
        let mut so_far = BillsSoFar::new(&trace, &tariff, &calibration, Some(cache));
        for calls in (1..=3).filter(|calls| looks >> (calls - 1) & 1 == 1) {
            let summaries = outcome.summaries.iter().filter(|summary| (summary.call as usize) < calls).count();
            so_far.go_on(&outcome.calls[..calls], &outcome.summaries[..summaries], &[]);
        }
        let one = so_far.close(&outcome);
        assert_eq!((one.with(cache), one.calls, one.unpriced_calls), (all.with(cache), all.calls, all.unpriced_calls));
        assert!(caches.iter().all(|other| *other == cache || one.with(*other).output.tokens == 0));
    }
}

/// A summary that is asked for behind the refused call, at the same place, is on the bill of what would have followed.
#[test]
fn what_follows_a_refused_call_is_on_no_bill_of_the_session() {
    let tables = Tables::builtin();
    let (trace, mut outcome) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 2500, 2000), (2, 3000, 2500)]);
    outcome.behind.calls = outcome.calls.split_off(2);
    outcome.calls[1].unrecovered = true;
    outcome.behind.summaries = vec![SummaryCall { call: 1, prompt: 2600, output: 300, calls: 1, ..SummaryCall::default() }];
    let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
    let behind = bill.after_end.as_deref().unwrap();
    assert_eq!((bill.calls, bill.uncached.summariser.tokens), (1, 0));
    assert_eq!((behind.calls, behind.uncached.summariser.tokens), (2, 2900));
}

#[test]
fn prices_are_read_as_litellm_and_models_dev_publish_them() {
    let tables = Tables::builtin();
    let (trace, outcome) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 210_000, 2000)]);
    let litellm = r#"{"sample_spec": {"mode": "chat"}, "bedrock/claude-sonnet-4-5": {"input_cost_per_token": 9e-06, "output_cost_per_token": 1},
        "claude-sonnet-4-5": {"input_cost_per_token": 1e-06, "output_cost_per_token": 0.00001, "cache_read_input_token_cost": 1e-07,
        "cache_creation_input_token_cost": 2e-06, "input_cost_per_token_above_200k_tokens": 2e-06,
        "output_cost_per_token_above_200k_tokens": 2e-05}}"#;
    let models_dev = r#"{"somebody": {"models": {"claude-sonnet-4-5": {"cost": {"input": 9, "output": 99}}}},
        "anthropic": {"models": {"claude-sonnet-4-5": {"cost": {"input": 1, "output": 10, "cache_read": 0.1, "cache_write": 2,
        "context_over_200k": {"input": 2, "output": 20}}}}}}"#;
    // A tier of LiteLLM's keeps what it does not name; one of models.dev without a price for reads has no discount.
    for (text, read) in [(litellm, 100), (models_dev, 2000)] {
        let own = Tables { prices: Prices::builtin().unwrap().with_file(text).unwrap(), ..Tables::builtin() };
        let bill = bills(&trace, &outcome, &own.tariff(), &Calibration::default());
        assert_eq!(bill.uncached.nano_usd(), 2000 * 1000 + 100 * 10_000 + 210_000 * 2000 + 100 * 20_000, "{text}");
        assert_eq!(bill.perfect.cache_read.nano_usd, 2000 * read, "{text}");
        // Neither says what a write for an hour costs: twice the input.
        let rates = *own.prices.of("claude-sonnet-4-5", None, None).unwrap().rates(1000);
        assert_eq!((rates.cache_write, rates.cache_write_1h), (Rate(2_000_000), Rate(2_000_000)), "{text}");
    }
    let tier =
        r#"{"m": {"input_cost_per_token": "1e-06", "output_cost_per_token": 3e-06, "input_cost_per_token_above_128k_tokens": 2e-06}}"#;
    let above = *Prices::builtin().unwrap().with_file(tier).unwrap().of("m", None, None).unwrap().rates(128_001);
    assert_eq!((above.input, above.output), (Rate(2_000_000), Rate(3_000_000)));
    let unread = |text: &str| Tables::builtin().prices.with_file(text).unwrap_err().to_string();
    assert!(unread("{\n\"m\": nan}").contains("line 2"), "{}", unread("{\n\"m\": nan}"));
    assert!(matches!(tables.prices.with_file("{}"), Err(CatalogError::PriceFile(_))));
}

/// Bedrock's endpoints of a region cost more for Claude 4.5 and later, also above a tier; the global one and older models do not.
#[test]
fn bedrocks_regions_have_their_own_prices() {
    let tables = Tables::builtin();
    let rates = |name: &str, prompt: u64| *tables.prices.of(name, tables.catalog.billed_as(name), None).unwrap().rates(prompt);
    let dollars = |rates: Rates| {
        [rates.input, rates.cache_read, rates.cache_write, rates.cache_write_1h, rates.output].map(|rate| rate.0 as f64 / 1e6)
    };
    let sonnet = |front: &str| format!("{front}anthropic.claude-sonnet-4-5-20250929-v1:0");
    for front in ["bedrock/us.", "eu.", "jp.", "au.", "apac.", "amazon-bedrock:us.", "US."] {
        assert_eq!(dollars(rates(&sonnet(front), 1_000)), [3.3, 0.33, 4.125, 6.6, 16.5], "{front}");
    }
    assert_eq!(dollars(rates(&sonnet("us."), 300_000))[..3], [6.6, 0.66, 8.25]);
    assert_eq!(dollars(rates(&sonnet("us-gov."), 1_000))[0], 3.6);
    for front in ["global.", "", "bedrock/"] {
        assert_eq!(dollars(rates(&sonnet(front), 1_000)), [3.0, 0.3, 3.75, 6.0, 15.0], "{front}");
    }
    assert_eq!(rates("us.anthropic.claude-sonnet-4-20250514-v1:0", 1_000), rates("claude-sonnet-4", 1_000));
    assert_eq!(dollars(rates("eu.anthropic.claude-opus-4-6-v1", 1_000))[0], 5.5);
}

#[test]
fn prices_have_days_and_tiers() {
    let tables = Tables::builtin();
    let model = tables.catalog.find("openai/o3");
    let input = |time| tables.prices.of("o3", model, time).unwrap().rates(1000).input;
    let day = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert_eq!(input(Some(day("2025-06-09T23:59:59Z"))), Rate(10_000_000));
    assert_eq!(input(Some(day("2025-06-10T00:00:00Z"))), Rate(2_000_000));
    assert_eq!(input(None), Rate(2_000_000));
    let gemini = tables.catalog.find("google/gemini-3-pro-preview");
    let price = tables.prices.of("google/gemini-3-pro-preview", gemini, None).unwrap();
    assert_eq!((price.rates(200_000).input, price.rates(200_001).input), (Rate(2_000_000), Rate(4_000_000)));
    let grok = |time| tables.prices.of("grok-code-fast-1", tables.catalog.find("grok-code-fast-1"), time).unwrap().rates(1000);
    let times = ["2026-05-14T23:59:59Z", "2026-05-15T00:00:00Z"].map(|time| grok(Some(day(time))));
    assert_eq!(times.map(|rates| (rates.input.0, rates.output.0)), [(200_000, 1_500_000), (1_000_000, 2_000_000)]);
    // DeepSeek's working hours cost twice as much, from Monday to Friday.
    let deepseek =
        |name: &str, time: &str| tables.prices.of(name, tables.catalog.billed_as(name), Some(day(time))).unwrap().rates(1000).output;
    let times = ["2026-08-16T02:00:00Z", "2026-09-14T02:00:00Z", "2026-09-14T04:00:00Z", "2026-09-14T09:59:59Z", "2026-09-13T02:00:00Z"];
    assert_eq!(times.map(|time| deepseek("deepseek-v4-pro", time).0), [870_000, 3_960_000, 1_980_000, 3_960_000, 1_980_000]);
    assert_eq!(times.map(|time| deepseek("deepseek-v4-flash", time).0), [280_000, 1_200_000, 600_000, 1_200_000, 600_000]);
    assert_eq!(deepseek("deepseek/deepseek-flash", "2026-09-14T02:00:00Z"), Rate(1_200_000));
    // Its older names had a discount in the night of every day, half an hour past the hour; then they named later models.
    let times = ["2025-08-16T16:29:59Z", "2025-08-16T16:30:00Z", "2025-08-17T00:29:59Z", "2025-08-17T00:30:00Z", "2025-02-26T12:00:00Z"];
    assert_eq!(times.map(|time| deepseek("deepseek-chat", time).0), [1_100_000, 550_000, 550_000, 1_100_000, 1_100_000]);
    assert_eq!(times.map(|time| deepseek("deepseek-reasoner", time).0), [2_190_000, 550_000, 550_000, 2_190_000, 2_190_000]);
    let times = ["2025-09-06T20:00:00Z", "2025-09-30T20:00:00Z", "2026-04-24T00:00:00Z"];
    assert_eq!(times.map(|time| deepseek("deepseek-chat", time).0), [1_680_000, 420_000, 280_000]);
    // A name that moves from model to model has the price of the model of its day.
    let output = |name: &str, time: &str| deepseek(name, time).0;
    let times = ["2026-03-15T12:00:00Z", "2026-03-16T00:00:00Z", "2026-06-15T12:00:00Z", "2026-06-16T00:00:00Z"];
    assert_eq!(times.map(|time| output("mistral-small-latest", time)), [300_000, 600_000, 600_000, 600_000]);
    assert_eq!(times.map(|time| output("mistral/mistral-medium-latest", time)), [2_000_000, 2_000_000, 2_000_000, 7_500_000]);
    assert_eq!(["2025-06-01T12:00:00Z", "2025-12-02T00:00:00Z"].map(|time| output("mistral-large-latest", time)), [6_000_000, 1_500_000]);
    // Faster and free editions have their own; what was sold at half price at first had that price.
    let times = ["2026-09-09T12:00:00Z", "2026-09-10T00:00:00Z"];
    assert_eq!(times.map(|time| output("z-ai/glm-5.3-flash", time)), [250_000, 500_000]);
    assert_eq!(["glm-5.3-flashx", "glm-4.7-flash", "glm-4.7-flashx"].map(|name| output(name, times[1])), [1_250_000, 0, 400_000]);
    // What its maker sells to subscribers alone, or by whether a reply thinks, has none.
    for name in ["gpt-5.3-codex-spark", "gemini-2.5-flash-preview-04-17", "gemini-2.5-flash-preview-05-20:thinking"] {
        let model = tables.catalog.billed_as(name);
        assert!(model.is_some() && tables.prices.of(name, model, None).is_none(), "{name}");
    }
    assert_eq!(output("gemini-2.5-flash-preview-09-2025", times[0]), 2_500_000);
    // The tier that lets its maker train on requests is another price.
    let muse = |name| tables.prices.of(name, tables.catalog.billed_as(name), None).unwrap().rates(1000).output;
    assert_eq!((muse("muse-spark-1.2"), muse("muse-spark-1.2-contributor")), (Rate(4_250_000), Rate(200_000)));
    for id in tables.prices.ids() {
        assert_eq!(tables.catalog.find(id).map(|model| model.id.as_str()), Some(id), "a price without a model");
    }
}

#[test]
fn decimal_text_becomes_an_exact_rate() {
    for (text, power, rate) in
        [("3", -6, 3_000_000), ("0.003625", -6, 3625), ("5e-07", 0, 500_000), ("1.25E-5", 0, 12_500_000), ("0", -6, 0)]
    {
        assert_eq!(Rate::parse(text, power), Some(Rate(rate)), "{text}");
    }
    for text in ["", "-1", "1e999", "x", "1.2.3", "."] {
        assert_eq!(Rate::parse(text, -6), None, "{text}");
    }
    assert_eq!((Rate(1).of(499), Rate(1).of(500), Rate(2_000_000).of(3)), (0, 1, 6000));
}

/// The rules of single providers, each with its own trap.
#[test]
fn caches_have_minimums_steps_and_lifetimes() {
    let tables = Tables::builtin();
    let rule = |name: &str| tables.caches.of(name, tables.catalog.find(name));
    let asked = |cache: &mut PromptCache<'_>, minutes: i64, prompt: u64, prefix: u64, blocks: u32, shared: u64| {
        cache.ask(&Request { time: minutes * 60_000, prompt, prefix, hidden: 1200, blocks, shared })
    };
    let ask =
        |cache: &mut PromptCache<'_>, minutes: i64, prompt: u64, prefix: u64, blocks: u32| asked(cache, minutes, prompt, prefix, blocks, 0);
    // OpenAI: steps of 128, writes free, a part of a broken prefix is still good.
    let mut gpt = PromptCache::new(rule("gpt-5"), Lifetime::Usual, Ages::Lives);
    assert_eq!(ask(&mut gpt, 0, 3000, 0, 1), parts(0, 0, 3000));
    assert_eq!(ask(&mut gpt, 1, 4000, 3000, 3), parts(2944, 0, 1056));
    assert_eq!(ask(&mut gpt, 2, 4000, 2000, 3), parts(1920, 0, 2080));
    assert_eq!(ask(&mut gpt, 3, 4100, 1000, 3), parts(0, 0, 4100));
    // From GPT-5.6 on writes are paid.
    assert_eq!(ask(&mut PromptCache::new(rule("gpt-5.6"), Lifetime::Usual, Ages::Lives), 0, 3000, 0, 1), parts(0, 2944, 56));
    // Anthropic: only ends of earlier prompts are found, and only within 20 blocks; else the system prompt alone.
    let mut claude = PromptCache::new(rule("claude-sonnet-4-5"), Lifetime::Usual, Ages::Lives);
    assert_eq!(ask(&mut claude, 0, 3000, 0, 2), parts(0, 3000, 0));
    assert_eq!(ask(&mut claude, 1, 4000, 3000, 21), parts(3000, 1000, 0));
    assert_eq!(ask(&mut claude, 2, 5000, 4000, 41), parts(1200, 3800, 0));
    assert_eq!(ask(&mut claude, 3, 5000, 4999, 41).read, 1200);
    // Five minutes, begun anew by each read; an hour where it was asked for.
    let mut claude = PromptCache::new(rule("claude-sonnet-4-5"), Lifetime::Usual, Ages::Lives);
    let reads: Vec<u64> =
        [(0, 0), (4, 3000), (8, 3000), (14, 3000)].map(|(minute, prefix)| ask(&mut claude, minute, 3000, prefix, 2).read).into();
    assert_eq!(reads, [0, 3000, 3000, 0]);
    let mut long = PromptCache::new(rule("claude-sonnet-4-5"), Lifetime::Long, Ages::Lives);
    let reads: Vec<u64> =
        [(0, 0), (59, 3000), (120, 3000)].map(|(minute, prefix)| asked(&mut long, minute, 3000, prefix, 2, 700).read).into();
    assert_eq!(reads, [700, 3000, 0], "what others had put there is an entry like any other");
    // Below the minimum nothing is cached; a bigger window is the same model.
    assert_eq!(ask(&mut PromptCache::new(rule("claude-haiku-4-5"), Lifetime::Usual, Ages::Lives), 0, 4095, 0, 2).fresh, 4095);
    assert_eq!(rule("claude-sonnet-4-5[1m]"), rule("claude-sonnet-4-5"));
    // A Claude that is not known has the cache of its maker, another unknown model the common one.
    assert_eq!(rule("claude-opus-9"), rule("claude-sonnet-4-5"));
    assert_eq!(rule("openrouter/us.Anthropic.Claude-Opus-9-v1:0"), rule("claude-sonnet-4-5"));
    assert_eq!((rule("claudette-1"), rule("")), (rule("nobody-knows-it"), rule("nobody-knows-it")));
    assert_eq!(rule("claude-mythos-preview").map(|rule| rule.minimum), Some(2048));
}

proptest! {
    /// A prompt is divided without loss; where reads are cheaper and writes free, perfect <= modelled <= none; sums do not depend on the order.
    #[test]
    fn bills_are_whole_and_bounded(calls in prop::collection::vec((0_i64..20, 1500_u64..400_000, 0_u64..400_000), 1..30), model in 0..3_usize) {
        let tables = Tables::builtin();
        let model = ["gpt-5", "gemini-2.5-pro", "deepseek-v3.2"][model];
        let mut clock = 0;
        let mut last = 0;
        let calls: Vec<Given> = calls.into_iter().map(|(pause, prompt, prefix)| {
            clock += pause;
            let prefix = prefix.min(prompt).min(last);
            last = prompt;
            (clock, prompt, prefix)
        }).collect();
        let (trace, outcome) = session(model, &calls);
        let bill = bills(&trace, &outcome, &tables.tariff(), &Calibration::default());
        let prompt: u64 = calls.iter().map(|(_, prompt, _)| prompt).sum();
        for cache in [CacheKind::None, CacheKind::Modelled, CacheKind::Perfect] {
            prop_assert_eq!(bill.with(cache).prompt_tokens(), prompt);
        }
        let [none, modelled, perfect] = nano(&bill);
        // Each tier of each call is rounded by itself.
        let slack = calls.len() as u64 * 2;
        prop_assert!(perfect <= modelled + slack && modelled <= none + slack);
        let mut forth = Bills::default();
        let mut back = Bills::default();
        let pieces: Vec<Bills> = calls.iter().map(|call| { let (t, o) = session(model, &[*call]); bills(&t, &o, &tables.tariff(), &Calibration::default()) }).collect();
        pieces.iter().for_each(|piece| forth += piece);
        pieces.iter().rev().for_each(|piece| back += piece);
        prop_assert_eq!(forth, back);
    }
}

/// The program's record of a command.
fn record(arguments: &[&str], logs: &Path) -> Value {
    ctxsim(&["cost", "--quiet", "--json"]).args(arguments).args([logs]).json()
}

fn usd(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn near(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance * theirs.abs(), "{what}: {ours} instead of {theirs}");
}

/// Recorded sums to the cent, and observation masking, against a script that does its own arithmetic.
#[test]
fn masking_of_real_runs_costs_what_an_independent_count_says() {
    let Some(shared) = shared() else { return };
    let logs = shared.join("transcripts/mini_swe_traj");
    let pairs = [("5", "1"), ("10", "1"), ("20", "1"), ("10", "5"), ("10", "10"), ("10", "20")];
    let flat = pairs.iter().flat_map(|(keep, polling)| [*keep, *polling]);
    let words = ["2", "0.2", "12"].into_iter().chain(flat).map(PathBuf::from);
    let Some(counted) = python("masking_cost.py", std::iter::once(logs.clone()).chain(words)) else { return };
    let theirs: Value = serde_json::from_str(&counted).unwrap();
    // The script counts the runs of the one model that has a list price in it; the others are a handful of calls.
    let folder = tempfile::tempdir().unwrap();
    for file in files(&logs).into_iter().filter(|file| std::fs::read_to_string(file).unwrap().contains("gemini-3-pro-preview")) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    for (place, (keep, polling)) in pairs.into_iter().enumerate() {
        let (n, every) = (format!("n={keep}"), format!("polling={polling}"));
        let ours = record(&["--policy", "swe-agent@1.0", "--set", &n, "--set", &every], folder.path());
        let agent = &ours["agents"][0];
        assert_eq!(agent["calls"], theirs["calls"]);
        near("logged", usd(&agent["logged_usd"]), theirs["logged_usd"].as_f64().unwrap(), 1e-9);
        near("list", usd(&agent["recorded"]["cost"]), theirs["list_usd"].as_f64().unwrap(), 1e-9);
        assert_eq!(agent["recorded"]["tiers"]["cache_read"]["tokens"], theirs["cached"]);
        assert_eq!(agent["recorded"]["tiers"]["output"]["tokens"], theirs["output"]);
        let (policy, masking) = (&ours["policies"][0], &theirs["masking"][place]);
        let number = |key: &str| masking[key].as_f64().unwrap();
        let what = format!("keep {keep}, polling {polling}");
        near(&format!("{what}: saved"), policy["tokens_saved"].as_f64().unwrap(), number("saved"), 0.01);
        near(&format!("{what}: hits"), policy["perfect"]["cache_hit_rate"].as_f64().unwrap(), number("hit_share"), 0.01);
        near(&format!("{what}: no cache"), usd(&policy["uncached"]["cost"]), number("uncached_usd"), 0.01);
        near(&format!("{what}: perfect"), usd(&policy["perfect"]["cost"]), number("perfect_usd"), 0.01);
    }
}

/// The model of the cache against recorded reads, by agent; the gaps that are wider stand by name in docs/cost.md.
#[test]
fn modelled_reads_are_near_the_recorded_ones() {
    let Some(shared) = shared() else { return };
    for (folder, tolerance) in [("claude-code", 0.05), ("pi", 0.05), ("codex", 0.05), ("mini_swe_traj", 0.09)] {
        let record = record(&["--policy", "none"], &shared.join("transcripts").join(folder));
        let agents = record["agents"].as_array().unwrap();
        let is_read = |agent: &Value| agent["recorded"]["tiers"]["cache_read"]["tokens"].as_f64() > Some(0.0);
        assert!(agents.iter().any(is_read), "{folder} has no cache reads");
        for agent in agents {
            let reads = |side: &str| agent[side]["tiers"]["cache_read"]["tokens"].as_f64().unwrap_or(0.0);
            println!(
                "{folder}: {} recorded, {} modelled ({:+.2} %)",
                reads("recorded"),
                reads("modelled"),
                (reads("modelled") / reads("recorded") - 1.0) * 100.0
            );
            near(folder, reads("modelled"), reads("recorded"), tolerance);
        }
    }
}

/// The costs of messages add up to what the run says that it cost.
#[test]
fn tau2_costs_add_up_to_the_recorded_run() {
    let Some(shared) = shared() else { return };
    let mut runs = 0;
    for file in ["tau2_results", "tau2_task_json"].iter().flat_map(|folder| files(&shared.join("transcripts").join(folder))) {
        if file.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let raw: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let simulations = raw["simulations"].as_array().cloned().unwrap_or_default();
        let costs = |key: &str| simulations.iter().filter_map(|run| run[key].as_f64()).sum::<f64>();
        if simulations.iter().all(|run| run["agent_cost"].is_null()) {
            continue;
        }
        let (transcripts, _) = read_all(&file);
        let cost = |usage: Option<Usage>| usage.and_then(|usage| usage.cost_nano_usd).unwrap_or(0);
        let agent: i64 = transcripts.iter().flat_map(|t| &t.messages).filter_map(|m| m.call.as_ref()).map(|call| cost(call.usage)).sum();
        let user: i64 = transcripts.iter().flat_map(|t| &t.side_calls).map(|call| cost(call.usage)).sum();
        near("agent", agent as f64 / 1e9, costs("agent_cost"), 1e-6);
        near("user", user as f64 / 1e9, costs("user_cost"), 1e-6);
        runs += simulations.len();
    }
    assert!(runs > 0);
}

/// A session that nothing changes costs what it was recorded to cost, wherever its log counts what the cache read, and however far hits reach beyond the model's.
#[test]
fn an_unchanged_session_costs_what_was_recorded() {
    let folders = std::iter::once(project().join("transcripts")).chain(shared());
    let mut calls = 0;
    for folder in folders {
        let folder = if folder.ends_with("transcripts") { folder } else { folder.join("transcripts") };
        let tables = Tables::builtin();
        let corpus = read(&[folder.to_string_lossy().into_owned()], &ReadSettings::new(&tables.catalog)).unwrap();
        // What the passes of one call read again is on its bill, and in no context.
        let is_whole = |trace: &Trace| trace.usages().all(|usage| !matches!(usage.trust, Trust::Partial | Trust::Beyond));
        for trace in corpus.traces.each().filter(|trace| trace.compactions.is_empty() && trace.tells_of_cache() && is_whole(trace)) {
            let unchanged = simulate(&trace, &Plan::default(), &WIDE);
            let (whole, tariff) = (unchanged.whole_prompts().collect::<Vec<_>>(), tables.tariff());
            let recorded = check(&trace, &whole, &tariff);
            let bills = bills(&trace, &unchanged, &tariff, &Calibration::of(&trace, &whole, &tariff));
            let (bill, mut list) = (bills.with(CacheKind::Recorded), recorded.recorded);
            list += recorded.unrecorded;
            let of = |bill: &Bill| [bill.fresh, bill.cache_read, bill.cache_write, bill.cache_write_1h];
            assert_eq!(of(bill), of(&list), "{} of {}", trace.id, trace.source);
            calls += bills.calls;
        }
    }
    assert!(calls > 100, "{calls}");
}

/// A recording whose usage reports cache reads is checked without any policy: what was sent is known, not simulated.
#[test]
fn the_check_speaks_of_recorded_prompts() {
    let tables = Tables::builtin();
    let (mut trace, outcome) = session("claude-sonnet-4-5", &[(0, 2000, 0), (1, 3000, 2000)]);
    for (call, (read, write)) in trace.calls.iter_mut().zip([(500, 1500), (2000, 1000)]) {
        let usage = call.usage.get().unwrap();
        call.usage = Some(Usage { cache_read: read, cache_write: write, cost_nano_usd: Some(1), ..usage }).into();
    }
    let check = check(&trace, &outcome.whole_prompts().collect::<Vec<_>>(), &tables.tariff());
    assert_eq!((check.calls, check.recorded.cache_read.tokens, check.modelled.cache_read.tokens), (2, 2500, 2500));
    assert_eq!(check.recorded, check.modelled);
    assert_eq!((check.logged_calls, check.logged_nano_usd, check.logged_list_nano_usd), (2, 2, check.recorded.nano_usd()));
}

/// The own agents were at work when the logs were made: what their simulated bills are off counts where it is more than what unchanged ones are.
#[test]
fn the_bar_is_the_larger_of_both_errors() {
    let record = record(&[], &project().join("transcripts/opencode/prune-and-compaction.json"));
    let beside = &record["own"]["beside_recorded"];
    let [cost, recorded] = ["cost", "recorded_cost"].map(|key| usd(&beside[key]));
    let said = format!("those of your own agents' defaults by ${:.4} of ${recorded:.4}", (cost - recorded).abs());
    assert!(record["notes"].to_string().contains(&said), "{said}");
}

/// What an agent without any policy has spent up to the wall is no cost to compare with.
#[test]
fn no_policy_that_fails_sessions_has_no_cost() {
    let shown = ctxsim(&["cost", "transcripts/", "-p", "none", "-p", "pi", "--csv"]).stdout();
    let rows = rows(&shown);
    let row = |policy: &str| rows.iter().find(|row| row["policy"].starts_with(policy)).unwrap();
    assert_eq!((row("none")["failed_sessions"].as_str(), row("none")["cost"].as_str()), ("4", ""));
    assert!(row("pi")["failed_sessions"] == "0" && row("pi")["cost"].parse::<f64>().unwrap() > 1.0);
}

/// The head of the screen counts the calls beside the conversations, and the bill does not: the first screen says what they are.
#[test]
fn calls_beside_the_conversations_are_named_with_their_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let side = serde_json::json!({"side_call": {"id": "t1", "model": "gpt-5", "usage": {"prompt": 200_000, "output": 6_000}}});
    let log = made::Native::new(serde_json::json!({})).asked("Go", "done", 1000, 10).line(side).write(folder.path(), "log.jsonl");
    let sentence = "1 call beside the conversations (200,000 prompt tokens) is in no cost.";
    for details in [&[][..], &["--details"]] {
        let shown = ctxsim(&["cost", &log]).args(details).columns(200).stdout();
        assert!(shown.contains(sentence), "{shown}");
    }
}

/// OpenAI reads into the reply, which no request before holds: the recording costs less than a perfect cache has it, and the help claims no bound.
#[test]
fn a_perfect_cache_is_no_lower_bound() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"ctxsim":"native/1","session":"s","agent":"mine","model":"gpt-5-2025-08-07"}"#,
        r#"{"role":"user","id":"u0","text":"begin"}"#,
        r#"{"role":"assistant","id":"a0","text":"a long reply","usage":{"prompt":2000,"output":2000,"cache_read":0}}"#,
        r#"{"role":"user","id":"u1","text":"go on"}"#,
        r#"{"role":"assistant","id":"a1","text":"done","usage":{"prompt":4100,"output":20,"cache_read":3968}}"#,
    ];
    std::fs::write(folder.path().join("logs.jsonl"), lines.join("\n")).unwrap();
    let said = ctxsim(&["replay", "logs.jsonl", "-q", "-p", "none", "--json"]).within(folder.path()).json();
    let number = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    // Of 6,100 tokens 3,968 are read, and by a perfect cache 2,000.
    assert!(number(&said["recorded"]["cost"]) < number(&said["policies"][0]["cost"]["perfect"]["cost"]), "{said}");
    let help = ctxsim(&["cost", "--help"]).stdout();
    assert!(!help.contains("no provider beats"), "{help}");
}

/// What logs say that their calls cost is held against the list price of the same calls, and said where they lie more than 5 % apart.
#[test]
fn costs_in_logs_that_are_no_list_price_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let said = |cost: f64| {
        let usage = json!({"prompt": 100_000, "output": 1_000, "cost_usd": cost});
        let log =
            Native::new(json!({"session": "s", "agent": "mine", "model": "claude-sonnet-4-5"})).line(json!({"role": "user", "text": "Go"}));
        log.line(json!({"role": "assistant", "text": "done", "usage": usage})).write(folder.path(), "s.jsonl");
        ctxsim(&["cost", "s.jsonl", "-q"]).within(folder.path()).columns(200).stdout()
    };
    // 100,000 tokens at $3 and 1,000 at $15 a million.
    assert!(!said(0.315).contains("Logs name") && !said(0.305).contains("Logs name"));
    let shown = said(0.63);
    assert!(
        shown.contains("Logs name $0.6300 for 1 call whose list price is $0.3150 (-50.0 %): their prices or counts differ."),
        "{shown}"
    );
}

/// OpenAI's flex tier: half of each price, of the models that have it, above a limit on the prompt, too; batches, and Claude's fast mode.
#[test]
fn a_tier_may_have_prices_of_its_own() {
    let tables = Tables::builtin();
    let at = |prices: &ctxsim::catalog::Prices, name: &str, prompt| {
        let price = prices.of(name, tables.catalog.billed_as(name), None)?;
        let rates = price.rates(prompt);
        Some([rates.input, rates.cache_read, rates.cache_write, rates.output].map(|rate| rate.0 as f64 / 1e6))
    };
    let of = |name, prompt| at(&tables.prices, name, prompt);
    assert_eq!(of("gpt-5-2025-08-07:flex", 1_000), Some([0.625, 0.0625, 0.625, 5.0]));
    assert_eq!(of("openai/gpt-5.4:flex", 300_000), Some([2.5, 0.25, 2.5, 11.25]));
    // Batches cost half, and Claude's fast mode a multiple that depends on the model.
    assert_eq!(of("claude-haiku-4-5-20251001:batch", 1_000), Some([0.5, 0.05, 0.625, 2.5]));
    assert_eq!(of("gpt-5:batch", 1_000), of("gpt-5:flex", 1_000));
    assert_eq!(of("claude-opus-4-6:fast", 300_000), Some([30.0, 3.0, 37.5, 150.0]));
    assert_eq!(of("claude-opus-4-8:fast", 1_000), Some([10.0, 1.0, 12.5, 50.0]));
    for name in ["claude-sonnet-4-5:fast", "claude-opus-5-5:fast", "gpt-5:fast", "gemini-2.5-pro:provisioned_throughput"] {
        assert_eq!(of(name, 1_000), None, "{name}");
    }
    for name in ["gpt-5-codex:flex", "gpt-5:priority", "gpt-5-flex", "gpt-5:flex:us", "gemini-2.5-pro:flex", "nothing:flex"] {
        assert_eq!(of(name, 1_000), None, "{name}");
    }
    // A user's own prices win: of the tier, not those of the model.
    let row = r#""input_cost_per_token":1e-6,"output_cost_per_token":2e-6"#;
    let flex = r#""input_cost_per_token_flex":4e-7,"output_cost_per_token_flex":8e-7,"cache_read_input_token_cost_flex":1e-7"#;
    let file = |rows: &str| tables.prices.clone().with_file(&format!("{{{rows}}}")).unwrap();
    let both = file(&format!(r#""gpt-5":{{{row},{flex}}},"gpt-6":{{{row}}}"#));
    assert_eq!(at(&both, "gpt-5-2025-08-07:flex", 1_000), Some([0.4, 0.1, 0.4, 0.8]));
    assert_eq!(at(&both, "gpt-5-2025-08-07", 1_000), Some([1.0, 1.0, 1.0, 2.0]));
    assert_eq!(at(&both, "o3:flex", 1_000), of("o3:flex", 1_000));
}
