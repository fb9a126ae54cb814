"""BRKGA on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbers_for_tests import NUMBERS
from numpy_brkga import NumpyBrkga
from problems_for_tests import cities, lattice, tsp_from

from islands.algorithms.brkga import BrkgaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem


def archipelago(backend: Backend, problem: Problem, **changes: Any) -> Archipelago:
    rest = {"population": 20, "islands": 3, "seed": 5, "warm_start": tuple, "decoding": ""}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    migration = {name: changes.pop(name) for name in ("topology", "migrants") if name in changes}
    return Archipelago(
        problem=problem,
        algorithm="brkga",
        encoding=problem.solution_kind if problem.solution_kind in NUMBERS else "keys",
        settings=BrkgaSettings.build({"elite": 0.2, **changes}),
        migration=MigrationSettings.build(migration),
        backend=backend,
        world=World(),
        **rest,
    )


def word(*shares: float) -> list[int]:
    return [round(share * 2**32) for share in shares]


def genes_and_costs(mine: Archipelago) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each island's keys and costs."""
    saved = mine.snapshot()
    keys = saved["genes"][:, :, : mine._encoding.size]
    return list(zip(keys, saved["cost"], strict=True))


def assert_same(mine: Archipelago, reference: NumpyBrkga) -> None:
    for (keys, costs), expected_keys, expected_costs in zip(
        genes_and_costs(mine), reference.keys, reference.cost, strict=True
    ):
        assert costs.tolist() == expected_costs.tolist()
        assert (keys == expected_keys).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 63, 200])
def test_run_with_migration_equals_the_reference(backend: Backend, n: int, tmp_path: Path) -> None:
    problem = cities(n, tmp_path)
    mine = archipelago(backend, problem, migrants=2)
    reference = NumpyBrkga(
        n, problem.costs, population=20, elite=4, mutants=2, bias=word(0.7), islands=3, seed=5
    )
    mine.start()
    assert_same(mine, reference)
    for _ in range(2):
        mine.advance(4)
        mine.migrate()
        reference.evolve(4)
        reference.exchange(2)
        assert_same(mine, reference)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("n", [1, 3, 8, 61])
def test_numbers_equal_the_reference(backend: Backend, kind: str, n: int) -> None:
    problem = NUMBERS[kind](n)
    mine = archipelago(backend, problem, migrants=2, reset=3)
    reference = NumpyBrkga(
        n, problem.costs, population=20, elite=4, mutants=2, bias=word(0.7), islands=3, seed=5,
        patience=3, encoding=mine._encoding,
    )  # fmt: skip
    mine.start()
    for _ in range(3):
        mine.advance(4)
        reference.evolve(4)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange(2)
    best = mine.best()
    assert best.cost == problem.cost(best.solution)
    assert mine._encoding.holds(best.genome[np.newaxis])


@pytest.mark.parametrize(
    ("parents", "elite_parents", "bias", "shares"),
    [
        (3, 2, "constant", [1 / 3, 2 / 3]),
        (3, 1, "linear", [6 / 11, 9 / 11]),
        (4, 4, "quadratic", list(np.cumsum([144, 36, 16]) / 205)),
        (8, 3, "constant", [i / 8 for i in range(1, 8)]),
    ],
)
def test_several_parents_equal_the_reference(
    backend: Backend,
    parents: int,
    elite_parents: int,
    bias: str,
    shares: list[float],
    tmp_path: Path,
) -> None:
    problem = cities(30, tmp_path)
    mine = archipelago(
        backend, problem, parents=parents, elite_parents=elite_parents, bias=bias, islands=1
    )
    reference = NumpyBrkga(
        30, problem.costs, population=20, elite=4, mutants=2, bias=word(*shares),
        elite_parents=elite_parents, seed=5,
    )  # fmt: skip
    mine.start()
    mine.advance(5)
    reference.evolve(5)
    assert_same(mine, reference)


@pytest.mark.parametrize("decoding", ["plain", "host"])
def test_all_decodings_give_the_same_run(backend: Backend, decoding: str, tmp_path: Path) -> None:
    digests = []
    for way in ("sorted", decoding):
        mine = archipelago(backend, cities(70, tmp_path), decoding=way, reset=3)
        mine.start()
        mine.advance(7)
        mine.migrate()
        mine.advance(8)
        digests.append(mine.digests())
    assert digests[0] == digests[1]


def test_islands_restart_after_stagnation_and_keep_the_best(
    backend: Backend, tmp_path: Path
) -> None:
    problem = cities(7, tmp_path)
    mine = archipelago(backend, problem, reset=3, topology="none")
    reference = NumpyBrkga(
        7,
        problem.costs,
        population=20,
        elite=4,
        mutants=2,
        bias=word(0.7),
        islands=3,
        seed=5,
        patience=3,
    )
    mine.start()
    best = [min(row) for row in reference.cost]
    for _ in range(30):
        mine.advance(1)
        reference.evolve(1)
        best = [min(old, int(cost.min())) for old, cost in zip(best, reference.cost, strict=True)]
    assert_same(mine, reference)
    assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == problem.cost(mine.best().solution)
    assert [each.cost for each in mine.elite(3)] == sorted(each.cost for each in mine.elite(3))
    fresh = sum(measure.evaluations for measure in mine.measure()) - 3 * (20 + 30 * 16)
    assert fresh > 0
    assert fresh % 4 == 0


