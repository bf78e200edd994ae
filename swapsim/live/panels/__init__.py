# SPDX-License-Identifier: GPL-2.0-or-later
"""The panels, one module for each, which has a function ``panel``: what it shows, as data."""
