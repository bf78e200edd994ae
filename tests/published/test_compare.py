# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' percentages follow from their cells; results are printed and compared as theirs."""

import pytest

from swapsim.published.data import published_tables

TABLES = published_tables()
A = "01-writeback-tags"


def of_mmtests(base: float, value: float, better: str) -> float:
    """Return the percentage that mmtests prints after a value; zero cells have fixed answers."""
    if value in (base, 0):
        return 0.0
    if base == 0:
        return -99.0 if better == "lower" else 100.0
    change = 100 * value / base - 100
    return -change if better == "lower" else change


def printable(change: tuple[float, float], decimals: int) -> set[str]:
    """Return every text that a change in this range prints as."""
    step = 10**decimals
    low, high = (round(end * step) for end in sorted(change))
    return {
        f"{number / step:.{decimals}f}".replace("-0.00", "0.00") for number in range(low, high + 1)
    }


def corners(
    base: dict[str, float], cell: dict[str, float], counts: bool = False
) -> list[tuple[float, float]]:
    """Return the extremes of the values that print as these cells; zeros and counts are exact."""
    ends = []
    for row in (base, cell):
        half = 0.0 if counts or not row["value"] else 0.5 * 10.0 ** -row["decimals"]
        ends.append([row["value"] - half, row["value"] + half])
    return [(one, other) for one in ends[0] for other in ends[1]]


@pytest.mark.parametrize(
    ("mail", "table", "determined"),
    [
        ("B-batched-removal", "usemem", 12),
        ("B-batched-removal", "xfsio", 2),
        ("C-stall-decisions-series", "parallelio, disk", 72),
        ("C-stall-decisions-series", "parallelio, nfs", 72),
    ],
)
def test_the_published_percentages_of_mmtests_follow_from_their_cells(
    mail: str, table: str, determined: int
) -> None:
    """Each percentage of the mail is one that its cells can have by the rules of the tool."""
    published = TABLES.filter(mail=mail, table=table)
    counts = published["value"].floor().equals(published["value"])  # a table of whole numbers
    exact = 0
    for _, row in published.group_by("metric", maintain_order=True):
        base = row.row(0, named=True)
        for cell in row.iter_rows(named=True):
            ends = corners(base, cell, counts)
            changes = [of_mmtests(*pair, cell["better"]) for pair in ends]
            possible = printable((min(changes), max(changes)), 2)
            if cell["kernel"] == base["kernel"]:
                possible = {"0.00"}
            assert cell["change_percent_printed"].removesuffix("%") in possible, cell
            exact += len(possible) == 1
    assert exact == determined
