# SPDX-License-Identifier: GPL-2.0-or-later
"""What each of the eight patches says that it does to the code, tried on a list before and after.

The mail claims eight changes of behaviour, without a figure. Each is tried here on a list on which
it must show: by the rules with one patch less, and by those with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from swapsim.patches.stall_decisions.lists import Led, led, list_of
from swapsim.stall.tables import CODE_CLAIMS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    claim: str
    pages: str
    seen: str
    look: Callable[[Led], object]
    before: object
    after: object
    context: Mapping[str, Any] = field(default_factory=dict)


def code_claims() -> pl.DataFrame:
    """Try each claim about the code.

    Returns
    -------
    polars.DataFrame
        Schema CODE_CLAIMS, in the order of the patches.
    """
    rows = []
    for trial in _TRIALS:
        patch = int(trial.claim.split("-")[3])
        sets = [f"series-{patch - 1}" if patch > 1 else "mmotm", f"series-{patch}"]
        pages = list_of(*trial.pages.split(", "))
        before, after = (trial.look(led(pages, [name], **trial.context)) for name in sets)
        rows.append(
            {
                "patch": patch,
                "claim": trial.claim,
                "pages": trial.pages,
                "seen": trial.seen,
                "before": _words(before),
                "after": _words(after),
                "holds": (before, after) == (trial.before, trial.after),
            }
        )
    return CODE_CLAIMS.check(pl.DataFrame(rows, schema=CODE_CLAIMS.schema))


def _words(value: object) -> str:
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)


def _of(name: str) -> Callable[[Led], object]:
    return lambda found: found.ends[name].to_list()[0]


def _order(found: Led) -> object:
    """Return what is done, in order: the flag, and the wait that patch 4 puts behind it."""
    acts = found.why["why"].str.extract(r"^(flag writeback|sleep wait_iff_congested) is ")
    return acts.drop_nulls().to_list()


_FLAGGED: Final = {"flags": ["writeback"]}

_TRIALS: Final = (
    _Trial(
        claim="C-prose-patch-1-no-free-under-writeback",
        pages="1 writing marked",
        seen="pages freed under writeback",
        look=_of("freed_under_writeback"),
        before=1,
        after=0,
        context=_FLAGGED,
    ),
    _Trial(
        claim="C-prose-patch-2-file-pages-only",
        pages="32 anonymous dirty",
        seen="flags set",
        look=_of("flags_set"),
        before=["tail_lru_dirty"],
        after=[],
    ),
    _Trial(
        claim="C-prose-patch-2-file-pages-only",
        pages="31 dirty, 1 clean",
        seen="flags set, at priority 10",
        look=_of("flags_set"),
        before=["tail_lru_dirty"],
        after=[],
        context={"priority": 10},
    ),
    _Trial(
        claim="C-prose-patch-2-file-pages-only",
        pages="32 dirty",
        seen="sleeps asked for",
        look=_of("sleeps"),
        before=[],
        after=["congestion_wait"],
    ),
    _Trial(
        claim="C-prose-patch-3-stall-after-list",
        pages="1 writing marked, 31 clean",
        seen="sleeps in the middle of the list",
        look=_of("slept"),
        before=1,
        after=0,
        context=_FLAGGED,
    ),
    _Trial(
        claim="C-prose-patch-3-stall-after-list",
        pages="1 writing marked, 31 clean",
        seen="sleeps asked for after it",
        look=_of("sleeps"),
        before=[],
        after=["congestion_wait"],
        context=_FLAGGED,
    ),
    _Trial(
        claim="C-prose-patch-4-flag-before-sleep",
        pages="32 writing",
        seen="in this order",
        look=_order,
        before=["sleep wait_iff_congested", "flag writeback"],
        after=["flag writeback", "sleep wait_iff_congested"],
    ),
    _Trial(
        claim="C-prose-patch-5-one-place",
        pages="32 writing",
        seen="sleeps that kswapd asks for",
        look=_of("sleeps"),
        before=["wait_iff_congested"],
        after=[],
    ),
    _Trial(
        claim="C-prose-patch-5-one-place",
        pages="32 clean",
        seen="sleeps that direct reclaim asks for",
        look=_of("sleeps"),
        before=[],
        after=["wait_iff_congested"],
        context={"kswapd": False},
    ),
    _Trial(
        claim="C-prose-patch-6-immediate-is-congested",
        pages="32 writing marked",
        seen="flags set",
        look=_of("flags_set"),
        before=["writeback"],
        after=["writeback", "congested"],
    ),
    _Trial(
        claim="C-prose-patch-7-buffer-state",
        pages="32 dirty clean-buffers",
        seen="pages that count as dirty",
        look=_of("dirty"),
        before=32,
        after=0,
    ),
    _Trial(
        claim="C-prose-patch-7-buffer-state",
        pages="32 dirty locked-buffers",
        seen="pages that nobody is writing",
        look=_of("unqueued_dirty"),
        before=32,
        after=0,
    ),
    _Trial(
        claim="C-prose-patch-8-nfs-state",
        pages="32 dirty committing",
        seen="pages that nobody is writing",
        look=_of("unqueued_dirty"),
        before=32,
        after=0,
    ),
    _Trial(
        claim="C-prose-patch-8-nfs-state",
        pages="32 clean unstable",
        seen="pages that count as dirty",
        look=_of("dirty"),
        before=0,
        after=32,
    ),
)
