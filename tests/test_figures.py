# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures that stay, whatever moves: tests/figures.json against the code and the stores.

An entry is a call of a function below and its value. A rename changes what stands in this file;
an entry's value changes only in a commit that says why. `python tests/test_figures.py CALL...`
prints what calls give now, and without calls each entry that differs.
"""

import json
import sys
import warnings
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

import polars as pl

from swapsim import clusters, mapping, mglru, reclaim, removal, slots, stall
from swapsim.machine import Machine
from swapsim.machine import run as run_machine
from swapsim.stall.recording import reclaim_rows
from swapsim.stall.replay import decided_lists, summed_decisions
from swapsim.traces.folder import locate

DATA = Path(__file__).parents[1] / "data"
FIGURES = Path(__file__).with_name("figures.json")

VERIFY = {
    "slots": slots.verify,
    "stall": stall.verify,
    "clusters": clusters.verify,
    "mglru": mglru.verify,
}


def verify(subject: str, trace: str) -> str:
    """What the model says of a recording: the last line."""
    return VERIFY[subject](trace).describe()[-1]


def tags(trace: str, kernel: str) -> Any:
    """Patch A: acquisitions, tree walks, nodes and tag words, by flow, tags and site."""
    sites = mapping.replay(trace, kernels=kernel)
    return table(
        sites, ["flow", "tags", "site"], "acquisitions", "tree_walks", "nodes", "tag_words"
    )


def batches(trace: str) -> Any:
    """Patch B: lists, pages, locks page by page and batched, the most pages under one lock."""
    rows = removal.replay(trace)
    return table(rows, ["kernel"], "lists", "pages", "failed", "page_by_page", "batched", "longest")


def stalls(trace: str, rules: str) -> Any:
    """Patch C: decisions of a set of rules on the lists of a recording."""
    decided, rounds = _decided(trace)
    return (
        summed_decisions(decided, rounds, trace=trace)
        .filter(rules=rules)
        .drop("trace", "rules")
        .row(0, named=True)
    )


@cache
def _decided(trace: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = reclaim_rows(locate(trace))
    return decided_lists(rows), rows.rounds


def slot_policies(trace: str, seeds: int = 2) -> Any:
    """Patches D and E: the requests of a recording under each policy, mean over seeds."""
    rows = slots.replay(trace, seeds=seeds)
    return _means(rows, "policy")


def slot_churn(policy: str, seeds: int = 2, **workload: Any) -> Any:
    """Patches D and E: generated requests under a policy, mean over seeds."""
    churn = slots.Churn(**workload)
    rows = slots.run(slots.Device(), churn, policy, seeds=seeds, used_share=[0.5, 0.9])
    return _means(rows, "used_share")


def _means(rows: pl.DataFrame, by: str) -> Any:
    return table(
        rows.filter(pl.col("metric").is_in(["scanned", "run", "lock.moved.add", "lock.met.add"]))
        .group_by(by, "metric", maintain_order=True)
        .agg(pl.col("value").mean()),
        [by, "metric"],
        "value",
    )


@cache
def _clusters(trace: str) -> Any:
    return clusters.replay(trace)


def cluster_grants(trace: str) -> Any:
    """6.12 to 7.3: requests, grants and fallbacks by rules and order."""
    rows = _clusters(trace).grants
    return table(rows, ["rules", "order"], "requests", "granted", "fallbacks")


def cluster_work(trace: str) -> Any:
    """6.12 to 7.3: visits, picks, list moves and what is found, by rules."""
    rows = _clusters(trace).work
    return table(rows, ["rules"], "grants", "slots", "visits", "picks", "moves", "reclaims")


def mglru_flips(trace: str) -> Any:
    """MGLRU: choices by the base's term and other rules' type and term."""
    keys = ["rules", "base_type", "base_term", "type", "term"]
    rows = mglru.replay(trace).flips.group_by(keys, maintain_order=True)
    return table(rows.agg(pl.col("choices").sum()), keys, "choices")


def mglru_swappiness(trace: str, *values: int) -> Any:
    """MGLRU: at another swappiness, choices that flip, by the recorded one and the new type."""
    found = {}
    for value in values:
        rows = mglru.replay(trace, swappiness=value).flips.filter("flips")
        some = rows.group_by("swappiness", "type", maintain_order=True).agg(pl.col("choices").sum())
        found[value] = table(some, ["swappiness", "type"], "choices") if some.height else {}
    return found


def mglru_switches(trace: str) -> Any:
    """MGLRU: choices that flip without a term of the rules."""
    rows = mglru.replay(trace).switches
    return table(rows, ["rules", "switch"], "flips", "to_anon", "tiers")


def machine(changed: dict[str, int] | None = None, **fields: Any) -> Any:
    """The machine of CPUs and locks: rates, waits and acquisitions of one run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = run_machine(Machine(costs=changed or {}, **fields)).rows
    wanted = pl.col("metric").str.contains(
        r"^(swap_out|swap_in|accesses|busy)$|^(cycles|acquisitions|contended|moved)\."
    )
    sites = rows.filter(wanted).select(pl.col("metric").str.extract(r"^(\w+(?:\.\w+)?)"), "value")
    return table(
        sites.group_by("metric", maintain_order=True).agg(pl.col("value").sum()),
        ["metric"],
        "value",
    )


