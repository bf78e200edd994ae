# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded states of generations decided by other rules, open loop, and a timeline of them.

Open loop: each state is the recording's own. A replay says what other rules choose in it, not what
the next state would have been.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError, check_choice
from swapsim.ffi import MGLRU_RULES, MGLRU_SWITCHES
from swapsim.mglru import _native
from swapsim.mglru.recording import GenerationRows, generation_rows
from swapsim.mglru.tables import MGLRU_FLIPS, MGLRU_SWITCHED, MGLRU_TIMELINE, TIERS, TYPES
from swapsim.policies import TypePolicy

Source = GenerationRows | Path | str
Switches = Mapping[str, bool | int]

UNUSED: Final[Mapping[str, Switches]] = {
    "no controller": {"controller": False},
    "equal gains": {"anon_gain": 100, "file_gain": 100},
    "no few refaults": {"few_refaults": 0},
}
"""Rules that no kernel has: by swappiness alone, by rates alone, and by the rates of few pages."""

_WHEN: Final = ("rules", "base_term", "term", "type", "choices")
_NUMBER_MAX: Final = 2**32 - 1
_NANOSECONDS: Final = 10**9
_OBSERVED: Final = 100
"""Rows for which a user's function is run line by line first, since machine code may hang."""


def _rows(source: Source) -> GenerationRows:
    return source if isinstance(source, GenerationRows) else generation_rows(source)


def _check_switches(switches: Switches) -> Switches:
    for name, value in switches.items():
        if name not in MGLRU_SWITCHES:
            known = ", ".join(MGLRU_SWITCHES)
            raise InputError(f"switches={name!r}: choose of {known}")
        flag = MGLRU_SWITCHES[name]
        if type(value) is not (bool if flag else int) or not 0 <= value <= _NUMBER_MAX:
            wanted = "True or False" if flag else f"a number from 0 to {_NUMBER_MAX}"
            raise InputError(f"switches={{{name!r}: {value!r}}}: give {wanted}")
    return switches


def chosen(
    source: Source, rules: str | TypePolicy, *, switches: Switches | None = None
) -> pl.DataFrame:
    """Choose for each state of a recording by some rules.

    Parameters
    ----------
    source : GenerationRows, Path or str
        The tables, or the trace folder of them.
    rules : str or TypePolicy
        One of MGLRU_RULES, or a rule of your own.
    switches : mapping of str to bool or int, optional
        Switches of ``mglru.h`` to change in these rules.

    Returns
    -------
    polars.DataFrame
        MGLRU_CHOICES, with the ``type`` of the rules, the ``term`` that decides it, the
        ``first`` list that is scanned (a type with two generations yields nothing), and its
        ``tier`` index.

    Raises
    ------
    InputError
        As for `generation_rows`; or a row, named by its seq, has a state that cannot be; or a rule
        of your own, named by its file or cell and line, raises, does not end or returns no type.
    InputError
        There are no such rules or switches.
    """
    choices, changed = _rows(source).choices, _check_switches(switches or {})
    if isinstance(rules, TypePolicy):
        _native.observe(choices.head(_OBSERVED), rules, changed)
    else:
        check_choice("rules", rules, MGLRU_RULES)
    found = _native.choices(choices, rules, changed)
    return pl.concat([choices, found.select("type", "first", "term", "tier")], how="horizontal")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReplay:
    """The states of a recording, decided by other rules.

    Attributes
    ----------
    flips, switches, timeline : polars.DataFrame
        Schemas MGLRU_FLIPS, MGLRU_SWITCHED and MGLRU_TIMELINE.
    when : polars.DataFrame
        ``start_s, rules, base_term, term, type, choices``: the flips of each part of the recording.
    """

    flips: pl.DataFrame
    when: pl.DataFrame
    switches: pl.DataFrame
    timeline: pl.DataFrame


def replay(
    source: Source,
    rules: Sequence[str | TypePolicy] = MGLRU_RULES,
    *,
    switches: Switches | None = None,
    parts: int = 20,
) -> GenerationReplay:
    """Decide the states of a recording by other rules: which choices flip, when, by which term.

    Parameters
    ----------
    source : GenerationRows, Path or str
        The tables, or the trace folder of them.
    rules : sequence of str or TypePolicy
        Of MGLRU_RULES, and rules of your own; default: those of both kernels.
    switches : mapping of str to bool or int, optional
        Switches of ``mglru.h`` to change in each of them.
    parts : int
        Parts of equal time in ``when`` and in the timeline, 1 to 10,000.

    Returns
    -------
    GenerationReplay
        In ``switches`` each switch in which the rules differ from those of the recorded kernel is
        set alone in these; and each of `UNUSED`, which no kernel has.

    Raises
    ------
    InputError, InputError
        As for `chosen`.

    Source
    ------
    mm/vmscan.c: isolate_folios, get_type_to_scan, get_tier_idx (6.12, 7.3).

    Examples
    --------
    >>> from swapsim import frames, generations
    >>> replayed = mglru.replay("generations-7.3-held-1")
    >>> frames.show(replayed.flips)
    base: 7.3
    rules  base_type  base_term      type  term              choices  flips
     6.12  anon       few refaults   anon  older generation       10  no
     6.12  anon       refault rates  anon  older generation       30  no
     6.12  anon       refault rates  anon  refault rates          38  no
     6.12  file       few refaults   anon  older generation    2,286  yes
     6.12  file       few refaults   file  few refaults        1,277  no
     6.12  file       refault rates  anon  older generation      348  yes
     6.12  file       refault rates  anon  refault rates          74  yes
      7.3  anon       few refaults   anon  few refaults           10  no
      7.3  anon       refault rates  anon  refault rates          68  no
      7.3  file       few refaults   file  few refaults        3,563  no
      7.3  file       refault rates  file  refault rates         422  no
    """
    rows, wanted = _rows(source), tuple(dict.fromkeys(rules))
    decided = _decided(rows, wanted, switches, _part_ns(rows, parts))
    others = [each for each in wanted if isinstance(each, str) and each != rows.rules]
    return GenerationReplay(
        flips=_counted(decided, *MGLRU_FLIPS.names()),
        when=_counted(decided.filter("flips"), "start_s", *_WHEN),
        switches=_by_switch(rows, others),
        timeline=timeline(rows, parts=parts),
    )


