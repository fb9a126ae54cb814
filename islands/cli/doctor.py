"""Check this machine: versions, GPUs, compiler, MPI, and under mpirun the transports."""

import argparse
import sys

import islands
from islands.parallel import world
from islands.text import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Print the results; return 0 if everything works, otherwise 1."""
    from islands.doctor.checkup import examine
    from islands.doctor.report import as_json, as_text

    ranks = world()
    if ranks.rank == 0:
        words = "checking compilers, devices and the start of a run; this takes a few seconds"
        show(f"islands {islands.__version__}: {words}", file=sys.stderr)
    with ranks.guarded(show_traceback=args.debug):
        checkup = examine(ranks)
        if ranks.rank == 0:
            show(as_json(checkup) if args.json else as_text(checkup))
        # A launcher may end the other ranks as soon as one rank exits with an error status.
        ranks.barrier()
    return 1 if checkup.problems else 0
