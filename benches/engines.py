"""Benchmark by hand of the engines that move rows (docs/scale.md): `python benches/engines.py WHAT`, where the wheel, pyspark and Ray are installed.

    throughput   sessions a second of 1 and 2 executors, beside the same worker processes without an engine; bytes that travel a session
    partitions   1, 4 and 64 partitions, and a worker killed in the midst of the merge: the report has the bytes of one machine
    skew         one session of 500 MB beside 10,000 small ones, made here

Logs are those below `CTXSIM_SHARED`/transcripts, or else the samples of this repository. Every measurement runs in a process of its own.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import ctxsim
import ctxsim.rows

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("CTXSIM_SHARED", ROOT.parent / "shared")) / "transcripts"
LOGS = SHARED if SHARED.is_dir() else ROOT / "transcripts"
# So many times the same rows, so that the start of processes is not what is measured.
TIMES, PARTS = 4, 8
ROW = "row string, files array<struct<name string, bytes binary>>"


def main():
    os.environ["CTXSIM_CONFIG"] = ""
    what, *rest = sys.argv[1:] or ["--help"]
    if what in MEASUREMENTS:
        return MEASUREMENTS[what](*rest)
    if what not in PLANS:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="ctxsim-bench-") as folder:
        for words in PLANS[what](pathlib.Path(folder)):
            subprocess.run([sys.executable, __file__, *map(str, words)], check=True)


def throughput(folder):
    """Rows as files of Parquet, which no shuffle has to gather."""
    import pyarrow
    import pyarrow.parquet

    names = [str(path) for path in sorted(LOGS.rglob("*")) if path.is_file()]
    rows = [(row, [{"name": name, "bytes": pathlib.Path(name).read_bytes()} for name in files]) for row, files in ctxsim.rows.group(names).items()]
    # Each part has rows of all sizes, the largest first.
    rows.sort(key=lambda row: -sum(len(file["bytes"]) for file in row[1]))
    kinds = pyarrow.schema([("row", pyarrow.string()), ("files", pyarrow.list_(pyarrow.struct([("name", pyarrow.string()), ("bytes", pyarrow.binary())])))])
    (folder / "rows").mkdir()
    for part in range(PARTS):
        mine = [{"row": f"{copy}/{row}", "files": files} for row, files in rows[part::PARTS] for copy in range(TIMES)]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(mine, kinds), folder / "rows" / f"{part}.parquet", compression="none", row_group_size=64)
    counted(folder)
    size = sum(len(file["bytes"]) for _, files in rows for file in files)
    print(f"{len(rows)} rows, {size / 1e6:.1f} MB of logs, {TIMES} times each, in {PARTS} parts", flush=True)
    for processes in (1, 2):
        for engine in ("direct", "spark", "ray"):
            yield [engine, processes, folder / "rows"]


def direct(processes, folder):
    """The same workers, fed by as many threads from the same files."""
    import pyarrow.parquet

    def one(part):
        batches = pyarrow.parquet.ParquetFile(part).iter_batches(64)
        measured = list(ctxsim.rows.measure(row for batch in batches for row in batch.to_pylist()))
        return sum(row["sessions"] for row in measured), ctxsim.rows.merge(row["trace"] for row in measured)

    def once():
        with concurrent.futures.ThreadPoolExecutor(int(processes)) as pool:
            parts = list(pool.map(one, sorted(pathlib.Path(folder).glob("*.parquet"))))
        mapped = time.time()
        ctxsim.rows.merge(trace for _, trace in parts)
        return sum(sessions for sessions, _ in parts), mapped

    timed(f"no engine, {processes} processes", once)


def timed(name, once):
    """The second of two runs: the first starts what is started once."""
    once()
    before, start = processor(), time.time()
    sessions, mapped = once()
    taken, used = time.time() - start, [now - was for now, was in zip(processor(), before)]
    rate = f"{sessions / taken:.0f} sessions a second by the clock ({mapped - start:.1f} s, the last merge {start + taken - mapped:.1f} s)"
    print(f"{name}: {sessions} sessions, {rate}, {sum(used):.1f} processor seconds, {used[0]:.1f} of them in workers", flush=True)


def processor():
    """Processor seconds so far: of workers that have ended, and of all other processes from this one down."""
    above, own = {int(each): parent(each) for each in os.listdir("/proc") if each.isdigit()}, os.getpid()
    total = 0
    for pid in above:
        each = pid
        while each in above and each != own:
            each = above[each]
        # User and system, then those of children that have ended.
        fields = said(pid, "stat").rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) if each == own and fields else 0
    workers = sum(float(line) for line in pathlib.Path(os.environ["CTXSIM_SPENT"]).read_text().split())
    return workers, total / os.sysconf("SC_CLK_TCK") - workers


def counted(folder):
    """A program that notes the processor seconds of each worker."""
    script, spent = folder / "ctxsim", folder / "spent"
    spent.touch()
    script.write_text(
        f"#!{sys.executable} -SE\nimport os, subprocess, sys\ncode = subprocess.call(['{ctxsim.program()}', *sys.argv[1:]])\n"
        f"used = os.times()\nopen('{spent}', 'a').write(f'{{used[2] + used[3]}}\\n')\nsys.exit(code)\n"
    )
    script.chmod(0o755)
    os.environ.update(CTXSIM_PROGRAM=str(script), CTXSIM_SPENT=str(spent))


def session_of_spark(executors, memory=2048, **more):
    import pyspark.sql

    builder = pyspark.sql.SparkSession.builder.master(f"local-cluster[{executors},1,{memory}]").config("spark.executor.memory", f"{memory}m")
    given = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.driver.maxResultSize": "0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.CTXSIM_PROGRAM": ctxsim.program(),
        "spark.executorEnv.PYTHONPATH": str(pathlib.Path(ctxsim.__file__).parents[1]),
        "spark.executorEnv.CTXSIM_CONFIG": "",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        # A part of a file is a task.
        "spark.sql.files.maxPartitionBytes": "1g",
        "spark.sql.files.openCostInBytes": "1g",
        **more,
    }
    for key, value in given.items():
        builder = builder.config(key, value)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def travelled(spark):
    """Bytes that tasks wrote for others and that they sent to the driver, so far."""
    jvm, store = spark.sparkContext._gateway, spark.sparkContext._jsc.sc().statusStore()
    stages = store.stageList(None, False, False, jvm.new_array(jvm.jvm.double, 0), jvm.jvm.java.util.ArrayList())
    found = [stages.apply(place) for place in range(stages.size())]
    return sum(stage.shuffleWriteBytes() for stage in found), sum(stage.resultSize() for stage in found)


def spark(executors, folder):
    import ctxsim.spark

    session = session_of_spark(executors)
    table = session.read.parquet(folder)

    def once():
        parts = ctxsim.spark.merge(ctxsim.spark.measure(table)).collect()
        mapped = time.time()
        return count(ctxsim.rows.merge(bytes(row.trace) for row in parts)), mapped

    timed(f"Spark, {executors} executors", once)
    session.stop()


def ray(processes, folder):
    import ctxsim.ray
    import ray as engine

    os.environ.update(RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0", RAY_USAGE_STATS_ENABLED="0", CTXSIM_PROGRAM=ctxsim.program())
    engine.init(num_cpus=int(processes), include_dashboard=False, object_store_memory=1 << 30, log_to_driver=False, logging_level="ERROR")
    engine.data.DataContext.get_current().enable_progress_bars = False

    def once():
        table = engine.data.read_parquet(folder, override_num_blocks=PARTS)
        parts = list(ctxsim.ray.merge(ctxsim.ray.measure(table)).iter_rows())
        mapped = time.time()
        return count(ctxsim.rows.merge(row["trace"] for row in parts)), mapped

    timed(f"Ray, {processes} processors", once)
    engine.shutdown()


def count(trace):
    """How many sessions a merged trace holds: its own header says so."""
    return next(ctxsim.rows.through(["merge"], [({}, trace)]))[0]["sessions"]


def printed(place):
    return subprocess.run([ctxsim.program(), "replay", str(place), "--json", "-p", "none", "-p", "pi"], check=True, stdout=subprocess.PIPE).stdout


def same(trace, expected, name, seconds):
    with tempfile.NamedTemporaryFile(suffix=".ctxtrace") as file:
        file.write(trace)
        file.flush()
        if printed(file.name) != expected:
            sys.exit(f"{name}: the report differs from that of one machine")
    print(f"{name}: {seconds:.1f} s, the report has the bytes of one machine", flush=True)


def files_of(session, place):
    import ctxsim.spark

    return ctxsim.spark.rows(session.read.format("binaryFile").option("recursiveFileLookup", "true").load(str(place)))


def partitions(*_):
    import ctxsim.spark

    folder = pathlib.Path(tempfile.mkdtemp(prefix="ctxsim-bench-"))
    begun, slowly, script = folder / "begun", folder / "slowly", folder / "ctxsim"
    waits = f'if [ "$2" = merge ]; then echo $$ >> {begun}; if [ -e {slowly} ]; then sleep 2; fi; fi'
    script.write_text(f'#!/bin/sh\n{waits}\nexec {ctxsim.program()} "$@"\n')
    script.chmod(0o755)
    session = session_of_spark(2, **{"spark.executorEnv.CTXSIM_PROGRAM": str(script), "spark.task.maxFailures": "8"})
    table, expected = files_of(session, LOGS).persist(), printed(LOGS)
    table.count()
    gathered, sessions = travelled(session)[0], len(json.loads(expected)["recorded"]["sessions"])
    print(f"{sessions} sessions; to gather the files of a row: {gathered / sessions:.0f} bytes of shuffle a session", flush=True)
    for parts in (1, 4, 64):
        measured = ctxsim.spark.measure(table.repartition(parts)).persist()
        measured.count()
        before, start = travelled(session), time.time()
        ctxsim.spark.corpus(measured)
        moved = sum(travelled(session)) - sum(before)
        print(f"{parts} partitions: {moved / sessions:.0f} bytes a session from measured rows to the driver", flush=True)
        measured.unpersist()
        start = time.time()
        trace = ctxsim.spark.corpus(ctxsim.spark.measure(table.repartition(parts)))
        same(trace, expected, f"{parts} partitions", time.time() - start)
    measured = ctxsim.spark.measure(table.repartition(4)).persist()
    measured.count()
    undisturbed = count_of(begun, lambda: ctxsim.spark.corpus(measured))[1]
    for whose in ("executor", "program"):
        slowly.touch()
        killer = threading.Thread(target=kill_first, args=(begun, slowly, whose))
        start = time.time()
        killer.start()
        trace, workers = count_of(begun, lambda: ctxsim.spark.corpus(measured))
        killer.join()
        if workers <= undisturbed:
            sys.exit("no task of the merge was done again")
        name = f"{whose} killed in the midst of the merge of 4 partitions, {workers} workers in the place of {undisturbed}"
        same(trace, expected, name, time.time() - start)
    session.stop()


def count_of(begun, job):
    before = len(begun.read_text().split())
    given = job()
    return given, len(begun.read_text().split()) - before


def kill_first(begun, slowly, whose):
    before = len(begun.read_text().split())
    while len(begun.read_text().split()) == before:
        time.sleep(0.02)
    pid = int(begun.read_text().split()[before])
    while whose == "executor" and "CoarseGrainedExecutorBackend" not in said(pid, "cmdline"):
        pid = parent(pid)
    os.kill(pid, signal.SIGKILL)
    slowly.unlink()


def said(pid, what):
    try:
        return pathlib.Path(f"/proc/{pid}/{what}").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def parent(pid):
    return int((said(pid, "stat").rpartition(")")[2].split() or ["0", "0"])[1])


class Peaks(threading.Thread):
    """The largest resident memory of each kind of process below this one, as the system has kept it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.done = {}, threading.Event()

    def run(self):
        while not self.done.wait(0.05):
            above = {int(each): parent(each) for each in os.listdir("/proc") if each.isdigit()}
            for pid in above:
                line, each = [pid], pid
                while each in above and each != os.getpid():
                    each = above[each]
                    line.append(each)
                kept = [row.split()[1] for row in said(pid, "status").splitlines() if row.startswith("VmHWM")]
                if each == os.getpid() and kept:
                    kind = self.kind(pid, said(pid, "cmdline"))
                    self.most[kind] = max(self.most.get(kind, 0), int(kept[0]) / 1024)

    @staticmethod
    def kind(pid, words):
        if pid == os.getpid():
            return "python of the driver"
        for part, kind in (
            ("worker measure", "ctxsim worker measure"),
            ("worker merge", "ctxsim worker merge"),
            ("replay", "ctxsim replay"),
            ("pyspark/daemon", "python of a task"),
            ("pyspark.daemon", "python of a task"),
            ("CoarseGrainedExecutorBackend", "Java of an executor"),
            ("java", "Java of the driver"),
        ):
            if part in words:
                return kind
        return "other"


