# SPDX-License-Identifier: GPL-2.0-or-later
"""The other names of a replay: of its verification, its package, its mechanism and its patch.

They are refused, with the name that is used, and so is a trace that cannot feed it. Stored results
depend on `traces.replays`, and not on this.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from swapsim.errors import InputError, nearest, suggestion
from swapsim.io import shipped_traces
from swapsim.traces.folder import event_names, locate
from swapsim.traces.replays import ALL_REPLAYS, SUMS_TABLES, lacking_events, require_trace

_NAMES: Final = (
    {"mapping", "writeback-tags", "tags", "a"},
    {"removal", "batched-removal", "b"},
    {"stall", "stall-decisions", "stalls", "c"},
    {"slots", "cluster-next", "scan-base", "d"},
    {"clusters", "cluster"},
    {"mglru", "generations"},
)

_RECORDED: Final = ("mapping", "removal", "clusters", "mglru")
"""Replays that a script of `swapsim probes` feeds; others need the lab kernel."""

_NAMED: Final = 3  # traces that an error names


def also_called(name: str) -> set[str]:
    """Return all names of the subject that has this one."""
    word = name.lower().replace("_", "-")
    return next((names for names in _NAMES if word in names), {word})


def no_such_replay(name: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown replay: the known name of its subject, or all names."""
    others = tuple(known)
    same = [each for each in others if each in also_called(name)]
    hint = (
        f"its name here is {same[0]}"
        if same
        else f"{suggestion(name, others)}there are: {', '.join(others)}"
    )
    return InputError(f"no such replay: {name!r}; {hint}")


def require_feeds(trace: Path, name: str, *, verifies: bool = False) -> None:
    """Require that a trace can feed a replay or verification; say how to get one that can.

    The error says how to record again, or instead of a shipped trace which others there are.
    A folder that is no trace is refused, too; other paths are left to the replay.
    """
    try:
        present = event_names(trace)
    except InputError:
        return
    if trace.is_dir():
        require_trace(trace)
    if present and (missing := _lacking(name, present, verifies=verifies)):
        feeds = [each for each in ALL_REPLAYS if not lacking_events(each, present)]
        named = ", ".join(each + _near(each, present) for each in missing)
        raise InputError(
            f"{name} needs {named}, and this trace feeds "
            f"{', '.join(feeds) or 'no replay'}: {_remedy(trace, name, verifies=verifies)}",
            path=trace,
        )


def _remedy(trace: Path, name: str, *, verifies: bool) -> str:
    """Return what to do about a trace that cannot feed a replay or verification."""
    shipped = shipped_traces()
    fit = [
        each
        for each, at in shipped.items()
        if not _lacking(name, event_names(at), verifies=verifies)
    ]
    others = f"{', '.join(fit[:_NAMED])}; 'swapsim info' lists all"
    scripts: list[str] = [each for each in _RECORDED if each in also_called(name)]
    if verifies and name == "stall":
        scripts = ["stall"]
    if not scripts or locate(trace).resolve() in {each.resolve() for each in shipped.values()}:
        return f"take another, as {others}"
    return (
        f"record again with 'swapsim probes --for {scripts[0]}', or rename a probe of your own "
        f"so and import again; shipped are {others}"
    )


def _near(missing: str, present: Iterable[str]) -> str:
    """Return in parentheses the table whose name is like that of a missing one, or ""."""
    near = nearest(missing, present)
    return f" (the trace has {near[0]}: was it misspelt?)" if near else ""


def _lacking(name: str, present: Iterable[str], *, verifies: bool) -> tuple[str, ...]:
    """Return the tables that are missing for a replay or verification."""
    (replay,) = also_called(name) & {*ALL_REPLAYS}
    if verifies and name == "stall" and {*SUMS_TABLES} <= {*present}:
        return ()
    return lacking_events(replay, present)
