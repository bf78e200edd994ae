# SPDX-License-Identifier: GPL-2.0-or-later
"""A panel with a setting: what a notebook shows and stores of it, and its rows in Python.

In JupyterLab it is a widget that computes in the browser, also when the kernel has ended. A stored
notebook has a picture and JSON: the setting and the figures, which nbval compares.
"""

import base64
import os
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import polars as pl

from swapsim.charts.theme import plain_numbers, png
from swapsim.checks import check_choice, checked
from swapsim.live import panel as engine
from swapsim.progress import WIDGET

NAMES: Final = ("tags", "locks", "stalls", "trunks", "bases", "lists", "generations")
"""The panels, in the order of their questions: each is a module of `swapsim.live.panels`."""

MIME: Final = "application/vnd.swapsim.live+json"
"""What a stored notebook has of a panel: its name, its setting and its figures."""


class LivePanel:
    """A panel of this notebook: turn its controls, or read its setting and its rows in Python."""

    def __init__(self, name: str, turned: Mapping[str, object]) -> None:
        check_choice("name", name, NAMES)
        self.panel: engine.Panel = import_module(f"swapsim.live.panels.{name}").panel()
        self.setting = engine.setting_of(self.panel, turned)

    def __repr__(self) -> str:
        """Return the call that gives the panel with its setting."""
        turned = "".join(f", {name}={value!r}" for name, value in self.setting.items())
        return f"live.panel({self.panel.name!r}{turned})"

    @property
    def config(self) -> list[engine.Fields]:
        """Return the config of each run of the setting, with the first seed."""
        return [config for _, config in engine.configs(self.panel, self.setting, 1)]

    @property
    def python(self) -> str:
        """Return Python that runs the same configs."""
        return engine.as_python(self.panel, self.setting)

    def frame(self) -> pl.DataFrame:
        """Return the rows of the setting, computed by the native library."""
        return engine.run(self.panel, self.setting)

    def figures(self) -> list[str]:
        """Return the figures below the chart, computed by the native library."""
        return engine.figures(self.panel, self.frame())

    def picture(self) -> bytes:
        """Return a picture of the chart (PNG), computed by the native library."""
        data = {engine.ROWS: self.frame().to_dicts()}
        chart = dict(self.panel.chart)
        return png(chart | {"datasets": chart.get("datasets", {}) | data})

    def for_page(self) -> dict[str, Any]:
        """Return all that a page needs to show the panel with this setting."""
        return {**engine.as_json(self.panel), "setting": self.setting}

    @cached_property
    def widget(self) -> Any:
        """The widget of JupyterLab; what is turned in the browser becomes the setting."""
        from swapsim.live.widget import widget

        made = widget(self.for_page())
        made.observe(lambda change: self.setting.update(change.new), "setting")
        return made

    def stored(self) -> dict[str, Any]:
        """Return what a stored notebook has of the panel without its picture, by MIME type."""
        figures = self.figures()
        stored = {"panel": self.panel.name, "setting": dict(self.setting), "figures": figures}
        return {
            MIME: plain_numbers(stored),
            "text/plain": "\n".join((self.panel.question, *figures)),
        }

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        if os.environ.get("SWAPSIM_PICTURES") == "no":
            return self.stored()
        shown = self.widget._repr_mimebundle_()[0][WIDGET]
        picture = base64.b64encode(self.picture()).decode()
        return {**self.stored(), "image/png": picture, WIDGET: shown}


@checked
def panel(name: str, **turned: object) -> LivePanel:
    """Return one of the panels NAMES: as it is first, or with some of its controls turned.

    Examples
    --------
    >>> from swapsim import live
    >>> shown = live.panel("locks")
    >>> sorted(shown.setting)
    ['far', 'hold', 'kind', 'near', 'think']
    """
    return LivePanel(name, turned)
