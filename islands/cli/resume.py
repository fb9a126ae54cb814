"""Go on with a run from its last checkpoint, with the same or another number of ranks."""

from __future__ import annotations

import argparse
import sys

from islands.cli import arguments
from islands.cli.run import PARTS, add_place, add_speech, ended
from islands.parallel import world

_EXAMPLES = """
A finished run prints its result again. Nothing but the criteria can be changed; where the file of
its instance, or the script of a part, is elsewhere by now, an option says so.

examples:
  islands resume runs/zi929-20260101-120000
  islands resume runs/zi929-20260101-120000 --stop generations=5000 --json
  mpirun -n 4 python -m islands resume runs/zi929-20260101-120000
  islands resume runs/zi929-20260101-120000 --crossover elsewhere/mine.py:Spread
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands resume`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    words = "the folder of a run, which --out named"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)
    words = "when to stop, instead of the run's own criteria, also if it is finished; repeatable"
    parser.add_argument("--stop", metavar="KIND=VALUE", action="append", help=words)
    where = parser.add_argument_group("where things are, if not where they were")
    where.add_argument("--instance", metavar="FILE", help="the instance, or FILE.py:NAME")
    for name in PARTS:
        where.add_argument(f"--{name}", metavar="FILE.py:NAME", help=f"the {name} of a script")
    add_place(parser)
    add_speech(parser.add_argument_group("what it writes"))


def main(args: argparse.Namespace) -> int:
    """Go on, print the result and return the exit status."""
    from islands.run.device import Conduct
    from islands.run.runner import Output, resume_asked

    output = Output(
        writes=True,
        folder=args.folder,
        stream=sys.stderr if args.json else sys.stdout,
        quiet=args.quiet,
    )
    names = ("stop", "instance", *PARTS, "backend", "threads")
    given = {name: getattr(args, name) for name in names}
    options = {name: value for name, value in given.items() if value is not None}
    ranks = world(fault_tolerant=args.fault_tolerant)
    with ranks.guarded(show_traceback=args.debug):
        conduct = Conduct(share_gpu=args.share_gpu)
        result = resume_asked(args.folder, options, ranks, output, conduct)
        return ended(result, ranks, as_json=args.json)
