"""Repeat a paper's experiments, and compare its tables with ours."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from islands.backends import BACKENDS
from islands.cli import arguments
from islands.doctor.nvidia import driver
from islands.errors import Suspended, UsageError
from islands.parallel import world
from islands.paths import writing
from islands.record.provenance import provenance
from islands.reproduce import PAPERS
from islands.text import meant, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from islands.backends.base import Backend
    from islands.display.heartbeat import Heartbeat
    from islands.parallel import World
    from islands.reproduce.experiment import ExperimentRequest
    from islands.reproduce.selection import Selection
    from islands.reproduce.table import Paper, PaperTable

_ALL = "all"
_EXAMPLES = """
examples:
  islands reproduce all --out papers              everything, and a page with all tables
  islands reproduce xavier2019/values --runs 5 --out values
  islands reproduce xavier2019/table1                                     the same table
  islands reproduce xavier2019/times --only zi929 mu1979 --threads 1,4
  islands reproduce xavier2019 --generations 20 --only zi929      a try
  islands reproduce jardim2021/implementations --threads 1,all --out jardim-a
  islands reproduce soca2010/quality --only bur26a chr20a
  islands reproduce munhao2019/orlib --only 'mknapcb?-?0' --out orlib
  islands reproduce dantas2014/gaps --runs 10 --out gaps

