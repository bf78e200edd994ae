# SPDX-License-Identifier: GPL-2.0-or-later
"""Each stored result is that of the present code and data: a sample of it is computed again.

Another commit selects other samples; `swapsim simulate --check` computes all of them.
"""

import os
import subprocess
from pathlib import Path

import pytest

from swapsim.site.simulated import studies
from swapsim.study import Study


@pytest.fixture(scope="module")
def pick() -> int:
    """Return the number that selects the samples: of the commit, or of SWAPSIM_PICK."""
    commit = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=8", "HEAD"]
    found = subprocess.run(commit, capture_output=True, text=True, check=False).stdout
    return int(os.environ.get("SWAPSIM_PICK") or int(found or "0", 16))


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_sample_of_each_stored_result_comes_out_the_same(study: Study, pick: int) -> None:
    """Its rows are among the stored ones, bit for bit, and its inputs are the present ones."""
    print(f"to repeat it: SWAPSIM_PICK={pick}")
    assert not study.stale(), "run 'swapsim simulate'"
    assert study.check(study.load(), pick) > 0
