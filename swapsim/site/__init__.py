# SPDX-License-Identifier: GPL-2.0-or-later
"""What covers all patches: overview, README's tables, report, notebooks, benchmarks."""
