# SPDX-License-Identifier: GPL-2.0-or-later
"""The C extension: its facts, its error codes, and its structs as numpy types."""
