"""BRKGA gives the same result on all devices, with any launches, decodings and threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy_brkga import archipelago, genes_and_costs
from problems_for_tests import cities, lattice

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend


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


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT", "GEO"])
def test_device_costs_equal_numpy(backend: Backend, metric: str, tmp_path: Path) -> None:
    assert_costs_are_numpys(archipelago(backend, cities(61, tmp_path, metric)))


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT"])
def test_device_rounds_integers_and_halves_like_numpy(backend: Backend, metric: str) -> None:
    assert_costs_are_numpys(archipelago(backend, lattice(metric)))


def assert_costs_are_numpys(mine: Archipelago) -> None:
    problem = mine._colonies[0]._problem
    mine.start()
    mine.advance(3)
    for keys, costs in genes_and_costs(mine):
        assert problem.costs(np.argsort(keys, axis=1, kind="stable")).tolist() == costs.tolist()


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
