# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch A."""

import pytest

from swapsim.patches import writeback_tags as patch


@pytest.mark.parametrize("tags", [True, False])
def test_the_machine_of_patch_a_is_that_of_its_mail(tags: bool) -> None:
    """Eight writers and two kswapds on one pmem under 4.8."""
    config = patch.machine(tags=tags)
    assert (config.writers, config.nodes, config.devices, config.channels) == (8, 2, 1, 0)
    assert (config.kernel, config.swap_writeback_tags, config.cpus) == ("4.8", tags, 10)
