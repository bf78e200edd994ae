# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command over and over, the 1st, 2nd, 3rd ... allocation of the C core failing.

Started with failing_realloc.c preloaded; prints how many allocations there were.
"""

import ctypes
import sys

import attack


def main(arguments: list[str], most: int) -> None:
    """Fail each request of a command, or as many of them, then let one run end well."""
    arm = ctypes.CDLL(None).failing_realloc_arm
    arm.restype, arm.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
    attack.answer(*arguments)
    arm(0)
    good = attack.answer(*arguments)
    requests = arm(0)
    assert requests, "nothing was allocated, so nothing can fail"
    for fail_at in range(1, requests + 1, max(1, requests // most)):
        arm(fail_at)
        code = attack.answer(*arguments)
        arm(0)
        assert code == 2, f"request {fail_at} failed, and the command ended with {code}"
    assert attack.answer(*arguments) == good
    print(requests)


if __name__ == "__main__":
    main(sys.argv[2:], most=int(sys.argv[1]))
