# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: each command prints, or writes, what a public function returns.

Exit status: 0 done, 1 a comparison that does not hold, 2 bad input or usage. An error is one line
on stderr: what, where, what to do. A file appears whole or not at all.
"""

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl
from click.shell_completion import CompletionItem, shell_complete
from polars import selectors

import swapsim
from swapsim import __version__
from swapsim.errors import InputError, SwapsimError
from swapsim.ffi import (
    CLUSTER_RULES,
    MAPPING_KERNELS,
    MGLRU_RULES,
    SLOT_REPLAY_KERNELS,
    SLOT_REPLAY_POLICIES,
    STALL_RULES,
    SUMS_RULES,
)
from swapsim.io import shipped_traces, write_atomically
from swapsim.progress import check_interrupted, exit_status

if TYPE_CHECKING:  # altair takes a second to import, and most commands draw no chart
    import altair as alt

    from swapsim.traces.verification import Verdict

INTERRUPTED: Final = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

_COMPLETION: Final = "_SWAPSIM_COMPLETE"
"""What a shell wants: bash_source, zsh_source or fish_source for its script, or a completion."""

_WIDTH: Final = 100  # most characters of a line of help
_DIGITS: Final = 4  # significant digits of a printed figure; a file has all
_UNLIMITED: Final = 10_000  # of a table: a cell that is broken into lines is hard to read
_PATH: Final = click.Path(path_type=Path)
_SEEDS: Final = click.IntRange(1, 1000)

_ELSEWHERE: Final = {
    "claims": "'swapsim tables' prints the mails' tables, row by row",
    "export": "ui.perfetto.dev opens the text of ftrace itself",
    "--switch": "swapsim.clusters.replay(trace, rules, switches={...}) in Python",
    "--explain": "help(swapsim.SUBJECT.replay) explains the columns",
    "swapsim probes --format": "the script is one for sh, and needs tracefs only",
    "swapsim info --format": "'-o FILE.json' gives it to a program",
    "--format": "'-o FILE.json' or '-o -' (CSV) gives the table to a program",
}
"""A command or option that there is not -> what to use."""


# -- What all commands share --------------------------------------------------------------------


class _Command(click.Command):
    """A command that says what to use instead of an option that went."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option that went is refused with what to use instead."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            _refuse_old("option", unknown.option_name, ctx)
            raise


class _Group(click.Group):
    """A group of such commands, which knows other names of a subject."""

    command_class = _Command
    group_class = type

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error of an unknown one names what has the same subject here."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as unknown:
            from swapsim.traces.replays import also_called

            _refuse_old("command", unknown.command_name, ctx)
            if swapped := [each for each in args[1:] if each in self.commands]:
                order = f"{ctx.command_path} {swapped[0]} {args[0]}"
                raise click.UsageError(
                    f"No such command {args[0]!r}: write '{order}'", ctx
                ) from None
            above = ctx.command_path.removeprefix("swapsim").strip()
            names = also_called(unknown.command_name)
            same = sorted(path for path in _paths(self) if path.split()[-1] in names)
            if unknown.possibilities and not same:
                raise
            hint = " or ".join(f"'{above} {path}'".replace("' ", "'") for path in same)
            hint = f"its name here is {hint}" if same else f"there are {', '.join(self.commands)}"
            message = f"No such command {unknown.command_name!r}: {hint}"
            raise click.UsageError(message, ctx) from None

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their complete first sentences, which click would cut."""
        rows = [(name, each.get_short_help_str(1000)) for name, each in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _refuse_old(kind: str, name: str, ctx: click.Context) -> None:
    """Refuse what went, with what to use instead."""
    if other := _ELSEWHERE.get(f"{ctx.command_path} {name}") or _ELSEWHERE.get(name):
        raise click.UsageError(f"No such {kind} {name!r}: {other}", ctx) from None


def _paths(group: click.Group) -> Iterator[str]:
    """Yield the commands of a group and of its groups, as they are typed."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from (f"{name} {path}" for path in _paths(command))
        else:
            yield name


