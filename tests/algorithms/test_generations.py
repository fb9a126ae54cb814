"""Generations have 64-bit numbers, and each draws different random numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy_ga
import numpy_tempering
import pytest
import test_brkga
import test_cellular
import test_de
import test_memetic
import test_pso
from numpy_brkga import NumpyBrkga
from numpy_improvers import NumpyLocalSearch
from problems_for_tests import cities, facilities, knapsack
from starts_for_tests import FAR, shift, shift_reference

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.mkp import MkpSettings

Both = tuple[Archipelago, Any]
Same = Callable[[Archipelago, Any], None]


def _brkga(backend: Backend, folder: Path) -> Both:
    problem = cities(9, folder)
    mine = test_brkga.archipelago(backend, problem, reset=2, topology="none")
    sizes = {"population": 20, "elite": 4, "mutants": 2, "islands": 3, "seed": 5, "patience": 2}
    mine.start()
    return mine, NumpyBrkga(9, problem.costs, bias=test_brkga.word(0.7), **sizes)


def _de(backend: Backend, folder: Path) -> Both:
    problem = cities(9, folder)
    search = NumpyLocalSearch(problem, "two_opt", rate=0.5, steps=1)
    return test_de.both(backend, problem, adaptation="jde", reset=2, search=search)


def _cellular(backend: Backend, folder: Path) -> Both:
    search = {"name": "swap", "scope": "position", "every": 3}
    return test_cellular.both(backend, facilities(9), mutation_rate=0.5, reset=2, search=search)


def _ga(backend: Backend, folder: Path) -> Both:
    problem = knapsack(33, 3).adjusted(MkpSettings(infeasible="linear", fit_first=True))
    return numpy_ga.both(backend, problem, selection="proportional", reset=2)


def _pso(backend: Backend, folder: Path) -> Both:
    problem = knapsack(33, 3).adjusted(MkpSettings(infeasible="drop"))
    schedule = {"schedule": "linear", "horizon": 5}
    return test_pso.both_on(backend, problem, "bits", reset=2, **schedule)


def _tempering(backend: Backend, _: Path) -> Both:
    return numpy_tempering.both(backend, facilities(9), reset=2, **numpy_tempering.FIXED)


def _memetic(backend: Backend, _: Path) -> Both:
    return test_memetic.both(backend, facilities(9), reset=2)


RUNS: dict[str, tuple[Callable[[Backend, Path], Both], Same]] = {
    "brkga": (_brkga, test_brkga.assert_same),
    "de": (_de, test_de.assert_same),
    "cellular": (_cellular, test_cellular.assert_same),
    "ga": (_ga, numpy_ga.assert_same),
    "pso": (_pso, test_pso.assert_same),
    "tempering": (_tempering, numpy_tempering.assert_same),
    "memetic": (_memetic, test_memetic.assert_same),
}


@pytest.mark.parametrize("algorithm", RUNS)
def test_more_than_2_to_32_generations_equal_the_reference(
    backend: Backend, algorithm: str, tmp_path: Path
) -> None:
    made, assert_same = RUNS[algorithm]
    mine, reference = made(backend, tmp_path)
    mine.advance(2)
    reference.evolve(2)
    for by, generations in ((FAR - 4, 5), (5 * FAR, 2)):
        shift(mine, by)
        shift_reference(reference, by)
        for _ in range(generations):
            mine.advance(1)
            reference.evolve(1)
            assert_same(mine, reference)
    assert mine.generation == reference.generation == 6 * FAR + 5


@pytest.mark.parametrize("algorithm", RUNS)
def test_later_generations_draw_different_numbers(
    backend: Backend, algorithm: str, tmp_path: Path
) -> None:
    mine, _ = RUNS[algorithm][0](backend, tmp_path)
    mine.advance(2)
    now, found = mine.snapshot(), []
    for times in range(3):
        mine.restore(now, generation=2, migrations=0)
        shift(mine, times * FAR)
        mine.advance(1)
        arrays = mine.snapshot()
        # The best orders of tempering seldom change; its states do.
        found.append(arrays.get("state", arrays["genes"]))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not np.array_equal(found[one], found[other])
