"""Resume a run from its last checkpoint, with the same or another number of ranks."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from islands.cli import arguments
from islands.cli.run import PARTS, add_device, add_output, ended
from islands.custom.trust import Trust
from islands.errors import UsageError
from islands.parallel import world

_EXAMPLES = """
A finished run prints its result again. Only the stopping criteria can be changed. If the file of
the instance or the script of a part has moved, name its new path.

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
    words = "the folder of a run (see --out of islands run)"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)
    words = "the problem, FILE.py:NAME, if its cost is a Python function, or the script has moved"
    parser.add_argument("script", metavar="FILE.py:NAME", nargs="?", help=words)
    words = "stopping criterion; replaces the run's criteria, also of a finished run; repeatable"
    parser.add_argument("--stop", metavar="KIND=VALUE", action="append", help=words)
    moved = parser.add_argument_group("files that have moved")
    moved.add_argument("--instance", metavar="FILE", help="the instance, or FILE.py:NAME")
    for name in PARTS:
        words = f"the {name} of a script; repeatable if colonies have several"
        moved.add_argument(f"--{name}", metavar="FILE.py:NAME", action="append", help=words)
    words = "run scripts that the folder names, and compile code that is stored in it, although it"
    words += " was not written by you on this machine"
    parser.add_argument("--trust", action="store_true", help=words)
    add_device(parser)
    add_output(parser.add_argument_group("output"))


def options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings on the command line."""
    names = ("stop", "instance", *PARTS, "backend", "threads")
    given = {name: getattr(args, name) for name in names}
    given["instance"] = args.script or args.instance
    return {name: value for name, value in given.items() if value is not None}


def main(args: argparse.Namespace) -> int:
    """Resume the run, print the result and return the exit status."""
    if args.script is not None and args.instance is not None:
        raise UsageError(f"{args.script} and --instance {args.instance}: name the problem once")
    from islands.run.build import RankOptions
    from islands.run.runner import resume_requested
    from islands.run.single import Output

    output = Output(
        writes=True,
        folder=args.folder,
        stream=sys.stderr if args.json else sys.stdout,
        quiet=args.quiet,
    )
    ranks = world(fault_tolerant=args.fault_tolerant)
    with ranks.guarded(show_traceback=args.debug):
        rank_options = RankOptions(share_gpu=args.share_gpu)
        result = resume_requested(
            *(args.folder, options(args), ranks, output, rank_options),
            trust=Trust(is_full=args.trust),
        )
        return ended(result, ranks, as_json=args.json)
