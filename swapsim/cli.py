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
from functools import reduce, wraps
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import polars as pl
from click.shell_completion import CompletionItem, shell_complete
from polars import selectors

import swapsim
from swapsim import (  # but swapsim.site and charts of altair, which take a second to import
    __version__,
    charts,
    clusters,
    ffi,
    mapping,
    mglru,
    published,
    removal,
    slots,
    stall,
    study,
)
from swapsim.charts import rendered
from swapsim.errors import InputError, SwapsimError
from swapsim.io import read_bytes, shipped_traces, write_atomically
from swapsim.mglru.replay import chart as mglru_chart
from swapsim.mglru.replay import flipped
from swapsim.policies import ListPolicy, Policy, TypePolicy, policies_in
from swapsim.progress import check_interrupted, exit_status
from swapsim.slots.metrics import LEADING, METRICS
from swapsim.slots.workbench import means
from swapsim.traces import folder as traces
from swapsim.traces.folder import losses
from swapsim.traces.probes import RUNNING_KERNEL, recording_script
from swapsim.traces.text import head_of
from swapsim.traces.verification import Verdict

INTERRUPTED: Final = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

_COMPLETION: Final = "_SWAPSIM_COMPLETE"
"""What a shell wants: bash_source, zsh_source or fish_source for its script, or a completion."""

_DIGITS: Final = 4  # significant digits of a printed figure; a file has all
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
        tbl_width_chars=10_000,  # a cell that is broken into lines is hard to read
        fmt_str_lengths=1000,
        fmt_table_cell_list_len=-1,
        tbl_cell_numeric_alignment="RIGHT",
        fmt_float="mixed",
        float_precision=None,
        thousands_separator=False,
    ):
        return str(frame.with_columns(selectors.float().round_sig_figs(_DIGITS)))


class _Found(NamedTuple):
    """The result of a command: tables by name, of which a file has the first, or that of --only."""

    tables: Mapping[str, pl.DataFrame]
    other: Callable[[str], bytes] | None = None  # what a file of another suffix has: a chart
    lines: Sequence[str] = ()  # below the tables
    in_file: pl.DataFrame | None = None  # in place of the first table
    text: str | None = None  # printed in place of the tables


def _csv(frame: pl.DataFrame) -> bytes:
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join(", ") for name in lists)
    return frame.with_columns(joined).write_csv().encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    frame.write_parquet(file := io.BytesIO())
    return file.getvalue()


