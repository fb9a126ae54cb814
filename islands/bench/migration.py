"""Scaling over 1, 2, 4, ... of the started ranks, and the time of an epoch's end by phase.

Generations/s: of all islands, in the loop of a run; of one: relative to one rank.
Weak scaling gives each rank the same number of islands, strong scaling divides 64 among all;
apart: the slowest rank if each does the same work alone, at the same time.
Pack and unpack: kernels. Travel: from rank to rank; with delay 1, generations continue meanwhile.
Host: launch, measure, share and decide. End: all the time in which the device has no generations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from islands.backends.base import Backend
from islands.bench.algorithms import BRKGA, cities
from islands.bench.base import BenchRequest, BenchRow
from islands.bench.scaling import Case, ScalingRow, counts
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.run.build import take_device

STRONG_ISLANDS = 64


def measure(request: BenchRequest) -> Iterator[BenchRow]:
    """Return the rows of each instance, those of rank 0 on every rank; collective.

    Refuse wrong instances and settings at once, before the first row is asked for.
    """
    world = request.world
    problems = world.run_on_all(lambda: {name: _problem(name) for name in request.instances})
    for problem in problems.values():
        for _, case in _cases(request, problem):
            world.run_on_all(partial(case.spec, generations=1))
    return _measured(request, problems)


def _measured(request: BenchRequest, problems: Mapping[str, Problem]) -> Iterator[BenchRow]:
    world = request.world
    backend = take_device(world, request.backends[0], request.threads)
    parts = {ranks: world.part(ranks) for ranks in counts(world.size)}
    ends: list[BenchRow] = []
    alone: ScalingRow | None = None
    for name in request.heartbeat.over(list(problems), str):
        problem = problems[name]
        for ranks, case in _cases(request, problem):
            request.heartbeat.detail(case.words(ranks))
            if ranks == 1:
                alone = None
            part = parts[ranks]
            found = case.measured(part, backend, alone) if part is not None else None
            # Ranks that are not part of this measurement wait here, without a processor.
            world.wait_for_all()
            found = world.bcast(found)
            assert found is not None, "rank 0 is part of every measurement"
            row, end = found
            alone = alone or row
            ends += [end] if end is not None else []
            yield row
        if world.size > 1:
            yield _apart(request, problem, world, backend)
    yield from ends


def _cases(request: BenchRequest, problem: Problem) -> Iterator[tuple[int, Case]]:
    """Yield each number of ranks with what these measure, beginning with one rank."""
    for is_weak in (True, False):
        for delay in request.delay:
            for ranks in counts(request.world.size):
                islands = ranks * request.islands_a_rank if is_weak else STRONG_ISLANDS
                if ranks <= islands:
                    yield ranks, Case(request, problem, is_weak, islands, delay)


def _apart(request: BenchRequest, problem: Problem, world: World, backend: Backend) -> ScalingRow:
    """Return the row of the slowest rank if all work alone, at the same time."""
    case = Case(request, problem, True, request.islands_a_rank, request.delay[0])
    rows = world.allgather(case.measured(World(), backend, None)[0])
    slowest = min(rows, key=lambda row: row.rate)
    share = slowest.rate / rows[0].rate
    return replace(slowest, scaling="apart", ranks=world.size, of_one=share)


def _problem(name: str) -> Problem:
    full = f"national/{name}"
    return cities(full, BRKGA.instances[full]) if full in BRKGA.instances else load(name)
