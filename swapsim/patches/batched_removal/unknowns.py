# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch B's mail leaves open, and what of it decides: each combination is a point."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.costs import change_costs, costs

TAG_SHARES: Final = (0.01, 0.1, 1.0)
"""``tag_ns / tree_ns``: the ends of what patch A's base leaves open, and their geometric middle."""

NEXT_SHARES: Final = (0.1, 0.3, 1.0)
"""``tree_next_ns / tree_ns``: what a removal costs that is not the first of its hold. At 1 a hold
is the sum of its removals; below, the mapping's lines and the tree's nodes stay in the cache."""

_BASES: Final = {
    0.01: {"unmap_ns": 7844, "tree_ns": 949, "tag_ns": 9, "map_ns": 332},
    0.1: {"unmap_ns": 8045, "tree_ns": 871, "tag_ns": 87, "map_ns": 305},
    1.0: {"unmap_ns": 9164, "tree_ns": 482, "tag_ns": 482, "map_ns": 169},
}
"""Constants with which the machine meets patch A's base, by tag share, with what the swap series of
2017 tells of si->lock: no other real machine tells of 4.8's locks. A test makes them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One answer to all that the mail does not say.

    Attributes
    ----------
    tag_share : float
        Of TAG_SHARES.
    next_share : float
        ``tree_next_ns / tree_ns``, above 0, at most 1.
    again : bool
        As for `machines.machine`.
    """

    tag_share: float
    next_share: float
    again: bool = False


MIDDLE: Final = Point(tag_share=0.1, next_share=0.3)
"""The point of single figures: headlines and what-ifs. Its shares are the middle ones."""


def points() -> Iterator[Point]:
    """Yield all that is left open, one combination after another."""
    for tag_share, next_share, again in itertools.product(TAG_SHARES, NEXT_SHARES, (False, True)):
        yield Point(tag_share=tag_share, next_share=next_share, again=again)


def constants_at(point: Point) -> pl.DataFrame:
    """Return the constants of a point: patch A's base, on memory that is uniform.

    Parameters
    ----------
    point : Point

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS.

    Raises
    ------
    InputError
        Patch A's base was not fitted there.
    """
    base = _BASES.get(point.tag_share)
    if base is None:
        raise InputError(f"tag_share={point.tag_share}: choose of {TAG_SHARES}", field="point")
    known = dict(costs().select("name", "value").iter_rows())
    return change_costs(
        costs(),
        base
        | {
            "tree_next_ns": max(round(point.next_share * base["tree_ns"]), 1),
            "travel_other_socket_ns": known["travel_same_socket_ns"],
        },
    )
