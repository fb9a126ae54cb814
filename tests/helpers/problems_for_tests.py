"""Small generated problems."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.source import Header
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import RunSpec
from islands.errors import RunError
from islands.instances.mkp import MkpFile
from islands.instances.qaplib import QapFile
from islands.instances.tsplib import TspFile
from islands.problems.base import Problem, Solution
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp


def resolved(problem: Problem, backend: str = "cpu", **options: Any) -> RunSpec:
    """Return the settings of a run on a backend."""
    return resolve(Request.of({"backend": backend, **options}), problem).spec


def cities(n: int, metric: str = "EUC_2D", seed: int = 1) -> Tsp:
    """Return a travelling salesman problem of n random cities."""
    points = np.random.default_rng(seed).integers(0, 10_000, (n, 2)).astype(np.float64)
    return Tsp(TspFile(f"random{n}", None, n, metric, coordinates=points))


def streets(n: int, seed: int = 1, *, symmetric: bool = False, **route: Any) -> Tsp:
    """Return a tour of a matrix whose lengths depend on the direction, with forbidden legs."""
    from islands.problems.data import tsp

    generator = np.random.default_rng(seed)
    places = generator.random((n, 2))
    lengths = 1000 * np.linalg.norm(places[:, np.newaxis] - places, axis=2)
    lengths = np.rint(lengths * generator.uniform(1, 2, (n, n)))
    lengths[generator.random((n, n)) < 0.05] = np.inf
    np.fill_diagonal(lengths, 0)
    return tsp(distances=np.minimum(lengths, lengths.T) if symmetric else lengths, **route)


def lattice(metric: str) -> Tsp:
    """Return cities at multiples of 1/2 and a distant one: many distances are near a half."""
    halves = [[x / 2, y / 2] for x in range(9) for y in range(9)]
    places = np.array([*halves, [1e6, 0.5]])
    return Tsp(TspFile("lattice", None, len(places), metric, coordinates=places))


def facilities(
    n: int,
    *,
    symmetric: str = "both",
    diagonal: bool = False,
    largest: int = 99,
    seed: int = 1,
    linear: int = 0,
) -> Qap:
    """Return a quadratic assignment problem of n random facilities.

    `symmetric` names the symmetric matrices: `a`, `b`, `both` or `neither`. Linear terms are random
    numbers up to `linear`; 0: there are none.
    """
    random = np.random.default_rng(seed)
    matrices = random.integers(1, largest + 1, (2, n, n))
    terms = random.integers(0, linear + 1, (n, n)) if linear else None
    for name, matrix in zip("ab", matrices, strict=True):
        if symmetric in (name, "both"):
            matrix[:] = np.triu(matrix) + np.triu(matrix, 1).T
        if not diagonal:
            np.fill_diagonal(matrix, 0)
    return Qap(QapFile(f"random{n}", None, n, *matrices, linear=terms))


def uneven(n: int) -> Qap:
    """Return an instance whose flows have few large numbers."""
    a = facilities(n).file.a
    b = np.exp(np.random.default_rng(1).normal(0, 3.2, (n, n))).astype(np.int64) + 1
    b = np.triu(b, 1) + np.triu(b, 1).T
    return Qap(QapFile(f"uneven{n}", None, n, a, b))


def with_equals(n: int) -> list[np.ndarray[Any, Any]]:
    """Return matrices of two classes of equal facilities, and of a smaller one of locations."""
    a, b = facilities(n).file.a.copy(), facilities(n, seed=2).file.a.copy()
    a[1:8:2] = a[:, 1:8:2] = 0
    a[[2, 4]] = a[:, [2, 4]] = 3
    b[n - 3 :, :] = b[:, n - 3 :] = 7
    for matrix in (a, b):
        np.fill_diagonal(matrix, 0)
    return [a, b]


def of_two_kinds(n: int, chosen: int, *, turned: bool = False, **terms: Any) -> Qap:
    """Return a problem of two classes of equal facilities or, if `turned`, of equal locations."""
    random = facilities(n, **{"diagonal": True, "seed": 3, **terms}).file
    kinds = np.arange(n) >= chosen
    a = np.array([[7, 2], [4, 3]])[np.ix_(kinds.astype(int), kinds.astype(int))]
    if terms.get("symmetric", "both") == "both":
        a = np.maximum(a, a.T)
    np.fill_diagonal(a, np.where(kinds, 5, 8))
    linear = None if random.linear is None else random.linear[kinds.astype(int)]
    if not turned:
        return Qap(QapFile(f"kinds{n}", None, n, a, random.b, linear=linear))
    across = None if linear is None else linear.T
    return Qap(QapFile(f"kinds{n}", None, n, random.b, a, linear=across))


def flat(n: int, cost: int) -> Qap:
    """Return a problem whose solutions all have the same cost, a multiple of n * (n - 1)."""
    a = 1 - np.eye(n, dtype=np.int64)
    return Qap(QapFile("flat", None, n, a, cost // (n * (n - 1)) * a))


def knapsack(n: int, m: int, *, largest: int = 1000, seed: int = 1) -> Mkp:
    """Return a knapsack of n items as by Chu and Beasley, with m capacities of half the weights."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, largest + 1, (m, n))
    profits = weights.mean(axis=0).astype(np.int64) + rng.integers(0, largest // 2 + 1, n)
    capacities = np.maximum(weights.sum(axis=1) // 2, weights.max(axis=1))
    return Mkp(MkpFile("knapsack", None, profits, weights, capacities), "knapsack")


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
    name: ClassVar[str] = "key_targets"
    solution_kind: ClassVar[str] = "keys"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.low, self.high = np.zeros(size), np.ones(size)
        self.target = np.random.default_rng(size).uniform(0, 1, size)
        self.target[0] = 1


NUMBERS: dict[str, type[_Targets]] = {"vector": Box, "keys": KeyTargets}
"""The problems by the encoding of their solutions."""
