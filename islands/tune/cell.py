"""The runs of one configuration on one instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from islands.backends.base import Backend
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.run.batch import run_batch
from islands.run.build import make_archipelago
from islands.run.epochs import evolve
from islands.run.signals import Interruption
from islands.run.start import check_exactly
from islands.spec.spec import RunSpec
from islands.spec.stop import Criterion

_AIMS = ("target", "gap", "best-known", "optimum")


@dataclass(frozen=True)
class Cell:
    """What the runs came to, in the order of their seeds; costs in the instance's own sense."""

    costs: tuple[float | None, ...]
    """None of a run that met no feasible solution."""
    evaluations: tuple[int, ...]
    reached: tuple[bool, ...]
    """Whether a run was as good as it was to be, where it had to be that."""
    generations: float
    """Of a run, the mean, and so are the seconds."""
    seconds: float


def goes_beside(spec: RunSpec, runs: int) -> bool:
    """Return whether the runs of a configuration can go on in the same launches."""
    return runs > 1 and not getattr(spec.settings, "halo", False) and not spec.start


def is_timed(spec: RunSpec) -> bool:
    """Return whether the seconds may end a run, which runs side by side share."""
    return any(criterion.kind == "seconds" for criterion in spec.stop)


def run_cell(
    spec: RunSpec,
    problem: Problem,
    runs: int,
    backend: Backend,
    *,
    beside: bool,
    tell: Callable[[str], None] = lambda _: None,
) -> Cell:
    """Make so many runs: side by side, or one after the other; `tell` which one goes on."""
    problem = problem.adjusted(spec.problem)
    if beside:
        together = run_batch(spec, problem, runs, backend)
        return _cell([run.progress for run in together.runs], together.seconds, spec)
    ends = list(_one_by_one(spec, problem, runs, backend, tell))
    return _cell(ends, sum(end.seconds for end in ends), spec)


def aims(spec: RunSpec) -> list[Criterion]:
    """Return the criteria of a run that say how good it is to be."""
    return [criterion for criterion in spec.stop if criterion.kind in _AIMS]


def _cell(ends: list[Progress], seconds: float, spec: RunSpec) -> Cell:
    return Cell(
        costs=tuple(end.cost for end in ends),
        evaluations=tuple(end.evaluations for end in ends),
        reached=tuple(any(aim.reason(end) for aim in aims(spec)) for end in ends),
        generations=fmean(end.generation for end in ends),
        seconds=seconds / len(ends),
    )


def _one_by_one(
    spec: RunSpec, problem: Problem, runs: int, backend: Backend, tell: Callable[[str], None]
) -> Iterator[Progress]:
    world = World()
    for number in range(runs):
        general = spec.general.replace({"seed": spec.general.seed + number})
        tell(f"seed {general.seed}")
        each = replace(spec, general=general)
        archipelago = make_archipelago(each, problem, world, backend)
        with Interruption() as interruption:
            outcome = evolve(archipelago, each, problem, world, lambda _: None, interruption)
        check_exactly(problem, archipelago.best(), outcome.progress.cost)
        yield outcome.progress
