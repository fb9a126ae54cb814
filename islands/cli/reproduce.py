"""Run a paper's own experiment, and put the paper's tables beside ours."""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from islands.cli import arguments
from islands.errors import UsageError
from islands.parallel import world
from islands.reproduce import PAPERS
from islands.text import unknown

if TYPE_CHECKING:
    from islands.backends.base import Backend
    from islands.parallel import World
    from islands.reproduce.experiment import Experiment
    from islands.reproduce.selection import Selection
    from islands.reproduce.table import Paper

_THREADS = (1, 4, 8)
_EXAMPLES = """
examples:
  islands reproduce xavier2019/values --runs 5 --out values
  islands reproduce xavier2019/times --only zi929 mu1979 --threads 1,4
  islands reproduce xavier2019 --generations 20 --only zi929      a try
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands reproduce`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("what", metavar="PAPER[/TABLE]", help=f"{', '.join(PAPERS)}; all its tables, or one")
    add("--runs", metavar="R", type=int, help="runs of an instance, with seeds 1 to R")
    add("--only", metavar="NAME", nargs="+", action="extend", help="these instances alone")
    words = "write tables, plots and settings to this folder"
    add("--out", metavar="DIR", type=arguments.folder, help=words)
    add("--backend", metavar="NAME", default="auto", help="auto, cpu or cuda")
    add("--threads", metavar="T,T", help="threads of the CPU runs to compare times with, or none")
    add("--generations", metavar="G", type=int, help="of each run, instead of the paper's: a try")
    add("--json", action="store_true", help="print one JSON object; the tables go to stderr")


def main(args: argparse.Namespace) -> int:
    """Fill the tables, print them and return the exit status."""
    from islands.reproduce.output import Folder
    from islands.reproduce.perform import perform
    from islands.run.machine import take_device

    ranks = world()
    with ranks.guarded(show_traceback=args.debug):
        # Ranks may be bound to different numbers of cores, but have to make the same runs.
        cores = ranks.bcast(len(os.sched_getaffinity(0)))
        backend = take_device(ranks, args.backend)
        paper, experiment, selections = ranks.agreed(lambda: _prepared(args, ranks, cores, backend))
        settings = _settings(args.what, experiment, selections)
        speaks = ranks.rank == 0
        folder = Folder(args.out, settings) if args.out is not None and speaks else None

        def say(text: str) -> None:
            if speaks:
                print(text, file=sys.stderr if args.json else sys.stdout, flush=True)

        say(paper.title)
        tables = perform(selections, experiment, say, folder)
        if folder is not None:
            say(f"\nWrote {folder.path}")
    if args.json and speaks:
        print(json.dumps({**settings, "tables": tables}))
    return 0


def _prepared(
    args: argparse.Namespace, ranks: World, cores: int, backend: Backend
) -> tuple[Paper, Experiment, list[Selection]]:
    """Return what is to be done, having refused here all that can be refused before a run."""
    from islands.reproduce.experiment import Experiment
    from islands.reproduce.output import refuse_used
    from islands.reproduce.selection import select

    name, slash, table = args.what.partition("/")
    if name not in PAPERS:
        raise UsageError(unknown("paper", name, PAPERS))
    paper: Paper = import_module(PAPERS[name]).PAPER
    if slash and table not in paper.tables:
        raise UsageError(unknown(f"table of {name}", table, paper.tables))
    for option in ("runs", "generations"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise UsageError(f"--{option} {value}: must be at least 1")
    threads = _threads(args.threads, cores)
    _require_packages(["scipy", "matplotlib"] if args.out is not None else ["scipy"])
    if args.out is not None:
        refuse_used(args.out)
    tables = {table: paper.tables[table]} if slash else paper.tables
    selections = select(tables, args.only or ())
    experiment = Experiment(
        preset=paper.preset,
        paper_generations=paper.generations,
        generations=args.generations or paper.generations,
        backend=backend.name,
        device=backend.device,
        threads=threads,
        runs=args.runs,
        world=ranks,
    )
    return paper, experiment, selections


def _threads(asked: str | None, cores: int) -> tuple[int, ...]:
    """Return the numbers asked for; by default the paper's, as far as this machine has cores."""
    if asked is None:
        return tuple(each for each in _THREADS if each <= cores)
    if asked == "none":
        return ()
    try:
        threads = tuple(dict.fromkeys(int(each) for each in asked.split(",")))
    except ValueError:
        threads = ()
    if not threads or min(threads) < 1:
        raise UsageError(
            f"--threads {asked}: must be none, or whole numbers of at least 1, such as 1,4,8"
        )
    return threads


def _require_packages(names: list[str]) -> None:
    absent = [name for name in names if find_spec(name) is None]
    if absent:
        raise UsageError(
            f"reproduce needs {' and '.join(absent)}. Install with: pip install 'islands[report]'"
        )


def _settings(what: str, experiment: Experiment, selections: list[Selection]) -> dict[str, object]:
    import islands

    return {
        "what": what,
        "preset": experiment.preset,
        "generations": experiment.generations,
        "seeds": {
            each.table.name: list(range(1, (experiment.runs or each.table.runs) + 1))
            for each in selections
        },
        "instances": {each.table.name: [found.name for found in each.here] for each in selections},
        "backend": experiment.backend,
        "device": experiment.device,
        "ranks": experiment.world.size,
        "cpu_threads": list(experiment.threads),
        "islands": islands.__version__,
    }