_TABLES: Final[Mapping[str, Callable[[pl.DataFrame], bytes]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": lambda frame: f"{frame.write_json()}\n".encode(),
}
"""How a table is written, by the suffix of its file."""

_CHARTS: Final = (".html", ".svg", ".png")  # suffixes of a chart's file


def _drawn(chart: Callable[[], Any]) -> Callable[[str], bytes]:
    """Return what draws a chart for a file of some suffix."""
    return lambda suffix: rendered(chart(), suffix)


def _shows(*others: str, only: Sequence[str] = ()) -> Callable[..., Any]:
    """Decorate a command that returns its result, so that it prints and writes the result."""
    suffixes = (*_TABLES, *others)
    text = f"Write it to FILE as well ({', '.join(suffixes)}), or - for CSV alone; repeatable."
    options = [_file("-o --output outputs", text, multiple=True)]
    if only:
        text = f"Print, and write, this table alone; a file has {only[0]} otherwise."
        options.append(click.option("--only", "table", type=click.Choice(only), help=text))

    def of(command: Callable[..., _Found]) -> Callable[..., None]:
        @wraps(command)
        def shown(outputs: Sequence[Path], table: str | None = None, **given: Any) -> None:
            named = [each for each in outputs if str(each) != "-"]
            files = [_writable(each, suffixes, given.values()) for each in named]
            alone = len(files) < len(outputs)
            found = command(**given)
            tables = {name: each for name, each in found.tables.items() if table in (None, name)}
            frame = next(iter(tables.values())) if found.in_file is None else found.in_file
            if alone:
                click.echo(_csv(frame), nl=False)
            else:
                click.echo(found.text or "\n\n".join(map(_table_text, tables.values())))
            for line in found.lines:
                click.echo(line, err=alone)
            for file in files:
                if write := _TABLES.get(file.suffix):
                    write_atomically(file, write(frame))
                elif found.other:
                    write_atomically(file, found.other(file.suffix))

        return reduce(lambda wrapped, option: option(wrapped), options, shown)

    return of


def _writable(path: Path, suffixes: Sequence[str], inputs: Iterable[object] = ()) -> Path:
    """Return a path that can be written to, before the result is computed."""
    read = [each for each in inputs if isinstance(each, Path) and each.exists()]
    why = None
    if path.is_dir():
        why = "is a folder: name a file"
    elif path.exists() and not path.is_file():
        why = "is no file: name a file, or a new name"
    elif path.suffix not in suffixes:
        why = f"its name does not end in one of {', '.join(suffixes)}: choose one"
    elif not path.parent.is_dir():
        why = "its folder does not exist: create it first"
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        why = "its folder cannot be written to: choose another"
    elif path.exists() and any(each.samefile(path) or each.samefile(path.parent) for each in read):
        why = "is an input of the command: write to another file"
    if why:
        raise InputError(why, path=path)
    return path


class _Trace(click.Path):
    """A trace folder, or the name of a trace that comes with the laboratory."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the shipped names that begin so, and files."""
        names = [CompletionItem(name) for name in shipped_traces() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


_TRACE: Final = _Trace(path_type=Path)


def _fed(ctx: click.Context, _: click.Parameter, trace: Path) -> Path:
    """Refuse a trace that cannot feed the command; say what it lacks of its recording."""
    verifies = "verify" in ctx.command_path.split()
    traces.require_feeds(trace, str(ctx.command.name), verifies=verifies)
    with suppress(SwapsimError):  # what is no trace is refused by the command
        if found := losses(trace):
            what = f"{trace} is not complete or not in order, which changes figures"
            click.echo(f"swapsim: {what}: {', '.join(found)}", err=True)
    return trace


def _on(group: click.Group, name: str, text: str) -> Callable[..., Any]:
    """Return the decorator of a group's command that takes a trace."""
    trace = click.argument("trace", type=_TRACE, metavar="TRACE", callback=_fed)
    return lambda command: group.command(name, help=text)(trace(command))


def _choice(name: str, known: Sequence[str], text: str, **more: Any) -> Callable[..., Any]:
    return click.option(name, type=click.Choice(known), help=text, **more)


def _rules(known: Sequence[str]) -> Callable[..., Any]:
    text = f"Rule set, may be given several times: {', '.join(known)}. Default: all."
    return _choice("--rules", known, text, multiple=True, metavar="NAME")


def _file(name: str, text: str, metavar: str = "FILE", **more: Any) -> Callable[..., Any]:
    return click.option(*name.split(), type=_PATH, metavar=metavar, help=text, **more)


def _progress() -> bool:
    return sys.stderr.isatty()


class _Group(click.Group):
    """A group that lists its commands in their order."""

    group_class = type

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return [*self.commands]


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
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
@_file("-o --output", "The new folder.", "DIR", required=True)
@click.option("--keep-going", is_flag=True, help="Skip lines that are wrong; allow lost events.")
@_file("--head", "What 'sh record.sh head' prints, of a recording that does not begin with it.")
def import_(text: str, output: Path, keep_going: bool, head: Path | None) -> None:
    added = head_of(read_bytes(head)) if head else {}
    if head and not added:
        raise InputError("has no line '# swapsim: ...', as 'sh record.sh head' prints", path=head)
    more: dict[str, Any] = {"head": added} if head else {}
    summary = swapsim.import_text(
        text, output, keep_going=keep_going, progress=_progress(), provenance=more or None
    )
    click.echo("\n".join([_table_text(summary.events), *summary.describe()]))


@cli.command(
    help="Show what is in a trace, what it can feed, and its provenance.\n\n"
    "Without TRACE: list the traces that come with the laboratory. Their names may stand for "
    "their folders in every command."
)
@click.argument("trace", required=False, type=_TRACE, metavar="[TRACE]")
@_file("-o --output", "Write it to FILE.json instead.")
def info(trace: Path | None, output: Path | None) -> None:
    if output:
        _writable(output, [".json"], [trace])
        about = traces.shipped_traces().to_dicts() if trace is None else traces.described(trace)
        write_atomically(output, f"{json.dumps(about, indent=2)}\n".encode())
    else:
        click.echo(_table_text(traces.shipped_traces()) if trace is None else traces.info(trace))


@cli.command(help="Print a script that records, on your own kernel, what replays need.")
@_file("--kernel-btf", "Types of the kernel to be recorded; default: of the running one.")
@click.option(
    "--for",
    "subjects",
    multiple=True,
    metavar="SUBJECT",
    help="What the trace shall feed, maybe twice: mapping, removal, clusters, mglru, or stall for "
    "'swapsim verify stall' on 7.3. Default: each that the kernel can feed.",
)
def probes(kernel_btf: Path | None, subjects: Sequence[str]) -> None:
    script, notes = recording_script(kernel_btf or RUNNING_KERNEL, subjects)
    click.echo(script, nl=False)
    for note in notes:
        click.echo(f"swapsim: {note}", err=True)


# -- Replays ------------------------------------------------------------------------------------


@cli.group(help="Decide again what a trace asked for, by other rules.")
def replay() -> None:
    pass


@_on(
    replay, "mapping", "Patch A: acquisitions a page of the mapping's lock, with and without tags."
)
@_choice("--kernel", ffi.MAPPING_KERNELS, "Whose locks and walks to follow.", default="4.8")
@_shows(*_CHARTS)
def _replay_mapping(trace: Path, kernel: str) -> _Found:
    sites = mapping.replay(trace, kernels=kernel, progress=_progress())
    lines = [f"by the rules of {kernel} (--kernel): {line}" for line in mapping.summed(sites)]
    lines += mapping.doubts(sites, trace)
    return _Found({"sites": mapping.per_page(sites)}, _drawn(lambda: mapping.chart(sites)), lines)


@_on(replay, "removal", "Patch B: acquisitions of mappings' locks, page by page and batched.")
@_shows()
def _replay_removal(trace: Path) -> _Found:
    return _Found({"lists": removal.replay(trace, progress=_progress())})


@_on(replay, "stall", "Patch C: what rules decide of the lists that reclaim looked at.")
@_rules((*ffi.STALL_RULES, *ffi.SUMS_RULES))
@_shows()
def _replay_stall(trace: Path, rules: tuple[str, ...]) -> _Found:
    return _Found({"decisions": stall.replay(trace, rules or None, progress=_progress())})


@_on(replay, "slots", "Patch D: means under each rule for cluster_next; a file has each seed.")
@click.option("--seeds", type=_SEEDS, default=20)
@_shows(*_CHARTS)
def _replay_slots(trace: Path, seeds: int) -> _Found:
    rows = slots.replay(trace, seeds=seeds, progress=_progress())

    def chart() -> Any:
        from swapsim.slots.charts import moves_against_locality

        title = f"Cache-line transfers and locality: {trace.name}"
        return moves_against_locality(rows, title=title)

    lines = [f"{name}: {METRICS[name].meaning}, {METRICS[name].unit}" for name in LEADING]
    return _Found({"means": means(rows, LEADING)}, _drawn(chart), lines, in_file=rows)


@_on(replay, "clusters", "6.12 to 7.3: grants, fallbacks, list moves and locks by other rules.")
@_rules(ffi.CLUSTER_RULES)
@_shows(*_CHARTS, only=("grants", "work", "lists"))
def _replay_clusters(trace: Path, rules: tuple[str, ...]) -> _Found:
    found = clusters.replay(trace, rules, progress=_progress())

    def chart() -> Any:
        from swapsim.clusters.charts import lists_over_time

        return lists_over_time(found.lists, title=f"Clusters by list: {trace.name}")

    return _Found({"grants": found.grants, "work": found.work, "lists": found.lists}, _drawn(chart))


_MGLRU_TABLES: Final = ("flips", "when", "switches", "timeline")


@_on(replay, "mglru", "6.12, 7.3: which choices of page types flip by other rules or swappiness.")
@_rules(ffi.MGLRU_RULES)
@_file("--policy", "Your own rules, by @swapsim.type_policy(); it runs as you.", "POLICY.py")
@click.option(
    "--swappiness",
    type=click.IntRange(0, ffi.MGLRU_SWAPPINESS_MAX),
    help="In place of the recorded one; without --rules by those of the recorded kernel.",
)
@_shows(*_CHARTS, only=_MGLRU_TABLES)
def _replay_mglru(
    trace: Path, rules: tuple[str, ...], policy: Path | None, swappiness: int | None
) -> _Found:
    given = policies_in(policy) if policy else ()
    own = [each for each in given if isinstance(each, TypePolicy)]
    for each in given:
        if each not in own:
            why = f"has the policy {each.name}, which is of another kind: decorate functions with "
            raise InputError(f"{why}@swapsim.type_policy only", path=policy)
    found = mglru.replay(trace, [*rules, *own] or None, swappiness=swappiness)
    return _Found(
        {name: getattr(found, name) for name in _MGLRU_TABLES},
        _drawn(lambda: mglru_chart(found.timeline, title=f"Why did it swap? {trace.name}")),
        flipped(found.flips, swappiness),
    )


@cli.group(help="Compare the model with a real kernel, event by event.")
def verify() -> None:
    pass


@_on(verify, "slots", "Match every slot that a trace, or a Parquet file of events, hands out.")
@_choice("--policy", ffi.SLOT_REPLAY_POLICIES, "Where scans began; default: as trace.toml says.")
@click.option("--cluster-size", type=int, metavar="N", help="Slots of a cluster: 256 or 512.")
@click.option("--trunk-shift", type=int, metavar="N", help="Log2 of the slots of a trunk.")
@_choice("--kernel", ffi.SLOT_REPLAY_KERNELS, "Whose scans to follow.", default="6.1")
def _verify_slots(trace: Path, **given: Any) -> None:
    _tell(slots.verify(trace, **given, progress=_progress()))


@_on(verify, "stall", "Count lists of reclaim again, and compare each decision of the kernel.")
@_choice("--rules", ffi.STALL_RULES, "Default: as trace.toml says, else 6.1.", metavar="NAME")
def _verify_stall(trace: Path, rules: str | None) -> None:
    _tell(stall.verify(trace, rules, progress=_progress()))


@_on(verify, "clusters", "Match every grant, visit and list move of 6.12 and 7.3.")
def _verify_clusters(trace: Path) -> None:
    _tell(clusters.verify(trace, progress=_progress()))


@_on(
    verify, "mglru", "Compare choices of page types, tiers, agings and scan sizes of 6.12 and 7.3."
)
def _verify_mglru(trace: Path) -> None:
    _tell(mglru.verify(trace))


def _tell(verdict: Verdict) -> None:
    """Print a comparison; exit 1 if anything differs."""
    click.echo("\n".join(verdict.describe()))
    if not verdict:
        sys.exit(1)


@cli.command(
    help="Rank the policies of a file among the built-in ones, in one table; equal ones share a "
    "row.\n\n"
    "POLICY.py is Python and runs as you; what it prints goes to stderr. It decorates functions "
    "with @swapsim.policy (cluster_next, up to 6.11), or all with @swapsim.list_policy (lists of "
    "clusters, from 6.12 on). A rank has all places that runs with equal seeds allow, such as 1-3; "
    "of fewer than five seeds nothing is ranked."
)
@click.argument("file", type=_PATH, metavar="POLICY.py")
@click.option("--seeds", type=_SEEDS, default=8, help="Runs of each.")
@_shows(*_CHARTS)
def rank(file: Path, seeds: int) -> _Found:
    policies = policies_in(file)
    lists = [each for each in policies if isinstance(each, ListPolicy)]
    bases = [each for each in policies if isinstance(each, Policy)]
    if not lists and not bases:
        why = f"has no policy of swap slots to rank: compare {policies[0].name} by "
        raise InputError(f"{why}'swapsim replay mglru TRACE --policy FILE'", path=file)
    if len(policies) not in (len(lists), len(bases)):
        named = ", ".join(f"{each.name} ({type(each).__name__})" for each in policies)
        why = f"has policies of several kinds ({named}): put each kind into a file of its own"
        raise InputError(why, path=file)
    if lists:
        found, measure = clusters.rank(lists, seeds=seeds, progress=_progress()), "fallbacks"
    else:
        found, measure = slots.rank(bases, seeds=seeds, progress=_progress()), "throughput"

    title = f"{file.stem} among the others"
    drawn = _drawn(lambda: charts.bars(found, measure, "rule", "user", title=title))
    return _Found({"ranks": found}, drawn)


# -- The mails' tables, and what covers all patches ---------------------------------------------


def _compared(named: Iterable[tuple[str, str]], yours: pl.DataFrame | None = None) -> _Found:
    """Return tables by mail and name: as they are read, and all rows and columns for a file."""
    compared = [published.compare(*each, yours=yours) for each in named]
    shown = [published.show(each) for each in compared]
    style = "html{color-scheme:light dark;font:14px/1.4 system-ui,sans-serif}.mail{margin:2em 0}"
    head = (
        '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The mails' tables</title><style>{style}</style>"
    )
    page = f"{head}{''.join(each._repr_html_() for each in shown)}\n".encode()
    return _Found(
        {"tables": pl.concat(compared)}, lambda _: page, text="\n\n".join(map(str, shown))
    )


@cli.command(
    help="Print the mails' tables row by row, next to what models and real kernels have.\n\n"
    "MAIL is A, B, C or D; default: all. A ratio is patched / base; 'base' is the model's figure "
    "without the patch by the mail's, or 'fit' where it was fitted; a dot follows a ratio that is "
    "unchanged in the mail. Notebook 00 has the rule of the marks."
)
@click.argument(
    "mail", required=False, metavar="[MAIL]", type=click.Choice([*"ABCD"], case_sensitive=False)
)
@_shows(".html")
def tables(mail: str | None) -> _Found:
    chosen = [row for row in published.mails().rows(named=True) if mail in (None, row["mail"])]
    return _compared((row["mail"], name) for row in chosen for name in row["tables"])


@cli.command(
    help="Print the mails' tables with your own measurements as a further column, yours.\n\n"
    "FILE is a CSV file that begins with metric,base,patched or metric,run,base,patched and has a "
    "line for each metric, or for each of its runs. A metric has its name in the mail: 'swapsim "
    "tables' prints them. With fewer than five runs a row is unclear."
)
@click.argument("file", type=_PATH)
@_shows(".html")
def compare(file: Path) -> _Found:
    yours = published.read(file)
    return _compared(published.rows.tables_of(yours), yours)


@cli.command(help="Run all notebooks and write the HTML report, or one page for a trace.")
@_file("-o --output", "The report's folder; with --trace one page.", "DIR|FILE.html", required=True)
@click.option("--check", is_flag=True, help="First compute a sample of each stored result again.")
@click.option("--trace", type=_TRACE, metavar="TRACE", help="Its page: counts, and other rules.")
def report(output: Path, check: bool, trace: Path | None) -> None:
    from swapsim.site import simulated

    if trace is not None:
        if check:
            raise click.UsageError("--check is for the report of all notebooks, not for --trace")
        from swapsim.site import trace_page

        written = trace_page.write_trace_page(trace, output, progress=_progress())
        click.echo(f"page written: {written}")
        return
    from swapsim.site import report as reports

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
@click.option("--check", is_flag=True, help="Store nothing; exit 1 if what is stored differs.")
def simulate(names: Sequence[str], check: bool) -> None:
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


# -- Errors -------------------------------------------------------------------------------------


def _paths(group: click.Group) -> Iterator[str]:
    """Yield the commands of a group and of its groups, as they are typed; helps are not cut."""
    for name, command in group.commands.items():
        command.short_help = command.get_short_help_str(1000)
        if isinstance(command, click.Group):
            yield from (f"{name} {path}" for path in _paths(command))
        else:
            yield name


_PATHS: Final = tuple(_paths(cli))


def _said(usage: click.ClickException, typed: Sequence[str]) -> str:
    """Return what is wrong with a usage, and what to write instead."""
    said = usage.format_message().rstrip(".")
    if not isinstance(usage, click.UsageError) or usage.ctx is None:
        return said
    above = usage.ctx.command_path
    whole = f"{said}: write '{usage.ctx.get_usage().removeprefix('Usage: ')}'"
    match usage:
        case (
            click.NoSuchOption(option_name=name) | click.exceptions.NoSuchCommand(command_name=name)
        ) if other := _ELSEWHERE.get(f"{above} {name}") or _ELSEWHERE.get(name):
            return f"{usage.message.rstrip('.')}: {other}"
        case click.NoSuchOption(possibilities=None | []):
            return f"{said}: '{above} --help' lists its options"
        case click.exceptions.NoSuchCommand():
            return _other_command(usage, usage.ctx, typed)
        case click.MissingParameter(param=click.Option() as option):
            return f"{said}: add {option.opts[0]} {option.metavar}"
        case click.MissingParameter():
            return whole
        case click.BadParameter(param=click.Option(type=click.IntRange() as of)):
            return f"{said}: give a whole number from {of.min} to {of.max}"
    return whole if "extra argument" in usage.message else said


def _other_command(
    usage: click.exceptions.NoSuchCommand, ctx: click.Context, typed: Sequence[str]
) -> str:
    """Return what to write for a command that there is not: another order, or a name in use."""
    name, group = usage.command_name, ctx.command
    assert isinstance(group, click.Group)
    said = usage.message.rstrip(".")
    if swapped := [each for each in typed if each in group.commands]:
        return f"{said}: write '{ctx.command_path} {swapped[0]} {name}'"
    above, names = f"{ctx.command_path} ".removeprefix("swapsim "), traces.also_called(name)
    known = [path for path in _PATHS if path.startswith(above)]
    if same := sorted(path for path in known if path.split()[-1] in names):
        return f"{said}: its name here is {' or '.join(map(repr, same))}"
    if usage.possibilities:
        return usage.format_message().rstrip(".")
    return f"{said}: there are {', '.join(group.commands)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    completes = os.environ.get(_COMPLETION)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may contain characters that stdout cannot encode.
        sys.stdout.reconfigure(errors="backslashreplace")
    said = ""
    try:
        if completes is not None:
            return shell_complete(cli, {}, "swapsim", _COMPLETION, completes)
        # Not cli.main, which prints an empty line on Ctrl-C.
        with cli.make_context("swapsim", [*given]) as context:
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
        said = " ".join(_said(usage, given).split())
    except BrokenPipeError:
        # The other end of the pipe (head, less) is closed: that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SwapsimError as error:
        said = _printable(str(error).replace("keep_going=True", "--keep-going"))
    except OSError as error:
        where = f"{_printable(str(error.filename))}: " if error.filename else ""
        said = f"{where}{error.strerror}: check the path and the disk"
    if said:
        click.echo(f"swapsim: {said}", err=True)
    return 2 if said else 0
