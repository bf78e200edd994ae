# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that cover all patches consist of the parts of each."""

from types import ModuleType
from typing import cast

import polars as pl
import pytest

from swapsim import claims, mapping, removal, traces
from swapsim.claims import patch_cards
from swapsim.claims.judging import SMALLEST_PERCENT
from swapsim.claims.tables import ANSWERS, THREE_COLUMNS
from swapsim.errors import SwapsimError
from swapsim.patches import Patch, cluster_next, stall_decisions, writeback_tags
from swapsim.site import overview, standing
from swapsim.site.patches import PARTS, PATCHES, require_complete
from swapsim.site.tables import AT_A_GLANCE

A, D = writeback_tags.PATCH, cluster_next.PATCH


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


def test_headlines_are_those_of_the_cards_in_words() -> None:
    """Each is a claim of its card, with a published change, in the order of the cards."""
    judged = claims.three_columns(
        claims.published_claims(), pl.DataFrame(schema=ANSWERS.schema), claims.tolerances()
    )
    found = overview.headlines(judged)
    assert found.schema == THREE_COLUMNS.schema
    headlines = claims.patch_cards().explode("headlines").select("patch", "headlines")
    assert found.select("patch", pl.format("{}: {}", "claim", "metric")).rows() == headlines.rows()
    assert found["published"].null_count() == 0


def test_the_chart_of_headlines_has_what_real_kernels_measured() -> None:
    """Each measured change of a headline is drawn as such, next to the simulated ones."""
    headlines = overview.headlines(overview.judged(simulate=False)).filter("relative")
    (drawn,) = overview.draw_headlines(headlines).to_dict()["datasets"].values()
    measured = [row["change"] for row in drawn if row["source"] == "measured" and row["change"]]
    assert measured == headlines["measured"].drop_nulls().to_list() != []
    assert not [row for row in drawn if row["source"] == "simulated" and row["change"]]


def test_a_claim_whose_patch_has_no_package_names_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is published, so the message suggests no other name."""
    monkeypatch.setattr(overview, "PATCHES", [writeback_tags])
    judged = pl.DataFrame(schema=THREE_COLUMNS.schema)
    with pytest.raises(SwapsimError, match="claims of 02-batched-removal yet: that is step 6"):
        overview.of_claims(judged, "B-system-1")
    with pytest.raises(SwapsimError, match="'nothing' is no patch"):
        overview.of_claims(judged, "nothing")


def test_a_trace_that_feeds_no_replay_of_a_patch_lacks_their_events() -> None:
    """What it feeds is named, and so is what the first two replays lack."""
    feeds = traces.replays_of(["cluster_events", "cluster_devices"])
    ranked = pl.DataFrame(
        {
            "policy": ["percpu-rerandomise", "mine"],
            "setting": ["8", "8"],
            "median": [0.1, 0.2],
            "low": [0.05, 0.15],
            "high": [0.3, 0.2],
            "tied_with": [[], ["percpu-rerandomise"]],
        },
        schema_overrides={"tied_with": pl.List(pl.String)},
    )
    gained = dict.fromkeys(("middle", "low", "high", "base_waits"), 1.0)
    gains = pl.DataFrame([{"costs": "copy_ns 1", **gained}])
    parts = pl.DataFrame({"there": [True]})
    nothing = pl.DataFrame(schema=AT_A_GLANCE.schema)
    lead = overview.on_your_own("mytrace", feeds, nothing, ranked, gains, parts)
    assert (
        "It can feed 1 of 6 replays: clusters. No change by a patch is counted: writeback-tags "
        "lacks swp_add, swp_del, wb_start, wb_end; batched-removal lacks swp_del, " in lead
    )
    assert "With mine 20 % (15 to 20) of" in lead
    assert "the merged rule 10 % (5 to 30), tied." in lead


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


def test_a_null_model_reproduces_only_what_does_not_change() -> None:
    """It is judged as the models are, with the mails' own bases."""
    judged = overview.judged()
    null = standing.nothing_changes(judged)
    assert null["simulated_verdict"].is_in(["base not reproduced"]).sum() == 0
    reproduced = null.filter(simulated_verdict="reproduced")
    changes = reproduced.filter(kind="change")
    assert (changes["published"].abs() < SMALLEST_PERCENT).all()
    assert set(reproduced.filter(kind="direction")["claimed"]) == {"stays"}
    figures = reproduced.filter(kind="figure")
    assert (figures["base"] <= figures["tolerance"]).all()


def test_each_claim_is_in_one_row_of_each_table_of_verdicts() -> None:
    """By kind, and by the verdicts of both columns; those that repeat another one are in none."""
    judged = overview.judged()
    kinds, both = standing.by_kind(judged), standing.both_columns(judged)
    number = judged["repeats"].null_count()
    assert kinds["claims"].sum() == number
    assert both.drop("simulated").sum().sum_horizontal().item() == number
    reproduced = judged.filter(pl.col("repeats").is_null(), simulated_verdict="reproduced").height
    assert kinds["reproduced"].sum() == reproduced
    assert (
        both.filter(simulated="reproduced").drop("simulated").sum_horizontal().item() == reproduced
    )
