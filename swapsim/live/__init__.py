# SPDX-License-Identifier: GPL-2.0-or-later
"""Live panels: a model of the C core that runs in the reader's page.

``live.panel("tags")`` shows one in a notebook. A panel is data (`panel.Panel`): its question, its
controls, the configs that they make, and a chart. The models exist twice, in Python and for the
page, and return the same rows; ``corelib/web`` makes the WebAssembly.
"""

from swapsim.live.shown import NAMES, panel

__all__ = ["NAMES", "panel"]
