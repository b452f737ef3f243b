//! Many settings over the built trace of a folder, on one core: simulated calls a second in processor time, beside a naive engine that
//! adds the context up anew at every call and a plain pass over the sizes, and how time and memory grow with settings, sessions and calls.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench sweep [-- rates | knobs | growth] [CORPUS.ctxtrace] [POLICY]
//!
//! `knobs` turns one parameter at a time, of one policy where it is named.

use ctxsim::catalog::Catalog;
use ctxsim::context::{Context, State};
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::experiment::{Design, Dimension, Measure, ReplaySettings, Setting, Sweep, settings};
use ctxsim::list::Rows;
use ctxsim::policy::{Facts, Plan, Policy, presets};
use ctxsim::sim::{Batch, Conditions, simulate, watch_anew};
use ctxsim::trace::{Parts, Trace};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

// As the program has it.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 3;

/// Base policy and grid of 1,000 settings.
const GRIDS: [(&str, &str, [&str; 3]); 6] = [
    (
        "limit, tail and guard",
        "baseagent",
        ["auto_compact_threshold=0.5..0.95:0.05", "prune_protect=10k..100k:10k", "prune_minimum=5k..50k:5k"],
    ),
    (
        "window, tail and guard",
        "baseagent",
        ["model_context_limit=50k..500k:50k", "prune_protect=10k..100k:10k", "prune_minimum=5k..50k:5k"],
    ),
    ("turns, tail and guard", "baseagent", ["protect_last_turns=1..10:1", "prune_protect=10k..100k:10k", "prune_minimum=5k..50k:5k"]),
    ("limit, tail and turns", "opencode", ["usable=50k..500k:50k", "preserve_recent_tokens=1k..10k:1k", "tail_turns=1..10:1"]),
    ("reserve, tail and turns", "opencode", ["output_token_max=8k..80k:8k", "preserve_recent_tokens=1k..10k:1k", "tail_turns=1..10:1"]),
    ("limit, pruning", "opencode@2025-12", ["usable=50k..500k:50k", "prune_protect=10k..100k:10k", "prune_minimum=5k..50k:5k"]),
];

/// One parameter of one policy, from where to where.
const KNOBS: [(&str, &str, f64, f64); 12] = [
    ("baseagent", "prune_protect", 10_000.0, 100_000.0),
    ("opencode", "preserve_recent_tokens", 1_000.0, 40_000.0),
    ("opencode@2025-12", "prune_protect", 10_000.0, 100_000.0),
    ("codex", "tool_output_token_limit", 1_000.0, 20_000.0),
    ("opencode", "tool_output_max_bytes", 10_000.0, 100_000.0),
    ("claude-code", "BASH_MAX_OUTPUT_LENGTH", 5_000.0, 150_000.0),
    ("pi", "tool_max_bytes", 10_000.0, 100_000.0),
    ("pi", "keepRecentTokens", 2_000.0, 80_000.0),
    ("claude-code", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", 20.0, 95.0),
    ("picoclaw", "summarize_token_percent", 20.0, 95.0),
    ("gemini-cli", "compressionThreshold", 0.05, 0.95),
    ("gemini-cli", "truncateToolOutputThreshold", 5_000.0, 100_000.0),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let shared = PathBuf::from(std::env::var("CTXSIM_SHARED").unwrap_or_else(|_| "../shared".to_owned())).join("transcripts");
    let built = words.iter().find(|word| word.ends_with(".ctxtrace")).map(PathBuf::from);
    let logs = built.unwrap_or(shared);
    if !logs.exists() {
        println!("skipped: there is no {} (set CTXSIM_SHARED)", logs.display());
        return;
    }
    let catalog = Catalog::builtin().expect("the catalogue parses");
    let read_settings = ReadSettings::new(&catalog);
    let corpus = read(&[logs.to_string_lossy().into_owned()], &read_settings).expect("the vocabulary loads");
    let calls: usize = corpus.traces.iter().map(|trace| trace.calls.len()).sum();
    println!("{} sessions, {calls} calls", corpus.traces.len());
    let wanted = |part: &str| {
        !words.iter().any(|word| ["rates", "knobs", "growth"].contains(&word.as_str())) || words.iter().any(|word| word == part)
    };
    if wanted("rates") {
        floor(&corpus);
        for (what, base, vary) in GRIDS {
            grid(&catalog, &corpus, what, base, &vary);
        }
    }
    if wanted("knobs") {
        for (base, name, from, to) in KNOBS {
            if presets().iter().any(|preset| words.iter().any(|word| preset.name.starts_with(word.as_str())))
                && !words.iter().any(|word| word == base)
            {
                continue;
            }
            knob(&catalog, &corpus, base, name, (from, to));
        }
    }
    if wanted("growth") {
        growth(&corpus);
    }
}

/// The most memory since the last time that it was forgotten.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1000.0
}

