from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from instance_texts import drake_text, entry_of, qaplib_text, tsplib_text
from synthetic import LATTICE, demo_mkp, demo_qap, demo_tour, demo_tsp, grid_qap, uniform_tsp

import islands
from islands.instances.mkp import read_sol
from islands.instances.sln import read_sln
from islands.instances.tsplib import read_tsp
from islands.paths import data_folder


def test_the_generators_return_the_embedded_instances() -> None:
    embedded = data_folder("instances")
    assert tsplib_text(demo_tsp()) == (embedded / "tsp" / "demo.tsp").read_text()
    file, optimum = demo_qap()
    assert qaplib_text(file) == (embedded / "qap" / "demo.dat").read_text()
    assert read_sln(embedded / "qap" / "demo.sln", file.size).order.tolist() == optimum.tolist()
    assert tsplib_text(demo_tour()) == (embedded / "tsp" / "tour.tsp").read_text()
    assert drake_text(demo_mkp()) == (embedded / "mkp" / "demo.dat").read_text()


@pytest.mark.parametrize("text", ["a\nEOF", "a\nDIMENSION : 3", "a\0b", "caf\udce9", "", "é"])
def test_an_instance_with_any_name_is_read_back(tmp_path: Path, text: str) -> None:
    made = replace(uniform_tsp(5, seed=1), name=text, comment=text)
    path = tmp_path / "made.tsp"
    path.write_text(tsplib_text(made), encoding="utf-8")
    read = read_tsp(path)
    np.testing.assert_array_equal(read.coordinates, made.coordinates)
    # Comments may have several lines.
    comment = "\n".join(ascii(line)[1:-1] if line != "é" else line for line in text.split("\n"))
    assert read.comment == comment


@pytest.mark.slow
def test_the_optimum_of_the_embedded_tour_is_the_bound() -> None:
    """No two cities are nearer than LATTICE, and a tour has no longer edges."""
    bound = LATTICE * demo_tour().dimension
    few = {"islands": 2, "population": 100, "interval": 20, "backend": "cpu"}
    result = islands.solve("demo/tour", stop="optimum", **few)
    assert result.cost == result.best_known == bound


@pytest.mark.parametrize(("rows", "columns", "seed"), [(2, 4, 1), (3, 3, 1), (3, 3, 2)])
def test_no_assignment_to_a_grid_is_below_the_optimum(rows: int, columns: int, seed: int) -> None:
    file, optimum = grid_qap(rows, columns, seed)
    orders = np.array(list(permutations(range(rows * columns))))
    costs = np.zeros(len(orders), np.int64)
    for i, j in np.argwhere(file.a):
        costs += file.a[i, j] * file.b[orders[:, i], orders[:, j]]
    (place,) = np.flatnonzero((orders == optimum).all(axis=1))
    assert costs[place] == costs.min() > 0
    # Rotations and reflections of the grid are optimal too, but not all orders are.
    assert 4 <= np.count_nonzero(costs == costs.min()) < len(orders) / 100


@pytest.mark.slow
def test_the_embedded_subset_is_optimal() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    file = demo_mkp()
    solved = optimize.milp(
        -file.profits,
        constraints=optimize.LinearConstraint(file.weights, ub=file.capacities),
        integrality=1,
        bounds=optimize.Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    chosen = read_sol(data_folder("instances") / "mkp" / "demo.sol", file.size)
    assert (file.weights @ chosen <= file.capacities).all()
    assert chosen @ file.profits == entry_of("demo/mkp")[1].value == round(-solved.fun)
