"""Whatever moves where, and whoever is killed: the report is that of one machine."""

import json
import pathlib
import shutil

import pytest
from conftest import POLICIES, ROOT, above, printed, report

import ctxsim
import ctxsim.rows


@pytest.fixture(scope="module")
def undisturbed(engine, slow):
    """All files in four partitions, what they give, and how many workers that took."""
    table, before = engine.files(4), len(slow.begun())
    assert table.count() > 10
    return table, engine.module.corpus(engine.module.measure(table)), len(slow.begun()) - before


def test_the_report_has_the_bytes_of_one_machine(engine, undisturbed, one_machine, tmp_path):
    _, trace, _ = undisturbed
    assert report(trace, tmp_path) == one_machine
    assert engine.module.corpus(engine.module.measure(engine.files(1))) == trace


def test_copies_and_sub_agents_in_different_shards_count_once(engine, tmp_path):
    """Every file a row by itself, as far as files are sessions: those that belong together lie in different tasks."""
    logs = tmp_path / "claude-code"
    shutil.copytree(ROOT / "transcripts" / "claude-code", logs)
    # A resumed session begins with what another file holds.
    longest = max(logs.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = longest.read_text().splitlines(keepends=True)
    (longest.parent / "resumed.jsonl").write_text("".join(lines[: len(lines) // 2]))
    names = [str(path) for path in sorted(logs.rglob("*")) if path.is_file()]
    table = engine.table([{"row": name, "files": [{"name": name, "bytes": pathlib.Path(name).read_bytes()}]} for name in names])
    found = report(engine.module.corpus(engine.module.measure(table)), tmp_path)
    assert found == printed(str(logs))
    corpus = json.loads(found)
    sessions = corpus["recorded"]["sessions"]
    parents = {row["session"]: row.get("parent") for policy in corpus["policies"] for row in policy["sessions"]}
    assert corpus["corpus"]["duplicates"]["calls"] > 0 and any(parents.values())
    assert len({row["source"] for row in sessions}) > 3


@pytest.mark.parametrize("whose", ["engine", "program"])
def test_a_process_that_is_killed_in_the_midst_of_the_map_has_its_task_repeated(engine, undisturbed, slow, whose):
    table, whole, workers = undisturbed
    job = lambda: engine.repeated(lambda: engine.module.corpus(engine.module.measure(table)))  # noqa: E731
    (trace, repeated), begun = slow.killed_in(job, lambda worker: above(worker, engine.lost) if whose == "engine" else worker)
    assert trace == whole
    # What was killed had begun and given nothing; more workers began than there are tasks.
    assert begun > workers >= 4
    assert repeated is None or repeated >= 1


def test_a_poisoned_row_is_named_and_costs_itself(engine):
    session = (ROOT / "transcripts/codex/small.jsonl").read_bytes()
    rows = [("good", "a/small.jsonl", session), ("hostile", "../../outside", session), ("bomb", "a.jsonl", b"\x00" * 3_000_000)]
    table = engine.table([{"row": row, "files": [{"name": name, "bytes": content}]} for row, name, content in rows])
    with pytest.raises(ctxsim.CtxsimError, match="hostile.*leads out"):
        engine.module.replay(table, "none")
    failed = []
    # An option that concerns the reading alone is heard where rows are measured.
    result = engine.module.replay(table, "none", failed=failed, tokenizer="o200k_base", max_line="1M")
    assert [row["row"] for row in failed] == ["hostile"]
    expected = ctxsim.replay(str(ROOT / "transcripts/codex/small.jsonl"), "none", tokenizer="o200k_base")
    assert [row["prompt_tokens"] for row in result.sessions] == [row["prompt_tokens"] for row in expected.sessions]
    assert result.document["corpus"]["skipped"][0]["path"] == "a.jsonl"
    assert result.chart().startswith(b"<svg")


def test_figures_that_tasks_simulate_are_those_of_the_report(engine, undisturbed, one_machine):
    simulated = engine.rows(engine.module.figures(engine.module.measure(undisturbed[0]), POLICIES, partitions=4))
    assert not [row for row in simulated if row["error"] is not None]
    # Some files hold sessions of one name: rows are compared as they are, not by a key.
    text = lambda policy, row: json.dumps([policy, row], sort_keys=True)  # noqa: E731
    expected = sorted(text(policy["policy"], row) for policy in json.loads(one_machine)["policies"] for row in policy["sessions"])
    assert len(expected) > 10 and sorted(text(row["policy"], json.loads(row["figures"])) for row in simulated) == expected
