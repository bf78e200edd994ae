# SPDX-License-Identifier: GPL-2.0-or-later
"""The slots of a real kernel compared with those of the model, call by call."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import interrupt
from swapsim.checks import check_choice, checked
from swapsim.errors import InputError
from swapsim.ffi import CPUS_MAX, SLOT_REPLAY_KERNELS, SLOT_REPLAY_POLICIES, SLOTS_MAX
from swapsim.io import decode
from swapsim.progress import bar
from swapsim.slots._native import SlotMismatch, replay_slots
from swapsim.slots.config import SlotsConfig
from swapsim.slots.events import check_slot_events, slot_events, slot_set_up
from swapsim.slots.tables import VERIFIED_SLOTS
from swapsim.traces import locate, table_bytes
from swapsim.traces.tables import MATCHED

OPEN_CALLS_MAX: Final = 1 << 16
"""Calls that may be open at once: a task has at most one, and waits for no disk within it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotVerdict:
    """The result of comparing the slots of a trace with those of the model.

    ``calls`` (SLOT_CALLS) are those that ended. ``open_calls`` had not ended when the trace did,
    and are not judged. ``mismatch`` is the first call that differs.
    """

    calls: pl.DataFrame
    open_calls: int
    mismatch: SlotMismatch | None

    @property
    def holds(self) -> bool:
        """Whether no call differs."""
        return self.mismatch is None

    @property
    def matched(self) -> pl.DataFrame:
        """The counts (MATCHED): calls, and slots."""
        calls, slots = self.calls, self.calls.sum().select("slots", "exact", "raced").row(0)
        alike = int((calls["fault"] == "none").sum())
        rows = [("calls", alike, calls.height), ("slots", slots[1] + slots[2], slots[0])]
        return pl.DataFrame(rows, schema=MATCHED.schema, orient="row")

    def describe(self) -> list[str]:
        """Return the result as lines of text: the first difference, then the counts."""
        lines = [] if self.mismatch is None else _describe_mismatch(self.mismatch)
        wrong = int((self.calls["fault"] != "none").sum())
        lines.append(
            f"{self.calls.height - wrong} of {self.calls.height} calls matched, "
            f"{self.open_calls} open at the end"
        )
        slots, exact, raced = (int(self.calls[name].sum()) for name in ("slots", "exact", "raced"))
        lines.append(f"matched {exact + raced} of {slots} slots ({exact} exact, {raced} raced)")
        return lines


_FAULTS: Final = {
    "base before": "its base before differs",
    "limits": "its lowest or highest differs",
    "reuse": "slot {reuse} was tried for reuse where no scan stops",
    "slots": "its slots differ",
    "base after": "the base that it stores differs",
}


def _describe_mismatch(mismatch: SlotMismatch) -> list[str]:
    """Return in lines of text where a call first differs, with both slot lists and the state."""
    fault = _FAULTS[mismatch.fault].format(reuse=mismatch.reuse)

    def both(name: str, pair: tuple[int, int]) -> str:
        ours, theirs = pair
        return f"{name} {ours}" + ("" if ours == theirs else f" (trace: {theirs})")

    limits = f"{both('lowest', mismatch.lowest)}, {both('highest', mismatch.highest)}"
    return [
        f"first mismatch: the call with seq {mismatch.seq} of task {mismatch.pid} "
        f"on CPU {mismatch.cpu}: {fault}",
        f"  ours:  {' '.join(map(str, mismatch.ours)) or 'no slot'}; stores {mismatch.next[0]}",
        f"  trace: {' '.join(map(str, mismatch.theirs)) or 'no slot'}; stores {mismatch.next[1]}",
        f"  state: {both('base', mismatch.base)}, ration {mismatch.ration}, {limits}, "
        f"free clusters {mismatch.free_clusters}",
    ]


