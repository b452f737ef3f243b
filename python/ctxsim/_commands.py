"""The commands as functions. Each runs the program over the logs and returns a :class:`Result`.

Every function takes further options of its command as keyword arguments, as ``ctxsim COMMAND --help`` lists them, with ``_`` for ``-``:
``reserve=8000``, ``tokenizer="cl100k_base"``, ``subject_to=["overflows = 0"]``.
"""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._logs import Logs, words_and_input
from ._program import options, run
from ._result import Result

Names = Union[str, Sequence[str], None]


def replay(
    logs: Logs = None,
    policies: Names = None,
    *,
    settings: Optional[Mapping[str, Any]] = None,
    window: Union[int, str, None] = None,
    since: Optional[str] = None,
    until: Optional[str] = None,
    calls: bool = False,
    **more: Any,
) -> Result:
    """Replays logs through policies: ``ctxsim replay``.

    Args:
        logs: paths, :class:`Records` or a table of messages; ``None``: the agents' own folders.
        policies: presets by name, or paths of policy files; ``None``: the main presets.
        settings: parameters of policies: ``{"prune_protect": 20_000}``, ``{"pi:reserveTokens": "16k"}``.
        window: tokens, in the place of what logs and catalogue say.
        since, until: sessions by the time of their last call: ``"30d"``, ``"2026-10-01"``.
        calls: keep every call (``Result.calls``).

    Returns:
        ``policies`` (one row per policy, before them what was ``recorded`` and your own agents), ``sessions`` (one row per session and policy),
        ``calls`` (one row per call, session and policy), ``tools``. ``cost`` is in dollars, ``..._tokens`` in tokens,
        ``..._share`` between 0 and 1; all rows but ``recorded`` are simulated.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("replay", logs, policies, settings, "survival", window=window, since=since, until=until, series=calls, **more)


def sweep(
    logs: Logs,
    policies: Names,
    vary: Mapping[str, Any],
    *,
    settings: Optional[Mapping[str, Any]] = None,
    minimise: Optional[str] = None,
    **more: Any,
) -> Result:
    """Replays logs under many settings: ``ctxsim sweep``.

    Args:
        logs: as in :func:`replay`.
        policies: presets or policy files whose parameters are varied.
        vary: values by parameter: ``{"prune_protect": "10k..80k:10k"}`` or ``{"prune_protect": [10_000, 20_000]}``.
        settings: parameters that are fixed.
        minimise: a measure (``maximise=...`` the other way); ``None``: the cost of what must be read again included.

    Returns:
        ``settings``: one row per setting, the best first: ``params`` (JSON), ``verdict``, ``objective``, and the figures of a replay.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    varied = [f"{name}={','.join(map(str, values)) if isinstance(values, (list, tuple)) else values}" for name, values in vary.items()]
    kind = {1: "sweep", 2: "sweep-map"}.get(len(varied))
    return _ask("sweep", logs, policies, settings, kind, drawn={"vary": varied}, vary=varied, minimise=minimise, **more)


def tune(logs: Logs, policy: str, *, settings: Optional[Mapping[str, Any]] = None, params: Names = None, **more: Any) -> Result:
    """Searches a policy's parameters, and tests the best setting on sessions that it was not chosen on: ``ctxsim tune``.

    Args:
        logs: as in :func:`replay`.
        policy: a preset or a policy file.
        settings: parameters that are fixed.
        params: what is sought: ``"prune_protect=10k..80k"``; ``None``: what the policy says can be.

    Returns:
        ``settings``: the rows ``default`` and ``best`` with ``training_...`` and ``held_out_...`` figures: sums over sessions, in tokens, dollars and
        numbers of events. ``document["verdict"]`` says whether to change, ``document["difference"]`` by how much, with its 90 % interval.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("tune", logs, policy, settings, None, params=params, **more)


def drift(logs: Logs = None, policies: Names = None, **more: Any) -> Result:
    """Holds estimates of tokens against recorded usage: ``ctxsim drift``.

    Args:
        logs: as in :func:`replay`.
        policies: presets or policy files whose estimators are looked at, and what their errors do to their compactions.

    Returns:
        ``estimators`` (one row per estimator and family of models: ``bias`` as a share, ``p50``, ``p95`` of recorded / estimated),
        ``agents``, ``along``, ``separation``, ``hidden`` (tokens that no log shows), ``costs``, ``predictions``, ``buffers``,
        ``consequences``. All figures are recorded or measured.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("drift", logs, policies, None, "errors", **more)