def test_number_of_cpu_threads_does_not_matter(tmp_path: Path) -> None:
    digests = set()
    for threads in (1, 2, 5):
        mine = archipelago(choose("cpu", threads), cities(50, tmp_path))
        mine.start()
        mine.advance(6)
        digests.add(str(mine.digests()))
    assert len(digests) == 1


@pytest.mark.parametrize("n", [500, 70_000])
def test_devices_agree(backend: Backend, n: int, tmp_path: Path) -> None:
    """Compare one CPU thread with all, or with a GPU, where 70,000 cities need global memory."""
    problem = cities(n, tmp_path)
    digests = []
    for device in (choose("cpu", 1), backend):
        mine = archipelago(device, problem)
        mine.start()
        mine.advance(2)
        mine.migrate()
        mine.advance(1)
        digests.append(mine.digests())
        assert problem.cost(mine.best().solution) == mine.best().cost
    assert digests[0] == digests[1]


def test_large_populations_are_ranked_correctly(backend: Backend, tmp_path: Path) -> None:
    problem = cities(8, tmp_path)
    mine = archipelago(backend, problem, population=40_000, islands=2)
    mine.start()
    mine.advance(2)
    mine.migrate()
    order = mine.snapshot()["order"]
    for (_, costs), ranked in zip(genes_and_costs(mine), order, strict=True):
        assert ranked.tolist() == np.argsort(costs, kind="stable").tolist()


def test_memory_is_about_twice_the_size_of_the_keys(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (5_000, 70_000):
        problem, taken = cities(n, tmp_path), []
        empty = backend.empty

        def counted(
            shape: tuple[int, ...], dtype: Any, empty: Any = empty, taken: Any = taken
        ) -> Any:
            taken.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
            return empty(shape, dtype)

        monkeypatch.setattr(backend, "empty", counted)
        archipelago(backend, problem, population=256)
        monkeypatch.setattr(backend, "empty", empty)
        assert 1 < sum(taken) / (2 * 3 * 256 * n * 4) < 1.1


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT", "GEO"])
def test_device_costs_equal_numpy(backend: Backend, metric: str, tmp_path: Path) -> None:
    assert_costs_are_numpys(archipelago(backend, cities(61, tmp_path, metric)))


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT"])
def test_device_rounds_integers_and_halves_like_numpy(backend: Backend, metric: str) -> None:
    assert_costs_are_numpys(archipelago(backend, lattice(metric)))


def assert_costs_are_numpys(mine: Archipelago) -> None:
    problem = mine._problem
    mine.start()
    mine.advance(3)
    for keys, costs in genes_and_costs(mine):
        assert problem.costs(np.argsort(keys, axis=1, kind="stable")).tolist() == costs.tolist()


def test_given_solutions_are_the_first_individuals(backend: Backend, tmp_path: Path) -> None:
    problem = cities(40, tmp_path)
    tours = [np.random.default_rng(i).permutation(40).astype(np.int64) for i in range(5)]
    mine = archipelago(backend, problem, warm_start=lambda: tours)
    mine.start()
    costs = problem.costs(np.stack(tours)).tolist()
    given = [
        cost[: len(tours[island::3])].tolist()
        for island, (_, cost) in enumerate(genes_and_costs(mine))
    ]
    assert given == [costs[island::3] for island in range(3)]


def test_elite_never_worsens_and_contains_the_best(backend: Backend, tmp_path: Path) -> None:
    mine = archipelago(backend, cities(90, tmp_path))
    mine.start()
    before = [measure.best for measure in mine.measure()]
    for _ in range(10):
        mine.advance(1)
        after = [measure.best for measure in mine.measure()]
        assert all(new <= old for new, old in zip(after, before, strict=True))
        before = after
    top = mine.elite(7)
    every = sorted(int(cost) for _, costs in genes_and_costs(mine) for cost in costs)
    assert [candidate.cost for candidate in top] == every[:7]
    assert all(mine._problem.cost(candidate.solution) == candidate.cost for candidate in top)


def test_one_launch_of_many_generations_equals_many_launches(
    backend: Backend, tmp_path: Path
) -> None:
    digests = []
    for steps in ([230], [1, 2, 101, 126], [100, 100, 30]):
        mine = archipelago(backend, cities(12, tmp_path))
        mine.start()
        for step in steps:
            mine.advance(step)
        assert mine.measure()[0].evaluations == 20 + 230 * 16
        digests.append(mine.digests())
    assert digests[0] == digests[1] == digests[2]


def test_all_cities_at_one_point(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "same.tsp"
    rows = "\n".join(f"{i} 5 5" for i in range(1, 51))
    head = "NAME: same\nTYPE: TSP\nDIMENSION: 50\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    path.write_text(f"{head}{rows}\nEOF\n", encoding="utf-8")
    mine = archipelago(backend, tsp_from(path))
    mine.start()
    mine.advance(3)
    assert mine.best().cost == 0


def test_too_many_migrants_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="brings up to 18 migrants to one of 3 islands"):
        archipelago(choose("cpu"), cities(10, tmp_path), migrants=9)
