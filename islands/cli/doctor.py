"""Check this machine: versions, GPUs, compiler, MPI, and under mpirun the transports."""

from __future__ import annotations

import argparse
import sys

import islands
from islands.parallel import world


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Print what there is; return 0 where all of it works, else 1."""
    from islands.doctor.checkup import examine
    from islands.doctor.report import as_json, as_text

    ranks = world()
    if ranks.rank == 0:
        said = "trying compilers, devices and a start, which takes some seconds"
        print(f"islands {islands.__version__}: {said}", file=sys.stderr, flush=True)
    with ranks.guarded(show_traceback=args.debug):
        checkup = examine(ranks)
        if ranks.rank == 0:
            print(as_json(checkup) if args.json else as_text(checkup), flush=True)
        # A launcher may end the ranks that are left as soon as one has left with a status.
        ranks.barrier()
    return 1 if checkup.problems else 0
