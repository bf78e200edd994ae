# SPDX-License-Identifier: GPL-2.0-or-later
"""The fit of patch A reads only the base column, and meets it."""

import polars as pl
import pytest

from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import prediction
from swapsim.published.data import published_tables


def test_patch_a_is_fitted_to_its_base_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored fit meets the base, with targets that a mail without the patched column has."""
    wanted = prediction.targets()
    base = published_tables().filter(pl.col("kernel").is_in(["base", "before"]))
    monkeypatch.setattr("swapsim.patches.stored_fits.published_tables", lambda: base)
    assert prediction.targets() == wanted
    fitted = patch.headline_fit()
    assert fitted.residuals["wanted"].to_list() == [target.wanted for target in wanted]
    assert fitted.residuals["off_percent"].abs().max() < 1.1  # type: ignore[operator]
    value = dict(fitted.constants.select("name", "value").iter_rows())
    for name, share in (("tag_ns", prediction.TAG_SHARE), ("map_ns", prediction.MAP_SHARE)):
        assert value[name] == pytest.approx(share * value["tree_ns"], abs=1)


def test_a_complete_run_has_the_two_rates_of_the_mail() -> None:
    """The share of pages swapped out makes the exit's part of swap.so that of the mail."""
    constants = patch.headline_fit().constants
    swapped = prediction.swapped_share(constants)
    base, patched = (
        prediction.reported(prediction.life_machine(tags=tags, swapped=swapped), constants)
        for tags in (True, False)
    )
    assert base["vm-scalability.throughput"] == pytest.approx(2_506_952, rel=0.011)
    assert base["vmstat.swap.so"] == pytest.approx(1_207_402, rel=0.015)
    # The exit does not get faster, so the gain of swap.so is the smaller one.
    gains = [patched[metric] / base[metric] for metric in list(base)[:2]]
    assert gains[0] > gains[1] > 1
