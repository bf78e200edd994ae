# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of what each change of the machine does to every figure."""

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted
from swapsim.machine.tables import EFFECTS, FIT
from swapsim.patches.writeback_tags import compare_effects, effects, prediction, swap_series


def test_each_figure_stands_next_to_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One change at one share: both gains, six rows of the mail, and the series' rows."""
    found = change_costs(costs(), {"unmap_ns": 6265, "tree_ns": 648, "tag_ns": 65, "map_ns": 158})
    fitted = Fitted(constants=found, residuals=pl.DataFrame(schema=FIT.schema), converged=True)
    monkeypatch.setattr(prediction, "fit", lambda **_given: fitted)
    monkeypatch.setattr(prediction, "swapped_share", lambda _constants: 0.577)
    rows = effects.effects_at("three lines of the device", 0.24)
    table = compare_effects(rows)
    assert table.schema == EFFECTS.schema
    assert table["change"].unique().to_list() == ["three lines of the device"]
    assert not table["published"].is_null().any()
    gains = table.filter(pl.col("metric").str.starts_with("gain of"))
    assert [round(value, 1) for value in gains["published"]] == [28.1, 22.3]
    assert gains["simulated"].min() > 0  # type: ignore[operator]
    steps = table.filter(pl.col("kernel").is_in(list(swap_series.STEPS)))
    assert steps.height == 4 + sum(map(len, swap_series.ROWS.values())) + 2


def test_an_unknown_change_is_refused() -> None:
    """The message lists the changes."""
    with pytest.raises(InputError, match="field 'change': 'exit': choose one of complete life"):
        effects.effects("exit")
