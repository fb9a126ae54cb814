"""Run one configuration on one instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from islands.backends.base import Backend
from islands.configuration.spec import RunSpec
from islands.configuration.stop import Criterion
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.run.build import make_archipelago
from islands.run.concurrent import run_concurrently
from islands.run.loop import Loop
from islands.run.signals import Interruption
from islands.run.single import check_exactly

_QUALITY_KINDS = ("target", "gap", "best-known", "optimum")


@dataclass(frozen=True)
class TaskResult:
    """The results of the runs in the order of their seeds."""

    costs: tuple[float | None, ...]
    """Costs as the instance defines them; None for a run without a feasible solution."""
    evaluations: tuple[int, ...]
    reached: tuple[bool, ...]
    """Whether each run met one of its quality criteria."""
    generations: float
    """Mean generations of a run."""
    seconds: float
    """Mean seconds of a run."""


def can_batch(spec: RunSpec, runs: int) -> bool:
    """Return whether the runs of a configuration can form one batch."""
    return runs > 1 and not getattr(spec.settings, "halo", False) and not spec.start


def is_timed(spec: RunSpec) -> bool:
    """Return whether runs have a time limit, which the runs of a batch share."""
    return any(criterion.kind == "seconds" for criterion in spec.stop)


def run_task(
    spec: RunSpec,
    problem: Problem,
    runs: int,
    backend: Backend,
    *,
    batched: bool,
    tell: Callable[[str], None] = lambda _: None,
) -> TaskResult:
    """Make `runs` runs, in one batch or one after another; `tell` reports the current one."""
    problem = problem.adjusted(spec.problem)
    if batched:
        batch = run_concurrently(spec, problem, runs, backend)
        return _result([run.progress for run in batch.runs], batch.seconds, spec)
    ends = list(_sequential(spec, problem, runs, backend, tell))
    return _result(ends, sum(end.seconds for end in ends), spec)


def quality_criteria(spec: RunSpec) -> list[Criterion]:
    """Return the stop criteria that depend on the cost."""
    return [criterion for criterion in spec.stop if criterion.kind in _QUALITY_KINDS]


def _result(ends: list[Progress], seconds: float, spec: RunSpec) -> TaskResult:
    return TaskResult(
        costs=tuple(end.cost for end in ends),
        evaluations=tuple(end.evaluations for end in ends),
        reached=tuple(any(aim.reason(end) for aim in quality_criteria(spec)) for end in ends),
        generations=fmean(end.generation for end in ends),
        seconds=seconds / len(ends),
    )


def _sequential(
    spec: RunSpec, problem: Problem, runs: int, backend: Backend, tell: Callable[[str], None]
) -> Iterator[Progress]:
    world = World()
    for number in range(runs):
        general = spec.general.replace({"seed": spec.general.seed + number})
        tell(f"seed {general.seed}")
        each = replace(spec, general=general)
        archipelago = make_archipelago(each, problem, world, backend)
        with Interruption() as interruption:
            outcome = Loop(archipelago, each, problem, world, interruption).run()
        check_exactly(problem, archipelago.best(), outcome.progress.cost)
        yield outcome.progress
