//! Breaks of the recorded prompt cache: each cause with a session made for it, prices by hand, implicit caches, and an independent script over real files.

use crate::made::{Native, Tables};
use crate::support::{ctxsim, files, project, python, shared};
use ctxsim::catalog::{CacheRule, Hits};
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::cost::Tariff;
use ctxsim::experiment::cache::{CacheReads, Cause, cache_reads};
use ctxsim::render::chart::{Look, svg};
use ctxsim::report::chart::{Drawing, Material, by_name};
use ctxsim::transcript::Usage;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A session of Claude Code, put together line by line.
#[derive(Clone)]
pub struct Log {
    lines: String,
    number: u32,
    parent: String,
    millis: i64,
    model: &'static str,
}

impl Log {
    /// A session that begins at some moment.
    pub fn new(model: &'static str) -> Log {
        Log { lines: String::new(), number: 0, parent: "null".to_owned(), millis: 1_770_000_000_000, model }
    }

    /// A line of the log behind the last one.
    fn put(&mut self, kind: &str, rest: &str) -> &mut Log {
        self.number += 1;
        let (uuid, time) = (format!("\"line-{}\"", self.number), jiff::Timestamp::from_millisecond(self.millis).unwrap());
        let parent = std::mem::replace(&mut self.parent, uuid.clone());
        writeln!(
            self.lines,
            "{{\"type\":\"{kind}\",\"uuid\":{uuid},\"parentUuid\":{parent},\"sessionId\":\"s\",\"version\":\"2.1.0\",\"timestamp\":\"{time}\",{rest}}}"
        )
        .unwrap();
        self
    }

