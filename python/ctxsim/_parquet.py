"""Results as files of columns."""

import json
import pathlib
from typing import Any, Dict

from . import _keys
from ._result import Result
from ._table import Table

#: Under this key each file keeps what stands beside the tables, as JSON.
_HEADER = b"ctxsim"


def write(result: Result, folder: Any) -> None:
    """See :meth:`Result.to_parquet`."""
    import pyarrow.parquet

    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    there = sorted(file.name for file in place.glob("*.parquet"))
    if there:
        raise FileExistsError(f"{place} holds {', '.join(there)} already")
    header = {"command": result.command, "header": _keys.header(result.document)}
    for name, table in result.tables.items():
        if table.rows:
            columns = table.to_arrow().replace_schema_metadata({_HEADER: json.dumps(header)})
            pyarrow.parquet.write_table(columns, place / f"{name}.parquet")


def read_parquet(folder: Any) -> Result:
    """The result that :meth:`Result.to_parquet` wrote into a folder: tables, notes and corpus, without the rest of the document and its
    chart.

    Raises:
        ImportError: there is no pyarrow.
        FileNotFoundError: the folder holds no Parquet file.
        ValueError: a file was not written by ctxsim.
    """
    import pyarrow.parquet

    files = sorted(pathlib.Path(folder).glob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no Parquet file")
    found: Dict[str, Table] = {}
    said: Dict[str, Any] = {}
    for file in files:
        columns = pyarrow.parquet.read_table(file)
        kept = (columns.schema.metadata or {}).get(_HEADER)
        if kept is None:
            raise ValueError(f"{file} was not written by ctxsim")
        said = json.loads(kept)
        found[file.stem] = Table(file.stem, columns.to_pylist(), _keys.kinds_of(columns.schema))
    order = list(_keys.TABLES[said["command"]])
    tables = {name: found[name] for name in sorted(found, key=order.index)}
    return Result(said["command"], said["header"], tables)
