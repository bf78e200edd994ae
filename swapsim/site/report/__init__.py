# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: a static site that needs neither a network nor a server.

::

    build        the folder: complete or not at all; what is unchanged is reused
      cells      notebooks that are run, two at a time, and their cells as HTML
      verdicts   each claim, judged
      pages      all pages, in order, and the stored articles
      shell      what surrounds each page     markdown     markdown and its links as HTML
      provenance when, of which commit, on which machine
"""

from swapsim.site.report.build import MARK, write

__all__ = ["MARK", "write"]
