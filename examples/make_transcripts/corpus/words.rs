//! The words that the invented project and its people are made of.

/// Folders of the project's package.
pub const AREAS: &[&str] = &["ingest", "gauges", "harmonics", "storage", "api", "alerts", "export", "calibration"];

/// What modules are about.
pub const NOUNS: &[&str] = &[
    "residual",
    "station",
    "window",
    "reading",
    "datum",
    "spool",
    "ledger",
    "backoff",
    "sampler",
    "threshold",
    "surge",
    "constituent",
    "baseline",
    "outage",
    "envelope",
    "cursor",
    "digest",
    "quorum",
    "segment",
    "forecast",
    "pressure",
    "barometer",
    "buoy",
    "harbour",
    "lockgate",
    "drift",
    "manifest",
    "retention",
    "replay",
    "splice",
    "checksum",
    "telemetry",
];

/// What functions do.
pub const VERBS: &[&str] = &[
    "merge",
    "resample",
    "validate",
    "flush",
    "reconcile",
    "interpolate",
    "detrend",
    "rotate",
    "publish",
    "collect",
    "quantise",
    "align",
    "throttle",
    "compact",
    "restore",
    "annotate",
    "partition",
    "project",
    "decode",
    "evict",
];

/// What fields hold.
pub const FIELDS: &[&str] = &[
    "station_id",
    "sampled_at",
    "height_mm",
    "offset_mm",
    "phase_deg",
    "amplitude",
    "sequence",
    "batch_size",
    "lag_seconds",
    "cutoff",
    "retries",
    "window_hours",
    "bucket",
    "confidence",
    "firmware",
    "tide_range",
    "checkpoint",
    "high_water",
    "low_water",
    "voltage_mv",
];

/// Types of fields, each with a default.
pub const TYPES: &[(&str, &str)] =
    &[("int", "0"), ("float", "0.0"), ("str", "\"\""), ("bool", "False"), ("Decimal", "Decimal(\"0.001\")"), ("datetime | None", "None")];

/// Errors that the project raises.
pub const ERRORS: &[&str] = &["DatumMismatch", "StaleReading", "SpoolOverflow", "CalibrationGap", "SequenceError"];

/// Levels and sources of the worker's log.
pub const LEVELS: &[&str] = &["INFO ", "INFO ", "INFO ", "DEBUG", "DEBUG", "WARN ", "ERROR"];

/// Requests of the user; `{module}`, `{verb}`, `{noun}`, `{path}` and `{number}` are filled in.
pub const REQUESTS: &[&str] = &[
    "The nightly run drops the last {number} readings of every station when `{verb}_{noun}` is called across midnight. Find out why and fix it, please. The module is `{path}`.",
    "`{path}` has grown too hard to test. Split the clock handling out of `{verb}_{noun}` without a change in behaviour, and keep the suite green.",
    "Operators see duplicate {noun} rows after a restart. I suspect the checkpoint logic in `{path}`. Look at the worker log first, then at the code.",
    "Please add an upper bound of {number} to the {noun} queue and make `{module}` raise an error that says which station was refused.",
    "Review how {module} deals with missing calibration values. If a value is missing we should skip the reading and count it, not write a zero.",
    "CI fails on the {noun} tests since this morning. Reproduce it locally, tell me the cause, and fix it if it takes fewer than {number} lines.",
    "We need `{verb}_{noun}` to accept a tolerance. Default {number} mm. All callers in `{path}` should pass it explicitly.",
    "The {noun} export is slow: {number} seconds for one harbour. Profile it with the recorded data and try the obvious improvements.",
    "One more thing: the log line in `{path}` prints the station twice. And could you check that no other module does the same?",
    "Can you explain how a reading travels from the spool to `{module}`? Quote the lines that matter. No changes yet.",
];

/// Chinese requests, filled in the same way.
pub const REQUESTS_ZH: &[&str] = &[
    "夜间任务跨越零点时会丢失每个站点最后 {number} 条读数,请查明 `{verb}_{noun}` 的原因并修复,模块在 `{path}`。",
    "请检查 `{path}` 的检查点逻辑。重启以后 {noun} 表里出现了重复的行,先看日志,再看代码。",
    "给 {noun} 队列加一个上限 {number},超过时请报错并写明被拒绝的站点。改完以后运行全部测试。",
    "潮位残差的单位是毫米,但导出文件里写成了厘米。请修正 `{path}`,并在说明文档里补充一段中文注释。",
];

