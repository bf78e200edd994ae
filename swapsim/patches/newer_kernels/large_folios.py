# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions on large folios: lines, pairs, the harder test, and figures of the claims."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.clusters.tables import CLUSTER_RULES
from swapsim.errors import InputError
from swapsim.patches.newer_kernels import studies

PATCH: Final = "07-newer-kernels"
"""Folder of the patch, in patches."""

FACTOR: Final = 3.0
"""Largest quotient of two shares of split folios that are of one size; stored before any run."""

LEAST_PERCENT: Final = 0.5
"""Shares below it count as this; stored before any run."""

APART: Final = 1.5
"""Smallest quotient of two printed shares that have an order; stored before any run."""

_RECORDING: Final = ("recorded", "seed")
"""Columns of BUILD_RUNS that say which recording it is."""

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


KERNEL_TEST: Final = "large-folios-kernel-test"
"""The experiment that ran the kernel's test on real kernels."""

_OPTIONS: Final = {"plain": "plain", "aligned": "-a", "small": "-s", "small-4k": "-s"}
"""Policies of that experiment -> names of `studies.TESTS`."""


def compared_lines() -> pl.DataFrame:
    """Compare the printed lists of the mails with the simulated lines, those that are comparable.

    The lists are the tables of data/published/07-newer-kernels.csv that end in ``printed list``.
    """
    cells = claims.published_tables().filter(
        pl.col("patch") == PATCH, pl.col("table").str.ends_with(", printed list")
    )
    what = pl.col("metric").str.extract(r"iteration \d+ (.*)$").str.replace(" ", "_")
    lines, frames = studies.kernel_test.load(), []
    for (table, kernel), simulated in _LISTS.items():
        printed = cells.filter(table=f"{table}, printed list", kernel=kernel).select(
            source=pl.format("{}, {}", "mail", "kernel"),
            iteration=pl.col("metric").str.extract(r"iteration (\d+)").cast(pl.UInt32),
            what=what,
            value=pl.col("value").cast(pl.UInt64),
        )
        wide = printed.pivot("what", index=["source", "iteration"], values="value")
        frames.append(_compared(wide, lines, *simulated))
    return pl.concat(frames)


def compared_with_kernels() -> pl.DataFrame:
    """Compare the lines of the kernel's test on real kernels (KERNEL_TEST) with the simulated ones.

    The source is the kernel, and the program's copy where two differ.
    """
    printed = claims.measured_table(KERNEL_TEST, "folios").filter(order=4)
    first = printed.filter(pl.col("seed") == pl.col("seed").min().over("kernel", "policy"))
    lines, frames = studies.kernel_test.load(), []
    for (kernel, policy), part in first.group_by("kernel", "policy", maintain_order=True):
        rules = next(name for name in CLUSTER_RULES.words[::-1] if str(kernel).startswith(name))
        wide = part.select(
            "iteration",
            pl.col("swpout", "swpout_fallback").cast(pl.UInt64),
            source=pl.lit(f"{kernel}, {policy}"),
        )
        frames.append(_compared(wide, lines, _OPTIONS[policy], rules, True))
    return pl.concat(frames)


def _compared(
    printed: pl.DataFrame, lines: pl.DataFrame, test: str, rules: str, whole: bool
) -> pl.DataFrame:
    """Return printed lines next to simulated ones of the same iteration."""
    names = {"swpout": "simulated_swpout", "swpout_fallback": "simulated_fallback"}
    simulated = lines.filter(test=test, rules=rules, whole=whole).rename(names)
    if simulated.is_empty():
        raise InputError(f"no simulated lines of the test {test}", field="test")
    frame = printed.join(simulated, on="iteration", maintain_order="left").with_columns(
        equal=(pl.col("swpout") == pl.col("simulated_swpout"))
        & (pl.col("swpout_fallback") == pl.col("simulated_fallback"))
    )
    counts = ("swpout", "swpout_fallback", *names.values())
    return frame.select("test", "source", "rules", "iteration", *counts, "equal")


