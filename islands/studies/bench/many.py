"""The rate at which `islands.solve_many` solves instances, and the quality of its solutions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.cpu import share_of_cores
from islands.errors import UsageError
from islands.many import solve_many
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.batches import qap_batch, tsp_batch
from islands.studies.bench.base import BenchRequest, table
from islands.studies.bench.rivals.contest import silent_processes
from islands.studies.bench.rivals.tours import Lkh
from islands.studies.bench.variants import Variant, variants
from islands.tables import Row
from islands.text import counted

SIZES = (100, 200, 500), (20,)
"""Default sizes of tours and of assignments."""
_EFFORT, _MOST_TOURS = 10_000_000, 10_000
"""The number of tours of n cities is `_EFFORT` / n², at most `_MOST_TOURS`."""
_MORE_ON_GPUS = 10
"""Factor on the number of tours if only GPUs are measured: they need thousands to be busy."""
_ASSIGNMENTS, _ASSIGNMENTS_ON_GPUS = 200, 10_000
_FIRST = 16
_SIDE = 1_000_000
_MOST_FLOW = 99

TABLE = table("many")


def measure(request: BenchRequest) -> Iterator[Row]:
    """Solve instances of each kind and size by each method, on each backend."""
    if other := {*request.rivals} - {Lkh.name}:
        raise UsageError(f"--rivals {min(other)}: bench many supports only {Lkh.name}")
    if request.rivals and request.world.size > 1:
        raise UsageError(
            f"--rivals {Lkh.name}: waiting ranks would use its cores. Start one rank, without"
            " mpirun"
        )
    methods = variants(request.variant)
    return _measured(request, methods)


def _measured(request: BenchRequest, methods: Sequence[Variant]) -> Iterator[Row]:
    cities, facilities = request.cities, request.facilities
    if not (cities or facilities):
        cities, facilities = SIZES
    factor = 1 if request.rivals or "cpu" in request.backends else _MORE_ON_GPUS
    kinds = [("cities", n, max(1, min(_MOST_TOURS, factor * _EFFORT // n**2))) for n in cities]
    count = _ASSIGNMENTS if factor == 1 else _ASSIGNMENTS_ON_GPUS
    kinds += [("facilities", n, count) for n in facilities]
    world = request.world
    cores = request.threads or world.bcast(share_of_cores(world.local_size))
    for noun, size, count in request.heartbeat.over(kinds, lambda kind: f"{kind[1]} {kind[0]}"):
        random, rival = np.random.default_rng(size), None
        if noun == "cities":
            places = random.integers(0, _SIDE, (count, size, 2)).astype(float)
            problems = list(tsp_batch(places, "EUC_2D"))
            rival = _by_lkh(problems, places, cores) if request.rivals else None
        else:
            flows = np.triu(random.integers(0, _MOST_FLOW + 1, (2, count, size, size)), 1)
            problems = list(qap_batch(*(flows + flows.swapaxes(-1, -2))))
        solved = [
            _by_islands(problems, method, backend, cores, world)
            for backend in request.backends
            for method in methods
        ]
        yield from _rows(f"{size} {noun}", solved, rival)


@dataclass(frozen=True)
class _Solved:
    """The costs that a method found, and its time."""

    method: str
    device: str
    seconds: float
    costs: NDArray[np.int64]


def _rows(problem: str, solved: Sequence[_Solved], rival: _Solved | None) -> Iterator[Row]:
    every = [*solved] if rival is None else [rival, *solved]
    best = np.min([result.costs for result in every], axis=0)
    for result in every:
        count = len(result.costs)
        yield TABLE.row(
            device=result.device,
            problem=problem,
            instances=count,
            seconds=result.seconds,
            rate=count / result.seconds,
            at_best=float((result.costs == best).mean()),
            as_good=None if rival is None else float((result.costs <= rival.costs).mean()),
            more=None if rival is None else float((result.costs / rival.costs - 1).mean()),
            method=result.method,
        )


def _by_islands(
    problems: Sequence[Problem], method: Variant, backend: str, cores: int, world: World
) -> _Solved:
    settings: dict[str, Any] = {**method.request.options, "config": method.request.config}
    settings |= {"backend": backend, "seed": 1, "world": world}
    if backend == "cpu":
        settings["threads"] = cores
    solve_many(problems[:_FIRST], **settings)
    began = perf_counter()
    results = solve_many(problems, **settings)
    seconds = perf_counter() - began
    prefix = f"{world.size} x " if world.size > 1 else ""
    cpu = f"CPU, {counted(cores, 'thread')}"
    device = prefix + (cpu if backend == "cpu" else results[0].device)
    costs = np.array([result.require_solution().cost for result in results], np.int64)
    return _Solved(f"{method.name}, {backend}", device, seconds, costs)


def _by_lkh(problems: Sequence[Problem], places: NDArray[np.float64], processes: int) -> _Solved:
    with silent_processes(processes) as pool:
        pool.map(_tour, places[: _FIRST * processes], chunksize=1)
        began = perf_counter()
        tours = pool.map(_tour, places, chunksize=1)
        seconds = perf_counter() - began
    costs = [problem.cost(np.array(tour)) for problem, tour in zip(problems, tours, strict=True)]
    name = f"{Lkh.name}, {Lkh.package} {version(Lkh.package)}"
    device = f"CPU, {counted(processes, 'thread')}"
    return _Solved(name, device, seconds, np.array(costs, np.int64))


def _tour(places: NDArray[np.float64]) -> list[int]:
    from elkai import Coordinates2D

    tour: list[int] = Coordinates2D(dict(enumerate(places.tolist()))).solve_tsp(runs=1)
    return tour[:-1]
