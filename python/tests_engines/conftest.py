"""A real Spark with two executors of its own processes (local-cluster), and a real Ray on this machine; each test runs on both that are installed."""

import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

import ctxsim
import ctxsim.rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("CTXSIM_SHARED", ROOT.parent / "shared")) / "transcripts"
LOGS = SHARED if SHARED.is_dir() else ROOT / "transcripts"
POLICIES = ["none", "pi"]


class Slow:
    """A program that notes each measuring worker that begins, and while a file says so takes its time before it works."""

    def __init__(self, folder):
        self.program, self._begun, self._slowly = folder / "ctxsim", folder / "begun", folder / "slowly"
        waits = f'if [ "$2" = measure ]; then echo $$ >> {self._begun}; if [ -e {self._slowly} ]; then sleep 2; fi; fi'
        self.program.write_text(f'#!/bin/sh\n{waits}\nexec {ctxsim.program()} "$@"\n')
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def begun(self):
        """The ids of all measuring workers so far."""
        return [int(line) for line in self._begun.read_text().split()] if self._begun.exists() else []

    def killed_in(self, job, victim):
        """Runs a job, and kills the victim of its first worker before that has worked; returns what the job gave, and how many workers began."""
        found, before = [], len(self.begun())
        self._slowly.touch()
        thread = threading.Thread(target=lambda: found.append(job()), daemon=True)
        thread.start()
        try:
            give_up = time.time() + 120
            while len(self.begun()) == before and time.time() < give_up:
                time.sleep(0.02)
            os.kill(victim(self.begun()[before]), signal.SIGKILL)
        finally:
            self._slowly.unlink()
            thread.join(240)
        assert not thread.is_alive() and found, "the job did not outlive the kill"
        return found[0], len(self.begun()) - before


class Spark:
    """What tests ask of Spark."""

    def __init__(self, slow):
        import pyspark.sql

        import ctxsim.spark

        self.module, self.lost = ctxsim.spark, b"CoarseGrainedExecutorBackend"
        self._session = (
            pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.executorEnv.CTXSIM_PROGRAM", str(slow.program))
            .config("spark.executorEnv.PYTHONPATH", str(pathlib.Path(ctxsim.__file__).parents[1]))
            .config("spark.executorEnv.CTXSIM_CONFIG", "")
            # A killed executor is no reason to end the job.
            .config("spark.task.maxFailures", "8")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "4")
            .getOrCreate()
        )

    def table(self, rows):
        told = [(row["row"], [(file["name"], file["bytes"]) for file in row["files"]]) for row in rows]
        return self._session.createDataFrame(told, "row string, files array<struct<name string, bytes binary>>").repartition(len(told))

    def files(self, partitions):
        table = self._session.read.format("binaryFile").option("recursiveFileLookup", "true").load(str(LOGS))
        return self.module.rows(table).repartition(partitions).persist()

    def rows(self, table):
        return [row.asDict() for row in table.collect()]

    def repeated(self, job):
        """What the job gives, and how many tasks and stages the engine itself says it did again."""
        context = self._session.sparkContext
        context.setJobGroup("watched", "watched")
        given = job()
        stages = [stage for each in context.statusTracker().getJobIdsForGroup("watched") for stage in context.statusTracker().getJobInfo(each).stageIds]
        infos = [context.statusTracker().getStageInfo(stage) for stage in stages]
        return given, sum(info.numFailedTasks + info.currentAttemptId for info in infos if info)

    def stop(self):
        self._session.stop()


class Ray:
    """What tests ask of Ray."""

    def __init__(self, slow):
        import ray

        import ctxsim.ray

        self.module, self.lost, self._ray = ctxsim.ray, b"ray::", ray
        # Nothing is reported to anyone.
        os.environ.update(RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0", RAY_USAGE_STATS_ENABLED="0")
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=256 << 20,
            log_to_driver=False,
            runtime_env={"env_vars": {"CTXSIM_PROGRAM": str(slow.program), "CTXSIM_CONFIG": ""}},
        )
        ray.data.DataContext.get_current().enable_progress_bars = False

    def table(self, rows):
        return self._ray.data.from_items(rows, override_num_blocks=len(rows))

    def files(self, partitions):
        found = self.module.rows(self._ray.data.read_binary_files(str(LOGS), include_paths=True))
        return found.repartition(partitions).materialize()

    def rows(self, table):
        return table.take_all()

    def repeated(self, job):
        # Its state is asked of the dashboard, which is not there: the number of workers that began tells it.
        return job(), None

    def stop(self):
        self._ray.shutdown()


@pytest.fixture(scope="session")
def slow(tmp_path_factory):
    return Slow(tmp_path_factory.mktemp("slow"))


@pytest.fixture(scope="module", params=[("pyspark", Spark), ("ray", Ray)], ids=["spark", "ray"])
def engine(request, slow):
    needed, kind = request.param
    pytest.importorskip(needed)
    os.environ["CTXSIM_CONFIG"] = ""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    started = kind(slow)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def one_machine():
    return printed(str(LOGS))


def printed(place):
    words = [word for policy in POLICIES for word in ("-p", policy)]
    environment = {**os.environ, "CTXSIM_CONFIG": ""}
    return subprocess.run([ctxsim.program(), "replay", place, "--json", *words], check=True, stdout=subprocess.PIPE, env=environment).stdout


def report(trace, folder):
    place = folder / "corpus.ctxtrace"
    place.write_bytes(trace)
    return printed(str(place))


def above(pid, named):
    """The nearest process above one whose command line has the name."""
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if named in file.read():
                return pid
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rsplit(")", 1)[1].split()[1])
    raise AssertionError(f"no {named!r} above the worker")
