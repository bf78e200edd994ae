# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: a static site that needs no network, nor a server.

::

    whole        the folder: all or nothing, what was made is taken over
      runs       notebooks run, two at a time        cells        one that was run, as HTML
      articles   known by what they were made of     verdicts     each claim, judged
      pages      all of them, in order               provenance   when, of what, on which machine
        front  cards  words
      shell      what is around each page            markdown, links
"""

from swapsim.site.report.whole import MARK, write

__all__ = ["MARK", "write"]
