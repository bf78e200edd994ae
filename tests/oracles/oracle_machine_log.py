# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain model of machine_log.h: the clock of oracle_des, which records what it does.

The C log derives the spans that end with each event; here the locks report them.
"""

from typing import NamedTuple

from oracle_des import Ask, Des

WAIT, HOLD = 0, 1
NONE = 2**32 - 1


class Span(NamedTuple):
    """The fields of ``struct sws_span``, as far as both have them."""

    start: int
    end: int
    kind: int
    cpu: int
    site: int
    lock: int
    holder: int


class LoggedDes(Des):
    """Notes each wait when its end is known, and each hold when it ends."""

    spans: list[Span]
    behind: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, des: Des) -> "LoggedDes":
        """Turn a clock at its beginning into one that notes."""
        des.__class__ = cls
        assert isinstance(des, cls)
        des.spans, des.behind = [], {}
        return des

    def begin_again(self) -> None:
        """Forget the spans; the holder of a current wait is the current holder of its lock."""
        self.spans.clear()
        for number, lock in enumerate(self.locks):
            for ask in lock.waiters:
                assert lock.holder is not None
                self.behind[ask.cpu] = (number, lock.holder.cpu)

    def lock(self, cpu: int, number: int, site: int, irq_save: bool) -> int:
        """Note behind whom a CPU comes."""
        holder = self.locks[number].holder
        self.behind[cpu] = (number, NONE if holder is None else holder.cpu)
        return super().lock(cpu, number, site, irq_save)

    def interrupt(self, cpu: int, other: int, sent: int, site: int) -> int:
        """Note whom a CPU waits for, if it has to."""
        waits = not self.has_interrupts_on(other) and self.interrupts_on[other] == sent
        self.behind[cpu] = (NONE, other if waits else NONE)
        return super().interrupt(cpu, other, sent, site)

    def unlock(self, cpu: int, number: int) -> int:
        """Note the hold that ends."""
        lock = self.locks[number]
        assert lock.holder is not None
        span = Span(lock.had_since, self.now, HOLD, cpu, lock.holder.site, number, NONE)
        self.spans.append(span)
        return super().unlock(cpu, number)

    def _end_wait(self, ask: Ask, had: int) -> None:
        self.spans.append(Span(ask.since, had, WAIT, ask.cpu, ask.site, *self.behind[ask.cpu]))
        super()._end_wait(ask, had)