def parallelio(rules: str, share: float = 0.05, seed: int = 1, **where: Any) -> Any:
    """Patch C's machine of memory and disk: the mail's test, smaller; its vmstat block."""
    run = reclaim.parallelio(rules, iterations=1, seed=seed, share=share, **where)
    return table(run.vmstat, ["metric"], "value")


def stored(name: str, *by: str, **where: Any) -> Any:
    """Median of a stored study's values (or of `value=`), by columns; `where` keeps rows."""
    return _medians(pl.read_parquet(DATA / "simulated" / f"{name}.parquet"), by, where)


def measured(experiment: str, *by: str, **where: Any) -> Any:
    """Median over rounds of what a real kernel counted, by columns; `where` keeps rows."""
    return _medians(pl.read_parquet(DATA / "measured" / experiment / "results.parquet"), by, where)


def _medians(rows: pl.DataFrame, by: tuple[str, ...], where: dict[str, Any]) -> Any:
    value = where.pop("value", "value")
    for column, wanted in where.items():
        text = pl.col(column).cast(pl.String)
        rows = rows.filter(
            text.is_in(list(map(str, wanted if isinstance(wanted, list) else [wanted])))
        )
    found = rows.group_by(by, maintain_order=True).agg(pl.col(value).median())
    return table(found.sort(by), list(by), value)


def table(rows: pl.DataFrame, keys: list[str], *values: str) -> dict[str, Any]:
    """Each row's values under its keys."""
    found: dict[str, Any] = {}
    for row in rows.select(*keys, *values).iter_rows():
        name, rest = " | ".join(map(str, row[: len(keys)])), row[len(keys) :]
        assert name not in found, f"two rows of {name}"
        found[name] = rest[0] if len(values) == 1 else list(rest)
    assert found, "no rows"
    return found


def value_of(call: str) -> Any:
    """Evaluate an entry's call; the value as JSON would store it."""
    return json.loads(json.dumps(eval(call, globals())))


def differs(now: Any, then: Any) -> list[str]:
    """Where two values differ: integers and words exactly, others beyond rounding."""
    if isinstance(now, dict) and isinstance(then, dict):
        return [
            f"{key}: {line}"
            for key in dict.fromkeys([*then, *now])
            for line in differs(now.get(key, "nothing"), then.get(key, "nothing"))
        ]
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [line for pair in zip(now, then, strict=True) for line in differs(*pair)]
    numbers = isinstance(now, float | int) and isinstance(then, float | int)
    same = isclose(now, then, rel_tol=1e-9) if numbers else now == then
    return [] if same else [f"{then} -> {now}"]


def changed(calls: dict[str, Any]) -> list[str]:
    """Lines for the entries whose value is another one now."""
    lines = []
    for call, then in calls.items():
        lines += [f"{call}: {line}" for line in differs(value_of(call), then)[:5]]
    return lines


def test_figures_that_stay() -> None:
    """Each figure of tests/figures.json comes out again."""
    figures = json.loads(FIGURES.read_text())
    assert len(figures) > 100
    assert not changed(figures)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(json.dumps({each: value_of(each)}, indent=1))
    if not sys.argv[1:]:
        print(*changed(json.loads(FIGURES.read_text())), sep="\n")
