# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's policies for ``cluster_next``, ranked among the built-in ones."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Unpack

import polars as pl

from swapsim import study
from swapsim.errors import InputError
from swapsim.ffi import POLICIES
from swapsim.policies import Policy
from swapsim.slots.config import GIGABYTE_SLOTS, Churn, Device
from swapsim.slots.metrics import METRICS
from swapsim.slots.workbench import require_sound, run
from swapsim.tables import Metric

if TYPE_CHECKING:
    from swapsim.machine.config import Machine

DEVICE: Final = Device(kernel="5.8", slots=2 * GIGABYTE_SLOTS, possible_cpus=8)
"""2 GB, 32 trunks, and the locks of the kernel that patch D was merged into: 6.1 takes the swap
cache's lock once more, where a slot is freed."""

CHURN: Final = Churn(used_share=0.7, warm_up_pages=2**17, pages=2**14)
"""Tasks that swap on it until it has aged, and are counted after that."""

RANKED_BY: Final[Mapping[str, Metric]] = {
    "throughput": Metric("pages/s", "pages out and in that the machine moves", "higher"),
    "transfers": METRICS["lock.moved.add"],
    "scanned": METRICS["scanned"],
    "locality": METRICS["run"],
}
"""The first is of the machine (`aged_device`), the others are of the microbenchmark."""


def aged_device(*, policy: str | Policy, seed: int = 1) -> "Machine":
    """Return a machine of 8 CPUs on 2 GB that is fragmented by use, as DEVICE under CHURN.

    Seven tenths of the device are in use, at random places. Some 130,000 pages are swapped out in
    the warm-up, after which the bases are where swapping has left them.
    """
    from swapsim.machine.config import Machine

    in_use, frames = 7 * DEVICE.slots // 10, 2**16
    return Machine(
        patch="04-percpu-cluster-next",
        kernel=DEVICE.kernel,
        policy=policy,
        walkers=DEVICE.online,
        frames=frames,
        pages=(in_use + frames) // DEVICE.online,
        slots=DEVICE.slots,
        fragmented=True,
        warmup_ns=400_000_000,
        duration_ns=50_000_000,
        seed=seed,
    )


def rank(
    policies: Policy | Sequence[Policy],
    *,
    seeds: int = 8,
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Rank one's own policies among the built-in ones: by throughput, and by what causes it.

    Each runs with seeds 1 to ``seeds`` on an aged device of 2 GB with 8 CPUs: in the slot
    microbenchmark, and on the machine of CPUs and locks.

    Parameters
    ----------
    policies : Policy or sequence of Policy
        Made by `swapsim.policy`; `swapsim.policies.policies_in` reads those of a file.
    seeds : int
        At least 1; of fewer than 5 nothing is ranked.
    executor, progress
        Those of `study.run`.

    Returns
    -------
    polars.DataFrame
        A row for each rule, the highest throughput first; rules that are equal in all runs share
        one. ``rule``; ``user``, whether it is one's own; the medians ``throughput`` (pages/s out
        and in), ``transfers`` (share of the additions to the swap cache that transfer the lock's
        cache line from another CPU), ``scanned`` (slots tested for one that is handed out) and
        ``locality`` (adjacent slots in sequence); and the place in each, such as
        ``throughput_rank``. One rule is above another if the interval of the median of their
        differences, seed by seed, excludes 0, and "1-3" are the places that this allows.

    Raises
    ------
    InputError
        A policy raises, does not end or returns no slot, with its line; or two have one name.

    Source
    ------
    mm/swapfile.c: scan_swap_map_slots (5.8), `slots.run` and `machine.run`.

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import slots
    >>> @swapsim.policy(base_of="cpu")
    ... def stay(next):
    ...     return next
    >>> slots.rank(stay, seeds=1).filter("user")["rule"].item()
    'percpu, permm, stay'
    """
    chosen = [policies] if isinstance(policies, Policy) else [*policies]
    how = study.How(executor=executor, progress=progress)
    return study.rank_table(runs(chosen, seeds, **how), RANKED_BY, POLICIES)


def runs(policies: Sequence[Policy], seeds: int, **how: Unpack[study.How]) -> pl.DataFrame:
    """Return RANKED_BY of each run of a ranking: ``metric, policy, seed, value``."""
    from swapsim.machine.running import PAGES_MOVED, run_policies

    names = [policy.name for policy in policies]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two policies are called {name}: rename one", field="policies")
    for policy in policies:
        require_sound(policy, DEVICE, CHURN)
    both: list[str | Policy] = [*POLICIES, *policies]
    counted = run(DEVICE, CHURN, both, seeds=seeds, **how)
    # A policy is observed under each seed with which it returned an invalid answer.
    invalid = counted.filter(pl.col("metric") == "nonsense", pl.col("value") > 0)
    for policy in policies:
        for seed in invalid.filter(policy=policy.name)["seed"]:
            require_sound(policy, replace(DEVICE, seed=seed), CHURN)
    moved = run_policies(aged_device, both, seeds=seeds, **how)
    columns = ["metric", "policy", "seed", "value"]
    rows = pl.concat([moved.select(columns), counted.select(columns)])
    words = {PAGES_MOVED: "throughput", "lock.moved.add": "transfers", "run": "locality"}
    return rows.with_columns(pl.col("metric").replace(words))
