# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of one trace: complete in one file, with a section for each replay that it feeds."""

import html
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from swapsim import clusters, traces
from swapsim.cli import main
from swapsim.clusters.events import cluster_rows
from swapsim.io import sample_text
from swapsim.site import trace_page
from swapsim.site.report.shell import plain


@pytest.fixture(autouse=True)
def without_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the script of charts, which takes longer than all else."""
    monkeypatch.setattr("swapsim.site.report.shell.bundle", lambda: "drawn()")


def page_of(trace: Path | str, folder: Path) -> str:
    """Return the page of a trace."""
    return trace_page.write_trace_page(trace, folder / "page.html").read_text()


def headings(page: str) -> list[str]:
    """Return the headings of the sections."""
    return [plain(words) for words in re.findall(r"<h2[^>]*>(.*?)</h2>", page)]


def test_a_page_loads_nothing_and_has_the_script(tmp_path: Path) -> None:
    """Style, script and pictures are in the page, and no element names another file."""
    page = page_of("generations-7.3-held-1", tmp_path)
    assert headings(page) == ["What is in it", "Choices of reclaim with MGLRU"]
    assert not re.search(r"<link[^>]+stylesheet|(src|href)=\"(?!data:|#)", page)
    assert "drawn()" in page
    assert "<style>" in page
    assert page.count('<figure class="chart"') == page.count("data:image/png;base64,") > 0
    assert "The model agrees with the kernel" in page


def test_a_trace_that_ends_with_its_first_free_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page and in the replay's one line."""
    trace = tmp_path / "short"
    shutil.copytree(traces.locate("slots-4-above-half"), trace)
    rows = trace / "slot_events.parquet"
    events = pl.read_parquet(rows)
    events.head((events["op"] == "free").arg_max() + 1).write_parquet(rows)
    origin = trace / "trace.toml"
    origin.write_text(re.sub(r"\[files\]\n(.+=.+\n)*", "", origin.read_text()))
    said = "no request follows the first free, so no base matters: choose a longer one"
    assert f"Not computed: {rows}: {said}" in plain(page_of(trace, tmp_path))
    assert main(["replay", "slots", str(trace), "--seeds", "1"]) == 2
    assert capsys.readouterr().err == f"swapsim: {rows}: {said}\n"


@pytest.mark.parametrize("trace", ["clusters-6.12-devices-4", "clusters-7.3-odd-size-4"])
def test_folios_that_were_split_are_those_that_the_kernel_refused(trace: str) -> None:
    """Their number by order is that of the requests without a grant in the trace."""
    rows = cluster_rows(trace)
    grants = clusters.replay(rows, rows.rules, samples=0).grants
    refused = grants.select("order", folios=pl.col("requests") - pl.col("in_trace"))
    wanted = refused.filter((pl.col("folios") > 0) & (pl.col("order") > 0))
    found = trace_page.clusters._split(rows).group_by("order").agg(pl.col("folios").sum())
    assert dict(found.iter_rows()) == dict(wanted.iter_rows())


def test_the_use_of_a_device_ends_where_its_grants_and_frees_do() -> None:
    """The last moment has the slots that were granted and not freed."""
    rows = cluster_rows("clusters-7.3-full-4")
    counts = dict(rows.events.group_by("op").agg(pl.col("n").sum()).iter_rows())
    left = 100 * (counts["grant"] - counts["free"]) / rows.devices["slots"][0]
    assert trace_page.clusters._use(rows)["used_percent"][-1] == pytest.approx(left)


def test_a_trace_of_ones_own_has_a_page(tmp_path: Path) -> None:
    """Without a laboratory's provenance the page says what there is."""
    folder = traces.import_text("sample", tmp_path / "mine").folder
    page = page_of(folder, tmp_path)
    assert "1,200 rows of 8 tables" in page
    assert "No event was lost" in page
    assert "Lock acquisitions with tags and without" in headings(page)
    assert "no swp_free in this trace: frees, one more acquisition a page by 6.1, are not" in page


def test_what_the_terminal_doubts_is_in_the_page(tmp_path: Path) -> None:
    """Pages without a recorded add, events out of order, and losses that are not recorded."""
    lines = sample_text().read_text().splitlines(keepends=True)
    text = tmp_path / "half.txt"
    added = [n for n, line in enumerate(lines) if " swp_add: " in line]
    text.write_text("".join(line for n, line in enumerate(lines) if n not in added[::2]))
    folder = traces.import_text(text, tmp_path / "half").folder
    assert "pages were written without a recorded add" in page_of(folder, tmp_path)
    started = [n for n, line in enumerate(lines) if " wb_start: " in line][::2]
    text.write_text("".join(line for n, line in enumerate(lines) if n not in started))
    folder = traces.import_text(text, tmp_path / "unpaired").folder
    unpaired = "141 of 281 ends of writeback have no recorded start, so these figures are off"
    assert unpaired in page_of(folder, tmp_path)
    assert unpaired in traces.info(folder)
    text.write_text("".join(lines * 2))
    folder = traces.import_text(text, tmp_path / "twice").folder
    assert "not in order: 1 event earlier than the one before." in page_of(folder, tmp_path)
    about = folder / traces.PROVENANCE
    about.write_text("")
    assert "It is not recorded if events were lost" in page_of(folder, tmp_path)


def test_losses_and_rows_that_a_replay_refuses_are_in_the_page(tmp_path: Path) -> None:
    """A lossy trace's page says so, and has an error in place of a figure."""
    folder = traces.import_text("sample", tmp_path / "lossy").folder
    toml = folder / traces.PROVENANCE
    toml.write_text(toml.read_text().replace("events_by_cpu = {}", "events_by_cpu = { 3 = 12 }"))
    added = pl.read_parquet(folder / "swp_add.parquet")
    added.with_columns(pl.lit("x").alias("entry")).write_parquet(folder / "swp_add.parquet")
    traces.sign(folder)
    page = page_of(folder, tmp_path)
    assert "It is not complete or not in order: 12 events lost on CPU 3" in page
    assert "Not computed:" in page


def test_a_trace_of_another_kernel_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By verify, replay and in the page: trace.toml names a kernel without these clusters."""
    folder = shutil.copytree(traces.locate("clusters-7.3-orders-8"), tmp_path / "other")
    about = folder / traces.PROVENANCE
    about.write_text(re.sub(r'(?m)^release = ".*"', 'release = "6.1.0"', about.read_text()))
    words = "clusters needs 6.12 or 7.3; trace.toml says 6.1.0, and cluster_devices 7.3"
    for verb in ("verify", "replay"):
        assert main([verb, "clusters", str(folder)]) == 2
        assert words in capsys.readouterr().err
    assert words in html.unescape(page_of(folder, tmp_path))


def test_a_page_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another suffix, a missing trace and a damaged one: exit 2, and no file."""
    folder = traces.import_text("sample", tmp_path / "mine").folder
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / "swp_add.parquet").write_bytes(b"PAR1")
    for trace, name, words in (
        (folder, "page.pdf", "suffix .html"),
        (tmp_path / "none", "page.html", "no such trace"),
        (damaged, "page.html", "not as it was written"),
    ):
        command = ["report", "--trace", str(trace), "-o", str(tmp_path / name)]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
        assert not (tmp_path / name).exists()
