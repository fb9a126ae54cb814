"""Write one picture of a run as PNG or SVG."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from islands.cli import arguments
from islands.text import show

_EXAMPLES = """
WHAT: solution (a tour, an assignment, ...), convergence (over generations), evaluations or seconds
(convergence over these), migration (who sent migrants to whom; also: islands), lineage (of the
best solution).

examples:
  islands plot runs/zi929-20260101-120000
  islands plot runs/zi929-20260101-120000 convergence --out course.svg
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands plot`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("folder", metavar="DIR", type=arguments.folder, help="the folder of a run")
    add("what", metavar="WHAT", nargs="?", default="solution", help="see below (default: solution)")
    words = "a file that ends in .png or .svg (default: WHAT.png in the folder)"
    add("--out", metavar="FILE", type=Path, help=words)
    words = "the instance, or FILE.py:NAME, if its file or script has moved"
    add("--instance", metavar="FILE", help=words)
    words = "run the script that states the problem, even if others may have written it"
    add("--trust", action="store_true", help=words)


def main(args: argparse.Namespace) -> int:
    """Write the picture and print its path."""
    from islands.report.pictures import write_picture

    path, notes = write_picture(
        args.folder, args.what, args.out, trusted=args.trust, moved=args.instance
    )
    for note in notes:
        show(f"islands: {note}", file=sys.stderr)
    show(f"Wrote {path}")
    return 0
