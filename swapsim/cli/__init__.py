# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one function a command, each a few lines over a public verb.

Exit 0 done, 1 a comparison that did not hold, 2 bad input or usage; an error is
one line on stderr.
"""

import io
import os
import sys
from collections.abc import Sequence

import click

from swapsim import __version__, interrupt
from swapsim.cli.compare import compare
from swapsim.cli.export import export
from swapsim.cli.laboratory import bench, notebooks, report, simulate
from swapsim.cli.layout import printable
from swapsim.cli.rank import rank
from swapsim.cli.replay import replay
from swapsim.cli.trace import import_, info, probes
from swapsim.cli.verbs import Verbs
from swapsim.cli.verify import verify
from swapsim.errors import SwapsimError

__all__ = ["cli", "main"]


@click.group(
    cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, package_name="swapsim")
def cli() -> None:
    """Rerun four Linux swap and reclaim patches on traces of real kernels."""


for _command in (
    import_,
    info,
    probes,
    export,
    replay,
    verify,
    rank,
    compare,
    report,
    notebooks,
    simulate,
    bench,
):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    asked = list(sys.argv[1:] if arguments is None else arguments)
    code: int | None
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may hold what stdout cannot write.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # Not by cli.main: to Ctrl-C it says an empty line before us.
        with cli.make_context("swapsim", asked) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as after_help:
        return after_help.exit_code
    except click.exceptions.NoArgsIsHelpError as nothing_asked:
        click.echo(nothing_asked.format_message())
        return 2
    except KeyboardInterrupt:
        click.echo(interrupt.TEXT, err=True)
        return interrupt.CODE
    except click.ClickException as usage:
        click.echo(f"swapsim: {' '.join(usage.format_message().split())}", err=True)
        return 2
    except BrokenPipeError:
        # The reader (head, less) went away: what it took is all it wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SwapsimError as error:
        click.echo(f"swapsim: {printable(str(error))}", err=True)
        return 2
    except OSError as error:
        where = f"{printable(str(error.filename))}: " if error.filename else ""
        click.echo(f"swapsim: {where}{error.strerror}: check the path and the disk", err=True)
        return 2
    return code or 0
