# SPDX-License-Identifier: GPL-2.0-or-later
"""The three columns: what was published, simulated and measured, and how they stand to each other.

- ``published_tables``, ``published_claims``, ``tolerances``, ``mails``, ``patch_cards``: what was
  published, and by whom,
- ``world_tolerances``: what judges patch 03's tables in its world,
- ``measured_results`` and its kin: what a real kernel did with a patch switched off and on,
- ``medians``, ``side_by_side``, ``ranks``: results over their rounds, with intervals,
- ``three_columns``, ``held_against``: side by side, and judged,
- ``range_verdict``: a range of predictions, judged, and open where it is too wide,
- ``directions``, ``steps``: by sign, round against the same round,
- ``lkp``, ``mmtests``: laid out as the mails print them.
"""

from swapsim.claims.cards import patch_cards
from swapsim.claims.columns import held_against, three_columns
from swapsim.claims.directions import directions
from swapsim.claims.layouts import as_printed, lkp, lkp_change, mmtests, mmtests_change
from swapsim.claims.measured import measured_provenance, measured_results, measured_slots
from swapsim.claims.medians import medians, ranks, side_by_side
from swapsim.claims.paired import steps
from swapsim.claims.published import (
    mails,
    published_claims,
    published_tables,
    tolerances,
    world_tolerances,
)
from swapsim.claims.ranges import OPEN_BEYOND, range_verdict
from swapsim.claims.results import Row, results

__all__ = [
    "OPEN_BEYOND",
    "Row",
    "as_printed",
    "directions",
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
    "published_claims",
    "published_tables",
    "range_verdict",
    "ranks",
    "results",
    "side_by_side",
    "steps",
    "three_columns",
    "tolerances",
    "world_tolerances",
]
