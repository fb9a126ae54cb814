"""All crossovers and mutations on all encodings compared with NumPy, bit for bit."""

from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from colonies_for_tests import begun
from numpy.typing import NDArray
from numpy_cellular import NumpyCellular
from numpy_genomes import assert_evolves
from numpy_operators import cycle, mutated, order, pmx, uniform_order
from problems_for_tests import NUMBERS, cities, lattice
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms import operators
from islands.backends.base import Backend, Block
from islands.backends.source import Header
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
    changes = {"mutation_rate": 0.6, "group": 1, **changes}
    mine, _, sizes = begun(
        "cellular", encoding, changes, sizes={"population": 14, "islands": 2, "seed": 8},
        problem=problem, backend=backend,
    )  # fmt: skip

    def decoded(genomes: NDArray[Any]) -> NDArray[np.int64]:
        return genomes if encoding == "bits" else mine._encodings[0].decode(genomes)

    reference = NumpyCellular(
        problem.size, encoding, costs=lambda genomes: problem.costs(decoded(genomes)),
        **sizes, **changes,
    )  # fmt: skip
    if first is not None:
        saved = mine.snapshot()
        saved["genes"][:, :, : problem.size] = first
        saved["cost"] = np.array([problem.costs(decoded(each)) for each in first])
        mine.restore(saved, generation=0, migrations=0)
        reference.genomes, reference.cost = first.tolist(), saved["cost"].tolist()
    assert_evolves(mine, reference, generations)


def problem_for(encoding: str) -> Problem:
    """Return a problem that genomes of an encoding solve."""
    return {"bits": Wanted(20), "vector": NUMBERS["vector"](9)}.get(encoding, lattice("GEO"))


FITTING = {
    encoding: tuple(
        [operator.name for operator in kind if encoding in operator.encodings]
        for kind in (operators._ALL_CROSSOVERS, operators._ALL_MUTATIONS)
    )
    for encoding in ("permutation", "keys", "bits", "vector")
}
"""The built-in crossovers and mutations of each encoding."""


# The encoding, and the operators that make children besides the one that is tested.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "orders": ("permutation", {"crossover": "pmx", "mutation": "swap"}),
    "keys of orders": ("keys", {"crossover": "two_point", "mutation": "reset"}),
    "bits": ("bits", {"crossover": "uniform", "mutation": "flip"}),
    "vector": ("vector", {"crossover": "sbx", "mutation": "reset"}),
    "keys": ("keys", {"crossover": "sbx", "mutation": "reset"}),
}


SIZES, BIT_SIZES = (1, 2, 3, 5, 33, 70), (1, 2, 31, 32, 33, 200, 1100)


@pytest.mark.parametrize(
    ("form", "kind", "name", "n"),
    [
        (form, kind, name, n)
        for form, (encoding, _) in FORMS.items()
        for place, kind in enumerate(("crossover", "mutation"))
        for name in FITTING[encoding][place]
        for n in (BIT_SIZES if form == "bits" else SIZES)
    ],
)
def test_operators_equal_numpy(backend: Backend, form: str, kind: str, name: str, n: int) -> None:
    encoding, changes = FORMS[form]
    problem: Problem = {"bits": Wanted, **NUMBERS}.get(form, cities)(n)
    rate = "crossover_rate" if kind == "crossover" else "mutation_rate"
    rates = {rate: 0.6 if kind == "mutation" and form not in NUMBERS else 1}
    changes = changes | {kind: name, "strength": 1 + n % 3 if kind == "mutation" else 1} | rates
    assert_evolves_as_the_reference(backend, problem, encoding, **changes)


@pytest.mark.slow
def test_sbx_leaves_genes_that_hardly_differ(backend: Backend) -> None:
    steps = np.random.default_rng(1).integers(0, 30, (2, 14, 33))
    near = 0.5 + 1e-15 * steps
    assert (np.ptp(near, axis=1) > 1e-14).all()
    changes = {"crossover": "sbx", "mutation_rate": 0, "crossover_rate": 1}
    problem = NUMBERS["vector"](33)
    assert_evolves_as_the_reference(
        backend, problem, "vector", generations=1, first=near, **changes
    )


@pytest.mark.parametrize("low", [-300, -100])
def test_negative_costs_have_fitness_as_in_the_reference(backend: Backend, low: int) -> None:
    changes = {"crossover": "uniform", "mutation": "flip", "selection": "proportional"}
    assert_evolves_as_the_reference(backend, Wanted(40, low), "bits", **changes)


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
