# SPDX-License-Identifier: GPL-2.0-or-later
"""What each of the eight patches says that it changes, tried on a list on which it must show."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.patches.stall_decisions.lists import make_list, process_list


class _Trial(NamedTuple):
    """A list on which a claim shows, and what is seen there before and after the patch."""

    pages: str
    seen: str
    column: str
    before: object
    after: object
    context: Mapping[str, Any] = {}


def code_claims() -> pl.DataFrame:
    """Try each claim on the code by the rules before its patch and by those after it."""
    rows = []
    for claim, trials in _TRIALS.items():
        patch = int(claim.split("-")[3])
        sets = (f"series-{patch - 1}" if patch > 1 else "mmotm", f"series-{patch}")
        for trial in trials:
            seen = [_seen(trial, rules) for rules in sets]
            words = [
                ", ".join(one) or "none" if isinstance(one, list) else str(one) for one in seen
            ]
            verdict = "reproduced" if seen == [trial.before, trial.after] else "missed"
            rows.append((patch, claim, trial.pages, trial.seen, *words, verdict))
    columns = ["patch", "claim", "pages", "seen", "before", "after", "verdict"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _seen(trial: _Trial, rules: str) -> object:
    found = process_list(make_list(*trial.pages.split(", ")), [rules], **trial.context)
    if trial.column != _ORDER:
        return found.ends[trial.column].to_list()[0]
    acts = found.why["why"].str.extract(r"^(flag writeback|sleep wait_iff_congested) is ")
    return acts.drop_nulls().to_list()


_ORDER: Final = "order"  # the order of setting the flag and of the wait, which patch 4 changes
_FLAGGED: Final = {"flags": ["writeback"]}
_WAIT: Final = "sleep wait_iff_congested"
_FLAG: Final = "flag writeback"
_ONE_MARKED: Final = "1 writing marked, 31 clean"
_DIRTY: Final = "pages that count as dirty"
_UNQUEUED: Final = "dirty pages not queued for writing"

_TRIALS: Final = {
    "C-prose-patch-1-no-free-under-writeback": (
        _Trial("1 writing marked", "pages freed under writeback",
               "freed_under_writeback", 1, 0, _FLAGGED),
    ),
    "C-prose-patch-2-file-pages-only": (
        _Trial("32 anonymous dirty", "flags set", "flags_set", ["tail_lru_dirty"], []),
        _Trial("31 dirty, 1 clean", "flags set, at priority 10",
               "flags_set", ["tail_lru_dirty"], [], {"priority": 10}),
        _Trial("32 dirty", "throttles requested", "sleeps", [], ["congestion_wait"]),
    ),
    "C-prose-patch-3-stall-after-list": (
        _Trial(_ONE_MARKED, "throttles in the middle of the list", "slept", 1, 0, _FLAGGED),
        _Trial(_ONE_MARKED, "throttles requested after it",
               "sleeps", [], ["congestion_wait"], _FLAGGED),
    ),
    "C-prose-patch-4-flag-before-sleep": (
        _Trial("32 writing", "in this order", _ORDER, [_WAIT, _FLAG], [_FLAG, _WAIT]),
    ),
    "C-prose-patch-5-one-place": (
        _Trial("32 writing", "throttles that kswapd requests", "sleeps",
               ["wait_iff_congested"], []),
        _Trial("32 clean", "throttles that direct reclaim requests", "sleeps",
               [], ["wait_iff_congested"], {"kswapd": False}),
    ),
    "C-prose-patch-6-immediate-is-congested": (
        _Trial("32 writing marked", "flags set", "flags_set",
               ["writeback"], ["writeback", "congested"]),
    ),
    "C-prose-patch-7-buffer-state": (
        _Trial("32 dirty clean-buffers", _DIRTY, "dirty", 32, 0),
        _Trial("32 dirty locked-buffers", _UNQUEUED, "unqueued_dirty", 32, 0),
    ),
    "C-prose-patch-8-nfs-state": (
        _Trial("32 dirty committing", _UNQUEUED, "unqueued_dirty", 32, 0),
        _Trial("32 clean unstable", _DIRTY, "dirty", 0, 32),
    ),
}  # fmt: skip
"""By claim, in the order of the patches."""
