# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A, no radix-tree writeback tags for the swap cache (2016, merged in 4.9).

The machine of the mail, what is fitted to which cells, the points of the stored studies, and what
they say for the rows of the mail's table. A fit sees the base's column alone; it leaves two shares
open, so there is a fit and a prediction for each pair of them.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import published
from swapsim.errors import InputError
from swapsim.ffi import FRAMES_KEPT
from swapsim.machine._native import run_life
from swapsim.machine.config import FIELDS, Machine
from swapsim.machine.constants import LONGEST_TAGS_NS, change_costs, costs_by_name, costs_of
from swapsim.machine.fitting import Fitted, Target, fit_costs
from swapsim.machine.running import PAGE_KIB, TABLE_SEEDS, labels, window_metrics
from swapsim.patches import common
from swapsim.patches.common import Case, at, base_figure, trials
from swapsim.published import data
from swapsim.published.rows import SUM, Side, side
from swapsim.study import Study

PATCH: Final = "01-writeback-tags"
"""The folder in patches, and the name in the rows of data."""

BASE: Final = "base"  # the kernel of data/published to which costs are fitted
KERNELS: Final = {BASE: True, "base+patch": False}  # the mail's kernels, and whether each has tags

# The machine of the mail.


def machine(*, tags: bool = True, seed: int = 1) -> Machine:
    """Return the machine of the mail: 8 writers and 2 kswapds on one pmem under 4.8.

    Memory holds only what the tasks wrote last, because older pages are not accessed again. The
    device starts empty, as in swap-w-seq. With `tags` it is the base, else it has the patch.
    """
    return Machine(**FIELDS["A-2016"], policy="shared", tags=tags, seed=seed)


def life(costs: Mapping[str, int], swapped: float, **changed: Any) -> Machine:
    """Return `machine` with writers that write a share of their pages to swap, and exit.

    ``swapped`` is the share of all pages for which memory has no room, 0 to below 1. Memory is much
    smaller than the mail's; rates do not depend on its size.
    """
    usual = machine().replace(costs=costs, **changed)
    pages = round(usual.nodes * usual.frames / (1 - swapped) / usual.writers)
    return usual.replace(accesses=pages)


# What is fitted, and what the mail's tools report.

TAG_SHARE: Final = 0.1
"""``tag_ns / tree_ns``: the geometric mean of 0.01 and 1, as the base does not determine it."""

MAP_SHARE: Final = 0.31
"""``map_ns / tree_ns``, which the base does not determine either: `map_share_at`, rounded."""

RATIO_OF_LOCKS: Final = (13.94 + 13.75) / (7.05 + 7.03 + 7.02 + 6.83)
"""Cycles in waits for tree_lock by those for si->lock, in 4.9-rc8 (with the patch) by this test
with 32 processes: two rows (__add_to_swap_cache, __remove_mapping) by four (swapcache_free,
page_swapcount, __swap_duplicate, get_swap_page).

Source: 8760lujnng.fsf@yhuang-dev.intel.com, Huang Ying, 5 January 2017, the profile of the base.
"""

THROUGHPUT: Final = "vm-scalability.throughput"
SWAP_OUT: Final = "vmstat.swap.so"
SI_LOCK: Final = "si->lock"
"""The waits for si->lock at its four sites, of which the mail has no row."""

_PROFILE: Final = "perf-profile.cycles-pp."
_IRQ, _IRQSAVE = "_raw_spin_lock_irq.", "_raw_spin_lock_irqsave."
TREE_ROWS: Final = {
    "tree_lock.add_to_swap_cache.shrink_page_list": (
        f"{_IRQ}__add_to_swap_cache.add_to_swap_cache.add_to_swap.shrink_page_list"
    ),
    "tree_lock.__remove_mapping": (
        f"{_IRQSAVE}__remove_mapping.shrink_page_list.shrink_inactive_list.shrink_zone_memcg"
    ),
    "tree_lock.test_set_page_writeback": (
        f"{_IRQSAVE}__test_set_page_writeback.bdev_write_page.__swap_writepage.swap_writepage"
    ),
    "tree_lock.test_clear_page_writeback": (
        f"{_IRQSAVE}test_clear_page_writeback.end_page_writeback.page_endio.pmem_rw_page"
    ),
}
"""The machine's site -> the row of the mail, without the name of the profile before it."""

DEVICE_SITES: Final = (
    *("map_lock.put_swap_page", "map_lock.try_to_free_swap", "map_lock.swap_duplicate"),
    "si_lock.get_swap_pages",
)

_ROUNDS: Final = 5
_SAME_SHARE: Final = 0.003
_MOST_SWAPPED: Final = 0.85


