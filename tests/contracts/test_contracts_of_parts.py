"""Topologies, encodings, improvers and problems keep their contracts."""

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest
from backend_contract import BackendContract
from emulated_gpu import EmulatedGpu

import islands
from islands.backends import choose, is_gpu
from islands.encodings import ENCODINGS
from islands.migration.topology import TOPOLOGIES
from islands.testing import EncodingContract, ImproverContract, ProblemContract, TopologyContract

RANDOM = np.random.default_rng(72)


class BuiltIn(TopologyContract):
    name: ClassVar[str]

    def topology(self) -> Any:
        return TOPOLOGIES[self.name]


for _name in ("ring", "elite", "torus", "hypercube", "broadcast", "random"):
    globals()[f"Test{_name.title()}"] = type(f"Test{_name.title()}", (BuiltIn,), {"name": _name})


class TestOwnTopology(TopologyContract):
    def topology(self) -> Any:
        return islands.Topology("skip", lambda i, n, *_: [(i + 2) % n] if n > 2 else [], most=1)


class TestOrdersAsKeys(EncodingContract):
    def encoding(self) -> Any:
        return ENCODINGS["keys"]["order"](33)

    def solutions(self) -> Any:
        return RANDOM.permuted(np.tile(np.arange(33), (9, 1)), axis=1)


class TestBits(EncodingContract):
    def encoding(self) -> Any:
        return ENCODINGS["bits"]["subset"](70)

    def solutions(self) -> Any:
        return RANDOM.integers(0, 2, (9, 70))


class TestTwoOpt(ImproverContract):
    settings = {"algorithm": "ga", "improver": "two_opt", "islands": 2, "population": 8}

    def problem(self) -> Any:
        return "demo/tsp"


class TestTabuOfSubsets(ImproverContract):
    settings = {"algorithm": "ga", "improver": "tabu", "islands": 2, "population": 8}

    def problem(self) -> Any:
        return "demo/mkp"


class TestTour(ProblemContract):
    ways = RANDOM.integers(1, 99, (30, 30))

    def problem(self) -> Any:
        return self._of(30)

    def small(self) -> Any:
        return self._of(8)

    def _of(self, n: int) -> Any:
        return islands.tsp(distances=(self.ways + self.ways.T)[:n, :n] * (1 - np.eye(n, dtype=int)))

    def cost(self, problem: Any, solution: list[int]) -> float:
        return int(
            sum((self.ways + self.ways.T)[a, b] for a, b in pairwise([*solution, solution[0]]))
        )


class TestAssignment(ProblemContract):
    flows, distances = RANDOM.integers(0, 50, (2, 20, 20)).tolist()

    def problem(self) -> Any:
        return islands.qap(self.flows, self.distances)

    def small(self) -> Any:
        return islands.qap(
            *([row[:7] for row in each[:7]] for each in (self.flows, self.distances))
        )

    def cost(self, problem: Any, solution: list[int]) -> float:
        size = range(len(solution))
        return sum(
            self.flows[i][j] * self.distances[solution[i]][solution[j]] for i in size for j in size
        )


class TestKnapsack(ProblemContract):
    profits = RANDOM.integers(1, 99, 40).tolist()
    weights = RANDOM.integers(1, 99, (3, 40)).tolist()

    def problem(self) -> Any:
        return islands.mkp(self.profits, self.weights, [1100] * 3)

    def small(self) -> Any:
        return islands.mkp(self.profits[:12], [row[:12] for row in self.weights], [200] * 3)

    def cost(self, problem: Any, solution: list[int]) -> float | None:
        room = 1100 if len(solution) == 40 else 200
        loads = (sum(w for w, s in zip(row, solution) if s) for row in self.weights)  # noqa: B905
        if any(load > room for load in loads):
            return None
        return sum(p for p, s in zip(self.profits, solution) if s)  # noqa: B905


class TestCpu(BackendContract):
    def backend(self) -> Any:
        return choose("cpu", threads=2)


class TestEmulatedGpu(BackendContract):
    def backend(self) -> Any:
        return EmulatedGpu(64)


class TestGpu(BackendContract):
    def backend(self) -> Any:
        if not is_gpu("auto"):
            pytest.skip("no GPU here")
        return choose("cuda")
