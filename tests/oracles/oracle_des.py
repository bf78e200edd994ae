# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, plain model of des.h: a list of events, a list of waiters, a log of intervals.

The next event is found by a search of all events, a lock's next holder by a search of all waiters,
and a CPU's time is the sum of its logged intervals. It shares no code with the C library.
"""

from collections import Counter
from dataclasses import dataclass, field

OK, BAD_ARGUMENT = 0, -3
QUEUED, TEST_AND_SET, TICKET = 0, 1, 2


@dataclass(kw_only=True)
class Config:
    """The fields of ``struct sws_des_config``."""

    cpus: int = 1
    cpus_per_core: int = 1
    cpus_per_socket: int = 1
    sites: int = 1
    travel_same_core_ns: int = 5
    travel_same_socket_ns: int = 30
    travel_other_socket_ns: int = 90
    irq_save_ns: int = 0
    hand_off_ways: int = 3
    contended_ns: int = 0


@dataclass
class Ask:
    """One CPU's wish for a lock."""

    cpu: int
    site: int
    irq_save: bool
    since: int


@dataclass
class Lock:
    """A lock: who has it, since when, who had it last, and who wants it, in order."""

    kind: int
    holder: Ask | None = None
    had_since: int = 0
    last_holder: int | None = None
    waiters: list[Ask] = field(default_factory=list)


