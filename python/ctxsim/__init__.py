"""ctxsim from Python: replay recorded sessions of coding agents through context-management policies.

    import ctxsim
    result = ctxsim.replay("logs/", ["none", "opencode"])
    result                      # in a notebook: a table and a chart
    result.sessions.to_pandas() # one row per session and policy
    result.to_parquet("figures/")

The functions start the program ``ctxsim`` that this package carries, and so give its figures; they bind nothing and keep nothing.
Sizes are tokens, money is dollars, shares lie between 0 and 1. ``docs/python.md`` lists tables and columns.
"""

from ._commands import cache, cost, drift, idle, replay, sweep, tune, validate
from ._logs import Records, native, read_langfuse, read_langsmith
from ._parquet import read_parquet
from ._program import CtxsimError, NothingReadable, WorkerKilled, program
from ._result import Result
from ._table import Table

__all__ = [
    "CtxsimError",
    "NothingReadable",
    "Records",
    "Result",
    "Table",
    "WorkerKilled",
    "cache",
    "cost",
    "drift",
    "idle",
    "native",
    "program",
    "read_langfuse",
    "read_langsmith",
    "read_parquet",
    "replay",
    "sweep",
    "tune",
    "validate",
]
