# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D on a trace: what real tasks asked for, under any policy, at another pace."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import slots, traces
from swapsim.config import POLICIES, MachineConfig, MeterConfig, Policy, StreamsConfig
from swapsim.errors import InputError

WARM_UP_PART: Final = 10
"""One in so many of the pages that go out after the first slot was freed are not yet watched."""


def cluster_next(
    folder: Path | str,
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    store: Path | str | None = None,
) -> pl.DataFrame:
    """Serve the requests of a slot trace under each policy, and measure from the first free on.

    The recorded order of tasks follows the emulator's time slices, so it is left behind: each task
    keeps its own order, and all go at one rate. Until the first slot is freed the device only
    fills, from free clusters, where no base matters.

    Parameters
    ----------
    folder : Path or str
        A trace folder with slot events and its set-up (`traces.slot_set_up`).
    policies : sequence of str or Policy
    seeds : int
        Runs of each; a seed draws the tasks' order within a round, and the policies' bases.
    meter, executor, progress
        As for `slots.one_at_a_time`.
    store : Path or str, optional
        Its ``folder``.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_SWEEP; its one factor is the share of the rows that went by before the count.

    Raises
    ------
    InputError
        The folder has no slot events or no set-up, or no slot is ever freed in it.
    """
    requests = traces.request_streams(folder)
    skipped = round(_first_free(requests, folder) / requests.height, 6)
    streams = StreamsConfig(requests=requests, skipped_share=skipped)
    return slots.one_at_a_time(
        traces.traced_device(folder),
        streams,
        {"skipped_share": [skipped]},
        policies=policies,
        seeds=seeds,
        meter=meter,
        executor=executor,
        progress=progress,
        folder=store,
    )


def traced_machine(folder: Path | str, *, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the contention machine on which the tasks of a slot trace do their requests anew.

    Each task has a CPU of its own and goes as fast as its own work allows: what the emulator took
    for it is left behind. What a trace does not tell is whether a slot was freed because its page
    came in, or because the page was given up. Where only pages are freed it is likely the latter:
    so the rows of each task end with its last page out, and the watch begins, after device and
    tasks have filled up, with a tenth of the pages that go out after the first slot was freed.

    Parameters
    ----------
    folder : Path or str
        A trace folder with slot events and its set-up (`traces.slot_set_up`).
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig
        For `simulate.run`: one node, the device of the trace, kernel 6.1. Memory is twice the
        device, so that no page goes out but those that the trace sends.

    Raises
    ------
    InputError
        The folder has no slot events or no set-up, or no slot is ever freed in it.
    ConfigError
        Fewer rows are left to be watched than there are tasks, or more pages come in at a time
        than memory holds.
    """
    device = traces.traced_device(folder)
    return MachineConfig(
        patch="04-percpu-cluster-next",
        kernel=device.kernel,
        policy=policy,
        streams=_at_work(folder),
        frames=2 * device.slots,
        slots=device.slots,
        cluster_size=device.cluster_size,
        trunk_shift=device.trunk_shift,
        seed=seed,
    )


def _first_free(requests: pl.DataFrame, folder: Path | str) -> int:
    """Return the first row that frees a slot."""
    freed = requests["op"] == "put"
    if not freed.any():
        raise InputError(
            "no slot is freed in this trace, so no base matters: choose a longer one",
            path=Path(folder) / "slot_events.parquet",
        )
    return freed.arg_max() or 0


def _at_work(folder: Path | str) -> StreamsConfig:
    """Return the rows of a trace up to each task's last page out, and where work begins."""
    requests = traces.request_streams(folder)
    first = _first_free(requests, folder)
    goes_out = pl.col("op") == "get"
    requests = requests.filter(goes_out.reverse().cum_max().reverse().over("task"))
    later = requests.select(pl.arg_where(goes_out & (pl.int_range(pl.len()) > first))).to_series()
    if later.is_empty():
        raise InputError(
            "no page goes out after the first slot is freed: choose a longer trace",
            path=Path(folder) / "slot_events.parquet",
        )
    skipped = later[later.len() // WARM_UP_PART] / requests.height
    return StreamsConfig(requests=requests, skipped_share=round(skipped, 6))
