"""Which runs can share launches, and how many of them do at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np

from islands.archipelago.instances import InstanceArrays, arrays_of, shapes_of
from islands.archipelago.parts import ProgramParts
from islands.archipelago.shared import bytes_per_run, can_share, parts_for
from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.engine.budget import begins_partly, colonies_of
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell, Other, Ready
from islands.migration.settings import require_fit
from islands.migration.shared import MigrationOutcome
from islands.migration.topology import TOPOLOGIES
from islands.problems.base import Problem
from islands.settings import changed

Visit: TypeAlias = tuple[int, float, bytes, MigrationOutcome | None]
"""The generation and seconds of a visit, the numbers of `MEASURE` of all islands, and the arrived
migrants. The garbage collector need not traverse such tuples: thousands of runs have many visits.
"""


class Kind:
    """The key of runs that can share a compiled program and its launches.

    Most numbers in the structs of kernels may differ between these runs.
    """

    def __init__(self, *parts: Hashable) -> None:
        self._parts, self._hash = parts, hash(parts)  # cached, as hashing is slow

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and (self is other or self._parts == other._parts)


@dataclass
class SharingRun(Ready[Cell]):
    """A run that shares launches: it waits for a place, or has one."""

    parts: ProgramParts
    """The parts of its program, for one run."""
    kind: Kind
    bytes: int
    """The size of its arrays."""
    arrays: InstanceArrays | None = None
    """Its arrays; None until they are created, for several runs at a time."""
    has_own_kind: bool = False
    """Whether all runs of the kind have the same problem, and need no arrays of their own."""
    began: float = 0.0
    """When it got its place."""
    visits: list[Visit] = field(default_factory=list)

    def like(self, cell: Other, resolved: Resolved) -> SharingRun[Other]:
        """Return a run of the same kind; its problem must have an equal `launch_key`."""
        parts = changed(self.parts, problem=resolved.problem)
        return SharingRun(cell, resolved, parts, self.kind, self.bytes)

    def without_problem(self) -> SharingRun[None]:
        """Return a copy for `like` that keeps no problem in memory."""
        return self.like(None, Resolved(self.spec, cast(Problem, None)))


def with_arrays(runs: Sequence[SharingRun[Cell]]) -> list[InstanceArrays | None]:
    """Return the arrays of runs of the same kind, and create those that are missing."""
    lacking = [run for run in runs if run.arrays is None and not run.has_own_kind]
    for run, arrays in zip(lacking, arrays_of([run.parts for run in lacking]), strict=True):
        run.arrays = arrays
    return [run.arrays for run in runs]


def _may_share(spec: RunSpec) -> bool:
    is_plain = not (spec.colonies or spec.start or spec.given or spec.general.bound)
    is_plain &= not begins_partly(spec)
    # A user's topology may fail, which must end this run only.
    return is_plain and (not spec.migrates or TOPOLOGIES[spec.migration.topology].is_built_in)


def sharing_run(
    cell: Cell, resolved: Resolved, backend: Backend, *, has_own_kind: bool
) -> SharingRun[Cell] | None:
    """Return a run that shares launches; None if it cannot.

    If its problem `has_own_kind`, only runs of this problem share its launches, which are faster.
    """
    spec, problem = resolved.spec, resolved.problem
    if not _may_share(spec):
        return None
    [colony] = colonies_of(resolved)
    parts = parts_for(colony, problem, 1, backend)
    if not can_share(parts):
        return None
    islands, seed = colony.islands, spec.general.seed
    require_fit(parts.algorithm, colony.population, spec.migration, islands=islands, seed=seed)
    settings = type(problem), problem.size, colony, spec.stop, spec.record, spec.migration
    if has_own_kind and not problem.evaluation.reports():
        kind = Kind(id(problem), *settings)
        return SharingRun(cell, resolved, parts, kind, 0, has_own_kind=True)
    [arrays] = arrays_of([parts])
    macros = tuple(sorted(parts.macros().items()))
    # All runs of a launch have the same encoding.
    genome = tuple(np.asarray(value).tobytes() for value in parts.encoding.shape().members.values())
    kind = Kind(*settings, macros, genome, parts.algorithm.numbers(), shapes_of(arrays))
    size = sum(array.nbytes for array in arrays.values())
    return SharingRun(cell, resolved, parts, kind, size, arrays)


def places_for(
    first: SharingRun[Any], backend: Backend, threads: int, wanted: int | None = None
) -> int:
    """Return the number of runs per launch: `wanted`, or as many as fill the device.

    There are fewer if these do not fit into the memory, which `threads` share.
    """
    colony = first.spec.as_colony()
    individuals = LIMITS.individuals
    if backend.in_host_memory:
        seconds = LIMITS.read_seconds * first.parts.improver.work(first.problem)
        most = LIMITS.seconds_on_cpu / max(seconds, 1e-9)
        individuals = int(min(LIMITS.individuals_on_cpu, most))
    room = fill = wanted or max(1, individuals // (colony.islands * colony.population))
    if (free := backend.free_now()) is not None:
        share = LIMITS.memory / threads * free
        room = max(1, int(share / bytes_per_run(first.parts, first.spec.migration)))
    return min(fill, room, LIMITS.most_places)
