# SPDX-License-Identifier: GPL-2.0-or-later
"""Each panel: its rows and its texts are the same in a page and in Python, for drawn settings."""

import json
import math
import random
from collections.abc import Iterator
from statistics import median
from typing import Any

import engines
import polars as pl
import pytest

from swapsim import live
from swapsim.errors import InputError
from swapsim.live import NAMES
from swapsim.live.description import figures as figures_of
from swapsim.live.description import run, setting_of
from swapsim.live.shown import MIME, LivePanel, text

DRAWN = 12
"""Settings of each panel that are drawn, next to its first one."""

PAGE = """
settings.map((setting) => {
  try {
    const rows = swapsim.configs.run(core, panel, setting, 1);
    const python = swapsim.live.python(panel, setting);
    const twice = rows.map((row) =>
      ({ ...row, seed: 2, value: row.value == null ? null : 2 * row.value }));
    const figures = [rows, [...rows, ...twice]].map((each) => swapsim.live.figures(panel, each));
    return { rows, figures, python };
  } catch (error) {
    return { error: error.message };
  }
})
"""


def settings(shown: LivePanel) -> Iterator[dict[str, str]]:
    """Give the first setting, and some that are drawn."""
    yield shown.panel.first
    draw = random.Random(shown.panel.name)
    for _ in range(DRAWN):
        yield {each.name: draw.choice([*each.sets]) for each in shown.panel.controls}


def natively(shown: LivePanel, setting: dict[str, str]) -> dict[str, Any]:
    """Return what the library says of a setting with the first seed."""
    try:
        rows = run(shown.panel, setting, [1])
    except InputError as error:
        return {"error": str(error)}
    more = rows.with_columns(value=2 * pl.col("value"), seed=pl.lit(2, pl.Int32))
    both = pl.concat([rows, more])
    figures = [figures_of(shown.panel, each) for each in (rows, both)]
    found = {"rows": rows.to_dicts(), "figures": figures}
    return found | {"python": live.panel(shown.panel.name, **setting).python}


@pytest.mark.skipif(engines.NODE is None, reason="node is not installed, so no panel is compared")
@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_python_says(name: str) -> None:
    """Rows bit for bit, figures and Python text letter for letter; a refusal is one, too.

    The figures are those of one seed, and medians with a second one whose values are twice as high.
    """
    shown = live.panel(name)
    chosen = list(settings(shown))
    parts = [text(part) for part in ("configs.js", "panel.js")]
    parts.append(f"const panel = {json.dumps(shown.for_page())};")
    found = engines.in_node(chosen, "\n".join(parts), PAGE)
    expected = [natively(shown, setting) for setting in chosen]
    assert [plain(each) for each in found] == [plain(each) for each in expected]


def plain(value: Any) -> Any:
    """Return JSON in which a whole number is an int, in JavaScript's and in Python's."""
    return json.loads(json.dumps(value), parse_float=number)


def number(text: str) -> float | int:
    """Return a number of JSON."""
    value = float(text)
    return int(value) if math.isfinite(value) and value.is_integer() else value


def test_python_of_a_turned_setting_returns_its_rows() -> None:
    """The copied text has what is turned alone."""
    shown = live.panel("stalls", dirty=8, caller="direct reclaim, priority 12")
    *lines, call = shown.python.splitlines()
    assert repr(shown) == "live.panel('stalls', dirty='8', caller='direct reclaim, priority 12')"
    exec("\n".join(lines), found := {})
    assert eval(call, found).equals(shown.frame())
    assert shown.figures() != live.panel("stalls").figures()


def test_the_change_of_tags_is_the_dot_of_its_chart() -> None:
    """Both are the median of the changes of each seed."""
    shown = live.panel("tags")
    rates = shown.frame().filter(metric="swap_out").pivot("tags", index="seed", values="value")
    changes = (100 * (rates["no tags"] / rates["tags kept"] - 1)).to_list()
    assert shown.figures()[0] == f"without tags: {median(changes):+.1f} %"


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_and_figures_are_of_the_first_setting(name: str) -> None:
    """What is stored has each figure, none of them missing."""
    stored = live.panel(name).stored()[MIME]
    assert stored["setting"] == live.panel(name).panel.first
    assert stored["figures"]
    assert not [line for line in stored["figures"] if line.endswith(": none")]


def test_a_page_begins_with_the_setting_of_its_notebook() -> None:
    """A panel that a notebook shows with a turned knob has this setting at first in a page."""
    shown = live.panel("trunks", policy="percpu")
    assert shown.for_page()["first"] == shown.panel.first | {"policy": "percpu"}


@pytest.mark.parametrize(
    ("turned", "says"), [({"wheels": 4}, "wheels"), ({"writers": 9}, "writers")]
)
def test_an_unknown_control_or_value_is_refused(turned: dict[str, object], says: str) -> None:
    """One line names what is wrong."""
    with pytest.raises(InputError, match=says):
        setting_of(live.panel("tags").panel, turned)


def test_a_frame_has_all_seeds() -> None:
    """The band is over five seeds, and the first is what is drawn at once."""
    frame = live.panel("tags").frame()
    assert frame["seed"].unique().sort().to_list() == [1, 2, 3, 4, 5]
    assert isinstance(frame, pl.DataFrame)
