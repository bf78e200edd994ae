# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader's policy tried out: what it does wrong is told with its line."""

from dataclasses import replace

from swapsim.errors import ConfigError
from swapsim.policies._native import Watch
from swapsim.policies.compiler import fault
from swapsim.policies.policy import Policy
from swapsim.slots.config import SlotsConfig
from swapsim.slots.metrics import measure
from swapsim.slots.workloads import Workload


def require_sound(policy: Policy, device: SlotsConfig, workload: Workload) -> None:
    """Drive a device with a policy, call by call, and refuse one that goes wrong.

    Parameters
    ----------
    policy : Policy
    device : SlotsConfig
        Its policy is not read.
    workload : FillConfig, ChurnConfig or StreamsConfig

    Raises
    ------
    InputError
        The policy raises, has no end, or returns what is no slot, next or base; or its ``initial``
        does not give a slot. Naming its file or cell, the line, and the call.
    """
    watch = Watch(policy)
    try:
        measure(replace(device, policy=watch.policy), workload)
    except ConfigError as error:
        raise fault(policy.function, str(error).partition(": ")[2]) from error
    watch.check()
