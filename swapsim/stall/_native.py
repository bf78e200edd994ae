# SPDX-License-Identifier: GPL-2.0-or-later
"""The stall rules of the C library (``stall_rules.h``), and callers and pages as its bits."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_CLEARS, STALL_COUNTERS, STALL_FLAGS, STALL_RULES, STALL_SLEEPS

Numbers = np.ndarray[Any, np.dtype[Any]]

PLACES: Final = {
    "list": lib.SWS_STALL_AT_LIST,
    "pass": lib.SWS_STALL_AT_PASS,
    "round": lib.SWS_STALL_AT_ROUND,
}
SUMS: Final = (*STALL_COUNTERS, "taken", "file_taken")
_FLAG_NAMES: Final = {bit: name for name, bit in STALL_FLAGS.items()}
_WORDS_OF: Final = {"place": "AT_", "scope": "FOR_", "congested_by": "BY_", "number": "N_"}
"""Prefixes of enums that are not the name of the enum."""


def refuse_problem(problem: int, where: str = "") -> None:
    """Raise an InputError for what C has a problem with; do nothing if it has none."""
    if problem != lib.SWS_STALL_NO_PROBLEM:
        raise InputError(f"{where}{core.problem('enum sws_stall_problem', problem)}")


# A row of the rules.


def number_of(rules: str) -> int:
    """Return a rule set as ``enum sws_stall_set``; InputError if there is no such set."""
    if rules not in STALL_RULES:
        known = ", ".join(STALL_RULES)
        raise InputError(f"rules={rules!r}: choose one of {known}")
    return STALL_RULES.index(rules)


def _words(enum: str) -> dict[int, str]:
    """Return the words of ``enum sws_stall_ENUM`` by their values."""
    start = f"SWS_STALL_{_WORDS_OF.get(enum, f'{enum.upper()}_')}"
    constants = ffi.typeof(f"enum sws_stall_{enum}").elements
    return {value: name.removeprefix(start).lower() for value, name in constants.items()}


def rules_row(rules: str) -> dict[str, Any]:
    """Return ``struct sws_stall_rules`` with words instead of numbers; acts as a list of dicts."""
    row = lib.sws_stall_rules_of(number_of(rules))
    causes = _words("congested_by").items()
    return {name: getattr(row, name) for name, _ in ffi.typeof(row[0]).fields} | {
        **{name: _words(name)[getattr(row, name)] for name in ("counted", "case_1", "writes")},
        "decides": _words("place")[row.decides],
        "congested_by": frozenset(word for bit, word in causes if row.congested_by & bit),
        "isolated": STALL_SLEEPS[row.isolated],
        "clears": {why: row.clears[place] for place, why in enumerate(STALL_CLEARS)},
        "acts": [_act(place, act) for place in PLACES for act in acts_of(rules, place)],
    }


def _act(place: str, act: Any) -> dict[str, str]:
    found = {field: _words(field)[getattr(act, field)] for field in ("does", "scope", "test")}
    found |= {field: _words("number")[getattr(act, field)] for field in ("number", "of")}
    what = {"set": _FLAG_NAMES.get(act.what, ""), "sleep": STALL_SLEEPS[act.what]}
    return {"place": place, **found, "what": what.get(found["does"], "")}


def acts_of(rules: str, place: str) -> list[Any]:
    """Return the acts at a place in order: ``struct sws_stall_act``."""
    acts = lib.sws_stall_rules_of(number_of(rules)).acts[PLACES[place]]
    return [act for act in acts if act.does != lib.SWS_STALL_DOES_NOTHING]


def sleeps_of(rules: str, place: str, done: int) -> list[str]:
    """Return in order the sleeps that are requested by those acts whose bits are in ``done``."""
    return [
        STALL_SLEEPS[act.what]
        for i, act in enumerate(acts_of(rules, place))
        if act.does == lib.SWS_STALL_DOES_SLEEP and done >> i & 1
    ]


# Callers and pages as bits.


CALLER: Final = {
    "kswapd": (lib.SWS_STALL_KSWAPD, True),
    "memcg": (lib.SWS_STALL_MEMCG, True),
    "hibernation": (lib.SWS_STALL_HIBERNATION, True),
    "io": (lib.SWS_STALL_IO, True),
    "fs": (lib.SWS_STALL_FS, True),
    "sane": (lib.SWS_STALL_LEGACY, False),
    "may_throttle": (lib.SWS_STALL_LOCAL_THROTTLE, False),
}
"""The bits of ``enum sws_stall_caller``, and the value of a field that sets each."""


def caller_bits(known: Mapping[str, Any]) -> Any:
    """Return ``enum sws_stall_caller`` of booleans, or of arrays of them."""
    return sum(bit * (known[name] == sets) for name, (bit, sets) in CALLER.items() if name in known)


def summed(rows: pl.DataFrame, **others: Any) -> Any:
    """Return the counters of rows as ``struct sws_stall_summed *``; a missing one is 0."""
    counts = np.zeros(rows.height, dtype=core.dtype_of("struct sws_stall_counts"))
    for name in SUMS:
        if name in rows.columns:
            counts[name] = rows[name].to_numpy()
    return core.pointers("struct sws_stall_summed", {**others, "counts": counts})


_COLUMNS: Final = {"device_congested": "congested", "came_back": "clean"}
_PAGE: Final = {_COLUMNS.get(word, word): bit for bit, word in _words("page").items()}
"""The bits of ``enum sws_stall_page`` by the columns of RECLAIM_FOLIOS; null stands for False."""
_NO_BIT: Final = pl.lit(0, dtype=pl.UInt16)


def page_bits(pages: pl.DataFrame) -> Numbers:
    """Return ``enum sws_stall_page`` for rows of RECLAIM_FOLIOS or of STALL_PAGES.

    The latter have no columns for the tests after the accounting: these find what it found.
    """
    if "marked" in pages.columns:
        # A test that the recording kernel did not make may exist by other rules.
        pages = pages.with_columns(pl.col("marked").fill_null(pl.col("reclaim")))
    else:
        pages = pages.with_columns(under_writeback="writeback", marked="reclaim")
    pages = pages.with_columns(
        nfs=pl.col("fs_dirty").is_not_null() & ~pl.col("buffers").fill_null(value=True)
    )
    bits = [
        pl.when(name).then(pl.lit(_PAGE[name], dtype=pl.UInt16)).otherwise(_NO_BIT)
        for name in pages.columns
        if name in _PAGE
    ]
    return pages.select(reduce(or_, bits)).to_series().to_numpy()
