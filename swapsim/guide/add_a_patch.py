# SPDX-License-Identifier: GPL-2.0-or-later
"""Add a patch: one that the laboratory does not have yet.

A new patch adds files of its own and rows to shared ones (listed below); no package of another
patch changes. Which files a patch has, and which of them are there:

>>> from swapsim.site import patches
>>> for part, file, there in patches.parts_of("02-batched-removal").drop("holds").rows():
...     print(f"{part:9} {there!s:5} {file}")
card      True  patches/02-batched-removal/card.md
tables    True  data/published/02-batched-removal.csv
mechanism True  corelib/include/swapsim/removal.h
mechanism True  corelib/include/swapsim/machine.h
mechanism True  corelib/include/swapsim/sweeps.h
replay    True  swapsim/removal.py
module    True  swapsim/patches/batched_removal.py
notebook  True  notebooks/02-batched-removal.ipynb

Patch B is the smallest one to copy from. Build the parts in this order, because each one checks the
next; steps 2 and 4 have no row above. Paths are those of a checkout. Run ``make setup`` first, and
again each time a file was added, moved or removed:

1. **Card and tables.** ``patches/NN-slug/card.md`` says what the mail claims, what it changes,
   lock by lock, and what is not modelled. The mail is a row of ``mails.csv`` and one of
   ``links.csv`` in ``data/published``, each printed figure one of ``NN-slug.csv``. The card's
   fields and one row of each file are below. Check: `patches.patch_cards` and
   ``data.published_tables()`` have your rows, or end with an error that names file, line and
   field; then ``.venv/bin/python -m pytest tests/published``, which reads what is marked with a
   1 below.
2. **Oracle.** The mechanism as plain Python, slow and obvious, such as
   ``tests/oracles/oracle_removal.py``. The test of step 4 checks it.
3. **Mechanism in C.** A header that teaches it, its sources, its test; ``corelib/README.md`` has
   the conventions. A new folder is added to ``LAYERS`` of ``tests/test_c_layers.py``. Check:
   ``make test-c``.
4. **Binding and tables.** A module of the mechanism's name, such as ``swapsim/removal.py``, and a
   test in which Hypothesis compares C with the oracle, such as
   ``tests/removal/test_removal.py``. The module is added to ``LADDER`` and ``SUBJECTS`` of
   ``tests/test_layers.py``, and to the docstring of ``swapsim/__init__.py``. Check:
   ``.venv/bin/python -m pytest tests/NAME tests/test_layers.py``.
5. **Replay.** A trace to counts, and its command in ``swapsim/cli.py``. Check:
   ``swapsim replay NAME swap-w-seq``, or another shipped trace.
6. **Module.** ``swapsim/patches/NAME.py`` has the mail's machine, what is fitted to which cells of
   the column without the patch, and the points of stored studies. Its functions ``simulated``,
   ``measured`` and ``by_hand`` give what models and a real kernel have for the rows of the mail's
   tables, which ``_TABLES`` and ``_TITLES`` of ``swapsim/published/rows.py`` list. It is listed in
   ``swapsim/site/patches.py``. Check: ``swapsim tables``.
7. **Notebook.** ``notebooks/NN-slug.ipynb``: the question, the answer, the mail's table, the
   mechanism, a real kernel, time, limits, in cells over public names; its last cell names a change
   that a reader may try. Check: `parts_of` as above, and ``.venv/bin/python -m pytest
   tests/site/test_notebooks.py``.

## The shared files

In ``data/published``, and what happens without a row of the new patch; step 1 needs those with a 1:

- ``mails.csv`` (1), the mail: a test fails,
- ``links.csv`` (1), its message ID, title and author: the report ends with an error, a test fails,
- ``reasons.csv``, rows that no model or kernel has: their reason is *no figure*,
- ``windows.csv``, for metrics of a complete run: the fit ends with an error that names the
  metric.

``anchors.csv`` stays as it is. Elsewhere:

- ``swapsim/site/patches.py``, PATCHES: `published.compare` ends with an error,
- ``swapsim/patches/__init__.py``: the module is not exported,
- ``swapsim/cli.py``, ``swapsim/traces/folder.py``: the replay has no
  command, and ``swapsim info`` does not list it,
- ``tests/test_layers.py`` and, of a new folder in C, ``tests/test_c_layers.py``: the test fails,
- ``tests/data/mails.toml`` (1): a test fails, and prints the digest of each table; copy it once its
  cells were compared with the mail,
- ``README.md``, ``patches/README.md``: its row,
- ``CHANGELOG.md``: what is new.

A patch that was not begun lacks each part:

>>> begun = patches.parts_of("08-my-patch")
>>> begun["there"].sum(), begun.height
(0, 6)

## What step 1 holds

The fields of a card, TOML between two lines of ``+++``; ``patch`` is its folder, and ``body`` the
text below:

>>> for column in patches.CARD.columns:
...     print(f"{column.name}: {column.meaning}")
patch: patch, by the name of its folder under patches/
title: subject of the mail, or what the card is on
author: who posted the patch; after a semicolon, others
date: day of the mail, as 2016-09-09; then other versions
outcome: what became of the patch; README shows the words up to a stop
before: kernel without the patch, as the mail names it
after: kernel with the patch
model: headers of corelib/include/swapsim: 'NAME.h' or 'NAME.h: functions'
not_modelled: what the model leaves out, each in words
body: the card's text below the front matter, in markdown

A row of each file; in ``NN-slug.csv`` the figure without the patch has one, too:

>>> from csv import DictReader
>>> from swapsim.io import data_root
>>> keys = {
...     **dict.fromkeys(["mails", "links"], "B-batched-removal"),
...     "02-batched-removal": "usemem | Amean System-1 | batch-v1",
... }
>>> for name, key in keys.items():
...     rows = DictReader((data_root() / "published" / f"{name}.csv").open())
...     row = next(row for row in rows if key in row.values())
...     print(f"{name}.csv:", "; ".join(f"{field}={text}" for field, text in row.items()))
mails.csv: mail=B-batched-removal; patch=02-batched-removal; hand=first;
  message=1473415175-20807-2-git-send-email-mgorman@techsingularity.net, 1/4 of the series, Mel
  Gorman
links.csv: name=B-batched-removal; kind=mail;
  target=1473415175-20807-2-git-send-email-mgorman@techsingularity.net; title=[PATCH 1/4] mm,
  vmscan: Batch removal of mappings under a single lock during reclaim; author=Mel Gorman;
  date=2016-09-09; merged=
02-batched-removal.csv: patch=02-batched-removal; mail=B-batched-removal; locator=usemem | Amean
  System-1 | batch-v1; table=usemem; metric=Amean System-1; parameters=test=usemem, threads=1,
  device=brd; kernel=batch-v1; value=192.98; printed=192.98; decimals=2; stddev_percent=;
  change_percent_printed=25.93%; change_percent=25.93; unit=s; better=lower

## On a real kernel

If Linux 6.1 can have the patch behind a switch of the boot line, a semantic patch next to its card
(``switch.cocci``) lets the rig of ``data/capture`` build and boot it, off and on, and count what a
workload does.

## A question, not a patch

One more question to a patch that is there is points, a stored study, `study.over`,
`study.against`, and a chart in a cell, less than fifty lines: ``gain_by_tasks`` of
``swapsim/patches/cluster_next.py`` is one.
"""
