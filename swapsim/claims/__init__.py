# SPDX-License-Identifier: GPL-2.0-or-later
"""Published and measured figures, read and compared.

`published` reads what the mails print and data/measured, `rounds` computes results over their
rounds, `texts` has figures as words, and `layouts` prints tables as the mails do. The mails' tables
row by row are in `swapsim.published`.
"""

from swapsim.claims import tables as tables
from swapsim.claims.layouts import as_printed as as_printed
from swapsim.claims.layouts import lkp as lkp
from swapsim.claims.layouts import lkp_change as lkp_change
from swapsim.claims.published import Row as Row
from swapsim.claims.published import links as links
from swapsim.claims.published import mails as mails
from swapsim.claims.published import measured_provenance as measured_provenance
from swapsim.claims.published import measured_results as measured_results
from swapsim.claims.published import measured_table as measured_table
from swapsim.claims.published import patch_cards as patch_cards
from swapsim.claims.published import published_tables as published_tables
from swapsim.claims.published import reasons as reasons
from swapsim.claims.published import results as results
from swapsim.claims.published import window_of as window_of
from swapsim.claims.published import windows as windows
from swapsim.claims.rounds import compare_counts as compare_counts
from swapsim.claims.rounds import medians as medians
from swapsim.claims.rounds import ranks as ranks
from swapsim.claims.rounds import side_by_side as side_by_side
from swapsim.claims.rounds import steps as steps
from swapsim.claims.texts import range_text as range_text