_COMPARISONS: Final[Mapping[str, tuple[str, int, str, str, int]]] = {
    "F-64k-8gb": ("64K", 8, "6.17", "6.18", 4),
    "F-64k-10gb": ("64K", 10, "6.17", "6.18", 4),
    "F-128k": ("all", 10, "6.17", "6.18", 5),
    "F-256k": ("all", 10, "6.17", "6.18", 6),
    "F-512k": ("all", 10, "6.17", "6.18", 7),
    "F-2m": ("all", 10, "6.17", "6.18", 9),
    "F-return-64k": ("64K", 10, "6.13", "6.14", 4),
    "F-frag-10gb": ("64K", 10, "6.16", "6.17", 4),
    "F-frag-8gb": ("64K", 8, "6.16", "6.17", 4),
    "F-isolate-64k": ("64K", 10, "6.12", "6.13", 4),
    **{f"F-clusters-{4 << order}k": ("all", 4, "6.11", "6.12", order) for order in range(2, 10)},
}
"""Begin of a pair's claims -> build, gigabytes, rules before and after, order."""


def _sums(runs: pl.DataFrame, pair: str, *by: str) -> pl.DataFrame:
    """Return the counts before and after of a pair, by further columns."""
    build, gigabytes, before, after, order = _COMPARISONS[pair]
    own = runs.filter(
        pl.col("rules").is_in([before, after]), build=build, gigabytes=gigabytes, order=order
    )
    side = pl.when(pl.col("rules") == before).then(pl.lit("before")).otherwise(pl.lit("after"))
    return (
        own.group_by(side.alias("side"), *by)
        .agg(pl.col("swapped_out", "fallbacks").sum().cast(pl.Float64))
        .with_columns(
            share=100 * pl.col("fallbacks") / (pl.col("fallbacks") + pl.col("swapped_out"))
        )
    )