def reported(config: Machine, constants: pl.DataFrame | None = None) -> dict[str, float]:
    """Run a life; return throughput and swap.so (KiB/s), waits by site, and the share swapped out.

    Each is of the window that its tool sees (data/published/windows.csv): throughput is the sum of
    the writers' rates while they write, swap.so the mean rate of the complete run, a wait the
    percentage of busy time in the profile's window.
    """
    table = change_costs(costs_of(), config.costs) if constants is None else constants
    found = run_life(config, costs_by_name(table))
    profiled = found.swap if data.window_of(_PROFILE) == "swap" else found.run
    if profiled is None:
        raise InputError(f"{config!r}: no page went out before the first exit")
    out, elapsed = int(found.run.cpus["pages_out"].sum()), max(found.run.elapsed_ns, 1)
    rates = [PAGE_KIB * pages * 1_000_000_000 / ns for pages, ns in found.written if ns]
    waits = {name: of for name, of, _ in window_metrics(profiled) if name.startswith("cycles.")}
    return {
        THROUGHPUT: math.fsum(rates),
        SWAP_OUT: PAGE_KIB * out * 1_000_000_000 / elapsed,
        "swapped": out / max(sum(pages for pages, _ in found.written), 1),
        **waits,
    }


def waits(value: Mapping[str, float], sites: Iterable[str]) -> float:
    """Return the cycles in waits at some sites, in percent of the busy time."""
    return math.fsum(value[f"cycles.{site}"] for site in sites)


def targets() -> tuple[Target, Target]:
    """Return the figures of the base column that a fit has to meet: a rate, and four lock rows."""
    rate = base_figure(PATCH, BASE, THROUGHPUT)
    locks = math.fsum(base_figure(PATCH, BASE, row) for row in TREE_ROWS.values())
    sites = tuple(f"cycles.{site}" for site in TREE_ROWS)
    return (
        Target(name=THROUGHPUT, metrics=(THROUGHPUT,), wanted=rate),
        Target(name="tree_lock", metrics=sites, wanted=locks),
    )


def swapped_share(costs: Mapping[str, int], **changed: Any) -> float:
    """Return the share of pages swapped out with which the base has the mail's ratio of rates.

    Throughput counts all pages and ends before the exit, swap.so counts pages out up to its end.
    """
    share, wanted = 0.55, base_figure(PATCH, BASE, SWAP_OUT) / base_figure(PATCH, BASE, THROUGHPUT)
    for _ in range(_ROUNDS):
        value = reported(life(costs, share, **changed))
        off = wanted * value[THROUGHPUT] / value[SWAP_OUT]
        if abs(off - 1) < _SAME_SHARE:
            break
        share = min(share * off, _MOST_SWAPPED)
    return share


def fit_and_share(tag_share: float, map_share: float, **changed: Any) -> tuple[Fitted, float]:
    """Fit the base; return the fit, and the share of pages that its costs swap out.

    Free are ``unmap_ns`` (work without a lock, which sets the throughput) and ``tree_ns`` (how long
    add and remove hold the lock, which sets the waits). Two are given as shares of ``tree_ns``,
    because they hardly change the rows, which wait in the same queue: ``tag_ns``, how long the
    start and the end of writeback hold the lock, and ``map_ns``, how long a look at a map byte
    holds si->lock. `changed` are fields in which the machine differs from the usual one.
    """
    start = {name: costs_by_name()[name] for name in ("unmap_ns", "tree_ns")}
    swapped = swapped_share({}, **changed)
    for _ in range(_ROUNDS):
        fitted = fit_costs(
            life({}, swapped, **changed),
            targets(),
            start,
            tied={"tag_ns": ("tree_ns", tag_share), "map_ns": ("tree_ns", map_share)},
            values=reported,
        )
        found = _changed(fitted.constants)
        before, swapped = swapped, swapped_share(found, **changed)
        if abs(swapped - before) < _SAME_SHARE:
            break
        start = {name: costs_by_name(fitted.constants)[name] for name in start}
    return fitted, swapped


def _changed(constants: pl.DataFrame) -> dict[str, int]:
    """Return the costs in which a table differs from the usual ones."""
    usual = costs_by_name()
    return {name: ns for name, ns in costs_by_name(constants).items() if ns != usual[name]}


def ratio_of_locks(costs: Mapping[str, int], swapped: float, **changed: Any) -> float:
    """Return what RATIO_OF_LOCKS is in the machine: with the patch and 32 writers."""
    value = reported(life(costs, swapped, tags=False, writers=32, slots=2**22, **changed))
    return waits(value, [*TREE_ROWS][:2]) / max(waits(value, DEVICE_SITES), 1e-6)


