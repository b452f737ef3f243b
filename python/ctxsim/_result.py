"""What a function returns."""

import base64
import html
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

from . import _keys
from ._table import Table

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Result:
    """The answer of one command: its document, and the tables in it.

    Attributes:
        command: ``replay``, ``sweep``, ...
        document: the program's JSON as it stands, every figure exact; ``docs/json.md`` describes it. After :func:`ctxsim.read_parquet`
            only what stands beside the tables.
        tables: all tables by name, the main one first. Sizes are tokens, money is dollars, shares lie between 0 and 1.
    """

    def __init__(
        self,
        command: str,
        document: Mapping[str, Any],
        tables: Optional[Dict[str, Table]] = None,
        draw: Optional[Callable[[], bytes]] = None,
    ) -> None:
        self.command = command
        self.document = document
        if tables is None:
            found = {name: _keys.rows(document, command, name) for name in _keys.TABLES[command]}
            tables = {name: Table(name, rows, _keys.COLUMNS.get(f"{command}.{name}")) for name, rows in found.items()}
        self.tables: Dict[str, Table] = tables
        self._draw = draw
        self._drawn: Optional[bytes] = None
        #: What has to live as long as the result does.
        self._kept: Any = None

    @property
    def table(self) -> Table:
        """The main table: one row per policy of ``replay`` and ``cost``, a setting of ``sweep`` and ``tune``, an estimator and family of
        ``drift``,
        a break of ``cache``, a class of pauses and remedy of ``idle``, an arm and measure of ``validate``."""
        return next(iter(self.tables.values()))

    @property
    def sessions(self) -> Table:
        """One row per session and policy.

        Raises:
            LookupError: the command has no rows of sessions.
        """
        return self._named("sessions")

    @property
    def calls(self) -> Table:
        """One row per call, session and policy: ``call`` counts from 0. Of ``replay(..., calls=True)``.

        Raises:
            LookupError: the command has no rows of calls.
        """
        return self._named("calls")

    @property
    def notes(self) -> List[str]:
        """What the report says about how its figures were made; no figure should travel without them."""
        return list(self.document.get("notes", []))

    def to_arrow(self, table: Optional[str] = None) -> "pyarrow.Table":
        """A table (the main one where none is named) as Arrow.

        Raises:
            ImportError: there is no pyarrow.
            LookupError: there is no such table.
        """
        return (self._named(table) if table else self.table).to_arrow()

    def to_pandas(self, table: Optional[str] = None) -> "pandas.DataFrame":
        """A table (the main one where none is named) as a data frame.

        Raises:
            ImportError: there is no pandas.
            LookupError: there is no such table.
        """
        return (self._named(table) if table else self.table).to_pandas()

    def to_parquet(self, folder: Any) -> None:
        """Writes each table that has rows as ``TABLE.parquet`` into a folder, which is made; :func:`ctxsim.read_parquet` reads it again.

        Raises:
            ImportError: there is no pyarrow.
            FileExistsError: the folder holds Parquet files already.
        """
        from ._parquet import write

        write(self, folder)

    def chart(self) -> bytes:
        """The program's chart of this answer, as SVG; empty where there is none. It reads the logs again, the first time.

        Raises:
            CtxsimError: the chart cannot be drawn.
        """
        if self._drawn is None:
            self._drawn = self._draw() if self._draw else b""
        return self._drawn

    def _named(self, name: str) -> Table:
        if name not in self.tables or (name == "calls" and not self.tables[name].rows):
            there = ", ".join(f"`{each}`" for each in self.tables if each != "calls" or self.tables[each].rows)
            hint = "; `replay(..., calls=True)` has one" if name == "calls" else ""
            raise LookupError(f"this answer of `{self.command}` has no table `{name}`; it has {there}{hint}")
        return self.tables[name]

    def __repr__(self) -> str:
        return f"<ctxsim {self.command}: {', '.join(f'{len(table)} {name}' for name, table in self.tables.items() if table.rows)}>"

    def _repr_html_(self) -> str:
        from ._program import CtxsimError

        shown = self.table._repr_html_()
        try:
            picture = self.chart()
        except (CtxsimError, OSError) as reason:
            shown += f"<p>No chart: {html.escape(str(reason))}</p>"
        else:
            if picture:
                shown += f'<img alt="chart" style="max-width:100%" src="data:image/svg+xml;base64,{base64.b64encode(picture).decode()}">'
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return f"{shown}<details><summary>{len(self.notes)} notes</summary><ul>{notes}</ul></details>"
