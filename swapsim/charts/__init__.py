# SPDX-License-Identifier: GPL-2.0-or-later
"""What all charts share: theme, colours, interaction, panels, and rendering.

A chart itself is a function of its subject's package, in ``charts``.
"""

from swapsim.charts import colours as colours
from swapsim.charts import general as general
from swapsim.charts import theme as theme
from swapsim.charts.theme import png as png
from swapsim.charts.theme import rendered as rendered
from swapsim.charts.theme import use as use
