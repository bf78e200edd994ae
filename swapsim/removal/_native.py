# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of ``removal.h``: from lists of pages to outcomes and holds of the lock."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import REMOVAL_LIST_MAX, REMOVAL_MODES, check, dtype_of
from swapsim.mapping._native import settings
from swapsim.mapping.config import MappingConfig
from swapsim.removal.tables import REMOVAL_HOLDS, REMOVAL_OUTCOMES, REMOVAL_PAGES

CHUNK_ROWS: Final = 1 << 16
"""Rows of complete lists in one call into C: Ctrl-C is handled between two calls."""

_PROBLEMS: Final = {
    lib.SWS_REMOVAL_EMPTY_LIST: "the list is empty",
    lib.SWS_REMOVAL_LIST_TOO_LONG: f"the list has more than {REMOVAL_LIST_MAX} pages",
    lib.SWS_REMOVAL_TWICE: "the page is on its list already: drop one of the rows",
    lib.SWS_REMOVAL_NOT_LOCKED: "the page is not locked: reclaim removes locked pages only",
    lib.SWS_REMOVAL_HAS_NO_MAPPING: "the page has no mapping to be removed from",
    lib.SWS_REMOVAL_NOT_IN_TREE: "its index lies outside the tree: past the end of the device",
    lib.SWS_REMOVAL_WRONG_ENTRY: "slot 0 is the header of the device and holds no page",
}
"""Problem of removal.h -> the text of the error."""

_HOLD: Final = dtype_of("struct sws_removal_hold")

_WORK: Final = {"nodes": "nodes_touched", "tag_words": "tag_words_touched"}
"""Columns of REMOVAL_HOLDS with another name in ``struct sws_rtree_work``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """REMOVAL_OUTCOMES, REMOVAL_HOLDS, and the fields of ``struct sws_removal_counts``."""

    outcomes: pl.DataFrame
    holds: pl.DataFrame
    counts: dict[str, int]


def remove_lists(
    pages: pl.DataFrame,
    config: MappingConfig,
    mode: str,
    *,
    tick: Callable[[int], object] = lambda _rows: None,
) -> Removed:
    """Remove the pages of lists, one list after the other, in one of REMOVAL_MODES.

    ``pages`` has the schema REMOVAL_PAGES. A page that is not in its mapping is added before its
    list is processed. ``tick`` gets the number of rows after each chunk. InputError names the
    list, and the page of it counted from 0, that cannot be removed.
    """
    REMOVAL_PAGES.check(pages)
    ends, lists = _ends(pages)
    out = ffi.new("struct sws_mappings **")
    check(lib.sws_mappings_new(settings(config), out))
    mappings = ffi.gc(out[0], lib.sws_mappings_free)
    keys, columns = _columns(pages)
    swap_mappings = lib.sws_mapping_count(mappings)
    number = ffi.new("uint32_t *")
    for _ in keys:
        check(lib.sws_mapping_add_file(mappings, number))
    handle = _reclaimer(mappings, mode, ends)
    removed = np.empty(pages.height, dtype=np.uint8)
    place = np.empty(pages.height, dtype=np.uint32)
    holds = []
    for first, last in _chunks(ends):
        rows = slice(int(ends[first - 1]) if first else 0, int(ends[last - 1]))
        results = ffi.new("struct sws_removal_results *")
        found = np.empty(rows.stop - rows.start, dtype=_HOLD)
        results.removed = ffi.from_buffer("uint8_t[]", removed[rows])
        results.place = ffi.from_buffer("uint32_t[]", place[rows])
        results.holds = ffi.from_buffer("struct sws_removal_hold[]", found)
        code = _feed(handle, columns, rows, ends[first:last] - rows.start, results)
        if results.problem != lib.SWS_REMOVAL_NO_PROBLEM:
            raise _error(results, lists[first:last], ends[first:last] - rows.start)
        check(code)
        holds.append(_holds(found[: results.n_holds], lists[first:last], swap_mappings, keys))
        tick(rows.stop - rows.start)
    counts = lib.sws_removal_counts(handle)
    return Removed(
        outcomes=pl.DataFrame({"removed": removed.astype(bool), "place": place}).select(
            pl.col(name).cast(dtype) for name, dtype in REMOVAL_OUTCOMES.schema.items()
        ),
        holds=pl.concat(holds),
        counts={name: getattr(counts, name) for name in dir(counts)},
    )


def _ends(pages: pl.DataFrame) -> tuple[NDArray[np.uint64], pl.Series]:
    """Return the end of each list, and its number; the rows of a list must be adjacent."""
    if pages.is_empty():
        raise InputError("the list is empty: give at least one page", field="list")
    for field in pages.columns:
        if field != "mapping" and pages[field].null_count():
            row = pages[field].is_null().arg_max()
            raise InputError(f"the page in row {row} has no value", field=field)
    runs = pages["list"].rle().struct.unnest()
    if runs["value"].is_duplicated().any():
        apart = runs["value"].filter(runs["value"].is_duplicated())[0]
        raise InputError(f"the rows of list {apart} are not adjacent: sort the pages", field="list")
    return runs["len"].cast(pl.UInt64).cum_sum().to_numpy(), runs["value"]


def _columns(pages: pl.DataFrame) -> tuple[pl.Series, dict[str, NDArray[Any]]]:
    """Return the files' keys in order of their numbers, and the columns as C takes them."""
    files = pages.filter(~pl.col("swap") & pl.col("mapping").is_not_null())
    keys = files["mapping"].unique(maintain_order=True)
    numbers = pl.DataFrame({"mapping": keys}).with_row_index("file")
    file = pages.select("swap", "mapping").join(
        numbers, on="mapping", how="left", maintain_order="left"
    )
    numbered = file.select(
        pl.when(pl.col("mapping").is_null())
        .then(pl.lit(lib.SWS_REMOVAL_FILE_NONE, dtype=pl.UInt32))
        .when("swap")
        .then(pl.lit(lib.SWS_REMOVAL_FILE_SWAP, dtype=pl.UInt32))
        .otherwise(pl.col("file"))
    ).to_series()
    columns = {
        "file": numbered.to_numpy(),
        "index": pages["index"].to_numpy(),
        "references": pages["references"].to_numpy(),
        **{
            name: pages[name].cast(pl.UInt8).to_numpy()
            for name in ("locked", "dirty", "freepage", "lazyfree")
        },
    }
    return keys, {name: np.ascontiguousarray(column) for name, column in columns.items()}


