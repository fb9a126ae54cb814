"""Problems whose solutions are numbers: vectors in a box, or random keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.backends.source import Header
from islands.errors import RunError
from islands.problems.base import Problem, Solution


class _Targets(Problem):
    """The sum of squared distances from target values, in millionths."""

    header: ClassVar[Header] = Header("distance.cuh", Path(__file__).with_name("distance.cuh"))
    solution_suffix: ClassVar[str] = ".numbers"
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    target: NDArray[np.float64]

    def __init__(self, size: int) -> None:
        self.instance, self.size = f"{self.name}{size}", size

    def defines(self) -> dict[str, str]:
        return {}

    def arrays(self) -> list[NDArray[np.generic]]:
        return [self.low, self.high, self.target]

    def costs(self, solutions: NDArray[Any]) -> NDArray[np.int64]:
        distance = solutions.astype(np.float64) - self.target
        return (1e6 * (distance * distance)).astype(np.int64).sum(axis=1)

    def check(self, solution: Solution) -> None:
        if not ((solution >= self.low) & (solution <= self.high)).all():
            raise RunError(f"{solution}: outside the box")

    def read_solution(self, path: Path) -> Solution:
        return np.loadtxt(path, ndmin=1)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        np.savetxt(path, solution, "%.17g")


class Box(_Targets):
    """Targets in a box of different widths; the first is at a corner."""

    name: ClassVar[str] = "box"
    solution_kind: ClassVar[str] = "vector"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        random = np.random.default_rng(size)
        self.low = random.uniform(-5, 0, size)
        self.high = self.low + random.uniform(0.5, 8, size)
        self.target = self.low + random.uniform(0, 1, size) * (self.high - self.low)
        self.target[0] = self.high[0]


class KeyTargets(_Targets):
    """Targets of keys."""

    name: ClassVar[str] = "key_targets"
    solution_kind: ClassVar[str] = "keys"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.low, self.high = np.zeros(size), np.ones(size)
        self.target = np.random.default_rng(size).uniform(0, 1, size)
        self.target[0] = 1


NUMBERS: dict[str, type[_Targets]] = {"vector": Box, "keys": KeyTargets}
"""The problems by the encoding of their solutions."""


def require_inside(mine: Archipelago) -> None:
    """Require that all genes are in their range, and that bounds and other values occur."""
    genes = mine.snapshot()["genes"][:, :, : mine._encodings[0].size]
    assert mine._encodings[0].holds(genes.reshape(-1, genes.shape[-1]))
    assert len(np.unique(genes)) > 1
