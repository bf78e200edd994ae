# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames: declared tables, their files, and how a frame is shown in a notebook or terminal.

A shown frame has words on the left, numbers on the right with aligned decimal points, units in the
head, and complete texts. A column of words with one value appears once, above the table.

::

    table     Column, Table, Vocabulary; columns: those of several packages
    glossary  all tables that the packages declare, and the units of a frame's columns
    files     CSV and Parquet files as tables
    shown     a frame as HTML and as text (figures: its cells); `use` sets up a notebook
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.frames import columns as columns
    from swapsim.frames import files as files
    from swapsim.frames import glossary as glossary
    from swapsim.frames import table as table
    from swapsim.frames.shown import Shown as Shown
    from swapsim.frames.shown import html as html
    from swapsim.frames.shown import show as show
    from swapsim.frames.shown import text as text
    from swapsim.frames.shown import use as use
else:
    lazy.export(__name__)
