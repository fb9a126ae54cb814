"""Repeat a paper's experiments, and compare its tables with ours."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from islands.backends import BACKENDS
from islands.cli import arguments
from islands.cli.experiments import ALL, UNFINISHED, PaperExperiment, prepared
from islands.doctor.nvidia import driver
from islands.errors import Suspended
from islands.inside import inside
from islands.parallel import world
from islands.paths import writing
from islands.record.provenance import provenance
from islands.reproduce import PAPERS
from islands.text import meant, show

if TYPE_CHECKING:
    from islands.campaign.ledger import Ledger
    from islands.display.heartbeat import Heartbeat
    from islands.parallel import World
    from islands.reproduce.experiment import ExperimentRequest

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
    from islands.reproduce.experiment import cores_of_host
    from islands.run.build import take_device
    from islands.run.signals import INTERRUPTED_STATUS, Interruption, suspending

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
        unfinished: list[Ledger] = []
        try:
            with hearing, heartbeat, _together(args, ranks, heartbeat):
                for each in experiments:
                    heartbeat.work = f"reproduce {each.name}"
                    done[each.name] = _performed(each, ranks, say, unfinished)
        except (KeyboardInterrupt, Suspended) as error:
            kept = args.out if args.out is not None else UNFINISHED
            say(f"\nInterrupted. To continue, repeat the command: {kept} has the results")
            if isinstance(error, Suspended):
                return Suspended.status
            if ranks.size > 1:  # the interrupt has been reported
                return INTERRUPTED_STATUS
            raise
        finally:
            for ledger in unfinished:
                ledger.close()
        for ledger in unfinished:
            ledger.remove()
        with suppress(OSError):
            UNFINISHED.rmdir()  # unless it contains other work
    if args.what == ALL and args.out is not None and is_first:
        from islands.report.folders import PAGE, page_for

        page_for([args.out]).write(inside(args.out, PAGE))
        say(f"\nWrote {args.out / PAGE}")
    if args.json and is_first:
        [only] = done.values() if args.what != ALL else [{"papers": done}]
        show(json.dumps(only))
    return 0


@contextmanager
def _together(args: argparse.Namespace, ranks: World, heartbeat: Heartbeat) -> Iterator[None]:
    """Let other processes watch the experiments, of which each has a folder of its own."""
    from islands.display.heartbeat import end_work, write_work
    from islands.record.folder import EXPERIMENTS_LOCK
    from islands.record.lock import FolderLock

    is_written = args.out is not None and ranks.rank == 0
    with FolderLock("experiment", EXPERIMENTS_LOCK) as lock:

        def take() -> None:
            if is_written and args.what == ALL:
                with writing(args.out):
                    args.out.mkdir(parents=True, exist_ok=True)
                lock.take(args.out)

        ranks.run_on_all(take)
        if is_written:
            heartbeat.tell = partial(write_work, args.out)
        yield
        if is_written:
            end_work(args.out)


def _performed(
    each: PaperExperiment,
    ranks: World,
    say: Callable[[str], None],
    unfinished: list[Ledger],
) -> dict[str, object]:
    """Fill the tables of one paper; return its settings and tables.

    Without --out, its results are added to the `unfinished` ones of the command.
    """
    from islands.reproduce.perform import ExperimentFolder, perform

    ledger = each.request.campaign.ledger

    def opened() -> ExperimentFolder | None:
        if ranks.rank == 0 and each.out is not None:
            return ExperimentFolder(each.out, each.settings, ledger)
        if ranks.rank == 0:
            ledger.open(each.unfinished())
            unfinished.append(ledger)
        return None

    folder = ranks.run_on_all(opened)
    say(each.paper.title)
    try:
        tables = perform(each.selections, each.request, say, folder)
    finally:
        if folder is not None:
            folder.close()
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
