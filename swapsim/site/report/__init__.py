# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: a static site that needs neither a network nor a server.

::

    writing      the report is written, unless nothing has changed (`current`)
    build        the folder: complete or not at all; what is unchanged is reused
      cells      notebooks that are run, two at a time, and their cells as HTML
      kernel     what a kernel does between two notebooks
      pages      all pages, in order, the stored articles, and each claim, judged
      shell      what surrounds each page, its origin, and markdown and its links as HTML
"""

from swapsim.site.report.current import MARK as MARK
from swapsim.site.report.writing import write as write
