# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of frames: `use` for notebooks, and six helpers, each of a frame and its columns.

Altair is imported when the first chart is drawn.
"""

from swapsim.charts.general import areas, bars, dots, heat, lines, points
from swapsim.charts.theme import use

__all__ = ["areas", "bars", "dots", "heat", "lines", "points", "use"]
