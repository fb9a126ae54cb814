"""How good the default run is: some seconds an instance and seed, or until the best known value.

Beside it stands HiGHS with as many seconds, where that is asked for. With a GPU, some go on in
other processes at the same time; on the CPU, one before the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import partial
from multiprocessing.pool import Pool
from statistics import fmean

from islands.bench.base import Asked
from islands.bench.highs import HighsEnd, highs
from islands.bench.quality_rows import QualityMeans, QualityRow
from islands.bench.silent import silent_processes
from islands.instances.catalogue import catalogue
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.progress.result import Result
from islands.run.runner import Output, run_asked

_AT_ONCE = 8  # a core each; the thread beside the GPU has to have one of its own


def measure(asked: Asked) -> Iterator[QualityRow | QualityMeans]:
    """Run each instance on the first of the backends; then sum up each group, and each set."""
    rows: list[QualityRow] = []
    problems = [load(name) for name in named(asked.of)]
    count = 1 if asked.backends[0] == "cpu" else _AT_ONCE
    with silent_processes(count) if asked.highs else nullcontext() as aside:
        beside = _beside(problems, asked, aside) if aside is not None else {}
        solved = asked.seeds * asked.limit + (asked.limit if beside and count == 1 else 0)
        for problem in asked.heartbeat.over(problems, lambda each: each.instance, seconds=solved):
            row = _measured(problem, asked, beside.get(problem.instance))
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
    """Return the instances that are meant by names, sets, and patterns such as `orlib/*-?0`."""
    known = catalogue().names()
    found: list[str] = []
    for pattern in patterns:
        matches = [name for name in known if pattern == _set(name) or fnmatchcase(name, pattern)]
        found += matches or [pattern]
    return list(dict.fromkeys(found))


def _beside(
    problems: Sequence[Problem], asked: Asked, aside: Pool
) -> dict[str, Callable[[], HighsEnd]]:
    """Return what gives the end of HiGHS, by instance."""
    knapsacks = [problem for problem in problems if isinstance(problem, Mkp)]
    work = {each.instance: (each, asked.limit) for each in knapsacks}
    if asked.backends[0] == "cpu":
        return {name: partial(aside.apply, highs, each) for name, each in work.items()}
    return {name: aside.apply_async(highs, each).get for name, each in work.items()}


def _measured(problem: Problem, asked: Asked, beside: Callable[[], HighsEnd] | None) -> QualityRow:
    backend = asked.backends[0]
    other = None
    if beside is not None and backend == "cpu":
        asked.heartbeat.detail("HiGHS")
        other = beside()
    results = [_run(problem, asked, backend, seed) for seed in range(1, asked.seeds + 1)]
    if beside is not None and other is None:
        other = beside()
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


def _run(problem: Problem, asked: Asked, backend: str, seed: int) -> Result:
    stop = [*(["best-known"] if problem.best_known is not None else []), f"seconds={asked.limit:g}"]
    options = {"instance": problem.instance, "backend": backend, "seed": seed, "stop": stop}
    if asked.threads is not None:
        options["threads"] = asked.threads
    asked.heartbeat.detail(f"seed {seed}")
    result = run_asked(options, None, World(), Output(), problem)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _seconds_to_best(result: Result) -> float:
    return result.seconds * (result.best_generation + 1) / (result.generations + 1)


def _gap(problem: Problem, end: HighsEnd | None) -> float | None:
    return problem.gap(end.profit) if end is not None and end.profit is not None else None


def _set(instance: str) -> str:
    return instance.rpartition("/")[0] or instance
