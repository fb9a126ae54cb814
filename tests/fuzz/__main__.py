"""Damage files at random, and pass them to all readers; call functions with wrong arguments.

    python tests/fuzz [N] [--first K] [--only TARGET]
    python tests/fuzz --calls [N] [--first K]

Run N cases (1,000,000), beginning with case K. Each file must be read, or rejected with one
`IslandsError` on one line, in less than 5 s and 2 GB. With --calls, run N calls (20,000) of the
functions that make problems, with wrong arguments: see fuzz_models.py. Print all other cases; the
exit status is 1 if there are any.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "helpers"))

from fuzz_cases import faults
from fuzz_files import targets
from fuzz_models import call_faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("cases", nargs="?", type=int, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="K")
    parser.add_argument("--only", metavar="TARGET")
    parser.add_argument("--calls", action="store_true")
    args = parser.parse_args()
    began, found = time.monotonic(), 0
    count = args.cases or (20_000 if args.calls else 1_000_000)
    cases = range(args.first, args.first + count)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        if args.calls:
            every = call_faults(cases)
        else:
            chosen = [each for each in targets(Path(place)) if args.only in (None, each.name)]
            every = faults(chosen, Path(place), cases)
        for fault in every:
            found += 1
            print(f"{fault.target}, case {fault.case}: {fault.what}", flush=True)
    print(f"{count} cases, {time.monotonic() - began:.0f} s: {found} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
