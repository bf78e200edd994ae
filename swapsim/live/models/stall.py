# SPDX-License-Identifier: GPL-2.0-or-later
"""One list of reclaim, decided by each rule set."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from swapsim.ffi import STALL_RULES
from swapsim.patches.stall_decisions.lists import Processed, make_list, process_list


def setting(
    *kinds: str,
    rules: Sequence[str] = STALL_RULES,
    priority: int = 12,
    kswapd: bool = True,
    flags: Sequence[str] = (),
    meetings: int = 1,
) -> dict[str, Any]:
    """Return a list of pages in words (`make_list`) and its context as a setting.

    Each kind is an entry of ``pages``, whose ``count`` a control changes.
    """
    pages = [make_list(kind).drop("place") for kind in kinds]
    return {
        "pages": [page.row(0, named=True) | {"count": page.height} for page in pages],
        "rules": [*rules],
        "priority": priority,
        "kswapd": kswapd,
        "flags": [*flags],
        "meetings": meetings,
    }


def _processed(values: Mapping[str, Any]) -> Processed:
    kinds = [f"{kind['count']} {kind['page']}" for kind in values["pages"] if kind["count"]]
    return process_list(
        make_list(*kinds),
        values["rules"],
        priority=values["priority"],
        kswapd=values["kswapd"],
        flags=values["flags"],
        meetings=values["meetings"],
    )


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each rule set and meeting: `Processed.ends`."""
    return _processed(values).ends


def pages(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each rule set, meeting and page: `Processed.pages`."""
    return _processed(values).pages