def pairs(runs: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compare the published pairs of fallbacks with the simulated ones, as shares in percent.

    A simulated share is that of all recordings together. ``direction`` says whether it moves as
    the published one, ``size`` whether both are within FACTOR. A pair of which no folio was to be
    swapped out has no row.
    """
    runs = studies.recorded_builds.load() if runs is None else runs
    stated = {row["claim"]: row for row in claims.published_claims().filter(patch=PATCH).to_dicts()}
    rows = []
    for pair in _COMPARISONS:
        split, whole = stated[f"{pair}-fallback"], stated[f"{pair}-swpout"]
        published = {
            side: 100 * split[end] / (split[end] + whole[end])
            for side, end in (("before", "base"), ("after", "value"))
        }
        simulated = dict(_sums(runs, pair).select("side", "share").iter_rows())
        if set(simulated) != set(published):
            continue
        agrees = _direction(**simulated) == _direction(**published)
        row: dict[str, object] = {"claim": f"{pair}-fallback"}
        for source, shares in (("published", published), ("simulated", simulated)):
            row |= {f"{source}_{side}": shares[side] for side in ("before", "after")}
        row["direction"] = "as published" if agrees else "not"
        sizes = {
            f"size_{side}": _of_one_size(published[side], simulated[side]) for side in published
        }
        rows.append(row | sizes)
    return pl.DataFrame(rows)


def _direction(before: float, after: float) -> str:
    """Return falls, rises, or stays; two shares below LEAST_PERCENT have no direction."""
    if max(before, after) < LEAST_PERCENT or before == after:
        return "stays"
    return "falls" if after < before else "rises"


def _of_one_size(published: float, simulated: float) -> bool:
    one, other = (max(share, LEAST_PERCENT) for share in (published, simulated))
    return max(one, other) <= FACTOR * min(one, other)


def order_of_sizes(found: pl.DataFrame) -> tuple[int, int]:
    """Return how many couples of sizes are in the printed order, and how many have an order.

    ``found`` is the frame of `pairs`.

    Two sizes of one table have an order if their printed shares differ by more than APART.
    """
    right = total = 0
    for prefix in ("F-128k|F-256k|F-512k|F-2m", "F-clusters"):
        part = found.filter(pl.col("claim").str.contains(f"^({prefix})"))
        shares = part.select("published_before", "simulated_before").rows()
        for (one, ours), (other, theirs) in combinations(shares, 2):
            if max(one, other) > APART * min(one, other):
                total += 1
                right += (one < other) == (ours < theirs) and ours != theirs
    return right, total


def split_over_time(build: str, gigabytes: int, *, stages: int = 2) -> pl.DataFrame:
    """Return the share of split folios under each rule set of the library, in percent.

    ``stages`` are one point in time; the range is that over the recordings.
    """
    names = {"6.18": "7.3", **{name: name for name in CLUSTER_RULES.words}}
    point = ((pl.col("stage") - 1) // stages + 1) * stages
    rows = (
        studies.recorded_builds.load()
        .filter(pl.col("rules").is_in(list(names)), build=build, gigabytes=gigabytes)
        .with_columns(pl.col("rules").replace_strict(names).cast(CLUSTER_RULES.dtype), stage=point)
    )
    found = split_shares(rows, "rules", "order", "stage", over=_RECORDING)
    return found.sort("rules", "order", "stage").with_columns(size=size_of_order())


def recordings_served() -> pl.DataFrame:
    """Compare what each recording gives under both kernels' rules with what its kernel counted.

    Shares of folios that are split, in percent, by recording and size: ``counted`` by the kernel
    that was recorded, ``6.12`` and ``7.3`` by its recording under their rules.
    """
    keys = ("build", *_RECORDING, "size")
    results = claims.measured_results(studies.BUILD).with_columns(
        pl.col("metric")
        .str.extract_groups(r"^(?<what>swpout\w*) (?<size>\d+[KM])$")
        .struct.unnest()
    )
    folios = results.drop_nulls("size").rename({"policy": "build", "kernel": "recorded"})
    split, whole = pl.col("swpout_fallback"), pl.col("swpout")
    counted = (
        folios.pivot("what", index=keys, values="value")
        .filter(split + whole > 0)
        .select(*keys, asked=(split + whole).cast(pl.Int64), counted=100 * split / (split + whole))
    )
    runs = studies.recorded_builds.load().filter(gigabytes=8).with_columns(size=size_of_order())
    for rules, name in (("6.12", "6.12"), ("6.18", "7.3")):
        shares = split_shares(runs.filter(rules=rules), *keys, over=())
        counted = counted.join(shares.select(*keys, pl.col("split").alias(name)), keys, "left")
    kibibytes = pl.col("size").str.extract(r"(\d+)").cast(pl.Int64)
    by_size = pl.when(pl.col("size").str.ends_with("M")).then(1024 * kibibytes).otherwise(kibibytes)
    return counted.sort("build", *_RECORDING, by_size)


def size_of_order() -> pl.Expr:
    """Return the size of a folio by the column ``order``, such as 64K."""
    kibibytes = 4 * 2 ** pl.col("order").cast(pl.Int64)
    size = pl.when(kibibytes < 1024).then(pl.format("{}K", kibibytes))
    return size.otherwise(pl.format("{}M", kibibytes // 1024))


def split_shares(rows: pl.DataFrame, *by: str, over: Sequence[str] = ("seed",)) -> pl.DataFrame:
    """Return the share of folios that are split over all seeds, and its range over the seeds."""
    split, asked = pl.col("fallbacks"), pl.col("fallbacks") + pl.col("swapped_out")
    of_seeds = rows.group_by(*dict.fromkeys([*by, *over])).agg(
        pl.col("swapped_out", "fallbacks").sum()
    )
    return (
        of_seeds.filter(asked > 0)
        .group_by(*by)
        .agg(
            split=100 * split.sum() / asked.sum(),
            low=(100 * split / asked).min(),
            high=(100 * split / asked).max(),
        )
    )


def turnover_compared() -> pl.DataFrame:
    """Compare the harder test on identical requests with both real kernels, in percent split."""
    keys = ("kernel", "order")
    measured = (
        claims.measured_table(studies.TURNOVER, "folios")
        .filter(pl.col("iteration") > 10, pl.col("order") > 0)
        .rename({"swpout": "swapped_out", "swpout_fallback": "fallbacks"})
        .with_columns(pl.col("order").cast(pl.UInt8))
    )
    theirs = split_shares(measured, *keys).select(
        *keys, measured="split", measured_low="low", measured_high="high"
    )
    ours = split_shares(studies.turnover.load().rename({"rules": "kernel"}), *keys)
    both = theirs.join(ours.rename({"split": "simulated"}), on=keys, how="left").sort(*keys)
    simulated = ("simulated", "low", "high")
    return both.select(*keys, *simulated, "measured", "measured_low", "measured_high")


def answers() -> pl.DataFrame:
    """Return the answers to the claims (ANSWERS), of stored studies.

    A pair's figure is the change over all recordings, and its range is over the recordings. A
    change from zero is none. The base of both rows of a pair is the share of folios that are split,
    because the build is smaller than the mail's.
    """
    runs = studies.recorded_builds.load()
    stated = {row["claim"]: row for row in claims.published_claims().filter(patch=PATCH).to_dicts()}
    ratios = dict(
        pairs(runs)
        .select("claim", pl.col("simulated_before") / pl.col("published_before"))
        .iter_rows()
    )
    rows = []
    for pair in _COMPARISONS:
        if f"{pair}-fallback" not in ratios:
            continue
        sums = _sums(runs, pair)
        each = [part for _, part in _sums(runs, pair, *_RECORDING).group_by(_RECORDING)]
        for suffix, count in (("fallback", "fallbacks"), ("swpout", "swapped_out")):
            known = [end for part in each if (end := _change(part, count)) is not None]
            sides = dict(sums.select("side", count).iter_rows())
            rows.append(
                claims.Answer(
                    claim=f"{pair}-{suffix}",
                    source="simulated",
                    what="recorded builds",
                    base=sides["before"],
                    value=sides["after"],
                    figure=_change(sums, count),
                    low=min(known, default=None),
                    high=max(known, default=None),
                    range_over="open constants",
                    rounds=len(each),
                    base_ratio=ratios[f"{pair}-fallback"],
                )
            )
    for claim, value in _of_lists().items():
        rows.append(
            claims.Answer(
                claim=claim,
                source="simulated",
                value=value,
                figure=value,
                low=value,
                high=value,
                range_over="seeds",
            )
        )
    rows += [each for each in (_after_hours(), _aligned()) if each is not None]
    order = list(stated)
    return claims.table_of(sorted(rows, key=lambda row: order.index(row.claim)))


def _after_hours() -> claims.Answer | None:
    """Return how many folios are split in the last third of a build, against the first."""
    runs = studies.recorded_builds.load().filter(build="64K", gigabytes=8, rules="6.11", order=4)
    first, last = (
        {
            f"{kernel} {seed}": share
            for kernel, seed, share in split_shares(part, *_RECORDING)
            .select(*_RECORDING, "split")
            .iter_rows()
        }
        for part in (runs.filter(pl.col("stage") <= 4), runs.filter(pl.col("stage") > 8))
    )
    what = "share of folios that are split, last third of a recorded build against its first"
    return claims.paired("F-hours", "simulated", first, last, what=what)


def _aligned() -> claims.Answer:
    """Return the folios that the test with ``-a`` splits on a real 6.12.

    The released kernel also swaps in whole folios, which the series did not. By the model that
    changes no figure of this test, and all figures of the others, so they have no answer.
    """
    ran = compared_with_kernels().filter(test="-a", rules="6.12")
    split = float(ran["swpout_fallback"].sum())
    what = "the released Linux 6.12, which swaps whole folios in"
    return claims.Answer(
        claim="F-test-a-after", source="measured", what=what, value=split, figure=split
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
    compared = compared_lines()

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


def counted() -> str:
    """Return a sentence on the lines of the kernel's test before 6.12."""
    compared = compared_lines().filter(rules="6.11")
    return (
        f"Of {compared.height} lines that the kernel's test of large folios printed before 6.12, "
        f"the model prints {compared['equal'].sum()} with both counts equal."
    )
