# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11).

It has the parts of `swapsim.patches.Patch`, and the verbs for a list or a recording of one's
own. What a notebook needs alone is in ``notebook_03``.
"""

from swapsim.patches.stall_decisions import charts as charts
from swapsim.patches.stall_decisions import studies as studies
from swapsim.patches.stall_decisions.lab import EXPERIMENT as EXPERIMENT
from swapsim.patches.stall_decisions.lab import steps as steps
from swapsim.patches.stall_decisions.lists import make_list as make_list
from swapsim.patches.stall_decisions.lists import process_list as process_list
from swapsim.patches.stall_decisions.mail import MAIN_ROWS as MAIN_ROWS
from swapsim.patches.stall_decisions.mail import PATCH as PATCH
from swapsim.patches.stall_decisions.mail import printed as printed
