# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: each command is a short function over a public function.

Exit status: 0 success, 1 a comparison that does not hold or has nothing to compare, 2 bad input or
usage. An error is one line on stderr.
"""

import io
import os
import sys
from collections.abc import Sequence
from typing import Final

import click
from click.shell_completion import shell_complete

from swapsim import __version__
from swapsim.cli.laboratory import bench, compare, mails_tables, notebooks, report, simulate
from swapsim.cli.layout import printable
from swapsim.cli.rank import rank
from swapsim.cli.replay import replay, verify
from swapsim.cli.trace import import_, info, probes
from swapsim.cli.verbs import Verbs
from swapsim.errors import SwapsimError
from swapsim.progress import check_interrupted, exit_status

__all__ = ["cli", "main"]

INTERRUPTED: Final = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

_COMPLETION: Final = "_SWAPSIM_COMPLETE"
"""What a shell wants: bash_source, zsh_source or fish_source for its script, or a completion."""


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Rerun four Linux swap and reclaim patches on traces of real kernels.",
    epilog=f'Completion: eval "$({_COMPLETION}=bash_source swapsim)", or zsh_source, fish_source.',
)
@click.version_option(__version__, package_name="swapsim")
def cli() -> None:
    pass


_TRACES = (import_, info, probes, replay, verify)
_LABORATORY = (rank, mails_tables, compare, report, notebooks, simulate, bench)
for _command in (*_TRACES, *_LABORATORY):
    cli.add_command(_command)


def _remedy(usage: click.ClickException) -> str:
    """Return what to write in place of a usage that click refuses without a suggestion."""
    context = getattr(usage, "ctx", None)
    match usage:
        case click.MissingParameter(param=click.Option() as option):
            return f": add {option.opts[0]} {option.metavar}"
        case click.MissingParameter() if context:
            return f": write '{context.get_usage().removeprefix('Usage: ')}'"
        case click.NoSuchOption() if context and not usage.possibilities:
            return f": '{context.command_path} --help' lists its options"
        case click.BadParameter(param=click.Option(type=click.IntRange() as of)):
            return f": give a whole number from {of.min} to {of.max}"
        case click.UsageError() if context and "extra argument" in usage.message:
            return f": write '{context.get_usage().removeprefix('Usage: ')}'"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    completes = os.environ.get(_COMPLETION)
    code: int | None
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may contain characters that stdout cannot encode.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if completes is not None:
            return shell_complete(cli, {}, "swapsim", _COMPLETION, completes)
        # Not cli.main, which prints an empty line on Ctrl-C.
        with cli.make_context("swapsim", given) as context:
            try:
                code = cli.invoke(context)
            except BaseException:
                check_interrupted()
                raise
    except click.exceptions.Exit as after_help:
        return after_help.exit_code
    except click.exceptions.NoArgsIsHelpError as no_command:
        click.echo(no_command.format_message())
        return 2
    except KeyboardInterrupt:
        click.echo(INTERRUPTED, err=True)
        return exit_status()
    except click.ClickException as usage:
        said = usage.format_message().rstrip(".") + _remedy(usage)
        click.echo(f"swapsim: {' '.join(said.split())}", err=True)
        return 2
    except BrokenPipeError:
        # The other end of the pipe (head, less) is closed: that is no error.
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
