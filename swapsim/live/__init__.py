# SPDX-License-Identifier: GPL-2.0-or-later
"""Live panels: models of the C core that run in a page, and their native twins."""
