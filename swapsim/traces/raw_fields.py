# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields as an event's structure has them, turned into those that its text prints.

perfetto and bpftrace read an event's structure; the names and types of a table are those of the
text (known_events). Source: the TP_STRUCT__entry and TP_printk of include/trace/events in Linux 6.1
to 7.3.
"""

from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim.traces.known_events import KNOWN_EVENTS

_PAGE_BYTES: Final = 4096

_FILE_PAGE: Final = {"i_ino": "ino", "s_dev": "dev", "index": "ofs"}
_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "mm_vmscan_lru_isolate": {"highest_zoneidx": "classzone"},
    "mm_vmscan_lru_shrink_inactive": {
        "nr_activate0": "nr_activate_anon",
        "nr_activate1": "nr_activate_file",
        "reclaim_flags": "flags",
    },
    "mm_vmscan_write_folio": {"reclaim_flags": "flags"},
    "mm_vmscan_throttled": {"usec_delayed": "usect_delayed"},
    "mm_filemap_add_to_page_cache": _FILE_PAGE,
    "mm_filemap_delete_from_page_cache": _FILE_PAGE,
    "writeback_dirty_folio": {"name": "bdi"},
    "folio_wait_writeback": {"name": "bdi"},
}
"""Event -> its fields whose names differ: in the structure, and in the text."""

_LISTS: Final = ("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable")
_RECLAIM: Final = {
    1: "RECLAIM_WB_ANON",
    2: "RECLAIM_WB_FILE",
    16: "RECLAIM_WB_MIXED",
    4: "RECLAIM_WB_SYNC",
    8: "RECLAIM_WB_ASYNC",
}
_THROTTLES: Final = {
    1 << bit: f"VMSCAN_THROTTLE_{reason}"
    for bit, reason in enumerate(("WRITEBACK", "ISOLATED", "NOPROGRESS", "CONGESTED"))
}
_WORDS: Final[Mapping[str, tuple[str, Mapping[int, str]]]] = {
    "mm_vmscan_lru_isolate": ("lru", dict(enumerate(_LISTS))),
    "mm_vmscan_lru_shrink_inactive": ("flags", _RECLAIM),
    "mm_vmscan_write_folio": ("flags", _RECLAIM),
    "mm_vmscan_throttled": ("reason", _THROTTLES),
}
"""Event -> the field that its text prints as a word, or as several flags with | between."""

_KINDS: Final = {name: known.kinds for known in KNOWN_EVENTS for name in known.names}
_TYPES: Final = {"decimal": pl.Int64, "pointer": pl.UInt64, "hexadecimal": pl.UInt64}


def as_printed(event: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return an event's rows with the columns of its text."""
    names = {raw: name for raw, name in _COLUMNS.get(event, {}).items() if raw in rows.columns}
    raw = rows.rename(names)
    numbers = {name for name in names.values() if raw[name].dtype.is_integer()}
    changed = []
    if "dev" in numbers:
        changed.append(_device(pl.col("dev")))
    if "ofs" in numbers:
        changed.append(pl.col("ofs") * _PAGE_BYTES)
    rows = raw.with_columns(changed)
    if event in _WORDS and _WORDS[event][0] in rows.columns:
        name, words = _WORDS[event]
        found = {value: _in_words(value, words) for value in rows[name].unique().drop_nulls()}
        kinds = pl.col(name).replace_strict(found, default=None, return_dtype=pl.String)
        rows = rows.with_columns(kinds)
    kinds_of = _KINDS.get(event, {})
    return rows.with_columns(
        pl.col(name).cast(_TYPES[kind], wrap_numerical=True)
        for name, kind in kinds_of.items()
        if name in rows.columns and kind in _TYPES and rows[name].dtype.is_integer()
    )


def _device(number: pl.Expr) -> pl.Expr:
    """Return major:minor of a device number in the layout of user space, as perfetto has it."""
    major = (number // (1 << 8)) & 0xFFF
    minor = (number & 0xFF) | ((number // (1 << 12)) & 0xFFF00)
    return pl.format("{}:{}", major, minor).alias("dev")


def _in_words(value: object, words: Mapping[int, str]) -> str:
    """Return the name of a number, or those of its bits; a word stays as it is."""
    text = str(value)
    try:
        number = int(text, 0)
    except ValueError:
        return text
    if number in words:
        return words[number]
    bits = [word for bit, word in words.items() if bit and number & bit]
    return "|".join(bits) or text