def skew(folder):
    """Small sessions of some twenty messages, and one of 500 MB, with words out of a fixed list; the same at each run."""
    chance = random.Random(24)
    words = ["".join(chance.choice("etaoinshrdlucmfw") for _ in range(chance.randint(2, 9))) for _ in range(5000)]

    def text(bytes_):
        return " ".join(chance.choices(words, k=bytes_ // 6))

    def write(place, session, turns, size):
        with open(place, "w") as file:
            head = {"ctxsim": "native/1", "session": session, "agent": "made", "model": "claude-sonnet-4-5", "window": 200_000}
            file.write(json.dumps(head) + "\n")
            file.write(json.dumps({"role": "user", "text": text(200)}) + "\n")
            prompt = 2000
            for turn in range(turns):
                call = {"call": {"id": f"{session}-{turn}", "name": "read", "arguments": {"path": f"{chance.choice(words)}.py"}}}
                usage = {"prompt": prompt, "cache_read": prompt // 2, "output": 40}
                file.write(json.dumps({"role": "assistant", "id": f"{session}-{turn}-m", "parts": [{"text": text(120)}, call], "usage": usage}) + "\n")
                result = {"result": {"id": f"{session}-{turn}", "text": text(size)}}
                file.write(json.dumps({"role": "tool", "parts": [result]}) + "\n")
                prompt = prompt + size // 4 if prompt < 150_000 else 2000

    for number in range(10_000):
        write(folder / f"small-{number}.jsonl", f"small-{number}", 10, 400)
    write(folder / "large.jsonl", "large", 45_000, 11_000)
    total = sum(path.stat().st_size for path in folder.iterdir())
    print(f"10,000 sessions and one of {(folder / 'large.jsonl').stat().st_size / 1e6:.0f} MB, {total / 1e6:.0f} MB in all", flush=True)
    yield ["skewed", folder]


def skewed(folder):
    import ctxsim.spark

    start = time.time()
    one = Peaks()
    one.start()
    expected = printed(folder)
    one.done.set()
    print(f"one machine: replay in {time.time() - start:.1f} s, {one.most['ctxsim replay']:.0f} MiB", flush=True)
    peaks = Peaks()
    session = session_of_spark(2, 6144, **{"spark.driver.memory": "4g"})
    peaks.start()
    start = time.time()
    table = files_of(session, folder).repartition(16)
    trace = ctxsim.spark.corpus(ctxsim.spark.measure(table))
    taken = time.time() - start
    peaks.done.set()
    shuffled = travelled(session)
    same(trace, expected, "two executors, 16 partitions, from files on", taken)
    print(f"a trace of {len(trace) / 1e6:.1f} MB; shuffle {shuffled[0] / 1e6:.0f} MB, results {shuffled[1] / 1e6:.1f} MB")
    for kind, most in sorted(peaks.most.items()):
        print(f"  {kind}: {most:.0f} MiB at most", flush=True)
    session.stop()


PLANS = {"throughput": throughput, "partitions": lambda folder: [["cuts"]], "skew": skew}
MEASUREMENTS = {"direct": direct, "spark": spark, "ray": ray, "cuts": partitions, "skewed": skewed}

if __name__ == "__main__":
    main()
