"""Repeat a paper's experiments, and compare its tables with ours."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from islands.backends import BACKENDS
from islands.cli import arguments
from islands.doctor.nvidia import driver
from islands.errors import Suspended
from islands.inside import inside
from islands.parallel import InterruptedTogether, world
from islands.record.folder import PAGE
from islands.record.provenance import provenance
from islands.studies.papers import ALL, PAPERS
from islands.text import meant, show

if TYPE_CHECKING:
    from islands.display.heartbeat import Heartbeat
    from islands.parallel import World
    from islands.studies.papers.experiment import ExperimentRequest
    from islands.studies.papers.requested import PaperExperiment

_EXAMPLES = """
examples:
  islands reproduce all --out papers              everything, and a page with all tables
  islands reproduce xavier2019/values --runs 5 --out values
  islands reproduce xavier2019/table1                                     the same table
  islands reproduce xavier2019/times --only zi929 mu1979 --threads 1,4
  islands reproduce xavier2019 --generations 20 --only zi929      a quick test
  islands reproduce jardim2021/implementations --threads 1,all --out jardim-a
  islands reproduce soca2010/quality --only bur26a chr20a
  islands reproduce munhao2019/orlib --only 'mknapcb?-?0' --out orlib
  islands reproduce dantas2014/gaps --runs 10 --out gaps

To continue an interrupted experiment, repeat the command; without --out, its results are in runs/
until it is complete.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands reproduce`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    text = f"a paper, or one of its tables: {', '.join(PAPERS)}; all: every table of all papers"
    add("what", metavar="PAPER[/TABLE]", help=text)
    text = "runs per instance, with seeds 1 to R (default: the paper's number)"
    add("--runs", metavar="R", type=arguments.whole_number(), help=text)
    text = "only these instances, or those that match a pattern"
    add("--only", metavar="NAME", nargs="+", action="extend", help=text)
    text = "write tables, plots and settings to this folder, and resume what it contains"
    add("--out", metavar="DIR", type=arguments.folder, help=text)
    add("--backend", metavar="NAME", default="auto", help="auto, cpu or cuda")
    text = "numbers of threads for the CPU times to compare with, such as 1,all; or none"
    add("--threads", metavar="T,T", help=text)
    text = "generations per run, for a quick test (default: the paper's number)"
    add("--generations", metavar="G", type=arguments.whole_number(), help=text)
    add("--quiet", action="store_true", help="print only the tables, not the progress")
    add("--json", action="store_true", help="print one JSON object; the tables go to stderr")


def main(args: argparse.Namespace) -> int:
    """Compute the tables of a paper or of all papers, and return the exit status."""
    from islands.display.heartbeat import Heartbeat
    from islands.engine.build import take_device
    from islands.engine.signals import INTERRUPTED_STATUS, Interruption, suspending
    from islands.studies.papers.cores import cores_of_host
    from islands.studies.papers.requested import UNFINISHED, prepared

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

        # Several ranks wait for each other, so that they end together after a generation.
        at = "ending the experiment"
        signals = suspending() if ranks.size == 1 else Interruption(suspends=at, interrupts=at)
        done: dict[str, Any] = {}
        try:
            with signals, heartbeat, _watchable(args, ranks, heartbeat):
                for experiment in experiments:
                    heartbeat.work = f"reproduce {experiment.name}"
                    done[experiment.name] = _performed(experiment, ranks, say)
        except (KeyboardInterrupt, Suspended) as error:
            folder = args.out if args.out is not None else UNFINISHED
            say(f"\nInterrupted. To continue, repeat the command: {folder} has the results")
            if isinstance(error, Suspended):
                return Suspended.status
            if ranks.size > 1 and isinstance(error, InterruptedTogether):
                return INTERRUPTED_STATUS  # reported already
            raise
        finally:
            for experiment in experiments:
                experiment.request.campaign.store.close()
        for experiment in experiments if args.out is None else ():
            experiment.request.campaign.store.remove()
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
def _watchable(args: argparse.Namespace, ranks: World, heartbeat: Heartbeat) -> Iterator[None]:
    """Lock the folder of all papers, and write the current work to it for `islands watch`."""
    from islands.cells.store import Store
    from islands.display.heartbeat import end_work, write_work

    is_written = args.out is not None and ranks.rank == 0
    with closing(Store()) as store:
        ranks.run_on_all(lambda: store.open(args.out) if is_written and args.what == ALL else None)
        if is_written:
            heartbeat.listener = partial(write_work, args.out)
        yield
        if is_written:
            end_work(args.out)


def _performed(
    experiment: PaperExperiment, ranks: World, say: Callable[[str], None]
) -> dict[str, object]:
    """Compute the tables of a paper; return its settings and tables."""
    from islands.studies.papers.perform import perform

    request = experiment.request
    folder = ranks.run_on_all(lambda: experiment.opened() if ranks.rank == 0 else None)
    say(experiment.paper.title)
    tables = perform(experiment.selections, request, say, folder)
    if folder is not None:
        folder.write_provenance(lambda: _provenance(request))
        folder.page()
        say(f"\nWrote {folder.path}")
    return {
        **experiment.settings,
        "device": request.device,
        "ranks": ranks.size,
        "cpu_threads": list(request.threads),
        "tables": tables,
    }


def _provenance(request: ExperimentRequest) -> dict[str, object]:
    where = {"devices": [request.device], "ranks": request.campaign.world.size, "driver": driver()}
    return {**provenance(), **where, "command": sys.argv[1:]}