def _printable(text: str) -> str:
    """Return a text on one line without control characters, which a name may contain."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _table_text(frame: pl.DataFrame) -> str:
    """Return a table as polars prints it: all rows and columns, a few digits."""
    with pl.Config(
        tbl_formatting="ASCII_MARKDOWN",
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_width_chars=_UNLIMITED,
        fmt_str_lengths=1000,
        fmt_table_cell_list_len=-1,
        tbl_cell_numeric_alignment="RIGHT",
        float_precision=None,
        thousands_separator=False,
    ):
        return str(frame.with_columns(selectors.float().round_sig_figs(_DIGITS)))


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of a command: tables by name, of which a file has the first, or that of --only."""

    tables: Mapping[str, pl.DataFrame]
    chart: "Callable[[], alt.TopLevelMixin] | None" = None
    lines: Sequence[str] = ()
    """Printed below the tables."""
    in_file: pl.DataFrame | None = None
    """What a file has instead of a printed table."""


def _csv(frame: pl.DataFrame) -> bytes:
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join(", ") for name in lists)
    return frame.with_columns(joined).write_csv().encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


_TABLES: Final[Mapping[str, Callable[[pl.DataFrame], bytes]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": lambda frame: f"{frame.write_json()}\n".encode(),
}
"""How a table is written, by the suffix of its file."""

_CHARTS: Final = (".html", ".svg", ".png")  # suffixes of a chart's file


def _shows(*, charts: bool = False, only: Sequence[str] = ()) -> Callable[..., Any]:
    """Decorate a command that returns its result, so that it prints and writes the result."""
    suffixes = (*_TABLES, *(_CHARTS if charts else ()))

    def of(command: Callable[..., _Found]) -> Callable[..., None]:
        @click.option(
            "-o",
            "--output",
            "outputs",
            multiple=True,
            type=_PATH,
            metavar="FILE",
            help=f"Write the table to FILE as well ({', '.join(_TABLES)}"
            f"{'; the chart: ' + ', '.join(_CHARTS) if charts else ''}; - is standard output, as "
            "CSV). May be given several times.",
        )
        @wraps(command)
        def shown(outputs: Sequence[Path], table: str | None = None, **given: Any) -> None:
            files = [
                _writable(each, suffixes, given.values()) for each in outputs if str(each) != "-"
            ]
            alone = len(files) < len(outputs)
            found = command(**given)
            tables = {name: each for name, each in found.tables.items() if table in (None, name)}
            frame = next(iter(tables.values())) if found.in_file is None else found.in_file
            if alone:
                click.echo(_csv(frame), nl=False)
            else:
                click.echo("\n\n".join(map(_table_text, tables.values())))
            for line in found.lines:
                click.echo(line, err=alone)
            for file in files:
                if file.suffix in _TABLES:
                    write_atomically(file, _TABLES[file.suffix](frame))
                elif found.chart is not None:
                    from swapsim.charts.theme import rendered

                    write_atomically(file, rendered(found.chart(), file.suffix))

        if not only:
            return shown
        of_name = f"Print, and write, this table alone; a file has {only[0]} otherwise."
        return click.option("--only", "table", type=click.Choice(only), help=of_name)(shown)

    return of


def _writable(path: Path, suffixes: Sequence[str], inputs: Iterable[object] = ()) -> Path:
    """Return a path that can be written to, before the result is computed."""
    if path.is_dir():
        raise InputError("is a folder: name a file", path=path)
    if path.exists() and not path.is_file():
        raise InputError("is no file: name a file, or a new name", path=path)
    if path.suffix not in suffixes:
        known = ", ".join(suffixes)
        raise InputError(f"its name does not end in one of {known}: choose one", path=path)
    if not path.parent.is_dir():
        raise InputError("its folder does not exist: create it first", path=path)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("its folder cannot be written to: choose another", path=path)
    read = [each for each in inputs if isinstance(each, Path) and each.exists()]
    if path.exists() and any(each.samefile(path) or each.samefile(path.parent) for each in read):
        raise InputError("is an input of the command: write to another file", path=path)
    return path


class _Trace(click.Path):
    """A trace folder, or the name of a trace that comes with the laboratory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the shipped names that begin so, and files."""
        names = [CompletionItem(name) for name in shipped_traces() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


def _fed(ctx: click.Context, _: click.Parameter, trace: Path) -> Path:
    """Refuse a trace that cannot feed the command; say what it lacks of its recording."""
    from swapsim.traces.folder import losses
    from swapsim.traces.replays import require_feeds

    require_feeds(trace, str(ctx.command.name), verifies="verify" in ctx.command_path.split())
    with suppress(SwapsimError):  # what is no trace is refused by the command
        if found := losses(trace):
            what = f"{trace} is not complete or not in order, which changes figures"
            click.echo(f"swapsim: {what}: {', '.join(found)}", err=True)
    return trace


_trace: Final = click.argument("trace", type=_Trace(), metavar="TRACE", callback=_fed)


def _progress() -> bool:
    return sys.stderr.isatty()


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH},
    help="Rerun four Linux swap and reclaim patches on traces of real kernels.",
    epilog=f'Completion: eval "$({_COMPLETION}=bash_source swapsim)", or zsh_source, fish_source.',
)
@click.version_option(__version__, package_name="swapsim")
def cli() -> None:
    pass


