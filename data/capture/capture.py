# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace a Debian kernel, stock or with our switches, under a named workload."""

import argparse
import sys
from pathlib import Path

try:
    from rig import boot, by_script, cli, collect, guest, importing, kernel, packages, workload
except ModuleNotFoundError as error:
    print(
        f"capture.py: no module {error.name}: run make setup, then .venv/bin/python",
        file=sys.stderr,
    )
    sys.exit(2)


def capture(name: str, output: Path, cache: Path) -> None:
    """Capture one workload into output/name, which appears complete or not at all."""
    described = workload.load(name)
    booted = kernel.get(described, cache)
    busybox = packages.fetch(packages.BUSYBOX, cache)
    folder = cache / name
    folder.mkdir(parents=True, exist_ok=True)
    built = guest.build(described, booted, busybox, folder)
    ran = boot.run(described, built, folder)
    captured = collect.collect(described, ran, folder)
    events = importing.import_trace(described, booted, busybox, ran, captured, output / name)
    print(f"{name}: {events['rows'].sum()} events in {events.height} tables, none lost")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = cli.parser("capture", __doc__, of="a workload", cached="packages, texts and consoles")
    parser.add_argument("--all", action="store_true", help="every workload that is described")
    parser.add_argument(
        "--by-script",
        action="store_true",
        help="record 6.12 or 7.3 by the script of `swapsim probes`, and verify the recording",
    )
    parsed = parser.parse_args(arguments)
    if parsed.list:
        return parsed
    if bool(parsed.names) == parsed.all:
        parser.error("give workload names, or --all")
    if parsed.output is None:
        parser.error("give a folder for the traces with -o DIR")
    return parsed


def work(parsed: argparse.Namespace) -> int:
    """Capture what is asked for."""
    if parsed.list:
        for name in workload.names():
            print(f"{name}: {workload.load(name).title}")
        return 0
    names = workload.names() if parsed.all else list(dict.fromkeys(parsed.names))
    for name in names:
        workload.load(name)
    packages.check_tools()
    for name in names:
        if not parsed.by_script:
            capture(name, parsed.output, parsed.cache.resolve())
        elif not by_script.record(workload.load(name), parsed.output, parsed.cache.resolve()):
            return 1
    return 0


def main(arguments: list[str]) -> int:
    """Exit 0: all captured; 1: a guest failed, a row disagrees; 2: bad input, something missing."""
    parsed = parse(arguments)
    return cli.run("capture", lambda: work(parsed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