def map_share_at(tag_share: float) -> float:
    """Find the ``map_ns / tree_ns`` above which the machine's `ratio_of_locks` is too small.

    By bisection on a logarithmic scale from 0.05 to 0.8. At each share tried the base is fitted
    again. The ratio jumps at the share found: of two queues in a row, a little more work under one
    lock makes nearly all CPUs wait for it.
    """

    def above(map_share: float) -> bool:
        fitted, swapped = fit_and_share(tag_share, map_share)
        # A fit that does not converge has si->lock as the bottleneck.
        ratio = ratio_of_locks(_changed(fitted.constants), swapped)
        return fitted.converged and ratio > RATIO_OF_LOCKS

    low, high = 0.05, 0.8
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {RATIO_OF_LOCKS:.3f}")
    for _ in range(8):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


# Fits of the base and what they predict, as rows of RESULTS with both shares: first the costs of
# the fit, the figures that it met and the share of pages swapped out, then each of KERNELS.

SWAPPED: Final = "swapped share"
_MET: Final = "met: "


def predict_at_shares(shares: tuple[float, float]) -> pl.DataFrame:
    """Fit the base at a tag share and a map share, and predict both kernels with two seeds.

    ``policy`` names the fit. A fit that does not converge has no rows.
    """
    fitted, swapped = fit_and_share(*shares)
    rows: list[data.Row] = [
        (constant, float(value), "ns") for constant, value in _changed(fitted.constants).items()
    ]
    rows += [(_MET + target, found, "") for target, _, found, _ in fitted.residuals.iter_rows()]
    rows.append((SWAPPED, swapped, "1"))
    name = "tags {:g}, map {:g}".format(*shares)
    fit = _with_shares(data.results(rows, labels(machine(), kernel=BASE, policy=name)), shares)
    if not fitted.converged:
        return fit.clear()
    points = product(KERNELS, (1, 2))
    return pl.concat([fit, *(_predict(fit, name, kernel, seed) for kernel, seed in points)])


def predict_at_tag_share(tag_share: float) -> pl.DataFrame:
    """Fit the base at a tag share and its `map_share_at`, and predict both kernels."""
    return predict_at_shares((tag_share, map_share_at(tag_share)))


def again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Predict one kernel with one seed and a stored fit: a sample of the rows."""
    predicted = rows.filter(metric=THROUGHPUT).select("policy", "kernel", "seed")
    return _predict(rows, *predicted.row(pick % predicted.height))


def fitted_costs(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return the costs of each stored fit by its name."""
    free = rows.filter(kernel=BASE, unit="ns").select("policy", "metric", "value")
    found: dict[str, dict[str, int]] = {}
    for name, cost, ns in free.iter_rows():
        found.setdefault(name, {})[cost] = int(ns)
    return found


def predict(
    kernel: str, costs: Mapping[str, int], swapped: float, *, seed: int, policy: str | None = None
) -> pl.DataFrame:
    """Predict the rates, the four profile rows and si->lock of one of KERNELS (RESULTS)."""
    config = life(costs, swapped, tags=KERNELS[kernel], seed=seed)
    value = reported(config)
    rows = [(metric, value[metric], "KiB/s") for metric in (THROUGHPUT, SWAP_OUT)]
    rows += [
        (_PROFILE + row, value[f"cycles.{site}"], "% of cycles") for site, row in TREE_ROWS.items()
    ]
    rows.append((SI_LOCK, waits(value, DEVICE_SITES), "% of cycles"))
    return data.results(rows, labels(config, kernel=kernel, policy=policy))


def _predict(rows: pl.DataFrame, name: str, kernel: str, seed: int) -> pl.DataFrame:
    own = rows.filter(policy=name)
    found = fitted_costs(own)[name]
    swapped = own.filter(metric=SWAPPED)["value"].item()
    shares = own.select("tag_share", "map_share").row(0)
    return _with_shares(predict(kernel, found, swapped, seed=seed, policy=name), shares)


def _with_shares(rows: pl.DataFrame, shares: tuple[float, ...]) -> pl.DataFrame:
    tag, map_ = (pl.lit(share, pl.Float64) for share in shares)
    return rows.with_columns(tag_share=tag, map_share=map_)


# The studies.

TAG_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""``tag_ns / tree_ns``: from a hold for a descent only to one as long as that of add."""

MAP_SHARES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""``map_ns / tree_ns``, doubled until si->lock is so busy that no tree_ns meets the base."""

