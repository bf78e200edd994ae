# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' tables again, row by row: published | simulated | measured on a real kernel.

The **rule**. A ratio is patched / base, from 1/20 ("nothing is left") to 20 ("from nothing"). A row
is *unchanged* if the mail's ratio is within 10 %, one printed unit, or the mail's own spread; ours
then *stays* within 10 %, *moves* if all of its range lies beyond, or is *unclear*. Of all other
rows, ours *agrees* if it lies on the mail's side of 1 and its logarithm is the mail's within a
factor of 1.5 (+22 % allows 14 to 35 %, a half 0.35 to 0.63); it has *another size* if it is on that
side and 10 % off; else it *differs*. It is *unclear* if its range comes within 1 % of 1, or has
fewer than five rounds. These thresholds were chosen in sight of the data.
"""

from swapsim.published.data import measured_results as experiment
from swapsim.published.rows import (
    by_hand,
    compare,
    mails,
    mark,
    measured,
    read,
    score,
    simulated,
    table,
)
from swapsim.published.shown import chart, show

__all__ = [
    "by_hand",
    "chart",
    "compare",
    "experiment",
    "mails",
    "mark",
    "measured",
    "read",
    "score",
    "show",
    "simulated",
    "table",
]
