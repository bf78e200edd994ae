# SPDX-License-Identifier: GPL-2.0-or-later
"""The kit of ``swapsim verify``: a model compared with a real kernel, event by event.

A subject's module ``verify`` reads its rows, lets the C library decide them, and returns a
`Verdict`. What the subjects share is here: the verdict and its lines, the description of the first
mismatch, the refusal of rows that no kernel writes, and the table of several traces.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.tables import require, require_values
from swapsim.traces.folder import Trace, provenance, read_event, require_order

_LARGER: Final = "record again with larger buffers"
AGAIN: Final = "capture the trace again"  # the remedy for rows that no kernel writes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict:
    """What a real kernel did, compared with what a model of it does.

    It is true if nothing differs.

    Attributes
    ----------
    agrees : bool
        Whether nothing differs.
    matched, of : int
        How many things agree, of how many: those that ``text`` names first.
    text : str
        The result in a sentence, the last line of ``swapsim verify``.
    first : str or None
        The first mismatch, in several lines.
    counts : mapping of str to (int, int)
        By kind of thing, how many are equal and how many were compared.
    tables : mapping of str to polars.DataFrame
        What was compared, row by row; the subject's ``verify`` says what each has.
    result : str
        The text; a kind in braces stands for "E of C", and a name of ``figures`` for its number.
    figures : mapping of str to int
        Further numbers.
    notes : tuple of str
        What was not compared or was taken from the trace; a part of a note, up to a semicolon,
        whose numbers are all zero is not printed.

    Examples
    --------
    >>> from swapsim import mglru
    >>> verdict = mglru.verify("generations-7.3-held-1")
    >>> bool(verdict), verdict.matched, verdict.of, verdict.first
    (True, 4056, 4056, None)
    >>> verdict
    not counted below: 7 choices that come out the same by any rule
    not counted below: 4 ambiguous decisions, which a concurrent change could turn
    new generations that the kernel asked for: 29
    chose 4056 of 4056 types (363 of 363 tiers, 4063 of 4063 agings, 6180 of 6180 scan sizes; \
4 ambiguous, not counted)
    """

    agrees: bool
    counts: Mapping[str, tuple[int, int]]
    result: str
    figures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    first: str | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the lines of `describe`."""
        return "\n".join(self.describe())

    def __bool__(self) -> bool:
        """Return whether nothing differs."""
        return self.agrees

    @property
    def matched(self) -> int:
        """How many agree of what the text names first."""
        return self._headline[0]

    @property
    def of(self) -> int:
        """How many there are of what the text names first."""
        return self._headline[1]

    @property
    def text(self) -> str:
        """The result in a sentence."""
        return self._filled(self.result)

    def table(self) -> pl.DataFrame:
        """Return the counts as a table: kind, equal, compared."""
        rows = [(kind, *count) for kind, count in self.counts.items()]
        schema = {"kind": pl.String, "equal": pl.UInt64, "compared": pl.UInt64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def describe(self) -> list[str]:
        """Return lines for the terminal: the first mismatch, the notes, the result."""
        notes = ("; ".join(filter(self._counts, note.split("; "))) for note in self.notes)
        lines = [self._filled(note) for note in notes if note]
        return [*(self.first or "").splitlines(), *lines, self.text]

    @property
    def _headline(self) -> tuple[int, int]:
        return self.counts[next(name for name in _names(self.result) if name in self.counts)]

    def _filled(self, line: str) -> str:
        of = {kind: f"{equal} of {compared}" for kind, (equal, compared) in self.counts.items()}
        return line.format(**{**self.figures, **of})

    def _counts(self, part: str) -> bool:
        """Whether a part of a note has no number, or one that is not zero."""
        names = _names(part)
        numbers = [
            self.counts[name][1] if name in self.counts else self.figures[name] for name in names
        ]
        return not names or any(numbers)


def _names(text: str) -> list[str]:
    """Return the names in braces of a text."""
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def mismatch(where: str, what: str, sides: Mapping[str, str], *more: str) -> str:
    """Return the lines of a first mismatch: where and how, each side with its name, and more."""
    width = max(map(len, sides), default=0) + 2
    named = (f"  {f'{name}:':{width}}{text}" for name, text in sides.items())
    return "\n".join((f"first mismatch: {where}: {what}", *named, *more))


def refuse(rows: pl.DataFrame, what: str, remedy: str = AGAIN, *, field: str | None = None) -> None:
    """Raise an InputError about the first of these rows, if there is one.

    Columns in the braces of ``what`` stand for the row's values.
    """
    if rows.height:
        raise InputError(f"{what.format(**rows.row(0, named=True))}: {remedy}", field=field)


def require_ops(
    rows: pl.DataFrame, head: Collection[str], needs: Mapping[str, Collection[str]]
) -> None:
    """Require the fields of the head in each row of events, and those that its op needs."""
    if rows.is_empty():
        raise InputError("the table of events has no rows: record a workload that swaps")
    require_values(rows, list(head))
    lacking = pl.coalesce(
        pl.when((pl.col("op") == op) & pl.col(name).is_null()).then(pl.lit(name))
        for op, names in needs.items()
        for name in names
    )
    faulty = rows.with_columns(lacking=lacking).drop_nulls("lacking")
    for row in faulty.head(1).iter_rows(named=True):
        what = "the row with seq {seq} has no value, and its op {op} needs one"
        refuse(faulty, what, field=row["lacking"])


def read_tables(
    trace: Trace | Path | str,
    tables: Mapping[str, pl.Schema],
    may_be_null: Mapping[str, Collection[str]],
) -> dict[str, pl.DataFrame]:
    """Read the tables of a recording, by the names of their events; it may have lost no event."""
    with errors_of(trace):
        require_lossless(provenance(trace))
    return {
        name: read_event(trace, name, schema, may_be_null=may_be_null.get(name, ()))
        for name, schema in tables.items()
    }


def check_tables(
    frames: Mapping[str, pl.DataFrame],
    tables: Mapping[str, pl.Schema],
    may_be_null: Mapping[str, Collection[str]],
    *,
    may_be_empty: bool = False,
) -> None:
    """Require rows of each table in order, with values where they may not be null."""
    for name, frame in frames.items():
        with errors_of(name):
            require(frame, tables[name], name)
            if frame.is_empty() and not may_be_empty:
                raise InputError("has no rows: record a workload that reclaims memory")
            nullable = may_be_null.get(name, ())
            require_values(frame, [each for each in frame.columns if each not in nullable])
            require_order(frame)


def require_fields(
    frames: Mapping[str, pl.DataFrame],
    fields: Mapping[str, Collection[str]],
    needed: Collection[str],
    what: str,
) -> None:
    """Require the events of a recording of this kind, each with its fields and with times."""
    if missing := [name for name in needed if name not in frames]:
        raise InputError(
            f"a recording of {what} lacks {', '.join(missing)}: record with all probes of its "
            "kernel, by 'swapsim probes'"
        )
    for name, frame in frames.items():
        for each in fields[name]:
            if each not in frame.columns:
                raise InputError(
                    f"the event {name} has no such field: {AGAIN}, by the probes of its kernel",
                    field=each,
                )
        if frame["t_ns"].null_count():
            raise InputError(
                f"the clock counts events, and a recording of {what} needs times: record with the "
                "clock mono",
                field="t_ns",
            )


def require_lossless(origin: Mapping[str, Any]) -> None:
    """Require a recording that lost no event, by its trace.toml."""
    for table, name, what in (
        ("lost", "events_by_cpu", "lost {count} events of CPU {of}"),
        ("recording", "lost_events_by_cpu", "lost {count} events of CPU {of}"),
        ("recording", "probe_misses", "missed {count} events of the probe {of}"),
        ("lost", "gaps_of_unknown_size", "has {count} losses of unknown size"),
        ("lost", "overwritten", "overwrote {count} events before its first row"),
    ):
        found = origin.get(table, {}).get(name, 0)
        for of, count in found.items() if isinstance(found, Mapping) else [("", found)]:
            if count:
                raise InputError(f"the recording {what.format(count=count, of=of)}: {_LARGER}")
