# SPDX-License-Identifier: GPL-2.0-or-later
"""Published, simulated and measured figures: read, compared and judged.

- ``published_tables``, ``published_claims``, ``tolerances``, ``mails``, ``patch_cards``: the mails,
- ``measured_results``, ``measured_slots``, ``measured_provenance``: runs of a real kernel,
- ``results``: RESULTS, the long form of all figures,
- ``medians``, ``side_by_side``, ``ranks``, ``steps``: results over their rounds, with intervals,
- ``three_columns``, ``compare_counts``, ``directions``, ``range_verdict``: compared, and judged,
- ``your_runs``, ``fitting``, ``four_columns``: a user's own measurements,
- ``lkp``, ``mmtests``: the layouts of the mails.
"""

from typing import TYPE_CHECKING

from swapsim.claims.judging import compare_counts, directions, range_verdict, three_columns
from swapsim.claims.layouts import as_printed, lkp, lkp_change, mmtests, mmtests_change
from swapsim.claims.published import (
    Row,
    mails,
    measured_provenance,
    measured_results,
    measured_slots,
    patch_cards,
    published_claims,
    published_tables,
    results,
    simulation_tolerances,
    tolerances,
)
from swapsim.claims.rounds import medians, ranks, side_by_side, steps
from swapsim.claims.yours import fitting, four_columns, two_kernels, your_metrics, your_runs
from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.claims import charts as charts
    from swapsim.claims import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "Row",
    "as_printed",
    "compare_counts",
    "directions",
    "fitting",
    "four_columns",
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
    "simulation_tolerances",
    "steps",
    "three_columns",
    "tolerances",
    "two_kernels",
    "your_metrics",
    "your_runs",
]
