# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's tables are shown as printed, and stand next to the simulation and the lab."""

from itertools import product

import pytest

from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import notebook_03
from swapsim.published import data

SCANNED = "Kswapd pages scanned"


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
    """The same row over NFS changes in the other direction; an unknown row is named."""
    (change,) = patch.printed("nfs", ["Kswapd pages scanned"])["change"]
    assert change == 65.3
    with pytest.raises(InputError, match="'Tides' for 'disk'"):
        patch.printed("disk", ["Tides"])


def test_three_sources_stand_next_to_each_other() -> None:
    """A row has a line for each source; the lab's rows have the mail's sizes."""
    rows = ["memcachetest-2385M", SCANNED]
    measured = data.measured_results(patch.EXPERIMENT)
    table = notebook_03.three_sources(patch.studies.tables.load(), measured, rows)
    sources = ["published", "simulated", "measured"]
    assert table.select("row", "source").rows() == [*product(rows, sources)]
    simulated, lab = table.filter(row=SCANNED)["change"].to_list()[1:]
    assert simulated == pytest.approx(-94.4)
    assert lab == pytest.approx(-76.4)
    (_, of_mmotm) = table.filter(row=SCANNED, source="measured").select("3.9", "mmotm").row(0)
    assert of_mmotm == "102,392 [92,890, 111,290]"
