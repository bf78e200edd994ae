# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C's notebook shows and takes long to run: kept in data/simulated."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import reclaim
from swapsim.patches.stall_decisions import over_time, unknowns, what_if
from swapsim.patches.stall_decisions.lab import STEPS
from swapsim.patches.stall_decisions.mail import PATCH, RULES
from swapsim.patches.stall_decisions.worlds import SEEDS, TARGETS, Run, tell
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked

CONSTANTS: Final = ("world.csv",)
JUDGED: Final = (*CONSTANTS, "published/world-tolerances.csv")

STEP_SEEDS: Final = tuple(range(1, 6))
"""Behind what each patch does to the whole run: fewer than behind the tables, of nine rule sets."""


def _target_of(rows: pl.DataFrame, pick: int) -> Any:
    labelled = rows.with_columns(target=pl.col("metric").str.split(": ").list.first())
    return picked(labelled, ["policy", "target", "seed"], pick)


def _one_run(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    rules, target, seed = _target_of(rows, pick)
    return tell([Run(rules=rules, target=target, seed=seed)], executor=SerialExecutor())


@kept("stall-decisions-world", patch=PATCH, reads=CONSTANTS, sample=_one_run)
def tables(progress: bool) -> pl.DataFrame:
    """Simulate both tests of the mail by its three kernels, 20 seeds (RESULTS)."""
    runs = [Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, RULES, SEEDS)]
    return tell(runs, progress=progress)


@kept("stall-decisions-world-steps", patch=PATCH, reads=CONSTANTS, sample=_one_run)
def steps(progress: bool) -> pl.DataFrame:
    """Simulate both tests by each state of the series, a patch a step (RESULTS)."""
    runs = [Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, STEPS, STEP_SEEDS)]
    return tell(runs, progress=progress)


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Return the runs of a few seeds, of those that are kept (RESULTS)."""
    return tables.load().filter(pl.col("seed").is_in(list(seeds)))


def _one_unknown(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    constant, end, rules = picked(rows, ["constant", "end", "rules"], pick)
    asked = [each for each in unknowns.unknowns() if each[:2] == (constant, end)]
    return unknowns.by_unknown(asked, rules=[rules], executor=SerialExecutor())


@kept("stall-decisions-world-open", patch=PATCH, reads=JUDGED, sample=_one_unknown)
def by_unknown(progress: bool) -> pl.DataFrame:
    """Move each constant of the world to the ends of its range (SIMULATED_OPEN)."""
    return unknowns.by_unknown(progress=progress)


TOGETHER: Final = {"program_pages": "low", "submit_ns": "high"}
"""Two constants at ends of their ranges. They were chosen when their single ends had been seen by
all three kernels, so what they come to together explains a miss and predicts nothing."""

TOGETHER_SEEDS: Final = tuple(range(1, 11))


def _run_together(rules: str, seed: int) -> Run:
    ends = {row["name"]: row for row in reclaim.constants().iter_rows(named=True)}
    moved = {name: ends[name][end] for name, end in TOGETHER.items()}
    return Run(rules=rules, seed=seed, constants=moved)


def _one_run_together(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    rules, seed = picked(rows, ["policy", "seed"], pick)
    return tell([_run_together(rules, seed)], executor=SerialExecutor())


@kept("stall-decisions-world-together", patch=PATCH, reads=CONSTANTS, sample=_one_run_together)
def together(progress: bool) -> pl.DataFrame:
    """Simulate the mail's test on a disk with two constants moved at once (RESULTS)."""
    runs = [_run_together(rules, seed) for rules, seed in product(RULES, TOGETHER_SEEDS)]
    return tell(runs, progress=progress)


def _one_case(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    quick = rows.filter((pl.col("factor") != "memory, GB") | (pl.col("setting") < 16))
    factor, setting, rules, seed = picked(quick, ["factor", "setting", "rules", "seed"], pick)
    asked = [each for each in what_if.cases() if each[:2] == (factor, setting)]
    return what_if.what_if(asked, rules=[rules], seeds=[seed], executor=SerialExecutor())


@kept("stall-decisions-world-what-if", reads=CONSTANTS, sample=_one_case)
def by_machine(progress: bool) -> pl.DataFrame:
    """Run the mail's three kernels on other machines (SIMULATED_WHAT_IF)."""
    return what_if.what_if(progress=progress)


def _one_rule_set_by_time(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (rules,) = picked(rows, ["rules"], pick)
    return over_time.by_time([rules], executor=SerialExecutor())


@kept("stall-decisions-world-by-time", reads=CONSTANTS, sample=_one_rule_set_by_time)
def by_time(progress: bool) -> pl.DataFrame:
    """Look at one round of each kernel every second (SIMULATED_BY_TIME)."""
    return over_time.by_time(progress=progress)


def _one_rule_sets_lives(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (rules,) = picked(rows, ["rules"], pick)
    return over_time.lives([rules], executor=SerialExecutor())


@kept("stall-decisions-world-lives", reads=CONSTANTS, sample=_one_rule_sets_lives)
def lives(progress: bool) -> pl.DataFrame:
    """Follow a hundred pages through one round of each kernel (SIMULATED_PAGE_SPANS)."""
    return over_time.lives(progress=progress)
