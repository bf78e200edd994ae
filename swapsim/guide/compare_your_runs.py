# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare your runs: your measurements next to the mails' tables.

You ran vm-scalability, pmbench, usemem or parallelio on a kernel without a patch and on one with
it. A file of your runs has a line for each metric and run:

>>> rows = '''metric,run,base,patched
... vmstat.swap.so,1,1207402,1476578
... vmstat.swap.so,2,1198310,1459021
... '''
>>> from pathlib import Path
>>> characters = Path("runs.csv").write_text(rows)

A metric has its name in the mail; ``swapsim tables`` prints them. ``swapsim compare runs.csv``
prints each table that has one of them, with a further column, *yours*: the ratio of the medians,
the exact interval of the runs' own ratios, and its mark by the rule of the other columns. With
fewer than five runs a row is unclear. In Python:

>>> from swapsim import published
>>> yours = published.read("runs.csv")
>>> published.rows.tables_of(yours)
[('A', 'lkp comparison')]
>>> compared = published.compare("A", "lkp comparison", yours=yours)
>>> row = compared.filter(metric="vmstat.swap.so")
>>> row.select("yours_runs", "yours_mark").row(0)
(2, 'unclear')

``-o FILE`` writes the tables as .html, .csv or .json, with all columns.
"""
