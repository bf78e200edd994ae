# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's choice of lists among changes of today's rules, ranked on identical requests.

A stream is a trace of requests and frees, served on a device that its slots would fill to FILL at
their peak. Each alternative is one change of the rules of 7.3, and is compared with these rules
stream by stream and seed by seed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import polars as pl

from swapsim import io, study
from swapsim.clusters._native import LOOKS, Served, serve
from swapsim.clusters.events import (
    CLUSTER_DEVICES,
    CLUSTER_EVENTS,
    ClusterRows,
    check_cluster_rows,
    cluster_rows,
)
from swapsim.clusters.replay import figures_of
from swapsim.errors import InputError, check_number
from swapsim.ffi import CLUSTER_SIZE_MAX
from swapsim.policies import ListPolicy, Observation
from swapsim.progress import bar
from swapsim.tables import Metric, Metrics

BASE: Final = "7.3"  # the rules that the alternatives change
FILL: Final = 0.9  # share of a device that a stream uses at its peak; fixed before the first run

TRACES: Final = (
    "clusters-7.3-full-4",
    "clusters-7.3-devices-4",
    "clusters-7.3-orders-8",
    "clusters-7.3-zram-1",
)
"""Shipped traces of 7.3, in which each request names its task; on disks without seeks."""

_RECORDED: Final = "clusters-7.3-"  # how the names of shipped traces of 7.3 begin
GROUPS: Final = 2  # groups of tasks in place of memory cgroups, where a trace does not say them
SEEDS: Final = 8  # generated streams, unless a caller wants another number


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A change of the rules of 7.3.

    ``switches`` are those of ``cluster_rules.h``; ``owner`` is who has a current cluster: a CPU, a
    task (address space) or a group of tasks (memory cgroup).
    """

    name: str
    rules: str = BASE
    switches: Mapping[str, bool] = field(default_factory=dict)
    owner: str = "cpu"


ALTERNATIVES: Final = (
    Alternative(name=BASE),
    Alternative(name="free-first", switches={"nonfull_first": False}),
    Alternative(name="frag-all", switches={"frag_all": True}),
    Alternative(name="free-only", switches={"large_from_free_only": True}),
    Alternative(name="per-task", owner="task"),
    Alternative(name="per-group", owner="group"),
    Alternative(name="6.12", rules="6.12"),
)
"""One change each, and the rules of 6.12. Calls of a replay do not overlap, so trylock or wait
makes no difference here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Requests and frees, and the devices on which they are served.

    The seed of a recording is 0; ``slots`` has those of each device, ``groups`` the group of each
    task (pid), from 0.
    """

    name: str
    seed: int
    rows: ClusterRows
    slots: tuple[int, ...]
    groups: Mapping[int, int]


METRICS: Final = Metrics(
    "a ranking of lists",
    {
        "fallbacks": Metric("%", "large requests that are refused", "lower"),
        "visits": Metric("a grant", "visits of clusters", "lower"),
        "moves": Metric("a grant", "clusters that go to a list", "lower"),
        "si->lock": Metric("a grant", "acquisitions, frees included", "lower"),
        "cluster lock": Metric("a grant", "acquisitions, frees included", "lower"),
        "visits after another CPU": Metric("a grant", "visits where another CPU was", "lower"),
        "in sequence": Metric("%", "runs that begin where the task's run before ended", "higher"),
        "mixed": Metric("%", "neighbouring slots of two tasks", "lower"),
        "free clusters": Metric("%", "mean share of clusters on the free list", "higher"),
    },
)

_COLUMNS: Final = {
    "visits": "visits_a_grant",
    "moves": "moves_a_grant",
    "si->lock": "si_lock_a_grant",
    "cluster lock": "cluster_lock_a_grant",
    "visits after another CPU": "visits_of_others_a_grant",
    "in sequence": "in_sequence_percent",
    "mixed": "mixed_percent",
}
"""A metric -> its name in `replay.figures_of`."""


def stream(
    rows: ClusterRows,
    name: str,
    *,
    seed: int = 0,
    fill: float = FILL,
    groups: Mapping[int, int] | None = None,
) -> Stream:
    """Make a stream of a recording, on scaled devices that are full to a share at its peak.

    Unless ``groups`` says them (pid -> group), tasks are in GROUPS groups by their first request.
    """
    events = check_cluster_rows(rows).events
    if not (events["op"] == "free").any():
        raise InputError(f"stream {name} frees no slot, so no list is ever tried: take another one")
    size, sizes = rows.cluster_size, rows.devices["slots"].to_list()
    factor = peak_of(events) / fill / sum(sizes)
    slots = tuple(max(2, -(-round(each * factor) // size)) * size for each in sizes)
    tasks = events.filter(op="call")["pid"].unique(maintain_order=True).to_list()
    found = dict.fromkeys(events["pid"].unique(maintain_order=True).to_list(), 0)
    found |= {pid: GROUPS * at // max(len(tasks), 1) for at, pid in enumerate(tasks)}
    known = {pid: (groups or found).get(pid, 0) for pid in found}
    return Stream(name=name, seed=seed, rows=rows, slots=slots, groups=known)


def peak_of(events: pl.DataFrame) -> int:
    """Return the most slots that were in use at a time."""
    used = events.select(
        pl.when(op="grant").then(pl.col("n").cast(pl.Int64))
        .when(op="free").then(-pl.col("n").cast(pl.Int64)).otherwise(0)
    ).to_series()  # fmt: skip
    return int(used.cum_sum().max())  # type: ignore[arg-type]


def shipped_stream(name: str) -> Stream:
    """Return the stream of a shipped trace."""
    return stream(cluster_rows(io.data_root() / "traces" / name), name)


def generated_stream(seed: int) -> Stream:
    """Return a stream of `churn`, which knows the groups of its tasks."""
    rows, groups = churn(seed)
    return stream(rows, "generated", seed=seed, groups=groups)


def default_streams(seeds: int = SEEDS) -> list[Stream]:
    """Return the shipped streams, and generated ones of the seeds from 1 on."""
    return [*map(shipped_stream, TRACES), *map(generated_stream, range(1, seeds + 1))]


def measure(
    streams: Iterable[Stream],
    alternatives: Sequence[Alternative | ListPolicy] = ALTERNATIVES,
    *,
    progress: bool = False,
) -> pl.DataFrame:
    """Serve streams under alternatives; count ``stream, seed, policy, metric, unit, value``.

    A value is null where a stream has no such request.
    """
    schema = {"stream": pl.String(), "seed": pl.UInt64()}
    schema |= dict.fromkeys(("policy", "metric", "unit"), pl.String()) | {"value": pl.Float64()}
    streams, rows = list(streams), []
    with bar(len(streams) * len(alternatives), "rank", "runs", shown=progress) as counted:
        for each in streams:
            for alternative in alternatives:
                found = _metrics(_served(each, alternative))
                rows += [(each.name, each.seed, alternative.name, *row) for row in found]
                counted.update()
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def _served(of: Stream, alternative: Alternative | ListPolicy) -> Served:
    """Serve a stream; a policy with a bad choice is run again under observation."""
    tasks = {pid: at for at, pid in enumerate(of.groups)}
    owners = {"cpu": None, "task": tasks, "group": dict(of.groups)}[alternative.owner]
    switches = alternative.switches if isinstance(alternative, Alternative) else {}

    def run(choose: int = 0) -> Served:
        given: dict[str, Any] = {"owners": owners, "slots": of.slots, "choose": choose}
        return serve(of.rows, alternative.rules, switches, samples=LOOKS, **given)

    if isinstance(alternative, Alternative):
        return run()
    served = run(alternative.address)
    if served.counts["bad_choices"]:
        observed = Observation(alternative)
        run(observed.policy.address)
        observed.check()
    return served


def _metrics(served: Served) -> Iterator[tuple[str, str, float | None]]:
    """Yield name, unit and value of METRICS, and of the fallbacks of each order."""
    found = figures_of(served)
    asked, got = (served.by_order[name] for name in ("requests", "granted"))
    free = [(lists[0], sum(lists)) for _, _, lists in served.samples]
    values = {name: found[column] for name, column in _COLUMNS.items()} | {
        "fallbacks": _percent(sum(asked[1:]) - sum(got[1:]), sum(asked[1:])),
        "free clusters": _percent(sum(n for n, _ in free), sum(n for _, n in free)),
    }
    yield from ((name, metric.unit, values[name]) for name, metric in METRICS.items())
    for order, requests in enumerate(asked):
        if order and requests:
            yield f"fallbacks of order {order}", "%", _percent(requests - got[order], requests)


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _changes(measures: pl.DataFrame) -> pl.DataFrame:
    """Return the ``change`` from the figures of 7.3 on the same stream."""
    keys = ["stream", "seed", "metric"]
    base = measures.filter(policy=BASE).select(*keys, base="value")
    joined = measures.join(base, on=keys, how="left", maintain_order="left")
    return joined.with_columns(change=pl.col("value") - pl.col("base"))


def rank(
    policies: ListPolicy | Sequence[ListPolicy], *, seeds: int = SEEDS, progress: bool = False
) -> pl.DataFrame:
    """Rank one's own choices of lists among changes of the rules of 7.3.

    Each is served the same requests: ``seeds`` generated streams, of which the ranking is, and four
    shipped recordings, which are too few and too different for a median.

    Parameters
    ----------
    policies : ListPolicy or sequence of ListPolicy
        Made by `swapsim.list_policy`; `swapsim.policies.policies_in` reads those of a file.
    seeds : int
        At least 1; of fewer than 5 nothing is ranked.
    progress : bool
        Whether a bar is shown.

    Returns
    -------
    polars.DataFrame
        A row for each rule, the fewest fallbacks first; rules that are equal in all generated
        streams share one. ``rule``; ``user``, whether it is one's own; the median changes from the
        rules of 7.3, stream by stream: ``fallbacks`` (points of the large requests that are split),
        ``visits, moves, si_lock, cluster_lock, visits_after_another_CPU`` (for each run granted),
        ``in_sequence, mixed, free_clusters`` (points); the change of ``fallbacks`` on each
        recording, such as ``full-4``; and the place in each metric, such as ``fallbacks_rank``. One
        rule is above another if the interval of the median of their differences excludes 0, and
        "1-3" are the places that this allows.

    Raises
    ------
    InputError
        Two policies have one name, or one has that of an alternative; or a policy raises, does not
        end or returns no choice, with its line.

    Source
    ------
    mm/swapfile.c: cluster_alloc_swap_entry (7.3), and the changes that `ALTERNATIVES` lists.

    Examples
    --------
    >>> import polars as pl
    >>> import swapsim
    >>> from swapsim import clusters
    >>> from swapsim.policies import FREE, LARGER
    >>> @swapsim.list_policy()
    ... def free_or_larger(free):
    ...     return FREE if free else LARGER
    >>> ranked = clusters.rank(free_or_larger, seeds=1)
    >>> ranked.filter("user").select("rule", pl.col("full-4").round(1)).row(0)
    ('free_or_larger', 37.1)
    """
    chosen = [policies] if isinstance(policies, ListPolicy) else [*policies]
    check_number("seeds", seeds, 1)
    every: list[Alternative | ListPolicy] = [*ALTERNATIVES, *chosen]
    named = [each.name for each in every]
    for name in named:
        if named.count(name) > 1:
            raise InputError(f"two policies are called {name}: rename one", field="policies")
    changes = _changes(measure(default_streams(seeds), every, progress=progress))
    names = {name: name.replace("->", "_").replace(" ", "_") for name in METRICS}
    values = changes.filter(pl.col("seed") > 0).select(
        pl.col("metric").replace(names), "policy", "seed", value="change"
    )
    declared = {names[name]: metric for name, metric in METRICS.items()}
    table = study.rank_table(values, declared, [each.name for each in ALTERNATIVES])
    recorded = changes.filter(seed=0, metric="fallbacks").select(
        "policy", pl.col("stream").str.strip_prefix(_RECORDED), "change"
    )
    places = [f"{name}_rank" for name in declared]
    return (
        table.with_columns(policy=pl.col("rule").str.split(", ").list.first())
        .join(
            recorded.pivot("stream", index="policy", values="change", maintain_order=True),
            on="policy",
            maintain_order="left",
        )
        .select(pl.exclude("policy", *places), *places)
    )


# A generated stream, in which the group of each task is known. Fixed before the first run:

_CPUS, _TASKS, CHURN_GROUPS = 8, 12, 3
"""CPUs, tasks at a time, and their groups."""

_ORDERS: Final = (0,) * 24 + (2,) * 4 + (4,) * 8 + (9,)
"""Orders of requests, each as often as it occurs here."""

_SHARE: Final = 2048  # slots that a task takes before it gives some back
_REQUESTS: Final = 20_000  # requests of a stream

_MOVES, _ENDS, _PARTS = 0.02, 0.002, 0.3
"""Chances: that a task has changed CPU, that it ends, and that it frees a part of a folio."""


class _Task:
    """A task: its number, group and CPU, and the runs of slots that it has."""

    def __init__(self, pid: int, group: int, cpu: int) -> None:
        self.pid, self.group, self.cpu = pid, group, cpu
        self.runs: list[tuple[int, int]] = []
        self.slots = 0


def churn(seed: int, *, requests: int = _REQUESTS) -> tuple[ClusterRows, dict[int, int]]:
    """Generate a stream of requests and frees, and the group of each task (pid).

    A task takes folios of several orders up to its share, gives back some of them, whole or in
    part, and ends now and then; another one of its group, such as a memory cgroup, follows.
    """
    random, rows, after = Random(seed), list[dict[str, Any]](), 0

    def row(op: str, **fields: int) -> None:
        rows.append({"seq": len(rows) + 1, "cpu": task.cpu, "pid": task.pid, "op": op, **fields})

    def free(slot: int, n: int) -> None:
        row("free", device=0, slot=slot, n=n)
        task.slots -= n

    tasks = [_Task(number, number % CHURN_GROUPS, number % _CPUS) for number in range(_TASKS)]
    groups = {task.pid: task.group for task in tasks}
    for _ in range(requests):
        at = random.randrange(_TASKS)
        task = tasks[at]
        if random.random() < _MOVES:
            task.cpu = random.randrange(_CPUS)
        order = random.choice(_ORDERS)
        n = 1 << order
        slot = -(-max(after, 1) // n) * n
        after = slot + n
        row("call", n=1, order=order)
        row("grant", device=0, slot=slot, n=n)
        row("done", n=1)
        task.runs.append((slot, n))
        task.slots += n
        while task.slots > _SHARE:
            slot, n = task.runs.pop(random.randrange(len(task.runs)))
            if n > 1 and random.random() < _PARTS:
                page = random.randrange(n)
                free(slot + page, 1)
                rest = ((slot, page), (slot + page + 1, n - page - 1))
                task.runs += [run for run in rest if run[1]]
            else:
                free(slot, n)
        if random.random() < _ENDS:
            for slot, n in task.runs:
                free(slot, n)
            tasks[at] = _Task(len(groups), task.group, task.cpu)
            groups[len(groups)] = task.group
    slots = -(-(after + 1) // CLUSTER_SIZE_MAX) * CLUSTER_SIZE_MAX
    # seq, device, slots, priority; file, hard disk, discard; cluster size, rules.
    device = (0, 0, slots, -1, False, False, False, CLUSTER_SIZE_MAX, "7.3")
    made = ClusterRows(
        events=pl.DataFrame(rows, schema=CLUSTER_EVENTS),
        devices=pl.DataFrame([device], schema=CLUSTER_DEVICES, orient="row"),
    )
    return made, groups
