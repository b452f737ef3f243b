"""Spark moves the rows; ``ctxsim worker`` measures, merges and simulates them (docs/scale.md).

    import ctxsim.spark
    logs = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load("s3://bucket/logs")
    result = ctxsim.spark.replay(ctxsim.spark.rows(logs), ["none", "pi"])

The program has to stand on every machine: the wheel installed there, or ``CTXSIM_PROGRAM`` set for the executors.
"""

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

from . import rows as framed
from ._commands import replay as replay_here
from ._program import CtxsimError, options
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
    keys = [(name, row) for row, group in framed.group(names).items() for name in group]
    key = files.sparkSession.createDataFrame(keys, "name string, row string")
    short = of.when(of.col("name").startswith(prefix), of.expr(f"substring(name, {len(prefix) + 1})")).otherwise(of.col("name"))
    one = of.struct(short.alias("name"), of.col("content").alias("bytes"))
    gathered = named.join(key, "name").groupBy("row").agg(of.sort_array(of.collect_list(one)).alias("files"))
    return gathered


def measure(table: "DataFrame", **more: Any) -> "DataFrame":
    """Rows of files (``row``, ``files: array<struct<name, bytes>>``) as measured rows (:data:`MEASURED`). A task runs one worker.

    A hostile, damaged or too large row costs itself: it has ``error`` and no ``trace``. Repeated tasks give the same bytes.
    """
    words = ["measure", *options(more)]

    def run(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        def told() -> Iterator[framed.Row]:
            for batch in batches:
                for row in batch.to_pylist():
                    yield framed.of_files(row["row"], [(file["name"], file["bytes"]) for file in row["files"]])

        for header, trace in framed.through(words, told()):
            known = {key: header.get(key) for key in ("row", "sessions", "messages", "calls", "error")}
            yield _batch([{**known, "trace": trace or None}], _measured())

    return table.select("row", "files").mapInArrow(run, MEASURED)


def merge(measured: "DataFrame") -> "DataFrame":
    """Measured rows of each partition as one (``trace binary``), so that little travels."""

    def run(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow

        parts: Iterator[framed.Row] = (({}, row["trace"]) for batch in batches for row in batch.to_pylist() if row["trace"])
        for header, trace in framed.through(["merge"], parts):
            if "error" in header:
                raise CtxsimError(str(header["error"]), 2)
            yield _batch([{"trace": trace}], pyarrow.schema([("trace", pyarrow.binary())]))

    return measured.select("trace").mapInArrow(run, "trace binary")


def corpus(measured: "DataFrame") -> bytes:
    """All measured rows as one ``.ctxtrace``, which every command of the program reads; it is held on the driver."""
    parts: List[framed.Row] = [({}, bytes(row.trace)) for row in merge(measured).collect()]
    return b"".join(trace for _, trace in framed.through(["merge"], parts))


def replay(table: "DataFrame", policies: Union[str, Sequence[str], None] = None, *, failed: Optional[List[Dict[str, str]]] = None, **more: Any) -> Result:
    """``ctxsim.replay`` over rows of files: measured on the executors, counted once and reported on the driver, with the figures of one machine.

    Args:
        table: rows of files, as :func:`rows` makes them.
        policies: as in :func:`ctxsim.replay`, and so are further arguments.
        failed: a list that takes ``row`` and ``error`` of rows that gave nothing; without it they raise.

    Raises:
        CtxsimError: a row gave nothing, and ``failed`` was not given; or an argument is wrong.
    """
    measured = measure(table, **{name: more[name] for name in ("model", "tokenizer", "input_format") if name in more}).persist()
    try:
        lost = [row.asDict() for row in measured.where("error is not null").select("row", "error").collect()]
        if lost and failed is None:
            raise CtxsimError(f"{len(lost)} rows gave nothing; the first, {lost[0]['row']}: {lost[0]['error']}", 2)
        if failed is not None:
            failed.extend(lost)
        trace = corpus(measured)
    finally:
        measured.unpersist()
    # They were heard when the rows were measured.
    left = {name: value for name, value in more.items() if name not in ("tokenizer", "input_format")}
    return replay_trace(trace, policies, **left)


def replay_trace(trace: bytes, policies: Union[str, Sequence[str], None] = None, **more: Any) -> Result:
    """``ctxsim.replay`` of a ``.ctxtrace`` that is held in memory. The chart of the result is drawn from it too."""
    folder = tempfile.TemporaryDirectory(prefix="ctxsim-")
    place = os.path.join(folder.name, "corpus.ctxtrace")
    with open(place, "wb") as file:
        file.write(trace)
    result = replay_here(place, policies, **more)
    # The folder lives as long as the result, which draws its chart when it is shown.
    result._kept = folder
    return result


def figures(measured: "DataFrame", policies: Union[str, Sequence[str], None] = None, *, partitions: Optional[int] = None, **more: Any) -> "DataFrame":
    """Measured rows as one row per session and policy (:data:`SIMULATED`), simulated on the executors.

    Each message counts once over all rows, and summaries are sized by those of all rows: the driver holds the measured sessions for that
    (:func:`corpus`), and hands them out again.
    """
    spark = measured.sparkSession
    sessions = list(framed.through(["merge", "--sessions"], [({}, corpus(measured))]))
    context = sessions.pop()[0]
    named = [policies] if isinstance(policies, str) else list(policies or [])
    words = ["simulate", *options({"policy": named, **more})]

    def run(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import json

        import pyarrow

        def told() -> Iterator[framed.Row]:
            yield context, b""
            for batch in batches:
                for row in batch.to_pylist():
                    yield {"row": row["session"]}, row["trace"]

        schema = pyarrow.schema([(name, pyarrow.string()) for name in ("policy", "session", "figures", "error")])
        for header, _ in framed.through(words, told()):
            held = header.get("figures")
            line = json.dumps(held, ensure_ascii=False) if held else None
            yield _batch([{"policy": header.get("policy"), "session": header["row"], "figures": line, "error": header.get("error")}], schema)

    table = spark.createDataFrame([(header["session"], trace) for header, trace in sessions], "session string, trace binary")
    return (table.repartition(partitions) if partitions else table).mapInArrow(run, SIMULATED)


def _measured() -> "pyarrow.Schema":
    import pyarrow

    kinds = [("row", pyarrow.string()), *((name, pyarrow.int64()) for name in ("sessions", "messages", "calls"))]
    return pyarrow.schema([*kinds, ("error", pyarrow.string()), ("trace", pyarrow.binary())])


def _batch(found: List[Dict[str, Any]], schema: "pyarrow.Schema") -> "pyarrow.RecordBatch":
    import pyarrow

    return pyarrow.RecordBatch.from_pylist(found, schema)
