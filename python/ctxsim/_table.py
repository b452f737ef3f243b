"""Rows with names and types: what results are made of."""

import html
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional

from . import _keys
from ._keys import Row

if TYPE_CHECKING:
    import pandas
    import pyarrow

#: So many rows, columns and letters of a text are shown in a notebook; the whole table is in the object.
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_LETTERS = 20, 12, 60


class Table:
    """A list of rows, each a dictionary; columns in the order in which rows bring them.

    Attributes:
        name: what the table holds: ``policies``, ``sessions``, ``calls``, ...
        rows: the rows. A figure that does not apply is ``None``.
        columns: the names of all columns.
    """

    def __init__(self, name: str, rows: List[Row], columns: Optional[Mapping[str, str]] = None) -> None:
        self.name = name
        self.rows = rows
        self._kinds = dict(columns or {})
        found: Dict[str, None] = dict.fromkeys(self._kinds)
        for row in rows:
            found.update(dict.fromkeys(row))
        self.columns: List[str] = list(found)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    def __repr__(self) -> str:
        return f"<ctxsim table {self.name}: {len(self.rows)} rows, {len(self.columns)} columns>"

    def to_arrow(self) -> "pyarrow.Table":
        """The rows as an Arrow table: int64, double, string and bool columns.

        Raises:
            ImportError: there is no pyarrow; ``pip install ctxsim[arrow]`` brings it.
        """
        import pyarrow

        kinds = {"int": pyarrow.int64(), "float": pyarrow.float64(), "text": pyarrow.string(), "flag": pyarrow.bool_()}
        columns: Dict[str, Any] = {}
        for name in self.columns:
            values = [row.get(name) for row in self.rows]
            columns[name] = pyarrow.array(values, type=kinds[self._kinds.get(name) or _keys.kind_of(name, values)])
        return pyarrow.table(columns)

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a data frame. Whole numbers with gaps become floats, as pandas has it.

        Raises:
            ImportError: there is no pandas; ``pip install ctxsim[pandas]`` brings it.
        """
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def _repr_html_(self) -> str:
        full = [name for name in self.columns if any(row.get(name) not in (None, "{}", "") for row in self.rows)]
        first = [name for name in _keys.SHOWN.get(self.name, ()) if name in full]
        shown = first or full[:_SHOWN_COLUMNS]
        numeric = {name for name in shown if _keys.kind_of(name, (row.get(name) for row in self.rows)) in ("int", "float")}

        def cell(name: str, inner: str, tag: str = "td") -> str:
            side = "right" if name in numeric else "left"
            return f'<{tag} style="text-align:{side}">{inner}</{tag}>'

        head = "".join(cell(name, html.escape(name.replace("_", " ")), "th") for name in shown)
        body = "".join(
            "<tr>" + "".join(cell(name, html.escape(_written(row.get(name)))) for name in shown) + "</tr>"
            for row in self.rows[:_SHOWN_ROWS]
        )
        left = f"{len(self.rows):,} rows, {len(self.columns)} columns"
        if len(self.rows) > _SHOWN_ROWS or len(self.columns) > len(shown):
            left += f"; shown are {min(len(self.rows), _SHOWN_ROWS)} and {len(shown)}"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{left}</p>"


def _written(value: Any) -> str:
    """A value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    text = str(value)
    return text if len(text) <= _SHOWN_LETTERS else f"{text[: _SHOWN_LETTERS - 1]}…"
