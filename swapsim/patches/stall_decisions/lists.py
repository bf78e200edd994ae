# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of all sets: what each decides on a list of pages, and on those of a recording."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_COUNTERS, STALL_FLAGS, STALL_RULES
from swapsim.patches.stall_decisions.tables import (
    CODE_CLAIMS,
    DECISION_REASONS,
    LIST_OF_PAGES,
    PROCESSED_LISTS,
    PROCESSED_PAGES,
    RULE_SPANS,
    STALL_AGREEMENT,
    STALL_DIFFERENCES,
)
from swapsim.stall import Act, Rules, StallContext, decide, explain, process_pages, rules_of
from swapsim.stall.tables import DECIDED_LISTS, STALL_PAGES
from swapsim.traces import scan_event

_PLAIN: Final[dict[str, bool | int | None]] = {
    "file": True, "dirty": False, "writeback": False, "reclaim": False, "congested": False,
    "buffers": None, "fs_dirty": None, "fs_writeback": None, "pages": 1, "still": False,
    "arrives": True, "dirty_late": False, "kept": False, "locked": False,
}  # fmt: skip

WORDS: Final[dict[str, dict[str, bool]]] = {
    "clean": {},
    "dirty": {"dirty": True, "dirty_late": True},
    "writing": {"writeback": True, "still": True},
    "finishing": {"writeback": True},
    "marked": {"reclaim": True},
    "anonymous": {"file": False},
    "congested": {"congested": True},
    "used": {"arrives": False},
    "locked": {"locked": True},
    "clean-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": False},
    "locked-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": True},
    "unstable": {"buffers": False, "fs_dirty": True, "fs_writeback": False, "arrives": False},
    "committing": {"buffers": False, "fs_dirty": False, "fs_writeback": True, "arrives": False},
}
"""Words for a page, which may be combined. It is a file page unless it is anonymous.

``writing`` and ``finishing`` are under writeback; the write of the latter ends within 100 ms.
``marked``: PageReclaim is set. ``congested``: its disk is congested. ``used``: it was referenced.
``locked``: another task holds its lock. The last four are answers of the file system, whatever the
page's flags: two states of buffer heads and two of NFS, whose pages cannot be freed yet."""

