# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel's reclaim with generations compared with the rules: types, tiers, agings, sizes."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from swapsim.errors import errors_of
from swapsim.mglru import _native
from swapsim.mglru.recording import COUNTERS, TIERS, TYPES, Source, recording
from swapsim.traces.verification import Verdict, mismatch


def verify(trace: Source) -> Verdict:
    """Decide a real kernel's choices and turns again by its rules, and compare each.

    A choice agrees if the lists that were scanned are those that follow from the type of the rules.
    Of a tier index only the pages show that were spared: each has to be of a tier above it. A turn
    agrees if the rules age, scan as many pages, and go on or end as the kernel did.

    Parameters
    ----------
    trace : Trace, Path or str
        A trace that feeds mglru.

    Returns
    -------
    Verdict
        Counts of ``types``, ``tiers``, ``agings`` and ``sizes``; figures: ``ambiguous`` decisions,
        ``forced`` choices, in which each rule has the same result, and ``unseen`` turns of
        protected cgroups. Its tables are ``choices`` and ``steps``, with the rules' results.

    Raises
    ------
    InputError
        A table is missing or damaged, the recording lost events or is of two kernels, or a row,
        named by its seq, has a state that cannot be.

    Source
    ------
    mm/vmscan.c: isolate_folios, get_type_to_scan, get_tier_idx, should_run_aging, get_nr_to_scan,
    try_to_shrink_lruvec (6.12, 7.3).

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import mglru
    >>> verdict = mglru.verify(swapsim.open("generations-7.3-held-1"))
    >>> verdict.agrees, verdict.matched, verdict.of
    (True, 4056, 4056)
    """
    rows = recording(trace)
    steps = rows.steps.sort("call", "seq")
    with errors_of(rows.name):
        choices = rows.choices.hstack(_native.choices(rows.choices, rows.rules))
        steps = steps.hstack(_native.steps(steps, rows.rules))
    compared = {
        "types": choices["type_equal"],
        "tiers": choices["tier_equal"],
        "agings": steps["age_equal"],
        "sizes": steps["size_equal"],
    }
    counts = {
        name: (int((column == "equal").sum()), int(column.is_in(["equal", "differs"]).sum()))
        for name, column in compared.items()
    }
    figures = {
        "ambiguous": sum(int((column == "ambiguous").sum()) for column in compared.values()),
        "forced": int((choices["type_equal"] == "not-compared").sum()),
        "aged": int(steps["aged"].sum()),
        "unseen": int(steps["shielded"].sum()),
    }
    agrees = all(equal == number for equal, number in counts.values())
    return Verdict(
        agrees=agrees,
        counts=counts,
        figures=figures,
        notes=(
            "not counted below: {forced} choices that come out the same by any rule",
            "not counted below: {ambiguous} ambiguous decisions, which a concurrent change could "
            "turn",
            "not modelled: {unseen} turns of protected cgroups",
            "new generations that the kernel asked for: {aged}",
        ),
        result="chose {types} types ({tiers} tiers, {agings} agings, {sizes} scan sizes; "
        "{ambiguous} ambiguous, not counted)",
        first=None if agrees else _first(choices, steps),
        tables={"choices": choices, "steps": steps},
    )


def _first(choices: pl.DataFrame, steps: pl.DataFrame) -> str:
    """Describe the first row that differs, with the state of its decision."""
    chosen = choices.filter(
        (pl.col("type_equal") == "differs") | (pl.col("tier_equal") == "differs")
    )
    stepped = steps.filter((pl.col("age_equal") == "differs") | (pl.col("size_equal") == "differs"))
    both = [
        (frame.sort("seq").row(0, named=True), describe)
        for frame, describe in ((chosen, _choice), (stepped, _step))
        if frame.height
    ]
    row, describe = min(both, key=lambda each: int(each[0]["seq"]))
    where = "the row with seq {seq}, of task {pid} on CPU {cpu}, lruvec {lruvec}".format(**row)
    return describe(where, row)


def _choice(where: str, row: Mapping[str, Any]) -> str:
    sides = {
        "ours": "{type} by {term}, first list {first}, tier index {tier}".format(**row),
        "trace": ", ".join(
            f"{row[f'taken_{n}']} of {row[f'pages_{n}']} {row[f'scan_{n}']} pages"
            for n in (1, 2)
            if row[f"scan_{n}"]
        )
        or "no list was scanned",
        "state": "swappiness {swappiness}, priority {priority}, generations {min_seq_anon} (anon) "
        "and {min_seq_file} (file) to {max_seq}".format(**row),
    }
    return mismatch(
        where,
        "another type" if row["type_equal"] == "differs" else "a tier below the index was spared",
        sides,
        *(
            f"  {each}, tiers 0 to 3: "
            + "; ".join(
                f"{name} {', '.join(str(row[f'{name}_{each}_{tier}']) for tier in TIERS)}"
                for name in COUNTERS
            )
            for each in TYPES
        ),
    )


def _step(where: str, row: Mapping[str, Any]) -> str:
    did = "makes a generation and " * row["aged"] + (
        f"scans {row['batch'] or row['scanned']} pages" if row["evicted"] else "scans nothing"
    )
    asked = {None: "did not ask whether to stop", True: "is to stop", False: "is to go on"}
    return mismatch(
        where,
        "another aging" if row["age_equal"] == "differs" else "another scan size or end",
        {
            "ours": f"ages: {'yes' if row['ages'] else 'no'}; pages left to scan: {row['low']} to "
            f"{row['high']}",
            "trace": f"{did}, {asked[row['stop']]}",
            "state": "call {call}, swappiness {swappiness}, priority {priority}, generations "
            "{min_seq_anon} (anon) and {min_seq_file} (file) to {max_seq}".format(**row),
        },
    )
