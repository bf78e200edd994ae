# SPDX-License-Identifier: GPL-2.0-or-later
"""A list that is described in words is processed by the rules, and each patch changes its rule."""

import pytest

from swapsim.errors import InputError
from swapsim.ffi import STALL_RULES
from swapsim.patches import stall_decisions as patch


def outcomes(*kinds: str, rules: str, **context: object) -> list[str]:
    """Return what becomes of each page."""
    found = patch.process_list(patch.make_list(*kinds), [rules], **context)  # type: ignore[arg-type]
    return found.pages["outcome"].to_list()


def test_a_list_is_a_number_of_pages_of_each_kind() -> None:
    """In order, of files unless they are anonymous."""
    pages = patch.make_list("2 dirty", "1 anonymous writing marked")
    assert pages.select("place", "page", "file", "dirty", "writeback", "reclaim").rows() == [
        (1, "dirty", True, True, False, False),
        (2, "dirty", True, True, False, False),
        (3, "anonymous writing marked", False, False, True, True),
    ]


@pytest.mark.parametrize(
    ("kinds", "named"),
    [((), "the list is empty"), (("dirty",), "'dirty': give a number"), (("1 wet",), "'wet'")],
)
def test_what_is_no_kind_is_named(kinds: tuple[str, ...], named: str) -> None:
    """With the words that there are."""
    with pytest.raises(InputError, match=named):
        patch.make_list(*kinds)


def test_mmotm_frees_a_page_under_writeback_and_patch_1_keeps_it() -> None:
    """A page whose write ends in the meantime is freed safely."""
    for kind, rules, outcome in (
        ("1 writing marked", "mmotm", "freed under writeback"),
        ("1 finishing marked", "mmotm", "freed"),
        ("1 writing marked", "series-1", "kept: slept for"),
        ("1 writing marked", "series-3", "kept: counted for a sleep"),
        ("1 writing marked", "6.1", "activated: counted for a sleep"),
    ):
        assert outcomes(kind, rules=rules, flags=["writeback"]) == [outcome]


def test_each_test_that_stops_a_page_has_its_own_words() -> None:
    """A page is freed, written, or kept for one of these reasons."""
    expected = {
        "1 locked dirty": "kept: locked",
        "1 dirty": "kept: dirty",
        "1 writing": "kept: under writeback",
        "1 used dirty": "kept: by another test",
        "1 anonymous dirty": "written",
        "1 clean": "freed",
    }
    assert outcomes(*expected, rules="series-8") == list(expected.values())


def test_a_second_meeting_finds_the_flags_of_the_first() -> None:
    """So kswapd writes what it kept."""
    found = patch.process_list(patch.make_list("32 dirty"), ["series-8"], meetings=2)
    assert found.ends.select("flags_before", "flags_after", "written").rows() == [
        ([], ["tail_lru_dirty"], 0),
        (["tail_lru_dirty"], ["tail_lru_dirty"], 32),
    ]


def test_a_locked_page_counts_as_taken_but_not_as_dirty() -> None:
    """With one locked page, a list of dirty ones sets no flag."""
    pages = patch.make_list("31 dirty", "1 locked dirty")
    (end,) = patch.process_list(pages, ["series-8"]).ends.to_dicts()
    assert (end["taken"], end["unqueued_dirty"], end["flags_set"]) == (32, 31, [])


def test_6_1_decides_at_the_end_of_a_pass_that_has_this_list_alone() -> None:
    """kswapd's, for direct reclaim sets no flag of the node."""
    pages = patch.make_list("32 writing")
    (kswapd,) = patch.process_list(pages, ["6.1"]).ends["flags_set"].to_list()
    (direct,) = patch.process_list(pages, ["6.1"], kswapd=False).ends["flags_set"].to_list()
    assert (kswapd, direct) == (["writeback"], [])


def test_each_rule_set_processes_the_list_from_the_same_flags() -> None:
    """An unknown flag or rule set is named."""
    pages = patch.make_list("4 dirty")
    found = patch.process_list(pages, flags=["writeback"])
    assert found.ends["rules"].to_list() == list(STALL_RULES)
    with pytest.raises(InputError, match=r"'wet'.*writeback"):
        patch.process_list(pages, flags=["wet"])
    with pytest.raises(InputError, match=r"2\.6.*mmotm"):
        patch.process_list(pages, ["2.6"])
