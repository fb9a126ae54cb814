"""Edge assembly crossover: small optima, restored and abandoned runs, wide positions, GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eax_for_tests import (
    DONE,
    field,
    placed,
    require_consistent,
    shortest,
    stage,
    tours,
    weights,
)
from problems_for_tests import cities
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms import eax
from islands.algorithms.base import Shape
from islands.backends.base import Backend, Block
from islands.problems.distances import _DEGREE as DEGREE

SMALL = {
    "five": placed([(0, 0), (9, 1), (4, 7), (2, 2), (8, 8)]),
    "nine": placed(np.random.default_rng(1).integers(0, 100, (9, 2))),
    "attractive": placed(np.random.default_rng(2).integers(0, 99, (8, 2)), "ATT"),
    "ceiling": placed(np.random.default_rng(3).integers(0, 99, (8, 2)), "CEIL_2D"),
    "degrees": placed(np.random.default_rng(4).integers(-80, 80, (8, 2)), "GEO"),
    "a line": placed([(5, y) for y in (0, 3, 3, 8, 9, 20, 21)]),
    "one place": placed([(5, 5)] * 6),
    "weights": weights(8),
    **{f"{n}": placed(np.random.default_rng(n).integers(0, 100, (n, 2))) for n in (1, 2, 3, 4)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_small_problems_are_solved(name: str, backend: Backend) -> None:
    mine = tours(backend, SMALL[name], population=3 if SMALL[name].size < 5 else 20)
    mine.advance(20)
    best = mine.best()
    assert best is not None
    assert best.cost == shortest(SMALL[name])


def test_a_grid_with_many_cities_at_each_place_is_solved(backend: Backend) -> None:
    # Each place has more cities than a city has neighbours.
    order = np.random.default_rng(1).permutation(100 * (DEGREE + 1))
    problem = placed([(10 * (i % 10), 10 * (i // 10 % 10)) for i in order.tolist()])
    mine = tours(backend, problem, islands=1, population=20)
    mine.advance(40)
    best = mine.best()
    assert best is not None
    assert best.cost == 1000
    require_consistent(mine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "position"),
    [
        ("NARROW", 8, np.int32),
        ("fast_vertices", lambda pitch: 0, np.uint16),
        ("MOST_INSIDE", 8, np.uint16),
    ],
    ids=["wide positions", "graphs outside block memory", "comparisons outside block memory"],
)
def test_other_memory_gives_the_same_tours(
    name: str,
    value: Any,
    position: type[Any],
    backend: Backend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = cities(120, tmp_path)
    usual = tours(backend, problem)
    usual.advance(12)
    monkeypatch.setattr(eax, name, value)
    other = tours(backend, problem)
    other.advance(12)
    assert field(other, "position").dtype == position
    assert usual.digests() == other.digests()


def test_without_restarts_a_converged_island_stays(backend: Backend, tmp_path: Path) -> None:
    mine = tours(backend, cities(40, tmp_path), restart=False)
    mine.advance(80)
    assert stage(mine) == DONE
    before = mine.digests()
    mine.advance(3)
    assert mine.digests() == before


@pytest.mark.gpu
@pytest.mark.parametrize("n", [50, 70_000])
def test_the_program_compiles_for_gpus(n: int) -> None:
    problem = placed(np.random.default_rng(n).integers(0, 10**6, (n, 2)))
    made = parts(problem, "eax", "permutation")
    made.algorithm.fields(Shape(1, 20, made.encoding.pitch, made.encoding.gene))
    assert made.macros()["EAX_WIDE"] == str(int(n == 70_000))
    require_compiles(for_gpu("program.cuh", made.macros(), Block(threads=256)))
