//! What commands print: test runs, logs, exports, version control.

use super::random::Random;
use super::words::{AREAS, ERRORS, FIELDS, LEVELS, NOUNS, VERBS};
use std::fmt::Write;

/// The worker's log: ids, checksums and counters, so many tokens for few bytes.
pub fn worker_log(random: &mut Random, bytes: usize) -> String {
    let mut log = String::new();
    let (mut minute, mut sequence) = (random.below(600), random.between(10_000, 900_000));
    while log.len() < bytes {
        minute += random.below(3);
        sequence += random.between(1, 9);
        let (level, area, noun, verb) = (random.pick(LEVELS), random.pick(AREAS), random.pick(NOUNS), random.pick(VERBS));
        let _ = writeln!(
            log,
            "2026-03-02T{:02}:{:02}:{:02}.{:03}Z {level} {area}.worker-{} {verb} {noun} batch={} seq={sequence} crc=0x{} latency_ms={}.{:02} rows={} cursor={}",
            minute / 60 % 24,
            minute % 60,
            random.below(60),
            random.below(1000),
            random.between(1, 8),
            random.hex(16),
            random.hex(8),
            random.below(900),
            random.below(100),
            random.below(5000),
            random.hex(12),
        );
        if level == "ERROR" {
            let _ = writeln!(
                log,
                "    {}: expected sequence {}, got {sequence} (station GB-{:04})",
                random.pick(ERRORS),
                sequence + 7,
                random.below(9999)
            );
        }
    }
    log
}

/// A run of the test suite in colour; the one failure, if any, quotes a line of the source.
pub fn test_run(random: &mut Random, tests: u64, failure: Option<(&str, usize, &str)>) -> String {
    let mut output = format!(
        "\u{1b}[1m============================= test session starts ==============================\u{1b}[0m\nplatform linux -- Python 3.12.8, pytest-8.3.4, pluggy-1.5.0\ncollected {tests} items\n\n"
    );
    for number in 1..=tests {
        let (area, noun, verb) = (random.pick(AREAS), random.pick(NOUNS), random.pick(VERBS));
        let failed = failure.is_some() && number == tests / 2 + 1;
        let verdict = if failed { "\u{1b}[31mFAILED\u{1b}[0m" } else { "\u{1b}[32mPASSED\u{1b}[0m" };
        let _ = writeln!(
            output,
            "tests/{area}/test_{noun}.py::test_{verb}_{noun}_{}[{}-{}] {verdict} \u{1b}[32m[{:3}%]\u{1b}[0m",
            random.pick(FIELDS),
            random.below(99),
            random.hex(4),
            number * 100 / tests
        );
    }
    let seconds = format!("{}.{:02}s", random.between(1, 90), random.below(100));
    let Some((path, line, source)) = failure else {
        let _ = writeln!(
            output,
            "\n\u{1b}[32m============================= {tests} passed in {seconds} ==============================\u{1b}[0m"
        );
        return output;
    };
    let noun = random.pick(NOUNS);
    let (got, wanted) = (random.below(9000), random.below(9000));
    let _ = writeln!(
        output,
        "\n=================================== FAILURES ===================================\n_______________________ test_{noun}_boundary _______________________\n\n{path}:{line}:\n>   {}\n\u{1b}[31mE       AssertionError: assert {got} == {wanted}\u{1b}[0m\nE        +  where {got} = round(<tidewatch reading 0x{}>.height_mm)\n\n{path}:{line}: AssertionError",
        source.trim(),
        random.hex(12)
    );
    let _ = writeln!(output, "\u{1b}[31m=================== 1 failed, {} passed in {seconds} ===================\u{1b}[0m", tests - 1);
    output
}

/// Readings of stations as JSON.
pub fn readings(random: &mut Random, count: u64) -> String {
    let mut rows = Vec::new();
    for number in 0..count {
        rows.push(serde_json::json!({
            "station": format!("GB-{:04}", random.below(9999)),
            "sequence": 48_000 + number * 3 + random.below(3),
            "sampled_at": format!("2026-02-{:02}T{:02}:{:02}:00Z", random.between(1, 28), random.below(24), random.below(60)),
            "height_mm": random.below(9000) as i64 - 2000,
            "residual_mm": random.below(800) as i64 - 400,
            "quality": random.pick(&["good", "good", "good", "suspect", "interpolated"]),
            "digest": random.hex(16),
        }));
    }
    serde_json::Value::Array(rows).to_string()
}

/// `git log` and `git status`.
pub fn history(random: &mut Random, commits: u64) -> String {
    let mut output =
        String::from("On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n\nnothing to commit, working tree clean\n\n");
    for _ in 0..commits {
        let _ = writeln!(
            output,
            "{} {}: {} the {} when the {} is empty",
            random.hex(9),
            random.pick(AREAS),
            random.pick(VERBS),
            random.pick(NOUNS),
            random.pick(NOUNS)
        );
    }
    output
}

/// A profile, as `python -m cProfile` prints it.
pub fn profile(random: &mut Random, rows: u64) -> String {
    let mut output = String::from("   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n");
    for _ in 0..rows {
        let _ = writeln!(
            output,
            "{:9} {:4}.{:03} {:4}.{:03} {:4}.{:03} {:4}.{:03} src/tidewatch/{}/{}.py:{}({}_{})",
            random.below(900_000),
            random.below(20),
            random.below(1000),
            random.below(2),
            random.below(1000),
            random.below(90),
            random.below(1000),
            random.below(5),
            random.below(1000),
            random.pick(AREAS),
            random.pick(NOUNS),
            random.between(3, 400),
            random.pick(VERBS),
            random.pick(NOUNS),
        );
    }
    output
}

/// A spool file in hexadecimal, as `xxd -g 1` prints it.
pub fn dump(random: &mut Random, rows: u64) -> String {
    let mut output = String::new();
    for row in 0..rows {
        let bytes: Vec<String> = (0..16).map(|_| random.hex(2)).collect();
        let _ = writeln!(output, "{:08x}: {}", row * 16, bytes.join(" "));
    }
    output
}
