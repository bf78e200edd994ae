# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong: one kind the caller can mend, the other needs a look at the guest."""


class CaptureError(Exception):
    """Bad input or something missing on this machine: one line that says what to do."""


class GuestError(Exception):
    """The guest ran and its run is of no use: hung, panicked, or lost events."""