def _reclaimer(mappings: Any, mode: str, ends: NDArray[np.uint64]) -> Any:
    config = ffi.new("struct sws_removal_config *")
    lib.sws_removal_config_init(config)
    config.mode = REMOVAL_MODES.index(mode)
    longest = int(np.diff(ends, prepend=np.uint64(0)).max())
    config.list_pages = min(longest, REMOVAL_LIST_MAX)
    config.brings_pages = True
    out = ffi.new("struct sws_removal **")
    check(lib.sws_removal_new(config, mappings, out))
    return ffi.gc(out[0], lib.sws_removal_free)


def _chunks(ends: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists, each of about CHUNK_ROWS rows: the first, and one past the last."""
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, begin + CHUNK_ROWS, side="right"))
        yield first, max(last, first + 1)
        first = max(last, first + 1)


def _feed(
    handle: Any,
    columns: dict[str, NDArray[Any]],
    rows: slice,
    ends: NDArray[np.uint64],
    results: Any,
) -> int:
    pointers = ffi.new("struct sws_removal_rows *")
    kinds = {"file": "uint32_t[]", "index": "uint64_t[]", "references": "uint32_t[]"}
    arrays = {
        name: ffi.from_buffer(kinds.get(name, "uint8_t[]"), column[rows])
        for name, column in columns.items()
    }
    for name, array in arrays.items():
        setattr(pointers, name, array)
    ends_of_lists = ffi.from_buffer("uint64_t[]", ends)
    return int(lib.sws_removal_lists(handle, pointers, len(ends), ends_of_lists, results))


def _error(results: Any, lists: pl.Series, ends: NDArray[np.uint64]) -> InputError:
    """Return the error for a page that cannot be removed, with its list."""
    wrong = _PROBLEMS[results.problem]
    begin = int(ends[results.list - 1]) if results.list else 0
    return InputError(
        f"page {results.row - begin} of list {lists[results.list]} cannot be removed: {wrong}"
    )


def _holds(
    found: NDArray[np.void], lists: pl.Series, swap_mappings: int, keys: pl.Series
) -> pl.DataFrame:
    """Return REMOVAL_HOLDS, with the lists and files of the caller."""
    columns = {
        name: found[name] if name in (_HOLD.names or ()) else found["tree"][_WORK.get(name, name)]
        for name in REMOVAL_HOLDS.names()
        if name != "swap"
    }
    frame = pl.DataFrame({name: np.ascontiguousarray(each) for name, each in columns.items()})
    in_swap = pl.col("mapping") < swap_mappings
    file = pl.when(in_swap).then(None).otherwise(pl.col("mapping") - swap_mappings)
    own = pl.when(in_swap).then(pl.col("mapping").cast(pl.UInt64))
    return frame.with_columns(
        list=lists.gather(frame["list"]),
        swap=in_swap,
        mapping=own.otherwise(pl.lit(keys).gather(file)),
    ).select(pl.col(name).cast(dtype) for name, dtype in REMOVAL_HOLDS.schema.items())