_KIND: Final = re.compile(r"(\d+) +(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """What rule sets decided on a list.

    Attributes
    ----------
    ends : polars.DataFrame
        Schema PROCESSED_LISTS: the counters, flags and throttles at the end of the list.
    pages : polars.DataFrame
        Schema PROCESSED_PAGES: the outcome of each page.
    why : polars.DataFrame
        Schema DECISION_REASONS: a sentence for each act of a rule set, done or not.
    """

    ends: pl.DataFrame
    pages: pl.DataFrame
    why: pl.DataFrame


def make_list(*kinds: str) -> pl.DataFrame:
    """Return a list of pages that is described in words.

    Parameters
    ----------
    *kinds : str
        A number of pages and their description in WORDS: ``"5 dirty"``, ``"2 writing marked"``; in
        the order in which reclaim scans them.

    Returns
    -------
    polars.DataFrame
        Schema LIST_OF_PAGES.

    Raises
    ------
    InputError
        A kind does not begin with a number, or has another word; or there is no page.
    """
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        found = _KIND.fullmatch(kind.strip())
        if not found:
            raise InputError(f"{kind!r}: give a number and what these pages are", field="kinds")
        words = found[2].split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise InputError(f"{unknown[0]!r}: choose of {', '.join(WORDS)}", field="kinds")
        fields = dict(_PLAIN)
        for word in words:
            fields |= WORDS[word]
        rows += [{"page": " ".join(words), **fields}] * int(found[1])
    if not rows:
        raise InputError("the list is empty: give at least one page", field="kinds")
    frame = pl.DataFrame(rows, schema_overrides=STALL_PAGES.schema).with_columns(
        place=pl.int_range(1, len(rows) + 1, dtype=pl.UInt32)
    )
    return LIST_OF_PAGES.check(frame.select(LIST_OF_PAGES.names()))


def process_list(
    pages: pl.DataFrame,
    rules: Sequence[str] = STALL_RULES,
    *,
    priority: int = 12,
    kswapd: bool = True,
    flags: Sequence[str] = (),
    meetings: int = 1,
) -> Processed:
    """Process a list by the rules of each set, each time from the same flags.

    Parameters
    ----------
    pages : polars.DataFrame
        Schema LIST_OF_PAGES.
    rules : sequence of str
        Of `facts.STALL_RULES`.
    priority : int
        The scan priority, 12 to 0.
    kswapd : bool
        Whether kswapd reclaims, or a task directly.
    flags : sequence of str
        Of the zone at the start of the list: of `facts.STALL_FLAGS`.
    meetings : int
        How often such a list is processed, one after another, each with the flags that the one
        before it left.

    Returns
    -------
    Processed

    Raises
    ------
    ConfigError, InputError
        A rule set, a flag or a priority that does not exist.
    """
    LIST_OF_PAGES.check(pages)
    unknown = [flag for flag in flags if flag not in STALL_FLAGS]
    if unknown:
        raise InputError(
            f"no flag {unknown[0]!r}: choose of {', '.join(STALL_FLAGS)}", field="flags"
        )
    bits = sum(STALL_FLAGS[flag] for flag in set(flags))
    ends: list[dict[str, Any]] = []
    why: list[dict[str, Any]] = []
    outcomes: list[pl.DataFrame] = []
    for name in rules:
        context = StallContext(rules=name, priority=priority, kswapd=kswapd, flags=bits)
        for meeting in range(1, meetings + 1):
            labels = {"meeting": meeting, "rules": name}
            paths, end, reasons = _process(context, pages)
            ends.append(labels | _end_row(end, context, paths))
            why += [labels | {"why": reason} for reason in reasons]
            columns = [pl.lit(value).alias(column) for column, value in labels.items()]
            outcomes.append(_outcomes(pages, paths).with_columns(columns))
            context = replace(context, flags=end["flags_after"])
    of_pages = pl.concat(outcomes).select(PROCESSED_PAGES.names()).cast(PROCESSED_PAGES.schema)
    return Processed(
        ends=PROCESSED_LISTS.check(pl.DataFrame(ends, schema=PROCESSED_LISTS.schema)),
        pages=PROCESSED_PAGES.check(of_pages),
        why=DECISION_REASONS.check(pl.DataFrame(why, schema=DECISION_REASONS.schema)),
    )


def _process(
    context: StallContext, pages: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, Any], list[str]]:
    """Process a list; where a pass decides, the pass has this list only."""
    scanned = pages.filter(~pl.col("locked")).select(STALL_PAGES.names())
    paths, end = process_pages(context, scanned, unseen=pages.height - scanned.height)
    counts = {name: end[name] for name in _COUNTS}
    reasons = [_IN_THE_MIDDLE.format(end["slept"])] if end["slept"] else []
    reasons += explain(context, counts)
    if rules_of(context.rules).by_pass:
        end |= decide(context, counts, "pass")
        reasons += explain(context, counts, "pass")
    return paths, end, reasons


_IN_THE_MIDDLE: Final = (
    "sleep congestion_wait is requested {} x before the end: a marked page, and the flag writeback"
)

_COUNTS: Final = (
    "dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken",
)  # fmt: skip


def _end_row(end: dict[str, Any], context: StallContext, paths: pl.DataFrame) -> dict[str, Any]:
    flags = end | {"flags_before": context.flags}
    return {
        **{name: end[name] for name in (*_COUNTS, "slept", "sleeps")},
        **{
            name: [flag for flag, bit in STALL_FLAGS.items() if flags[name] & bit]
            for name in ("flags_before", "flags_set", "flags_after")
        },
        "written": paths["branch"].eq("write").sum(),
        **{name: paths[name].sum() for name in ("freed", "freed_under_writeback")},
    }


_STOPPED_AS: Final = {
    "case-1": "counted for a sleep",
    "case-2": "under writeback",
    "case-3": "waited for",
    "not-written": "dirty",
    "no-write": "not to be written now",
    "goes-on": "by another test",
}
"""What stopped a page that was neither freed nor written."""


def _outcomes(pages: pl.DataFrame, paths: pl.DataFrame) -> pl.DataFrame:
    """Return the outcome of each page in words; a locked page is not scanned."""
    stopped = pl.col("branch").cast(pl.String).replace(_STOPPED_AS)
    outcome = (
        pl.when("freed_under_writeback")
        .then(pl.lit("freed under writeback"))
        .when("freed")
        .then(pl.lit("freed"))
        .when(pl.col("branch") == "write")
        .then(pl.lit("written"))
        .when("slept")
        .then(pl.lit("kept: slept for"))
        .when("activated")
        .then(pl.format("activated: {}", stopped))
        .otherwise(pl.format("kept: {}", stopped))
    )
    scanned = pages.filter(~pl.col("locked")).select("place")
    found = scanned.with_columns(paths.select(outcome=outcome))
    return pages.join(found, on="place", how="left", maintain_order="left").with_columns(
        pl.col("outcome").fill_null("kept: locked")
    )


class _Trial(NamedTuple):
    """A list on which a claim shows, and what is seen there before and after the patch."""

    pages: str
    seen: str
    column: str
    before: object
    after: object
    context: Mapping[str, Any] = {}


def code_claims() -> pl.DataFrame:
    """Test what each of the eight patches says that it changes, on a list on which it must show.

    The mail makes these claims without a figure. Each list is processed by the rules before the
    patch and by those after it.

    Returns
    -------
    polars.DataFrame
        Schema CODE_CLAIMS, in the order of the patches.
    """
    rows = []
    for claim, trials in _TRIALS.items():
        patch = int(claim.split("-")[3])
        sets = (f"series-{patch - 1}" if patch > 1 else "mmotm", f"series-{patch}")
        for trial in trials:
            seen = [_seen(trial, rules) for rules in sets]
            words = [
                ", ".join(one) or "none" if isinstance(one, list) else str(one) for one in seen
            ]
            verdict = "agrees" if seen == [trial.before, trial.after] else "contradicts"
            rows.append((patch, claim, trial.pages, trial.seen, *words, verdict))
    return CODE_CLAIMS.check(pl.DataFrame(rows, schema=CODE_CLAIMS.schema, orient="row"))


def _seen(trial: _Trial, rules: str) -> object:
    found = process_list(make_list(*trial.pages.split(", ")), [rules], **trial.context)
    if trial.column != _ORDER:
        return found.ends[trial.column].to_list()[0]
    acts = found.why["why"].str.extract(r"^(flag writeback|sleep wait_iff_congested) is ")
    return acts.drop_nulls().to_list()


_ORDER: Final = "order"
"""The order of setting the flag and of the wait, which patch 4 changes."""

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
_NONE: Final = "-"


def rule_spans() -> pl.DataFrame:
    """Return the rule behind each decision, and the consecutive rule sets that share it.

    "all" are the pages of a list, "file" those of them from lists of file pages, "unqueued" dirty
    ones that are not queued for writing, "writing" those under writeback, "marked" marked ones
    under writeback; the share is all, halved for each priority below the first.

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


def agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Compare each two rule sets, list by list.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.

    Returns
    -------
    polars.DataFrame
        Schema STALL_AGREEMENT, the older of each pair first.
    """
    DECIDED_LISTS.check(decided)
    known = set(decided["rules"].unique().to_list())
    flags, sleeps = _same("flags_set"), _same("forced") & _same("waits")
    shares = {
        "decisions": (flags & sleeps).mean(),
        "flags": flags.mean(),
        "sleeps": sleeps.mean(),
        "folios": _same("branches").mean(),
    }
    rows = [
        _joined(decided, one, other)
        .select(pl.lit(one).alias("one"), pl.lit(other).alias("other"), lists=pl.len(), **shares)
        .row(0)
        for one, other in combinations([rules for rules in STALL_RULES if rules in known], 2)
    ]
    return STALL_AGREEMENT.check(pl.DataFrame(rows, schema=STALL_AGREEMENT.schema, orient="row"))


def agreement_table(pairs: pl.DataFrame, share: str = "decisions") -> pl.DataFrame:
    """Return a share of STALL_AGREEMENT in percent as a square: a row and a column per rule set."""
    shares = STALL_AGREEMENT.check(pairs).select("one", "other", percent=pl.col(share) * 100)
    rules = pl.concat([shares["one"], shares["other"]]).unique().sort()
    own = pl.DataFrame({"one": rules, "other": rules, "percent": 100.0})
    mirrored = shares.select(one="other", other="one", percent="percent")
    square = pl.concat([shares, mirrored, own]).sort("one", "other")
    table = square.pivot("other", index="one", values="percent", sort_columns=False)
    return table.select(pl.col("one").cast(pl.String).alias("rules"), *rules.cast(pl.String))


def differing_lists(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Return the decisions in which two rule sets differ, and the first cause of each.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    one, other : str
        Of STALL_RULES.

    Returns
    -------
    polars.DataFrame
        Schema STALL_DIFFERENCES, the most frequent first.

    Raises
    ------
    InputError
        The frame lacks one of the sets.
    """
    both = _joined(DECIDED_LISTS.check(decided), one, other)
    causes = {f"counter {name}": ~_same(name) for name in STALL_COUNTERS}
    causes["history"] = ~_same("flags_before")
    cause = pl.coalesce(*(pl.when(test).then(pl.lit(name)) for name, test in causes.items()))
    flags = pl.col("flags_set") ^ pl.col("flags_set_other")
    differs = {f"flag {name}": (flags & bit) != 0 for name, bit in STALL_FLAGS.items()}
    differs |= {"forced sleep": ~_same("forced"), "wait for congestion": ~_same("waits")}
    parts = [
        both.filter(test)
        .group_by(cause=cause.fill_null("rule"), maintain_order=True)
        .agg(pl.len().alias("lists"), pl.col("list").first(), pl.col("seq").first())
        .with_columns(decision=pl.lit(decision), one=pl.lit(one), other=pl.lit(other))
        for decision, test in differs.items()
    ]
    order = {"lists": True, "list": False, "decision": False}
    found = pl.concat(parts).sort(*order, descending=[*order.values()])
    return found.select(STALL_DIFFERENCES.names()).cast(STALL_DIFFERENCES.schema)


def _joined(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Join the lists of two sets; the columns of the second end in ``_other``."""
    of_one, of_other = (decided.filter(pl.col("rules") == rules) for rules in (one, other))
    for rules, lists in ((one, of_one), (other, of_other)):
        if lists.is_empty():
            raise InputError(f"no list is decided by {rules!r}: decide them all", field="rules")
    return of_one.join(of_other, on="nth", suffix="_other", maintain_order="left")


def _same(name: str) -> pl.Expr:
    return pl.col(name) == pl.col(f"{name}_other")


def stretch(decided: pl.DataFrame, *, lists: int = 60, begin: int | None = None) -> pl.DataFrame:
    """Return consecutive lists of a recording in order, under all rule sets.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    lists : int
        Number of lists, 1 or more.
    begin : int, optional
        The first list by ``nth``; by default, the stretch with the most sleeps.

    Returns
    -------
    polars.DataFrame
        Schema DECIDED_LISTS: these lists in order, rule set after rule set.

    Raises
    ------
    InputError
        There are fewer lists than 1.
    """
    DECIDED_LISTS.check(decided)
    if lists < 1:
        raise InputError(f"a stretch of {lists} lists is empty: give 1 or more", field="lists")
    if begin is None:
        stalls = (pl.col("forced") | pl.col("waits")).sum().cast(pl.Int64)
        by_list = decided.group_by("nth").agg(stalls=stalls).sort("nth")["stalls"]
        last = by_list.rolling_sum(min(lists, by_list.len())).arg_max() or 0
        begin = max(last - lists + 1, 0)
    return decided.filter(pl.col("nth").is_between(begin, begin + lists - 1))


def stretch_seconds(folder: Path | str, decided: pl.DataFrame) -> float | None:
    """Return how long a stretch of lists took, by the recording's own clock.

    Lists have no time; the kernel's event for each sleep has one.

    Parameters
    ----------
    folder : Path or str
        The trace.
    decided : polars.DataFrame
        Schema DECIDED_LISTS, all or a stretch of it.

    Returns
    -------
    float or None
        Seconds from the last sleep before the first list, or the first sleep of all, to the first
        sleep after the last list, or the last of all; None if there is no sleep.

    Raises
    ------
    InputError
        There is no trace, or it has no table throttle_askers.
    """
    DECIDED_LISTS.check(decided)
    begin, end = decided["seq"].min(), decided["seq"].max()
    sleeps = scan_event(folder, "throttle_askers").select("seq", "t_ns").sort("seq").collect()
    if sleeps.is_empty() or begin is None:
        return None
    before = sleeps.filter(pl.col("seq") <= begin)["t_ns"].tail(1)
    after = sleeps.filter(pl.col("seq") >= end)["t_ns"].head(1)
    first = before.item() if before.len() else sleeps["t_ns"][0]
    last = after.item() if after.len() else sleeps["t_ns"][-1]
    return float(last - first) / 1e9