To continue an interrupted experiment with --out, repeat the command.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands reproduce`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    words = f"{', '.join(PAPERS)}: all tables of the paper, or one; all: those of all papers"
    add("what", metavar="PAPER[/TABLE]", help=words)
    words = "runs per instance, with seeds 1 to R (default: the paper's number)"
    add("--runs", metavar="R", type=int, help=words)
    words = "only these instances, or those that match a pattern"
    add("--only", metavar="NAME", nargs="+", action="extend", help=words)
    words = "write tables, plots and settings to this folder, and resume what it contains"
    add("--out", metavar="DIR", type=arguments.folder, help=words)
    add("--backend", metavar="NAME", default="auto", help="auto, cpu or cuda")
    words = "numbers of threads for the CPU times to compare with, such as 1,all; or none"
    add("--threads", metavar="T,T", help=words)
    words = "generations of each run, for a quick test (default: the paper's number)"
    add("--generations", metavar="G", type=int, help=words)
    add("--quiet", action="store_true", help="print only the tables, not the progress")
    add("--json", action="store_true", help="print one JSON object; the tables go to stderr")


def main(args: argparse.Namespace) -> int:
    """Fill the tables of a paper or of all papers, and return the exit status."""
    from islands.display.heartbeat import Heartbeat
    from islands.reproduce.cores import cores_of_host
    from islands.run.device import take_device
    from islands.run.signals import INTERRUPTED_STATUS, Interruption, suspending

    ranks = world()
    with ranks.guarded(show_traceback=args.debug):
        cores = cores_of_host(ranks)
        backend = take_device(ranks, meant(args.backend, BACKENDS))
        experiments = ranks.run_on_all(lambda: _prepared(args, ranks, cores, backend))
        is_first = ranks.rank == 0
        heartbeat = Heartbeat(sys.stderr if is_first and not args.quiet else None)

        def say(text: str) -> None:
            if is_first:
                heartbeat.print(text, sys.stderr if args.json else sys.stdout)

        # Several ranks wait for each other, so they end together after a generation.
        at = "ending the experiment"
        hearing = suspending() if ranks.size == 1 else Interruption(suspends=at, interrupts=at)
        done = {}
        try:
            with hearing, heartbeat, _together(args, ranks, heartbeat):
                for each in experiments:
                    heartbeat.work = f"reproduce {each.name}"
                    done[each.name] = _performed(each, ranks, say, heartbeat)
        except (KeyboardInterrupt, Suspended) as error:
            if args.out is not None:
                say(f"\nInterrupted. To continue, repeat the command: {args.out} has the results")
            if isinstance(error, Suspended):
                return Suspended.status
            if ranks.size > 1:  # the interrupt has been reported
                return INTERRUPTED_STATUS
            raise
    if args.what == _ALL and args.out is not None and is_first:
        from islands.report.folders import PAGE, page_for

        page_for([args.out]).write(args.out / PAGE)
        say(f"\nWrote {args.out / PAGE}")
    if args.json and is_first:
        [only] = done.values() if args.what != _ALL else [{"papers": done}]
        print(json.dumps(only))
    return 0


@contextmanager
def _together(args: argparse.Namespace, ranks: World, heartbeat: Heartbeat) -> Iterator[None]:
    """Let other processes watch the experiments, of which each has a folder of its own."""
    from islands.record.kind import EXPERIMENTS_LOCK
    from islands.record.lock import FolderLock
    from islands.record.work import end_work, write_work

    is_written = args.out is not None and ranks.rank == 0
    with FolderLock("experiment", EXPERIMENTS_LOCK) as lock:

        def take() -> None:
            if is_written and args.what == _ALL:
                with writing(args.out):
                    args.out.mkdir(parents=True, exist_ok=True)
                lock.take(args.out)

        ranks.run_on_all(take)
        if is_written:
            heartbeat.tell = partial(write_work, args.out)
        yield
        if is_written:
            end_work(args.out)


@dataclass(frozen=True)
class _PaperExperiment:
    """The requested tables of one paper, and the folder for its results."""

    name: str
    paper: Paper
    request: ExperimentRequest
    selections: list[Selection]
    settings: dict[str, object]
    out: Path | None


def _performed(
    each: _PaperExperiment, ranks: World, say: Callable[[str], None], heartbeat: Heartbeat
) -> dict[str, object]:
    """Fill the tables of one paper; return its settings and tables."""
    from islands.reproduce.output import ExperimentFolder
    from islands.reproduce.perform import perform

    out = each.out if ranks.rank == 0 else None
    folder = ranks.run_on_all(lambda: ExperimentFolder(out, each.settings) if out else None)
    say(each.paper.title)
    try:
        tables = perform(each.selections, each.request, say, folder, heartbeat)
    finally:
        if folder is not None:
            folder.close()
    if folder is not None:
        folder.tell(lambda: _provenance(each.request))
        folder.page()
        say(f"\nWrote {folder.path}")
    made = {
        "device": each.request.device,
        "ranks": ranks.size,
        "cpu_threads": list(each.request.threads),
    }
    return {**each.settings, **made, "tables": tables}


def _provenance(request: ExperimentRequest) -> dict[str, object]:
    where = {"devices": [request.device], "ranks": request.world.size, "driver": driver()}
    return {**provenance(), **where, "command": sys.argv[1:]}


def _prepared(
    args: argparse.Namespace, ranks: World, cores: frozenset[int], backend: Backend
) -> list[_PaperExperiment]:
    """Return the experiments; refuse wrong options before the first run."""
    from islands.reproduce.experiment import ExperimentRequest
    from islands.reproduce.selection import select

    papers = _papers(args.what)
    for option in ("runs", "generations"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise UsageError(f"--{option} {value}: must be at least 1")
    _require_packages(["scipy", "matplotlib"] if args.out is not None else ["scipy"])
    if args.out is not None and ranks.rank == 0:
        from islands.reproduce.output import refuse_other_work

        for folder in [args.out, *(args.out / each for each in papers if args.what == _ALL)]:
            refuse_other_work(folder)
    every = [table for _, tables in papers.values() for table in tables.values()]
    selections = select(every, args.only or ())
    experiments = []
    for name, (paper, tables) in papers.items():
        request = ExperimentRequest(
            backend=backend.name,
            device=backend.device,
            threads=_threads(args.threads, len(cores), paper.threads),
            runs=args.runs,
            generations=args.generations,
            world=ranks,
            cores=cores,
        )
        mine = [each for each in selections if each.table in tables.values()]
        whole = args.what == _ALL
        threads = _words(args.threads, paper.threads)
        settings = _settings(name if whole else args.what, request, threads, mine)
        out = args.out / name if whole and args.out is not None else args.out
        experiments.append(_PaperExperiment(name, paper, request, mine, settings, out))
    return [each for each in experiments if each.selections]


def _papers(what: str) -> dict[str, tuple[Paper, Mapping[str, type[PaperTable]]]]:
    """Return the requested papers, each with the requested tables."""
    name, slash, table = what.partition("/")
    name = meant(name, (*PAPERS, _ALL))
    if name not in PAPERS and (name != _ALL or slash):
        raise UsageError(unknown("paper", name, (*PAPERS, _ALL)))
    papers = {
        each: import_module(PAPERS[each]).PAPER for each in (PAPERS if name == _ALL else [name])
    }
    if not slash:
        return {each: (paper, paper.own_tables()) for each, paper in papers.items()}
    paper: Paper = papers[name]
    table = meant(table, (*paper.tables, *paper.printed))
    table = paper.printed.get(table, table)
    if table not in paper.tables:
        raise UsageError(unknown(f"table of {name}", table, (*paper.tables, *paper.printed)))
    return {name: (paper, {table: paper.tables[table]})}


def _threads(asked: str | None, cores: int, usual: Sequence[int]) -> tuple[int, ...]:
    """Return the requested numbers of threads; by default the usual ones up to all cores."""
    if asked is None:
        return tuple(dict.fromkeys(each or cores for each in usual if each <= cores))
    if asked == "none":
        return ()
    try:
        numbers = [cores if each == "all" else int(each) for each in asked.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise UsageError(
            f"--threads {asked}: must be none, or whole numbers of at least 1, such as 1,4,all"
        )
    return tuple(dict.fromkeys(numbers))


def _words(asked: str | None, usual: Sequence[int]) -> str:
    """Return the requested numbers of threads in words, which are the same on any machine."""
    if asked is None:
        return ",".join(str(each or "all") for each in usual)
    return asked


def _require_packages(names: list[str]) -> None:
    absent = [name for name in names if find_spec(name) is None]
    if absent:
        it = "it" if len(absent) == 1 else "them"
        raise UsageError(
            f"reproduce needs {' and '.join(absent)}. Install {it} with: pip install"
            " 'islands[report]'"
        )


def _settings(
    what: str, asked: ExperimentRequest, threads: str, selections: list[Selection]
) -> dict[str, object]:
    import islands

    tables = [each.table for each in selections]
    return {
        "what": what,
        "preset": {table.name: table.presets() for table in tables},
        "generations": {table.name: asked.generations or table.generations for table in tables},
        "seeds": {table.name: list(range(1, (asked.runs or table.runs) + 1)) for table in tables},
        "instances": {each.table.name: [found.name for found in each.here] for each in selections},
        "backend": asked.backend,
        # The threads of a CPU depend on the machine and the number of ranks, and change no result.
        "device": "CPU" if asked.backend == "cpu" else asked.device,
        "threads": threads,
        "islands": islands.__version__,
    }
