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

from swapsim.checks import check_choice, checked
from swapsim.errors import ConfigError
from swapsim.ffi import GENERATION_RULES, GENERATION_SWITCHES
from swapsim.generations import _native
from swapsim.generations.recording import GenerationRows, check_generation_rows, generation_rows
from swapsim.generations.tables import (
    GENERATION_FLIPS,
    GENERATION_SWITCHED,
    GENERATION_TIMELINE,
    TIERS,
    TYPES,
)

Source = GenerationRows | Path | str
Switches = Mapping[str, bool | int]

_NUMBER_MAX: Final = 2**32 - 1
_NANOSECONDS: Final = 10**9


def _rows(source: Source) -> GenerationRows:
    rows = isinstance(source, GenerationRows)
    return check_generation_rows(source) if rows else generation_rows(source)  # type: ignore[arg-type]


def _check_switches(switches: Switches) -> Switches:
    for name, value in switches.items():
        if name not in GENERATION_SWITCHES:
            known = ", ".join(GENERATION_SWITCHES)
            raise ConfigError(f"switches={name!r}: choose of {known}")
        kind = bool if GENERATION_SWITCHES[name] else int
        if type(value) is not kind or not 0 <= value <= _NUMBER_MAX:
            raise ConfigError(
                f"switches: {name} is {value!r}: give a value of type {kind.__name__}"
            )
    return switches


@checked
def chosen(source: Source, rules: str, *, switches: Switches | None = None) -> pl.DataFrame:
    """Choose for each state of a recording by some rules.

    Parameters
    ----------
    source : GenerationRows, Path or str
        The tables, or the trace folder of them.
    rules : str
        One of GENERATION_RULES.
    switches : mapping of str to bool or int, optional
        Switches of ``generations.h`` to change in these rules.

    Returns
    -------
    polars.DataFrame
        GENERATION_CHOICES, with the ``type`` of the rules, the ``term`` that decides it, the
        ``first`` list that is scanned (a type with two generations yields nothing), and its
        ``tier`` index.

    Raises
    ------
    InputError
        As for `generation_rows`; or a row, named by its seq, has a state that cannot be.
    ConfigError
        There are no such rules or switches.
    """
    check_choice("rules", rules, GENERATION_RULES)
    choices = _rows(source).choices
    found = _native.choices(choices, rules, _check_switches(switches or {}))
    return pl.concat([choices, found.select("type", "first", "term", "tier")], how="horizontal")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReplay:
    """The states of a recording, decided by other rules.

    Attributes
    ----------
    flips, switches, timeline : polars.DataFrame
        Schemas GENERATION_FLIPS, GENERATION_SWITCHED and GENERATION_TIMELINE.
    """

    flips: pl.DataFrame
    switches: pl.DataFrame
    timeline: pl.DataFrame


