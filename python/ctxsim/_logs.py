"""What is replayed: paths, or tables that are turned into records which the program reads."""

import datetime
import decimal
import glob
import json
import os
import pathlib
import uuid
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

#: Keys of the head and of the lines of the native shape (docs/native.md), and so columns of a table of messages.
_HEAD = ("session", "parent", "agent", "version", "model", "window", "host", "project", "begins_in_middle")
_MESSAGE = ("role", "id", "time", "text", "parts", "usage", "call_id", "unchained", "aborted", "synthetic", "rewind", "copy_of")
_LINES = ("compaction", "side_call", "mirrored_call")
#: Columns whose texts are JSON.
_NESTED = ("parts", "usage", *_LINES)


class Records:
    """Sessions as lines that the program reads: what every function takes in the place of paths.

    Attributes:
        lines: JSON lines, UTF-8.
        form: the reader that they are for, by its name in ``ctxsim formats``.
    """

    def __init__(self, lines: bytes, form: str) -> None:
        self.lines = lines
        self.form = form

    def __repr__(self) -> str:
        return f"<ctxsim records ({self.form}): {len(self.lines):,} bytes>"

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Writes them into a file, which every command of the program reads."""
        pathlib.Path(file).write_bytes(self.lines)


#: Logs as functions take them: a path or several (files, folders, globs, ``.ctxtrace``), :class:`Records`, or a table of messages: pyarrow,
#: pandas, polars, or a list of dictionaries. ``None``: the folders of the agents on this machine.
Logs = Any


def words_and_input(logs: Logs) -> Tuple[List[str], List[str], Optional[bytes]]:
    """Logs as options, as paths, and as what the program reads from standard input."""
    if logs is None:
        return [], [], None
    if isinstance(logs, (str, os.PathLike)):
        return [], ["--", os.fspath(logs)], None
    if isinstance(logs, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in logs):
        return [], ["--", *(os.fspath(each) for each in logs)], None
    records = logs if isinstance(logs, Records) else native(logs)
    return [f"--input-format={records.form}"], ["--", "-"], records.lines


def native(table: Any) -> Records:
    """A table of messages as records of the native shape.

    Args:
        table: one row per message in order of time, sessions after each other or mixed. Columns are the keys of ``docs/native.md``: ``session``,
            ``role`` and ``text`` or ``parts``; ``time``, ``id``, ``model``, ``agent``, ``window`` (tokens), ``usage`` (an object, or
            columns
            ``usage_prompt``, ``usage_output``, ``usage_cache_read``, ... in tokens), ``compaction``, ``side_call`` and the others.
            Objects may be
            texts of JSON. What a session's first row says of ``agent``, ``window`` and the like holds for the session.

    Raises:
        ValueError: a row has no ``session``, or a text is no JSON.

    Columns of other names are left out with a warning.
    """
    sessions: Dict[str, List[Dict[str, Any]]] = {}
    unknown: Dict[str, None] = {}
    for number, row in enumerate(_rows(table)):
        known = {key: value for key, value in row.items() if value is not None}
        if known.get("session") is None:
            raise ValueError(f"row {number} has no `session`")
        for key in _NESTED:
            if isinstance(known.get(key), str):
                try:
                    known[key] = json.loads(known[key])
                except ValueError as reason:
                    raise ValueError(f"row {number}: `{key}` is no JSON: {reason}") from None
        usage = {key[len("usage_") :]: known.pop(key) for key in list(known) if key.startswith("usage_")}
        if usage:
            known["usage"] = {**usage, **known.get("usage", {})}
        unknown.update(dict.fromkeys(key for key in row if not (key in _HEAD + _MESSAGE + _LINES or key.startswith("usage_"))))
        sessions.setdefault(str(known["session"]), []).append(known)
    if unknown:
        warnings.warn(f"columns that no session has are left out: {', '.join(unknown)}", stacklevel=3)
    return Records(_lines(line for name, rows in sessions.items() for line in _session(name, rows)), "native")


def _session(name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Dict[str, Any]]:
    first = rows[0]
    yield {"ctxsim": "native/1", **{key: first[key] for key in _HEAD if key in first}, "session": name}
    for row in rows:
        for key in _LINES:
            if key in row:
                yield {key: row[key]}
        if "role" in row:
            line = {key: row[key] for key in _MESSAGE if key in row}
            if row.get("model") != first.get("model") and row["role"] == "assistant" and "model" in row:
                line["model"] = row["model"]
            yield line


def read_langfuse(source: Any) -> Records:
    """An export of Langfuse as records: rows of ``observations_v2/`` (or the older ``observations/``), one row per observation.

    Args:
        source: Parquet or JSON lines files (a path, several, or a glob), or a table.

    Raises:
        ValueError: the rows are no observations.
        ImportError: a file is Parquet, and there is no pyarrow.

    The fields are those of Langfuse's published reference (read in November 2026). The JSON form is tried on public traces; no public
    file of the Parquet form was found, so what is unverified is how its writer types times and usage: maps, structs and texts of JSON are taken.
    """
    return Records(_lines(_observations(_from_files(source))), "langfuse")


def _observations(rows: Iterable[Dict[str, Any]]) -> Iterator[Dict[str, Any]]:
    for number, row in enumerate(rows):
        if not ({"trace_id", "traceId"} & set(row) and "type" in row):
            raise ValueError(f"row {number} is no observation of Langfuse: it has no `trace_id` or no `type`")
        for key in ("usage_details", "cost_details", "usageDetails", "costDetails", "metadata"):
            row[key] = _mapping(row.get(key))
        # What the program tells a batch by.
        yield {
            "type": None,
            "trace_id": row.get("traceId"),
            "start_time": row.get("startTime"),
            "parent_observation_id": None,
            **_known(row),
        }


def read_langsmith(source: Any) -> Records:
    """A bulk export of LangSmith as records: one row per run, of which those with the ``run_type`` ``llm`` are calls.

    Args:
        source: Parquet or JSON lines files (a path, several, or a glob), or a table.

    Raises:
        ValueError: the rows are no runs.
        ImportError: a file is Parquet, and there is no pyarrow.

    The fields are those of LangSmith's published run format (read in November 2026): ``id``, ``trace_id``, ``parent_run_id``, ``run_type``,
    ``start_time``, ``inputs``, ``outputs``, ``extra``, ``prompt_tokens``, ``completion_tokens``, ``total_tokens``, ``total_cost``.
    **Unverified on a real export**, for want of a public one: which parts of the prompt were cached (``prompt_token_details`` is taken, where it
    is there). The program's reader of Langfuse reads what comes out; ``agent`` says ``langsmith``.
    """
    return Records(_lines(_runs(_from_files(source))), "langfuse")


def _runs(rows: Iterable[Dict[str, Any]]) -> Iterator[Dict[str, Any]]:
    for number, row in enumerate(rows):
        if not {"run_type", "trace_id"} <= set(row):
            raise ValueError(f"row {number} is no run of LangSmith: it has no `run_type` or no `trace_id`")
        extra, inputs, outputs = (_mapping(row.get(key)) or {} for key in ("extra", "inputs", "outputs"))
        kept, asked = _mapping(extra.get("metadata")) or {}, _mapping(extra.get("invocation_params")) or {}
        usage = {"input": row.get("prompt_tokens"), "output": row.get("completion_tokens"), "total": row.get("total_tokens")}
        details = _mapping(row.get("prompt_token_details")) or {}
        usage |= {"cache_read_tokens": details.get("cache_read"), "cache_creation_tokens": details.get("cache_creation")}
        usage |= {"reasoning_tokens": (_mapping(row.get("completion_token_details")) or {}).get("reasoning")}
        called = row["run_type"] == "llm"
        yield {
            "id": row.get("id"),
            "ctxsimAgent": "langsmith",
            "trace_id": row["trace_id"],
            "parent_observation_id": row.get("parent_run_id") or "",
            "type": "GENERATION" if called else "SPAN",
            "start_time": row.get("start_time"),
            "model": kept.get("ls_model_name") or asked.get("model") or asked.get("model_name") or "",
            "input": _only(inputs.get("messages")) or inputs,
            "output": _reply(outputs),
            "tool_definitions": asked.get("tools"),
            "usage_details": _known(usage) if called else {},
            "total_cost": row.get("total_cost"),
        }


def _only(messages: Any) -> Any:
    """LangChain has a list of prompts, of which there is one."""
    return messages[0] if isinstance(messages, list) and messages and isinstance(messages[0], list) else messages


def _reply(outputs: Mapping[str, Any]) -> Any:
    """The reply within what a run of LangChain returned; else what was returned."""
    generations = _only(outputs.get("generations"))
    if isinstance(generations, list) and generations and isinstance(generations[0], dict):
        return generations[0].get("message") or generations[0].get("text")
    return outputs.get("messages") or outputs


def _mapping(value: Any) -> Any:
    """An object however it was exported: as a map of Arrow (a list of pairs), as a text of JSON, or as it is."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return dict(value)
    return value


