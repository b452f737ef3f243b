"""Ray moves the rows; ``ctxsim worker`` measures, merges and simulates them (docs/scale.md).

    import ctxsim.ray, ray
    logs = ray.data.read_binary_files("s3://bucket/logs", include_paths=True)
    result = ctxsim.ray.replay(ctxsim.ray.rows(logs), ["none", "pi"])

The program has to stand on every machine: the wheel installed there, or ``CTXSIM_PROGRAM`` in the environment of Ray's workers.
What a killed process was to do is done again, be it Ray's or the program's.
"""

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Union

from . import rows as tasks
from ._program import WorkerKilled
from ._result import Result

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset

#: A dataset, or its rows as a list of dictionaries.
Rows = Union["Dataset", List[Dict[str, Any]]]

#: A row that ends the program at each try must end the job at last.
_TRIES = 4


def rows(files: Rows, prefix: str = "") -> "Dataset":
    """Rows of files (``row``, ``files``) out of a dataset of ``read_binary_files(..., include_paths=True)`` (``path``, ``bytes``): all files of
    one session in one row.

    Args:
        files: one row per file.
        prefix: what is taken off each path, to the left of what a report shall name.

    :func:`ctxsim.rows.group` says which files make a row; the names alone come to the driver for it, not the contents.
    """
    found = _dataset(files)
    names = [row["path"] for row in found.select_columns(["path"]).take_all()]
    of = {name: row for row, group in tasks.group(names).items() for name in group}

    def named(batch: "pyarrow.Table") -> "pyarrow.Table":
        import pyarrow

        return batch.append_column("row", pyarrow.array([of[name] for name in batch["path"].to_pylist()], pyarrow.string()))

    def gathered(group: "pyarrow.Table") -> "pyarrow.Table":
        files = sorted(group.to_pylist(), key=lambda file: str(file["path"]))
        held = [{"name": file["path"][len(prefix) if file["path"].startswith(prefix) else 0 :], "bytes": file["bytes"]} for file in files]
        return _table([{"row": files[0]["row"], "files": held}], None)

    return found.map_batches(named, batch_format="pyarrow").groupby("row").map_groups(gathered, batch_format="pyarrow")


def measure(table: Rows, **more: Any) -> "Dataset":
    """Rows of files (``row``, ``files``: a list of ``name``, ``bytes``) as measured rows (:data:`ctxsim.rows.MEASURED`). A block runs one worker.

    A hostile, damaged or too large row costs itself: it has ``error`` and no ``trace``. Repeated tasks give the same bytes.

    Args:
        table: rows of files.
        more: options of ``ctxsim worker measure``, as in :func:`ctxsim.replay`.
    """
    return _mapped(_dataset(table), lambda found: tasks.measure(found, **more), tasks.MEASURED)


def merge(measured: Rows) -> "Dataset":
    """Measured rows of each block as one (``trace``), so that little travels."""
    return _mapped(_dataset(measured), lambda found: [{"trace": tasks.merge(row["trace"] for row in found)}], ["trace"])


def corpus(measured: Rows) -> bytes:
    """All measured rows as one ``.ctxtrace``, which every command of the program reads; it is held on the driver."""
    return tasks.merge(row["trace"] for row in merge(measured).iter_rows())


def replay(table: Rows, policies: tasks.Policies = None, *, failed: Optional[List[Dict[str, str]]] = None, **more: Any) -> Result:
    """``ctxsim.replay`` over rows of files: measured by Ray's workers, counted once and reported on the driver, with the figures of one machine.

    Args:
        table: rows of files, as :func:`rows` makes them.
        policies: as in :func:`ctxsim.replay`, and so are further arguments.
        failed: a list that takes ``row`` and ``error`` of rows that gave nothing; without it they raise.

    Raises:
        CtxsimError: a row gave nothing, and ``failed`` was not given; or an argument is wrong.
    """
    measured = measure(table, **tasks.when_measured(more)).materialize()
    said = measured.select_columns(["row", "error"]).iter_rows()
    tasks.heard([dict(row) for row in said if row["error"] is not None], failed)
    return tasks.replay(corpus(measured), policies, **more)


def figures(measured: Rows, policies: tasks.Policies = None, *, partitions: Optional[int] = None, **more: Any) -> "Dataset":
    """Measured rows as one row per session and policy (:data:`ctxsim.rows.SIMULATED`), simulated by Ray's workers.

    Each message counts once over all rows, and summaries are sized by those of all rows: the driver holds the measured sessions for that
    (:func:`corpus`), and hands them out again.

    Args:
        measured: rows of :func:`measure`.
        policies: as in :func:`ctxsim.replay`.
        partitions: into how many blocks the sessions are handed out; ``None``: as Ray has it.
        more: options of ``ctxsim worker simulate``.
    """
    import ray.data

    context, sessions = tasks.sessions(corpus(measured))
    table = ray.data.from_items(sessions, override_num_blocks=partitions)
    return _mapped(table, lambda found: tasks.simulate(context, found, policies, **more), tasks.SIMULATED)


def _dataset(found: Rows) -> "Dataset":
    import ray.data

    return ray.data.from_items(found) if isinstance(found, list) else found


def _mapped(found: "Dataset", work: Callable[[List[Dict[str, Any]]], Iterable[Dict[str, Any]]], columns: Iterable[str]) -> "Dataset":
    """Does something with the rows of each block. An empty block has nothing to say."""
    names = tuple(columns)

    def run(batch: "pyarrow.Table") -> "pyarrow.Table":
        for left in reversed(range(_TRIES)):
            try:
                return _table(list(work(batch.to_pylist())), names)
            except WorkerKilled:
                # Ray repeats a task whose own process ended, and takes this for an error like others.
                if not left:
                    raise
        raise AssertionError

    return found.map_batches(run, batch_format="pyarrow", batch_size=None)


def _table(found: List[Dict[str, Any]], columns: Optional[Iterable[str]]) -> "pyarrow.Table":
    import pyarrow

    return pyarrow.Table.from_pylist(found, tasks.schema(columns) if columns else None)
