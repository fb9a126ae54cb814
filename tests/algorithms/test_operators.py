"""All crossovers and mutations on all encodings compared with NumPy, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from colonies_for_tests import one_colony
from numpy.typing import NDArray
from numpy_cellular import NumpyCellular
from numpy_operators import cycle, mutated, order, pmx, uniform_order
from problems_for_tests import NUMBERS, cities, lattice
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms import operators
from islands.algorithms.cellular import CellularSettings
from islands.backends.base import Backend, Block
from islands.backends.source import Header
from islands.errors import UsageError
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem, Solution


class Wanted(Problem):
    """A problem of wrong bits: each bit has a target value and a weight of at least `low`."""

    name: ClassVar[str] = "wanted"
    header: ClassVar[Header] = Header("wanted.cuh", Path(__file__).with_name("wanted.cuh"))
    solution_kind: ClassVar[str] = "subset"
    instance = "wanted"
    best_known = None

    def __init__(self, size: int, low: int = 1) -> None:
        self.size = size
        random = np.random.default_rng(size)
        self.wanted = random.integers(0, 2, size, dtype=np.int32)
        self.weight = random.integers(low, 100, size, dtype=np.int32)

    def defines(self) -> dict[str, str]:
        return {}

    def arrays(self) -> list[NDArray[np.generic]]:
        return [self.wanted, self.weight]

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        return ((solutions != self.wanted) * self.weight).sum(axis=1)

    def check(self, solution: Solution) -> None:
        assert set(solution.tolist()) <= {0, 1}

    def read_solution(self, path: Path) -> Solution:
        raise NotImplementedError

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        raise NotImplementedError


def assert_evolves_as_the_reference(
    backend: Backend,
    problem: Problem,
    encoding: str,
    generations: int = 4,
    first: NDArray[Any] | None = None,
    **changes: Any,
) -> None:
    """Compare each generation, from the `first` genomes or random ones."""
    mine = one_colony(
        problem=problem,
        algorithm="cellular",
        encoding=encoding,
        settings=CellularSettings.build({"mutation_rate": 0.6, "group": 1, **changes}),
        population=14,
        islands=2,
        seed=8,
        migration=MigrationSettings.build({"topology": "none"}),
        backend=backend,
        world=World(),
    )

    def decoded(genomes: NDArray[Any]) -> NDArray[np.int64]:
        if encoding == "bits":
            return genomes
        return mine._encodings[0].decode(genomes)

    reference = NumpyCellular(
        problem.size, lambda genomes: problem.costs(decoded(genomes)), encoding, population=14,
        seed=8, **{"mutation_rate": 0.6, "group": 1, **changes},
    )  # fmt: skip
    mine.start()
    if first is not None:
        saved = mine.snapshot()
        saved["genes"][:, :, : problem.size] = first
        saved["cost"] = np.array([problem.costs(decoded(each)) for each in first])
        mine.restore(saved, generation=0, migrations=0)
        reference.genomes, reference.cost = first.tolist(), saved["cost"].tolist()
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        saved = mine.snapshot()
        assert saved["cost"].tolist() == reference.cost
        genes = saved["genes"][:, :, : mine._encodings[0].size]
        found = [mine._encodings[0].decode(each) for each in genes] if encoding == "bits" else genes
        assert np.array(found).tolist() == reference.genomes


def problem_for(encoding: str) -> Problem:
    """Return a problem that genomes of an encoding solve."""
    return {"bits": Wanted(20), "vector": NUMBERS["vector"](9)}.get(encoding, lattice("GEO"))


SIZES = [1, 2, 3, 5, 33, 70]
BIT_SIZES = [1, 2, 31, 32, 33, 200, 1100]


def fitting(all_operators: Iterable[operators.Operator], encoding: str) -> list[str]:
    """Return the names of all built-in operators for an encoding."""
    return [each.name for each in all_operators if encoding in each.encodings]


FITTING = {
    encoding: (
        fitting(operators._ALL_CROSSOVERS, encoding),
        fitting(operators._ALL_MUTATIONS, encoding),
    )
    for encoding in ("permutation", "keys", "bits", "vector")
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("crossover", FITTING["permutation"][0])
def test_crossovers_of_orders_equal_the_reference(
    backend: Backend, crossover: str, n: int, tmp_path: Path
) -> None:
    changes = {"crossover": crossover, "mutation": "swap", "crossover_rate": 1}
    assert_evolves_as_the_reference(backend, cities(n, tmp_path), "permutation", **changes)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("crossover", FITTING["keys"][0])
def test_crossovers_of_keys_equal_the_reference(
    backend: Backend, crossover: str, n: int, tmp_path: Path
) -> None:
    changes = {"crossover": crossover, "mutation": "reset", "crossover_rate": 1}
    assert_evolves_as_the_reference(backend, cities(n, tmp_path), "keys", **changes)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("encoding", "crossover"),
    [(encoding, each) for encoding in NUMBERS for each in FITTING[encoding][0]],
)
def test_crossovers_of_numbers_equal_the_reference(
    backend: Backend, encoding: str, crossover: str, n: int
) -> None:
    changes = {"crossover": crossover, "mutation": "reset", "crossover_rate": 1}
    assert_evolves_as_the_reference(backend, NUMBERS[encoding](n), encoding, **changes)


def test_sbx_leaves_genes_that_hardly_differ(backend: Backend) -> None:
    steps = np.random.default_rng(1).integers(0, 30, (2, 14, 33))
    near = 0.5 + 1e-15 * steps
    assert (np.ptp(near, axis=1) > 1e-14).all()
    changes = {"crossover": "sbx", "mutation_rate": 0, "crossover_rate": 1}
    problem = NUMBERS["vector"](33)
    assert_evolves_as_the_reference(
        backend, problem, "vector", generations=1, first=near, **changes
    )


@pytest.mark.parametrize("n", BIT_SIZES)
@pytest.mark.parametrize("crossover", FITTING["bits"][0])
def test_crossovers_of_bits_equal_the_reference(backend: Backend, crossover: str, n: int) -> None:
    changes = {"crossover": crossover, "mutation": "flip", "crossover_rate": 1}
    assert_evolves_as_the_reference(backend, Wanted(n), "bits", **changes)


@pytest.mark.parametrize("low", [-300, -100])
def test_negative_costs_have_fitness_as_in_the_reference(backend: Backend, low: int) -> None:
    changes = {"crossover": "uniform", "mutation": "flip", "selection": "proportional"}
    assert_evolves_as_the_reference(backend, Wanted(40, low), "bits", **changes)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("strength", [1, 3])
@pytest.mark.parametrize(
    ("encoding", "mutation"),
    [(encoding, each) for encoding in ("permutation", "keys") for each in FITTING[encoding][1]],
)
def test_mutations_of_orders_equal_the_reference(
    backend: Backend, encoding: str, mutation: str, strength: int, n: int, tmp_path: Path
) -> None:
    crossover = "pmx" if encoding == "permutation" else "two_point"
    changes = {"mutation": mutation, "strength": strength, "crossover": crossover}
    assert_evolves_as_the_reference(backend, cities(n, tmp_path), encoding, **changes)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("encoding", "mutation"),
    [(encoding, each) for encoding in NUMBERS for each in FITTING[encoding][1]],
)
def test_mutations_of_numbers_equal_the_reference(
    backend: Backend, encoding: str, mutation: str, n: int
) -> None:
    changes = {"mutation": mutation, "strength": 2, "crossover": "sbx", "mutation_rate": 1}
    assert_evolves_as_the_reference(backend, NUMBERS[encoding](n), encoding, **changes)


@pytest.mark.parametrize("n", BIT_SIZES)
@pytest.mark.parametrize("mutation", FITTING["bits"][1])
def test_mutations_of_bits_equal_the_reference(backend: Backend, mutation: str, n: int) -> None:
    changes = {"mutation": mutation, "strength": 2, "crossover": "uniform"}
    assert_evolves_as_the_reference(backend, Wanted(n), "bits", **changes)


def test_the_reference_agrees_with_examples_of_the_literature() -> None:
    """Compare with examples by hand; the segment of Goldberg and Davis is places 3 to 5."""
    one, other = [8, 7, 4, 3, 2, 5, 1, 0, 9, 6], [7, 6, 9, 8, 0, 1, 2, 3, 4, 5]
    assert pmx(range(3, 6), one, other) == [7, 6, 9, 3, 2, 5, 0, 8, 4, 1]
    assert order(range(3, 6), one, other) == [8, 0, 1, 3, 2, 5, 4, 7, 6, 9]
    one, other = [0, 1, 2, 3, 4, 5, 6, 7], [7, 4, 1, 0, 2, 5, 3, 6]
    assert cycle(one, other) == [0, 4, 1, 3, 2, 5, 6, 7]
    coins = [1, 0, 1, 0]
    assert uniform_order(coins, [9, 9, 0, 9], [0, 1, 2, 3], [1, 0, 3, 2]) == [0, 1, 2, 3]
    assert mutated("insertion", "permutation", [0, 1, 2, 3], 0, 1 << 31) == [1, 2, 0, 3]
    assert mutated("reversal", "permutation", [0, 1, 2, 3], 0, 1 << 31) == [2, 1, 0, 3]
    assert mutated("reversal", "permutation", [0, 1, 2, 3], 3 << 30, 1 << 30) == [0, 3, 2, 1]


@pytest.mark.parametrize(
    ("encoding", "crossover", "mutation"),
    [
        ("permutation", "pmx", "swap"),
        ("keys", "two_point", "reset"),
        ("bits", "two_point", "flip"),
        ("vector", "sbx", "polynomial"),
    ],
)
def test_each_encoding_has_default_operators(encoding: str, crossover: str, mutation: str) -> None:
    assert operators.crossover("", encoding).name == crossover
    assert operators.mutation("", encoding).name == mutation


def test_combinations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        operators.crossover("two_point", "permutation")
    fit = ", ".join(FITTING["permutation"][0])
    assert {"pmx", "order", "cycle"} <= set(FITTING["permutation"][0])
    assert str(caught.value) == (
        "crossover=two_point supports keys or bits or vector, but the encoding is permutation."
        f' Choose one of {fit}, or encoding="keys", "bits" or "vector"'
    )


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("encoding", "crossover", "mutation", "grid", "halo"),
    [
        (encoding, crossover, mutation or mutations[0], grid, halo)
        for encoding, (crossovers, mutations) in FITTING.items()
        for crossover, mutation, grid, halo in zip_longest(
            crossovers, mutations, ["ring", "torus"], [True], fillvalue=""
        )
    ],
)
def test_each_operator_compiles_for_gpus(
    encoding: str, crossover: str, mutation: str, grid: str, halo: bool
) -> None:
    settings = {"crossover": crossover, "mutation": mutation, "grid": grid or "ring"}
    chosen = parts(problem_for(encoding), "cellular", encoding, settings | {"halo": bool(halo)})
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
