"""Rows of files for ``ctxsim worker``, how they are framed (docs/worker.md), and what a task does with them, whichever engine moves the rows.

    python -c 'import ctxsim.rows; ctxsim.rows.write(["logs/"])' | ctxsim worker measure > measured.rows
"""

import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._commands import replay as replay_here
from ._program import CtxsimError, WorkerKilled, options, program
from ._result import Result

if TYPE_CHECKING:
    import pyarrow

#: A header (an object) and the bytes that go with it.
Row = Tuple[Dict[str, Any], bytes]
#: Names of policies, as in :func:`ctxsim.replay`.
Policies = Union[str, Sequence[str], None]

#: Columns of measured rows: ``error`` says why a row gave nothing, ``trace`` is what was measured, numbers and names without content.
MEASURED = ("row", "sessions", "messages", "calls", "error", "trace")
#: Columns of simulated rows, texts all of them.
SIMULATED = ("policy", "session", "figures", "error")

#: How many bytes of header and of content follow, both with the lowest byte first.
_LENGTHS = struct.Struct("<IQ")
#: A database's own files beside it, and trees in which several folders make one session.
_BESIDE = ("-wal", "-shm", "-journal")
_TREES = ("/storage/session", "/storage/message", "/storage/part", "/storage/project")
#: The file beside the folder of sessions in which Grok CLI keeps the usage of them all.
_OF_ALL = "/logs/unified.jsonl"
#: Options that concern logs alone, and come too late for what is measured.
_READING = ("tokenizer", "input_format", "max_line", "max_unpacked", "max_records")
_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def pack(header: Mapping[str, Any], content: bytes = b"") -> bytes:
    """One row as it stands in a stream."""
    head = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return _LENGTHS.pack(len(head), len(content)) + head + content


def unpack(stream: IO[bytes]) -> Iterator[Row]:
    """The rows of a stream.

    Raises:
        EOFError: the stream ends within a row.
    """
    while True:
        lengths = stream.read(_LENGTHS.size)
        if not lengths:
            return
        if len(lengths) < _LENGTHS.size:
            raise EOFError("the stream ends within a row")
        head, body = _LENGTHS.unpack(lengths)
        header, content = stream.read(head), stream.read(body)
        if len(header) < head or len(content) < body:
            raise EOFError("the stream ends within a row")
        yield json.loads(header), content


def of_files(row: Any, files: Iterable[Tuple[str, bytes]]) -> Row:
    """A row of files for ``measure``: all files of one session, each with its name (a path with ``/``) and its bytes."""
    kept = list(files)
    return {"row": row, "files": [{"name": name, "bytes": len(content)} for name, content in kept]}, b"".join(content for _, content in kept)


def group(names: Iterable[str]) -> Dict[str, List[str]]:
    """Which files make a row, by the row's name.

    A folder is a row, since many agents keep several files of a session beside each other. Where it holds nothing but JSON lines, each of which is
    a session by itself, each file is one; a database is a row with what its writer keeps beside it; OpenCode's ``storage/`` is one, and so is all of
    Grok CLI's, whose sessions have their usage in one file.
    """
    folders: Dict[str, List[str]] = {}
    everything = sorted(set(names))
    whole = [name[: -len(_OF_ALL)] for name in everything if name.endswith(_OF_ALL)]
    for name in everything:
        tree = min((name.find(part) for part in _TREES if part in name), default=-1)
        root = next((root for root in whole if name.startswith(root + "/")), None)
        folders.setdefault(root or (name[:tree] + "/storage" if tree >= 0 else os.path.dirname(name)), []).append(name)
    rows: Dict[str, List[str]] = {}
    for folder, files in folders.items():
        each = folder not in whole and all(name.endswith(_LINES) for name in files)
        for name in files:
            database = next((name[: -len(end)] for end in _BESIDE if name.endswith(end)), name)
            alone = each or any(database + end in files for end in ("", *_BESIDE) if database + end != name)
            rows.setdefault(database if alone else f"{folder}/", []).append(name)
    return rows


def write(paths: Sequence[str], out: Optional[IO[bytes]] = None) -> None:
    """Writes the rows of files and folders, by default on standard output."""
    stream = sys.stdout.buffer if out is None else out
    names: List[str] = []
    for path in paths:
        found = [os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files] if os.path.isdir(path) else [path]
        names.extend(found)
    for row, files in group(names).items():
        contents = []
        for name in files:
            with open(name, "rb") as file:
                contents.append((name, file.read()))
        stream.write(pack(*of_files(row, contents)))
    stream.flush()


def measure(table: Iterable[Mapping[str, Any]], **more: Any) -> Iterator[Dict[str, Any]]:
    """What a task that measures does with its rows, whichever the engine: rows of files in, measured rows out. It starts one worker.

    Args:
        table: ``row``, a text or whatever the engine knows it by, and ``files``, a list of ``name`` (a path with ``/``) and ``bytes``.
        more: options of ``ctxsim worker measure``.

    Returns:
        ``row``; ``sessions``, ``messages``, ``calls``: how many; ``error``: why the row gave nothing; ``trace``: the bytes of a ``.ctxtrace``.

    Raises:
        CtxsimError: an option is wrong, or the worker was killed (:class:`ctxsim.WorkerKilled`).
    """
    told = (of_files(each["row"], [(file["name"], file["bytes"]) for file in each["files"]]) for each in table)
    for header, trace in through(["measure", *options(more)], told):
        yield {**{name: header.get(name) for name in MEASURED[:-1]}, "trace": trace or None}


