# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim verify``: the model beside a real kernel, event by event."""

import sys
from pathlib import Path

import click

from swapsim.cli.verbs import Verbs
from swapsim.ffi.facts import SLOT_REPLAY_KERNELS, SLOT_REPLAY_POLICIES, STALL_RULES
from swapsim.slots.verify import verify_slots as slots_verify_slots
from swapsim.stall.verify import verify_stalls as stall_verify_stalls


@click.group(cls=Verbs)
def verify() -> None:
    """Hold the model against a real kernel, event by event."""


@verify.command("slots")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--policy",
    required=True,
    type=click.Choice(SLOT_REPLAY_POLICIES),
    help="Where the kernel's scans began.",
)
@click.option(
    "--cluster-size",
    required=True,
    type=int,
    metavar="N",
    help="Slots of a cluster: 256, or 512 where huge pages swap.",
)
@click.option(
    "--trunk-shift",
    type=int,
    metavar="N",
    default=14,
    show_default=True,
    help="Log2 of the slots of a trunk (SWAP_ADDRESS_SPACE_SHIFT).",
)
@click.option("--kernel", type=click.Choice(SLOT_REPLAY_KERNELS), default="6.1", show_default=True)
def verify_slots(file: Path, policy: str, cluster_size: int, trunk_shift: int, kernel: str) -> int:
    """Replay the slot events of FILE (Parquet) and match every slot with the model's."""
    verdict = slots_verify_slots(
        file,
        policy=policy,
        cluster_size=cluster_size,
        trunk_shift=trunk_shift,
        kernel=kernel,
        progress=sys.stderr.isatty(),
    )
    for line in verdict.describe():
        click.echo(line)
    return 0 if verdict.holds else 1


@verify.command("stalls")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--rules",
    type=click.Choice(STALL_RULES),
    default="6.1",
    show_default=True,
    help="Those that the kernel was switched to.",
)
def verify_stalls(folder: Path, rules: str) -> int:
    """Count reclaim's lists anew from their folios, and decide all that the kernel decided."""
    verdict = stall_verify_stalls(folder, rules=rules, progress=sys.stderr.isatty())
    for line in verdict.describe():
        click.echo(line)
    return 0 if verdict.holds else 1