@checked
@interrupt.recording()
def verify_slots(
    source: pl.DataFrame | Path | str,
    *,
    policy: str,
    cluster_size: int,
    trunk_shift: int = 14,
    kernel: str = "6.1",
    progress: bool = False,
) -> SlotVerdict:
    """Replay a real kernel's slot events through the allocator and judge each call.

    Parameters
    ----------
    source : polars.DataFrame, Path or str
        SLOT_EVENTS, the Parquet file of them, or a trace's folder or name. The size of the device
        and the number of CPUs are those of the rows.
    policy : {"shared", "percpu", "percpu-rerandomise"}
        Where that kernel's scans began.
    cluster_size : {256, 512}
        Slots of a cluster: 512 in a kernel that swaps huge pages.
    trunk_shift : int
        Log2 of the slots of a trunk, 1 to 31 (SWAP_ADDRESS_SPACE_SHIFT).
    kernel : {"5.8", "6.1"}
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    SlotVerdict

    Raises
    ------
    ConfigError
        Naming the option and its value.
    InputError
        The table is not SLOT_EVENTS, or a row, named by its seq, cannot be replayed.

    Source
    ------
    mm/swapfile.c: get_swap_pages, scan_swap_map_slots.
    """
    check_choice("policy", policy, SLOT_REPLAY_POLICIES)
    check_choice("kernel", kernel, SLOT_REPLAY_KERNELS)
    device = SlotsConfig(
        kernel=kernel, policy=policy, cluster_size=cluster_size, trunk_shift=trunk_shift
    )
    if isinstance(source, pl.DataFrame):
        return _judged(source, device, progress=progress)
    path = Path(source)
    if path.suffix != ".parquet" and not path.is_file():
        path = locate(path) / "slot_events.parquet"
    rows = decode(table_bytes(path), path)
    try:
        return _judged(rows, device, progress=progress)
    except InputError as error:
        raise error.of(path) from None


def _judged(rows: pl.DataFrame, device: SlotsConfig, *, progress: bool) -> SlotVerdict:
    check_slot_events(rows)
    _check_open_calls(rows)
    config = replace(device, slots=_slots_of(rows), possible_cpus=_cpus_of(rows))
    with bar(rows.height, "verify", "rows", shown=progress) as counted:
        calls, open_calls, mismatch = replay_slots(
            rows, config, cpus=rows["cpu"].n_unique(), tick=counted.update
        )
    return SlotVerdict(calls=calls, open_calls=open_calls, mismatch=mismatch)


def _check_open_calls(rows: pl.DataFrame) -> None:
    """Require that calls end: each open one takes some kilobytes."""
    ends = pl.col("op").is_in(["done", "fail"])
    begun = rows.select("seq", open=((pl.col("op") == "call").cast(int) - ends.cast(int)).cum_sum())
    beyond = begun.filter(pl.col("open") > OPEN_CALLS_MAX)
    if beyond.height:
        raise InputError(
            f"the row with seq {beyond['seq'][0]} opens a call while {OPEN_CALLS_MAX} are open: "
            "no kernel has so many at once; capture the trace again"
        )


def _slots_of(rows: pl.DataFrame) -> int:
    """Return the device's size, from the first call's highest."""
    first = rows.row(0, named=True)
    if first["op"] != "call":
        raise InputError(
            f"the row with seq {first['seq']} is the first and no call: "
            "a trace begins with the first call on an empty device"
        )
    if not 1 <= first["highest"] < SLOTS_MAX:
        raise InputError(
            f"the row with seq {first['seq']} is the first and has highest {first['highest']}: "
            "no device is of that size; capture the trace again",
            field="highest",
        )
    return int(first["highest"]) + 1


def _cpus_of(rows: pl.DataFrame) -> int:
    beyond = rows.filter(pl.col("cpu") >= CPUS_MAX)
    if beyond.height:
        row = beyond.row(0, named=True)
        raise InputError(
            f"the row with seq {row['seq']} names CPU {row['cpu']}: "
            f"at most {CPUS_MAX} are modelled; choose a trace of fewer",
            field="cpu",
        )
    return int(rows.select(pl.col("cpu").max()).item()) + 1


@checked
def verified_slots(folders: Mapping[str, Path]) -> pl.DataFrame:
    """Compare the slots of each trace with those of the model.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder.

    Returns
    -------
    polars.DataFrame
        Schema VERIFIED_SLOTS, one row per trace.

    Raises
    ------
    InputError
        As for `verify_slots` and `slot_set_up`.
    """
    rows = [_verified(name, folder) for name, folder in folders.items()]
    return VERIFIED_SLOTS.check(pl.DataFrame(rows, schema=VERIFIED_SLOTS.schema, orient="row"))


def _verified(name: str, folder: Path) -> tuple[object, ...]:
    known = slot_set_up(folder)
    rows = slot_events(folder)
    calls = verify_slots(
        rows, policy=known.policy, cluster_size=known.cluster_size, trunk_shift=known.trunk_shift
    ).calls
    device = rows["highest"].max()
    trunks = 0 if not isinstance(device, int) else (device >> known.trunk_shift) + 1
    return (
        name,
        known.cpus,
        known.policy,
        trunks,
        calls.height,
        *(int(calls[column].sum()) for column in ("slots", "exact", "raced", "mismatched")),
        int((rows["op"] == "reuse").sum()),
    )
