"""Spark moves the rows; ``ctxsim worker`` measures, merges and simulates them (docs/scale.md).

    import ctxsim.spark
    logs = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load("s3://bucket/logs")
    result = ctxsim.spark.replay(ctxsim.spark.rows(logs), ["none", "pi"])

The program has to stand on every machine: the wheel installed there, or ``CTXSIM_PROGRAM`` set for the executors.
"""

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional

from . import rows as tasks
from ._result import Result

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

#: Columns of measured rows: ``error`` says why a row gave nothing, ``trace`` is what was measured, numbers and names without content.
MEASURED = "row string, sessions long, messages long, calls long, error string, trace binary"
#: Columns of simulated rows: ``figures`` is JSON, as an entry of ``policies[].sessions[]`` of ``ctxsim replay --json``.
SIMULATED = "policy string, session string, figures string, error string"


def rows(files: "DataFrame", prefix: str = "") -> "DataFrame":
    """Rows of files (``row``, ``files``) out of a table of ``binaryFile`` (``path``, ``content``): all files of one session in one row.

    Args:
        files: one row per file.
        prefix: what is taken off each path, to the left of what a report shall name; ``file:`` goes in any case.

    :func:`ctxsim.rows.group` says which files make a row; the names alone come to the driver for it, not the contents.
    """
    from pyspark.sql import functions as of

    shown = of.regexp_replace("path", "^file:(//)?", "")
    named = files.select(shown.alias("name"), "content")
    names = [row.name for row in named.select("name").collect()]
    keys = [(name, row) for row, group in tasks.group(names).items() for name in group]
    key = files.sparkSession.createDataFrame(keys, "name string, row string")
    short = of.when(of.col("name").startswith(prefix), of.expr(f"substring(name, {len(prefix) + 1})")).otherwise(of.col("name"))
    one = of.struct(short.alias("name"), of.col("content").alias("bytes"))
    gathered = named.join(key, "name").groupBy("row").agg(of.sort_array(of.collect_list(one)).alias("files"))
    return gathered


def measure(table: "DataFrame", **more: Any) -> "DataFrame":
    """Rows of files (``row``, ``files: array<struct<name, bytes>>``) as measured rows (:data:`MEASURED`). A task runs one worker.

    A hostile, damaged or too large row costs itself: it has ``error`` and no ``trace``. Repeated tasks give the same bytes.

    Args:
        table: rows of files.
        more: options of ``ctxsim worker measure``, as in :func:`ctxsim.replay`.
    """

    def run(batches: "Batches") -> "Batches":
        for row in tasks.measure(_rows(batches), **more):
            yield _batch([row], tasks.MEASURED)

    return table.select("row", "files").mapInArrow(run, MEASURED)


def merge(measured: "DataFrame") -> "DataFrame":
    """Measured rows of each partition as one (``trace binary``), so that little travels."""

    def run(batches: "Batches") -> "Batches":
        yield _batch([{"trace": tasks.merge(row["trace"] for row in _rows(batches))}], ["trace"])

    return measured.select("trace").mapInArrow(run, "trace binary")


def corpus(measured: "DataFrame") -> bytes:
    """All measured rows as one ``.ctxtrace``, which every command of the program reads; it is held on the driver."""
    return tasks.merge(bytes(row.trace) for row in merge(measured).collect())


def replay(table: "DataFrame", policies: tasks.Policies = None, *, failed: Optional[List[Dict[str, str]]] = None, **more: Any) -> Result:
    """``ctxsim.replay`` over rows of files: measured on the executors, counted once and reported on the driver, with the figures of one machine.

    Args:
        table: rows of files, as :func:`rows` makes them.
        policies: as in :func:`ctxsim.replay`, and so are further arguments.
        failed: a list that takes ``row`` and ``error`` of rows that gave nothing; without it they raise.

    Raises:
        CtxsimError: a row gave nothing, and ``failed`` was not given; or an argument is wrong.
    """
    measured = measure(table, **tasks.when_measured(more)).persist()
    try:
        tasks.heard([row.asDict() for row in measured.where("error is not null").select("row", "error").collect()], failed)
        trace = corpus(measured)
    finally:
        measured.unpersist()
    return tasks.replay(trace, policies, **more)


def figures(measured: "DataFrame", policies: tasks.Policies = None, *, partitions: Optional[int] = None, **more: Any) -> "DataFrame":
    """Measured rows as one row per session and policy (:data:`SIMULATED`), simulated on the executors.

    Each message counts once over all rows, and summaries are sized by those of all rows: the driver holds the measured sessions for that
    (:func:`corpus`), and hands them out again.

    Args:
        measured: rows of :func:`measure`.
        policies: as in :func:`ctxsim.replay`.
        partitions: into how many parts the sessions are handed out; ``None``: as Spark has it.
        more: options of ``ctxsim worker simulate``.
    """
    context, sessions = tasks.sessions(corpus(measured))

    def run(batches: "Batches") -> "Batches":
        for row in tasks.simulate(context, _rows(batches), policies, **more):
            yield _batch([row], tasks.SIMULATED)

    table = measured.sparkSession.createDataFrame([(row["session"], row["trace"]) for row in sessions], "session string, trace binary")
    return (table.repartition(partitions) if partitions else table).mapInArrow(run, SIMULATED)


Batches = Iterator["pyarrow.RecordBatch"]


def _rows(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator[Dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())


def _batch(found: List[Dict[str, Any]], columns: Iterable[str]) -> "pyarrow.RecordBatch":
    import pyarrow

    return pyarrow.RecordBatch.from_pylist(found, tasks.schema(columns))
