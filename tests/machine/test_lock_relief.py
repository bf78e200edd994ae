# SPDX-License-Identifier: GPL-2.0-or-later
"""How a lock is relieved, side by side: in a profile, in runs, in counts of a real kernel."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import MEDIANS, PUBLISHED, RESULTS
from swapsim.errors import InputError
from swapsim.machine.lock_relief import QUANTITIES, relief


def medians(values: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Return MEDIANS by hand: (policy, metric) -> its median, with a tenth to either side."""
    return pl.DataFrame(
        [
            ("p", "measured", "6.1", policy, 8, metric, "1", 5, value, 0.9 * value, 1.1 * value)
            for (policy, metric), value in values.items()
        ],
        schema=MEDIANS.schema,
        orient="row",
    )


def printed(*values: tuple[str, float]) -> pl.DataFrame:
    """Return a profile's cells of one lock by hand: kernel and percent of cycles."""
    cell = claims.published_tables().head(1)
    return pl.concat(
        cell.with_columns(kernel=pl.lit(kernel), value=pl.lit(value)) for kernel, value in values
    )


def counted(**value_of: float) -> pl.DataFrame:
    """Return a run by hand; two underscores are a dot."""
    return pl.DataFrame(
        [
            ("p", "simulated", "4.8", "-", 8, 1, metric.replace("__", "."), value, "1")
            for metric, value in value_of.items()
        ],
        schema=RESULTS.schema,
        orient="row",
    )


COUNTED = {
    ("off", "xa_lock acquisitions"): 5.0,
    ("on", "xa_lock acquisitions"): 4.0,
    ("off", "xa_lock contended acquisitions"): 0.5,
    ("on", "xa_lock contended acquisitions"): 0.75,
    ("off", "si->lock acquisitions"): 0.2,
    ("on", "si->lock acquisitions"): 0.2,
}

RUN = counted(
    cycles__tree_lock__add=6.0,
    cycles__tree_lock__remove=2.0,
    cycles__si_lock__get=70.0,
    acquisitions__tree_lock__add=4.0,
    contended__tree_lock__add=0.5,
    acquisitions__si_lock__get=1.0,
    acquisitions__si_lock__free=3.0,
)


def test_relief_is_the_sum_of_a_locks_sites_from_base_to_patched() -> None:
    """Each source's change in percent, by what it has: cycles in a profile, counts in the lab."""
    patched = counted(
        cycles__tree_lock__add=1.0,
        cycles__si_lock__get=90.0,
        acquisitions__tree_lock__add=2.0,
        contended__tree_lock__add=0.0,
        acquisitions__si_lock__free=5.0,
    )
    table = relief(
        # The patched profile does not list the second row.
        printed(("before", 7.0), ("before", 3.0), ("after", 0.5)),
        (RUN, patched),
        medians(COUNTED),
        ("off", "on"),
    )
    assert table["quantity"].to_list() == list(QUANTITIES)
    assert table["published"].to_list() == pytest.approx([-95.0, None, None, None])
    assert table["simulated"].to_list() == pytest.approx([-87.5, -50.0, -100.0, 25.0])
    assert table["measured"].to_list() == pytest.approx([None, -20.0, 50.0, 0.0])


def test_a_lock_that_nobody_waits_for_has_no_change() -> None:
    """A base of zero gives null, and neither infinity nor an error."""
    idle = RUN.with_columns(value=pl.lit(0.0))
    table = relief(
        printed(("before", 7.0), ("after", 0.5)),
        (idle, RUN),
        medians(COUNTED | {("off", "xa_lock contended acquisitions"): 0.0}),
        ("off", "on"),
    )
    assert table["simulated"].to_list() == [None] * 4
    assert table["measured"].to_list() == pytest.approx([None, -20.0, None, 0.0])


def test_relief_names_what_is_missing() -> None:
    """A profile of one kernel, a policy without medians and another table are one line each."""
    two = printed(("before", 7.0), ("after", 0.5))
    known = medians(COUNTED)
    with pytest.raises(InputError, match="field 'kernel': 1 kernels have such rows"):
        relief(two.head(1), (RUN, RUN), known, ("off", "on"))
    with pytest.raises(InputError, match="0 medians of 'xa_lock acquisitions' with 'maybe'"):
        relief(two, (RUN, RUN), known, ("off", "maybe"))
    with pytest.raises(InputError, match="PUBLISHED"):
        relief(known, (RUN, RUN), known, ("off", "on"))
    assert two.schema == PUBLISHED.schema
