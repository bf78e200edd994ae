# SPDX-License-Identifier: GPL-2.0-or-later
"""A guide by task: five pages, each of which you can follow line by line, and the terms.

- ``record_and_replay``: what a patch would change for your own workload,
- ``compare_your_runs``: your measurements next to what was published,
- ``write_a_policy``: where the search for a swap slot begins, by a rule of yours,
- ``your_machine``: what a patch is worth with other CPUs, devices and costs,
- ``add_a_patch``: a patch that the laboratory does not have yet,
- ``terms``: the words of pages, notebooks and tables.

Lines after ``>>>`` are Python, lines after ``$`` are commands; what follows them is their output.
The tests run each page in an empty folder. ``help(swapsim.guide.your_machine)`` shows it in a
terminal.
"""

from swapsim.guide import add_a_patch as add_a_patch
from swapsim.guide import compare_your_runs as compare_your_runs
from swapsim.guide import record_and_replay as record_and_replay
from swapsim.guide import terms as terms
from swapsim.guide import write_a_policy as write_a_policy
from swapsim.guide import your_machine as your_machine
