"""Write one table of all runs of a sweep, and name the unfinished ones."""

from __future__ import annotations

import argparse

from islands.cli import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands collect`."""
    words = "the folder of a sweep, in which each run has a folder 1, 2, ..."
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)


def main(args: argparse.Namespace) -> int:
    """Write and print the table; return 1 if some runs are not finished."""
    from islands.slurm.collect import collect

    return collect(args.folder)