# -- Traces -------------------------------------------------------------------------------------


@cli.command(
    "import",
    help="Import ftrace TEXT, or a recording of trace-cmd, to a trace folder.\n\n"
    "TEXT is that of tracefs or of trace-cmd report, or a trace.dat, compressed or not; - for "
    "standard input; sample for a short text that comes with the laboratory. Lost events are "
    "counted: a text that has some is imported, a trace.dat only with --keep-going.\n\n"
    "A column of pointers has 64 bits: 0x1f and 31 are the same number, but 16 digits are those "
    "of %p, which are hexadecimal. Let a probe print such numbers with :x64.",
)
@click.argument("text")
@click.option("-o", "--output", required=True, type=_PATH, metavar="DIR")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Skip and count lines that cannot be read; import a trace.dat although it lost events.",
)
@click.option(
    "--head",
    type=_PATH,
    metavar="FILE",
    help="What 'sh record.sh head' prints, of a recording that does not begin with it.",
)
def import_(text: str, output: Path, keep_going: bool, head: Path | None) -> None:
    from swapsim.io import read_bytes
    from swapsim.traces.text import head_of

    added = head_of(read_bytes(head)) if head else {}
    if head and not added:
        raise InputError("has no line '# swapsim: ...', as 'sh record.sh head' prints", path=head)
    summary = swapsim.import_text(
        text,
        output,
        keep_going=keep_going,
        progress=_progress(),
        provenance={"head": added} if head else None,
    )
    click.echo(_table_text(summary.events))
    for line in summary.describe():
        click.echo(line)


@cli.command(
    help="Show what is in a trace, what it can feed, and its provenance.\n\n"
    "Without TRACE: list the traces that come with the laboratory. Their names may stand for "
    "their folders in every command."
)
@click.argument("trace", required=False, type=_Trace(), metavar="[TRACE]")
@click.option("-o", "--output", type=_PATH, metavar="FILE", help="Write it to FILE.json.")
def info(trace: Path | None, output: Path | None) -> None:
    from swapsim.traces import replays

    if output:
        _writable(output, [".json"], [trace])
        about = replays.shipped_traces().to_dicts() if trace is None else replays.described(trace)
        write_atomically(output, f"{json.dumps(about, indent=2)}\n".encode())
    elif trace is None:
        click.echo(_table_text(replays.shipped_traces()))
    else:
        click.echo(replays.info(trace))


@cli.command(help="Print a script that records, on your own kernel, what replays need.")
@click.option(
    "--kernel-btf",
    type=_PATH,
    metavar="FILE",
    help="Types of the kernel to be recorded; as a rule those of the running one.",
)
@click.option(
    "--for",
    "subjects",
    multiple=True,
    metavar="SUBJECT",
    help="What the trace shall feed: mapping, removal, or by name only clusters and mglru (6.12 "
    "and 7.3) and stall (7.3, for 'swapsim verify stall'); may be given twice. Default: each that "
    "the kernel can feed.",
)
def probes(kernel_btf: Path | None, subjects: Sequence[str]) -> None:
    from swapsim.traces.probes import RUNNING_KERNEL, recording_script

    script, notes = recording_script(kernel_btf or RUNNING_KERNEL, subjects)
    click.echo(script, nl=False)
    for note in notes:
        click.echo(f"swapsim: {note}", err=True)