    /// Something that the person says, so many seconds after the last line.
    pub fn user(&mut self, seconds: i64) -> &mut Log {
        self.millis += seconds * 1_000;
        self.put("user", r#""message":{"role":"user","content":"go on"}"#)
    }

    /// The result of the last call's tool.
    fn result(&mut self) -> &mut Log {
        self.put("user", r#""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}"#)
    }

    /// A reply a second later: what its prompt read and wrote for five minutes, or for an hour, and what it is made of.
    fn reply(&mut self, read: u64, short: u64, long: u64, content: &str) -> &mut Log {
        self.millis += 1_000;
        let (id, model, write) = (self.number, self.model, short + long);
        self.put(
            "assistant",
            &format!(
                r#""requestId":"r{id}","message":{{"id":"m{id}","role":"assistant","model":"{model}","stop_reason":"end_turn","content":[{content}],"usage":{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{write},"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}},"output_tokens":60}}}}"#
            ),
        )
    }

    /// A reply of prose that wrote for five minutes.
    pub fn says(&mut self, read: u64, write: u64) -> &mut Log {
        self.reply(read, write, 0, r#"{"type":"text","text":"done"}"#)
    }

    /// The same, written for an hour.
    pub fn says_for_an_hour(&mut self, read: u64, write: u64) -> &mut Log {
        self.reply(read, 0, write, r#"{"type":"text","text":"done"}"#)
    }

    /// A reply of prose that read nothing: so much of its prompt was new input, and so much it wrote for five minutes.
    pub fn says_with_input(&mut self, input: u64, write: u64) -> &mut Log {
        self.says(0, write);
        let usual = "\"input_tokens\":3,";
        let at = self.lines.rfind(usual).unwrap();
        self.lines.replace_range(at..at + usual.len(), &format!("\"input_tokens\":{input},"));
        self
    }

    /// A reply that calls a tool.
    fn calls(&mut self, read: u64, write: u64, tool: &str) -> &mut Log {
        self.reply(read, write, 0, &format!(r#"{{"type":"tool_use","id":"t","name":"{tool}","input":{{}}}}"#))
    }

    /// The file.
    pub fn write(&self, path: &Path) {
        std::fs::write(path, &self.lines).unwrap();
    }

    /// The file, as a session of another name with calls of its own.
    pub fn write_as(&self, path: &Path, session: &str) {
        let own = self.lines.replace("\"s\"", &format!("\"{session}\"")).replace("\"id\":\"m", &format!("\"id\":\"{session}m"));
        std::fs::write(path, own.replace("\"line-", &format!("\"{session}-"))).unwrap();
    }
}

/// Reads files, and does something with them and the built-in tables.
pub fn with<T>(paths: &[PathBuf], work: impl Fn(&Corpus, &Tariff<'_>) -> T) -> T {
    let tables = Tables::builtin();
    let names: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let corpus = read(&names, &ReadSettings::new(&tables.catalog)).unwrap();
    work(&corpus, &tables.tariff())
}

fn found(log: &Log) -> CacheReads {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    log.write(&path);
    with(&[path], cache_reads)
}

/// Number of the call and cause of each break.
fn causes(log: &Log) -> Vec<(usize, Cause)> {
    found(log).breaks.iter().map(|one| (one.place + 1, one.cause)).collect()
}

/// A session whose first call wrote 20,000 tokens and whose second one 40,000 more.
fn begun(model: &'static str) -> Log {
    let mut log = Log::new(model);
    log.user(0).says(0, 20_000).user(5).says(20_000, 40_000);
    log
}

#[test]
fn each_cause_is_named() {
    let of = |build: &dyn Fn(&mut Log)| {
        let mut log = begun("claude-opus-4-6");
        build(&mut log);
        causes(&log)
    };
    let one = |cause: Cause| vec![(3, cause)];
    // Five minutes are kept: a second less is none too long, a second more is.
    assert_eq!(
        of(&|log| {
            log.user(298).says(60_000, 500);
        }),
        []
    );
    assert_eq!(
        of(&|log| {
            log.user(299).says(0, 60_500);
        }),
        one(Cause::StartAtTurn)
    );
    assert_eq!(
        of(&|log| {
            log.user(300).says(0, 60_500);
        }),
        one(Cause::Idle)
    );
    let other = |log: &mut Log| {
        log.model = "claude-sonnet-4-6";
        log.user(5).says(0, 60_500);
    };
    assert_eq!(of(&other), one(Cause::Model));
    let boundary = r#""subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":60000}"#;
    assert_eq!(
        of(&|log| {
            log.put("system", boundary).user(5).says(15_000, 9_000);
        }),
        one(Cause::Compacted)
    );
    // Back to the first prompt: the second reply is none of this branch.
    let back = |log: &mut Log| {
        log.parent = "\"line-2\"".to_owned();
        log.user(5).says(20_000, 300);
    };
    assert_eq!(of(&back), one(Cause::Compacted));
    assert_eq!(
        of(&|log| {
            log.user(5).says(20_000, 30_000);
        }),
        one(Cause::Shrank)
    );
    let error =
        r#""isApiErrorMessage":true,"message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"overloaded"}]}"#;
    assert_eq!(
        of(&|log| {
            log.user(5).put("assistant", error).user(5).says(15_000, 46_000);
        }),
        one(Cause::Resumed)
    );
    let tool = |name: &'static str| {
        move |log: &mut Log| {
            log.user(5).calls(60_000, 100, name).result().says(15_000, 46_000);
        }
    };
    assert_eq!(of(&tool("ToolSearch")), [(4, Cause::Head)]);
    assert_eq!(of(&tool("Bash")), [(4, Cause::StartWithinTurn)]);
    let many = |log: &mut Log| {
        (0..19).for_each(|_| {
            log.user(0);
        });
        log.says(15_000, 46_000);
    };
    assert_eq!(of(&many), one(Cause::Blocks));
    assert_eq!(
        of(&|log| {
            log.user(5).says(60_000, 9_000).user(5).says(60_000, 9_500);
        }),
        [(4, Cause::Older)]
    );
    assert_eq!(
        of(&|log| {
            log.user(5).says(60_000, 9_000).user(5).says(61_000, 9_500);
        }),
        [(4, Cause::Unexplained)]
    );
    // A thousand tokens, and two in a hundred, are no break.
    assert_eq!(
        of(&|log| {
            log.user(5).says(58_980, 9_000);
        }),
        []
    );
    assert_eq!(
        of(&|log| {
            log.user(5).says(58_790, 9_000);
        }),
        one(Cause::Unexplained)
    );
}

/// 444,000 tokens written for an hour again, at $10 a million instead of $0.50.
#[test]
fn a_break_costs_what_writing_costs_more_than_reading() {
    let mut log = Log::new("claude-opus-5");
    log.user(0).says_for_an_hour(33_000, 444_000).user(69 * 60).says_for_an_hour(33_000, 444_100);
    let found = found(&log);
    let [one] = found.breaks.as_slice() else { panic!("{:?}", found.breaks) };
    assert_eq!((one.cause, one.expected, one.read, one.tokens), (Cause::Idle, 477_000, 33_000, 444_000));
    assert_eq!((one.nano_usd, found.sum.nano_usd), (Some(444_000 * 9_500), 4_218_000_000));
    assert_eq!((found.sum.expected, found.sum.near, found.sum.breaks), (1, 0, 1));
    // Behind a compaction only what the smaller prompt holds is paid for again.
    let mut log = begun("claude-opus-4-6");
    log.put("system", r#""subtype":"compact_boundary","compactMetadata":{"trigger":"manual"}"#).user(5).says(15_000, 9_000);
    let one = &self::found(&log).breaks[0];
    assert_eq!((one.expected, one.read, one.tokens, one.nano_usd), (60_000, 15_000, 9_003, Some(9_000 * 5_750 + 3 * 4_500)));
}

/// A log that takes up a session repeats it: the call before its first own one stands in the other file.
#[test]
fn a_session_taken_up_in_another_log_has_a_call_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun("claude-opus-4-6");
    log.user(5).says(60_000, 700);
    log.write(&folder.path().join("a.jsonl"));
    let copied = log.lines.replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\"");
    let mut later = Log { lines: copied, number: 100, parent: log.parent.clone(), millis: log.millis, model: log.model };
    later.user(20).says(18_000, 43_000).user(5).says(61_000, 400);
    later.write(&folder.path().join("b.jsonl"));
    let found = with(&[folder.path().to_owned()], cache_reads);
    let breaks: Vec<(Cause, u64, u64)> = found.breaks.iter().map(|one| (one.cause, one.expected, one.read)).collect();
    assert_eq!((found.sum.expected, breaks.len()), (4, 1));
    assert!(matches!(breaks[0], (Cause::Resumed | Cause::StartAtTurn, 60_700, 18_000)), "{breaks:?}");
}

/// Where hits follow the prefix the whole prompt is expected, in the provider's steps, and a miss is no fault of the agent.
#[test]
fn implicit_caches_read_in_steps_and_miss_at_random() {
    let session = |model: &str, reads: [u64; 3]| {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Native::new(json!({"model": model}));
        for (place, (prompt, read)) in [10_000, 20_170, 30_000].into_iter().zip(reads).enumerate() {
            let time = 1_770_000_000_000_u64 + 60_000 * place as u64;
            let usage = json!({"prompt": prompt, "cache_read": read, "output": 9});
            log = log.line(json!({"role": "user", "text": "go on", "time": time}));
            log = log.line(json!({"role": "assistant", "text": "done", "time": time + 1_000, "usage": usage}));
        }
        with(&[log.write(folder.path(), "n.jsonl").into()], cache_reads)
    };
    let found = session("gpt-5", [0, 9_984, 15_000]);
    assert_eq!((found.sum.expected, found.sum.near), (2, 1));
    assert_eq!(found.breaks.iter().map(|one| (one.cause, one.expected)).collect::<Vec<_>>(), [(Cause::Implicit, 20_096)]);
    // 20,170 tokens are 315 units of 64, and 157 of the 128 that later models keep.
    for (model, kept) in [("deepseek-v3.2", 20_160), ("deepseek-v4-flash", 20_096)] {
        let found = session(model, [0, 9_920, 18_000]);
        assert_eq!(found.breaks.iter().map(|one| one.expected).collect::<Vec<_>>(), [kept], "{model}");
    }
    // An unknown model's cache is taken for an implicit one, unless the log counts what was written to it.
    assert_eq!(session("zork-1", [0, 9_984, 15_000]).breaks[0].cause, Cause::Implicit);
    let mut asked = Log::new("zork-1");
    asked.user(0).calls(0, 10_000, "Read").result().calls(10_000, 10_170, "Read").result().says(5_000, 18_000);
    let causes = causes(&asked);
    assert!(causes.iter().all(|(_, cause)| *cause != Cause::Implicit) && !causes.is_empty());
    // A log without a word on its cache promises nothing.
    assert_eq!(session("gpt-5", [0, 0, 0]).sum.expected, 0);
}

/// Where most breaks of an implicit cache read one small size, that is told; not of few breaks, and not of reads that differ.
#[test]
fn breaks_that_read_one_small_size_are_told() {
    let told = |reads: &[u64]| {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Native::new(json!({"model": "gpt-5"}));
        for (place, read) in (0_u64..).zip(std::iter::once(&0).chain(reads)) {
            let time = 1_770_000_000_000_u64 + 60_000 * place;
            let usage = json!({"prompt": 20_000 + 2_000 * place, "cache_read": read, "output": 9});
            log = log.line(json!({"role": "user", "text": "go on", "time": time}));
            log = log.line(json!({"role": "assistant", "text": "done", "time": time + 1_000, "usage": usage}));
        }
        let ran = ctxsim(&["cache", &log.write(folder.path(), "n.jsonl"), "-q"]).run();
        ran.stdout().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (same, differ) = (vec![3_072; 12], (1..=12).map(|step| 1_024 * step).collect::<Vec<u64>>());
    let screen = told(&same);
    assert!(screen.contains("12 of 12 breaks (") && screen.contains("read the same 3,072 tokens"), "{screen}");
    assert!(screen.contains("That is hardly chance:") && !screen.contains("no fault of the agent"), "{screen}");
    for other in [&same[..9], &differ, &[0; 12]] {
        let screen = told(other);
        assert!(!screen.contains("hardly chance"), "{screen}");
    }
    // Half of them is not most.
    assert!(!told(&[&same[..10], &differ[3..], &[11_264]].concat()).contains("hardly chance:"));
}

/// How far a recorded read reaches, beside the prompt and the reply of the call before: the table of docs/cost.md.
#[derive(Default)]
struct Reach {
    /// Calls behind one of the same model with no larger a prompt.
    calls: u64,
    /// They read nothing, or lack more than a step of the prompt before.
    less: u64,
    /// They lack its last step.
    short: u64,
    /// They read its whole steps.
    prompt: u64,
    /// They read further, and no further than the reply.
    reply: u64,
    /// Of these: its whole steps.
    whole_reply: u64,
    /// They read further than the reply.
    beyond: u64,
    /// Reads that are no multiple of the step.
    uneven: u64,
}

impl Reach {
    fn add(&mut self, rule: &CacheRule, before: &Usage, usage: &Usage) {
        let steps = |tokens: u64| tokens / rule.step * rule.step;
        let (read, prompt, reply) = (usage.cache_read, steps(before.prompt), before.prompt + before.output);
        self.calls += 1;
        self.uneven += u64::from(read % rule.step > 0);
        match read {
            read if read == 0 || read + rule.step < prompt => self.less += 1,
            read if read < prompt => self.short += 1,
            read if read <= before.prompt => self.prompt += 1,
            read if read > reply => self.beyond += 1,
            read => (self.reply, self.whole_reply) = (self.reply + 1, self.whole_reply + u64::from(read == steps(reply))),
        }
    }
}

#[test]
fn recorded_reads_reach_as_far_as_documented() {
    let Some(shared) = shared() else { return };
    let by_provider = with(&["transcripts", "transcripts-2"].map(|name| shared.join(name)), |corpus, tariff| {
        let mut found: BTreeMap<String, Reach> = BTreeMap::new();
        // Fixtures are made by hand.
        for trace in corpus.traces.each().filter(|trace| trace.tells_of_cache() && !trace.source.contains("/fixtures/")) {
            let usages: Vec<_> = trace.calls.iter().filter_map(|call| Some((call.model.get(), call.anchor()?))).collect();
            for pair in usages.windows(2) {
                let [(model, before), (same, usage)] = pair else { continue };
                let name = model.and_then(|model| trace.models.get(model as usize)).map_or("", String::as_str);
                let known = tariff.catalog.find(name);
                let rule = tariff.caches.of(name, known).filter(|rule| rule.hits == Hits::Prefix);
                let Some((known, rule)) = known.zip(rule).filter(|_| model == same && usage.prompt >= before.prompt) else { continue };
                found.entry(known.provider.clone()).or_default().add(rule, before, usage);
            }
        }
        found
    });
    let page = std::fs::read_to_string(project().join("docs/cost.md")).unwrap();
    let row = |(provider, reach): (&String, &Reach)| {
        let Reach { calls, less, short, prompt, reply, whole_reply, beyond, uneven } = reach;
        format!("| {provider} | {calls} | {less} | {short} | {prompt} | {reply} | {whole_reply} | {beyond} | {uneven} |\n")
    };
    let table: String = by_provider.iter().filter(|(_, reach)| reach.calls - reach.less >= 10).map(row).collect();
    assert!(page.contains(&table), "docs/cost.md lacks\n{table}");
    // Units of 128, and the reply is kept.
    let deepseek = &by_provider["deepseek"];
    assert!(deepseek.uneven == 0 && deepseek.short == 0 && deepseek.whole_reply == deepseek.reply && deepseek.reply > deepseek.prompt);
}

/// What the script prints for each break, and its sums; `None` where there is no python3.
fn by_script(paths: &[PathBuf]) -> Option<(Vec<String>, Vec<f64>)> {
    let text = python("cache.py", std::iter::once(&project().join("catalog")).chain(paths))?;
    let (breaks, sums): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| !line.starts_with("sum\t"));
    let sums = sums[0].split('\t').skip(1).map(|cell| cell.parse().unwrap()).collect();
    Some((breaks.into_iter().map(str::to_owned).collect(), sums))
}

/// The same breaks, call by call, with the same causes; sums of money within one percent.
#[test]
fn an_independent_script_finds_the_same_breaks() {
    let root = project();
    let mut folders = vec![root.join("transcripts/claude-code")];
    folders.extend(shared().iter().flat_map(|folder| ["transcripts", "transcripts-2"].map(|name| folder.join(name).join("claude-code"))));
    let mut disagreements = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let paths: Vec<PathBuf> = files(folder).into_iter().filter(|path| path.is_file()).collect();
        let Some((theirs, sums)) = by_script(&paths) else { return };
        let (mine, found) = with(&paths, |corpus, tariff| {
            let found = cache_reads(corpus, tariff);
            let line = |one: &ctxsim::experiment::cache::CacheBreak| {
                let name = Path::new(&corpus.traces[one.session].source).file_name().unwrap().to_string_lossy().into_owned();
                let figures = [one.expected, one.read, one.tokens, one.nano_usd.unwrap_or(0)].map(|figure| figure.to_string());
                format!("{name}\t{}\t{}\t{}", one.place + 1, one.cause.key(), figures.join("\t"))
            };
            (found.breaks.iter().map(line).collect::<Vec<String>>(), found)
        });
        // The script names the session behind the file.
        let theirs: Vec<String> = theirs
            .iter()
            .map(|line| line.splitn(3, '\t').enumerate().filter(|(at, _)| *at != 1).map(|(_, cell)| cell).collect::<Vec<_>>().join("\t"))
            .collect();
        disagreements.extend(mine.iter().filter(|line| !theirs.contains(line)).map(|line| format!("only ctxsim: {line}")));
        disagreements.extend(theirs.iter().filter(|line| !mine.contains(line)).map(|line| format!("only the script: {line}")));
        let figures = [found.sum.expected, found.sum.near, found.sum.breaks, found.sum.nano_usd, found.prompts_nano_usd];
        for (mine, theirs) in figures.into_iter().zip(sums) {
            assert!((mine as f64 - theirs).abs() <= theirs * 0.01, "{}: {figures:?}", folder.display());
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

/// The first screen, and what programs get.
#[test]
fn the_screen_of_a_session_with_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::new("claude-opus-5");
    log.user(0).says_for_an_hour(33_000, 444_000).user(69 * 60).says_for_an_hour(33_000, 444_100);
    log.user(20).says_for_an_hour(477_100, 900).user(5).says_for_an_hour(33_000, 446_000);
    log.write(&folder.path().join("s.jsonl"));
    let run = |arguments: &[&str]| ctxsim(arguments).within(folder.path()).columns(80).stdout();
    let screen = run(&["cache", "s.jsonl", "--quiet"]);
    assert!(screen.contains("call 2: read 33.0k of 477k expected: 69 minutes idle, 1 h cache, $4.22"), "{screen}");
    insta::assert_snapshot!("cache", screen);
    for by in ["session", "agent", "day"] {
        assert!(run(&["cache", "s.jsonl", "--quiet", "--by", by]).contains(&format!("Breaks by {by}")));
    }
    let record: serde_json::Value = serde_json::from_str(&run(&["cache", "s.jsonl", "--quiet", "--json"])).unwrap();
    assert_eq!(record["schema"], "ctxsim.cache/2");
    assert_eq!(record["breaks"][0]["cost"], "4.218");
    assert_eq!(record["causes"]["start_at_turn"]["breaks"], 1);
    assert_eq!(run(&["cache", "s.jsonl", "--quiet", "--csv"]).lines().count(), 3);
}

/// Days that have no row each are told as weeks, and those as months: the chart leaves out no period.
#[test]
fn breaks_of_many_days_have_a_row_for_each_week_or_month() {
    let rows = |days: i64, every: i64| {
        let mut log = Log::new("claude-opus-4-6");
        log.user(0).says(0, 100_000);
        for day in 1..=days {
            // Equal prompts would be those of a server that cuts them.
            log.user(every * 86_400).says(0, 100_000 + day as u64);
        }
        let folder = tempfile::tempdir().unwrap();
        log.write(&folder.path().join("s.jsonl"));
        with(&[folder.path().to_owned()], |corpus, tariff| {
            let found = ctxsim::experiment::idle::idle(corpus, tariff);
            let chart = by_name("breaks").unwrap().chart(&Material { idle: Some(&found), ..Material::of(corpus) }).unwrap();
            assert!(!svg(&chart, Look::default()).contains("more rows"), "{days} every {every}");
            let Drawing::Bars(bars) = chart.drawing else { panic!() };
            bars.rows.into_iter().map(|row| row.name).collect::<Vec<String>>()
        })
    };
    // The first session begins on a Monday.
    assert_eq!((rows(24, 1).len(), rows(24, 1)[0].as_str()), (24, "2026-02-03"));
    assert_eq!(rows(28, 1), ["week of 2026-02-02", "week of 2026-02-09", "week of 2026-02-16", "week of 2026-02-23", "week of 2026-03-02"]);
    assert_eq!((rows(40, 7).len(), rows(40, 7)[0].as_str()), (10, "2026-02"));
}