class Des:
    """The clock, the events and the locks."""

    def __init__(self, config: Config) -> None:
        """Begin at time 0, all CPUs idle."""
        self.config = config
        self.now = 0
        self.made = 0
        self.events: list[tuple[int, int, int]] = []
        self.locks: list[Lock] = []
        self.sites = [Counter[str]() for _ in range(config.sites)]
        self.log: list[list[tuple[str, int, int]]] = [[] for _ in range(config.cpus)]
        self.covered = [0] * config.cpus
        self.callers: list[tuple[Ask, int]] = []
        self.interrupts_on = [0] * config.cpus
        self.crowded: set[int] = set()

    def add_locks(self, kind: int, n: int) -> int:
        """Add locks and return the first one's number."""
        self.locks += [Lock(kind) for _ in range(n)]
        return len(self.locks) - n

    def idle(self, cpu: int) -> bool:
        """Return whether a CPU has no event and waits for no lock."""
        return (
            0 <= cpu < self.config.cpus
            and cpu not in [event[2] for event in self.events]
            and cpu not in [ask.cpu for lock in self.locks for ask in lock.waiters]
            and cpu not in [ask.cpu for ask, _ in self.callers]
        )

    def holds(self, cpu: int, lock: Lock) -> bool:
        """Return whether a CPU has a lock."""
        return lock.holder is not None and lock.holder.cpu == cpu

    def holds_any(self, cpu: int) -> bool:
        """Return whether a CPU has any lock."""
        return any(self.holds(cpu, lock) for lock in self.locks)

    def next(self) -> int | None:
        """Take the event of the least time, of several the one made first."""
        if not self.events:
            return None
        event = min(self.events)
        self.events.remove(event)
        self.now = event[0]
        return event[2]

    def run(self, cpu: int, ns: int) -> int:
        """Let an idle CPU run."""
        if not self.idle(cpu):
            return BAD_ARGUMENT
        self._was_idle(cpu)
        held = self.holds_any(cpu)
        if cpu in self.crowded:
            ns += self.config.contended_ns
        self.crowded.discard(cpu)
        self._spend(cpu, "hold" if held else "run", self.now + ns)
        self._make(cpu, self.now + ns)
        return OK

    def lock(self, cpu: int, number: int, site: int, irq_save: bool) -> int:
        """Let an idle CPU ask for a lock."""
        if not self.idle(cpu) or number >= len(self.locks) or site >= self.config.sites:
            return BAD_ARGUMENT
        lock = self.locks[number]
        if self.holds(cpu, lock):
            return BAD_ARGUMENT
        self._was_idle(cpu)
        ask = Ask(cpu, site, irq_save, self.now)
        if lock.holder is None:
            self._grant(lock, ask, moves=1)
        else:
            self.sites[site]["contended"] += 1
            lock.waiters.append(ask)
        return OK

    def unlock(self, cpu: int, number: int) -> int:
        """Let an idle CPU give a lock back."""
        if not self.idle(cpu) or number >= len(self.locks):
            return BAD_ARGUMENT
        lock = self.locks[number]
        if not self.holds(cpu, lock):
            return BAD_ARGUMENT
        assert lock.holder is not None
        self._was_idle(cpu)
        site, held = self.sites[lock.holder.site], self.now - lock.had_since
        site["hold_ns"] += held
        site["longest_hold_ns"] = max(site["longest_hold_ns"], held)
        saved, lock.last_holder, lock.holder = lock.holder.irq_save, cpu, None
        if not self.holds_any(cpu):
            self.crowded.discard(cpu)
        if lock.waiters:
            moves = {
                QUEUED: self.config.hand_off_ways,
                TEST_AND_SET: len(lock.waiters),
                TICKET: 1 + -(-len(lock.waiters) // 2),
            }[lock.kind]
            ask = lock.waiters[0]
            if lock.kind == TEST_AND_SET:
                ask = min(lock.waiters, key=lambda waiter: self.travel(cpu, waiter.cpu))
            lock.waiters.remove(ask)
            self._grant(lock, ask, moves)
        self.interrupts_on[cpu] += saved and self.has_interrupts_on(cpu)
        for ask, other in list(self.callers):
            if self.has_interrupts_on(other):
                self.callers.remove((ask, other))
                self._end_wait(ask, self.now)
        return OK

    def has_interrupts_on(self, cpu: int) -> bool:
        """Return whether a CPU neither has nor wants a lock with interrupts off."""
        asks = [ask for lock in self.locks for ask in (lock.holder, *lock.waiters) if ask]
        return not any(ask.cpu == cpu and ask.irq_save for ask in asks)

    def interrupt(self, cpu: int, other: int, sent: int, site: int) -> int:
        """Let an idle CPU wait until another has taken its interrupt."""
        if not self.idle(cpu) or cpu == other or not 0 <= other < self.config.cpus:
            return BAD_ARGUMENT
        if site >= self.config.sites or not self.has_interrupts_on(cpu):
            return BAD_ARGUMENT
        self._was_idle(cpu)
        ask = Ask(cpu, site, irq_save=False, since=self.now)
        if self.has_interrupts_on(other) or self.interrupts_on[other] != sent:
            self._end_wait(ask, self.now)
        else:
            self.sites[site]["contended"] += 1
            self.callers.append((ask, other))
        return OK

    def travel(self, start: int | None, end: int) -> int:
        """Return how long a line takes from one CPU to another."""
        if start is None or start == end:
            return 0
        if start // self.config.cpus_per_core == end // self.config.cpus_per_core:
            return self.config.travel_same_core_ns
        if start // self.config.cpus_per_socket == end // self.config.cpus_per_socket:
            return self.config.travel_same_socket_ns
        return self.config.travel_other_socket_ns

    def account(self, cpu: int) -> dict[str, int]:
        """Add up what a CPU was logged in."""
        sums = {"run_ns": 0, "hold_ns": 0, "wait_ns": 0, "idle_ns": 0}
        for kind, start, end in self.log[cpu]:
            sums[f"{kind}_ns"] += end - start
        return sums

    def _grant(self, lock: Lock, ask: Ask, moves: int) -> None:
        had = self.now + self.travel(lock.last_holder, ask.cpu) * moves
        had += self.config.irq_save_ns if ask.irq_save else 0
        self.sites[ask.site]["moved"] += lock.last_holder not in (None, ask.cpu)
        lock.holder, lock.had_since = ask, had
        if lock.waiters:
            self.crowded.add(ask.cpu)
        self._end_wait(ask, had)

    def _end_wait(self, ask: Ask, had: int) -> None:
        site = self.sites[ask.site]
        site["acquisitions"] += 1
        site["wait_ns"] += had - ask.since
        site["longest_wait_ns"] = max(site["longest_wait_ns"], had - ask.since)
        self._spend(ask.cpu, "wait", had)
        self._make(ask.cpu, had)

    def _make(self, cpu: int, time: int) -> None:
        self.events.append((time, self.made, cpu))
        self.made += 1

    def _was_idle(self, cpu: int) -> None:
        self._spend(cpu, "idle", self.now)

    def _spend(self, cpu: int, kind: str, until: int) -> None:
        self.log[cpu].append((kind, self.covered[cpu], until))
        self.covered[cpu] = until
