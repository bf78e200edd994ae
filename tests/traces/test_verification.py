# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of ``swapsim verify``."""

from swapsim.traces.verification import Verdict


def test_a_note_has_no_part_that_counts_nothing() -> None:
    """The last line has all its counts; a note of zeros is no line."""
    verdict = Verdict(
        agrees=False,
        counts={"calls": (0, 3), "moves": (0, 0)},
        figures={"open": 0, "cut": 2},
        notes=("{calls} calls; {moves} moves; {cut} cut", "{open} open at the end", "as a rule"),
        result="granted {calls} ({moves} moves, {open} open)",
    )
    assert not verdict
    assert (verdict.matched, verdict.of, verdict.first) == (0, 3, None)
    assert verdict.text == verdict.describe()[-1]
    assert verdict.describe() == [
        "0 of 3 calls; 2 cut",
        "as a rule",
        "granted 0 of 3 (0 of 0 moves, 0 open)",
    ]
