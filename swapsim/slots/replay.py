# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D on a trace: what real tasks asked for, under any policy, at another pace."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi.facts import POLICIES
from swapsim.policies.policy import Policy
from swapsim.slots.grid import one_at_a_time
from swapsim.slots.requests import request_streams, traced_device
from swapsim.slots.workloads import MeterConfig, StreamsConfig


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
        As for `one_at_a_time`.
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
    requests = request_streams(folder)
    skipped = round(first_free(requests, folder) / requests.height, 6)
    streams = StreamsConfig(requests=requests, skipped_share=skipped)
    return one_at_a_time(
        traced_device(folder),
        streams,
        {"skipped_share": [skipped]},
        policies=policies,
        seeds=seeds,
        meter=meter,
        executor=executor,
        progress=progress,
        folder=store,
    )


def first_free(requests: pl.DataFrame, folder: Path | str) -> int:
    """Return the first row that frees a slot.

    Parameters
    ----------
    requests : polars.DataFrame
        Schema REQUESTS.
    folder : Path or str
        The trace that they come from, for the message.

    Raises
    ------
    InputError
        No slot is ever freed.
    """
    freed = requests["op"] == "put"
    if not freed.any():
        raise InputError(
            "no slot is freed in this trace, so no base matters: choose a longer one",
            path=Path(folder) / "slot_events.parquet",
        )
    return freed.arg_max() or 0