def _decided(
    rows: GenerationRows,
    rules: Sequence[str | TypePolicy],
    switches: Switches | None,
    part: pl.Expr,
) -> pl.DataFrame:
    """Return each choice by each of the rules, next to the recorded kernel's."""
    kernel = chosen(rows, rows.rules).select(base_type="first", base_term="term")
    names = [each if isinstance(each, str) else each.name for each in rules]
    return pl.concat(
        chosen(rows, each, switches=switches)
        .select("term", type="first", start_s=part / _NANOSECONDS)
        .hstack(kernel)
        .with_columns(
            rules=pl.lit(name), base=pl.lit(rows.rules), flips=pl.col("type") != pl.col("base_type")
        )
        for name, each in zip(names, rules, strict=True)
    )


def _counted(decided: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return the number of ``choices`` for each value of the other columns."""
    counted = decided.group_by(name for name in columns if name != "choices").len("choices")
    types = MGLRU_FLIPS.schema
    return counted.select(pl.col(name).cast(types.get(name, pl.Float64)) for name in columns).sort(
        *columns
    )


def _by_switch(rows: GenerationRows, rules: Sequence[str]) -> pl.DataFrame:
    base, found = chosen(rows, rows.rules), []
    own = _native.switches_of(rows.rules)
    changes = [("none", name, switches) for name, switches in UNUSED.items()]
    for each in rules:
        differ = {
            name: value for name, value in _native.switches_of(each).items() if value != own[name]
        }
        changes += [(each, name, {name: value}) for name, value in differ.items()]
        changes.append((each, "all", differ))
    for each, name, changed in changes:
        now = chosen(rows, rows.rules, switches=changed)
        turned = now["first"] != base["first"]
        to_anon = turned & (now["first"] == TYPES[0])
        counts = (turned, to_anon, now["tier"] != base["tier"])
        found.append((each, name, base.height, *(int(each.sum()) for each in counts)))
    frame = pl.DataFrame(found, schema=MGLRU_SWITCHED.schema, orient="row")
    return MGLRU_SWITCHED.check(frame)


def _part_ns(rows: GenerationRows, parts: int) -> pl.Expr:
    """Return when the part of a row begins, in ns from the recording's first decision."""
    if not 1 <= parts <= 10_000:
        raise InputError(f"parts={parts}: give 1 to 10,000")
    times = pl.concat([rows.choices["t_ns"], rows.steps["t_ns"]])
    start, end = int(times.min()), int(times.max())  # type: ignore[arg-type]
    length = max(1, -(-(end - start + 1) // parts))
    return (pl.col("t_ns") - start) // length * length


def timeline(source: Source, *, parts: int = 60) -> pl.DataFrame:
    """Return in time what was chosen, and by what: why pages were swapped out.

    Parameters
    ----------
    source : GenerationRows, Path or str
        The tables, or the trace folder of them.
    parts : int
        Parts of equal time into which the recording is divided, 1 to 10,000.

    Returns
    -------
    polars.DataFrame
        Schema MGLRU_TIMELINE: rows for parts in which an lruvec was scanned.

    Raises
    ------
    InputError
        As for `generation_rows`.

    Examples
    --------
    >>> from swapsim import frames, generations
    >>> timeline = mglru.timeline("generations-7.3-held-1", parts=2)
    >>> frames.show(timeline.select("start_s", "lruvec", "choices", "anon_percent", "agings"))
    start_s  lruvec  choices  anon_percent  agings
          0       0    1,231          5.61       8
          0       1    1,646          0.36       9
         33       0       72          0          3
         33       1    1,114          0.27       9
    """
    rows = _rows(source)
    part = (_part_ns(rows, parts) / _NANOSECONDS).alias("start_s")

    def pages(each: str, *names: str) -> pl.Expr:
        columns = (f"{name}_{each}_{tier}" for name in names for tier in TIERS)
        return pl.sum_horizontal(pl.col(name).cast(pl.UInt64) for name in columns).sum()

    of_types: dict[str, pl.Expr] = {}
    for each in TYPES:
        total = pages(each, "avg_total", "evicted", "protected")
        refaulted = pages(each, "avg_refaulted", "refaulted")
        left = pl.col("max_seq") + 1 - pl.col(f"min_seq_{each}")
        of_types[f"rate_{each}_percent"] = pl.when(total > 0).then(refaulted / total * 100)
        of_types[f"generations_{each}"] = left.mean()
    found = rows.choices.group_by(part, "lruvec").agg(
        (pl.col("scan_1") == TYPES[0]).mean().alias("anon_percent") * 100,
        pl.col("swappiness").mean(),
        **of_types,
        choices=pl.len(),
    )
    agings = rows.steps.group_by(part, "lruvec").agg(agings=pl.col("aged").sum())
    joined = found.join(agings, on=("start_s", "lruvec"), how="full", coalesce=True).with_columns(
        pl.col("choices", "agings").fill_null(0)
    )
    schema = MGLRU_TIMELINE.schema
    typed = joined.select(pl.col(name).cast(kind) for name, kind in schema.items())
    return typed.sort("start_s", "lruvec")
