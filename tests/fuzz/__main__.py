"""Damage files at random, and pass them to all readers.

    python tests/fuzz [N] [--first K] [--only TARGET]

Run N cases (1,000,000), beginning with case K. Each file must be read, or refused with one
`IslandsError` on one line, in less than 5 s and 2 GB. Print all others; the exit status is 1 if
there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "helpers"))

from fuzz_cases import faults
from fuzz_targets import targets


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("cases", nargs="?", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="K")
    parser.add_argument("--only", metavar="TARGET")
    args = parser.parse_args()
    began, found = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        chosen = [each for each in targets(Path(place)) if args.only in (None, each.name)]
        for fault in faults(chosen, Path(place), range(args.first, args.first + args.cases)):
            found += 1
            print(f"{fault.target}, case {fault.case}: {fault.what}", flush=True)
    print(f"{args.cases} cases, {time.monotonic() - began:.0f} s: {found} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
