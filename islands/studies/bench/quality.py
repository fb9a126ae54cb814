"""Quality over time of the default run or of several methods, on any instances."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any

from islands.instances.catalogue import catalogue
from islands.problems import loaded
from islands.problems.base import Problem
from islands.studies.bench import quality_rows, quality_runs
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.quality_rows import contrasts, quality_row, rank_rows
from islands.studies.bench.quality_runs import KEY, RunRow, grouped, set_of
from islands.studies.bench.rivals.contest import Contest, require_fitting
from islands.studies.bench.variants import Method, Variant, variants
from islands.tables import Row

_METHOD = attrgetter("backend", "method")
EVERY = {"cpu": 1, "cuda": 10}
"""Generations between two reads of the best cost, which take about 0.1 ms on a GPU."""


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of each method on each instance and backend, then comparisons and means.

    Collective. Reject invalid methods and instances immediately, not at the first row.
    """
    world = request.world
    methods = world.run_on_all(lambda: variants(request.variant))
    problems = world.run_on_all(lambda: [loaded(name) for name in named(request.of)])
    return compared(request, problems, lambda _: methods)


def compared(
    request: BenchRequest,
    problems: Sequence[Problem],
    methods_of: Callable[[Problem], Sequence[Variant]],
) -> Iterator[Row]:
    """Return the rows of the methods of each problem; reject invalid ones first; collective."""
    world = request.world
    world.run_on_all(lambda: require_fitting(request.rivals, problems, world.size))
    methods = world.run_on_all(
        lambda: {p.instance: _methods(p, request, methods_of(p)) for p in problems}
    )
    return _measured(request, problems, methods)


def _measured(
    request: BenchRequest, problems: Sequence[Problem], methods: Mapping[str, list[Method]]
) -> Iterator[Row]:
    mean_methods = sum(map(len, methods.values())) / max(1, len(methods)) + len(request.rivals)
    most = mean_methods * request.seeds * request.limit
    rows = list[RunRow]()
    with closing(Contest(request)) as contest:
        for problem in request.heartbeat.over(problems, attrgetter("instance"), seconds=most):
            own_rows = _rows(problem, methods[problem.instance], request, contest)
            rows += own_rows
            yield from map(quality_runs.RUNS.row_of, own_rows)
            for runs in grouped(own_rows, KEY):
                yield quality_row(runs)
                for target in quality_rows.TARGETS:
                    yield quality_rows.target_row(target, runs)
    yield from contrasts(rows)
    yield from rank_rows(rows)
    yield from _summaries(rows)


def _methods(problem: Problem, request: BenchRequest, listed: Sequence[Variant]) -> list[Method]:
    """Return all methods on all backends; reject invalid settings before the first run."""
    stop = ["best-known"] if problem.best_known is not None else []
    options: dict[str, Any] = {"stop": [*stop, f"seconds={request.limit:g}"]}
    if request.threads is not None:
        options["threads"] = request.threads
    return [
        variant.resolved(problem, request.every or EVERY[backend], {**options, "backend": backend})
        for backend in request.backends
        for variant in listed
    ]


def _rows(
    problem: Problem, methods: Sequence[Method], request: BenchRequest, contest: Contest
) -> list[RunRow]:
    """Run all methods seed by seed, so that the load of the machine affects them equally."""
    rows = list[RunRow]()
    for seed in range(1, request.seeds + 1):
        shared = {**quality_runs.facts(problem), "seed": seed, "limit": request.limit}
        for method in methods:
            rows.append(RunRow(**shared, **method.cells(), **_result(method, seed, request)))
        rows += [RunRow(**shared, **fields) for fields in contest.results(problem, seed)]
    order = {(method.backend, method.name): place for place, method in enumerate(methods)}
    last = len(order)
    rows.sort(key=lambda row: (order.get((row.backend, row.method), last), row.method, row.seed))
    return quality_runs.with_references(rows)


def _result(method: Method, seed: int, request: BenchRequest) -> dict[str, Any]:
    """Return the fields of a run, or those that an earlier command has stored; collective."""
    resolved, world = method.run(seed), request.world
    settings = resolved.spec.to_mapping()
    key = {"settings": settings, "ranks": world.size, **quality_runs.program()}
    words = f"{method.name}, {method.backend}, seed {seed}"
    return request.campaign.result(key, lambda: quality_runs.followed(resolved, world)[0], words)


def _summaries(rows: Sequence[RunRow]) -> Iterator[Row]:
    """Yield the means of each group and set, then their gaps over time, for each method."""
    names = [*(row.group for row in rows), *(set_of(row.instance) for row in rows)]
    groups = [
        (name, runs)
        for name in dict.fromkeys(names)
        for runs in grouped((r for r in rows if name in (r.group, set_of(r.instance))), _METHOD)
    ]
    for name, runs in groups:
        yield quality_rows.means_row(name, [quality_row(one) for one in grouped(runs, KEY)])
    for name, runs in groups:
        yield from quality_rows.moment_rows(name, runs)


def named(patterns: Sequence[str]) -> list[str]:
    """Return the instances that match names, sets, and patterns such as `orlib/*-?0`."""
    known = catalogue().names()
    names: list[str] = []
    for pattern in patterns:
        matches = [name for name in known if pattern == set_of(name) or fnmatchcase(name, pattern)]
        names += matches or [pattern]
    return list(dict.fromkeys(names))
