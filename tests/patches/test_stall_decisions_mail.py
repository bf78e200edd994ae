# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's table is shown as printed, and its last column against its own base."""

import pytest

from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch


def test_cells_are_as_printed_and_the_change_is_the_series_own() -> None:
    """The mail's percentages are against vanilla, the change here is against mmotm."""
    found = patch.printed("disk", ["memcachetest-4055M", "Kswapd pages scanned", "Swap Ins"])
    assert found.columns == ["row", "3.9", "mmotm", "series-8", "change"]
    assert found.rows() == [
        ("memcachetest-4055M", "4104.00", "25130.00", "24614.00", -2.1),
        ("Kswapd pages scanned", "6046108", "8814900", "1639279", -81.4),
        ("Swap Ins", "260249", "0", "0", None),
    ]


def test_each_target_has_its_own_cells() -> None:
    """The same row over NFS goes the other way."""
    (change,) = patch.printed("nfs", ["Kswapd pages scanned"])["change"]
    assert change == 65.3


def test_a_row_that_is_not_printed_is_named() -> None:
    """With the target it was asked for."""
    with pytest.raises(InputError, match="'Tides' for 'disk'"):
        patch.printed("disk", ["Tides"])
