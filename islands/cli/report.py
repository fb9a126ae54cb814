"""Write a page with pictures of one run, or a page that compares several."""

from __future__ import annotations

import argparse
from pathlib import Path

from islands.cli import arguments
from islands.errors import UsageError
from islands.text import either, show

_SUFFIXES = (".html", ".htm")

_EXAMPLES = """
The page is one HTML file that needs no network. Without --out it is report.html in the folder, or
for several folders in the current one.

examples:
  islands report runs/zi929-20260101-120000
  islands report ten                                a series of runs
  islands report brkga ga de --out methods.html     methods, compared with tests
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands report`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    words = "folders of runs, series, a tuning, or an experiment of islands reproduce"
    add = parser.add_argument
    add("folders", metavar="DIR", nargs="+", type=arguments.folder, help=words)
    add("--out", metavar="FILE", type=Path, help="the page, .html or .htm (default: see below)")
    words = "the instance, or FILE.py:NAME, if the file or script of the run has moved"
    add("--instance", metavar="FILE", help=words)
    words = "run the script that states the problem, even if others may have written it"
    add("--trust", action="store_true", help=words)


def main(args: argparse.Namespace) -> int:
    """Write the page and print its path."""
    if args.out is not None and args.out.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"--out {args.out}: must end in {either(_SUFFIXES)}, as a page is HTML")
    from islands.report.figure import style
    from islands.report.folders import default_path, page_for

    style()  # refuse at once if Matplotlib is missing
    page = page_for(args.folders, trusted=args.trust, moved=args.instance, say=show)
    path = args.out or default_path(args.folders)
    page.write(path)
    show(f"Wrote {path}")
    return 0
