# SPDX-License-Identifier: GPL-2.0-or-later
"""What spans patches: headlines, the generated parts of README, the report, the benchmarks."""
