"""The runs of an experiment: a paper's preset on the requested backend, and samples of runs."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Self

from islands.cells.campaign import Campaign, completed
from islands.configuration.resolve import layers, resolve
from islands.errors import IslandsError
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run.build import take_device
from islands.run.repeats import Repeat, Repeats, seconds_of
from islands.run.runner import run_requested
from islands.run.single import Output
from islands.text import counted

_THREADS = Path("/proc/self/task")


def cores_of_host(world: World) -> frozenset[int]:
    """Return the cores that the ranks on the host of rank 0 may use together; collective."""
    return world.bcast(frozenset[int]().union(*world.local_allgather(_own())))


@contextmanager
def on_cores(cores: Set[int]) -> Iterator[None]:
    """Let this process use these cores as well, until the end of the block."""
    own = _own()
    if cores <= own or not _THREADS.is_dir():
        yield
        return
    before = {thread: os.sched_getaffinity(thread) for thread in _threads()}
    for thread, mine in before.items():
        _bind(thread, mine | cores)
    try:
        yield
    finally:
        for thread in _threads():
            _bind(thread, before.get(thread, own))


def _own() -> Set[int]:
    if not hasattr(os, "sched_getaffinity"):  # macOS
        return set(range(os.cpu_count() or 1))
    return os.sched_getaffinity(0)


def _threads() -> list[int]:
    """Return the threads of this process: those that wait for work keep their cores."""
    return [int(each.name) for each in _THREADS.iterdir()]


def _bind(thread: int, cores: Set[int]) -> None:
    with suppress(ProcessLookupError):  # a thread may have ended
        os.sched_setaffinity(thread, cores)


@dataclass(frozen=True)
class Sample:
    """The results of a batch of runs of one instance."""

    costs: tuple[float, ...]
    """Costs of the runs that found a feasible solution."""
    best: float | None
    without: int
    """Number of runs without a feasible solution."""
    gaps: tuple[float, ...]
    """Gaps to the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    last_gaps: tuple[float, ...]
    """Gaps of the last generations, which may have lost the best; empty if infeasible."""
    best_generations: tuple[int, ...]
    """The generation in which each run found its best."""
    evaluations: tuple[int, ...]
    generations: int
    """Generations of the longest run."""
    seconds: float
    """Seconds of the batch, divided by the number of runs."""

    @classmethod
    def of(cls, problem: Problem, batch: Sequence[Repeat]) -> Self:
        """Return the statistics of a batch."""
        ends = [each.result for each in batch]
        costs = tuple(end.cost for end in ends if end.cost is not None)
        gaps = _gaps(problem, costs)
        return cls(
            costs=costs,
            best=(max if problem.maximise else min)(costs, default=None),
            without=len(ends) - len(costs),
            gaps=gaps,
            hits=sum(gap <= 0 for gap in gaps),
            last_gaps=_gaps(problem, [each.present for each in batch]),
            best_generations=tuple(end.best_generation for end in ends if end.cost is not None),
            evaluations=tuple(end.evaluations for end in ends),
            generations=max(end.generations for end in ends),
            seconds=seconds_of(batch) / len(batch),
        )

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Return the sample from its JSON form."""
        values: dict[str, Any] = dict(written)
        values |= {k: tuple(v) for k, v in written.items() if isinstance(v, list)}
        return cls(**values)

    @property
    def mean_gap(self) -> float | None:
        """The mean gap; None if no best value is known."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def best_gap(self) -> float | None:
        """The gap of the best run."""
        return min(self.gaps, default=None)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the gaps; None for a single run."""
        return stdev(self.gaps) if len(self.gaps) > 1 else None

    def cells(self, seconds: float) -> dict[str, float | None]:
        """Return the cells of the columns that many tables have; the seconds are those of a run."""
        return {
            "best": self.best,
            "best_gap": self.best_gap,
            "mean_gap": self.mean_gap,
            "deviation": self.deviation,
            "hits": self.hits,
            "without": self.without,
            "seconds": seconds,
            "generations": self.generations,
            "runs": len(self.costs) + self.without,
        }

    @property
    def mean_evaluations(self) -> float:
        """The mean number of calls of the objective per run."""
        return fmean(self.evaluations)


def _gaps(problem: Problem, costs: Iterable[float | None]) -> tuple[float, ...]:
    gaps = (problem.gap(cost) for cost in costs if cost is not None)
    return tuple(gap for gap in gaps if gap is not None)


@dataclass(frozen=True)
class RunResult:
    """The result of one run."""

    cost: float | None
    seconds: float
    generations: int


@dataclass(frozen=True)
class Experiment:
    """The settings that all runs of a table share."""

    preset: str
    paper_generations: int
    generations: int
    """Generations of each run."""
    backend: str
    """`cuda` or `cpu`."""
    device: str
    threads: tuple[int, ...]
    """Numbers of threads of the CPU runs to compare with."""
    runs: int | None
    """Runs of each instance, with seeds 1, 2, ...; None uses the table's number."""
    campaign: Campaign
    table: str = field(default="", kw_only=True)
    """The name of the table."""
    is_timed: bool = field(default=False, kw_only=True)
    """Whether earlier results count only if they were made in the same place."""
    places: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter), kw_only=True
    )
    """The number of results of each place, by the place where they would be made now; a place is a
    device, with its number of ranks."""
    cores: frozenset[int] = field(default=frozenset(), kw_only=True)
    """The cores for runs with a given number of threads; without any, those of the rank."""

    @property
    def world(self) -> World:
        """The ranks, which divide the runs."""
        return self.campaign.world

    @property
    def is_changed(self) -> bool:
        """Whether the number of generations is not the paper's."""
        return self.generations != self.paper_generations

    def run(self, problem: Problem, seed: int = 1, **options: Any) -> RunResult:
        """Return the result of one run; an interrupt ends the experiment."""
        settings = self._options(problem, seed, options)
        # A run with a given number of threads, to compare with, uses only those of one rank.
        ranks = 1 if "threads" in settings else self.world.size

        def run(world: World) -> RunResult:
            with on_cores(self.cores if "threads" in settings else frozenset()):
                result = completed(run_requested(settings, None, world, Output(), problem))
            return RunResult(result.cost, _whole_seconds(result), result.generations)

        def made() -> dict[str, Any]:
            return asdict(self.campaign.on_first(ranks, run))

        threads = settings.get("threads")
        place = f"CPU, {counted(threads, 'thread')}" if threads else self._place(ranks)
        return RunResult(**self._recorded(settings, place, made, _words(settings)))

    def sample(
        self, problem: Problem, runs: int, *, is_warm: bool = False, **options: Any
    ) -> Sample:
        """Return the results of `runs` runs in one batch.

        With `is_warm` the batch runs twice, and the second one counts, as the first one is slower.
        """

        def made() -> dict[str, Any]:
            if is_warm:
                self.batch(problem, runs, **options)
            return asdict(Sample.of(problem, self.batch(problem, runs, **options)))

        settings = {**self._options(problem, 1, options), "runs": runs, "is_warm": is_warm}
        place = self._place(min(runs, self.world.size))
        words = f"a batch of {counted(runs, 'run')}"
        return Sample.read(self._recorded(settings, place, made, words))

    def _recorded(
        self, settings: dict[str, Any], place: str, made: Callable[[], dict[str, Any]], words: str
    ) -> dict[str, Any]:
        """Return a known result, or make it in this place."""
        key = {"table": self.table, **settings}
        if self.is_timed:
            key["place"] = place
        found = self.campaign.result(key, lambda: {**made(), "place": place}, words)
        # Earlier versions wrote no place.
        self.places[place][found.pop("place", "an unknown device")] += 1
        return found

    def costs(self, problem: Problem, runs: int) -> list[float]:
        """Return the costs of consecutive runs that found a feasible solution."""
        results = (self.run(problem, seed) for seed in self.seeds(runs))
        return [result.cost for result in results if result.cost is not None]

    def batch(self, problem: Problem, runs: int, **options: Any) -> list[Repeat]:
        """Return the runs with seeds 1, 2, ..., which all ranks make at the same time."""
        spec = resolve(layers(self._options(problem, 1, options)), problem)
        device, made = take_device(self.world, self.backend), dict[int, Repeat]()
        a_rank = -(-runs // self.world.size)
        plan = Repeats([(spec, problem)])
        for (_, run), found in self.campaign.cells(plan, plan.cells([0], runs), [device], a_rank):
            if isinstance(found, IslandsError):
                self.campaign.raise_together(found)
            made[run] = found
        return [made[run] for run in range(runs)]

    def seeds(self, runs: int) -> range:
        """Return the seeds of the requested number of runs, by default of `runs`."""
        return range(1, (self.runs or runs) + 1)

    def stop(self) -> list[str]:
        """Return the preset's stop criteria with the requested number of generations."""
        preset = layers({"preset": self.preset})[0].values
        others = [text for text in preset["stop"] if not text.startswith("generations=")]
        return [f"generations={self.generations}", *others]

    def _place(self, ranks: int) -> str:
        """Return the device, and the number of ranks that use one if there are several."""
        return f"{self.device} on each of {ranks} ranks" if ranks > 1 else self.device

    def words(self, presets: str, *, batched: bool) -> str:
        """Return a description of the runs, and how they differ from the paper's."""
        place = self._place(self.world.size)
        text = f"preset {presets}, {counted(self.generations, 'generation')}, on {place}"
        if batched:
            text += ", in batches"
        if self.is_changed:
            text += f"; the paper's runs have {self.paper_generations}"
        return text

    def _options(self, problem: Problem, seed: int, options: dict[str, Any]) -> dict[str, Any]:
        settings = {
            "instance": problem.instance,
            "preset": self.preset,
            "seed": seed,
            "backend": self.backend,
        }
        return {**settings, **({} if "stop" in options else {"stop": self.stop()}), **options}


def _words(settings: Mapping[str, Any]) -> str:
    """Return a description of a run: its seed and backend."""
    backend = (
        counted(settings["threads"], "thread") if "threads" in settings else settings["backend"]
    )
    return f"seed {settings['seed']} on {backend}"


def _whole_seconds(result: Result) -> float:
    """Return the seconds of complete generations; scale a partial generation 0."""
    if result.is_partial:
        return result.seconds * result.islands * result.population / result.evaluations
    return result.seconds - result.abandoned_seconds


@dataclass(frozen=True)
class ExperimentRequest:
    """The options that apply to all tables."""

    backend: str
    device: str
    threads: tuple[int, ...]
    runs: int | None
    generations: int | None
    """None uses the paper's number."""
    campaign: Campaign
    cores: frozenset[int] = frozenset()
    """The cores for CPU runs to compare with."""

    def experiment(
        self,
        table: str,
        preset: str,
        generations: int,
        *,
        is_timed: bool = False,
    ) -> Experiment:
        """Return the experiment of a table; `generations` is the paper's number."""
        shared = {**vars(self), "generations": self.generations or generations}
        own: dict[str, Any] = {"preset": preset, "table": table, "is_timed": is_timed}
        return Experiment(**shared, **own, paper_generations=generations)