/// Closing words in Chinese.
pub const CLOSINGS_ZH: &[&str] = &[
    "已经修复。原因是零点之后窗口重新开始计数,缓冲区里剩下的读数没有写入。现在先写入再切换窗口,测试全部通过。",
    "处理完毕:检查点现在和数据写在同一个事务里,重启后不会再出现重复的行。相关测试已经补充。",
    "修改完成。超过上限时会抛出错误并注明站点编号,默认值保持不变,旧的配置文件不需要改动。",
];

/// What the model thinks at the start of a turn.
pub const FIRST_THOUGHTS: &[&str] = &[
    "The request names {path}, so that is the place to start. I should see how {verb}_{noun} is called before I change anything, because the callers may rely on the order of the readings.",
    "Two things could cause this: the {noun} window is closed too early, or the checkpoint is written before the flush. The code will tell which. If the flush comes second, the last {number} rows are lost on a restart.",
    "I do not know this part of the project yet. A search for {noun} shows who writes it; then I read {module} from the top.",
];

/// What it thinks while it looks around.
pub const LOOKING_THOUGHTS: &[&str] = &[
    "That is consistent with what was described: the sequence jumps by {number} and the retry starts from the old cursor. I still want to see where {verb}_{noun} gets its limit from.",
    "The docstring promises an inclusive bound. Whether the comparison keeps that promise depends on the caller, so I read that next.",
    "Nothing suspicious here. {module} only passes the {noun} on; the decision is made further down, near {verb}_{noun}.",
];

/// What it thinks before a change.
pub const CHANGING_THOUGHTS: &[&str] = &[
    "I have the relevant lines now. The comparison uses `>` where the docstring promises an inclusive bound. A small edit is enough, but the test has to cover the boundary as well.",
    "One replacement in {path}, then the narrow tests. The grace period of {number} seconds stays as it is.",
    "The checkpoint must not move before the {noun} is confirmed. I change the order and leave a comment that says why.",
];

/// What it thinks after a failure.
pub const FAILING_THOUGHTS: &[&str] = &[
    "The failure is in the {noun} path, not in the code that I touched. Let me look at the lines around the traceback before I guess.",
    "An earlier edit moved the lines. I need the exact text again; then one replacement, then the tests.",
    "Off by {number}: the limit is applied twice. The second place must be in {module}.",
];

/// What the model says at the start of a turn.
pub const FIRST_REMARKS: &[&str] = &["I'll look at `{path}` and its callers first.", "Let me find out where the {noun} is written.", ""];

/// What it says while it looks around.
pub const LOOKING_REMARKS: &[&str] =
    &["The cause is likely near `{verb}_{noun}`; let me check.", "Next I want to see how {module} uses this.", "", "", ""];

/// What it says before a change or a test run.
pub const CHANGING_REMARKS: &[&str] = &["Now the change itself.", "A small edit, then the {noun} tests.", "", ""];

/// What it says after a failure.
pub const FAILING_REMARKS: &[&str] = &["That did not work; reading the lines again.", "Still one failure near `{verb}_{noun}`.", ""];

/// How the model closes a turn.
pub const CLOSINGS: &[&str] = &[
    "Done. `{verb}_{noun}` in `{path}` now flushes before it moves the window, so the last {number} readings are kept. The {noun} tests pass, including a new one for the boundary at midnight.",
    "Fixed in `{path}`. The bound is inclusive now, as the docstring says; the error names the station that was refused. I left the other callers alone because they already pass the tolerance.",
    "Summary: the checkpoint was written {number} ms before the rows that it vouches for. Both are in one transaction now. I ran the narrow tests; the slow ones are untouched by this change.",
    "Here is how it travels: the spool hands a batch to `{module}`, which sorts it by sequence and passes it to `{verb}_{noun}`; rows older than the cutoff are counted and dropped. The lines that matter are quoted above.",
];