THREE_TAG_SHARES: Final = (0.01, TAG_SHARE, 0.5)
"""Of TAG_SHARES the least, the middle and the largest whose holds a benchmark allows
(LONGEST_TAGS_NS)."""

_study = partial(Study, reads=("costs.csv", partial(data.published_of, PATCH)))
_fits = partial(_study, run=predict_at_shares, sample=again)

three_fits: Final = _fits(
    name="writeback-tags-three-fits", points=tuple(product(THREE_TAG_SHARES, [MAP_SHARE]))
)
"""The fits of the what-ifs; that at TAG_SHARE gives the headlines."""

by_shares: Final = _fits(
    name="writeback-tags-by-shares", points=tuple(product(TAG_SHARES, MAP_SHARES))
)
"""The fit and its prediction at each pair of shares that the base leaves open."""

by_tag_share: Final = _study(
    name="writeback-tags-by-tag-share", points=TAG_SHARES, run=predict_at_tag_share, sample=again
)
"""The fit and its prediction at each share of tags, with its `map_share_at`."""


def predict_headline(point: tuple[str, int]) -> pl.DataFrame:
    """Predict one of the mail's kernels with one seed and the fit at TAG_SHARE (RESULTS)."""
    kernel, seed = point
    rows = three_fits.load().filter(tag_share=TAG_SHARE)
    ((_, found),) = fitted_costs(rows).items()
    return predict(kernel, found, rows.filter(metric=SWAPPED)["value"].item(), seed=seed)


headline: Final = _study(
    name="writeback-tags-headline",
    points=tuple((kernel, seed) for seed in TABLE_SEEDS for kernel in KERNELS),
    run=predict_headline,
)
"""The table of the mail predicted with the headline fit (RESULTS)."""

CONTENDED_NS: Final = (0, 20, 118)
"""What a contended critical section takes longer: nothing, a write to a line that another CPU polls
(tests/bench/polled_line.c), and a transfer from the other socket."""


def at_the_edge(point: tuple[int, float]) -> pl.DataFrame:
    """Fit the base with a ``contended_ns`` and a map share; return waits, rate and 2017's ratio.

    A base that cannot be met has no rows.
    """
    contended, map_share = point
    fitted, swapped = fit_and_share(TAG_SHARE, map_share, contended_ns=contended)
    found, names = _changed(fitted.constants), {"contended_ns": contended, "map_share": map_share}
    ratio = ratio_of_locks(found, swapped, contended_ns=contended)
    rows = [{**names, "tags": False, "seed": 1, "metric": "ratio of 2017", "value": ratio}]
    for tags, seed in product((True, False), (1, 2)):
        value = reported(life(found, swapped, tags=tags, seed=seed, contended_ns=contended))
        locks = {"tree_lock": waits(value, TREE_ROWS), SI_LOCK: waits(value, DEVICE_SITES)}
        rows += [
            {**names, "tags": tags, "seed": seed, "metric": metric, "value": one}
            for metric, one in (locks | {THROUGHPUT: value[THROUGHPUT]}).items()
        ]
    return pl.DataFrame(rows) if fitted.converged else pl.DataFrame(rows).clear()


edge: Final = _study(
    name="writeback-tags-edge",
    points=tuple(product(CONTENDED_NS, [n / 20 for n in range(1, 11)])),
    run=at_the_edge,
)
"""Waits for si->lock by map share, with critical sections that lengthen under contention."""

# What-ifs: the mail's machine with one setting changed, with tags and without.

POLICIES: Final = {kernel: {"tags": tags} for kernel, tags in KERNELS.items()}
_SETTLED: Final = machine().replace(warmup_ns=400_000_000)
"""The machine after its writers have written their memory two and a half times."""


