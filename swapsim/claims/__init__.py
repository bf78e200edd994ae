# SPDX-License-Identifier: GPL-2.0-or-later
"""Published, simulated and measured figures, and a user's: read, compared and judged.

`published` reads what the mails print and data/measured, `rounds` computes results over their
rounds, `judging` compares and judges, `texts` has the words and digits of claims, `yours` judges a
user's own measurements, and `layouts` prints tables as the mails do.
"""

from typing import TYPE_CHECKING

from swapsim.claims.judging import (
    compare_counts,
    directions,
    range_verdict,
    simulated_claims,
    three_columns,
)
from swapsim.claims.layouts import as_printed, lkp, lkp_change, mmtests, mmtests_change
from swapsim.claims.published import (
    Row,
    mails,
    measured_folios,
    measured_lists,
    measured_provenance,
    measured_requests,
    measured_results,
    measured_slots,
    patch_cards,
    published_claims,
    published_tables,
    results,
    simulation_tolerances,
    tolerances,
    window_of,
    windows,
)
from swapsim.claims.rounds import medians, ranks, side_by_side, steps
from swapsim.claims.texts import claim_texts, lead, lead_on, range_text, verdicts_by_patch
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
    "claim_texts",
    "compare_counts",
    "directions",
    "fitting",
    "four_columns",
    "lead",
    "lead_on",
    "lkp",
    "lkp_change",
    "mails",
    "measured_folios",
    "measured_lists",
    "measured_provenance",
    "measured_requests",
    "measured_results",
    "measured_slots",
    "medians",
    "mmtests",
    "mmtests_change",
    "patch_cards",
    "published_claims",
    "published_tables",
    "range_text",
    "range_verdict",
    "ranks",
    "results",
    "side_by_side",
    "simulated_claims",
    "simulation_tolerances",
    "steps",
    "three_columns",
    "tolerances",
    "two_kernels",
    "verdicts_by_patch",
    "window_of",
    "windows",
    "your_metrics",
    "your_runs",
]
