# SPDX-License-Identifier: GPL-2.0-or-later
"""What covers all patches: report, notebooks, stored results, benchmarks."""

from swapsim.site import bench as bench
from swapsim.site import notebooks as notebooks
from swapsim.site import patches as patches
from swapsim.site import report as report
from swapsim.site import simulated as simulated
