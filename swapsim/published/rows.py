# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' tables, row by row: what the package describes."""

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError, suggestion
from swapsim.io import read_text
from swapsim.published.data import published_tables, reasons
from swapsim.study import interval_of
from swapsim.tables import finite

NOTHING: Final = 1 / 20
SAME: Final = 1.10
ALIKE: Final = 1.5
TOUCHES: Final = 1.01
ROUNDS: Final = 5
CHANGED: Final = ("agrees", "other size", "differs", "unclear")
UNCHANGED: Final = ("stays", "moves", "unclear")

FEW: Final = dict.fromkeys(
    ("pages", "faults", "objects", "inodes", "events", "sectors", "requests"), 10
)
"""Units of events, and the count below which a ratio says nothing."""

_TITLES: Final = {
    "A": ("no writeback tags for the swap cache", "writeback_tags"),
    "B": ("batched removals", "batched_removal"),
    "C": ("stall decisions in one place", "stall_decisions"),
    "D": ("a cluster_next for each CPU", "cluster_next"),
}
"""Title of a mail, and the module in patches that has its simulated and measured rows."""

_D: Final = "D-percpu-cluster-next"
_TABLES: Final = {
    "A": {"lkp comparison": "A-no-writeback-tags-with-diff/lkp comparison"},
    "B": {name: f"B-batched-removal/{name}" for name in ("usemem", "xfsio")},
    "C": {
        f"{name}, {target}": f"C-stall-decisions-series/{name}, {target}"
        for target in ("disk", "nfs")
        for name in ("parallelio", "vmstat", "iostat")
    },
    "D": {
        "profile": f"{_D}/perf profile",
        "score": f"{_D}/prose",
        "profile, V3": f"{_D}-v3/perf profile v3",
        "score, V3": f"{_D}-v3/prose v3",
        "P3600": f"{_D}-v2-p3600/prose, P3600",
        "Optane": f"{_D}-v2-optane/prose, Optane",
    },
}
"""Our name of a table, and the message and its table in data/published."""

SUM: Final = "the four lock rows, summed"
"""A row of ours below A's table: the real kernel counts the lock, not its callers."""

