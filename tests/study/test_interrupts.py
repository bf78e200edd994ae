# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C ends a machine's run: no call into C delays it."""

import time
from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

LONG_RUN = """
from dataclasses import replace
from swapsim.machine.running import run_rows
from swapsim.patches import cluster_next, writeback_tags
config = replace({scenario}, duration_ns=10**15)
print("begins", flush=True)
run_rows(config)
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """Start a notebook's kernel; every test continues in it."""
    manager = KernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=300)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def next_output(client: BlockingKernelClient) -> dict[str, Any]:
    """Return the kernel's next text or error."""
    while True:
        try:
            message = client.get_iopub_msg(timeout=300)
        except Empty:
            pytest.fail("the kernel printed nothing for 300 s")
        if message["msg_type"] in ("stream", "error"):
            return dict(message["content"])


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize(
    ("scenario", "pause"),
    [
        ("writeback_tags.machine()", 0.5),
        ("cluster_next.machine(gigabytes=48)", 0.05),
        ("cluster_next.machine(gigabytes=48)", 3),
        ("cluster_next.machine(gigabytes=384)", 0.05),
    ],
)
def test_a_notebook_interrupts_a_run(
    kernel: tuple[KernelManager, BlockingKernelClient], scenario: str, pause: float
) -> None:
    """An interrupt ends a machine's filling and its endless run; the kernel still works."""
    manager, client = kernel
    client.execute(LONG_RUN.format(scenario=scenario), stop_on_error=False)
    assert next_output(client)["text"].strip() == "begins"
    time.sleep(pause)
    start = time.monotonic()
    manager.interrupt_kernel()
    assert next_output(client).get("ename") == "KeyboardInterrupt"
    print(f"{scenario}, {pause} s after it began: ended in {time.monotonic() - start:.2f} s")
    client.execute("print(1 + 1)")
    assert next_output(client)["text"].strip() == "2"
