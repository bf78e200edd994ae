# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as a reader sees them: in a notebook, in the report, in a terminal.

Words without quotes on the left, numbers on the right with their points one below the other, units
in the head, nothing cut off. A column of words that says the same in each row stands once, above.
They change no figure but its digits: who needs all of them takes the frame.

::

    shown      a frame as HTML and as text; `use` sets up a notebook
      heads    what stands above: units, and what is the same in each row
      figures  what stands in the cells
"""

from swapsim.frames.shown import Shown, html, show, text, use

__all__ = ["Shown", "html", "show", "text", "use"]
