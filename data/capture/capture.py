# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace a Debian kernel, stock or with our switches, under a named workload."""

import argparse
import signal
import sys
from pathlib import Path

try:
    from rig import boot, by_script, collect, guest, importing, kernel, packages, workload
    from rig.errors import CaptureError, GuestError
except ModuleNotFoundError as error:
    print(
        f"capture.py: no module {error.name}: run make setup, then .venv/bin/python",
        file=sys.stderr,
    )
    sys.exit(2)

CHECKOUT = Path(__file__).resolve().parents[2]


def capture(name: str, output: Path, cache: Path) -> None:
    """Capture one workload into output/name, which appears complete or not at all."""
    described = workload.load(name)
    booted = kernel.get(described, cache)
    busybox = packages.fetch(packages.BUSYBOX, cache)
    work = cache / name
    work.mkdir(parents=True, exist_ok=True)
    built = guest.build(described, booted, busybox, work)
    ran = boot.run(described, built, work)
    captured = collect.collect(described, ran, work)
    events = importing.import_trace(described, booted, busybox, ran, captured, output / name)
    print(f"{name}: {events['rows'].sum()} events in {events.height} tables, none lost")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="capture.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a workload, see --list")
    parser.add_argument("--all", action="store_true", help="every workload that is described")
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    parser.add_argument(
        "--by-script",
        action="store_true",
        help="record 6.12 or 7.3 by the script of `swapsim probes`, and verify the recording",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of trace folders")
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=CHECKOUT / "build" / "capture",
        help="packages, raw texts and consoles (build/capture)",
    )
    parsed = parser.parse_args(arguments)
    if parsed.list:
        return parsed
    if bool(parsed.names) == parsed.all:
        parser.error("give workload names, or --all")
    if parsed.output is None:
        parser.error("give a folder for the traces with -o DIR")
    return parsed


def main(arguments: list[str]) -> int:
    """Exit 0: all captured; 1: a guest failed, a row disagrees; 2: bad input, something missing."""
    parsed = parse(arguments)
    # A signal that ends this program ends its emulator, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
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
    except CaptureError as error:
        print(f"capture.py: {error}", file=sys.stderr)
        return 2
    except GuestError as error:
        print(f"capture.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"capture.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("capture.py: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
