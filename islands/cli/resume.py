"""Go on with a run from its last checkpoint, with the same or another number of ranks."""

from __future__ import annotations

import argparse
import sys

from islands.cli import arguments
from islands.cli.run import add_place, add_speech, ended
from islands.parallel import world

_EXAMPLES = """
A finished run prints its result again. Nothing but the criteria can be changed.

examples:
  islands resume runs/zi929-20260101-120000
  islands resume runs/zi929-20260101-120000 --stop generations=5000 --json
  mpirun -n 4 python -m islands resume runs/zi929-20260101-120000
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands resume`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    words = "the folder of a run, which --out named"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)
    words = "when to stop, instead of the run's own criteria, also if it is finished; repeatable"
    parser.add_argument("--stop", metavar="KIND=VALUE", action="append", help=words)
    add_place(parser)
    add_speech(parser.add_argument_group("what it writes"))


def main(args: argparse.Namespace) -> int:
    """Go on, print the result and return the exit status."""
    from islands.run.machine import Conduct
    from islands.run.runner import Output, resume_asked

    output = Output(
        writes=True,
        folder=args.folder,
        stream=sys.stderr if args.json else sys.stdout,
        quiet=args.quiet,
    )
    given = {name: getattr(args, name) for name in ("stop", "backend", "threads")}
    options = {name: value for name, value in given.items() if value is not None}
    ranks = world(fault_tolerant=args.fault_tolerant)
    with ranks.guarded(show_traceback=args.debug):
        conduct = Conduct(share_gpu=args.share_gpu)
        result = resume_asked(args.folder, options, ranks, output, conduct)
        return ended(result, ranks, as_json=args.json)
