"""Show the state of a run, other work, a job or a sweep."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from islands.cli import arguments
from islands.inside import inside
from islands.text import show

if TYPE_CHECKING:
    from islands.slurm.state import JobState


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands status`."""
    words = "the folder of a run, a job or a sweep, of a series, tuning, experiment or benchmark"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Print the state of the run, or of each run of a sweep."""
    from islands.record.one_run import warnings
    from islands.slurm.collect import is_sweep, states_of
    from islands.slurm.state import state_of

    if is_sweep(args.folder):
        return _print_sweep(args.folder, states_of(args.folder), as_json=args.json)
    state, mixed = state_of(args.folder), warnings(args.folder)
    if args.json:
        facts = {"folder": str(args.folder), "warnings": mixed}
        show(json.dumps(facts | dataclasses.asdict(state)))
        return 0
    show(f"{args.folder}: {state}")
    for warning in mixed:
        show(f"warning: {warning}")
    if state.progress:
        show(f"last row: {state.progress}")
    return 0


def _print_sweep(folder: Path, states: dict[int, JobState], *, as_json: bool) -> int:
    from islands.record.one_run import warnings
    from islands.slurm.collect import counted_states

    if as_json:
        each = {str(number): dataclasses.asdict(state) for number, state in states.items()}
        show(
            json.dumps(
                {
                    "folder": str(folder),
                    "counts": Counter(state.word for state in states.values()),
                    "elements": each,
                }
            )
        )
        return 0
    show(f"{folder}: {counted_states(states)}")
    for number, state in states.items():
        if state.word not in ("done", "queued"):
            show(f"{number:>7}  {state}")
    for number in states:
        for warning in warnings(inside(folder, str(number))):
            show(f"warning: {warning}")
    return 0