def merge(traces: Iterable[Optional[bytes]]) -> bytes:
    """Measured rows as one ``.ctxtrace``, the same bytes in whatever order they come. Rows without a trace are passed over.

    Raises:
        CtxsimError: one of them is no trace of this version.
    """
    merged = []
    for header, trace in through(["merge"], (({}, each) for each in traces if each)):
        if "error" in header:
            raise CtxsimError(str(header["error"]), 2)
        merged.append(trace)
    return b"".join(merged)


def sessions(trace: bytes) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
    """A merged ``.ctxtrace`` as what :func:`simulate` has to know of all sessions, and one row (``session``, ``trace``) per session."""
    told = list(through(["merge", "--sessions"], [({}, trace)]))
    context = told.pop()[0]
    return context, [{"session": header["session"], "trace": part} for header, part in told]


def simulate(context: Dict[str, Any], table: Iterable[Mapping[str, Any]], policies: Policies = None, **more: Any) -> Iterator[Dict[str, Any]]:
    """What a task that simulates does with its rows: rows of :func:`sessions` in, one row per session and policy out.

    Args:
        context: what :func:`sessions` gave beside the rows.
        table: ``session``, ``trace``.
        policies: as in :func:`ctxsim.replay`.
        more: options of ``ctxsim worker simulate``.

    Returns:
        ``policy``, ``session``, ``error``, and ``figures``: JSON, as an entry of ``policies[].sessions[]`` of ``ctxsim replay --json``;
        sizes in tokens, money in dollars.
    """
    named = [policies] if isinstance(policies, str) else list(policies or [])
    first: List[Row] = [(context, b"")]
    told = chain(first, (({"row": each["session"]}, each["trace"]) for each in table))
    for header, _ in through(["simulate", *options({"policy": named, **more})], told):
        held = header.get("figures")
        figures = json.dumps(held, ensure_ascii=False) if held else None
        yield {"policy": header.get("policy"), "session": header["row"], "figures": figures, "error": header.get("error")}


def schema(columns: Iterable[str]) -> "pyarrow.Schema":
    """The types of some of the columns of :data:`MEASURED` and :data:`SIMULATED`, for engines that hand batches of Arrow to their tasks."""
    import pyarrow

    others = {"trace": pyarrow.binary(), **{name: pyarrow.int64() for name in ("sessions", "messages", "calls")}}
    return pyarrow.schema([(name, others.get(name, pyarrow.string())) for name in columns])


def heard(lost: List[Dict[str, str]], failed: Optional[List[Dict[str, str]]]) -> None:
    """Hands over rows that gave nothing (``row``, ``error``), or raises where no one takes them."""
    if lost and failed is None:
        raise CtxsimError(f"{len(lost)} rows gave nothing; the first, {lost[0]['row']}: {lost[0]['error']}", 2)
    if failed is not None:
        failed.extend(lost)


def when_measured(more: Mapping[str, Any]) -> Dict[str, Any]:
    """Those of the arguments of ``replay`` that are heard where logs are measured."""
    return {name: more[name] for name in ("model", *_READING) if name in more}


def replay(trace: bytes, policies: Policies = None, **more: Any) -> Result:
    """``ctxsim.replay`` of a ``.ctxtrace`` that is held in memory. The chart of the result is drawn from it too."""
    folder = tempfile.TemporaryDirectory(prefix="ctxsim-")
    place = os.path.join(folder.name, "corpus.ctxtrace")
    with open(place, "wb") as file:
        file.write(trace)
    # The others were heard when the rows were measured.
    result = replay_here(place, policies, **{name: value for name, value in more.items() if name not in _READING})
    # The folder lives as long as the result, which draws its chart when it is shown.
    result._kept = folder
    return result


def through(words: Sequence[str], rows: Iterable[Row]) -> Iterator[Row]:
    """Sends rows through a worker, ``["measure"]`` and its options, and gives back those that it prints, while it works.

    Raises:
        CtxsimError: the worker ends with an error. One row that cannot be used is no error: it comes back with ``error``.
        WorkerKilled: a signal ended the worker, and the same rows may be sent again.
    """
    worker = subprocess.Popen([program(), "worker", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert worker.stdin is not None and worker.stdout is not None and worker.stderr is not None
    failed: List[BaseException] = []
    said = io.BytesIO()
    sender = threading.Thread(target=_feed, args=(worker.stdin, rows, failed), daemon=True)
    listener = threading.Thread(target=_drain, args=(worker.stderr, said.write), daemon=True)
    sender.start()
    listener.start()
    try:
        cut = False
        try:
            yield from unpack(worker.stdout)
        except EOFError:
            # The worker ended within a row, and its code says why.
            cut = True
        sender.join()
        code = worker.wait()
        listener.join()
        if failed:
            raise failed[0]
        if code != 0 or cut:
            told = said.getvalue().decode("utf-8", "replace").strip() or f"the worker ended with {code}"
            raise (WorkerKilled if code < 0 else CtxsimError)(told, code)
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()


def _feed(stream: IO[bytes], rows: Iterable[Row], failed: List[BaseException]) -> None:
    try:
        for header, content in rows:
            stream.write(pack(header, content))
        stream.close()
    except BrokenPipeError:
        # The worker has ended, and says itself why.
        pass
    except BaseException as reason:  # noqa: BLE001: told where the rows are read.
        failed.append(reason)
        stream.close()


def _drain(stream: IO[bytes], take: Callable[[bytes], Any]) -> None:
    for part in iter(lambda: stream.read(4096), b""):
        take(part)
