"""Instances that wait for a place in shared launches, and how many places there are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from islands.archipelago.instances import InstanceArrays, arrays_of, shapes_of
from islands.archipelago.parts import ProgramParts
from islands.archipelago.shared import bytes_a_run, can_share, parts_for
from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.engine.budget import begins_partly
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell, Other, Ready
from islands.migration.settings import require_fit
from islands.migration.topology import TOPOLOGIES
from islands.problems.base import Problem
from islands.settings import changed


class Kind:
    """What instances of the same launches have in common, apart from most numbers in structs."""

    def __init__(self, *parts: Hashable) -> None:
        self._parts, self._hash = parts, hash(parts)  # they are many

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and (self is other or self._parts == other._parts)


@dataclass
class Waiting(Ready[Cell]):
    """A cell that waits for a place in shared launches."""

    parts: ProgramParts
    """Its parts, for one run."""
    kind: Kind
    bytes: int
    """What its arrays take in memory."""
    arrays: InstanceArrays | None = None
    """Its arrays, when they are needed: those of many are made together."""
    has_own_kind: bool = False
    """Whether all runs of the kind have the same problem, and need no arrays of their own."""

    def like(self, cell: Other, resolved: Resolved) -> Waiting[Other]:
        """Return another cell whose problem has an equal `likeness`."""
        parts = changed(self.parts, problem=resolved.problem)
        return Waiting(cell, resolved, parts, self.kind, self.bytes)

    def without_problem(self) -> Waiting[None]:
        """Return what `like` needs, which keeps no problem in memory."""
        none = cast(Problem, None)
        return self.like(None, Resolved(self.spec, none))


def with_arrays(many: Sequence[Waiting[Cell]]) -> list[InstanceArrays | None]:
    """Return the arrays of instances of the same kind, which keep them."""
    lacking = [each for each in many if each.arrays is None and not each.has_own_kind]
    for each, arrays in zip(lacking, arrays_of([each.parts for each in lacking]), strict=True):
        each.arrays = arrays
    return [each.arrays for each in many]


def shares_launches(spec: RunSpec) -> bool:
    """Return whether runs with these settings may share launches."""
    is_plain = not (spec.colonies or spec.start or spec.given or spec.general.bound)
    is_plain &= not begins_partly(spec)
    # A topology of a user may fail, which must end this run alone.
    return is_plain and (not spec.migrates or TOPOLOGIES[spec.migration.topology].is_built_in)


def may_share(resolved: Resolved, backend: Backend) -> bool:
    """Return whether a run can share launches."""
    spec = resolved.spec
    return shares_launches(spec) and can_share(
        parts_for(spec.as_colony(), resolved.problem, 1, backend)
    )


def waiting_for(
    cell: Cell, resolved: Resolved, backend: Backend, *, has_own_kind: bool = False
) -> Waiting[Cell] | None:
    """Return a cell that waits; None if it cannot share launches.

    If its problem `has_own_kind`, runs of others do not share the launches, which are faster then.
    """
    spec, problem = resolved.spec, resolved.problem
    if not shares_launches(spec):
        return None
    colony = spec.as_colony()
    parts = parts_for(colony, problem, 1, backend)
    if not can_share(parts):
        return None
    islands, seed = colony.islands, spec.general.seed
    require_fit(parts.algorithm, colony.population, spec.migration, islands=islands, seed=seed)
    settings = type(problem), problem.size, colony, spec.stop, spec.record, spec.migration
    if has_own_kind and not problem.evaluation.reports():
        kind = Kind(id(problem), *settings)
        return Waiting(cell, resolved, parts, kind, 0, has_own_kind=True)
    [arrays] = arrays_of([parts])
    macros = tuple(sorted((name, each) for name, each in parts.macros().items()))
    # Of the encoding, launches have one for all runs.
    genome = tuple(np.asarray(each).tobytes() for each in parts.encoding.shape().members.values())
    kind = Kind(*settings, macros, genome, parts.algorithm.numbers(), shapes_of(arrays))
    size = sum(each.nbytes for each in arrays.values())
    return Waiting(cell, resolved, parts, kind, size, arrays)


def places_for(
    first: Waiting[Any], backend: Backend, threads: int = 1, wanted: int | None = None
) -> int:
    """Return the number of runs of a launch, if there is memory for so many.

    By default, so many that they fill the device, which `threads` share.
    """
    colony = first.spec.as_colony()
    individuals = LIMITS.individuals
    if backend.in_host_memory:
        each = LIMITS.read_seconds * first.parts.improver.work(first.problem)
        individuals = int(min(LIMITS.individuals_on_cpu, LIMITS.seconds_on_cpu / max(each, 1e-9)))
    fill = wanted or max(1, individuals // (colony.islands * colony.population))
    room = fill
    if (free := backend.free_now()) is not None:
        room = max(
            1, int(LIMITS.memory / threads * free / bytes_a_run(first.parts, first.spec.migration))
        )
    return min(fill, room, LIMITS.most_places)
