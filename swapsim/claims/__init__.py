# SPDX-License-Identifier: GPL-2.0-or-later
"""The three columns: what was published, simulated and measured, and how they stand to each other.

- ``published_tables``, ``published_claims``, ``tolerances``, ``mails``, ``patch_cards``: what was
  published, and by whom,
- ``simulation_tolerances``: what judges patch 03's tables in its world,
- ``measured_results`` and its kin: what a real kernel did with a patch switched off and on,
- ``medians``, ``side_by_side``, ``ranks``: results over their rounds, with intervals,
- ``three_columns``, ``held_against``: side by side, and judged,
- ``range_verdict``: a range of predictions, judged, and open where it is too wide,
- ``your_runs``: a reader's own, from CSV or the result folder of lkp-tests or mmtests; ``fitting``:
  which claims they fit; ``four_columns``: beside the three; ``unmatched``: what fits none,
- ``directions``, ``steps``: by sign, round against the same round,
- ``lkp``, ``mmtests``: laid out as the mails print them.
"""

from typing import TYPE_CHECKING

from swapsim.claims.cards import patch_cards
from swapsim.claims.columns import held_against, three_columns
from swapsim.claims.directions import directions
from swapsim.claims.fourth_column import (
    fitting,
    four_columns,
    patches_of,
    two_kernels,
    unmatched,
    your_metrics,
)
from swapsim.claims.layouts import as_printed, lkp, lkp_change, mmtests, mmtests_change
from swapsim.claims.measured import measured_provenance, measured_results, measured_slots
from swapsim.claims.medians import medians, ranks, side_by_side
from swapsim.claims.paired import steps
from swapsim.claims.published import (
    mails,
    published_claims,
    published_tables,
    simulation_tolerances,
    tolerances,
)
from swapsim.claims.ranges import OPEN_BEYOND, range_verdict
from swapsim.claims.results import Row, results
from swapsim.claims.yours import your_runs
from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.claims import charts as charts
    from swapsim.claims import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "OPEN_BEYOND",
    "Row",
    "as_printed",
    "directions",
    "fitting",
    "four_columns",
    "held_against",
    "lkp",
    "lkp_change",
    "mails",
    "measured_provenance",
    "measured_results",
    "measured_slots",
    "medians",
    "mmtests",
    "mmtests_change",
    "patch_cards",
    "patches_of",
    "published_claims",
    "published_tables",
    "range_verdict",
    "ranks",
    "results",
    "side_by_side",
    "simulation_tolerances",
    "steps",
    "three_columns",
    "tolerances",
    "two_kernels",
    "unmatched",
    "your_metrics",
    "your_runs",
]
