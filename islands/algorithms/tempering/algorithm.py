"""Parallel tempering: ladders of Markov chains at different temperatures.

Replicas accept the moves of their chain by the Metropolis rule. After each generation, replicas at
neighbouring temperatures may swap temperatures. Each island chooses its temperatures from
measurements of its chains while it cools down.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Algorithm, Launch, Rounds, Schedule, Shape, Step, TeamExchanges
from islands.algorithms.tempering.chains import ReplicaChains
from islands.algorithms.tempering.core import CoreChains
from islands.algorithms.tempering.flips import FlipChains
from islands.algorithms.tempering.moves import MoveChains
from islands.algorithms.tempering.pairs import PairChains
from islands.algorithms.tempering.places import PlaceChains
from islands.algorithms.tempering.settings import ROUGHNESS_SAMPLES, TemperingSettings
from islands.algorithms.tempering.sparse import NetworkChains, SparseChains
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_CHAINS: tuple[type[ReplicaChains], ...] = (
    CoreChains,
    FlipChains,
    MoveChains,
    PlaceChains,
    SparseChains,
    NetworkChains,
    PairChains,
)
_ENCODINGS = {
    "order": "permutation",
    "subset": "bits",
    "keys": "keys",
    "vector": "vector",
    "choices": "choices",
}
"""The encoding whose genomes are solutions, by solution kind."""
_RENEWED = 0.5, 1.0
"""The range of rungs whose replicas are renewed, as fractions of the ladder."""
_FIELDS = ("state", "energy", "held", "rung", "mate", "temperature", "records")
"""The fields in the order of `PlanOf` in kernels/tempering/plan.cuh."""


def chains_of(problem: Problem) -> type[ReplicaChains] | None:
    """Return the kind of chain for a problem, or None if it has no suitable moves."""
    return next((chains for chains in _CHAINS if chains.fits(problem)), None)


class Tempering(Algorithm):
    """Parallel tempering with ladders of replicas on each island."""

    name: ClassVar[str] = "tempering"
    header: ClassVar[Header] = Header("algorithms/tempering.cuh")
    encodings: ClassVar[tuple[str, ...]] = tuple(_ENCODINGS.values())
    improves: ClassVar[bool] = False
    needs: ClassVar[str] = "moves whose change in cost can be computed"
    most_first_calls: ClassVar[int] = 1 + ROUGHNESS_SAMPLES
    Settings: ClassVar[type[Settings]] = TemperingSettings

    def __init__(
        self, settings: TemperingSettings, population: int, encoding: str = "permutation"
    ) -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        if population % settings.rungs:
            below = population // settings.rungs * settings.rungs
            near = [str(number) for number in (below, below + settings.rungs) if number > 0]
            raise UsageError(
                f"population={population}: must be a multiple of rungs={settings.rungs}. Choose"
                f" {' or '.join(near)}, or other rungs"
            )

    @classmethod
    def takes(cls, problem: Problem, given: Mapping[str, Any]) -> bool:
        chains = chains_of(problem)
        default = TemperingSettings.rungs if chains is None else chains.rungs
        rungs = given.get("rungs", default)
        population = given.get("population", 0)
        return not (str(population).isdigit() and str(rungs).isdigit()) or (
            int(rungs) == 0 or int(population) % int(rungs) == 0
        )

    @classmethod
    def standstill(
        cls, settings: TemperingSettings, population: int, size: int, *, is_warm: bool
    ) -> int:
        # Plus twice the tuning phase, after which replicas are frozen, and one annealing cycle.
        return population + 2 * settings.generations_of_tuning + settings.cycle

    @classmethod
    def most_calls(cls, settings: TemperingSettings, problem: Problem) -> float:
        python = problem.evaluation.python
        kind = chains_of(problem)
        if kind is None or not kind.keeps_quota or (python is not None and python.is_batch):
            return math.inf  # the moves of a batch after the accepted one count as well
        return kind.most_proposals(settings, problem) + 1  # includes the cost of a new state

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return chains_of(problem) is not None

    @classmethod
    def reads(cls, problem: Problem, encoding: str) -> bool:
        return encoding == _ENCODINGS[problem.solution_kind]

    def prepare(self, problem: Problem, shape: Shape) -> None:
        kind = chains_of(problem)
        assert kind is not None, "the problem fits"
        self._chains = chains = kind(self.settings, problem, shape)
        self.children, self.few_threads = chains.children, chains.few_threads
        self.block, self.price_factors = chains.block, chains.price_factors
        self.keeps_quota, self.shares_launches = chains.keeps_quota, chains.shares_launches

    def defines(self) -> Macros:
        return self._chains.macros()

    def items(self, problem: Problem) -> int:
        return self._chains.items(problem)

    def fields(self, shape: Shape) -> dict[str, Field]:
        size, ladders = shape.population, shape.population // self.settings.rungs
        return {
            **self._chains.fields(),
            "state": Field((size, shape.pitch), shape.gene),
            "energy": Field((size,), np.int64),
            "held": Field((size,), np.int64),
            "rung": Field((size,), np.int32),
            "mate": Field((size,), np.int32),
            "temperature": Field((size,), np.float64),
            "heat": Field((ladders, max(1, self.settings.generations_of_tuning)), np.float64),
            "records": Field((ladders, 2), np.int64),
        }

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        return self._chains.tables(problem)

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        def all_of(replicas: str, evaluations: str, ladders: str) -> tuple[Step, ...]:
            rounds = (Rounds((Launch(evaluations, shape.jobs, None),)),) if in_rounds else ()
            return (
                *(Launch(replicas, shape.jobs, None), *rounds, TeamExchanges()),
                Launch(ladders, shape.islands),
            )

        in_rounds = outside and self._chains.waits
        return Schedule(
            start=all_of("first_replicas", "evaluate_first_replicas", "first_ladders"),
            generation=all_of("advance_replicas", "evaluate_replicas", "end_ladders"),
            adopt=(Launch("adopt_immigrants", shape.islands),),
        )

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings, chains = self.settings, self._chains
        are_given = settings.are_given
        return Struct(
            rungs=np.int32(settings.rungs),
            sweeps=np.int32(chains.work),
            patience=np.int32(settings.patience),
            renewed_from=np.int32(_RENEWED[0] * settings.rungs),
            renewed_to=np.int32(_RENEWED[1] * settings.rungs),
            descent=np.int32(settings.descent),
            tuning=np.int32(settings.generations_of_tuning),
            # With given temperatures, states follow the Boltzmann distribution; see base.cuh.
            effort=np.float64(0 if are_given else chains.effort),
            low=np.float64(settings.coldest if are_given else chains.cooling[0]),
            high=np.float64(settings.hottest if are_given else chains.cooling[1]),
            unit=arrays.get("unit", Null(np.float64)),
            roughness=arrays.get("roughness", Null(np.float64)),
            **{name: arrays[name] for name in _FIELDS},
            ends=chains.ends(arrays),
            chain=chains.members(arrays),
        )

    def numbers(self) -> Hashable:
        return self._chains.numbers()
