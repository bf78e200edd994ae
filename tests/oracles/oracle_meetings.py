# SPDX-License-Identifier: GPL-2.0-or-later
"""How many uses of a lock meet another CPU, by looking back from each use."""

from collections.abc import Sequence


def meetings(uses: Sequence[tuple[int, int]], window: int) -> int:
    """Return how many uses (CPU, lock) have another CPU's use of their lock in the window before.

    The window is the given number of uses, of any lock by any CPU.
    """
    met = 0
    for at, (cpu, lock) in enumerate(uses):
        before = uses[max(at - window, 0) : at]
        met += any(other != cpu and used == lock for other, used in before)
    return met
