# SPDX-License-Identifier: GPL-2.0-or-later
"""Rule sets compared on the lists of a generated kernel."""

import polars as pl
import pytest
from oracle_stall_recording import RULES
from test_verify import kernel, rows_of

from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions.comparison import rounded
from swapsim.stall import decided_lists


@pytest.fixture(scope="module")
def decided() -> pl.DataFrame:
    """Return the decisions of all rule sets on the lists of a kernel."""
    return decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))


def test_each_pair_of_rule_sets_has_its_agreement(decided: pl.DataFrame) -> None:
    """As a square it is symmetric, with 100 % of each set with itself."""
    pairs = patch.agreement(decided)
    assert pairs.height == len(RULES) * (len(RULES) - 1) // 2
    one, other = (decided.filter(pl.col("rules") == rules) for rules in ("mmotm", "series-8"))
    alike = [one[name] == other[name] for name in ("flags_set", "forced", "waits")]
    row = pairs.row(by_predicate=(pl.col("one") == "mmotm") & (pl.col("other") == "series-8"))
    assert row[3] == 100 * (alike[0] & alike[1] & alike[2]).mean()
    square = patch.agreement_table(pairs)
    assert square.columns == ["rules", *RULES]
    for name in RULES:
        assert square.filter(pl.col("rules") == name)[name].item() == 100
    table = square.drop("rules").to_numpy()
    assert (table == table.T).all()


def test_a_share_is_rounded_and_100_is_exact() -> None:
    """One decimal; a share that is not all of the lists never shows as 100."""
    shares = pl.DataFrame({"decisions": [69.96, 95.94, 99.97, 100.0]})
    assert rounded(shares)["decisions"].to_list() == [70.0, 95.9, 99.9, 100.0]
