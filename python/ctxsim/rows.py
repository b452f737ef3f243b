"""Rows of files for ``ctxsim worker``, and how they are framed (docs/worker.md). What engines that move rows between machines need.

    python -c 'import ctxsim.rows; ctxsim.rows.write(["logs/"])' | ctxsim worker measure > measured.rows
"""

import io
import json
import os
import struct
import subprocess
import sys
import threading
from typing import IO, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ._program import CtxsimError, program

#: A header (an object) and the bytes that go with it.
Row = Tuple[Dict[str, Any], bytes]

#: How many bytes of header and of content follow, both with the lowest byte first.
_LENGTHS = struct.Struct("<IQ")
#: A database's own files beside it, and trees in which several folders make one session.
_BESIDE = ("-wal", "-shm", "-journal")
_TREES = ("/storage/session", "/storage/message", "/storage/part", "/storage/project")
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
    a session by itself, each file is one; a database is a row with what its writer keeps beside it; OpenCode's ``storage/`` is one.
    """
    folders: Dict[str, List[str]] = {}
    for name in sorted(set(names)):
        tree = min((name.find(part) for part in _TREES if part in name), default=-1)
        folders.setdefault(name[:tree] + "/storage" if tree >= 0 else os.path.dirname(name), []).append(name)
    rows: Dict[str, List[str]] = {}
    for folder, files in folders.items():
        each = all(name.endswith(_LINES) for name in files)
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


def through(words: Sequence[str], rows: Iterable[Row]) -> Iterator[Row]:
    """Sends rows through a worker, ``["measure"]`` and its options, and gives back those that it prints, while it works.

    Raises:
        CtxsimError: the worker ends with an error. One row that cannot be used is no error: it comes back with ``error``.
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
        yield from unpack(worker.stdout)
        sender.join()
        code = worker.wait()
        listener.join()
        if failed:
            raise failed[0]
        if code != 0:
            raise CtxsimError(said.getvalue().decode("utf-8", "replace").strip() or f"the worker ended with {code}", code)
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
