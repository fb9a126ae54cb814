"""A problem and an archipelago whose every number is known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.archipelago import Candidate, IslandMeasure
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem, Solution


class FakeProblem(Problem):
    """The cost of an order is 100 plus its first thing."""

    name: ClassVar[str] = "tsp"
    solution_kind: ClassVar[str] = "order"
    solution_suffix: ClassVar[str] = ".tour"

    def __init__(self, known: BestKnown | None = None, *, maximise: bool = False) -> None:
        self.instance = "fake/five"
        self.size = 5
        self.best_known = known
        self.is_maximised = maximise

    @property
    def maximise(self) -> bool:  # type: ignore[override]
        return self.is_maximised

    def defines(self) -> dict[str, str]:
        return {}

    def arrays(self) -> list[NDArray[np.generic]]:
        return []

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        return 100 + solutions[:, 0]

    def check(self, solution: Solution) -> None:
        assert sorted(solution) == list(range(5))

    def read_solution(self, path: Path) -> Solution:
        return np.array(path.read_text().split(), np.int64)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        path.write_text(" ".join(map(str, solution)))


class FakeArchipelago:
    """Two islands: the best of island i at generation g is 1000 + i - g; it remembers its calls."""

    def __init__(self, first: int = 0, **_: Any) -> None:
        self.mine = range(first, first + 2)
        self.generation = -1
        self.compile_seconds = 0.25
        self.road = "device"
        self.calls: list[str] = []

    def start(self) -> None:
        self.generation = 0
        self.calls.append("start")

    def advance(self, generations: int) -> None:
        self.generation += generations
        self.calls.append(f"advance {generations}")

    def migrate(self) -> None:
        self.calls.append("migrate")

    def wait(self) -> None:
        """Return at once: here nothing is done later."""

    def measure(self) -> list[IslandMeasure]:
        g = self.generation
        return [
            IslandMeasure(
                island=i,
                best=1000 + i - g,
                mean=2000.0,
                worst=3000,
                best_generation=g,
                evaluations=10 * (g + 1),
            )
            for i in self.mine
        ]

    def best(self) -> Candidate:
        cost = 1000 + self.mine[0] - self.generation
        order = np.arange(5, dtype=np.int64)
        return Candidate(cost, self.mine[0], order, order)

    def digests(self) -> list[tuple[int, str]]:
        return [(i, f"{i:064x}") for i in self.mine]


class Quiet:
    """An interruption that comes when `requested` is set."""

    requested = False
