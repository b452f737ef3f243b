"""Every figure of every function is that of the command line, whose CSV another part of the program writes."""

from conftest import SAMPLES, asked

import ctxsim
from ctxsim import rows


def compare(rows, printed, names=None):
    """Holds rows to those of the CSV, column by column; returns how many figures were compared."""
    assert len(rows) == len(printed) > 0
    names = names or {name: name for name in printed[0] if name in rows[0]}
    compared = 0
    for row, line in zip(rows, printed):
        for column, ours in names.items():
            value = row[ours]
            if line[column] == "" or value is None:
                assert line[column] in ("", "0") and not value, (column, line[column], value)
            elif isinstance(value, (int, float)):
                # The CSV has six decimals of shares, three of quotients.
                assert abs(float(line[column]) - value) <= 5.1e-4 * max(1, abs(value) / 1000), (column, line[column], value)
                compared += 1
            else:
                assert line[column].lstrip("'") == value, (column, line[column], value)
                compared += 1
    return compared


def test_replay():
    result = ctxsim.replay(SAMPLES, ["none", "pi"], settings={"pi:reserveTokens": 20_000}, calls=True)
    printed = asked("replay", SAMPLES, "-p", "none", "-p", "pi", "--set", "pi:reserveTokens=20000")
    for policy in ("recorded", "none", "pi@1.5"):
        lines = [line for line in printed if line["policy"] == policy]
        of_sessions = [line for line in lines if line["session"] not in ("", "all")]
        rows = [row for row in result.sessions if row["policy"] == policy]
        simulated = {
            name: name for name in ctxsim._keys.COLUMNS["replay.sessions"] if name in lines[0] and name not in ("source", "parent")
        }
        if policy == "recorded":
            simulated = {
                name: name
                for name in ("session", "agent", "calls", "compactions", "peak_tokens", "prompt_tokens", "cost", "cache_hit_rate")
            }
        assert compare(rows, of_sessions, simulated) > 100, policy
        # Sums of sessions, worked out here.
        total = next(row for row in result.table if row["policy"] == policy)
        for name in ("calls", "prompt_tokens", "compactions", "failed_sessions"):
            assert total[name] == sum(row[name] for row in rows), name
        assert abs(total["cost"] - sum(row["cost"] or 0 for row in rows)) < 1e-6
    # A call a row, whose contexts add up to the session's.
    for row in result.sessions:
        if row["policy"] == "pi@1.5":
            calls = [call for call in result.calls if (call["policy"], call["session"]) == (row["policy"], row["session"])]
            answered = [call for call in calls if not call["unrecovered"]]
            assert (sum(call["actual"] for call in answered), len(answered)) == (row["prompt_tokens"], row["calls"])
            assert [call["call"] for call in calls] == list(range(len(calls)))


def test_sweep():
    result = ctxsim.sweep(SAMPLES, "pi", {"reserveTokens": [8_000, 16_000]}, resamples=100)
    printed = asked("sweep", SAMPLES, "-p", "pi", "--vary", "reserveTokens=8000,16000", "--resamples", "100")
    assert compare(result.table.rows, printed) > 60


def test_tune():
    result = ctxsim.tune(SAMPLES, "pi", params="reserveTokens=8k..32k", settings_=None, resamples=100)
    printed = asked("tune", SAMPLES, "-p", "pi", "--params", "reserveTokens=8k..32k", "--resamples", "100")
    assert [row["setting"] for row in result.table] == ["default", "best"]
    for part, place in (("training", 0), ("held_out", 2)):
        names = {name: f"{part}_{name}" for name in ("objective", "overflows", "over_budget", "prunes", "compactions", "failed_sessions")}
        assert compare(result.table.rows, printed[place : place + 2], names) >= 12
        assert compare(result.table.rows, printed[place : place + 2], {"cost": f"{part}_charges_cost"}) == 2


def test_drift():
    result = ctxsim.drift(SAMPLES)
    printed = asked("drift", SAMPLES)
    for table, lines in (
        ("estimators", [line for line in printed if line["agent"] == "all"]),
        ("agents", [line for line in printed if line["agent"] != "all"]),
    ):
        rows = result.tables[table].rows
        names = {name: name for name in "estimator family calls sessions estimated_tokens recorded_tokens bias mape p05 p50".split()}
        key = lambda row: (row["estimator"], row["family"], row.get("agent", "all"))  # noqa: E731
        named = sorted(lines, key=key)
        assert compare(sorted(rows, key=key), named, names) > 500


def test_cost():
    """The row of no policy has no costs in the CSV: here it ends sessions."""
    result = ctxsim.cost(SAMPLES, ["codex", "pi"])
    printed = asked("cost", SAMPLES, "-p", "codex", "-p", "pi")
    money = [name for name in printed[0] if name.startswith(("cost", "modelled_")) and not name.endswith(("recorded", "hits"))]
    assert "cost" in money
    names = {name: name.replace("_usd", "_cost") if name.endswith("_usd") else name for name in money}
    assert compare(result.table.rows[1:], printed[1:], {**names, "calls": "calls", "policy": "policy"}) >= 12
    assert compare(result.table.rows[:1], printed[:1], {"policy": "policy", "cost": "cost", "calls": "calls"}) == 3


def test_cache():
    result = ctxsim.cache(SAMPLES)
    names = {name: name for name in "session source call time cause expected read tokens".split()}
    printed = asked("cache", SAMPLES)
    assert compare(result.table.rows, printed, names) > 50
    # The CSV has whole seconds.
    assert [line["gap_seconds"] for line in printed] == [
        "" if row["gap_seconds"] is None else str(int(row["gap_seconds"])) for row in result.table
    ]


def test_idle():
    result = ctxsim.idle(SAMPLES)
    names = {name: name for name in "lifetime_seconds from_tokens never_resumed resumed_usd never_usd".split()}
    printed = [line for line in asked("idle", SAMPLES) if line["session"] == ""]
    assert compare([{**row, "never_resumed": classed(result, row)["never_resumed"]} for row in result.table], printed, names) > 300


def classed(result, row):
    same = ("lifetime_seconds", "from_tokens")
    return next(each for each in result.tables["classes"] if all(each[name] == row[name] for name in same))


def test_validate():
    result = ctxsim.validate("transcripts/claude-code/", "transcripts/claude-code/", "pi")
    printed = asked("validate", "transcripts/claude-code/", "--with", "transcripts/claude-code/", "-p", "pi")
    names = {name: name for name in "before predicted measured more_runs_10 more_runs_20".split()}
    shown = [{**row} for row in result.table]
    for row, line in zip(shown, printed):
        for name in ("before", "predicted", "measured"):
            # The CSV rounds averages to one digit.
            row[name] = row[name] if row[name] is None else float(line[name]) if abs(float(line[name]) - row[name]) < 0.06 else row[name]
    assert compare(shown, printed, names) > 20


def test_files_that_belong_together_make_one_row():
    """Grok CLI's sessions have their usage in one file; lines of other agents are sessions by themselves."""
    grok = ["a/logs/unified.jsonl", "a/sessions/x/1/updates.jsonl"]
    assert rows.group([*grok, "b/s.jsonl", "b/t.jsonl"]) == {"a/": grok, "b/s.jsonl": ["b/s.jsonl"], "b/t.jsonl": ["b/t.jsonl"]}
