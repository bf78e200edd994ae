# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that cover all patches consist of the parts of each."""

from dataclasses import replace
from types import ModuleType
from typing import Any, cast

import polars as pl
import pytest

from swapsim import mapping, removal, traces
from swapsim.claims import patch_cards, published_claims, results
from swapsim.claims.tables import RESULTS
from swapsim.errors import SwapsimError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted
from swapsim.machine.tables import FIT
from swapsim.patches import Patch, cluster_next, stall_decisions, writeback_tags
from swapsim.patches.cluster_next import mails as mails_of_d
from swapsim.patches.cluster_next import studies as studies_of_d
from swapsim.patches.writeback_tags import fitting as fitting_of_a
from swapsim.patches.writeback_tags import prediction as prediction_of_a
from swapsim.patches.writeback_tags import studies as studies_of_a
from swapsim.patches.writeback_tags.fitting import MAP_SHARE, TAG_SHARE
from swapsim.site import overview
from swapsim.site.patches import PARTS, PATCHES, require_complete

A, D = writeback_tags.PATCH, cluster_next.PATCH


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run for a short time: the tests are about tables, not about figures."""

    def brief_a(**fields: Any) -> MachineConfig:
        usual = writeback_tags.machine(**fields)
        return replace(usual, frames=2**13, slots=2**17, duration_ns=10_000_000)

    def brief_d(**fields: Any) -> MachineConfig:
        usual = cluster_next.machine(**fields)
        small = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16}
        return replace(usual, **small, duration_ns=10_000_000)

    monkeypatch.setattr(prediction_of_a, "machine", brief_a)
    monkeypatch.setattr(mails_of_d, "machine", brief_d)


def fitted(constants: pl.DataFrame) -> Fitted:
    """Return constants as a fit gives them."""
    return Fitted(constants=constants, residuals=pl.DataFrame(schema=FIT.schema), converged=True)


def test_patches_are_those_of_the_cards_in_their_order() -> None:
    """Each package of a patch has a card; a patch may have a card before its package."""
    found = [patch.PATCH for patch in PATCHES]
    assert {A, D} <= set(found)
    assert found == sorted(found)
    assert set(found) <= set(patch_cards()["patch"])


@pytest.mark.parametrize("part", PARTS)
def test_a_patch_that_lacks_a_part_is_an_error(part: str) -> None:
    """A misspelt or forgotten function is reported by its name, not left out."""
    lacking = ModuleType("swapsim.patches.lacking")
    for name in PARTS:
        if name != part:
            setattr(lacking, name, getattr(stall_decisions, name))
    with pytest.raises(SwapsimError, match=rf"lacking: {part} is missing"):
        require_complete(cast("list[Patch]", [lacking]), [])


def test_a_package_that_is_no_patch_is_an_error() -> None:
    """A new package is named until it is added to PATCHES."""
    with pytest.raises(SwapsimError, match="reservations: add it to"):
        require_complete(PATCHES, ["reservations"])


@pytest.mark.usefixtures("_short")
def test_each_table_has_the_constants_of_its_own_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of the simulation are those that the patches predict, each with its constants."""
    of_a, of_d = (change_costs(costs(), {"unmap_ns": ns}) for ns in (5000, 15000))
    series = results(
        [("swap out", 1.0, "KiB/s")],
        {"patch": A, "kernel": "4.9-rc8", "policy": "tags 0.1", "n_tasks": 32, "seed": 1},
    )
    monkeypatch.setattr(studies_of_a, "headline_fit", lambda: fitted(of_a))
    monkeypatch.setattr(studies_of_a, "swap_series", lambda: series)
    monkeypatch.setattr(studies_of_d, "predicted_v3", lambda: cluster_next.predict(of_d, (1, 2, 3)))
    monkeypatch.setattr(overview, "FEW_SEEDS", (1, 2))
    found = overview.simulated()
    of_the_mail = writeback_tags.predict(of_a, (1, 2))
    assert found.filter(patch=A).equals(of_the_mail.vstack(series))
    assert found.filter(patch=D).equals(cluster_next.predict(of_d, (1, 2)))


def test_fits_are_those_of_the_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each patch's constants come from its own fit."""
    of_a, of_d = (change_costs(costs(), {"unmap_ns": ns}) for ns in (5000, 15000))
    monkeypatch.setattr(writeback_tags, "headline_fit", lambda: fitted(of_a))
    monkeypatch.setattr(cluster_next, "headline_fit", lambda: fitted(of_d))
    fits = overview.fits()
    assert fits[A].equals(of_a)
    assert fits[D].equals(of_d)


def test_patch_as_headlines_have_the_shares_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by a rule, the other by the swap series."""
    shares: dict[str, float] = {}

    def fit(**given: float) -> Fitted:
        shares.update(given)
        return fitted(costs())

    monkeypatch.setattr(fitting_of_a, "fit", fit)
    writeback_tags.headline_fit()
    assert shares == {"tag_share": TAG_SHARE, "map_share": MAP_SHARE}


def test_headlines_are_those_of_the_cards_in_words() -> None:
    """Each is a claim of its card, with a published change, in the order of the cards."""
    found = overview.headlines(pl.DataFrame(schema=RESULTS.schema))
    assert found.columns == ["patch", "claim", "published", "simulated", "measured"]
    headlines = patch_cards().explode("headlines").select("patch", "headlines")
    known = published_claims()["claim"].to_list()
    for patch, headline in headlines.iter_rows():
        claim, words = headline.split(": ", 1)
        assert claim in known
        row = found.filter(claim=words).row(0, named=True)
        assert row["patch"] == patch
        assert row["published"] is not None
        assert row["simulated"] is None


FIGURES = {
    "swap-w-seq": {"writeback-tags", "batched-removal"},
    "slots-1-percpu-rerandomise": {"cluster-next"},
    "stalls-nfs-1": {"stall-decisions"},
}


@pytest.mark.parametrize("trace", FIGURES)
def test_each_replay_that_a_trace_can_feed_has_a_row(trace: str) -> None:
    """A replay that lacks an event has no row; the change is that of the two figures."""
    rows = overview.at_a_glance(traces.locate(trace))
    assert set(rows["replay"]) == FIGURES[trace]
    for row in rows.drop_nulls("change").iter_rows(named=True):
        assert row["change"] == pytest.approx(100 * (row["patched"] / row["base"] - 1))


def test_the_figures_are_those_of_the_tables() -> None:
    """They equal the sums of the replays' own tables."""
    folder = traces.locate("swap-w-seq")
    first, second = overview.at_a_glance(folder, kernel="4.8").iter_rows(named=True)
    with_tags, without = mapping.totals_per_page(mapping.writeback_tags(folder)).iter_rows(
        named=True
    )
    assert (first["base"], first["patched"]) == (with_tags["acquisitions"], without["acquisitions"])
    lists = removal.batched_removal(folder).filter(kernel="4.8")
    assert second["base"] - second["patched"] == pytest.approx(lists["saved_a_page"].item())