def cost(
    logs: Logs = None,
    policies: Names = None,
    *,
    settings: Optional[Mapping[str, Any]] = None,
    window: Union[int, str, None] = None,
    **more: Any,
) -> Result:
    """Prices logs under policies: ``ctxsim cost``.

    Args:
        logs: as in :func:`replay`.
        policies, settings: as in :func:`replay`.
        window: tokens, in the place of what logs and catalogue say.

    Returns:
        ``policies``: one row per policy, in dollars: ``cost``, and the bills ``uncached_cost``, ``modelled_cost``, ``calibrated_cost``,
        ``perfect_cost``; ``recorded`` is the list price of what was recorded. ``agents``: how far the model is from the recordings.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("cost", logs, policies, settings, "cost", window=window, **more)


def cache(logs: Logs = None, **more: Any) -> Result:
    """Every break of the recorded prompt cache: ``ctxsim cache``. All figures are recorded.

    Args:
        logs: as in :func:`replay`.

    Returns:
        ``breaks``: one row per break: ``call`` (from 1), ``cause``, ``gap_seconds``, ``tokens`` paid for again, ``cost`` in dollars;
        ``sessions``, ``gaps``.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("cache", logs, None, None, "breaks", **more)


def idle(logs: Logs = None, **more: Any) -> Result:
    """What pauses cost, and what pings or a compaction would have cost instead: ``ctxsim idle``.

    Args:
        logs: as in :func:`replay`.

    Returns:
        ``remedies``: one row per class of pauses and remedy, in dollars (``resumed_usd``, ``never_usd``), simulated; ``classes``,
        ``break_even``, ``sessions``.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("idle", logs, None, None, "pauses", **more)


def validate(
    before: Logs, after: Union[str, Sequence[str]], policies: Names = None, *, settings: Optional[Mapping[str, Any]] = None, **more: Any
) -> Result:
    """Holds what a policy was predicted to change against runs that were made under it: ``ctxsim validate``.

    Args:
        before: runs without the policy, as in :func:`replay`.
        after: paths of runs under it.
        policies: the policy; ``None``: nothing is predicted, the two are compared.

    Returns:
        ``measures``: one row per arm and measure: ``before``, ``predicted``, ``measured``, their intervals (``intervals_measured_low``,
        ...), ``verdict``.

    Raises:
        CtxsimError: an argument is wrong; :class:`NothingReadable`: none of the logs can be read.
        FileNotFoundError: there is no program.
    """
    return _ask("validate", before, policies, settings, None, with_=after, **more)


def _ask(
    command: str,
    logs: Logs,
    policies: Names,
    settings: Optional[Mapping[str, Any]],
    chart: Optional[str],
    drawn: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> Result:
    import json

    form, paths, stdin = words_and_input(logs)
    named: Dict[str, Any] = {"policy": [policies] if isinstance(policies, str) else list(policies or [])}
    named["set"] = [f"{name}={'on' if value is True else 'off' if value is False else value}" for name, value in (settings or {}).items()]
    asked: List[str] = [command, *form, *options({**named, **more}), "--json", *paths]
    document: Dict[str, Any] = json.loads(run(asked, stdin))

    def draw() -> bytes:
        # What a chart has no use for it refuses: the selection of sessions, windows and policies alone go along.
        shared = "window since until project model reserve prices gap agent_config tokenizer subagents".split()
        taken = {name: more[name] for name in shared if name in more and not (chart in ("breaks", "pauses") and name in ("window", "gap"))}
        return run(["chart", str(chart), *form, *options({**named, **taken, **(drawn or {})}), "-o", "-", *paths], stdin)

    return Result(command, document, draw=draw if chart else None)
