"""Build the islands of this rank from the settings of a run."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.configuration.spec import RunSpec, deal_of
from islands.errors import InputError, RunError
from islands.migration import migrates
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem, Solution
from islands.text import show


def islands_of(
    spec: RunSpec, problem: Problem, world: World, backend: Backend, **others: Any
) -> Archipelago:
    """Return this rank's islands; pass `others`, which no setting contains, to `Archipelago`."""
    return Archipelago(
        problem=problem.adjusted(spec.problem),
        algorithm=spec.algorithm,
        encoding=spec.encoding,
        settings=spec.settings,
        improver=spec.improver,
        population=spec.general.population,
        islands=spec.general.islands,
        seed=spec.general.seed,
        decoding=spec.general.decoding,
        migration=spec.migration,
        colonies=spec.colonies,
        backend=backend,
        world=world,
        **others,
    )


def make_archipelago(
    spec: RunSpec,
    problem: Problem,
    world: World,
    backend: Backend,
    *,
    asynchronous: bool = False,
    goes_on: bool = False,
) -> Archipelago:
    """Return this rank's islands before their first generation; collective."""
    warm_start = cache(lambda: read_start(spec, problem))
    if not goes_on:
        # A resumed run does not need these files, which may have been removed.
        world.run_on_all(warm_start)
    transport = None
    deal = deal_of(spec, problem, world.size)
    team = firsts = None
    if deal.largest_team > 1:
        team = world.split(deal.team(world.rank).start)
        if asynchronous:
            firsts = world.split(min(team.rank, 1))
    if team is not None or has_halo(spec) or migrates(spec.migration, spec.general.islands):
        transport, trouble = find(world, backend)
        if trouble and world.rank == 0:
            show(f"islands: {trouble}", file=sys.stderr)
    return world.run_on_all(
        lambda: islands_of(
            spec,
            problem,
            world,
            backend,
            transport=transport,
            asynchronous=asynchronous,
            warm_start=warm_start,
            deal=deal,
            team=team,
            firsts=firsts,
        )
    )


def has_halo(spec: RunSpec) -> bool:
    """Return whether the islands are slices of one population."""
    return bool(getattr(spec.settings, "halo", False))


def read_start(spec: RunSpec, problem: Problem) -> list[Solution]:
    """Return the solutions of the files in `start`; refuse files with other content."""
    return [_checked_solution(problem, Path(path)) for path in spec.start]


def _checked_solution(problem: Problem, path: Path) -> Solution:
    solution = problem.read_solution(path)
    try:
        problem.check(solution)
    except RunError as error:
        raise InputError(f"{path}: {error}") from error
    return solution
