# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions on large folios: lines, pairs, the harder test, and figures of the claims."""

from collections.abc import Mapping
from itertools import combinations
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import SIMULATED_CLAIMS
from swapsim.clusters.tables import CLUSTER_RULES, FALLBACK_RATES
from swapsim.errors import InputError
from swapsim.patches.newer_kernels import studies
from swapsim.patches.newer_kernels.tables import (
    BUILD_RUNS,
    LINES_COMPARED,
    PAIRS,
    TEST_LINES,
    TURNOVER_COMPARED,
)

PATCH: Final = "07-newer-kernels"
"""Folder of the patch, in patches."""

FACTOR: Final = 3.0
"""Largest quotient of two shares of split folios that are of one size; stored before any run."""

LEAST_PERCENT: Final = 0.5
"""Shares below it count as this; stored before any run."""

APART: Final = 1.5
"""Smallest quotient of two printed shares that have an order; stored before any run."""

_MIDDLE: Final = (0.7, 0.25)

_LISTS: Final[Mapping[tuple[str, str], tuple[str, str, bool]]] = {
    ("test, first program", "without"): ("first", "6.11", False),
    ("test -s, first program", "without"): ("first -s", "6.11", False),
    ("test -a", "without"): ("-a", "6.11", False),
    ("test -a -s", "without"): ("-a -s", "6.11", False),
    ("test", "with"): ("plain", "6.12", False),
    ("test -s", "with"): ("-s", "6.12", False),
    ("test -a -s", "with"): ("-a -s", "6.12", False),
}
"""(name of a printed list, its kernel) -> the test, rules and swap-in of its simulation."""


