"""States that propose steps of a user's own: the same costs as whole evaluations."""

from itertools import product

import numpy as np
import pytest
from own_steps import STATE, TABLE, N, problem

import islands
from islands.backends.base import Backend
from islands.errors import RunError


@pytest.mark.slow
def test_the_optimum_is_that_of_all_subsets(backend: Backend) -> None:
    every = np.array(list(product((0, 1), repeat=N)))
    best = np.einsum("ki,ij,kj->k", every, TABLE, every).min()
    result = islands.solve(
        problem(), algorithm="tempering", generations=40, seed=1, backend=backend.name
    )
    assert result.cost == best


@pytest.mark.slow
def test_the_check_makes_steps_of_the_state() -> None:
    assert "400 of 400 moves agree with costs" in str(islands.check_problem(problem(), samples=50))


@pytest.mark.slow
def test_the_check_finds_a_wrong_change() -> None:
    wrong = STATE.replace("return *state.now - before;", "return 1 + *state.now - before;")
    with pytest.raises(RunError, match="after 0 moves and a step of the solution"):
        islands.check_problem(problem(wrong), samples=20)
