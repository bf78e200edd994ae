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
from swapsim.slots.config import SlotsConfig
from swapsim.slots.events import check_slot_events, slot_events, slot_set_up
from swapsim.slots.tables import VERIFIED_SLOTS
from swapsim.traces import locate, require_events, table_bytes
from swapsim.traces.verification import Verdict, mismatch, refuse, verified

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


def verify_slots(
    source: pl.DataFrame | Path | str,
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
    source : polars.DataFrame, Path or str
        SLOT_EVENTS, the Parquet file of them, or a trace's folder or name. The size of the device
        and the number of CPUs are those of the rows.
    policy : {"shared", "percpu", "percpu-rerandomise"}, optional
        Where that kernel's scans began; default: what the folder's trace.toml says.
    cluster_size : {256, 512}, optional
        Slots of a cluster: 512 in a kernel that swaps huge pages; default: as for ``policy``.
    trunk_shift : int, optional
        Log2 of the slots of a trunk, 1 to 31 (SWAP_ADDRESS_SPACE_SHIFT); default: as for ``policy``
        in a folder, else 14.
    kernel : {"5.8", "6.1"}

    Returns
    -------
    Verdict
        Counts of ``calls`` that ended and of their ``slots``; the table ``calls`` (SLOT_CALLS); the
        figures ``open``, calls that had not ended when the trace did and are not judged, and
        ``exact`` and ``raced`` slots.

    Source
    ------
    mm/swapfile.c: get_swap_pages, scan_swap_map_slots.

    Examples
    --------
    >>> from swapsim import slots
    >>> verdict = slots.verify_slots("slots-4-shared")
    >>> verdict.agrees
    True
    """
    check_choice("kernel", kernel, SLOT_REPLAY_KERNELS)
    given = {"policy": policy, "cluster_size": cluster_size, "trunk_shift": trunk_shift}
    if isinstance(source, pl.DataFrame):
        return _judged(source, _device(kernel, given, None), progress=progress)
    path = Path(source)
    folder = None
    if not path.is_file():
        folder = locate(path)
        path = folder / "slot_events.parquet"
        if not path.exists():
            require_events(source, "slots")
    device = _device(kernel, given, folder)
    with errors_of(path):
        verdict = _judged(decode(table_bytes(path), path), device, progress=progress)
    if verdict.agrees:
        return verdict
    return replace(
        verdict, first="\n".join([verdict.first or "", *_other_set_up(path.parent, device)])
    )


def _device(kernel: str, given: Mapping[str, Any], folder: Path | None) -> SlotsConfig:
    """Return the device that is replayed: as it is given, else as the folder's trace.toml says."""
    missing = [name for name, value in given.items() if value is None]
    if missing and folder is not None:
        known = slot_set_up(folder)
        given = {**given, **{name: getattr(known, name) for name in missing}}
    elif set(missing) - {"trunk_shift"}:
        raise InputError(
            "rows without a trace.toml do not say how their kernel was set up: "
            f"give {missing[0]}=...",
            field=missing[0],
        )
    check_choice("policy", given["policy"], SLOT_REPLAY_POLICIES)
    return SlotsConfig(
        kernel=kernel, **{name: value for name, value in given.items() if value is not None}
    )


def _other_set_up(folder: Path, device: SlotsConfig) -> list[str]:
    """Return a line if a trace's kernel was set up otherwise than its events were replayed."""
    try:
        known = slot_set_up(folder)
    except InputError:
        return []
    names = ("policy", "cluster_size", "trunk_shift")
    there, here = ([f"{name} {getattr(of, name)}" for name in names] for of in (known, device))
    others = [pair for pair in zip(there, here, strict=True) if pair[0] != pair[1]]
    return [f"  recorded with {theirs}, replayed with {ours}" for theirs, ours in others]


def _judged(rows: pl.DataFrame, device: SlotsConfig, *, progress: bool) -> Verdict:
    check_slot_events(rows)
    _check_open_calls(rows)
    config = replace(device, slots=_slots_of(rows), possible_cpus=_cpus_of(rows))
    with bar(rows.height, "verify", "rows", shown=progress) as counted:
        calls, open_calls, found = replay_slots(
            rows, config, cpus=rows["cpu"].n_unique(), tick=counted.update
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


def _check_open_calls(rows: pl.DataFrame) -> None:
    """Require that calls end: each open one takes some kilobytes."""
    ends = pl.col("op").is_in(["done", "fail"])
    begun = rows.select("seq", open=((pl.col("op") == "call").cast(int) - ends.cast(int)).cum_sum())
    refuse(
        begun.filter(pl.col("open") > OPEN_CALLS_MAX),
        f"the row with seq {{seq}} opens a call while {OPEN_CALLS_MAX} are open, and no kernel has "
        "so many at once",
    )


def _slots_of(rows: pl.DataFrame) -> int:
    """Return the device's size, from the first call's highest."""
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
    return int(first["highest"].item()) + 1


def _cpus_of(rows: pl.DataFrame) -> int:
    refuse(
        rows.filter(pl.col("cpu") >= CPUS_MAX),
        f"the row with seq {{seq}} names CPU {{cpu}}, and at most {CPUS_MAX} are modelled",
        "choose a trace of fewer",
        field="cpu",
    )
    return int(rows.select(pl.col("cpu").max()).item()) + 1


def verified_slots(folders: Mapping[str, Path]) -> pl.DataFrame:
    """Compare the slots of traces, by name, with those of the model (VERIFIED_SLOTS).

    InputError as for `verify_slots` and `slot_set_up`.
    """
    return verified(folders, _verified, VERIFIED_SLOTS)


def _verified(folder: Path) -> dict[str, object]:
    known = slot_set_up(folder)
    rows = slot_events(folder)
    calls = verify_slots(
        rows, policy=known.policy, cluster_size=known.cluster_size, trunk_shift=known.trunk_shift
    ).tables["calls"]
    device = rows["highest"].max()
    sums = calls.sum().select("slots", "exact", "raced", "mismatched")
    return {
        "cpus": known.cpus,
        "policy": known.policy,
        "trunks": (device >> known.trunk_shift) + 1 if isinstance(device, int) else 0,
        "calls": calls.height,
        **sums.row(0, named=True),
        "reuses": rows.filter(op="reuse").height,
    }
