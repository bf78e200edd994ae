# SPDX-License-Identifier: GPL-2.0-or-later
"""Pencil and paper on patch B: what waits for one lock would have to be."""

import pytest

from swapsim.errors import ConfigError
from swapsim.patches import batched_removal as patch
from swapsim.removal.tables import WAITS_NEEDED


def test_each_published_system_time_asks_for_its_share_of_waits() -> None:
    """Five rows of usemem and one of the file test; a loss asks for none."""
    found = patch.waits_needed(acquisitions_a_page=1, saved_a_page=0.5)
    assert found.schema == WAITS_NEEDED.schema
    assert dict(found.select("claim", "needed_percent").iter_rows()) == {
        "B-system-1": pytest.approx(51.86),
        "B-system-3": None,
        "B-system-5": pytest.approx(97.70),
        "B-system-7": pytest.approx(66.46),
        "B-system-8": pytest.approx(91.50),
        "B-pwrite-system": None,
    }
    assert found["saved_percent"].to_list() == [50.0] * 6
    assert found["enough"].to_list() == [True, None, True, True, True, None]


def test_one_of_four_acquisitions_a_page_explains_no_row_by_itself() -> None:
    """In 4.8 a page written out takes its mapping's lock four times; lists are 32 pages at most."""
    found = patch.waits_needed(acquisitions_a_page=4, saved_a_page=31 / 32)
    assert found["enough"].drop_nulls().to_list() == [False] * 4
    assert found["needed_percent"].min() == pytest.approx(25.93 / (31 / 128))


@pytest.mark.parametrize(
    ("acquisitions", "saved", "named"),
    [(0, 1, "acquisitions_a_page=0"), (2, 0, "saved_a_page=0"), (2, 3, "saved_a_page=3")],
)
def test_an_argument_out_of_range_is_named(acquisitions: float, saved: float, named: str) -> None:
    """What cannot be is refused with its value."""
    with pytest.raises(ConfigError, match=named):
        patch.waits_needed(acquisitions_a_page=acquisitions, saved_a_page=saved)
