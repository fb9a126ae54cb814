"""Repeat a paper's experiments, and compare its tables with ours."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from islands.backends import BACKENDS
from islands.cli import arguments
from islands.doctor.nvidia import driver
from islands.errors import Suspended, UsageError
from islands.inside import inside
from islands.parallel import InterruptedTogether, world
from islands.record.folder import PAGE, FolderKind, refuse_other_work
from islands.record.provenance import provenance
from islands.studies.papers import PAPERS
from islands.text import meant, show, unknown

if TYPE_CHECKING:
    from islands.backends.base import Backend
    from islands.display.heartbeat import Heartbeat
    from islands.parallel import World
    from islands.studies.papers.experiment import ExperimentRequest
    from islands.studies.papers.perform import ExperimentFolder
    from islands.studies.papers.table import Paper, PaperTable, Selection

ALL = "all"
UNFINISHED = Path("runs")
"""Where results are until a command without --out is complete."""


@dataclass(frozen=True)
class PaperExperiment:
    """The requested tables of one paper, and the folder for its results."""

    name: str
    paper: Paper
    request: ExperimentRequest
    selections: list[Selection]
    settings: dict[str, object]
    out: Path | None

    def opened(self) -> ExperimentFolder | None:
        """Return the folder; without --out, only open one that has the results until all are made.

        The command closes it.
        """
        from islands.studies.papers.perform import ExperimentFolder

        store = self.request.campaign.store
        if self.out is not None:
            return ExperimentFolder(self.out, self.settings, store)
        key = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:8]
        store.open(UNFINISHED / f"unfinished-{self.name}-{key}")
        return None


def prepared(
    args: argparse.Namespace,
    ranks: World,
    cores: frozenset[int],
    backend: Backend,
    heartbeat: Heartbeat,
) -> list[PaperExperiment]:
    """Return the experiments; refuse wrong options before the first run."""
    from islands.cells.campaign import Campaign
    from islands.studies.papers.experiment import ExperimentRequest
    from islands.studies.papers.table import select

    papers = _papers(args.what)
    for option in ("runs", "generations"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise UsageError(f"--{option} {value}: must be at least 1")
    _require_packages(["scipy", "matplotlib"] if args.out is not None else ["scipy"])
    if args.out is not None and ranks.rank == 0:
        refuse_other_work(args.out, FolderKind.EXPERIMENT, own=papers)
        for each in papers if args.what == ALL else ():
            refuse_other_work(args.out / each, FolderKind.EXPERIMENT)
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
            campaign=Campaign(ranks, heartbeat),
            cores=cores,
        )
        mine = [each for each in selections if each.table in tables.values()]
        whole = args.what == ALL
        threads = _words(args.threads, paper.threads)
        asked = name if whole or "/" not in args.what else f"{name}/{next(iter(tables))}"
        settings = _settings(asked, request, threads, mine)
        out = args.out / name if whole and args.out is not None else args.out
        experiments.append(PaperExperiment(name, paper, request, mine, settings, out))
    return [each for each in experiments if each.selections]


def _papers(what: str) -> dict[str, tuple[Paper, Mapping[str, type[PaperTable]]]]:
    """Return the requested papers, each with the requested tables."""
    name, slash, table = what.partition("/")
    name = meant(name, (*PAPERS, ALL))
    if name not in PAPERS and (name != ALL or slash):
        raise UsageError(unknown("paper", name, (*PAPERS, ALL)))
    papers = {
        each: import_module(PAPERS[each]).PAPER for each in (PAPERS if name == ALL else [name])
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

To continue an interrupted experiment, repeat the command; without --out, its results are in runs/
until it is complete.
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
    from islands.engine.build import take_device
    from islands.engine.signals import INTERRUPTED_STATUS, Interruption, suspending
    from islands.studies.papers.cores import cores_of_host

    ranks = world()
    with ranks.guarded(show_traceback=args.debug):
        cores = cores_of_host(ranks)
        backend = take_device(ranks, meant(args.backend, BACKENDS))
        is_first = ranks.rank == 0
        heartbeat = Heartbeat(sys.stderr if is_first and not args.quiet else None)
        experiments = ranks.run_on_all(lambda: prepared(args, ranks, cores, backend, heartbeat))

        def say(text: str) -> None:
            if is_first:
                heartbeat.print(text, sys.stderr if args.json else sys.stdout)

        # Several ranks wait for each other, so they end together after a generation.
        at = "ending the experiment"
        hearing = suspending() if ranks.size == 1 else Interruption(suspends=at, interrupts=at)
        done: dict[str, Any] = {}
        try:
            with hearing, heartbeat, _together(args, ranks, heartbeat):
                for each in experiments:
                    heartbeat.work = f"reproduce {each.name}"
                    done[each.name] = _performed(each, ranks, say)
        except (KeyboardInterrupt, Suspended) as error:
            kept = args.out if args.out is not None else UNFINISHED
            say(f"\nInterrupted. To continue, repeat the command: {kept} has the results")
            if isinstance(error, Suspended):
                return Suspended.status
            # It has been reported.
            if ranks.size > 1 and isinstance(error, InterruptedTogether):
                return INTERRUPTED_STATUS
            raise
        finally:
            for each in experiments:
                each.request.campaign.store.close()
        for each in experiments if args.out is None else ():
            each.request.campaign.store.remove()
        with suppress(OSError):
            UNFINISHED.rmdir()  # unless it contains other work
    if args.what == ALL and args.out is not None and is_first:
        from islands.studies.pages.folders import page_for

        page_for([args.out]).write(inside(args.out, PAGE))
        say(f"\nWrote {args.out / PAGE}")
    if args.json and is_first:
        [only] = done.values() if args.what != ALL else [{"papers": done}]
        show(json.dumps(only))
    return 0


@contextmanager
def _together(args: argparse.Namespace, ranks: World, heartbeat: Heartbeat) -> Iterator[None]:
    """Let other processes watch the experiments, of which each has a folder of its own."""
    from islands.cells.store import Store
    from islands.display.heartbeat import end_work, write_work

    is_written = args.out is not None and ranks.rank == 0
    with closing(Store()) as store:
        # All papers together have a lock, too.
        ranks.run_on_all(lambda: store.open(args.out) if is_written and args.what == ALL else None)
        if is_written:
            heartbeat.tell = partial(write_work, args.out)
        yield
        if is_written:
            end_work(args.out)


def _performed(
    each: PaperExperiment, ranks: World, say: Callable[[str], None]
) -> dict[str, object]:
    """Fill the tables of one paper; return its settings and tables."""
    from islands.studies.papers.perform import perform

    folder = ranks.run_on_all(lambda: each.opened() if ranks.rank == 0 else None)
    say(each.paper.title)
    tables = perform(each.selections, each.request, say, folder)
    if folder is not None:
        folder.write_provenance(lambda: _provenance(each.request))
        folder.page()
        say(f"\nWrote {folder.path}")
    made = {
        "device": each.request.device,
        "ranks": ranks.size,
        "cpu_threads": list(each.request.threads),
    }
    return {**each.settings, **made, "tables": tables}


def _provenance(request: ExperimentRequest) -> dict[str, object]:
    where = {"devices": [request.device], "ranks": request.campaign.world.size, "driver": driver()}
    return {**provenance(), **where, "command": sys.argv[1:]}
