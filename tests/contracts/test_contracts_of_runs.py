"""Runs of all kinds keep the contract of runs, also with migrants in flight."""

from typing import Any, ClassVar

import models_to_digest
import numpy as np
import own_problems
import shops_to_digest
from models_for_tests import model_of

import islands
from islands.testing import AlgorithmContract

RANDOM = np.random.default_rng(71)
CITIES = RANDOM.integers(0, 1000, (2, 24, 2))
_HALVES = RANDOM.integers(0, 30, (2, 2, 18, 18))
MATRICES = _HALVES + _HALVES.transpose(0, 1, 3, 2)
PROFITS = RANDOM.integers(1, 99, (2, 60))
WEIGHTS = RANDOM.integers(1, 99, (2, 4, 60))


class Small(AlgorithmContract):
    """Two islands that exchange migrants every three generations."""

    base: ClassVar[dict[str, Any]] = {"islands": 2, "population": 12, "interval": 3, "migrants": 2}
    own: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.settings = {**cls.base, **cls.own}


class Tours(Small):
    def problem(self) -> Any:
        return islands.tsp(CITIES[0], metric="EUC_2D")

    def other(self) -> Any:
        return islands.tsp(CITIES[1], metric="EUC_2D")


class Assignments(Small):
    def problem(self) -> Any:
        return islands.qap(*MATRICES[0])

    def other(self) -> Any:
        return islands.qap(*MATRICES[1])


class Knapsacks(Small):
    def problem(self) -> Any:
        return islands.mkp(PROFITS[0], WEIGHTS[0], [1200] * 4)

    def other(self) -> Any:
        return islands.mkp(PROFITS[1], WEIGHTS[1], [1200] * 4)


class TestEax(Tours):
    own = {"algorithm": "eax"}


class TestBrkgaWithElite(Tours):
    own = {"algorithm": "brkga", "migration": "elite", "population": 24, "reset": 4}


class TestGaWithTwoOpt(Tours):
    own = {"algorithm": "ga", "encoding": "permutation", "improver": "two_opt"}


class TestDelayedMigration(Tours):
    own = {"algorithm": "ga", "migration": "random", "migration.delay": 1, "improver": "none"}


class TestTempering(Assignments):
    own = {"algorithm": "tempering", "population": 8, "rungs": 4, "tuning": 4, "reset": 5}


class TestMemeticWithTabu(Assignments):
    own = {"algorithm": "memetic", "improver": {"name": "tabu", "steps": 9}}


class TestDifferentialEvolution(Assignments):
    own = {"algorithm": "de", "adaptation": "jde", "reset": 4, "improver": "none"}


class TestCellularInOneGrid(Assignments):
    own = {"algorithm": "cellular", "halo": True, "migration": "none", "group": 4}
    own |= {"improver": {"name": "tabu", "steps": 4, "rate": 0.5}}


class TestColonies(Assignments):
    base = {"interval": 3, "migrants": 2}
    own = {
        "colonies": [
            {"islands": 1, "algorithm": "memetic", "population": 12, "improver.steps": 9},
            {"islands": 2, "algorithm": "de", "population": 14, "rate": 2, "improver": "none"},
        ]
    }


class TestSwarm(Knapsacks):
    own = {"algorithm": "pso", "infeasible": "dynamic", "improver": "none"}


class TestGaWithRepair(Knapsacks):
    own = {"algorithm": "ga", "encoding": "bits", "infeasible": "repair"}


class TestKeysOfKnapsacks(Knapsacks):
    own = {"algorithm": "brkga", "encoding": "keys", "infeasible": "linear", "population": 24}


class TestCore(Knapsacks):
    own = {"algorithm": "tempering", "proposals": 600, "rungs": 4, "population": 8, "tuning": 3}


class TestOwnOrders(Small):
    own = {"algorithm": "ga", "improver": "none"}

    def problem(self) -> Any:
        return model_of("permutation", "cost")


class TestOwnSubsetsInPython(Small):
    own = {"algorithm": "ga"}

    def problem(self) -> Any:
        return model_of("subset", "batch")


class TestOwnKeys(Small):
    own = {"algorithm": "brkga", "population": 24}

    def problem(self) -> Any:
        return model_of("keys", "cost")


class TestOwnVectorsByAFunction(Small):
    own = {"algorithm": "de"}

    def problem(self) -> Any:
        return model_of("real", "function")


class TestViolations(Small):
    own = {"algorithm": "tempering", "population": 6, "tuning": 3}

    def problem(self) -> Any:
        return own_problems.order_with_violation(20, np.random.default_rng(1))


class TestJobShop(Small):
    own = {"population": 6, "proposals": 60}

    def problem(self) -> Any:
        return shops_to_digest.plain


class TestColouring(Small):
    own = {"population": 6, "proposals": 200, "tuning": 3}

    def problem(self) -> Any:
        return models_to_digest.colours
