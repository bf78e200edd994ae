# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D on a trace: the requests of real tasks, served under any policy at another pace."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import polars as pl

from swapsim.ffi import POLICIES
from swapsim.policies.policy import Policy
from swapsim.slots.config import MeterConfig, StreamsConfig
from swapsim.slots.events import first_free, request_streams, traced_device
from swapsim.slots.workbench import one_at_a_time


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
    """Serve the requests of a slot trace under each policy, and count from the first free on.

    The recorded order of tasks follows the emulator's time slices and is dropped: each task keeps
    its own order, and all tasks run at one rate. Before the first free the device only fills, from
    free clusters, where no base matters.

    Parameters
    ----------
    folder : Path or str
        A trace folder with slot events and its set-up (`slot_set_up`).
    policies : sequence of str or Policy
    seeds : int
        Runs of each; a seed draws the order of tasks within a round, and the policies' bases.
    meter, executor, progress
        As for `one_at_a_time`.
    store : Path or str, optional
        The ``folder`` of `one_at_a_time`.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_SWEEP; its one factor is the share of the rows before the counted ones.

    Raises
    ------
    InputError
        The folder has no slot events or no set-up, or no slot is freed in it.
    """
    requests = request_streams(folder)
    skipped = round(first_free(requests, folder) / requests.height, 6)
    return one_at_a_time(
        traced_device(folder),
        StreamsConfig(requests=requests, skipped_share=skipped),
        {"skipped_share": [skipped]},
        policies=policies,
        seeds=seeds,
        meter=meter,
        executor=executor,
        progress=progress,
        folder=store,
    )
