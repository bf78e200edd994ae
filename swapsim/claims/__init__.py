# SPDX-License-Identifier: GPL-2.0-or-later
"""Published, simulated and measured figures, and a user's: read, compared and judged.

`published` reads what the mails print and data/measured, `rounds` computes results over their
rounds, `answering` turns results into answers to claims, `judging` judges them on one scale,
`cells` compares claims with their tables, `texts` has the words and digits of claims, `yours`
judges a user's own measurements, and `layouts` prints tables as the mails do.
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.claims import tables as tables
    from swapsim.claims.answering import Answer as Answer
    from swapsim.claims.answering import answers as answers
    from swapsim.claims.answering import paired as paired
    from swapsim.claims.answering import table_of as table_of
    from swapsim.claims.judging import compare_counts as compare_counts
    from swapsim.claims.judging import range_verdict as range_verdict
    from swapsim.claims.judging import three_columns as three_columns
    from swapsim.claims.layouts import as_printed as as_printed
    from swapsim.claims.layouts import lkp as lkp
    from swapsim.claims.layouts import lkp_change as lkp_change
    from swapsim.claims.published import Row as Row
    from swapsim.claims.published import kinds as kinds
    from swapsim.claims.published import links as links
    from swapsim.claims.published import mails as mails
    from swapsim.claims.published import measured_provenance as measured_provenance
    from swapsim.claims.published import measured_results as measured_results
    from swapsim.claims.published import measured_table as measured_table
    from swapsim.claims.published import patch_cards as patch_cards
    from swapsim.claims.published import published_claims as published_claims
    from swapsim.claims.published import published_tables as published_tables
    from swapsim.claims.published import reasons as reasons
    from swapsim.claims.published import results as results
    from swapsim.claims.published import sections as sections
    from swapsim.claims.published import simulation_tolerances as simulation_tolerances
    from swapsim.claims.published import tolerances as tolerances
    from swapsim.claims.published import window_of as window_of
    from swapsim.claims.published import windows as windows
    from swapsim.claims.rounds import medians as medians
    from swapsim.claims.rounds import ranks as ranks
    from swapsim.claims.rounds import side_by_side as side_by_side
    from swapsim.claims.rounds import steps as steps
    from swapsim.claims.texts import claim_texts as claim_texts
    from swapsim.claims.texts import lead as lead
    from swapsim.claims.texts import lead_on as lead_on
    from swapsim.claims.texts import range_text as range_text
    from swapsim.claims.texts import verdicts_by_mail as verdicts_by_mail
    from swapsim.claims.yours import fitting as fitting
    from swapsim.claims.yours import four_columns as four_columns
    from swapsim.claims.yours import two_kernels as two_kernels
    from swapsim.claims.yours import your_runs as your_runs
else:
    lazy.export(__name__)
