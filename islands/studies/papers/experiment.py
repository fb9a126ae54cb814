"""The runs of a table: those of a paper's preset on a backend, one by one or in batches."""

from __future__ import annotations

from abc import ABC
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, stdev
from typing import Any, ClassVar

from islands.cells.campaign import Campaign, require_complete
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.build import take_device
from islands.engine.repeats import Repeat, Repeats, seconds_of
from islands.engine.runner import run_requested
from islands.engine.single import Output
from islands.errors import IslandsError
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.studies.papers.cells import Scaled
from islands.studies.papers.cores import on_cores
from islands.text import counted


@dataclass(frozen=True)
class Sample:
    """The results of a batch of runs of one instance, as they are stored."""

    costs: Sequence[float]
    """Costs of the runs that found a feasible solution."""
    best: float | None
    without: int
    """Number of runs without a feasible solution."""
    gaps: Sequence[float]
    """Gaps to the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    last_gaps: Sequence[float]
    """Gaps of the best feasible solutions of the last generation, which may have lost the best."""
    best_generations: Sequence[int]
    """The generation in which each run found its best."""
    evaluations: Sequence[int]
    generations: int
    """Generations of the longest run."""
    seconds: float
    """The time of the batch divided by the number of runs."""

    @classmethod
    def of(cls, problem: Problem, batch: Sequence[Repeat]) -> Sample:
        """Return the statistics of a batch."""
        ends = [repeat.result for repeat in batch]
        costs = [end.cost for end in ends if end.cost is not None]
        gaps = _gaps(problem, costs)
        return cls(
            costs=costs,
            best=(max if problem.maximise else min)(costs, default=None),
            without=len(ends) - len(costs),
            gaps=gaps,
            hits=sum(gap <= 0 for gap in gaps),
            last_gaps=_gaps(problem, [repeat.present for repeat in batch]),
            best_generations=[end.best_generation for end in ends if end.cost is not None],
            evaluations=[end.evaluations for end in ends],
            generations=max(end.generations for end in ends),
            seconds=seconds_of(batch) / len(batch),
        )

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

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.costs) + self.without

    @property
    def mean_evaluations(self) -> float:
        """The mean number of calls of the objective per run."""
        return fmean(self.evaluations)

    def cells(self, seconds: float) -> dict[str, float | None]:
        """Return the cells of columns that many tables have; `seconds` is the time of a run."""
        names = ("best", "best_gap", "mean_gap", "deviation", "hits", "without")
        cells = {name: getattr(self, name) for name in names}
        return {**cells, "seconds": seconds, "generations": self.generations, "runs": self.runs}


def _gaps(problem: Problem, costs: Iterable[float | None]) -> list[float]:
    gaps = (problem.gap(cost) for cost in costs if cost is not None)
    return [gap for gap in gaps if gap is not None]


CPU_SECONDS = 2.0
"""Time limit of a timed CPU run; the time of a run that reaches it is scaled."""
_EVERY = 5


@dataclass(frozen=True)
class RunResult:
    """The result of one run."""

    cost: float | None
    seconds: float
    generations: int


@dataclass(frozen=True)
class ExperimentRequest:
    """The options that apply to all tables."""

    backend: str
    """`cuda` or `cpu`."""
    device: str
    threads: tuple[int, ...]
    """Numbers of threads of the CPU runs to compare with."""
    runs: int | None
    """Runs of each instance, with seeds 1, 2, ...; by default, the number of the table."""
    generations: int | None
    """Generations of each run; by default, those of the paper."""
    campaign: Campaign
    cores: frozenset[int] = frozenset()
    """The cores for runs with a given number of threads; if empty, those of one rank."""

    @property
    def world(self) -> World:
        """The ranks, which divide the runs."""
        return self.campaign.world


class Experiment(ABC):
    """Executes the runs of a table, which share a preset, or reads their stored results."""

    name: ClassVar[str]
    """The name of the table."""
    preset: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()
    """Other presets that some runs use."""
    generations: ClassVar[int]
    """Generations of the paper's runs."""
    runs: ClassVar[int]
    """Default number of runs per instance."""
    batched: ClassVar[bool] = False
    """Whether the runs of an instance are concurrent: a batch on the device of each rank."""
    is_timed: ClassVar[bool] = False
    """Whether results are times, which are reused only on the same device and number of ranks."""

    def __init__(self, request: ExperimentRequest) -> None:
        self.request = request
        self.run_generations = request.generations or self.generations
        """Generations of each run."""
        self.seeds = range(1, (request.runs or self.runs) + 1)
        self.places = defaultdict[str, Counter[str]](Counter)
        """Numbers of results: by the place where they would be computed now, and by the place where
        they were computed. A place is a device with a number of ranks."""

    @classmethod
    def presets(cls) -> str:
        """Return the names of all presets."""
        return " and ".join((cls.preset, *cls.also))

    @property
    def is_changed(self) -> bool:
        """Whether the number of generations is not the paper's."""
        return self.run_generations != self.generations

    def run(self, problem: Problem, seed: int = 1, **options: Any) -> RunResult:
        """Return the result of one run; an interrupt ends the experiment."""
        settings, threads = self._options(problem, seed, options), options.get("threads")
        # A run with a given number of threads, for comparison, uses only those of one rank.
        ranks = 1 if threads else self.request.world.size

        def run(world: World) -> dict[str, Any]:
            with on_cores(self.request.cores if threads else frozenset()):
                result = require_complete(
                    run_requested(Request.of(settings), world, Output(), problem)
                )
            return asdict(RunResult(result.cost, _whole_seconds(result), result.generations))

        device = f"CPU, {counted(threads, 'thread')}" if threads else None
        on = counted(threads, "thread") if threads else settings["backend"]
        compute = partial(self.request.campaign.on_first, ranks, run)
        return RunResult(**self._recorded(settings, ranks, device, compute, f"seed {seed} on {on}"))

    def results(self, problem: Problem, **options: Any) -> list[RunResult]:
        """Return the results of the requested number of runs, one after the other."""
        return [self.run(problem, seed, **options) for seed in self.seeds]

    def sample(
        self, problem: Problem, runs: int | None = None, *, is_warm: bool = False, **options: Any
    ) -> Sample:
        """Return the results of a batch of `runs` runs, by default the requested number.

        With `is_warm` the batch runs twice, and the second one counts, as the first one is slower.
        """
        count = len(self.seeds) if runs is None else runs

        def compute() -> dict[str, Any]:
            if is_warm:
                self.batch(problem, count, **options)
            return asdict(Sample.of(problem, self.batch(problem, count, **options)))

        settings = {**self._options(problem, 1, options), "runs": count, "is_warm": is_warm}
        words = f"a batch of {counted(count, 'run')}"
        ranks = min(count, self.request.world.size)
        return Sample(**self._recorded(settings, ranks, None, compute, words))

    def _recorded(
        self,
        settings: dict[str, Any],
        ranks: int,
        device: str | None,
        compute: Callable[[], dict[str, Any]],
        words: str,
    ) -> dict[str, Any]:
        """Return a stored result, or compute it; `device` is that of the ranks if it is None."""
        place = self._place(ranks) if device is None else device
        key = {"table": self.name, **settings}
        if self.is_timed:
            key["place"] = place
        result = self.request.campaign.result(key, lambda: {**compute(), "place": place}, words)
        self.places[place][result.pop("place", "an unknown device")] += 1
        return result

    def batch(self, problem: Problem, runs: int, **options: Any) -> list[Repeat]:
        """Return the runs with seeds 1, 2, ..., which all ranks execute at the same time."""
        campaign, repeats = self.request.campaign, dict[int, Repeat]()
        resolved = resolve(Request.of(self._options(problem, 1, options)), problem)
        devices = [take_device(campaign.world, self.request.backend)]
        runs_per_rank = -(-runs // campaign.world.size)
        plan = Repeats([resolved])
        cells = [(0, run) for run in range(runs)]
        groups = [cells[k : k + runs_per_rank] for k in range(0, runs, runs_per_rank)]
        for (_, run), repeat in campaign.cells(plan, groups, devices, runs_per_rank):
            if isinstance(repeat, IslandsError):
                campaign.world.agree_on(repeat)
            repeats[run] = repeat
        return [repeats[run] for run in range(runs)]

    def paper_seconds(self, run: RunResult | Sample) -> float:
        """Return the seconds scaled to the paper's generations; generation 0 counts as one."""
        if run.generations == self.generations:
            return run.seconds
        return Scaled(run.seconds * (self.generations + 1) / (run.generations + 1))

    def seconds(self, sample: Sample) -> float:
        """Return the seconds of a run, scaled if the number of generations was changed.

        If it was not, a run with fewer generations ended at its limit of evaluations.
        """
        return self.paper_seconds(sample) if self.is_changed else sample.seconds

    def median_run(self, runs: Sequence[RunResult]) -> RunResult:
        """Return the run with the median time; of two in the middle, the faster."""
        return sorted(runs, key=self.paper_seconds)[(len(runs) - 1) // 2]

    def timed(self, problem: Problem, seed: int = 1, **settings: Any) -> RunResult:
        """Time a run on the CPU; it ends early if it is slow."""
        stop = [*self.stop(), f"seconds={CPU_SECONDS:g}"]
        options = {"backend": "cpu", "stop": stop, "record.every": _EVERY, **settings}
        return self.run(problem, seed, **options)

    def stop(self) -> list[str]:
        """Return the preset's stop criteria with the requested number of generations."""
        preset = Request({"preset": self.preset}).values
        others = [text for text in preset["stop"] if not text.startswith("generations=")]
        return [f"generations={self.run_generations}", *others]

    def _place(self, ranks: int) -> str:
        """Return the device, with the number of ranks if several ranks use one each."""
        device = self.request.device
        return f"{device} on each of {ranks} ranks" if ranks > 1 else device

    def words(self) -> str:
        """Return a description of the runs, and how they differ from the paper's."""
        place, count = self._place(self.request.world.size), self.run_generations
        text = f"preset {self.presets()}, {counted(count, 'generation')}, on {place}"
        if self.batched:
            text += ", in batches"
        if self.is_changed:
            text += f"; the paper's runs have {self.generations}"
        return text

    def _options(self, problem: Problem, seed: int, options: dict[str, Any]) -> dict[str, Any]:
        settings = {
            "instance": problem.instance,
            "preset": self.preset,
            "seed": seed,
            "backend": self.request.backend,
        }
        return {**settings, **({} if "stop" in options else {"stop": self.stop()}), **options}


def _whole_seconds(result: Result) -> float:
    """Return the seconds of complete generations; a partial generation 0 is scaled."""
    if result.is_partial:
        return result.seconds * result.islands * result.population / result.evaluations
    return result.seconds - result.abandoned_seconds
