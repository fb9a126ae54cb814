"""A run ends after exactly its limit of evaluations, if its algorithm counts them one by one."""

from typing import Any

import pytest
from problems_for_tests import cities, facilities

import islands
from islands.backends.base import Backend
from islands.testing.ranks import on_ranks

SMALL: dict[str, Any] = {"islands": 3, "population": 16, "seed": 4, "improver": "none"}
SMALL |= {"migration": "ring", "interval": 5, "record.every": 50}


@pytest.mark.parametrize("algorithm", ["ga", "brkga", "cellular", "de", "pso"])
def test_a_limit_is_kept_by_kernels(backend: Backend, algorithm: str) -> None:
    children = 2 if algorithm == "cellular" else 1
    for limit in (17, 48, 121, 1000):
        result = islands.solve(
            facilities(12), algorithm=algorithm, evaluations=limit, backend=backend.name, **SMALL
        )
        assert limit <= result.evaluations < limit + children


@pytest.mark.parametrize("algorithm", ["ga", "de"])
def test_a_limit_that_generations_hardly_reach_is_kept(algorithm: str) -> None:
    settings: dict[str, Any] = {"algorithm": algorithm, "generations": 9, "backend": "cpu", **SMALL}
    free = islands.solve(facilities(12), **settings)
    for limit in (free.evaluations - 1, 10 * free.evaluations):
        results = [islands.solve(facilities(12), evaluations=limit, **settings)]
        results += islands.solve_many([facilities(12)] * 2, evaluations=limit, **settings)
        for result in results:
            assert result.evaluations == min(limit, free.evaluations)
            assert limit < free.evaluations or result.digest == free.digest


@pytest.mark.parametrize("limit", [20, 301])
@pytest.mark.parametrize("algorithm", ["ga", "de"])
def test_the_end_does_not_depend_on_ranks(algorithm: str, limit: int) -> None:
    asked: dict[str, Any] = {"algorithm": algorithm, "evaluations": limit, "backend": "cpu"}
    asked |= SMALL
    alone = islands.solve(facilities(12), threads=1, **asked)
    for ranks in (2, 5):
        found = on_ranks(
            ranks, lambda world: islands.solve(facilities(12), world=world, threads=1, **asked)
        )
        assert {(each.digest, each.evaluations) for each in found} == {(alone.digest, limit)}


def test_a_first_generation_has_an_individual_of_each_island() -> None:
    result = islands.solve(facilities(12), evaluations=1, backend="cpu", algorithm="ga", **SMALL)
    assert (result.evaluations, result.generations) == (3, 0)
    rows = result.trace().to_pylist()
    assert all(each["mean"] == each["worst"] == each["best"] for each in rows)


def test_a_run_that_begins_partly_is_made_alone() -> None:
    asked: dict[str, Any] = {"evaluations": 20, "backend": "cpu", "algorithm": "ga", **SMALL}
    alone = islands.solve(facilities(12), **asked)
    found = [*islands.solve_many([facilities(12)] * 6, threads=1, **asked)]
    assert {(each.digest, each.evaluations) for each in found} == {(alone.digest, 20)}


@pytest.mark.parametrize("every", [1, 7])
def test_looking_more_often_changes_nothing(every: int) -> None:
    asked: dict[str, Any] = {"algorithm": "ga", "evaluations": 777, "backend": "cpu", **SMALL}
    found = [
        islands.solve(facilities(12), **asked | {"record.every": each}) for each in (every, 50)
    ]
    assert found[0].digest == found[1].digest
    assert found[0].evaluations == found[1].evaluations == 777


SEARCHES: dict[str, dict[str, Any]] = {
    "eax": {"algorithm": "eax", "population": 20},
    "local search": {"algorithm": "ga", "encoding": "permutation", "improver": "swap"},
    "pairs": {"algorithm": "tempering", "population": 8, "sweeps": 3},
    "colonies": {"colony": ["algorithm=ga islands=1", "algorithm=de islands=1"], "population": 16},
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_limit_is_exceeded_by_less_than_a_generation(search: str) -> None:
    problem = cities(30) if search in ("eax", "local search") else facilities(12)
    own: dict[str, Any] = {"seed": 4, "backend": "cpu", **SEARCHES[search]}
    own |= {} if search == "colonies" else {"islands": 2}
    limit = islands.solve(problem, generations=3, **own).evaluations + 1
    found = islands.solve(problem, evaluations=limit, **own, record={"every": 50})
    before = islands.solve(problem, generations=found.generations - 1, **own)
    assert before.evaluations < limit <= found.evaluations
    again = islands.solve(problem, evaluations=limit, **own, record={"every": 1})
    assert (again.digest, again.evaluations) == (found.digest, found.evaluations)
