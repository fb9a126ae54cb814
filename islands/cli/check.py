"""Compare all ways to evaluate a problem on random solutions, and find faults of its code."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from islands.instances.formats import FORMATS
from islands.text import show

if TYPE_CHECKING:
    from islands.check.perform import Checked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `islands check`."""
    add = parser.add_argument
    add("instance", metavar="PROBLEM", help="FILE.py:NAME, set/name, a bare name or a path")
    words = "number of random solutions (default: 1000)"
    add("--samples", metavar="N", type=int, default=1000, help=words)
    words = "seed of the random solutions (default: 1)"
    add("--seed", metavar="S", type=int, default=1, help=words)
    words = "time limit for the evaluation of one solution (default: 10)"
    add("--seconds", metavar="T", type=float, default=10.0, help=words)
    words = f"format of the instance's file: {', '.join(FORMATS)} (default: detect it)"
    add("--format", metavar="NAME", help=words)


def main(args: argparse.Namespace) -> int:
    """Print the report; return 0 if there is no difference, otherwise 1."""
    from islands.check.perform import examine
    from islands.problems import load

    problem = load(args.instance, args.format)
    checked: Checked = examine(problem, args.samples, seed=args.seed, seconds=args.seconds)
    show(checked)
    return 0 if checked.works else 1
