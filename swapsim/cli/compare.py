# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim compare``: a user's measurements next to published, simulated and measured."""

import sys
from pathlib import Path

import click

from swapsim.cli.tables import Found, Printed, shows
from swapsim.cli.verbs import Verb


@click.command(
    cls=Verb,
    help="Compare your own measurements with what was published, simulated and measured.\n\n"
    "\b\n"
    "PATH is one of\n"
    "  a CSV file     kernel,test,metric,value,unit,run   a line a run\n"
    "                 metric,base,patched,unit            a line a metric\n"
    "  a folder       of lkp-tests: COMMIT/RUN/stats.json, or COMMIT/matrix.json\n"
    "                 of mmtests: NAME/.../parallelio or usemem, and tests-timestamp\n\n"
    "A metric has the name that its tool gives it (vm-scalability.throughput, "
    "vmstat.swap.so, pmbench.throughput.aps, memcachetest-0M, syst-5), that a mail gives "
    "it, or that of a claim (A-throughput). Metrics that fit no claim are listed, too. "
    "Spread is one standard deviation.",
)
@click.argument("path", type=click.Path(path_type=Path), metavar="PATH")
@click.option("--base", metavar="NAME", help="Your kernel without the patch; default: base.")
@click.option("--patched", metavar="NAME", help="Your kernel with it; default: patched.")
@click.option("--without-simulated", is_flag=True, help="Leave that column empty, run nothing.")
@shows(only=("compared", "unmatched"))
def compare(path: Path, base: str | None, patched: str | None, without_simulated: bool) -> Found:

    from swapsim.claims.tables import FOUR_COLUMNS, UNMATCHED
    from swapsim.site import yours

    found = yours.compare(
        path,
        base=base,
        patched=patched,
        simulate=not without_simulated,
        progress=sys.stderr.isatty(),
    )
    return Found(
        [
            Printed(
                "compared",
                found.columns,
                FOUR_COLUMNS.by_name,
                title=f"changes from {found.base} to {found.patched}, in percent",
            ),
            Printed(
                "unmatched", found.unmatched, UNMATCHED.by_name, title="metrics that fit no claim"
            ),
        ]
    )