/// Forgets the peak, where the system lets us.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Processor time of all threads so far.
fn processor_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    Duration::from_nanos(spent.filter_map(|line| line.split(' ').next()?.parse::<u64>().ok()).sum())
}

fn shortest(mut work: impl FnMut()) -> Duration {
    let round = |_| {
        let start = processor_time();
        work();
        processor_time() - start
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

/// What the memory allows: for each setting one pass over the sizes of all calls, with what a call is held against.
fn floor(corpus: &Corpus) {
    let sizes: Vec<u64> = corpus.traces.iter().flat_map(|trace| &trace.calls).map(|call| call.prompt(call.visible, call.visible)).collect();
    let times = 1_000;
    let pass = |limit: u64| {
        let over = black_box(&sizes).iter().map(|size| (*size, u64::from(*size > limit)));
        over.fold((0, 0), |(tokens, overflows), (size, over)| (tokens + size, overflows + over))
    };
    let passes = || {
        for limit in 0..times {
            black_box(pass(limit * 1_000));
        }
    };
    let time = shortest(passes);
    println!("a plain pass over the sizes: {:.0} million calls a second", (sizes.len() as u64 * times) as f64 / time.as_secs_f64() / 1e6);
}

fn chosen(base: &str, vary: &[&str]) -> (Vec<Policy>, Vec<Setting>) {
    let bases = vec![Policy::load(base).expect("a preset")];
    let dimensions: Vec<Dimension> = vary.iter().map(|text| Dimension::parse(text).expect("a dimension")).collect();
    let settings = settings(&bases, &dimensions, Design::Grid).expect("a grid");
    (bases, settings)
}

fn plans(bases: &[Policy], settings: &[Setting], window: u64) -> Vec<Plan> {
    let facts = Facts { window: Some(window), max_output: 64_000, ..Facts::default() };
    settings.iter().map(|setting| setting.policy(bases).and_then(|policy| policy.plan(&facts)).expect("a plan")).collect()
}

fn conditions(window: u64) -> Conditions {
    Conditions { window, prompt_limit: window, ..Conditions::default() }
}

/// What settings that fly together had to work out: runs that were begun, and calls made in them.
#[derive(Clone, Copy, Default)]
struct Worked {
    runs: u64,
    steps: u64,
}

impl std::iter::Sum for Worked {
    fn sum<I: Iterator<Item = Worked>>(all: I) -> Worked {
        all.fold(Worked::default(), |sum, one| Worked { runs: sum.runs + one.runs, steps: sum.steps + one.steps })
    }
}

fn fly(plans: &[Plan], window: u64, traces: &[&Trace]) -> Worked {
    let conditions = conditions(window);
    let settings: Vec<(&Plan, &Conditions)> = plans.iter().map(|plan| (plan, &conditions)).collect();
    let batch = Batch::new(&settings);
    let worked = traces.iter().map(|trace| {
        let shared = batch.simulate(trace);
        Worked { runs: shared.runs, steps: shared.steps }
    });
    worked.sum()
}

fn grid(catalog: &Catalog, corpus: &Corpus, what: &str, base: &str, vary: &[&str]) {
    let window = 200_000;
    let (bases, settings) = chosen(base, vary);
    let plans = plans(&bases, &settings, window);
    let traces: Vec<&Trace> = corpus.traces.iter().collect();
    let calls: u64 = traces.iter().map(|trace| trace.calls.len() as u64).sum();
    let mut worked = Worked::default();
    let together = shortest(|| worked = fly(&plans, window, &traces));
    let rate = |settings: usize, time: Duration| (calls * settings as u64) as f64 / time.as_secs_f64() / 1e6;
    let some: Vec<&Plan> = plans.iter().step_by(100).collect();
    let alone = shortest(|| {
        for plan in &some {
            traces.iter().for_each(|trace| assert!(simulate(trace, plan, &conditions(window)).totals.sessions == 1));
        }
    });
    let naive = shortest(|| {
        for plan in &some {
            traces.iter().for_each(|trace| naive(trace, plan, &conditions(window)));
        }
    });
    let whole = shortest(|| whole_sweep(catalog, corpus, &bases, &settings));
    println!(
        "{base}, {what}: {} settings in {} runs: {:.1} million calls a second; alone {:.2}, naive {:.3}: {:.0} x the naive engine; \
         with plans of each model's window and 200 resamples {:.1} million",
        settings.len(),
        worked.runs,
        rate(plans.len(), together),
        rate(some.len(), alone),
        rate(some.len(), naive),
        rate(plans.len(), together) / rate(some.len(), naive),
        rate(plans.len(), whole)
    );
}

/// One parameter turned in 100 and in 1,000 steps: how fast, how much work, and what memory it takes, in the engine alone and as the program
/// sweeps, with plans of each model's window.
fn knob(catalog: &Catalog, corpus: &Corpus, base: &str, name: &str, (from, to): (f64, f64)) {
    let traces: Vec<&Trace> = corpus.traces.iter().collect();
    let calls: u64 = traces.iter().map(|trace| trace.calls.len() as u64).sum();
    for steps in [100_u32, 1_000] {
        let values = (0..steps).map(|step| {
            let value = from + (to - from) * f64::from(step) / f64::from(steps - 1);
            if to > 1_000.0 { format!("{value:.0}") } else { format!("{value:.5}") }
        });
        let (bases, settings) = chosen(base, &[&format!("{name}={}", values.collect::<Vec<_>>().join(","))]);
        let plans = plans(&bases, &settings, 200_000);
        let rate = |time: Duration| (calls * settings.len() as u64) as f64 / time.as_secs_f64() / 1e6;
        let mut worked = Worked::default();
        let together = once(|| worked = fly(&plans, 200_000, &traces));
        forget_peak();
        let before = peak_megabytes();
        let whole = once(|| whole_sweep(catalog, corpus, &bases, &settings));
        println!(
            "{base} {name}, {} settings: engine {:.2} million calls a second, {} runs, {:.1} % of the steps; sweep {:.2} million, {:.1} s, {:.0} MB more",
            settings.len(),
            rate(together),
            worked.runs,
            worked.steps as f64 / (calls * settings.len() as u64) as f64 * 100.0,
            rate(whole),
            whole.as_secs_f64(),
            peak_megabytes() - before,
        );
    }
}

/// As the program sweeps: on one thread, with plans of each model's window and 200 resamples.
fn whole_sweep(catalog: &Catalog, corpus: &Corpus, bases: &[Policy], settings: &[Setting]) {
    let replay = &ReplaySettings::new(catalog);
    let measures = &[Measure::parse("tokens").expect("a measure")];
    let sweep = Sweep { corpus, bases, settings, replay, measures, resamples: 200, seed: 1, billing: None, watch: &() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| sweep.run(0, &sweep.sampling(), &mut |_| Ok(()))).expect("a sweep");
}

/// Processor time of doing something once.
fn once(mut work: impl FnMut()) -> Duration {
    let start = processor_time();
    work();
    processor_time() - start
}

/// The whole context, added up anew at every call.
fn naive(trace: &Trace, plan: &Plan, conditions: &Conditions) {
    let mut sum = 0;
    let mut look = |context: &Context| {
        let items = context.live().flat_map(|(_, entry)| entry.first..entry.first + entry.count);
        let items = items.filter_map(|item| context.item(item)).filter(|item| item.state != State::Removed);
        sum += items.map(|item| item.actual + context.estimator().message_part(item.guess)).sum::<u64>();
    };
    watch_anew(trace, plan, conditions, &mut look);
    assert!(sum > 0 || trace.calls.is_empty() || trace.parts.is_empty());
}

/// The slope of log time over log size.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(size, time)| (size.ln(), time.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = (logs.iter().map(|point| point.0).sum::<f64>() / count, logs.iter().map(|point| point.1).sum::<f64>() / count);
    let slope: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    slope / logs.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

struct Measured {
    size: f64,
    seconds: f64,
    megabytes: f64,
    runs: f64,
    steps: f64,
}

/// Time, peak memory, runs and steps by size, and the power of the size that time grows with: in all, and for a step. Settings part as
/// sessions grow, until each of them has its own outcome: a longer session is more work for each context that there is, and has more
/// contexts that differ. What a step takes says whether the work itself grows with what stands in a context.
fn tell(what: &str, sizes: &[usize], mut work: impl FnMut(usize) -> Worked) {
    let measure = |size: &usize| {
        forget_peak();
        let mut worked = Worked::default();
        let seconds = shortest(|| worked = work(*size)).as_secs_f64();
        assert!(worked.steps > 0);
        let (runs, steps) = (worked.runs as f64, worked.steps as f64);
        Measured { size: *size as f64, seconds, megabytes: peak_megabytes(), runs, steps }
    };
    let measured: Vec<Measured> = sizes.iter().map(measure).collect();
    let column = |of: fn(&Measured) -> f64| measured.iter().map(|one| format!("{:.0}", of(one))).collect::<Vec<_>>().join(", ");
    let power = |of: fn(&Measured) -> f64| exponent(&measured.iter().map(|one| (one.size, of(one))).collect::<Vec<_>>());
    println!(
        "  {what} x {}: {} ms, {} runs, {} thousand steps, {} MB; to the power of {:.2} (bar 1.05); steps {:.2}, time for a step {:.2}",
        column(|one| one.size),
        column(|one| one.seconds * 1e3),
        column(|one| one.runs),
        column(|one| one.steps / 1e3),
        column(|one| one.megabytes),
        power(|one| one.seconds),
        power(|one| one.steps),
        power(|one| one.seconds / one.steps)
    );
}

fn growth(corpus: &Corpus) {
    let fine = [
        ("baseagent", ["auto_compact_threshold=0.5..0.95:0.03", "prune_protect=10k..85k:5k", "prune_minimum=5k..42500:2500"]),
        ("opencode", ["usable=50k..500k:30k", "preserve_recent_tokens=1k..16k:1k", "tail_turns=1..16:1"]),
    ];
    for (base, vary) in fine {
        let (bases, settings) = chosen(base, &vary);
        let all = plans(&bases, &settings, 200_000);
        let thousand: Vec<Plan> = all.iter().step_by(4).cloned().collect();
        let traces: Vec<&Trace> = corpus.traces.iter().collect();
        let longest = corpus.traces.iter().max_by_key(|trace| trace.calls.len()).expect("a session");
        println!("{base}, {} settings where nothing else is said:", thousand.len());
        // Every k-th setting, so that each part of the grid looks like the whole.
        tell("settings", &[1, 4, 16, 64, 256, 1024, all.len()], |count| {
            let some: Vec<Plan> = all.iter().step_by(all.len() / count).cloned().collect();
            fly(&some, 200_000, &traces)
        });
        tell("sessions", &[1, 2, 4, 8], |times| {
            let many: Vec<&Trace> = traces.iter().cycle().take(traces.len() * times).copied().collect();
            fly(&thousand, 200_000, &many)
        });
        // Each of some settings by itself: there is nothing to share, and nothing to part from.
        tell("session length, settings one by one", &[1, 2, 4, 8, 16], |times| {
            let long = repeated(longest, times);
            thousand.iter().step_by(64).map(|plan| fly(std::slice::from_ref(plan), 200_000, &[&long])).sum()
        });
        tell("session length", &[1, 2, 4, 8, 16], |times| fly(&thousand, 200_000, &[&repeated(longest, times)]));
    }
}

/// A session that does all that it did again and again.
fn repeated(trace: &Trace, times: usize) -> Trace {
    let mut long = Trace { messages: Rows::default(), parts: Parts::default(), calls: Rows::default(), ..trace.clone() };
    let visible: u64 = trace.parts.iter().map(|part| part.truth).sum();
    for copy in 0..times {
        let (parts, messages) = (long.parts.len() as u32, long.messages.len() as u32);
        long.parts.extend(trace.parts.iter().map(std::borrow::Cow::into_owned));
        long.messages.extend(trace.messages.iter().cloned().map(|mut message| {
            message.first_part += parts;
            message.rewind = message.rewind.get().map(|from| from + messages).into();
            message
        }));
        long.calls.extend(trace.calls.iter().cloned().map(|mut call| {
            call.message += messages;
            call.visible += visible * copy as u64;
            call
        }));
    }
    long
}
