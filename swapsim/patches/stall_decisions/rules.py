# SPDX-License-Identifier: GPL-2.0-or-later
"""The twelve rule sets as one table, read off the library's rows: which decides what alike.

T stands for the pages of a list, F for those of them from lists of file pages, D for dirty ones,
U for dirty ones that nobody is writing, C for congested ones, W for those under writeback, I for
marked ones that are, too; the share is T, halved for each priority below the first.
"""

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Final

import polars as pl

from swapsim.ffi.facts import STALL_RULES
from swapsim.stall._native_rules import Act, Rules, rules_of
from swapsim.stall.tables import RULE_SPANS

_LETTERS: Final = {
    "dirty": "D",
    "unqueued_dirty": "U",
    "congested": "C",
    "writeback": "W",
    "immediate": "I",
    "taken": "T",
    "file_taken": "F",
    "share": "share",
}
_TESTS: Final = {
    "always": "always",
    "some": "{number} > 0",
    "some_at_least": "{number} ≥ {of}",
    "some_equal": "{number} = {of}",
    "equal": "{number} = {of}",
    "equal_or_immediate": "{number} = {of}, or I > 0",
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
    "count_and_keep": "count it as I, keep it",
    "count_and_activate": "count,\nactivate",
}
_WRITES: Final = {
    "below_10": "below\npriority 10",
    "flagged": "TAIL_LRU_DIRTY is set",
    "flagged_and_marked": "and it is\nmarked",
}
_FORCED: Final = ("congestion_wait", "writeback")
_IF_CONGESTED: Final = ("wait_iff_congested", "congested")
_NONE: Final = "-"


def rule_spans() -> pl.DataFrame:
    """Say of each decision by which rule sets it is taken alike.

    Returns
    -------
    polars.DataFrame
        Schema RULE_SPANS.
    """
    rows = [rules_of(name) for name in STALL_RULES]
    spans = []
    for decision, words in _DECISIONS.items():
        for text, alike in groupby(rows, key=words):
            names = [rules.name for rules in alike]
            spans.append({"decision": decision, "rules": names, "text": text})
    since = pl.col("rules").list.first().str.replace(r"^series-\d$", "the series")
    frame = pl.DataFrame(spans, schema_overrides={"rules": pl.List(pl.String)})
    return RULE_SPANS.check(frame.with_columns(since=since))


def _flag(name: str) -> Callable[[Rules], str]:
    def words(rules: Rules) -> str:
        return _tests(rules, lambda act: act.does == "set" and act.what == name)

    return words


def _tests(rules: Rules, chosen: Callable[[Act], bool]) -> str:
    found = [_test(act) for act in rules.acts if chosen(act)]
    return "; ".join(found) or _NONE


def _test(act: Act) -> str:
    letters = {"number": _LETTERS.get(act.number, ""), "of": _LETTERS.get(act.of, "")}
    return _TESTS[act.test].format_map(letters) + _SCOPES.get(act.scope, "")


def _congested(rules: Rules) -> str:
    return ", or ".join(words for word, words in _CONGESTED.items() if word in rules.congested_by)


def _answers(rules: Rules) -> str:
    if rules.asks_nfs:
        return "and NFS"
    return "and buffers" if rules.asks_buffers else "the page's flags"


def _forced(rules: Rules) -> str:
    where = ["marked page"] if rules.case_1.startswith("sleep") else []
    tests = _tests(
        rules,
        lambda act: (
            act.does == "sleep" and act.what in _FORCED and act.scope in ("global", "kswapd")
        ),
    )
    return ";\n".join(where + ([tests] if tests != _NONE else [])) or _NONE


def _wait_on_share(rules: Rules) -> str:
    order = [
        act.what for act in rules.acts
        if act.place == "list" and (act.what == "writeback" or _waits_on_share(act))
    ]  # fmt: skip
    if not any(_waits_on_share(act) for act in rules.acts):
        return _NONE
    if order == ["wait_iff_congested"]:
        return "W ≥ share"
    return (
        "W ≥ share, before the flag is set"
        if order[0] == "wait_iff_congested"
        else "after the\nflag is set"
    )


def _waits_on_share(act: Act) -> bool:
    return act.what == "wait_iff_congested" and act.of == "share"


def _direct(rules: Rules) -> str:
    (act,) = (
        act for act in rules.acts
        if act.what in _IF_CONGESTED and "direct" in act.scope
    )  # fmt: skip
    return {
        "in_trouble": "a round below priority 10",
        "always": "each list",
        "flagged": "each pass",
    }[act.test]


_DECISIONS: Final[Mapping[str, Callable[[Rules], str]]] = {
    "dirty pages that are counted": lambda rules: _COUNTED[rules.counted],
    "a page is dirty or under writeback by": _answers,
    "a page counts as congested if": _congested,
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
"""What a row of the table is called, and how its words are read off a row of rules."""
