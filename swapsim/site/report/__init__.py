# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: a static site that needs neither a network nor a server.

::

    build        the folder: complete or not at all; what is unchanged is reused
      cells      notebooks that are run, two at a time, and their cells as HTML
      pages      all pages, in order, the stored articles, and each claim, judged
      shell      what surrounds each page, its origin, and markdown and its links as HTML
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.site.report.build import MARK as MARK
    from swapsim.site.report.build import write as write
else:
    lazy.export(__name__)
