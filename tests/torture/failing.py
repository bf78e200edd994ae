# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command over and over, the 1st, 2nd, 3rd ... allocation of the C core failing.

Started with failing_realloc.c preloaded; prints how many allocations there were.
"""

import ctypes
import sys

import attack


def main(arguments: list[str], step: int) -> None:
    """Fail each ``step``th request of a command, until a run ends without a failure."""
    arm = ctypes.CDLL(None).failing_realloc_arm
    arm.restype, arm.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
    attack.answer(*arguments)
    arm(0)
    good = attack.answer(*arguments)
    requests = arm(0)
    assert requests, "nothing was allocated, so nothing can fail"
    for fail_at in range(1, requests + 1, step):
        arm(fail_at)
        code = attack.answer(*arguments)
        arm(0)
        assert code == 2, f"request {fail_at} failed, and the command ended with {code}"
    assert attack.answer(*arguments) == good
    print(requests)


if __name__ == "__main__":
    main(sys.argv[2:], int(sys.argv[1]))
