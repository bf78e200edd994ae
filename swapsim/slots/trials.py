# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's policy run under observation."""

from dataclasses import replace

from swapsim.errors import ConfigError
from swapsim.policies._native import Observation
from swapsim.policies.compiler import fault
from swapsim.policies.policy import Policy
from swapsim.slots.config import SlotsConfig, Workload
from swapsim.slots.metrics import measure


def require_sound(policy: Policy, device: SlotsConfig, workload: Workload) -> None:
    """Run a workload with a policy under observation, and refuse a policy that fails.

    Parameters
    ----------
    policy : Policy
    device : SlotsConfig
        Its policy is ignored.
    workload : FillConfig, ChurnConfig or StreamsConfig

    Raises
    ------
    InputError
        The policy raises, does not end, or returns neither a slot nor next nor base; or its
        ``initial`` returns no slot. Naming its file or cell, the line, and the call.
    """
    observed = Observation(policy)
    try:
        measure(replace(device, policy=observed.policy), workload)
    except ConfigError as error:
        raise fault(policy.function, str(error).partition(": ")[2]) from error
    observed.check()
