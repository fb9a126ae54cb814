from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import copied_parts
import numpy as np
import pytest
from user_algorithm import Threshold, ThresholdSettings

import islands
from islands import IslandsError, Solver, solve
from islands.algorithms import ALGORITHMS
from islands.algorithms.brkga import Brkga
from islands.algorithms.operators import CROSSOVERS
from islands.errors import UsageError
from islands.instances.synthetic import uniform_tsp
from islands.problems.tsp import Tsp

FEW: dict[str, Any] = {
    "islands": 4,
    "population": 16,
    "backend": "cpu",
    "threads": 1,
    "interval": 3,
    "migrants": 1,
}
BUILT_IN: dict[str, Any] = {
    "algorithm": "ga",
    "encoding": "keys",
    "crossover": "two_point",
    "mutation": "insertion",
    "improver": "swap",
    "migration": "ring",
}
OWN: dict[str, list[Any]] = {
    "algorithm": [copied_parts.Breed],
    "encoding": [copied_parts.Digits],
    "crossover": [copied_parts.Spread, copied_parts.Spread()],
    "mutation": [copied_parts.Shift()],
    "improver": [copied_parts.Climb],
    "migration": [copied_parts.circle, copied_parts.Circle, copied_parts.Circle()],
}
ALL = {name: parts[0] for name, parts in OWN.items()}


def digest(problem: Any = "demo/tsp", **settings: Any) -> str:
    return solve(problem, stop="generations=9", **FEW, **settings).digest


@pytest.fixture(scope="module")
def usual() -> str:
    return digest(**BUILT_IN)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name, parts in OWN.items() for part in parts]
)
def test_a_custom_part_gives_the_same_result_as_the_same_built_in_part(
    usual: str, name: str, part: Any
) -> None:
    assert digest(**BUILT_IN | {name: part}) == usual


@pytest.mark.slow
def test_all_parts_may_be_custom() -> None:
    file = uniform_tsp(9, seed=1)
    assert digest(copied_parts.Tour(file), **ALL) == digest(Tsp(file), **BUILT_IN)


def test_a_solver_accepts_custom_parts() -> None:
    problem = copied_parts.Tour(uniform_tsp(9, seed=1))
    solvers = [Solver(problem, **FEW, **each) for each in (BUILT_IN, ALL)]
    for each in solvers:
        each.evolve(3)
        each.exchange()
        each.evolve(2)
    one, other = ([each.cost for each in solver.best(5)] for solver in solvers)
    assert one == other


@pytest.mark.slow
def test_a_part_with_the_same_name_replaces_the_earlier_one(tmp_path: Path) -> None:
    class Spread(islands.Crossover):
        name = "spread"
        encodings = ("keys",)
        header = copied_parts.copied("crossovers/one_point.cuh", "spread.cuh")
        scratch = (1,)

    own = [digest(**BUILT_IN | {"crossover": each}) for each in (copied_parts.Spread, Spread)]
    built_in = [digest(**BUILT_IN | {"crossover": each}) for each in ("two_point", "one_point")]
    assert own == built_in
    assert own[0] != own[1]
    assert isinstance(CROSSOVERS["spread"], Spread)


class Nameless(islands.Crossover):
    encodings = ("keys",)
    header = copied_parts.Spread.header


class Taken(Brkga):
    pass


class Spelt(Nameless):
    name = "Two-Point"


class Spaced(Nameless):
    name = "a b"


class Single(Nameless):
    name, encodings = "single", "keys"  # type: ignore[assignment]


class Headed(Nameless):
    name, header = "headed", "headed.cuh"  # type: ignore[assignment]


class Empty(Nameless):
    name, header = "empty", islands.Header("empty.cuh")


class Hiding(Nameless):
    name, header = "hiding", islands.Header("genes.cuh", "//")


class Half(islands.Algorithm):
    name, encodings, header = "half", ("keys",), islands.Header("half.cuh", "//")


class Undecorated(ThresholdSettings):
    far: int = islands.setting(5, "number of distant cities")


class Undated(Threshold):
    name = "undated"
    Settings = Undecorated


class Unsettled(Threshold):
    name = "unsettled"
    Settings = dict  # type: ignore[assignment]


BREED: Any = (ALGORITHMS["ga"].Settings(), 16, "keys")
"""The arguments of an algorithm, of which the class must be given, not an object."""


@dataclass(frozen=True)
class Seeded(ThresholdSettings):
    seed: int = islands.setting(5, "seed of the proposals")


class Sown(Threshold):
    name = "sown"
    Settings = Seeded


class Demanding(Nameless):
    name = "demanding"

    def __init__(self, rate: float) -> None:
        self.rate = rate


class Broken(Nameless):
    name = "broken"

    def __init__(self) -> None:
        self.rate = 1 // 0


@pytest.mark.parametrize(
    ("kind", "part", "word"),
    [
        ("crossover", Nameless, "has no name"),
        ("crossover", Spelt, "is taken by the built-in crossover 'two_point'"),
        ("crossover", Spaced, "begin with a letter"),
        ("crossover", Single, "encodings is of the type str"),
        ("crossover", Headed, "header is of the type str"),
        ("crossover", Empty, "has no text"),
        ("crossover", Hiding, "a built-in header has this name"),
        ("crossover", Demanding, "without arguments"),
        ("crossover", Broken, "'self.rate = 1 // 0': ZeroDivision"),
        ("crossover", copied_parts.Shift, "must be a crossover"),
        ("algorithm", Taken, "the name 'brkga' is taken"),
        ("algorithm", Half, "has no plan"),
        ("algorithm", Undated, "is not a dataclass"),
        ("algorithm", Unsettled, "Derive it from islands.Settings"),
        ("algorithm", Sown, "its setting 'seed'"),
        ("algorithm", islands.Algorithm, "islands.Algorithm itself"),
        ("algorithm", copied_parts.Breed(*BREED), "Pass the class Breed"),
        ("improver", len, "must be an improver"),
        ("encoding", np.float32, "must be an encoding"),
        ("migration", [1], "must be a topology"),
    ],
    ids=lambda each: getattr(each, "__name__", None) or str(each).partition(" at 0x")[0],
)
def test_invalid_parts_are_refused(kind: str, part: Any, word: str) -> None:
    with pytest.raises(IslandsError) as caught:
        solve("demo/tsp", **{"algorithm": "ga", kind: part})
    assert word in str(caught.value)


def test_an_object_without_attributes_stands_for_its_class() -> None:
    few = {"islands": 2, "population": 12, "interval": 3, "backend": "cpu", "improver": "none"}
    found = [
        solve("demo/tsp", algorithm=each, stop="generations=7", **few).digest
        for each in (Threshold, Threshold())
    ]
    assert found[0] == found[1]


def test_a_problem_that_lacks_methods_is_refused_with_their_names() -> None:
    class Sum(islands.Problem):
        name, solution_kind, size = "sum", "order", 5

        def costs(self, solutions: Any) -> Any:
            return solutions[:, 0]

    with pytest.raises(UsageError, match=r"class Sum: .* must define arrays, check, defines,"):
        Sum()  # type: ignore[abstract]
