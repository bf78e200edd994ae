# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors that the caller can fix, and errors that need a look at the guest."""


class CaptureError(Exception):
    """Bad input or something missing on this machine: one line with what to do."""


class GuestError(Exception):
    """The guest ran, but it hung, panicked, or lost events."""
