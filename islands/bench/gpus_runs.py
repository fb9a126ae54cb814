"""A run of `gpus` on some of the ranks, and what these ranks did meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from islands.bench.quality_runs import RunRow
from islands.bench.traced import followed
from islands.configuration.spec import RunSpec
from islands.configuration.stop import time_limit
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress import usage
from islands.run.build import RankOptions
from islands.tables import Table

TARGET, SPEED = "target", "speed"
"""What a run is for: the time to a target, or the speed over a number of generations."""
SAME, DIFFERENT, NOT_COMPARED = "same", "DIFFER", "-"
"""Whether runs have the digests of one rank."""


@dataclass(frozen=True)
class GpuRunRow(RunRow):
    """A run on a number of ranks."""

    table: ClassVar[Table] = Table("gpus_runs", ())

    purpose: str
    settings: str
    """SHA-256 of all settings: runs with the same ones have the same digest."""
    digest: str
    """Empty if the time limit ended the run."""
    team: int
    """The largest number of ranks that share an island."""
    idle_ranks: int
    exchange: float
    """The share of the ranks' time in exchanges of teams, with waiting for each other there."""
    migration: float
    waiting: float
    """The share in which ranks with work waited for others elsewhere."""
    idle: float
    """The share of ranks without work."""
    start_seconds: float
    """The time of generation 0."""
    start_evaluations: int

    @property
    def generations_per_second(self) -> float:
        """The speed without generation 0."""
        return self.generations / self._loop_seconds

    @property
    def evaluations_per_second(self) -> float:
        """The speed without generation 0."""
        return (self.evaluations - self.start_evaluations) / self._loop_seconds

    @property
    def _loop_seconds(self) -> float:
        return max(self.seconds - self.start_seconds, 1e-9)

    def time_to(self, gap: float) -> float:
        """Return the seconds until a gap; infinite if it is not reached within the limit."""
        seconds = self.curve("").time_to(gap)
        return seconds if seconds <= self.limit else np.inf


def ran(spec: RunSpec, problem: Problem, world: World, rank_options: RankOptions) -> dict[str, Any]:
    """Return what a run of `GpuRunRow` depends on its result; collective."""
    made, result, course = followed(spec, problem, world, rank_options)
    is_timed = result.seconds >= time_limit(spec.stop)
    # Without a look before the end, the whole run is measured.
    first = course.first if course.first is not None and not course.first.generation else None
    is_begun = first is not None and result.generations > 0
    return {
        **made,
        "digest": "" if is_timed else result.digest,
        "team": result.team,
        "idle_ranks": result.idle_ranks,
        **shares(result.rank_seconds, result.idle_ranks),
        "start_seconds": first.seconds if first is not None and is_begun else 0.0,
        "start_evaluations": first.evaluations if first is not None and is_begun else 0,
    }


def shares(phases: Sequence[Mapping[str, float]], idle: int) -> dict[str, float]:
    """Return the shares of the time of all ranks, of which `idle` ones had no work.

    These are the ranks that waited longest, as they do nothing else.
    """
    by_work = sorted(phases, key=lambda each: each[usage.RANKS])
    working, without = by_work[: len(phases) - idle], by_work[len(phases) - idle :]
    whole = sum(sum(each.values()) for each in phases) or 1.0
    found = {"exchange": usage.TEAM, "migration": usage.MIGRATION, "waiting": usage.RANKS}
    spent = {name: sum(each[phase] for each in working) for name, phase in found.items()}
    spent["idle"] = sum(sum(each.values()) for each in without)
    return {name: seconds / whole for name, seconds in spent.items()}


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of settings, without the number of GPUs, which only chooses others."""
    mine = {name: value for name, value in settings.items() if name != "gpus"}
    return hashlib.sha256(json.dumps(mine, sort_keys=True).encode()).hexdigest()


def digests(rows: Sequence[GpuRunRow], alone: Sequence[GpuRunRow]) -> str:
    """Return whether runs have the digests of those on one rank with the same settings."""
    known = {(row.settings, row.seed): row.digest for row in alone if row.digest}
    pairs = [
        (row.digest, known[key])
        for row in rows
        if row.digest and (key := (row.settings, row.seed)) in known
    ]
    if not pairs or rows[0].ranks == alone[0].ranks:
        return NOT_COMPARED
    return SAME if all(mine == other for mine, other in pairs) else DIFFERENT