def _known(row: Mapping[str, Any]) -> Dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _from_files(source: Any) -> Iterator[Dict[str, Any]]:
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        source = [name] if os.path.exists(name) else sorted(glob.glob(name, recursive=True))
        if not source:
            raise FileNotFoundError(f"there is no file {name}")
    if not (isinstance(source, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in source)):
        yield from _rows(source)
        return
    for file in map(pathlib.Path, source):
        if file.suffix == ".parquet":
            import pyarrow.parquet

            yield from _rows(pyarrow.parquet.read_table(file))
        else:
            with open(file, encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines if line.strip())


def _rows(table: Any) -> Iterator[Dict[str, Any]]:
    """The rows of a table of pyarrow (``to_pylist``), polars (``to_dicts``) or pandas, or of a list; what pandas has as NaN is nothing."""
    if hasattr(table, "to_pylist"):
        found = table.to_pylist()
    elif hasattr(table, "to_dicts"):
        found = table.to_dicts()
    elif hasattr(table, "to_dict") and hasattr(table, "columns"):
        found = table.to_dict("records")
    elif isinstance(table, (list, tuple)) and all(isinstance(row, Mapping) for row in table):
        found = table
    else:
        raise TypeError(f"neither paths nor a table: {type(table).__name__}")
    for row in found:
        yield {str(key): None if isinstance(value, float) and value != value else value for key, value in row.items()}


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(record, default=_plain, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for record in records)


def _plain(value: Any) -> Any:
    """What JSON has no word for: times, as RFC 3339 (without a zone: UTC), numbers of other libraries, texts of others."""
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)).isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