_KERNELS: Final = {"mm1-mmotm-20130522": "mmotm", "mm1-lessdisrupt-v7r10": "series"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a model or a real kernel has for a row: both figures, their ratio and its range."""

    table: str
    metric: str
    first: float | None = None
    base: float
    patched: float
    ratio: float
    low: float
    high: float
    runs: int  # or settings, that the range is over
    what: str | None = None  # a count that stands for the row
    fitted: bool = False  # a constant to the printed base


_SIDE: Final = ("base", "patched", "ratio", "low", "high", "runs", "what", "fitted")


def ratio(base: float, patched: float, floor: float = 0.0) -> float:
    """Return patched / base from 1/20 to 20; 1 if both are at most the floor."""
    if max(base, patched) <= floor:
        return 1.0
    return min(max(patched / base, NOTHING), 1 / NOTHING) if base else 1 / NOTHING


def side(
    table: str,
    metric: str,
    base: Mapping[Any, float],
    patched: Mapping[Any, float],
    *,
    first: Mapping[Any, float] | None = None,
    at: Any = None,
    mean: bool = False,
    **more: Any,
) -> Side | None:
    """Return the side of a row from its runs by seed, round or setting; None without a common one.

    The figures are medians (or means) over the runs, and the range is the exact interval of the
    median of the runs' own ratios; or they are those ``at`` a setting, and the range has all.
    """
    common = sorted(base.keys() & patched.keys(), key=str)
    if not common or at not in (None, *common):
        return None
    kernels = [each for each in (first, base, patched) if each]
    middle = np.mean if mean else np.median
    figures = [float(middle([*each.values()])) if at is None else each[at] for each in kernels]
    floor = NOTHING * max(figures) if first else 0.0
    ratios = [ratio(base[each], patched[each], floor) for each in common]
    low, high = interval_of(ratios) if at is None else (min(ratios), max(ratios))
    *before, old, new = figures
    of_figures = {"first": before[0] if before else None, "base": old, "patched": new}
    of_ratio = {"ratio": ratio(old, new, floor), "low": low, "high": high, "runs": len(common)}
    return Side(table=table, metric=metric, **of_figures, **of_ratio, **more)  # type: ignore[arg-type]


def mails() -> pl.DataFrame:
    """Return ``mail, title, tables`` of each mail."""
    rows = [(mail, _TITLES[mail][0], list(tables)) for mail, tables in _TABLES.items()]
    return pl.DataFrame(rows, schema=["mail", "title", "tables"], orient="row")


def title(mail: str) -> str:
    """Return what a mail's patch does."""
    return _TITLES[mail][0]


def table(mail: str, name: str) -> pl.DataFrame:
    """Return a table as printed: ``metric, unit``, a column for each kernel, ``ratio, unchanged``.

    The ratio is that of the last kernel to the one before it, null for a row that the mail lists
    with the patch alone. A change that is printed without figures has its ratio alone.

    Examples
    --------
    >>> from swapsim import published
    >>> published.table("B", "usemem").select("metric", "vanilla", "batch-v1").row(0)
    ('Amean System-1', 260.53, 192.98)
    """
    if name not in _TABLES.get(mail, {}):
        known = "; ".join(f"{each}: {', '.join(tables)}" for each, tables in _TABLES.items())
        raise InputError(f"mail {mail!r} has no table {name!r}: there are {known}")
    message, _, printed = _TABLES[mail][name].partition("/")
    cells = published_tables().filter(mail=message, table=printed).to_dicts()
    kernels = list(dict.fromkeys(cell["kernel"] for cell in cells))
    kernels = ["before", *kernels] if len(kernels) == 1 else kernels
    rows: dict[str, dict[str, Any]] = {}
    for cell in cells:
        rows.setdefault(cell["metric"], {})[cell["kernel"]] = cell
    found = [_printed(metric, row, kernels) for metric, row in rows.items()]
    if mail == "A":
        locks = [row for row in found if row["unit"] == "% of cycles"]
        total = {kernel: math.fsum(row[kernel] for row in locks) for kernel in kernels}
        change = ratio(*total.values())
        found.append(locks[0] | total | {"metric": SUM, "ratio": change, "unchanged": False})
    numbers = dict.fromkeys([*kernels, "ratio"], pl.Float64)
    made = pl.DataFrame(found, schema_overrides=numbers | {"unchanged": pl.Boolean})
    return made.rename(_KERNELS, strict=False)


def _printed(metric: str, cells: Mapping[str, Any], kernels: Sequence[str]) -> dict[str, Any]:
    """Return a row of `table` from its cells by kernel."""
    some = next(iter(cells.values()))
    row = {"metric": metric, "unit": some["unit"]} | dict.fromkeys([*kernels, "ratio", "unchanged"])
    if some["unit"] == "%" and len(cells) == 1:
        change = 1 + some["value"] / 100
        return row | {"ratio": change, "unchanged": _same(change)}
    row |= {kernel: cell["value"] for kernel, cell in cells.items()}
    base, patched = row[kernels[-2]], row[kernels[-1]]
    if base is None:
        return row
    floor = NOTHING * max(row[kernel] or 0 for kernel in kernels) if len(kernels) > 2 else 0
    found = ratio(base, patched or 0, floor)
    unchanged = _same(found)
    if patched is not None:
        both = [cells[kernel] for kernel in kernels[-2:]]
        noise = math.hypot(*(each["stddev_percent"] or 0 for each in both)) / 100
        whole = all(each["value"].is_integer() for each in both) and not noise
        unchanged |= noise * base > abs(patched - base) or (whole and abs(patched - base) <= 1)
    return row | {"ratio": found, "unchanged": unchanged}


def _same(found: float) -> bool:
    """Whether a ratio is within 10 % of 1."""
    return abs(math.log(found)) <= math.log(SAME) + 1e-9


def simulated(mail: str) -> list[Side]:
    """Return what the models have for a mail's rows, from stored studies."""
    return list(_columns(mail).simulated())


def measured(mail: str) -> list[Side]:
    """Return what a real kernel counted for a mail's rows."""
    return list(_columns(mail).measured())


def by_hand(mail: str) -> dict[tuple[str, str], float]:
    """Return ratios by Amdahl's law on the mail's own profile, by table and metric."""
    return dict(_columns(mail).by_hand())


def _columns(mail: str) -> Any:
    return import_module(f"swapsim.patches.{_TITLES[mail][1]}")


def compare(mail: str, name: str, *, yours: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return a row for each printed row of a table, with what models and a real kernel have.

    Parameters
    ----------
    mail, name : str
        A mail's letter and the name of a table (`mails`).
    yours : polars.DataFrame, optional
        Your own figures (`read`): ``metric, run, base, patched``.

    Returns
    -------
    polars.DataFrame
        ``mail, table, metric, unit, first, base, patched, ratio, unchanged`` as printed, ``hand``
        by Amdahl's law, and for each source (simulated, measured, yours) ``SOURCE_base, _patched,
        _ratio, _low, _high, _runs, _what, _fitted, _mark`` and ``_blank``, why there is no mark.

    Examples
    --------
    >>> from swapsim import published
    >>> rows = published.compare("A", "lkp comparison")
    >>> rows.filter(metric="vmstat.swap.so").select("simulated_mark", "measured_blank").row(0)
    ('agrees', 'emulated')
    """
    printed = table(mail, name)
    *first, base, patched = printed.columns[2:-2]
    columns = {"base": pl.col(base), "patched": pl.col(patched)}
    columns = {"first": pl.col(first[0]) if first else pl.lit(None), **columns}
    given = printed.select("metric", "unit", "ratio", "unchanged", **columns).select(
        "metric", "unit", *columns, "ratio", "unchanged"
    )
    sides = {"simulated": simulated(mail), "measured": measured(mail)}
    if yours is not None:
        sides["yours"] = list(_of_user(yours, name, given["metric"].to_list()))
    hand, why, rows = by_hand(mail), reasons().filter(mail=mail), []
    for row in given.iter_rows(named=True):
        row["hand"] = hand.get((name, row["metric"]))
        rows.append(row)
        # What stands for the row, or next to it and is no row of the mail, begins with its name.
        named = (s.metric for of in sides.values() for s in of)
        counts = (name for name in named if name.startswith(f"{row['metric']}: "))
        rows += [dict.fromkeys(row) | {"metric": count} for count in dict.fromkeys(counts)]
    for row in rows:
        for source, of_source in sides.items():
            own = [s for s in of_source if (s.table, s.metric) == (name, row["metric"])]
            about = {"table": name, "metric": row["metric"], "source": source}
            reason = None if source == "yours" else _reason(why, about)
            marked = _marked(row, own[0] if own else None, reason, source)
            row |= {f"{source}_{column}": value for column, value in marked.items()}
    ends = ("first", "base", "patched", "ratio", "low", "high", "hand")
    types: dict[str, Any] = {each: pl.Float64 for each in rows[0] if each.endswith(ends)}
    types |= {each: pl.String for each in rows[0] if each.endswith(("mark", "blank", "what"))}
    made = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
    return made.select(pl.lit(mail).alias("mail"), pl.lit(name).alias("table"), pl.all())


def _reason(why: pl.DataFrame, about: Mapping[str, str]) -> str:
    """Return the first reason of data/published/reasons.csv that fits a row, or none."""
    fits = (
        row["reason"]
        for row in why.iter_rows(named=True)
        if all(re.fullmatch(row[column], text) for column, text in about.items())
    )
    return next(fits, "no figure")


def _marked(
    row: Mapping[str, Any], own: Side | None, why: str | None, source: str
) -> dict[str, Any]:
    """Return the columns of a source for a row."""
    if own is None:
        counted = row["ratio"] is None and row["unit"] is None
        return dict.fromkeys(_SIDE) | {"mark": None, "blank": None if counted else why}
    values = {name: value for name, value in asdict(own).items() if name in _SIDE}
    blank = found = None
    if row["ratio"] is None:
        blank = "a count" if own.what else "not listed before" if row["unit"] else "no such row"
    elif not (blank := _too_few(row, own)):
        runs = ROUNDS if source == "simulated" else own.runs
        found = mark(row["ratio"], row["unchanged"], own.ratio, own.low, own.high, runs)
    else:
        values |= {"ratio": None, "low": None, "high": None}
    return values | {"mark": found, "blank": blank}


def _too_few(row: Mapping[str, Any], own: Side) -> str | None:
    """Return why a count has no ratio where the mail's is large: none, or too few."""
    few = FEW.get(row["unit"], 1e-3 if own.what else 0)
    mail = max(row["base"] or 0, row["patched"] or 0)
    if not few or mail <= NOTHING * (row["first"] or 0) or (row["unit"] in FEW and mail < few):
        return None
    most = max(own.base, own.patched)
    return "none" if not most else "too few" if most < few else None


def mark(
    published: float, unchanged: bool, found: float, low: float, high: float, runs: int = ROUNDS
) -> str:
    """Return how a ratio with its range stands to the mail's: one of CHANGED, or of UNCHANGED.

    Examples
    --------
    >>> from swapsim import published
    >>> published.mark(1.22, False, 1.18, 1.12, 1.25), published.mark(0.5, False, 0.9, 0.85, 0.95)
    ('agrees', 'other size')
    """
    low, high = min(low, found), max(high, found)
    if runs < ROUNDS:
        return "unclear"
    if unchanged:
        return "stays" if _same(found) else "moves" if low > SAME or high < 1 / SAME else "unclear"
    size = math.log(found) / math.log(published)
    if _same(low) and _same(high) and size < 1 / ALIKE:
        return "differs"
    if low <= TOUCHES and high >= 1 / TOUCHES:
        return "unclear"
    if 1 / ALIKE <= size <= ALIKE:
        return "agrees"
    return "differs" if size <= 0 or _same(found) else "other size"


def score(compared: pl.DataFrame) -> pl.DataFrame:
    """Count the marks of tables, apart for rows that are changed and unchanged in the mail.

    ``nothing`` is the score of a model in which no patch changes anything; ``by hand`` is Amdahl's.
    """
    hand = compared.drop_nulls("hand").select(
        "unchanged",
        by_hand_mark=pl.struct("ratio", "unchanged", "hand").map_elements(
            lambda row: mark(row["ratio"], row["unchanged"], *3 * [row["hand"]]),
            return_dtype=pl.String,
        ),
    )
    rows = []
    for source in [*sources(compared), "by_hand"]:
        for same, marks in ((False, CHANGED), (True, UNCHANGED)):
            part = (hand if source == "by_hand" else compared).filter(unchanged=same)
            found = part[f"{source}_mark"].drop_nulls().to_list()
            about = {"source": source.replace("_", " "), "rows": "unchanged" if same else "changed"}
            counts = {"printed": part.height, "answered": len(found), "nothing": len(found) * same}
            rows.append(about | counts | {each: found.count(each) for each in marks})
    return pl.DataFrame(rows, infer_schema_length=None).filter(pl.col("answered") > 0)


def sources(compared: pl.DataFrame) -> list[str]:
    """Return the sources that a table is compared with."""
    return [name.removesuffix("_mark") for name in compared.columns if name.endswith("_mark")]


def _of_user(yours: pl.DataFrame, name: str, metrics: Sequence[str]) -> Iterator[Side]:
    """Yield a user's figures for the rows of a table, by their names there, long or short."""
    long = {each: metric for metric in metrics for each in (metric, short(metric))}
    for (metric,), part in yours.group_by("metric", maintain_order=True):
        base, patched = (dict(part.select("run", each).iter_rows()) for each in ("base", "patched"))
        if metric in long and (found := side(name, long[str(metric)], base, patched)):
            yield found


def read(path: Path | str) -> pl.DataFrame:
    """Read your own ``metric, base, patched`` and, with several runs, ``run`` from a CSV file.

    An InputError names file, line and field of what does not fit; other columns are not read.
    """
    path = Path(path)
    lines = csv.reader(read_text(path).splitlines())
    heads = [name.strip() for name in next(lines, [])]
    if missing := [name for name in ("metric", "base", "patched") if name not in heads]:
        why = f"no column {missing[0]!r}: the first line is metric,base,patched or has run as well"
        raise InputError(why, path=path, line=1)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in filter(any, lines):
        cells = dict(zip(heads, map(str.strip, line), strict=False))
        key = cells.get("metric", ""), cells.get("run", "1")
        figures = {name: finite(cells.get(name, "")) for name in ("base", "patched")}
        for name, value in figures.items():
            if value is None or value < 0:
                why = f"{cells.get(name, '')!r} is no number from 0 on: write one"
                raise InputError(why, path=path, line=lines.line_num, field=name)
        if key in rows:
            why = f"{key[0]!r} is given twice for one run: number the runs in a column run"
            raise InputError(why, path=path, line=lines.line_num, field="metric")
        rows[key] = {"metric": key[0], "run": key[1]} | figures
    if not rows:
        raise InputError("no row: give a line for each metric", path=path)
    return pl.DataFrame(list(rows.values()))


def tables_of(yours: pl.DataFrame) -> list[tuple[str, str]]:
    """Return mail and table of each table with a row of yours; an InputError if there is none."""
    names = {
        (mail, name): {each for row in table(mail, name)["metric"] for each in (row, short(row))}
        for mail, tables in _TABLES.items()
        for name in tables
    }
    found = [key for key, known in names.items() if known & set(yours["metric"])]
    if not found:
        known = sorted(set().union(*names.values()))
        near = suggestion(yours["metric"][0], known, 3)
        raise InputError(f"no table has {yours['metric'][0]!r}: {near}'swapsim tables' has all")
    return found


def short(metric: str) -> str:
    """Return a row's name without what all rows of its table have."""
    name = re.sub(r"^(perf-profile\.cycles-pp\.|Ops |Amean )", "", metric)
    return ".".join(name.split(".")[:2]) if name.startswith("_raw_spin") else name
