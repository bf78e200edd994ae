# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m swapsim`` is the command ``swapsim``."""

import sys

from swapsim.cli import main

sys.exit(main())
