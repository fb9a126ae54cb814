"""Scaling over 1, 2, 4, ... of the ranks that were started, and where the end of an epoch goes.

A second: generations that all islands pass together, in the loop of a run; of one: the same over
that of one rank. Weak scaling gives each rank as many islands, strong scaling deals 64 to all;
apart: the slowest of ranks that do as much at the same time, but each alone.
Pack and unpack: kernels. Travel: from rank to rank; with delay 1 the generations go on meanwhile.
Host: to launch, measure, share and decide. End: all that keeps the device from its generations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from islands.backends.base import Backend
from islands.bench.base import Asked, Row
from islands.bench.brkga import INSTANCES, problem_of
from islands.bench.scaling import Case, ScalingRow
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.run.device import take_device

STRONG_ISLANDS = 64


def measure(asked: Asked) -> Iterator[Row]:
    """Measure each instance; every rank yields the rows of rank 0."""
    world = asked.world
    backend = take_device(world, asked.backends[0], asked.threads)
    parts = {ranks: world.part(ranks) for ranks in _counts(world.size)}
    ends: list[Row] = []
    for name in asked.heartbeat.over(asked.instances, str):
        problem = world.agreed(partial(_problem, name))
        for is_weak in (True, False):
            for delay in asked.delay:
                alone: ScalingRow | None = None
                for ranks, part in parts.items():
                    islands = ranks * asked.islands_a_rank if is_weak else STRONG_ISLANDS
                    if ranks > islands:
                        continue
                    case = Case(asked, problem, is_weak, islands, delay)
                    asked.heartbeat.detail(case.words(ranks))
                    world.agreed(partial(case.spec, generations=1))
                    found = case.measured(part, backend, alone) if part is not None else None
                    # Ranks that take no part wait here.
                    found = world.bcast(found)
                    assert found is not None, "rank 0 takes part in all"
                    row, end = found
                    alone = alone or row
                    ends += [end] if end is not None else []
                    yield row
        if world.size > 1:
            yield _apart(asked, problem, world, backend)
    yield from ends


def _apart(asked: Asked, problem: Problem, world: World, backend: Backend) -> ScalingRow:
    """Return the row of the slowest of all ranks, each alone at the same time."""
    case = Case(asked, problem, True, asked.islands_a_rank, asked.delay[0])
    rows = world.allgather(case.measured(World(), backend, None)[0])
    slowest = min(rows, key=lambda row: row.rate)
    share = slowest.rate / rows[0].rate
    return replace(slowest, scaling="apart", ranks=world.size, of_one=share)


def _counts(size: int) -> list[int]:
    """Return 1, 2, 4, ... up to the number of ranks, and that number."""
    return sorted({*(1 << bit for bit in range(size.bit_length())), size})


def _problem(name: str) -> Problem:
    return problem_of(name, INSTANCES[name]) if name in INSTANCES else load(name)