def by_writers() -> list[Case]:
    """Return the test with other numbers of writers, on its two sockets.

    More writers have more memory, which is written two and a half times before a window begins.
    """
    found: list[Case] = []
    for count in common.CPUS:
        frames = max(_SETTLED.frames, 4 * FRAMES_KEPT * (-(-count // _SETTLED.nodes) + 1))
        warmup_ns = _SETTLED.warmup_ns * frames // _SETTLED.frames
        config = _SETTLED.replace(writers=count, frames=frames, slots=2**22, warmup_ns=warmup_ns)
        found.append((at(count, f"{count} writers" if count > 1 else "1 writer"), config))
    return found


TRUNK_SHIFTS: Final = (10, 12, 14, 17, 20)
"""From 4 MB a trunk to 4 GB; the kernel has 14, 64 MB."""


def by_trunk_size() -> list[Case]:
    """Return the test on 5.8, which has a lock for each trunk, by the size of a trunk."""
    sizes = [(shift, 2 ** (shift - 8)) for shift in TRUNK_SHIFTS]
    new = _SETTLED.replace(kernel="5.8")
    return [(at(size, f"{size} MB a trunk"), new.replace(trunk_shift=n)) for n, size in sizes]


def _with_three_fits(cases: Callable[[], list[Case]]) -> list[Case]:
    return trials(cases(), fitted_costs(three_fits.load()), POLICIES, (1, 2))


_gains = partial(_study, run=partial(common.report, "swap_out"))

gain_by_writers: Final = _gains(
    name="writeback-tags-gain-by-writers",
    points=partial(_with_three_fits, by_writers),
    quick=lambda trial: trial[1].writers <= 2,
)
gain_by_trunk_size: Final = _gains(
    name="writeback-tags-gain-by-trunk-size", points=partial(_with_three_fits, by_trunk_size)
)
gain_by_drive: Final = _gains(
    name="writeback-tags-gain-by-drive",
    points=partial(_with_three_fits, partial(common.by_drive, _SETTLED)),
)

# The columns of the mail's table: simulated, measured, by hand.

TABLE: Final = "lkp comparison"
_ENDS: Final = ("__test_set_page_writeback", "test_clear_page_writeback")
"""Callers whose acquisitions the patch takes away, and the model without it by construction."""

_OF_A_SLOT: Final = 3
"""Acquisitions of 6.1's lock for each slot that a page gets: add, delete, clear shadow."""


def simulated() -> Iterator[Side]:
    """Yield the figures of the headline fit, with a range over the shares of tags that may be."""
    columns = ["kernel", "metric", "value", "share"]
    others = by_tag_share.load().rename({"tag_share": "share"})
    allowed = others.filter(pl.col("metric") == "tag_ns", pl.col("value") <= LONGEST_TAGS_NS)
    others = others.join(allowed, on="share", how="semi", maintain_order="left").select(columns)
    usual = headline.load().with_columns(share=pl.lit(TAG_SHARE)).select(columns)
    rows = pl.concat([others.filter(pl.col("share") != TAG_SHARE), usual])
    keys = ["metric", "kernel", "share"]
    means = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
    locks = means.filter(pl.col("metric").str.starts_with(_PROFILE)).with_columns(
        metric=pl.lit(SUM)
    )
    total = locks.group_by(keys, maintain_order=True).agg(pl.col("value").sum())
    for (metric,), part in pl.concat([means, total]).group_by("metric", maintain_order=True):
        if any(caller in str(metric) for caller in _ENDS):
            continue
        base, patched = (
            dict(part.filter(kernel=kernel).select("share", "value").iter_rows())
            for kernel in KERNELS
        )
        own = metric == SI_LOCK
        name = f"{SUM}: {metric}, of which the mail has no row" if own else str(metric)
        fitted = not own and metric != SUM
        if found := side(TABLE, name, base, patched, at=TAG_SHARE, fitted=fitted):
            yield found


def measured() -> Iterator[Side]:
    """Yield what a real 6.1 counts a page, with tags (on) and without (off)."""
    runs = data.measured_results("writeback-tags")

    def rounds(metric: str, policy: str) -> dict[int, float]:
        return dict(runs.filter(metric=metric, policy=policy).select("seed", "value").iter_rows())

    def at_both_ends(policy: str) -> dict[int, float]:
        """Return the acquisitions of a page at the start and the end of writeback, by round."""
        slots = rounds("slot cache mutex acquisitions", policy)
        taken = rounds("xa_lock acquisitions", policy)
        # Both are counted over a whole run, so that what is left of none may be just below it.
        return {seed: max(0.0, count - _OF_A_SLOT * slots[seed]) for seed, count in taken.items()}

    contended = (rounds("xa_lock contended acquisitions", policy) for policy in ("on", "off"))
    what = "contended acquisitions of xa_lock a page"
    if found := side(TABLE, SUM, *contended, what=what):
        yield found
    what = "acquisitions of xa_lock a page at both ends of writeback"
    for metric in published.table("A", TABLE)["metric"]:
        if any(caller in metric for caller in _ENDS):
            found = side(TABLE, metric, *map(at_both_ends, ("on", "off")), what=what)
            if found:
                yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return the rates' ratio if the cycles of the two acquisitions that vanish were work."""
    rows = published.table("A", TABLE)
    gone = [row["base"] for row in rows.iter_rows(named=True) if row["base+patch"] == 0]
    gain = 1 / (1 - sum(gone) / 100)
    return {(TABLE, row): gain for row in (THROUGHPUT, SWAP_OUT)}
