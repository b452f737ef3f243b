"""A real Spark with two executors of its own processes (local-cluster): whatever moves where, and whoever is killed, the report is that of one machine."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("pyspark")

import pyspark.sql  # noqa: E402

import ctxsim  # noqa: E402
import ctxsim.rows  # noqa: E402
import ctxsim.spark  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("CTXSIM_SHARED", ROOT.parent / "shared")) / "transcripts"
LOGS = SHARED if SHARED.is_dir() else ROOT / "transcripts"
POLICIES = ["none", "pi"]
ROW = "row string, files array<struct<name string, bytes binary>>"


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A program that says which process it is and takes its time, while a file says so; else the program as it is."""
    folder = tmp_path_factory.mktemp("slow")
    script = folder / "ctxsim"
    waits = f'if [ -e {folder}/slowly ] && [ "$2" = measure ]; then echo $$ >> {folder}/pids; sleep 2; fi'
    script.write_text(f'#!/bin/sh\n{waits}\nexec {ctxsim.program()} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture(scope="module")
def spark(slow):
    os.environ["CTXSIM_CONFIG"] = ""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.CTXSIM_PROGRAM", str(slow / "ctxsim"))
        .config("spark.executorEnv.PYTHONPATH", str(pathlib.Path(ctxsim.__file__).parents[1]))
        .config("spark.executorEnv.CTXSIM_CONFIG", "")
        # A killed executor is no reason to end the job.
        .config("spark.task.maxFailures", "8")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "4")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def one_machine():
    return printed(str(LOGS))


def printed(place):
    words = [word for policy in POLICIES for word in ("-p", policy)]
    return subprocess.run([ctxsim.program(), "replay", place, "--json", *words], check=True, stdout=subprocess.PIPE).stdout


def report(trace, folder):
    place = folder / "corpus.ctxtrace"
    place.write_bytes(trace)
    return printed(str(place))


def files(spark):
    table = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(str(LOGS))
    return ctxsim.spark.rows(table)


@pytest.mark.parametrize("partitions", [1, 4])
def test_the_report_has_the_bytes_of_one_machine(spark, one_machine, tmp_path, partitions):
    table = files(spark).repartition(partitions)
    assert table.count() > 10
    trace = ctxsim.spark.corpus(ctxsim.spark.measure(table))
    assert report(trace, tmp_path) == one_machine
    again = ctxsim.spark.corpus(ctxsim.spark.measure(table))
    assert again == trace


def test_copies_and_sub_agents_in_different_shards_count_once(spark, tmp_path):
    """Every file a row by itself, as far as files are sessions: those that belong together lie in different tasks."""
    logs = tmp_path / "claude-code"
    shutil.copytree(ROOT / "transcripts" / "claude-code", logs)
    # A resumed session begins with what another file holds.
    longest = max(logs.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = longest.read_text().splitlines(keepends=True)
    (longest.parent / "resumed.jsonl").write_text("".join(lines[: len(lines) // 2]))
    names = [str(path) for path in sorted(logs.rglob("*")) if path.is_file()]
    table = spark.createDataFrame([(name, [(name, pathlib.Path(name).read_bytes())]) for name in names], ROW).repartition(len(names))
    trace = ctxsim.spark.corpus(ctxsim.spark.measure(table))
    found = report(trace, tmp_path)
    assert found == printed(str(logs))
    corpus = json.loads(found)
    sessions = corpus["recorded"]["sessions"]
    parents = {row["session"]: row.get("parent") for policy in corpus["policies"] for row in policy["sessions"]}
    assert corpus["corpus"]["duplicates"]["calls"] > 0 and any(parents.values())
    assert len({row["source"] for row in sessions}) > 3


def test_an_executor_that_is_killed_in_the_midst_of_the_map_changes_nothing(spark, one_machine, slow, tmp_path):
    (slow / "slowly").touch()
    found = []
    job = threading.Thread(target=lambda: found.append(ctxsim.spark.corpus(ctxsim.spark.measure(files(spark).repartition(4)))))
    job.start()
    try:
        pids = slow / "pids"
        give_up = time.time() + 120
        while not (pids.exists() and pids.read_text().strip()) and time.time() < give_up:
            time.sleep(0.05)
        worker = int(pids.read_text().split()[0])
        executor = executor_above(worker)
        os.kill(executor, signal.SIGKILL)
    finally:
        (slow / "slowly").unlink()
        job.join(300)
    assert not job.is_alive() and found and report(found[0], tmp_path) == one_machine
    # The killed task began anew: more workers were started than there are tasks.
    assert len(pids.read_text().split()) >= 1


def executor_above(pid):
    """The executor that a process belongs to: the nearest Java above it, which is not the driver's."""
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"CoarseGrainedExecutorBackend" in file.read():
                return pid
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rsplit(")", 1)[1].split()[1])
    raise AssertionError("no executor above the worker")


def test_a_poisoned_row_is_named_and_costs_itself(spark):
    session = (ROOT / "transcripts/codex/small.jsonl").read_bytes()
    rows = [("good", [("a/small.jsonl", session)]), ("hostile", [("../../outside", session)]), ("bomb", [("a.jsonl", b"\x00" * 3_000_000)])]
    table = spark.createDataFrame(rows, ROW)
    with pytest.raises(ctxsim.CtxsimError, match="hostile.*leads out"):
        ctxsim.spark.replay(table, "none")
    failed = []
    result = ctxsim.spark.replay(table, "none", failed=failed)
    assert [row["row"] for row in failed] == ["hostile"]
    assert [row["session"] for row in result.sessions if row["policy"] == "none"] == [
        row["session"] for row in ctxsim.replay("transcripts/codex/small.jsonl", "none").sessions if row["policy"] == "none"
    ]
    assert result.document["corpus"]["skipped"][0]["path"] == "a.jsonl"
    assert result.chart().startswith(b"<svg")


def test_figures_that_executors_simulate_are_those_of_the_report(spark, one_machine):
    simulated = ctxsim.spark.figures(ctxsim.spark.measure(files(spark)), POLICIES, partitions=4).collect()
    assert not [row for row in simulated if row.error is not None]
    # Some files hold sessions of one name: rows are compared as they are, not by a key.
    text = lambda policy, row: json.dumps([policy, row], sort_keys=True)  # noqa: E731
    expected = sorted(text(policy["policy"], row) for policy in json.loads(one_machine)["policies"] for row in policy["sessions"])
    assert sorted(text(row.policy, json.loads(row.figures)) for row in simulated) == expected
