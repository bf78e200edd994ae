# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure a real Linux with a patch switched off and on, in rounds, to data/measured."""

import argparse
import sys

try:
    from rig import campaign, cli, experiment, packages
except ModuleNotFoundError as error:
    print(f"lab.py: no module {error.name}: run make setup, then .venv/bin/python", file=sys.stderr)
    sys.exit(2)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    cached = "kernels, consoles and finished runs"
    parser = cli.parser("lab", __doc__, of="an experiment", cached=cached)
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds (as described)")
    parser.add_argument(
        "--again", action="store_true", help="repeat runs that an earlier call has finished"
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


def work(parsed: argparse.Namespace) -> int:
    """Measure what is asked for; finished runs are stored for the next call."""
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
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Exit 0: measured; 1: a run failed and is left out; 2: bad input or something missing."""
    parsed = parse(arguments)
    return cli.run("lab", lambda: work(parsed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
