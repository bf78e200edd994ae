# SPDX-License-Identifier: GPL-2.0-or-later
"""The slots of a real kernel compared with those of the model, call by call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError, check_choice, errors_of
from swapsim.ffi import CPUS_MAX, SLOT_REPLAY_KERNELS, SLOT_REPLAY_POLICIES, SLOTS_MAX
from swapsim.io import decode
from swapsim.progress import bar
from swapsim.slots._native import Mismatch, replay_slots
from swapsim.slots.config import Device
from swapsim.slots.events import FILE, check_slot_events, set_up
from swapsim.traces import locate, require_events, table_bytes
from swapsim.traces.folder import Trace
from swapsim.traces.verification import Verdict, mismatch, refuse

OPEN_CALLS_MAX: Final = 1 << 16
"""Calls that may be open at once: a task has at most one, and waits for no disk within it."""

_FAULTS: Final = {
    "base before": "its base before differs",
    "limits": "its lowest or highest differs",
    "reuse": "slot {reuse} was tried for reuse where no scan stops",
    "slots": "its slots differ",
    "base after": "the base that it stores differs",
}

_SHOWN: Final = 8  # slots of a call that a mismatch shows, from where they differ on


def _describe(found: Mismatch) -> str:
    """Describe where a call first differs, with both slot lists and the state, as lines."""
    pairs = enumerate(zip_longest(found["ours"], found["theirs"]))
    apart = next((at for at, (ours, theirs) in pairs if ours != theirs), 0)

    def both(name: str) -> str:
        ours, theirs = found[name], found[f"{name}_row"]
        return f"{name} {ours}" + ("" if ours == theirs else f" (trace: {theirs})")

    def stored(slots: Sequence[int], base: int) -> str:
        at = max(0, min(apart, len(slots) - _SHOWN))
        shown = " ".join(map(str, slots[at : at + _SHOWN]))
        part = f" (of {len(slots)}, from number {at + 1} on)" if len(slots) > _SHOWN else ""
        return f"{shown or 'no slot'}{part}; stores {base}"

    state = "{}, ration {ration}, {}, {}, free clusters {free_clusters}"
    return mismatch(
        "the call with seq {seq} of task {pid} on CPU {cpu}".format(**found),
        _FAULTS[found["fault"]].format(**found),
        {
            "ours": stored(found["ours"], found["next"]),
            "trace": stored(found["theirs"], found["next_row"]),
            "state": state.format(*map(both, ("base", "lowest", "highest")), **found),
        },
    )


def verify(
    trace: pl.DataFrame | Trace | Path | str,
    *,
    policy: str | None = None,
    cluster_size: int | None = None,
    trunk_shift: int | None = None,
    kernel: str = "6.1",
    progress: bool = False,
) -> Verdict:
    """Replay a real kernel's slot events through the allocator and judge each call.

    Parameters
    ----------
    trace : Trace, Path, str or polars.DataFrame
        A trace, the Parquet file of its slot events, or these (SLOT_EVENTS). The size of the device
        and the number of CPUs are those of the rows.
    policy : {"shared", "percpu", "percpu-rerandomise"}, optional
        Where that kernel's scans began; default: what the trace's trace.toml says.
    cluster_size : {256, 512}, optional
        Slots of a cluster: 512 in a kernel that swaps huge pages; default: as for ``policy``.
    trunk_shift : int, optional
        Log2 of the slots of a trunk, 1 to 31 (SWAP_ADDRESS_SPACE_SHIFT); default: as for ``policy``
        in a trace, else 14.
    kernel : {"5.8", "6.1"}

    Returns
    -------
    Verdict
        Counts of ``calls`` that ended and of their ``slots``; the table ``calls`` (SLOT_CALLS); the
        figures ``open``, calls that had not ended when the trace did and are not judged, and
        ``exact`` and ``raced`` slots.

    Raises
    ------
    InputError
        The events are missing, damaged or contradict each other, or nothing says how their kernel
        was set up.

    Source
    ------
    mm/swapfile.c: get_swap_pages, scan_swap_map_slots (5.8 to 6.1).

    Examples
    --------
    >>> from swapsim import slots
    >>> slots.verify("slots-4-shared").agrees
    True
    """
    check_choice("kernel", kernel, SLOT_REPLAY_KERNELS)
    given = {"policy": policy, "cluster_size": cluster_size, "trunk_shift": trunk_shift}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(trace, pl.DataFrame):
        return _judged(trace, _device(kernel, given, None), progress=progress)
    path, known = Path(trace), None
    if not path.is_file():
        folder = locate(path)
        path = folder / FILE
        if not path.exists():
            require_events(folder, "slots")
        known = None if len(given) == len(_SET_UP) else set_up(folder)
    device = _device(kernel, given, known)
    with errors_of(path):
        verdict = _judged(decode(table_bytes(path), path), device, progress=progress)
    if verdict.agrees:
        return verdict
    return replace(
        verdict, first="\n".join([verdict.first or "", *_other_set_up(path.parent, device)])
    )


_SET_UP: Final = ("policy", "cluster_size", "trunk_shift")


def _device(kernel: str, given: Mapping[str, Any], known: Device | None) -> Device:
    """Return the device that is replayed: as it is given, else as the trace says."""
    if known is not None:
        given = {**{name: getattr(known, name) for name in _SET_UP}, **given}
    for name in _SET_UP[:2]:
        if name not in given:
            raise InputError(
                "rows without a trace.toml do not say how their kernel was set up: "
                f"give {name}=...",
                field=name,
            )
    check_choice("policy", given["policy"], SLOT_REPLAY_POLICIES)
    return Device(kernel=kernel, **given)


def _other_set_up(folder: Path, device: Device) -> list[str]:
    """Return a line if a trace's kernel was set up otherwise than its events were replayed."""
    try:
        known = set_up(folder)
    except InputError:
        return []
    there, here = ([f"{name} {getattr(of, name)}" for name in _SET_UP] for of in (known, device))
    others = [pair for pair in zip(there, here, strict=True) if pair[0] != pair[1]]
    return [f"  recorded with {theirs}, replayed with {ours}" for theirs, ours in others]