# -- Replays ------------------------------------------------------------------------------------


@cli.group(cls=_Group, help="Decide again what a trace asked for, by other rules.")
def replay() -> None:
    pass


_rules_of: Final = {
    subject: click.option(
        "--rules",
        multiple=True,
        type=click.Choice(known),
        metavar="NAME",
        help=f"Rule set, may be given several times: {', '.join(known)}. Default: all.",
    )
    for subject, known in (
        ("stall", (*STALL_RULES, *SUMS_RULES)),
        ("clusters", CLUSTER_RULES),
        ("mglru", MGLRU_RULES),
    )
}


@replay.command(
    "mapping",
    help="Patch A: acquisitions of the mapping's lock per page swapped out, with tags and without.",
)
@_trace
@click.option(
    "--kernel",
    type=click.Choice(MAPPING_KERNELS),
    default="4.8",
    show_default=True,
    help="Whose locks and tree walks to follow.",
)
@_shows(charts=True)
def _replay_mapping(trace: Path, kernel: str) -> _Found:
    from swapsim import mapping

    sites = mapping.replay(trace, kernels=kernel, progress=_progress())
    lines = [f"by the rules of {kernel} (--kernel): {line}" for line in mapping.summed(sites)]
    return _Found(
        {"sites": mapping.per_page(sites)},
        lambda: mapping.chart(sites),
        [*lines, *mapping.doubts(sites, trace)],
    )


@replay.command(
    "removal",
    help="Patch B: acquisitions of the mappings' locks, page by page and batched, and the longest "
    "critical section.",
)
@_trace
@_shows()
def _replay_removal(trace: Path) -> _Found:
    from swapsim import removal

    return _Found({"lists": removal.replay(trace, progress=_progress())})


@replay.command(
    "stall", help="Patch C: what each set of rules decides of the lists that reclaim looked at."
)
@_trace
@_rules_of["stall"]
@_shows()
def _replay_stall(trace: Path, rules: tuple[str, ...]) -> _Found:
    from swapsim import stall

    return _Found({"decisions": stall.replay(trace, rules or None, progress=_progress())})


@replay.command(
    "slots",
    help="Patch D: the trace's requests, all at one rate, under each rule for cluster_next: means "
    "over the seeds. A file has the figures of each seed.",
)
@_trace
@click.option("--seeds", type=_SEEDS, default=20, show_default=True)
@_shows(charts=True)
def _replay_slots(trace: Path, seeds: int) -> _Found:
    from swapsim import slots
    from swapsim.slots.metrics import LEADING, METRICS
    from swapsim.slots.workbench import means

    rows = slots.replay(trace, seeds=seeds, progress=_progress())

    def chart() -> "alt.TopLevelMixin":
        from swapsim.slots.charts import moves_against_locality

        return moves_against_locality(
            rows, title=f"Cache-line transfers and locality: {trace.name}"
        )

    return _Found(
        {"means": means(rows, LEADING)},
        chart,
        [f"{name}: {METRICS[name].meaning}, {METRICS[name].unit}" for name in LEADING],
        in_file=rows,
    )


@replay.command(
    "clusters",
    help="The trace's requests to a cluster allocator (6.12 to 7.3) under other rules: grants by "
    "order and fallbacks, list moves and locks a grant, clusters by list over time.",
)
@_trace
@_rules_of["clusters"]
@_shows(charts=True, only=("grants", "work", "lists"))
def _replay_clusters(trace: Path, rules: tuple[str, ...]) -> _Found:
    from swapsim import clusters

    found = clusters.replay(trace, rules, progress=_progress())

    def chart() -> "alt.TopLevelMixin":
        from swapsim.clusters.charts import lists_over_time

        return lists_over_time(found.lists, title=f"Clusters by list: {trace.name}")

    return _Found({"grants": found.grants, "work": found.work, "lists": found.lists}, chart)


