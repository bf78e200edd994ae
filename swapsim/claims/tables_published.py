# SPDX-License-Identifier: GPL-2.0-or-later
"""What was published: the mails' tables and claims, what judges them, and the patches' cards.

Columns
-------
mail : the mail, by its name in data/published/mails.csv
locator : where it is printed: ``table | row | kernel``, for a claim ``where | row | base kernel ->
    value kernel``
parameters : the test's settings, as ``name=value`` pairs
printed : the figure's text as printed
decimals : digits after the point
stddev_percent : relative standard deviation, where one is printed
change_percent_printed, change_percent : the percentage printed beside the cell, as text; as a
    number
better : whether higher or lower is better
CLAIMS.base : the figure without the change
CLAIMS.value : the figure with the change
change [%] : from base to value; positive is more
error [points] : one standard deviation of the change, in points
TOLERANCES.tolerance : in percentage points of the change; without a change, in the value's unit
WORLD_TOLERANCES.metric : a row of the table
per : whether figures are compared for the whole run or per second
nothing : a printed cell up to this counts as zero
points : how far the change from mmotm to the series may be from the printed one
collapse : only 3.9 falls below this share of its rate without a file
title : the patch in one line
author : who wrote the patch
date : when it was posted
message_id : message id of the patch's mail
fate : what became of it
before, after : the kernel without the patch; the kernel with it
claims : names of its claims
headlines : the claims that README shows, each with its words there
contradicted : claims in prose that the mail's own tables contradict
model : headers and functions that model it
not_modelled : what is left out
body : the card's text, markdown
hand : first, if copied from the mail; second, if from notes on it
message : its message id, or another name for it
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of

BETTER: Final = pl.Enum(["higher", "lower", "neither"])
"""Which direction of a metric is the better one."""

PUBLISHED: Final = schema_of(
    {
        "patch": pl.String,
        "mail": pl.String,
        "locator": pl.String,
        "table": pl.String,
        "metric": pl.String,
        "parameters": pl.String,
        "kernel": pl.String,
        "value": pl.Float64,
        "printed": pl.String,
        "decimals": pl.UInt8,
        "stddev_percent": pl.Float64,
        "change_percent_printed": pl.String,
        "change_percent": pl.Float64,
        "unit": pl.String,
        "better": BETTER,
    }
)
"""One row per printed cell of a mail's table (data/published)."""

HAND: Final = pl.Enum(["first", "second"])
"""Where a mail's figures are from: copied from its text, or as they were noted when it was read."""

MAILS: Final = schema_of(
    {"mail": pl.String, "patch": pl.String, "hand": HAND, "message": pl.String}
)
"""One row per mail whose figures are in data/published."""

CLAIMS: Final = schema_of(
    {
        "claim": pl.String,
        "patch": pl.String,
        "mail": pl.String,
        "locator": pl.String,
        "metric": pl.String,
        "base": pl.Float64,
        "value": pl.Float64,
        "change": pl.Float64,
        "error": pl.Float64,
        "unit": pl.String,
    }
)
"""One row per published claim, in a table or in prose, against its own base.

``change`` is ``100 * (value - base) / base`` in percent with its plain sign (as the mail prints
it, where it does), ``error`` one standard deviation of it in points. ``locator`` reads
``table | row | base kernel -> value kernel``; the kernels are the labels of PUBLISHED and RESULTS.
"""

TOLERANCES: Final = schema_of({"claim": pl.String, "tolerance": pl.Float64, "note": pl.String})
"""How far a result may lie from a claim's change (points) or, without one, from its value."""

STANDING: Final = pl.Enum(["fitted", "modelled", "not modelled"])
"""What a world says of a row; fitted: 3.9's cell was there to fit constants on."""

WORLD_TOLERANCES: Final = schema_of(
    {
        "table": pl.String,
        "metric": pl.String,
        "standing": STANDING,
        "per": pl.Enum(["run", "second"]),
        "nothing": pl.Float64,
        "points": pl.Float64,
        "collapse": pl.Float64,
        "note": pl.String,
    }
)
"""What judges each row of patch 03's tables in its world; data/published/README.md has the rules.

A cell up to ``nothing`` is none. ``points`` is how far the change from mmotm to the series may lie
from the printed one, ``collapse`` the share of the round without a file that 3.9 alone falls below.
"""

CARDS: Final = schema_of(
    {
        "patch": pl.String,
        "title": pl.String,
        "author": pl.String,
        "date": pl.String,
        "message_id": pl.String,
        "fate": pl.String,
        "before": pl.String,
        "after": pl.String,
        "claims": pl.List(pl.String),
        "headlines": pl.List(pl.String),
        "contradicted": pl.List(pl.String),
        "model": pl.List(pl.String),
        "not_modelled": pl.List(pl.String),
        "body": pl.String,
    }
)
"""One row per patch card; a headline is a claim that README leads with, and its words."""

COMPARISON: Final = schema_of(
    {
        "metric": pl.String,
        "kernel": pl.String,
        "value": pl.Float64,
        "decimals": pl.UInt8,
        "stddev_percent": pl.Float64,
        "better": BETTER,
    }
)
"""What a printed comparison is made of: one row per metric and kernel, the base kernel first."""