def _judged(rows: pl.DataFrame, device: Device, *, progress: bool) -> Verdict:
    check_slot_events(rows)
    _require_possible(rows)
    size = {"slots": rows["highest"][0] + 1, "possible_cpus": int(rows["cpu"].max()) + 1}  # type: ignore[arg-type]
    with bar(rows.height, "verify", "rows", shown=progress) as counted:
        calls, open_calls, found = replay_slots(
            rows, replace(device, **size), cpus=rows["cpu"].n_unique(), tick=counted.update
        )
    slots, exact, raced = (int(calls[name].sum()) for name in ("slots", "exact", "raced"))
    alike = calls.filter(fault="none").height
    return Verdict(
        agrees=found is None,
        counts={"calls": (alike, calls.height), "slots": (exact + raced, slots)},
        result="matched {slots} slots ({exact} exact, {raced} raced)",
        figures={"open": open_calls, "exact": exact, "raced": raced},
        notes=("{calls} calls matched; {open} open at the end",),
        first=None if found is None else _describe(found),
        tables={"calls": calls},
    )


def _require_possible(rows: pl.DataFrame) -> None:
    """Require that calls end (each open one takes some kilobytes), a device, and modelled CPUs."""
    ends = pl.col("op").is_in(["done", "fail"])
    begun = rows.select("seq", open=((pl.col("op") == "call").cast(int) - ends.cast(int)).cum_sum())
    refuse(
        begun.filter(pl.col("open") > OPEN_CALLS_MAX),
        f"the row with seq {{seq}} opens a call while {OPEN_CALLS_MAX} are open, and no kernel has "
        "so many at once",
    )
    first = rows.head(1)
    refuse(
        first.filter(pl.col("op") != "call"),
        "the row with seq {seq} is the first and no call",
        "a trace begins with the first call on an empty device",
    )
    refuse(
        first.filter(~pl.col("highest").is_between(1, SLOTS_MAX - 1)),
        "the row with seq {seq} is the first and has highest {highest}, and no device is of that "
        "size",
        field="highest",
    )
    refuse(
        rows.filter(pl.col("cpu") >= CPUS_MAX),
        f"the row with seq {{seq}} names CPU {{cpu}}, and at most {CPUS_MAX} are modelled",
        "choose a trace of fewer",
        field="cpu",
    )
