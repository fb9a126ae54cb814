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
    from islands import cli
    from islands.slurm.collect import collect, elements_of

    elements = elements_of(args.folder)
    status = collect(args.folder, elements)
    done = [str(each.folder) for each in elements if each.result is not None]
    if done and "report" in cli.COMMANDS:  # one page that compares the runs
        cli.main(["report", *done, "--out", str(args.folder / "report.html")])
    return status
