# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch D's mails and of their thread, by models and a real kernel.

And its part of the pages on all patches: its counts, and the relief of its lock.
"""

from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import claims, slots, traces
from swapsim.machine import summary
from swapsim.patches.cluster_next import drives, reviewers, studies
from swapsim.patches.cluster_next.machines import PATCH
from swapsim.patches.cluster_next.mails import VERSIONS
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.slots.tables import VERIFIED_SLOTS

_ABSENT: Final = ", absent (before|after)$"
"""End of the metric of a row that a profile lists in one of its columns only."""


def predicted() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables of V1 and V3 as simulated (RESULTS)."""
    return _by_mail(studies.predicted())


def _by_mail(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    first, third = (
        rows.filter(pl.col("kernel").is_in(list(mail.kernels))) for mail in VERSIONS.values()
    )
    return first, third


def answers() -> pl.DataFrame:
    """Return the answers to the claims of V1, V3 and their threads (ANSWERS).

    The simulated ones are of the first second after a device's fill, with a range over the ages of
    its bases: the mails' tests ran until these had settled, but how often tasks changed CPU is not
    known.
    """
    of_thread = [_shared_trunk(), *reviewers.answers(), *_measured()]
    return pl.concat([_of_mails(), _on_drives(), claims.table_of(of_thread)])


# Simulated: the mails' tables.


def _of_mails() -> pl.DataFrame:
    """Return the simulated answers to the claims that both mails' tables and profiles answer."""
    first, third = _by_mail(studies.predicted.load())
    found = claims.answers(_stated(), first.vstack(third))
    spans = (
        claims_by_age()
        .group_by("claim")
        .agg(
            low_of_ages=pl.col("simulated").min(),
            high_of_ages=pl.col("simulated").max(),
            ages=pl.len().cast(pl.UInt32),
        )
        .filter(pl.col("ages") > 1)
    )
    # A direction keeps its seeds, and the interval over them.
    has_ages, by_seed = pl.col("ages").is_not_null(), pl.col("range_over") == "interval"
    low, high = pl.col("low_of_ages"), pl.col("high_of_ages")
    return (
        found.join(spans, on="claim", how="left", maintain_order="left")
        .with_columns(
            low=pl.when(has_ages & ~by_seed).then(low).otherwise(pl.min_horizontal("low", low)),
            high=pl.when(has_ages & ~by_seed).then(high).otherwise(pl.max_horizontal("high", high)),
            rounds=pl.when(has_ages & ~by_seed).then("ages").otherwise("rounds"),
            range_over=pl.when(has_ages)
            .then(pl.lit("ages", found["range_over"].dtype))
            .otherwise("range_over"),
        )
        .select(found.columns)
    )


def _stated() -> pl.DataFrame:
    """Return the claims of all mails; a row that a column omits has the name of its profile."""
    metric = pl.col("metric").str.replace(_ABSENT, "")
    return claims.published_claims().filter(patch=PATCH).with_columns(metric)


def claims_by_age() -> pl.DataFrame:
    """Return the change of each claim of both mails by age, a row per age and claim.

    The table of the first second is that of `predicted`, which has more seeds.
    """
    rows = studies.life.load().filter(pl.col("metric") != "waits", pl.col("label") != studies.YOUNG)
    unit = {name: metric.unit for name, metric in studies.METRICS.items()}
    rows = rows.with_columns(unit=pl.col("metric").replace_strict(unit))
    found = []
    tables = _by_mail(studies.predicted.load())
    for (version, mail), young in zip(VERSIONS.items(), tables, strict=True):
        kernel = {policy: kernel for kernel, policy in mail.kernels.items()}
        later = rows.filter(fit=version).with_columns(
            kernel=pl.col("policy").replace_strict(kernel)
        )
        found.append(_at_age(young, studies.YOUNG))
        found += [
            _at_age(claims.results(each, {"patch": PATCH, "n_tasks": 16}), each["label"][0])
            for each in later.partition_by("label", maintain_order=True)
        ]
    return pl.concat(found)


def _at_age(results: pl.DataFrame, age: str) -> pl.DataFrame:
    """Return the claims that were simulated without the patch and with it, at an age."""
    found = claims.answers(_stated(), results).drop_nulls("figure")
    return found.select("claim", simulated="figure", age=pl.lit(age))


def _on_drives() -> pl.DataFrame:
    """Return the answers on the drives of the replies to V2.

    The figure is that of the usual queue in the first second; the range is over queues and ages.
    """
    rows = studies.replies.load().filter(pl.col("metric") != "waits")
    unit = {name: metric.unit for name, metric in drives.METRICS.items()}
    rows = rows.with_columns(unit=pl.col("metric").replace_strict(unit))
    found = []
    for part in rows.partition_by("label", maintain_order=True):
        drive, label = part.select("drive", "label").row(0)
        kernels = dict(zip(VERSIONS["V3"].kernels.values(), drives.KERNELS[drive], strict=True))
        score = {} if drive == "Optane" else {"pmbench score": "performance improvement"}
        named = part.with_columns(
            kernel=pl.col("policy").replace_strict(kernels), metric=pl.col("metric").replace(score)
        )
        results = claims.results(named, {"patch": PATCH, "n_tasks": 16})
        usual = f"{drive}, {drives.USUAL} at a time, {drives.YOUNG}"
        found.append(claims.answers(_stated(), results).with_columns(usual=pl.lit(label == usual)))
    all_of_them = pl.concat(found)
    ends = all_of_them.group_by("claim").agg(
        least=pl.col("figure").min(), most=pl.col("figure").max(), settings=pl.len()
    )
    by_seed = pl.col("range_over") == "interval"  # a direction keeps its interval over the seeds
    open_constants = pl.lit("open constants", all_of_them["range_over"].dtype)
    return (
        all_of_them.filter("usual")
        .join(ends, on="claim", how="left", maintain_order="left")
        .with_columns(
            low=pl.when(by_seed).then("low").otherwise("least"),
            high=pl.when(by_seed).then("high").otherwise("most"),
            rounds=pl.when(by_seed).then("rounds").otherwise(pl.col("settings").cast(pl.UInt32)),
            range_over=pl.when(by_seed).then("range_over").otherwise(open_constants),
        )
        .select(all_of_them.drop("usual").columns)
    )


def _shared_trunk() -> claims.Answer:
    """Return the answer on CPUs in one trunk: with V1's young bases, and its range over ages."""
    ages = reviewers.by_age()
    low = min(each.low for each in ages if each.low is not None)
    high = max(each.high for each in ages if each.high is not None)
    return replace(ages[0], low=low, high=high, range_over="ages")


# Measured: counts of the lab kernel, which has the rules behind a switch.

HALF_FULL: Final = "scan-base-under-half"
"""The experiment with the locks. The mail's test was near half full (`machines.IN_USE`)."""

_WANDERING: Final = "tasks-that-change-cpu"

_LOCKS: Final = {
    **dict.fromkeys(
        ("D-lock-add", "D-lock-remove", "D-prose-contention-add", "D-prose-contention-remove"),
        ("xa_lock", "percpu"),
    ),
    "D-lock-free-pages": ("zone->lock", "percpu"),
    "D3-lock-free-pages": ("zone->lock", MERGED),
    "D3-lock-add": ("xa_lock", MERGED),
    "D3-lock-remove": ("xa_lock", MERGED),
    "D3-lock-free-entries": ("si->lock", MERGED),
    "D3-lock-shrink-inactive": ("lru_lock", MERGED),
    "D3-lock-shrink-active": ("lru_lock", MERGED),
}
"""Claim -> its lock in the lab, and the rule. The count has no call sites, so only locks are here
whose rows in the mail's profile all claim the same."""

_NAMES: Final = {"xa_lock": "the swap cache's lock"}


def _measured() -> list[claims.Answer]:
    """Return the answers of the lab kernel: Linux 6.1 with the rules behind a switch."""
    guest = "Linux 6.1, 8 CPUs, under half full"
    found = [
        _answer(
            claim,
            HALF_FULL,
            (f"{lock} contended acquisitions", "shared"),
            (f"{lock} contended acquisitions", policy),
            f"contended acquisitions of {_NAMES.get(lock, lock)} a page; {guest}",
        )
        for claim, (lock, policy) in _LOCKS.items()
    ]
    in_a_trunk = "slots in a trunk with another CPU"
    found.append(
        _answer(
            "D-prose-shared-trunk",
            HALF_FULL,
            (in_a_trunk, "shared"),
            (in_a_trunk, "percpu"),
            f"{in_a_trunk}; {guest}",
        )
    )
    with_a_task, pairs = "slots in a trunk with another task", "pairs of tasks in one trunk"
    stay = "Linux 6.1, 8 tasks that stay on their CPUs"
    found.append(
        _answer(
            "D-prose-lock-step",
            _WANDERING,
            (f"{with_a_task}, part 1", "percpu"),
            (f"{with_a_task}, part 12", "percpu"),
            f"{with_a_task}, last twelfth of a run against the first; {stay}",
        )
    )
    found.append(
        _answer(
            "D-prose-rerandomise",
            _WANDERING,
            (pairs, "percpu"),
            (pairs, MERGED),
            f"{pairs}, second half of a run; {stay}",
        )
    )
    return [each for each in found if each is not None]


def _answer(
    claim: str, experiment: str, base: tuple[str, str], other: tuple[str, str], what: str
) -> claims.Answer | None:
    """Return the answer of an experiment's rounds, from two metrics and rules."""
    results = claims.measured_results(experiment)
    sides = (
        dict(results.filter(metric=metric, policy=policy).select("seed", "value").iter_rows())
        for metric, policy in (base, other)
    )
    return claims.paired(claim, "measured", *sides, what=what)


def lock_relief() -> pl.DataFrame:
    """Compare how V3 relieves the swap cache's lock: its mail (5.8), machine, real kernel (6.1)."""
    mail, rows = VERSIONS["V3"], studies.runs()
    base, patched = mail.kernels.values()
    return summary.lock_relief(
        claims.published_tables().filter(
            pl.col("metric").str.contains("add_to_swap_cache|__remove_mapping"),
            pl.col("kernel").is_in(list(mail.kernels)),
            patch=PATCH,
        ),
        predicted()[1],
        (rows.filter(policy=base), rows.filter(policy=patched)),
        claims.medians(claims.measured_results(HALF_FULL)),
        (base, patched),
    )


def slots_matched(verified: pl.DataFrame) -> tuple[int, int]:
    """Return the number of slots that a real kernel handed out, and of those that match."""
    VERIFIED_SLOTS.check(verified)
    exact, raced, given = (int(verified[name].sum()) for name in ("exact", "raced", "slots"))
    return given, exact + raced


def counted() -> str:
    """Return a sentence on the slots of the shipped traces that match."""
    verified = slots.verified_slots(traces.shipped("cluster-next"))
    handed_out, alike = slots_matched(verified)
    return (
        f"Of {handed_out:,} swap slots that a real kernel handed out in {verified.height} runs, "
        f"the model of patch D's allocator hands out {alike:,}."
    )


def chances() -> None:
    """Return None: the scores of the mail deviate by 1 % at most."""


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:  # noqa: ARG001
    """Return `lock_relief` of the stored runs, which have the constants of the headline fit."""
    return lock_relief()
