# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of ``removal.h``: from lists of pages to outcomes and holds of the lock."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import (
    REMOVAL_LIST_MAX,
    REMOVAL_MODES,
    check,
    chunks,
    columns,
    config,
    frame_of,
    new,
    pointers,
    problem,
    records,
)
from swapsim.mapping._native import settings
from swapsim.mapping.config import MappingConfig

CHUNK_ROWS: Final = 1 << 16
"""Rows of complete lists in one call into C: Ctrl-C is handled between two calls."""

PAGES: Final = {
    "list": pl.UInt64,
    "swap": pl.Boolean,
    "mapping": pl.UInt64,
    "index": pl.UInt64,
    "references": pl.UInt32,
    **dict.fromkeys(("locked", "dirty", "freepage", "lazyfree"), pl.Boolean),
}
"""Columns of the pages on reclaim's lists: list and mapping by number, the rest as
``struct sws_removal_rows`` has it. A null mapping means that the page has none."""


class Removed(NamedTuple):
    """Outcomes by page, holds in order, and the fields of ``struct sws_removal_counts``."""

    outcomes: pl.DataFrame
    holds: pl.DataFrame
    counts: dict[str, int]


def remove_lists(
    pages: pl.DataFrame,
    mappings: MappingConfig,
    mode: str,
    *,
    tick: Callable[[int], object] = lambda _rows: None,
) -> Removed:
    """Remove the pages of lists, one list after the other, in one of REMOVAL_MODES.

    ``pages`` has the columns PAGES, each list's rows together. A page that is not in its mapping is
    added before its list is processed. ``tick`` gets the number of rows after each chunk.
    InputError names the list, and the page of it counted from 0, that cannot be removed.
    """
    ends, lists = _ends(pages)
    trees = new(lib.sws_mappings_new, settings(mappings), free=lib.sws_mappings_free)
    swap_mappings = lib.sws_mapping_count(trees)
    rows, files = _numbered(pages)
    for _ in files:
        check(lib.sws_mapping_add_file(trees, ffi.new("uint32_t *")))
    longest = min(int(np.diff(ends, prepend=np.uint64(0)).max()), REMOVAL_LIST_MAX)
    made = config(
        lib.sws_removal_config_init,
        None,
        mode=REMOVAL_MODES.index(mode),
        list_pages=longest,
        brings_pages=True,
    )
    reclaimer = new(lib.sws_removal_new, made, trees, free=lib.sws_removal_free)
    outcomes, holds = [], []
    for some, part in chunks(ends, CHUNK_ROWS):
        own_ends = ends[some] - np.uint64(part.start)
        outcome, found = _process(reclaimer, rows[part], own_ends, lists[some])
        outcomes.append(outcome)
        holds.append(found)
        tick(part.stop - part.start)
    counts = lib.sws_removal_counts(reclaimer)
    return Removed(
        outcomes=pl.concat(outcomes),
        holds=_with_mappings(pl.concat(holds), swap_mappings, files),
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


def _numbered(pages: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Return the rows with their files by number, and the files' own mappings in this order."""
    files = pages.filter(~pl.col("swap"))["mapping"].drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"mapping": files}).with_row_index("file")
    numbered = pages.join(numbers, on="mapping", how="left", maintain_order="left")
    none, swap = (
        pl.lit(number, dtype=pl.UInt32)
        for number in (lib.SWS_REMOVAL_FILE_NONE, lib.SWS_REMOVAL_FILE_SWAP)
    )
    file = pl.when(pl.col("mapping").is_null()).then(none).when("swap").then(swap).otherwise("file")
    return numbered.with_columns(file=file), files


def _process(
    reclaimer: Any, rows: pl.DataFrame, ends: NDArray[np.uint64], lists: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Remove the lists of a chunk; return the outcomes, and the holds with the lists' numbers."""
    height = rows.height
    removed, place = np.empty(height, bool), np.empty(height, np.uint32)
    holds, _ = records("struct sws_removal_hold", height)
    results = pointers(
        "struct sws_removal_results",
        {"removed": removed.view(np.uint8), "place": place, "holds": holds},
    )
    given = columns("struct sws_removal_rows", rows)
    last = ffi.from_buffer("uint64_t[]", ends)
    code = lib.sws_removal_lists(reclaimer, given, len(ends), last, results)
    if results.problem != lib.SWS_REMOVAL_NO_PROBLEM:
        begin = int(ends[results.list - 1]) if results.list else 0
        raise InputError(
            f"page {results.row - begin} of list {lists[results.list]} cannot be removed: "
            f"{problem('enum sws_removal_problem', results.problem)}"
        )
    check(code)
    frame = frame_of(holds[: results.n_holds])
    return (
        pl.DataFrame({"removed": removed, "place": place}),
        frame.with_columns(list=lists.gather(frame["list"])),
    )


def _with_mappings(holds: pl.DataFrame, swap_mappings: int, files: pl.Series) -> pl.DataFrame:
    """Return the holds with the caller's mappings in place of the library's numbers."""
    swap = pl.col("mapping") < swap_mappings
    file = pl.when(~swap).then(pl.col("mapping") - swap_mappings)
    mapping = pl.when(swap).then("mapping").otherwise(pl.lit(files).gather(file))
    return holds.select(
        "list",
        swap.alias("swap"),
        mapping.alias("mapping"),
        *("removed", "failed", "passed_over", "descents"),
        *("nodes_touched", "tag_words_touched", "nodes_freed"),
    )
