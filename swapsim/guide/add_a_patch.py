# SPDX-License-Identifier: GPL-2.0-or-later
"""Add a patch: one that the laboratory does not have yet.

A new patch adds files of its own and changes no other patch's. Which files a patch has, and which
of them are there:

>>> from swapsim import frames
>>> from swapsim.site import patches
>>> frames.show(patches.parts_of("02-batched-removal").select("part", "file", "there"))
part       file                                         there
card       patches/02-batched-removal/card.md           yes
claims     data/published/02-batched-removal.csv        yes
mechanism  corelib/include/swapsim/removal.h            yes
mechanism  corelib/include/swapsim/machine.h            yes
replay     swapsim/removal/replay.py                    yes
package    swapsim/patches/batched_removal/__init__.py  yes
notebook   notebooks/02-batched-removal.ipynb           yes

Patch B is the smallest one to copy from. Build the parts in this order, because each one checks the
next:

1. **Card and claims.** ``patches/NN-slug/card.md`` says what the mail claims, what it changes,
   lock by lock, and what is not modelled. Each printed figure is a row of
   ``data/published/NN-slug.csv``, each claim one of ``claims.csv``; how far a result may lie from
   it is stored in ``tolerances.csv`` before there is a result.
2. **Oracle.** The mechanism as plain Python, slow and obvious: ``tests/oracles``.
3. **Mechanism in C.** A header that teaches it, its sources, its test; ``corelib/README.md`` has
   the conventions.
4. **Binding and tables.** A package of the mechanism's name with ``_native.py`` and
   ``tables.py``, and a test in which Hypothesis compares C with the oracle.
5. **Replay.** A trace to counts, and its command in ``swapsim/cli/replay.py``.
6. **Package.** ``swapsim/patches/NAME`` has each part of the protocol `swapsim.patches.Patch`:
   the mail's machine, the fit to the column without the patch, the prediction, the verdict. It is
   listed in ``swapsim/site/patches.py``. A part that is missing or misspelt is an error at
   import.
7. **Notebook.** ``notebooks/NN-slug.ipynb``, whose last cell computes what its first cell says.

A patch that was not begun lacks each part:

>>> begun = patches.parts_of("08-my-patch")
>>> begun["there"].sum(), begun.height
(0, 6)

## On a real kernel

If Linux 6.1 can have the patch behind a switch of the boot line, a semantic patch next to its card
(``switch.cocci``) lets the rig of ``data/capture`` build and boot it, off and on, and count what a
workload does.

## A question, not a patch

``swapsim/README.md`` has the recipe for one more question to a patch that is there: points, a
stored study, a chart and a cell are less than fifty lines.
"""
