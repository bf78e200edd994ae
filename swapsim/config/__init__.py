# SPDX-License-Identifier: GPL-2.0-or-later
"""Configs of the mechanisms and of what drives them: frozen, keyword only, checked when made."""

from swapsim.config.machine import MachineConfig
from swapsim.config.mapping import MappingConfig
from swapsim.config.policies import Policy
from swapsim.config.slots import SlotsConfig
from swapsim.config.stall import StallContext
from swapsim.config.workloads import ChurnConfig, FillConfig, MeterConfig, StreamsConfig, Workload
from swapsim.config.world import WorldConfig
from swapsim.native.facts import (
    MAPPING_KERNELS,
    POLICIES,
    SLOTS_KERNELS,
    STALL_RULES,
    WORLD_RULES,
)

__all__ = [
    "MAPPING_KERNELS",
    "POLICIES",
    "SLOTS_KERNELS",
    "STALL_RULES",
    "WORLD_RULES",
    "ChurnConfig",
    "FillConfig",
    "MachineConfig",
    "MappingConfig",
    "MeterConfig",
    "Policy",
    "SlotsConfig",
    "StallContext",
    "StreamsConfig",
    "Workload",
    "WorldConfig",
]