@replay.command(
    "mglru",
    help="The trace's choices between anonymous and file pages (6.12, 7.3) by other rules, each "
    "from the trace's own state: which flip, by which term, and when what was chosen.",
)
@_trace
@_rules_of["mglru"]
@click.option(
    "--policy",
    type=_PATH,
    metavar="POLICY.py",
    help="Rules of your own: functions of a Python file, which runs as you, that it decorates with "
    "@swapsim.type_policy().",
)
@click.option("--swappiness", type=click.IntRange(0, 201), help="In place of the recorded one.")
@_shows(charts=True, only=("flips", "when", "switches", "timeline"))
def _replay_mglru(
    trace: Path, rules: tuple[str, ...], policy: Path | None, swappiness: int | None
) -> _Found:
    from swapsim import mglru
    from swapsim.mglru.replay import chart
    from swapsim.policies import TypePolicy

    own = _policies(policy, TypePolicy, "type_policy") if policy else []
    found = mglru.replay(trace, [*(rules or MGLRU_RULES), *own], swappiness=swappiness)
    tables = ("flips", "when", "switches", "timeline")
    return _Found(
        {name: getattr(found, name) for name in tables},
        lambda: chart(found.timeline, title=f"Why did it swap? {trace.name}"),
    )


def _policies(path: Path, kind: type, decorator: str) -> list[Any]:
    """Return the policies of a file, which must all be of a kind."""
    from swapsim.policies import policies_in

    for each in (found := policies_in(path)):
        if not isinstance(each, kind):
            raise InputError(
                f"has the policy {each.name}, which is of another kind: decorate functions with "
                f"@swapsim.{decorator} only",
                path=path,
            )
    return list(found)


@cli.group(cls=_Group, help="Compare the model with a real kernel, event by event.")
def verify() -> None:
    pass


@verify.command(
    "slots",
    help="Replay the slot events of a trace, or of a Parquet file of them, and match every slot "
    "with the model's.",
)
@_trace
@click.option(
    "--policy",
    type=click.Choice(SLOT_REPLAY_POLICIES),
    help="Where the kernel's scans began; default of this and the next two: as trace.toml says.",
)
@click.option(
    "--cluster-size",
    type=int,
    metavar="N",
    help="Slots of a cluster: 256, or 512 where huge pages swap.",
)
@click.option(
    "--trunk-shift",
    type=int,
    metavar="N",
    help="Log2 of the slots of a trunk (SWAP_ADDRESS_SPACE_SHIFT).",
)
@click.option("--kernel", type=click.Choice(SLOT_REPLAY_KERNELS), default="6.1", show_default=True)
def _verify_slots(trace: Path, **given: Any) -> None:
    from swapsim import slots

    _tell(slots.verify(trace, **given, progress=_progress()))


@verify.command(
    "stall",
    help="Count reclaim's lists again from their folios, and compare each decision of the kernel. "
    "A trace of a stock 7.3 has the counts alone, and is compared with the rules of 7.3.",
)
@_trace
@click.option(
    "--rules",
    type=click.Choice(STALL_RULES),
    metavar="NAME",
    help="Those that the kernel was switched to; default: as trace.toml says, else 6.1.",
)
def _verify_stall(trace: Path, rules: str | None) -> None:
    from swapsim import stall

    _tell(stall.verify(trace, rules, progress=_progress()))


@verify.command(
    "clusters",
    help="Replay the events of a cluster allocator (6.12, 7.3), and match every grant, visit and "
    "list move with the model's.",
)
@_trace
def _verify_clusters(trace: Path) -> None:
    from swapsim import clusters

    _tell(clusters.verify(trace, progress=_progress()))


@verify.command(
    "mglru",
    help="Decide a trace's choices between anonymous and file pages again (6.12, 7.3), its tiers, "
    "agings and scan sizes, and compare each with the kernel's.",
)
@_trace
def _verify_mglru(trace: Path) -> None:
    from swapsim import mglru

    _tell(mglru.verify(trace))


def _tell(verdict: "Verdict") -> None:
    """Print a comparison; exit 1 if anything differs."""
    click.echo("\n".join(verdict.describe()))
    if not verdict:
        sys.exit(1)


# -- Policies -----------------------------------------------------------------------------------