@checked
def replay(
    source: Source,
    rules: Sequence[str] = GENERATION_RULES,
    *,
    switches: Switches | None = None,
    parts: int = 20,
) -> GenerationReplay:
    """Decide the states of a recording by other rules: which choices flip, when, by which term.

    Parameters
    ----------
    source : GenerationRows, Path or str
        The tables, or the trace folder of them.
    rules : sequence of str
        Of GENERATION_RULES; default: all.
    switches : mapping of str to bool or int, optional
        Switches of ``generations.h`` to change in each of them.
    parts : int
        Parts of equal time in the timeline, 1 to 10,000.

    Returns
    -------
    GenerationReplay
        In ``switches`` each switch in which the rules differ from those of the recorded kernel is
        set alone in these.

    Raises
    ------
    InputError, ConfigError
        As for `chosen`.

    Source
    ------
    mm/vmscan.c: isolate_folios, get_type_to_scan, get_tier_idx (6.12, 7.3).

    Examples
    --------
    >>> from swapsim import frames, generations
    >>> replayed = generations.replay("generations-7.3-held-1")
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
    return GenerationReplay(
        flips=_flips(rows, wanted, switches),
        switches=_by_switch(rows, [each for each in wanted if each != rows.rules]),
        timeline=timeline(rows, parts=parts),
    )


def _flips(rows: GenerationRows, rules: Sequence[str], switches: Switches | None) -> pl.DataFrame:
    kernel = chosen(rows, rows.rules).select(base_type="first", base_term="term")
    counted = []
    for each in rules:
        found = chosen(rows, each, switches=switches).select("term", type="first")
        both = pl.concat([found, kernel], how="horizontal").group_by(pl.all()).len("choices")
        counted.append(both.with_columns(rules=pl.lit(each), base=pl.lit(rows.rules)))
    found = pl.concat(counted).with_columns(flips=pl.col("type") != pl.col("base_type"))
    schema = GENERATION_FLIPS.schema
    return found.select(pl.col(name).cast(kind) for name, kind in schema.items()).sort(*schema)


def _by_switch(rows: GenerationRows, rules: Sequence[str]) -> pl.DataFrame:
    base, found = chosen(rows, rows.rules), []
    own = _native.switches_of(rows.rules)
    for each in rules:
        differ = {
            name: value for name, value in _native.switches_of(each).items() if value != own[name]
        }
        alone = {name: {name: value} for name, value in differ.items()}
        for name, changed in (alone | {"all": differ}).items():
            now = chosen(rows, rows.rules, switches=changed)
            turned = [int((now[column] != base[column]).sum()) for column in ("first", "tier")]
            found.append((each, name, base.height, *turned))
    frame = pl.DataFrame(found, schema=GENERATION_SWITCHED.schema, orient="row")
    return GENERATION_SWITCHED.check(frame)


@checked
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
        Schema GENERATION_TIMELINE: rows for parts in which an lruvec was scanned.

    Raises
    ------
    InputError
        As for `generation_rows`.

    Examples
    --------
    >>> from swapsim import frames, generations
    >>> timeline = generations.timeline("generations-7.3-held-1", parts=2)
    >>> frames.show(timeline.select("start_s", "lruvec", "choices", "anon_percent", "agings"))
    start_s  lruvec  choices  anon_percent  agings
          0       0    1,231          5.61       8
          0       1    1,646          0.36       9
         33       0       72          0          3
         33       1    1,114          0.27       9
    """
    if not 1 <= parts <= 10_000:
        raise ConfigError(f"parts={parts}: give 1 to 10,000")
    rows = _rows(source)
    times = pl.concat([rows.choices["t_ns"], rows.steps["t_ns"]])
    start, end = int(times.min()), int(times.max())  # type: ignore[arg-type]
    length = max(1, -(-(end - start + 1) // parts))

    def part(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(part=(pl.col("t_ns") - start) // length)

    def over_tiers(each: str, *names: str) -> pl.Expr:
        columns = (f"{name}_{each}_{tier}" for name in names for tier in TIERS)
        return pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in columns)

    rates = [
        (
            over_tiers(each, "avg_refaulted", "refaulted")
            / over_tiers(each, "avg_total", "evicted", "protected")
            * 100
        )
        .replace(float("nan"), None)
        .mean()
        .alias(f"rate_{each}_percent")
        for each in TYPES
    ]
    found = (
        part(rows.choices)
        .group_by("part", "lruvec")
        .agg(
            pl.len().alias("choices"),
            ((pl.col("scan_1") == TYPES[0]).mean() * 100).alias("anon_percent"),
            *rates,
            pl.col("swappiness").mean(),
            (pl.col("max_seq") + 1 - pl.max_horizontal(f"min_seq_{each}" for each in TYPES))
            .mean()
            .alias("generations"),
        )
    )
    agings = part(rows.steps).group_by("part", "lruvec").agg(pl.col("aged").sum().alias("agings"))
    joined = found.join(agings, on=("part", "lruvec"), how="full", coalesce=True).with_columns(
        pl.col("choices", "agings").fill_null(0), start_s=pl.col("part") * length / _NANOSECONDS
    )
    schema = GENERATION_TIMELINE.schema
    typed = joined.select(pl.col(name).cast(kind) for name, kind in schema.items())
    return typed.sort("start_s", "lruvec")
