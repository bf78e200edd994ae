# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks that run, some at a time, and end together."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from typing import Final

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from swapsim import interrupt
from swapsim.errors import SwapsimError
from swapsim.progress import TextBar
from swapsim.site.notebooks import results_of

CELL_SECONDS: Final = 3600
"""A cell that takes longer is taken for hung: on a busy machine, too, none comes near."""

NOTEBOOKS_AT_A_TIME: Final = 2

_WAIT_SECONDS: Final = 0.2


class Runs:
    """The notebooks that run, so that all can be ended at once."""

    def __init__(self) -> None:
        self.ends = Event()
        self._lock = Lock()
        self._clients: list[NotebookClient] = []

    @contextmanager
    def entered(self, client: NotebookClient) -> Iterator[None]:
        """Count a client in while it runs."""
        with self._lock:
            self._clients.append(client)
        try:
            yield
        finally:
            with self._lock:
                self._clients.remove(client)

    def end(self) -> None:
        """Kill all kernels; a client that waits for its kernel gives up then."""
        self.ends.set()
        with self._lock:
            for client in self._clients:
                process = getattr(getattr(client.km, "provisioner", None), "process", None)
                if process is not None:
                    process.kill()


def make_all(make: Callable[[Path, Runs], None], paths: Sequence[Path]) -> None:
    """Make something of each notebook, some at a time; when one fails, or on Ctrl-C, end all."""
    runs = Runs()
    pool = ThreadPoolExecutor(NOTEBOOKS_AT_A_TIME)
    left: set[Future[None]] = {pool.submit(make, path, runs) for path in paths}
    try:
        while left:
            done, left = wait(left, timeout=_WAIT_SECONDS, return_when="FIRST_COMPLETED")
            for future in done:
                future.result()
            interrupt.check()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        while any(not future.done() for future in left):
            runs.end()
            time.sleep(_WAIT_SECONDS)
        raise
    pool.shutdown()


def run(
    path: Path, notebook: nbformat.NotebookNode, runs: Runs, bar: TextBar
) -> nbformat.NotebookNode:
    """Run a notebook's cells and return it with their outputs.

    Raises
    ------
    SwapsimError
        A cell failed, or its kernel did: names notebook, cell and the error's last line.
    """

    def begin(**_: object) -> None:
        if runs.ends.is_set():
            raise DeadKernelError("ended with another notebook")

    def end(**_: object) -> None:
        bar.set_postfix_str(path.stem)
        bar.update()

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=begin,
        on_cell_executed=end,
    )
    try:
        with runs.entered(client):
            client.execute()
    except CellExecutionError as error:
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: {error.ename}: {error.evalue}: "
            "open it in JupyterLab ('make lab') and mend the cell; 'make report' then goes on from "
            "the pages that are done"
        ) from None
    except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: the kernel did not finish: "
            f"{reason}: run it in JupyterLab ('make lab'); 'make report' then goes on from the "
            "pages that are done"
        ) from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = results_of(cell)
    notebook.metadata.pop("widgets", None)
    return notebook
