# SPDX-License-Identifier: GPL-2.0-or-later
"""What every chart shares: theme, colours, interaction, panels, and rendering.

A chart itself is a function of its subject's package, in ``charts``.
"""

from swapsim.charts.rendered import rendered
from swapsim.charts.theme import png, use

__all__ = ["png", "rendered", "use"]