@cli.command(
    help="Rank the policies of a file among the built-in ones, in one table; equal ones share a "
    "row.\n\n"
    "POLICY.py is Python and runs as you; what it prints goes to stderr. Each function that it "
    "decorates is ranked: either all with @swapsim.policy (cluster_next, up to 6.11), or all with "
    "@swapsim.list_policy (lists of clusters, from 6.12 on). Policies are compared seed by seed: "
    "one is above another if the interval of the median difference excludes 0, and a rank has all "
    "places that this allows, such as 1-3. Of fewer than five seeds nothing is ranked."
)
@click.argument("file", type=_PATH, metavar="POLICY.py")
@click.option("--seeds", type=_SEEDS, default=8, show_default=True, help="Runs of each.")
@_shows(charts=True)
def rank(file: Path, seeds: int) -> _Found:
    from swapsim import clusters, slots
    from swapsim.policies import ListPolicy, Policy, policies_in

    policies = policies_in(file)
    kinds = {type(each) for each in policies}
    if not kinds & {ListPolicy, Policy}:
        raise InputError(
            f"has no policy of swap slots to rank: compare {policies[0].name} by "
            "'swapsim replay mglru TRACE --policy FILE'",
            path=file,
        )
    if len(kinds) > 1:
        named = ", ".join(f"{each.name} ({type(each).__name__})" for each in policies)
        raise InputError(
            f"has policies of several kinds ({named}): put each kind into a file of its own",
            path=file,
        )
    if kinds == {ListPolicy}:
        lists = [each for each in policies if isinstance(each, ListPolicy)]
        found, measure = clusters.rank(lists, seeds=seeds, progress=_progress()), "fallbacks"
    else:
        bases = [each for each in policies if isinstance(each, Policy)]
        found, measure = slots.rank(bases, seeds=seeds, progress=_progress()), "throughput"

    def chart() -> "alt.TopLevelMixin":
        from swapsim import charts

        return charts.bars(found, measure, "rule", "user", title=f"{file.stem} among the others")

    return _Found({"ranks": found}, chart)


# -- The mails' tables, rankings, and what covers all patches -----------------------------------


def _as_html(compared: Sequence[pl.DataFrame]) -> str:
    from swapsim.published import shown as mails

    shown = "".join(mails.show(each)._repr_html_() for each in compared)
    style = "html{color-scheme:light dark;font:14px/1.4 system-ui,sans-serif}.mail{margin:2em 0}"
    return (
        '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The mails' tables</title><style>{style}</style>{shown}\n"
    )


_WRITTEN: Final[Mapping[str, Callable[[Sequence[pl.DataFrame]], str]]] = {
    ".html": _as_html,
    ".csv": lambda compared: pl.concat(compared).write_csv(),
    ".json": lambda compared: pl.concat(compared).write_json() + "\n",
}
"""How the mails' tables are written, by the suffix of a file."""

_output_of_tables: Final = click.option(
    "-o",
    "--output",
    type=_PATH,
    metavar="FILE",
    help=f"Write them to FILE instead ({', '.join(_WRITTEN)}); csv and json have all columns.",
)


def _put(compared: Sequence[pl.DataFrame], output: Path | None) -> None:
    """Print tables of `published.compare`, or write them."""
    from swapsim.published import shown as mails

    if output is None:
        click.echo("\n\n".join(str(mails.show(each)) for each in compared))
    else:
        write_atomically(output, _WRITTEN[output.suffix](compared).encode())


@cli.command(
    help="Print the mails' tables row by row, next to what models and real kernels have.\n\n"
    "MAIL is A, B, C or D; default: all. A ratio is patched / base; 'base' is the model's figure "
    "without the patch by the mail's, or 'fit' where it was fitted; a dot follows a ratio that is "
    "unchanged in the mail. Notebook 00 has the rule of the marks."
)
@click.argument(
    "mail",
    required=False,
    metavar="[MAIL]",
    type=click.Choice(["A", "B", "C", "D"], case_sensitive=False),
)
@_output_of_tables
def tables(mail: str | None, output: Path | None) -> None:
    from swapsim import published

    if output:
        _writable(output, [*_WRITTEN])
    chosen = [row for row in published.mails().rows(named=True) if mail in (None, row["mail"])]
    named = [(row["mail"], name) for row in chosen for name in row["tables"]]
    _put([published.compare(*each) for each in named], output)


