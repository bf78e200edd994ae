# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of large folios under the rules of several kernels."""
