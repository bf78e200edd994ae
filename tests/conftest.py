# SPDX-License-Identifier: GPL-2.0-or-later
"""Hypothesis without deadlines (a first call compiles or loads), the same examples in CI."""

import os

from hypothesis import settings

settings.register_profile("swapsim", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "swapsim")
