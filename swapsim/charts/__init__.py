# SPDX-License-Identifier: GPL-2.0-or-later
"""What all charts share: theme, colours, interaction, panels, and rendering.

A chart itself is a function of its subject's package, in ``charts``.
"""

from swapsim.charts.theme import png, rendered, use

__all__ = ["png", "rendered", "use"]
