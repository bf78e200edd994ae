# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's rules for the scan base among the built-in ones, in one table."""

import polars as pl
import pytest

import swapsim
from swapsim import slots
from swapsim.errors import InputError
from swapsim.ffi import POLICIES
from swapsim.policies import Policy
from swapsim.slots import ranking


@swapsim.policy(base_of="cpu")
def stay(next: int) -> int:  # noqa: A002 # the parameter's name is the kernel's
    """Continue where the scan stands, as percpu does."""
    return next


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the runs: stay is as percpu, spread as spread-online, and all others are apart."""
    places = {name: at for at, name in enumerate(POLICIES)}
    places |= {"stay": places["percpu"], "spread-online": places["spread"]}
    rows = [
        (metric, policy, seed, 10.0 * place + seed)
        for metric in ranking.RANKED_BY
        for policy, place in places.items()
        for seed in range(1, 7)
    ]
    made = pl.DataFrame(rows, schema=["metric", "policy", "seed", "value"], orient="row")
    monkeypatch.setattr(ranking, "runs", lambda *_, **__: made)


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("given", [stay, [stay]])
def test_equal_rules_share_a_row_and_places_compare_seed_by_seed(given: object) -> None:
    """The best throughput is first; the medians and the places of each metric stand behind."""
    found = slots.rank(given)  # type: ignore[arg-type]
    rules = found["rule"].to_list()
    assert {"percpu, stay", "spread, spread-online"} <= set(rules)
    assert found.filter("user")["rule"].to_list() == ["percpu, stay"]
    names = [*ranking.RANKED_BY]
    assert found.columns == ["rule", "user", *names, *(f"{name}_rank" for name in names)]
    assert found["throughput"].is_sorted(descending=True)
    assert found["throughput_rank"].to_list() == [str(place + 1) for place in range(len(rules))]
    assert found["scanned_rank"].to_list() == found["throughput_rank"].to_list()[::-1]


def test_two_policies_of_one_name_are_refused() -> None:
    """Before any run."""
    with pytest.raises(InputError, match="two policies are called stay: rename one"):
        slots.rank([stay, stay])


def test_a_rule_that_returns_no_slot_is_refused_with_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the device of the ranking, before the built-in rules run."""
    monkeypatch.setattr(ranking, "CHURN", slots.Churn(pages=2**10, warm_up_pages=2**10))

    @swapsim.policy(base_of="cpu")
    def beyond(highest: int) -> int:
        return highest + 1

    assert isinstance(beyond, Policy)
    with pytest.raises(
        InputError, match=r"test_rank_of_bases.py, line \d+: policy beyond: returns"
    ):
        slots.rank(beyond)
