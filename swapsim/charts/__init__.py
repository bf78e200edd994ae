# SPDX-License-Identifier: GPL-2.0-or-later
"""What all charts share: theme, colours, interaction, panels, and rendering.

A chart itself is a function of its subject's package, in ``charts``.
"""

from typing import TYPE_CHECKING

from swapsim.charts.theme import png, rendered, use
from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.charts import colours as colours
    from swapsim.charts import theme as theme
else:
    __getattr__, __dir__ = submodules(__name__, "colours", "theme")

__all__ = ["png", "rendered", "use"]
