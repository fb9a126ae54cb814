"""The runs of an experiment: a paper's preset, on the backend that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from islands.display.heartbeat import Heartbeat
from islands.errors import Suspended
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.reproduce.ledger import Ledger
from islands.reproduce.runs import Sample
from islands.run.batch import Batch, run_batch
from islands.run.device import take_device
from islands.run.runner import Output, run_asked
from islands.spec.resolve import layers, resolve
from islands.text import counted


@dataclass(frozen=True)
class Run:
    """What one run came to."""

    cost: float | None
    seconds: float
    generations: int


@dataclass(frozen=True)
class Experiment:
    """What all runs of a table share."""

    preset: str
    paper_generations: int
    generations: int
    """Of each run; fewer than the paper's make a try."""
    backend: str
    """`cuda` or `cpu`."""
    device: str
    threads: tuple[int, ...]
    """Of the CPU runs to compare with."""
    runs: int | None
    """Of each instance, with seeds 1, 2, ...; None leaves it to the table."""
    world: World
    table: str = field(default="", kw_only=True)
    """The name of the table that is filled."""
    ledger: Ledger = field(default_factory=Ledger, kw_only=True)
    """What runs came to before."""
    heartbeat: Heartbeat = field(default_factory=Heartbeat, kw_only=True)

    @property
    def is_try(self) -> bool:
        """Whether runs pass fewer generations than the paper's, or more."""
        return self.generations != self.paper_generations

    def run(self, problem: Problem, seed: int = 1, **options: Any) -> Run:
        """Return what one run came to; an interrupted one ends the experiment."""
        asked = self._asked(problem, seed, options)

        def made() -> dict[str, Any]:
            self.heartbeat.detail(_words(asked))
            result = run_asked(asked, None, self.world, Output(), problem)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.suspended:
                raise Suspended
            return asdict(Run(result.cost, _whole_seconds(result), result.generations))

        return Run(**self._kept(asked, made))

    def sample(
        self, problem: Problem, runs: int, *, is_warm: bool = False, **options: Any
    ) -> Sample:
        """Return what `runs` runs came to that went on side by side.

        With `is_warm` they were made once before, so that their time is not that of the first.
        """

        def made() -> dict[str, Any]:
            self.heartbeat.detail(f"{counted(runs, 'run')} side by side")
            if is_warm:
                self.beside(problem, runs, **options)
            return asdict(Sample.of(problem, self.beside(problem, runs, **options)))

        asked = {**self._asked(problem, 1, options), "runs": runs, "is_warm": is_warm}
        return Sample.read(self._kept(asked, made))

    def _kept(self, asked: dict[str, Any], made: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return self.ledger.kept({"table": self.table, **asked}, self.world, made)

    def costs(self, problem: Problem, runs: int) -> list[float]:
        """Return the costs of runs, one after the other, that met a feasible solution."""
        results = (self.run(problem, seed) for seed in self.seeds(runs))
        return [result.cost for result in results if result.cost is not None]

    def beside(self, problem: Problem, runs: int, **options: Any) -> Batch:
        """Return `runs` runs, with seeds 1, 2, ..., that went on side by side on one device."""
        spec = resolve(layers(self._asked(problem, 1, options)), problem)
        return run_batch(spec, problem, runs, take_device(self.world, self.backend))

    def seeds(self, runs: int) -> range:
        """Return the seeds of `runs` runs, or of as many as were asked for."""
        return range(1, (self.runs or runs) + 1)

    def stop(self) -> list[str]:
        """Return when runs end: as the preset says, but for the number of generations."""
        preset = layers({"preset": self.preset})[0].values
        others = [text for text in preset["stop"] if not text.startswith("generations=")]
        return [f"generations={self.generations}", *others]

    def words(self, presets: str) -> str:
        """Return how runs by these presets are made, and whether that is as in the paper."""
        ranks = f" on each of {self.world.size} ranks" if self.world.size > 1 else ""
        text = (
            f"preset {presets}, {counted(self.generations, 'generation')}, on {self.device}{ranks}"
        )
        if self.is_try:
            text += f"; a try, as the paper's runs pass {self.paper_generations}"
        return text

    def _asked(self, problem: Problem, seed: int, options: dict[str, Any]) -> dict[str, Any]:
        asked = {
            "instance": problem.instance,
            "preset": self.preset,
            "seed": seed,
            "backend": self.backend,
        }
        return {**asked, **({} if "stop" in options else {"stop": self.stop()}), **options}


def _words(asked: Mapping[str, Any]) -> str:
    """Return which of the runs of an instance one is."""
    backend = counted(asked["threads"], "thread") if "threads" in asked else asked["backend"]
    return f"seed {asked['seed']} on {backend}"


def _whole_seconds(result: Result) -> float:
    """Return the seconds of whole generations; of a part of generation 0, those of all of it."""
    if result.is_partial:
        return result.seconds * result.islands * result.population / result.evaluations
    return result.seconds - result.given_up_seconds


@dataclass(frozen=True)
class Asked:
    """What was asked for, whatever the table."""

    backend: str
    device: str
    threads: tuple[int, ...]
    runs: int | None
    generations: int | None
    """None leaves them to the table."""
    world: World

    def experiment(
        self, table: str, preset: str, generations: int, ledger: Ledger, heartbeat: Heartbeat
    ) -> Experiment:
        """Return the experiment of a table whose runs pass so many generations in the paper."""
        return Experiment(
            preset=preset,
            paper_generations=generations,
            generations=self.generations or generations,
            backend=self.backend,
            device=self.device,
            threads=self.threads,
            runs=self.runs,
            world=self.world,
            table=table,
            ledger=ledger,
            heartbeat=heartbeat,
        )
