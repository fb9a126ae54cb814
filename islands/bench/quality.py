"""Solution quality of the default run, limited by seconds or ended by the best known value.

`--highs` adds HiGHS with the same time limit: in concurrent processes if the runs use a GPU, before
the runs if they use the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import partial
from multiprocessing.pool import Pool
from statistics import fmean

from islands.bench.base import BenchRequest
from islands.bench.highs import HighsResult, highs, silent_processes
from islands.bench.quality_rows import QualityMeans, QualityRow
from islands.instances.catalogue import catalogue
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.progress.result import Result
from islands.run.runner import Output, run_requested

_HIGHS_PROCESSES = 8  # one core each; the thread that controls the GPU needs its own core


def measure(request: BenchRequest) -> Iterator[QualityRow | QualityMeans]:
    """Run each instance on the first backend; then summarise each group and each set."""
    rows: list[QualityRow] = []
    problems = [load(name) for name in named(request.of)]
    count = 1 if request.backends[0] == "cpu" else _HIGHS_PROCESSES
    with silent_processes(count) if request.highs else nullcontext() as pool:
        reference = _highs_results(problems, request, pool) if pool is not None else {}
        solved = request.seeds * request.limit + (request.limit if reference and count == 1 else 0)
        for problem in request.heartbeat.over(problems, lambda each: each.instance, seconds=solved):
            row = _measured(problem, request, reference.get(problem.instance))
            rows.append(row)
            yield row
    groups = dict.fromkeys(row.group for row in rows)
    sets = dict.fromkeys(_set(row.instance) for row in rows)
    for group in groups:
        yield QualityMeans.of(group, [row for row in rows if row.group == group])
    for each in sets:
        if f"{each} " in "".join(groups):
            yield QualityMeans.of(each, [row for row in rows if _set(row.instance) == each])


def named(patterns: Sequence[str]) -> list[str]:
    """Return the instances that match names, sets, and patterns such as `orlib/*-?0`."""
    known = catalogue().names()
    found: list[str] = []
    for pattern in patterns:
        matches = [name for name in known if pattern == _set(name) or fnmatchcase(name, pattern)]
        found += matches or [pattern]
    return list(dict.fromkeys(found))


def _highs_results(
    problems: Sequence[Problem], request: BenchRequest, pool: Pool
) -> dict[str, Callable[[], HighsResult]]:
    """Return functions that wait for the result of HiGHS, by instance."""
    knapsacks = [problem for problem in problems if isinstance(problem, Mkp)]
    work = {each.instance: (each, request.limit) for each in knapsacks}
    if request.backends[0] == "cpu":
        return {name: partial(pool.apply, highs, each) for name, each in work.items()}
    return {name: pool.apply_async(highs, each).get for name, each in work.items()}


def _measured(
    problem: Problem, request: BenchRequest, reference: Callable[[], HighsResult] | None
) -> QualityRow:
    backend = request.backends[0]
    other = None
    if reference is not None and backend == "cpu":
        request.heartbeat.detail("HiGHS")
        other = reference()
    results = [_run(problem, request, backend, seed) for seed in range(1, request.seeds + 1)]
    if reference is not None and other is None:
        other = reference()
    known = problem.best_known
    costs = [result.cost for result in results if result.cost is not None]
    gaps = [result.gap for result in results if result.gap is not None]
    constraints = problem.constraints if isinstance(problem, Mkp) else None
    size = f"{constraints} x {problem.size}" if constraints else str(problem.size)
    of_set = _set(problem.instance)
    return QualityRow(
        device=results[0].device,
        instance=problem.instance,
        group=f"{of_set} {size}" if of_set == "orlib" else of_set,
        size=problem.size,
        constraints=constraints,
        known=known.value if known is not None else None,
        runs=len(results),
        hits=sum(gap <= 0 for gap in gaps),
        best=(max if problem.maximise else min)(costs, default=None),
        mean_gap=fmean(gaps) if gaps else None,
        worst_gap=max(gaps, default=None),
        seconds=fmean(result.seconds for result in results),
        seconds_to_best=fmean(map(_seconds_to_best, results)),
        evaluations=fmean(result.evaluations for result in results),
        highs=other.profit if other is not None else None,
        highs_gap=_gap(problem, other),
        highs_seconds=other.seconds if other is not None else None,
        highs_proved=other.proved if other is not None else None,
    )


def _run(problem: Problem, request: BenchRequest, backend: str, seed: int) -> Result:
    stop = [
        *(["best-known"] if problem.best_known is not None else []),
        f"seconds={request.limit:g}",
    ]
    options = {"instance": problem.instance, "backend": backend, "seed": seed, "stop": stop}
    if request.threads is not None:
        options["threads"] = request.threads
    request.heartbeat.detail(f"seed {seed}")
    result = run_requested(options, None, World(), Output(), problem)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _seconds_to_best(result: Result) -> float:
    return result.seconds * (result.best_generation + 1) / (result.generations + 1)


def _gap(problem: Problem, end: HighsResult | None) -> float | None:
    return problem.gap(end.profit) if end is not None and end.profit is not None else None


def _set(instance: str) -> str:
    return instance.rpartition("/")[0] or instance
