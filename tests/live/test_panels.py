# SPDX-License-Identifier: GPL-2.0-or-later
"""Each panel: its rows and its texts are the same in a page and in Python, for drawn settings."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import engines
import polars as pl
import pytest

from swapsim import live
from swapsim.errors import ConfigError
from swapsim.live import script
from swapsim.live.panel import as_python, configs, run, setting_of
from swapsim.live.panel import figures as figures_of
from swapsim.live.shown import NAMES

DRAWN = 12
"""Settings of each panel that are drawn, next to its first one."""

PAGE = """
settings.map((setting) => {
  try {
    const rows = swapsim.configs.run(core, panel, setting, 1);
    const python = swapsim.live.asPython(panel, setting);
    const twice = rows.map((row) => ({ ...row, value: row.value == null ? null : 2 * row.value }));
    const figures = [rows, [...rows, ...twice]].map((each) => swapsim.live.figures(panel, each));
    return { rows, figures, python };
  } catch (error) {
    return { error: error.message };
  }
})
"""


def settings(shown: live.LivePanel) -> Iterator[dict[str, str]]:
    """Give the first setting, and some that are drawn."""
    yield shown.panel.first
    draw = random.Random(shown.panel.name)
    for _ in range(DRAWN):
        yield {each.name: draw.choice([*each.sets]) for each in shown.panel.controls}


def natively(shown: live.LivePanel, setting: dict[str, str]) -> dict[str, Any]:
    """Return what the library says of a setting with the first seed."""
    try:
        rows = run(shown.panel, setting, [1])
    except ConfigError as error:
        return {"error": str(error)}
    both = pl.concat([rows, rows.with_columns(value=2 * pl.col("value"))])
    figures = [figures_of(shown.panel, each) for each in (rows, both)]
    found = {"rows": rows.to_dicts(), "figures": figures}
    return found | {"python": as_python(shown.panel, setting)}


@pytest.mark.skipif(engines.NODE is None, reason="node is not installed, so no panel is compared")
@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_python_says(name: str) -> None:
    """Rows bit for bit, figures and Python text letter for letter; a refusal is one, too.

    The figures are those of one seed, and medians with a second one whose values are twice as high.
    """
    shown = live.panel(name)
    chosen = list(settings(shown))
    parts = [script.text(part) for part in ("configs.js", "panel.js")]
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


@pytest.mark.parametrize("name", NAMES)
def test_python_of_a_setting_runs(name: str) -> None:
    """The copied text gives the rows of the first case."""
    shown = live.panel(name)
    lines = as_python(shown.panel, shown.setting).splitlines()
    space: dict[str, Any] = {}
    exec(lines[0], space)
    call = next(line for line in lines[1:] if not line.startswith("#"))
    assert eval(call, space) is not None
    assert len(lines) > len(configs(shown.panel, shown.setting, 1))


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_and_figures_are_of_the_first_setting(name: str) -> None:
    """What is stored has each figure, none of them missing."""
    stored = live.panel(name).stored()[live.MIME]
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
    with pytest.raises(ConfigError, match=says):
        setting_of(live.panel("tags").panel, turned)


def test_a_frame_has_all_seeds() -> None:
    """The band is over five seeds, and the first is what is drawn at once."""
    frame = live.panel("tags").frame()
    assert frame["seed"].unique().sort().to_list() == [1, 2, 3, 4, 5]
    assert isinstance(frame, pl.DataFrame)
