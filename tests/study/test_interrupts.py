# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C is heard in the middle of a machine's run: no call into C holds it up."""

import signal
import time
from queue import Empty
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

LONG_RUN = """
from dataclasses import replace
from swapsim.machine.run import run
from swapsim.patches import cluster_next, writeback_tags
config = replace({scenario}, duration_ns=10**15)
print("begins", flush=True)
run(config)
"""


def next_output(client: Any, seconds: float) -> dict[str, Any]:
    """Return the kernel's next text or error."""
    end = time.monotonic() + seconds
    while True:
        try:
            message = client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.01))
        except Empty:
            pytest.fail(f"the kernel said nothing for {seconds} s")
        if message["msg_type"] in ("stream", "error"):
            return dict(message["content"])


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize(
    ("scenario", "pause"),
    [
        ("writeback_tags.machine(tags=True)", 0.5),
        ('cluster_next.machine(policy="shared")', 0.05),
        ('cluster_next.machine(policy="shared")', 3),
        ('cluster_next.machine(policy="shared", gigabytes=384)', 0.05),
    ],
)
def test_a_notebook_interrupts_a_run(scenario: str, pause: float) -> None:
    """A notebook's interrupt soon ends a machine's filling and its run, and the kernel goes on."""
    manager = KernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        client.execute(LONG_RUN.format(scenario=scenario), stop_on_error=False)
        assert next_output(client, 60)["text"].strip() == "begins"
        time.sleep(pause)
        start = time.monotonic()
        manager.interrupt_kernel()
        error = next_output(client, 30)
        took = time.monotonic() - start
        print(
            f"{scenario}, {pause} s after it began: {signal.SIGINT.name} ended it in {took:.2f} s"
        )
        assert error.get("ename") == "KeyboardInterrupt"
        assert took < 2
        client.execute("print(1 + 1)")
        assert next_output(client, 30)["text"].strip() == "2"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
