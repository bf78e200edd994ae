# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded states of generations decided by other rules, open loop, and a timeline of them.

Open loop: each state is the recording's own. A replay says what other rules choose in it, not what
the next state would have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from swapsim.errors import InputError, check_choice, check_number, errors_of
from swapsim.ffi import MGLRU_RULES, MGLRU_SWAPPINESS_MAX, MGLRU_SWITCHES
from swapsim.mglru import _native
from swapsim.mglru.recording import TIERS, TYPES, Recording, Source, recording
from swapsim.policies import TypePolicy

if TYPE_CHECKING:
    import altair as alt

RULES: Final = MGLRU_RULES
"""Rules of reclaim with generations, by their kernels: 6.12 and 7.3."""

Switches = Mapping[str, bool | int]

UNUSED: Final[Mapping[str, Switches]] = {
    "no controller": {"controller": False},
    "equal gains": {"anon_gain": 100, "file_gain": 100},
    "no few refaults": {"few_refaults": 0},
}
"""Rules that no kernel has: by swappiness alone, by rates alone, and by the rates of few pages."""

_NANOSECONDS: Final = 10**9
_OBSERVED: Final = 100
"""Rows for which a user's function is run line by line first, since machine code may hang."""


def chosen(
    trace: Source,
    rules: str | TypePolicy,
    *,
    switches: Switches | None = None,
    swappiness: int | None = None,
) -> pl.DataFrame:
    """Choose for each state of a recording by some rules."""
    rows, changed = recording(trace), switches or {}
    for name in changed:
        check_choice("switches", name, MGLRU_SWITCHES)
    choices = rows.choices
    if swappiness is not None:
        check_number("swappiness", swappiness, 0, MGLRU_SWAPPINESS_MAX)
        choices = choices.with_columns(swappiness=pl.lit(swappiness, pl.Int32))
    with errors_of(rows.name):
        if isinstance(rules, TypePolicy):
            _native.observe(choices.head(_OBSERVED), rules, changed)
        else:
            check_choice("rules", rules, MGLRU_RULES)
        found = _native.choices(choices, rules, changed)
    return choices.hstack(found.select("type", "first", "term", "tier"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The states of a recording, decided by other rules.

    Attributes
    ----------
    flips : polars.DataFrame
        Choices by the rules of the recorded kernel (``base``), at the recorded ``swappiness``, and
        by others: ``base_type, type`` that is scanned first, or neither; the terms that decide it;
        whether the types differ.
    when : polars.DataFrame
        The flips of each part of the recording: ``start_s, rules, base_term, term, type, choices``.
    switches : polars.DataFrame
        What a switch turns at the recorded swappiness: one in which the rules differ from those of
        the recorded kernel, ``all`` of these, or one of `UNUSED` (``rules`` is none). Of
        ``choices`` those that flip, to anonymous pages (``to_anon``), or have another tier index.
    timeline : polars.DataFrame
        As of `timeline`.
    """

    flips: pl.DataFrame
    when: pl.DataFrame
    switches: pl.DataFrame
    timeline: pl.DataFrame

    @property
    def rows(self) -> pl.DataFrame:
        """The choices by both rules: ``flips``."""
        return self.flips


def replay(
    trace: Source,
    rules: Sequence[str | TypePolicy] | None = None,
    *,
    swappiness: int | None = None,
    switches: Switches | None = None,
    parts: int = 20,
) -> Replay:
    """Decide the states of a recording by other rules, or at another swappiness: what flips.

    Each choice is compared with that of the recorded kernel at the swappiness of its own pass,
    which may change during a recording.

    Parameters
    ----------
    trace : Trace, Path or str
        A trace that feeds mglru.
    rules : sequence of str or TypePolicy
        Of RULES, and rules of your own (`swapsim.type_policy`); default: those of both kernels, or
        with a swappiness those of the recorded kernel alone.
    swappiness : int, optional
        Another swappiness in each state, 0 to 200. A recorded 0, which the kernel also takes where
        no swap space is left, is replaced as well. Agings and scan sizes are not replayed.
    switches : mapping of str to bool or int, optional
        Switches of ``mglru.h`` to change in each of the rules.
    parts : int
        Parts of equal time in ``when`` and in the timeline, 1 to 10,000.

    Returns
    -------
    Replay
        Frames ``.flips``, ``.when``, ``.switches`` and ``.timeline``.

    Raises
    ------
    InputError
        As for `verify`; or a rule of your own, named by its file or cell and line, raises, does not
        end or returns no type; or there are no such rules, switches or swappiness.

    Source
    ------
    mm/vmscan.c: isolate_folios, get_type_to_scan, get_tier_idx (6.12, 7.3).

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import mglru
    >>> replayed = mglru.replay(swapsim.open("generations-7.3-held-1"), ["6.12"])
    >>> replayed.flips.filter("flips").select("base_type", "type", "term", "choices").rows()
    [('file', 'anon', 'older generation', 2286), ('file', 'anon', 'older generation', 348), \
('file', 'anon', 'refault rates', 74)]
    >>> replayed = mglru.replay("generations-7.3-mixed-1", swappiness=200)
    >>> replayed.flips.filter("flips").select("swappiness", "base_term", "type", "choices").rows()
    [(60, 'few refaults', 'anon', 3732), (60, 'refault rates', 'anon', 44)]
    """
    rows = recording(trace)
    if rules is None:
        rules = RULES if swappiness is None else (rows.rules,)
    wanted = tuple(dict.fromkeys(rules))
    part = _part_ns(rows, parts) / _NANOSECONDS
    first = pl.col("first").cast(pl.String)
    kernel = chosen(rows, rows.rules).select("swappiness", base_type=first, base_term="term")
    decided = pl.concat(
        chosen(rows, each, switches=switches, swappiness=swappiness)
        .select("term", type=first, start_s=part)
        .hstack(kernel)
        .with_columns(
            rules=pl.lit(each if isinstance(each, str) else each.name),
            base=pl.lit(rows.rules),
            flips=pl.col("type") != pl.col("base_type"),
        )
        for each in wanted
    )
    others = [each for each in wanted if isinstance(each, str) and each != rows.rules]
    return Replay(
        flips=_counted(
            decided,
            *("rules", "base", "swappiness", "base_type", "base_term", "type", "term", "flips"),
        ),
        when=_counted(decided.filter("flips"), "start_s", "rules", "base_term", "term", "type"),
        switches=_by_switch(rows, others),
        timeline=timeline(rows, parts=parts),
    )


def _counted(decided: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return the number of ``choices`` for each value of the columns."""
    return decided.group_by(columns).agg(choices=pl.len().cast(pl.UInt64)).sort(*columns)


def flipped(flips: pl.DataFrame, swappiness: int | None) -> list[str]:
    """Return a line for each of the rules: how many choices flip, and to which type."""
    lines = []
    recorded = ", ".join(map(str, flips["swappiness"].unique().sort()))
    now = recorded if swappiness is None else f"{swappiness} instead of {recorded}"
    for (rules,), of in flips.group_by("rules", maintain_order=True):
        turned = of.filter("flips").group_by("type").agg(pl.col("choices").sum()).sort("type")
        to = ", ".join(f"{n} to {each}" for each, n in turned.iter_rows())
        count = f"{turned['choices'].sum()} of {of['choices'].sum()} choices flip"
        lines.append(f"by {rules} at swappiness {now}: {count}{to and ', '}{to}")
    return lines


def _by_switch(rows: Recording, rules: Sequence[str]) -> pl.DataFrame:
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
    columns = ["rules", "switch", "choices", "flips", "to_anon", "tiers"]
    return pl.DataFrame(found, columns, orient="row")


def _part_ns(rows: Recording, parts: int) -> pl.Expr:
    """Return when the part of a row begins, in ns from the recording's first decision."""
    if not 1 <= parts <= 10_000:
        raise InputError(f"parts={parts}: give 1 to 10,000")
    times = pl.concat([rows.choices["t_ns"], rows.steps["t_ns"]])
    start, end = int(times.min()), int(times.max())  # type: ignore[arg-type]
    length = max(1, -(-(end - start + 1) // parts))
    return (pl.col("t_ns") - start) // length * length


def timeline(trace: Source, *, parts: int = 60) -> pl.DataFrame:
    """Return in time what was chosen, and by what: why pages were swapped out.

    Parameters
    ----------
    trace : Trace, Path or str
        A trace that feeds mglru.
    parts : int
        Parts of equal time into which the recording is divided, 1 to 10,000.

    Returns
    -------
    polars.DataFrame
        A row for each part in which an ``lruvec`` was scanned: ``start_s`` from the first decision,
        ``choices``, ``anon_percent`` whose first list was of anonymous pages; of each type
        ``rate_X_percent``, pages that came back, of those evicted and protected, over all tiers,
        and the mean of its ``generations_X``; mean ``swappiness``, the gain of anonymous pages,
        that of file pages being 200 less it; ``agings`` that were asked for.

    Raises
    ------
    InputError
        A table is missing or damaged, or the recording lost events or is of two kernels.

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import mglru
    >>> parts = mglru.timeline(swapsim.open("generations-7.3-held-1"), parts=2)
    >>> parts.select("lruvec", "choices", "agings").rows()
    [(0, 1231, 8), (1, 1646, 9), (0, 72, 3), (1, 1114, 9)]
    """
    rows = recording(trace)
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
    joined = found.join(agings, on=("start_s", "lruvec"), how="full", coalesce=True)
    return (
        joined.select(
            *("start_s", "lruvec", "choices", "anon_percent"),
            *(f"rate_{each}_percent" for each in TYPES),
            "swappiness",
            *(f"generations_{each}" for each in TYPES),
            "agings",
        )
        .with_columns(pl.col("choices", "agings").fill_null(0))
        .sort("start_s", "lruvec")
    )


def chart(timeline: pl.DataFrame, *, title: str) -> alt.ConcatChart:
    """Draw over time why pages were swapped out: a column for each lruvec."""
    from swapsim import charts

    anon = pl.min_horizontal("swappiness", pl.lit(MGLRU_SWAPPINESS_MAX))
    panels: list[tuple[str, str, pl.Expr]] = []
    for each, gain, share in (
        ("anon", anon, pl.col("anon_percent")),
        ("file", MGLRU_SWAPPINESS_MAX - anon, 100 - pl.col("anon_percent")),
    ):
        rate = pl.col(f"rate_{each}_percent")
        panels += [
            ("chosen first, % of choices", each, share),
            ("refault rate, %", each, rate),
            ("rate over gain", each, pl.when(gain > 0).then(rate / gain)),
            ("generations left", each, pl.col(f"generations_{each}")),
        ]
    long = pl.concat(
        timeline.select(
            *("start_s", "lruvec"),
            panel=pl.format("lruvec {}: {}", "lruvec", pl.lit(panel)),
            of=pl.lit(each),
            value=value,
            nth=pl.lit(nth % 4),
        )
        for nth, (panel, each, value) in enumerate(panels)
    )
    return charts.lines(
        long.sort("nth", "lruvec", maintain_order=True).drop_nulls("value"),
        *("start_s", "value", "of"),
        panel="panel",
        columns=timeline["lruvec"].n_unique(),
        own_axes=True,
        width=330,
        height=90,
        title=title,
        words={"start_s": "time (s)", "of": "pages of type", "value": " "},
    )
