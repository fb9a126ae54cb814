"""The request of `islands reproduce`: the tables of one paper or of all, and their folders."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import islands
from islands.backends.base import Backend
from islands.cells.campaign import Campaign
from islands.display.heartbeat import Heartbeat
from islands.errors import UsageError
from islands.parallel import World
from islands.record.folder import FolderKind, reject_other_work
from islands.studies.papers import ALL, PAPERS
from islands.studies.papers.experiment import ExperimentRequest
from islands.studies.papers.perform import ExperimentFolder
from islands.studies.papers.selection import Selection, select
from islands.studies.papers.table import Paper, PaperTable
from islands.text import meant, unknown
from islands.untrusted import content_digest

UNFINISHED = Path("runs")
"""The folder of results until a command without --out is complete."""


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
        """Return the folder of --out, or None after opening one for results of unfinished commands.

        The command closes it.
        """
        store = self.request.campaign.store
        if self.out is not None:
            return ExperimentFolder(self.out, self.settings, store)
        key = content_digest(self.settings)[:8]
        store.open(UNFINISHED / f"unfinished-{self.name}-{key}")
        return None


def prepared(
    args: argparse.Namespace,
    ranks: World,
    cores: frozenset[int],
    backend: Backend,
    heartbeat: Heartbeat,
) -> list[PaperExperiment]:
    """Return the experiments; reject wrong options before the first run."""
    papers = _papers(args.what)
    threads = {
        name: _threads(args.threads, len(cores), paper.threads)
        for name, (paper, _) in papers.items()
    }
    needed = ["scipy", "matplotlib", "jinja2"] if args.out is not None else ["scipy"]
    if absent := [name for name in needed if find_spec(name) is None]:
        raise UsageError(
            f"reproduce needs {' and '.join(absent)}, which {'are' if absent[1:] else 'is'} not"
            " installed. Install the extra with: pip install 'islands[report]'"
        )
    if args.out is not None and ranks.rank == 0:
        reject_other_work(args.out, FolderKind.EXPERIMENT, leftovers=papers)
        for name in papers if args.what == ALL else ():
            reject_other_work(args.out / name, FolderKind.EXPERIMENT)
    every = [table for _, tables in papers.values() for table in tables.values()]
    selections = select(every, args.only or ())
    experiments = []
    for name, (paper, tables) in papers.items():
        request = ExperimentRequest(
            backend=backend.name,
            device=backend.device,
            threads=threads[name],
            runs=args.runs,
            generations=args.generations,
            campaign=Campaign(ranks, heartbeat),
            cores=cores,
        )
        chosen = [selection for selection in selections if selection.table in tables.values()]
        whole = args.what == ALL
        # Unlike `threads`, this text is the same on any machine.
        words = args.threads or ",".join(str(number or "all") for number in paper.threads)
        what = name if whole or "/" not in args.what else f"{name}/{next(iter(tables))}"
        settings = _settings(what, request, words, chosen)
        out = args.out / name if whole and args.out is not None else args.out
        experiments.append(PaperExperiment(name, paper, request, chosen, settings, out))
    return [experiment for experiment in experiments if experiment.selections]


def _papers(what: str) -> dict[str, tuple[Paper, Mapping[str, type[PaperTable]]]]:
    """Return the requested papers, each with the requested tables."""
    name, slash, table = what.partition("/")
    name = meant(name, (*PAPERS, ALL))
    if name not in PAPERS and (name != ALL or slash):
        raise UsageError(unknown("paper", name, (*PAPERS, ALL)))
    papers = {key: import_module(PAPERS[key]).PAPER for key in (PAPERS if name == ALL else [name])}
    if not slash:
        return {
            key: (paper, {table.name: table for table in paper.kinds if not table.is_extra})
            for key, paper in papers.items()
        }
    paper: Paper = papers[name]
    table = meant(table, (*paper.tables, *paper.printed))
    table = paper.printed.get(table, table)
    if table not in paper.tables:
        raise UsageError(unknown(f"table of {name}", table, (*paper.tables, *paper.printed)))
    return {name: (paper, {table: paper.tables[table]})}


def _threads(words: str | None, cores: int, usual: Sequence[int]) -> tuple[int, ...]:
    """Return the requested numbers of threads; by default, the `usual` ones up to all cores."""
    if words is None:
        return tuple(dict.fromkeys(number or cores for number in usual if number <= cores))
    if words == "none":
        return ()
    try:
        numbers = [cores if word == "all" else int(word) for word in words.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise UsageError(
            f"--threads {words}: must be none, or whole numbers of at least 1, such as 1,4,all"
        )
    return tuple(dict.fromkeys(numbers))


def _settings(
    what: str, request: ExperimentRequest, threads: str, selections: list[Selection]
) -> dict[str, object]:
    tables = [selection.table for selection in selections]
    return {
        "what": what,
        "preset": {table.name: table.presets() for table in tables},
        "generations": {table.name: request.generations or table.generations for table in tables},
        "seeds": {table.name: list(range(1, (request.runs or table.runs) + 1)) for table in tables},
        "instances": {s.table.name: [i.name for i in s.available] for s in selections},
        "backend": request.backend,
        # The number of threads depends on the machine and the ranks, but affects no result.
        "device": "CPU" if request.backend == "cpu" else request.device,
        "threads": threads,
        "islands": islands.__version__,
    }
