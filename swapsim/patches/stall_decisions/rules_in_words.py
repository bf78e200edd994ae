# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule sets as a table in words: the rule behind each decision, and the sets that share it.

"all" are the pages of a list, "file" those of them from lists of file pages, "unqueued" dirty ones
that are not queued for writing, "writing" those under writeback, "marked" marked ones under
writeback; the share is all, halved for each priority below the first.
"""

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Final

import polars as pl

from swapsim.ffi import STALL_RULES
from swapsim.stall import Act, Rules, rules_of

_WORDS: Final = {
    "dirty": "dirty",
    "unqueued_dirty": "unqueued",
    "congested": "congested",
    "writeback": "writing",
    "immediate": "marked",
    "taken": "all",
    "file_taken": "file",
    "share": "share",
}
_ALL_DIRTY: Final = {"dirty = congested": "all dirty are"}
"""The test of the flag CONGESTED, shorter."""

_TESTS: Final = {
    "always": "always",
    "some": "{number} > 0",
    "some_at_least": "{number} ≥ {of}",
    "some_equal": "{number} = {of}",
    "equal": "{number} = {of}",
    "equal_or_immediate": "{number} = {of}, or marked > 0",
    "flagged": "flagged",
    "in_trouble": "below priority 10",
    "no_progress": "nothing freed",
}
_SCOPES: Final = {"kswapd": ",\nby kswapd", "kswapd_or_sane_memcg": ",\nalso cgroups"}
_COUNTED: Final = {
    "late": "all that are left at the dirty test",
    "at_top": "file pages only, before any other test",
}
_CONGESTED: Final = {
    "pageout_keep": "it could not be written now",
    "device": "its disk is",
    "mark": "marked",
}
_CASE_1: Final = {
    "none": "is kept",
    "sleep_locked": "sleep, then\ngo on",
    "sleep_and_keep": "sleep, keep it",
    "count_and_keep": "count it as marked, keep it",
    "count_and_activate": "count,\nactivate",
}
_WRITES: Final = {
    "below_10": "below\npriority 10",
    "flagged": "TAIL_LRU_DIRTY is set",
    "flagged_and_marked": "and it is\nmarked",
}
_WAITS_ON_SHARE: Final = {
    ("wait_iff_congested",): "writing ≥\nshare",
    ("wait_iff_congested", "writeback"): "writing ≥ share, before the flag is set",
    ("writeback", "wait_iff_congested"): "after the\nflag is set",
}
"""By the acts on the share, in their order: the wait, and setting the flag."""

_DIRECT: Final = {
    "in_trouble": "a round below priority 10",
    "always": "each list",
    "flagged": "each pass",
}
_NONE: Final = "never"


def rule_spans() -> pl.DataFrame:
    """Return each decision's rules: ``decision, rules, text`` and the kernel ``since`` which."""
    rows = [rules_of(name) for name in STALL_RULES]
    spans = []
    for decision, words in _DECISIONS.items():
        for text, alike in groupby(rows, key=words):
            names = [rules.name for rules in alike]
            spans.append({"decision": decision, "rules": names, "text": text})
    since = pl.col("rules").list.first().str.replace(r"^series-\d$", "the series")
    return pl.DataFrame(spans).with_columns(since=since)


def _tests(rules: Rules, does: str, *what: str) -> list[str]:
    """Return the tests of the acts that do this, except for those of memory cgroups."""
    return [
        _test(act) + _SCOPES.get(act.scope, "")
        for act in rules.acts
        if act.does == does and act.what in what and act.scope != "legacy_memcg"
    ]


def _test(act: Act) -> str:
    """Return the test of an act in words."""
    words = _TESTS[act.test].format(number=_WORDS.get(act.number), of=_WORDS.get(act.of))
    return _ALL_DIRTY.get(words, words)


def _flag(name: str) -> Callable[[Rules], str]:
    return lambda rules: "; ".join(_tests(rules, "set", name)) or _NONE


def _answers(rules: Rules) -> str:
    if rules.asks_nfs:
        return "and NFS"
    return "and buffers" if rules.asks_buffers else "the page's flags"


def _forced(rules: Rules) -> str:
    in_the_list = ["marked page"] if rules.case_1.startswith("sleep") else []
    after = _tests(rules, "sleep", "congestion_wait", "writeback")
    return ";\n".join(in_the_list + after) or _NONE


def _wait_on_share(rules: Rules) -> str:
    acts = (act.what for act in rules.acts if act.of == "share" and act.number == "writeback")
    return _WAITS_ON_SHARE.get(tuple(acts), _NONE)


def _direct(rules: Rules) -> str:
    waits = ("wait_iff_congested", "congested")
    return next(
        _DIRECT[act.test] for act in rules.acts if act.what in waits and "direct" in act.scope
    )


_DECISIONS: Final[Mapping[str, Callable[[Rules], str]]] = {
    "dirty pages that are counted": lambda rules: _COUNTED[rules.counted],
    "a page is dirty or under writeback by": _answers,
    "a page counts as congested if": lambda rules: ", or ".join(
        words for word, words in _CONGESTED.items() if word in rules.congested_by
    ),
    "a marked page under writeback, by kswapd": lambda rules: _CASE_1[rules.case_1],
    "any other page under writeback": lambda rules: "activated" if rules.activates else "is kept",
    "kswapd writes a dirty file page if": lambda rules: _WRITES[rules.writes],
    "flags are decided after": lambda rules: f"each {rules.decides}",
    "flag TAIL_LRU_DIRTY if": _flag("tail_lru_dirty"),
    "flag WRITEBACK if": _flag("writeback"),
    "flag CONGESTED if": _flag("congested"),
    "sleep up to 100 ms if": _forced,
    "all wait, while CONGESTED, if": _wait_on_share,
    "direct reclaim waits if CONGESTED, after": _direct,
}
"""The name of each row of the table, and the function that reads its words off a rule set."""