def compared_lines(lines: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compare the printed lists of the mails with the simulated lines.

    Parameters
    ----------
    lines : polars.DataFrame, optional
        Schema TEST_LINES; default: the stored study.

    Returns
    -------
    polars.DataFrame
        Schema LINES_COMPARED, one row per printed line whose simulation is comparable.

    Source
    ------
    data/published/07-newer-kernels.csv, the tables whose names end in ``printed list``.
    """
    own = TEST_LINES.check(studies.kernel_test.load() if lines is None else lines)
    cells = claims.published_tables().filter(
        pl.col("patch") == PATCH, pl.col("table").str.ends_with(", printed list")
    )
    frames = []
    for (table, kernel), (test, rules, whole) in _LISTS.items():
        printed = cells.filter(table=f"{table}, printed list", kernel=kernel).select(
            source=pl.format("{}, {}", "mail", "kernel"),
            iteration=pl.col("metric").str.extract(r"iteration (\d+)").cast(pl.UInt32),
            what=pl.col("metric").str.extract(r"iteration \d+ (.*)$").str.replace(" ", "_"),
            value=pl.col("value").cast(pl.UInt64),
        )
        wide = printed.pivot("what", index=["source", "iteration"], values="value")
        frames.append(_joined(wide, own.filter(test=test, rules=rules, whole=whole)))
    return LINES_COMPARED.check(pl.concat(frames))


def compared_with_kernels(lines: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compare the lines of the kernel's test on real kernels with the simulated ones.

    Parameters
    ----------
    lines : polars.DataFrame, optional
        Schema TEST_LINES; default: the stored study.

    Returns
    -------
    polars.DataFrame
        Schema LINES_COMPARED; the source is the kernel, and the program's copy where two differ.

    Source
    ------
    data/measured/large-folios-kernel-test
    """
    own = TEST_LINES.check(studies.kernel_test.load() if lines is None else lines)
    printed = claims.measured_table(KERNEL_TEST, "folios").filter(order=4)
    first = printed.filter(pl.col("seed") == pl.col("seed").min().over("kernel", "policy"))
    frames = []
    for (kernel, policy), part in first.group_by("kernel", "policy", maintain_order=True):
        rules = next(name for name in CLUSTER_RULES.words[::-1] if str(kernel).startswith(name))
        wide = part.select(
            "iteration",
            source=pl.lit(f"{kernel}, {policy}"),
            swpout=pl.col("swpout").cast(pl.UInt64),
            swpout_fallback=pl.col("swpout_fallback").cast(pl.UInt64),
        )
        frames.append(_joined(wide, own.filter(test=_OPTIONS[policy], rules=rules, whole=True)))
    return LINES_COMPARED.check(pl.concat(frames))


KERNEL_TEST: Final = "large-folios-kernel-test"
"""The experiment that ran the kernel's test on real kernels."""

_OPTIONS: Final = {"plain": "plain", "aligned": "-a", "small": "-s", "small-4k": "-s"}
"""Policies of that experiment -> names of `studies.TESTS`."""


def _joined(printed: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Return printed lines next to simulated ones of the same iteration (LINES_COMPARED)."""
    renamed = simulated.rename(
        {"swpout": "simulated_swpout", "swpout_fallback": "simulated_fallback"}
    )
    if renamed.is_empty():
        raise InputError("no simulated lines of this test: run the study again", field="test")
    frame = printed.join(renamed, on="iteration", how="inner", maintain_order="left").with_columns(
        equal=(pl.col("swpout") == pl.col("simulated_swpout"))
        & (pl.col("swpout_fallback") == pl.col("simulated_fallback"))
    )
    return frame.select(pl.col(name).cast(kind) for name, kind in LINES_COMPARED.schema.items())


_COMPARISONS: Final[Mapping[str, tuple[str, int, str, str, tuple[int, ...]]]] = {
    "F-64k-8gb": ("64K", 8, "6.17", "6.18", (4,)),
    "F-64k-10gb": ("64K", 10, "6.17", "6.18", (4,)),
    "F-128k": ("all", 10, "6.17", "6.18", (5,)),
    "F-256k": ("all", 10, "6.17", "6.18", (6,)),
    "F-512k": ("all", 10, "6.17", "6.18", (7,)),
    "F-2m": ("all", 10, "6.17", "6.18", (9,)),
    "F-return-64k": ("64K, 1152 MB", 10, "6.13", "6.14", (4,)),
    **{
        f"F-clusters-{4 << order}k": ("all, fifth version", 4, "6.11", "6.12", (order,))
        for order in range(2, 10)
    },
}
"""Begin of a pair's claims -> build, gigabytes, rules before and after, order."""


def _sums(runs: pl.DataFrame, pair: str, *by: str) -> pl.DataFrame:
    """Return the counts before and after of a pair, by further columns."""
    build, gigabytes, before, after, orders = _COMPARISONS[pair]
    own = runs.filter(
        pl.col("build") == build,
        pl.col("gigabytes") == gigabytes,
        pl.col("order").is_in(orders),
        pl.col("rules").is_in([before, after]),
    )
    side = pl.when(pl.col("rules") == before).then(pl.lit("before")).otherwise(pl.lit("after"))
    return (
        own.group_by(side.alias("side"), *by)
        .agg(pl.col("swapped_out", "fallbacks").sum().cast(pl.Float64))
        .with_columns(
            share=100 * pl.col("fallbacks") / (pl.col("fallbacks") + pl.col("swapped_out"))
        )
    )


_POINT: Final = ("in_use", "singles", "seed")


def pairs(runs: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compare the published pairs of fallbacks with the simulated ones, as shares.

    Parameters
    ----------
    runs : polars.DataFrame, optional
        Schema BUILD_RUNS; default: the stored study.

    Returns
    -------
    polars.DataFrame
        Schema PAIRS: the middle of what is open over all seeds, with the range over seeds and what
        is open; whether the direction is that of the published pair, and whether each size is
        within FACTOR of its.
    """
    runs = BUILD_RUNS.check(studies.kernel_builds.load() if runs is None else runs)
    stated = {row["claim"]: row for row in claims.published_claims().filter(patch=PATCH).to_dicts()}
    rows = []
    for pair, (_, _, _, _, (order,)) in _COMPARISONS.items():
        split, whole = stated[f"{pair}-fallback"], stated[f"{pair}-swpout"]
        published = [100 * split[s] / (split[s] + whole[s]) for s in ("base", "value")]
        middle = dict(_sums(_of_middle(runs), pair).select("side", "share").iter_rows())
        ends = (
            _sums(runs, pair, *_POINT)
            .group_by("side")
            .agg(low=pl.col("share").min(), high=pl.col("share").max())
        )
        low, high = (dict(ends.select("side", end).iter_rows()) for end in ("low", "high"))
        simulated = [middle["before"], middle["after"]]
        rows.append(
            {
                "claim": f"{pair}-fallback",
                "order": order,
                "published_before": published[0],
                "published_after": published[1],
                "simulated_before": simulated[0],
                "simulated_after": simulated[1],
                "before_low": low["before"],
                "before_high": high["before"],
                "after_low": low["after"],
                "after_high": high["after"],
                "direction": "agrees"
                if _direction(*simulated) == _direction(*published)
                else "contradicts",
                "size_before": _of_one_size(published[0], simulated[0]),
                "size_after": _of_one_size(published[1], simulated[1]),
            }
        )
    return PAIRS.check(pl.DataFrame(rows, schema=PAIRS.schema))


def _of_middle(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.filter(in_use=_MIDDLE[0], singles=_MIDDLE[1])


def _direction(before: float, after: float) -> str:
    """Return falls, rises, or stays; two shares below LEAST_PERCENT have no direction."""
    if max(before, after) < LEAST_PERCENT or before == after:
        return "stays"
    return "falls" if after < before else "rises"


def _of_one_size(published: float, simulated: float) -> bool:
    one, other = (max(share, LEAST_PERCENT) for share in (published, simulated))
    return max(one, other) <= FACTOR * min(one, other)


def order_of_sizes(found: pl.DataFrame | None = None) -> tuple[int, int]:
    """Return how many pairs of sizes are in the printed order, and how many have an order.

    Two sizes of one table have an order if their printed shares differ by more than APART.

    Parameters
    ----------
    found : polars.DataFrame, optional
        Schema PAIRS.
    """
    table = PAIRS.check(pairs() if found is None else found)
    right = total = 0
    for prefix in ("F-128k|F-256k|F-512k|F-2m", "F-clusters"):
        part = table.filter(pl.col("claim").str.contains(f"^({prefix})"))
        shares = part.select("published_before", "simulated_before").rows()
        for (one, ours), (other, theirs) in combinations(shares, 2):
            if max(one, other) > APART * min(one, other):
                total += 1
                right += (one < other) == (ours < theirs) and ours != theirs
    return right, total


def fallback_rates(build: str, gigabytes: int, *, stages: int = 2) -> pl.DataFrame:
    """Return the share of split folios over time under each rule set of the library.

    Parameters
    ----------
    build : str
        Of `requests.BUILDS`.
    gigabytes : int
        Size of the mail's device.
    stages : int
        How many stages are one point.

    Returns
    -------
    polars.DataFrame
        Schema FALLBACK_RATES, for the rule sets 6.11, 6.12, 6.12-nonfull-first and 7.3.
    """
    runs = _of_middle(studies.kernel_builds.load()).filter(build=build, gigabytes=gigabytes)
    names = {"6.18": "7.3", **{name: name for name in CLUSTER_RULES.words}}
    point = ((pl.col("stage") - 1) // stages + 1) * stages
    frame = (
        runs.filter(pl.col("rules").is_in(list(names)))
        .with_columns(
            pl.col("rules").replace_strict(names).cast(CLUSTER_RULES.dtype),
            stage=point.cast(pl.UInt32),
        )
        .group_by("rules", "order", "stage", "seed")
        .agg(pl.col("swapped_out", "fallbacks").sum())
        .with_columns(requests=pl.col("swapped_out") + pl.col("fallbacks"))
        .filter(pl.col("requests") > 0)
        .with_columns(share=100 * pl.col("fallbacks") / pl.col("requests"))
        .group_by("rules", "order", "stage")
        .agg(
            pl.col("requests").sum(),
            fallback_percent=100 * pl.col("fallbacks").sum() / pl.col("requests").sum(),
            low=pl.col("share").min(),
            high=pl.col("share").max(),
        )
        .sort(pl.col("rules").to_physical(), "order", "stage")
    )
    return FALLBACK_RATES.check(frame.select(FALLBACK_RATES.names()))


def turnover_compared() -> pl.DataFrame:
    """Compare the harder test on identical requests with both real kernels (TURNOVER_COMPARED)."""
    whole, split = pl.col("swapped_out"), pl.col("fallbacks")
    frames = []
    measured = claims.measured_table(studies.TURNOVER, "folios").filter(
        pl.col("iteration") > 10, pl.col("order") > 0
    )
    simulated = studies.turnover.load()
    sides = {
        "simulated": simulated.rename({"rules": "kernel"}),
        "measured": measured.rename({"swpout": "swapped_out", "swpout_fallback": "fallbacks"}),
    }
    for name, rows in sides.items():
        by_seed = rows.group_by("kernel", "order", "seed").agg(whole.sum(), split.sum())
        prefix = "" if name == "simulated" else "measured_"
        share = 100 * split / (split + whole)
        frames.append(
            by_seed.group_by(pl.col("kernel").cast(pl.String), pl.col("order").cast(pl.UInt8)).agg(
                (100 * split.sum() / (split.sum() + whole.sum())).alias(name),
                share.min().alias(f"{prefix}low"),
                share.max().alias(f"{prefix}high"),
            )
        )
    frame = frames[1].join(frames[0], on=["kernel", "order"], how="left").sort("kernel", "order")
    return TURNOVER_COMPARED.check(
        frame.select(pl.col(key).cast(kind) for key, kind in TURNOVER_COMPARED.schema.items())
    )


def simulated_claims() -> pl.DataFrame:
    """Return the figures of the claims (SIMULATED_CLAIMS), of stored studies.

    A pair's figure is the change over all seeds in the middle of what is open, and its range is
    over seeds and what is open. A change from zero is none.
    """
    runs = studies.kernel_builds.load()
    rows: list[tuple[str, float, float, float, str]] = []
    for pair in _COMPARISONS:
        for suffix, count in (("fallback", "fallbacks"), ("swpout", "swapped_out")):
            found = _change(_sums(_of_middle(runs), pair), count)
            ends = [_change(part, count) for _, part in _sums(runs, pair, *_POINT).group_by(_POINT)]
            if found is not None:
                known = [end for end in ends if end is not None]
                rows.append((f"{pair}-{suffix}", found, min(known), max(known), "open constants"))
    rows += [(claim, value, value, value, "seeds") for claim, value in _of_lists().items()]
    stated = claims.published_claims().filter(patch=PATCH)["claim"].to_list()
    frame = pl.DataFrame(rows, schema=SIMULATED_CLAIMS.schema, orient="row")
    return SIMULATED_CLAIMS.check(
        frame.sort(pl.col("claim").replace_strict({name: n for n, name in enumerate(stated)}))
    )


def _change(sums: pl.DataFrame, count: str) -> float | None:
    """Return the change of a count in percent; zero for two zeros, none from zero."""
    found = dict(sums.select("side", count).iter_rows())
    before, after = (float(found.get(side, 0)) for side in ("before", "after"))
    if before == 0:
        return 0.0 if after == 0 else None
    return 100 * (after / before - 1)


def _of_lists() -> dict[str, float]:
    """Return the figures of the claims on printed lists."""
    lines = studies.kernel_test.load()
    compared = compared_lines(lines)

    def of(test: str, rules: str) -> pl.DataFrame:
        return lines.filter(test=test, rules=rules, whole=False)

    def equal(test: str, rules: str) -> float:
        return float(compared.filter(test=test, rules=rules)["equal"].sum())

    def first(test: str) -> float:
        none = of(test, "6.11").filter(pl.col("swpout") == 0)["iteration"]
        return float(none.min())  # type: ignore[arg-type]

    def share(test: str, iterations: int) -> float:
        part = of(test, "6.12").filter(pl.col("iteration") <= iterations)
        split = int(part["swpout_fallback"].sum())
        return 100 * split / (split + int(part["swpout"].sum()))

    return {
        "F-test-first-step": first("first"),
        "F-test-first-lines": equal("first", "6.11"),
        "F-test-first-s-step": first("first -s"),
        "F-test-first-s-lines": equal("first -s", "6.11"),
        "F-test-a-lines": equal("-a", "6.11"),
        "F-test-as-lines": equal("-a -s", "6.11"),
        "F-test-after": share("plain", 17),
        "F-test-s-after": share("-s", 16),
        "F-test-as-after": float(of("-a -s", "6.12")["swpout_fallback"].sum()),
        "F-test-a-after": float(of("-a", "6.12")["swpout_fallback"].sum()),
    }


def headline_fit() -> None:
    """Return None: the model of the clusters has no constants."""


def chances() -> None:
    """Return None: the mails print no deviation."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the swap cache's lock is that of a cluster here."""


def measured_as_mailed() -> None:
    """Return None: the workloads of the mails are not at hand."""


def counted() -> str:
    """Return a sentence on the lines of the kernel's test before 6.12."""
    compared = compared_lines().filter(rules="6.11")
    return (
        f"Of {compared.height} lines that the kernel's test of large folios printed before 6.12, "
        f"the model prints {compared['equal'].sum()} with both counts equal."
    )
