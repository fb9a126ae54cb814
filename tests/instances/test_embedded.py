"""Instances that the program generates or brings."""

import hashlib
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_texts import drake_text, entry_of, qaplib_text, tsplib_text
from synthetic import LATTICE, demo_mkp, demo_qap, demo_tour, demo_tsp, grid_qap, uniform_tsp

import islands
from islands.instances import grids
from islands.instances.catalogue import catalogue
from islands.instances.grids import Grid, grid
from islands.instances.mkp import read_sol
from islands.instances.sln import read_sln
from islands.instances.tsplib import read_tsp
from islands.paths import data_folder
from islands.problems import load
from islands.problems.qap import Qap


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
    own: Any = {"constraints": optimize.LinearConstraint(file.weights, ub=file.capacities)}
    own |= {"integrality": 1, "bounds": optimize.Bounds(0, 1), "options": {"mip_rel_gap": 0}}
    solved = optimize.milp(-file.profits, **own)
    chosen = read_sol(data_folder("instances") / "mkp" / "demo.sol", file.size)
    assert (file.weights @ chosen <= file.capacities).all()
    assert chosen @ file.profits == entry_of("demo/mkp")[1].value == round(-solved.fun)


def _flows_and_distances(made: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Return both matrices with facilities in the order of their hidden places."""
    at = np.argsort(made.solution)
    return made.flows[np.ix_(at, at)], made.distances


def test_flows_are_between_neighbours_in_the_grid() -> None:
    flows, distances = _flows_and_distances(grid(3, 5))
    rows, columns = np.divmod(np.arange(15), 5)
    steps = abs(rows[:, None] - rows) + abs(columns[:, None] - columns)
    assert ((flows > 0) == (steps == 1)).all()
    assert (distances[steps == 1] == 1).all()
    assert (distances[steps > 1] > 1).all()
    assert flows.max() == distances.max() == 10


@pytest.mark.parametrize("own", [{}, {"deleted": 30}, {"false": 20}])
def test_the_hidden_assignment_is_an_optimum(own: dict[str, int]) -> None:
    made = grid(2, 4, **own)
    problem = Qap(made.file())
    costs = problem.costs(np.array(list(permutations(range(8)))))
    assert made.cost == problem.cost(made.solution) == costs.min()
    larger = grid(4, 5, **own)
    assert Qap(larger.file()).lower_bound == larger.cost


def test_shares_of_faults() -> None:
    flows, _ = _flows_and_distances(grid(20, 20, deleted=20))
    assert 0.15 < 1 - np.count_nonzero(flows) / (2 * 760) < 0.25
    distances = grid(20, 20, false=2).distances
    assert 0.01 < np.count_nonzero(distances == 1) / 400**2 - 2 * 760 / 400**2 < 0.03
    _, distances = _flows_and_distances(grid(20, 20, hidden=2))
    near = distances[np.arange(380), np.arange(20, 400)]
    assert set(near.tolist()) == {1, 2}


@pytest.mark.parametrize("name", ["20.2", "64-less20.0", "64-false2.1", "144-hidden2.0"])
def test_files_are_those_of_the_catalogue(name: str) -> None:
    entry = catalogue().set("grids").entries[name]
    content = grids.text(name, entry.size).encode()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (entry.bytes, entry.sha256)
    made = grids.named(name, entry.size)
    assert entry.best_known.value == made.cost


def test_an_instance_has_a_name() -> None:
    problem = load("grids/20.0")
    assert problem.lower_bound == problem.best_known.value
    assert (problem.file.a == grids.named("20.0", 20).flows).all()
