"""Assignments with a hidden grid, which the program generates."""

from __future__ import annotations

import hashlib
from itertools import permutations

import numpy as np
import pytest

from islands.instances import grids
from islands.instances.catalogue import catalogue
from islands.instances.grids import Grid, grid
from islands.problems import load
from islands.problems.qap import Qap


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