@cli.command(
    help="Print the mails' tables with your own measurements as a further column, yours.\n\n"
    "FILE is a CSV file that begins with metric,base,patched or metric,run,base,patched and has a "
    "line for each metric, or for each of its runs. A metric has its name in the mail: 'swapsim "
    "tables' prints them. With fewer than five runs a row is unclear."
)
@click.argument("file", type=_PATH)
@_output_of_tables
def compare(file: Path, output: Path | None) -> None:
    from swapsim import published

    if output:
        _writable(output, [*_WRITTEN], [file])
    yours = published.read(file)
    named = published.rows.tables_of(yours)
    _put([published.compare(*each, yours=yours) for each in named], output)


@cli.command(help="Run all notebooks and write the HTML report, or one page for a trace.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=_PATH,
    metavar="DIR|FILE",
    help="The report's folder; with --trace the page, NAME.html, which is complete in one file.",
)
@click.option("--check", is_flag=True, help="First compute a sample of each stored result again.")
@click.option(
    "--trace",
    type=_Trace(),
    metavar="TRACE",
    help="What is in this trace, what its replays count, and what other rules would do.",
)
def report(output: Path, check: bool, trace: Path | None) -> None:
    if trace is not None:
        if check:
            raise click.UsageError("--check is for the report of all notebooks, not for --trace")
        from swapsim.site import trace_page

        written = trace_page.write_trace_page(trace, output, progress=_progress())
        click.echo(f"page written: {written}")
        return
    from swapsim.site import report as reports
    from swapsim.site import simulated

    if check:
        same = simulated.prove(progress=_progress())
        rows = f"{sum(same.values()):,} rows that were computed again are identical"
        click.echo(f"{len(same)} stored results proved: {rows}")
    click.echo(f"report written: {reports.write(output, progress=_progress())}")


@cli.command(help="Copy the notebooks to the new folder DIR, to be opened and changed there.")
@click.argument("folder", type=_PATH, metavar="DIR")
def notebooks(folder: Path) -> None:
    from swapsim.site import notebooks as ours

    click.echo(f"open {ours.lay_out(folder)}")


def _studies(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from swapsim.site.simulated import studies

    return [CompletionItem(each.name) for each in studies() if each.name.startswith(incomplete)]


@cli.command(
    help="Compute and store the results of data/simulated, all or those of these NAMEs; each "
    "file there has the name of one.\n\nAn interrupted run continues where it stopped."
)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_studies)
@click.option(
    "--check",
    is_flag=True,
    help="Compare with what is stored, and store nothing; exit 1 if any differs.",
)
def simulate(names: Sequence[str], check: bool) -> None:
    from swapsim import study
    from swapsim.site import simulated

    if check:
        differ = list(simulated.differing(names, progress=_progress()))
        for name, why in differ:
            click.echo(f"{name}: {why}")
        if differ:
            sys.exit(1)
        click.echo("all stored results come out again")
        return
    for name, changed in study.simulate(names, progress=_progress()):
        click.echo(f"{name}: {'written' if changed else 'unchanged'}")


@cli.command(help="Run the benchmarks and their peers; one JSON object a line.")
@click.option("--only", multiple=True, metavar="NAME", help="Run only names that begin so.")
def bench(only: Sequence[str]) -> None:
    from swapsim.site import bench as benchmarks

    for row in benchmarks.run(only):
        click.echo(json.dumps(row))


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may contain characters that stdout cannot encode.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if completes is not None:
            return shell_complete(cli, {}, "swapsim", _COMPLETION, completes)
        # Not cli.main, which prints an empty line on Ctrl-C.
        with cli.make_context("swapsim", given) as context:
            try:
                cli.invoke(context)
            except BaseException:
                check_interrupted()
                raise
    except click.exceptions.Exit as after_help:
        return after_help.exit_code
    except SystemExit as differs:
        return int(differs.code or 0)
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
        said = str(error).replace("keep_going=True", "--keep-going")
        click.echo(f"swapsim: {_printable(said)}", err=True)
        return 2
    except OSError as error:
        where = f"{_printable(str(error.filename))}: " if error.filename else ""
        click.echo(f"swapsim: {where}{error.strerror}: check the path and the disk", err=True)
        return 2
    return 0
