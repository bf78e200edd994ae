# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure a real Linux with a patch switched off and on, in rounds, to data/measured."""

import argparse
import signal
import sys
from pathlib import Path

try:
    from rig import campaign, experiment, packages
    from rig.errors import CaptureError
except ModuleNotFoundError as error:
    print(f"lab.py: no module {error.name}: run make setup, then .venv/bin/python", file=sys.stderr)
    sys.exit(2)

CHECKOUT = Path(__file__).resolve().parents[2]


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="lab.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="an experiment, see --list")
    parser.add_argument("--list", action="store_true", help="print the experiments and stop")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of results")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds (as described)")
    parser.add_argument(
        "--again", action="store_true", help="repeat runs that an earlier call has finished"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=CHECKOUT / "build" / "capture",
        help="kernels, consoles and finished runs (build/capture)",
    )
    parsed = parser.parse_args(arguments)
    if parsed.list:
        return parsed
    if not parsed.names:
        parser.error("give names of experiments, see --list")
    if parsed.output is None:
        parser.error("give a folder for the results with -o DIR")
    if parsed.rounds is not None and parsed.rounds < 1:
        parser.error(f"--rounds is {parsed.rounds}: give a number above 0")
    return parsed


def main(arguments: list[str]) -> int:
    """Exit 0: measured; 1: a run failed and is left out; 2: bad input or something missing."""
    parsed = parse(arguments)
    # A signal that ends this program ends its emulator, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if parsed.list:
            for name in experiment.names():
                described = experiment.load(name)
                print(f"{name}: {described.workload.title}; {described.rounds} rounds")
            return 0
        experiments = [experiment.load(name) for name in dict.fromkeys(parsed.names)]
        packages.check_tools()
        failed = 0
        for described in experiments:
            failed += campaign.run(
                described,
                parsed.output,
                parsed.cache.resolve(),
                rounds=parsed.rounds or described.rounds,
                again=parsed.again,
            )
    except CaptureError as error:
        print(f"lab.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"lab.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lab.py: stopped; finished runs are stored for the next call", file=sys.stderr)
        return 130
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
