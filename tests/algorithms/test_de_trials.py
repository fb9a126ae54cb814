"""Trials of differential evolution with local search and with extreme keys, compared with NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_de import PROBLEMS, NumpyDe, assert_same, both
from numpy_improvers import NumpyLocalSearch
from problems_for_tests import facilities

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend


def take_over(mine: Archipelago, reference: NumpyDe, saved: dict[str, Any]) -> None:
    """Replace the population of both by a changed one."""
    mine.restore(saved, generation=0, migrations=0)
    reference.keys = [island[:, : reference.n].copy() for island in saved["genes"]]
    reference.cost = [island.copy() for island in saved["cost"]]


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", ["swap", "two_opt", "reinsert"])
def test_improvers_change_trials_and_their_keys(
    backend: Backend, kind: str, name: str, tmp_path: Path
) -> None:
    problem = PROBLEMS[kind](9, tmp_path)
    search = NumpyLocalSearch(problem, name, steps=1, rate=0.4)
    mine, reference = both(backend, problem, search=search, islands=2)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_improvers_make_equal_keys_different(backend: Backend, kind: str, tmp_path: Path) -> None:
    """Sums of small integers are often equal, but improved keys must be different."""
    problem = PROBLEMS[kind](9, tmp_path)
    search = NumpyLocalSearch(problem, "swap", steps=1)
    mine, reference = both(backend, problem, search=search, islands=1, F=1)
    saved = mine.snapshot()
    saved["genes"] = np.floor(saved["genes"] / 2)
    solutions = reference.decoded(saved["genes"][0, :, :9])
    saved["cost"] = problem.costs(solutions)[np.newaxis]
    take_over(mine, reference, saved)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)
    saved = mine.snapshot()
    assert (problem.costs(reference.decoded(saved["genes"][0, :, :9])) == saved["cost"]).all()


def test_trials_with_infinite_keys_are_rejected(backend: Backend) -> None:
    mine, reference = both(
        backend, facilities(6), strategy="current-to-best/1", F=2, Cr=1, islands=1
    )
    # With the highest possible costs, selection accepts all trials.
    saved = mine.snapshot()
    saved["genes"] = np.where(saved["genes"] > 0, np.float32(9e29), np.float32(-9e29))
    saved["genes"][0, 3, 1] = np.float32(3e38)
    saved["cost"] += 10**9
    take_over(mine, reference, saved)
    mine.advance(3)
    reference.evolve(3)
    assert_same(mine, reference)
    assert np.isfinite(mine.snapshot()["genes"]).all()
