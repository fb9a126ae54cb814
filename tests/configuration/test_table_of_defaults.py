"""Each row of the table of defaults counts for some problem, with settings that a run can have."""

import numpy as np
import pytest
from fakes import FakeProblem
from models_for_tests import model_of
from numpy_flips import sparse_pairs
from problems_for_tests import facilities, knapsack, of_two_kinds, uneven

import islands
from islands.configuration.defaults import SEARCHES, SHORT_SEARCHES, SIZES, searches
from islands.configuration.fit import known_settings
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.sizes import Case
from islands.instances.grids import grid
from islands.problems.base import Problem
from islands.problems.mkp import MkpSettings
from islands.problems.qap import Qap


def _problems() -> list[Problem]:
    points = np.random.default_rng(1).random((40, 2))
    return [
        Qap(grid(5, 8).file()),
        Qap(grid(32, 34).file()),
        of_two_kinds(30, 9),
        uneven(40),
        facilities(76),
        facilities(38),
        facilities(20),
        islands.tsp(points[:9]),
        islands.tsp(points),
        knapsack(20, 3),
        knapsack(20, 3).adjusted(MkpSettings(infeasible="drop")),
        model_of("permutation", "cost"),
        model_of("keys", "cost"),
        model_of("real", "batch"),
        islands.models.set_cover([3, 2, 2], [[0, 1], [1, 2]]),
        islands.models.max_cut(sparse_pairs(600, 1200)),
        islands.models.job_shop([[0, 1], [1, 0]], [[3, 2], [2, 4]]),
        FakeProblem(),
    ]


PROBLEMS = _problems()


def test_each_row_of_searches_is_the_first_of_some_problem() -> None:
    for rows in (SEARCHES, SHORT_SEARCHES):
        counting = ([n for n, (holds, _) in enumerate(rows) if holds(own)] for own in PROBLEMS)
        assert {each[0] for each in counting if each} == {*range(len(rows))}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.instance)
def test_all_searches_of_a_problem_can_run(problem: Problem) -> None:
    for search in searches(problem, is_short=True):
        found = resolve(Request.of({**search, "backend": "cpu"}), problem).spec
        assert found.algorithm == search["algorithm"]


@pytest.mark.parametrize("gpus", [0, 4])
def test_sizes_are_settings_of_their_algorithm(gpus: int) -> None:
    on = {"backend": "cuda", "sized_for_gpus": gpus} if gpus else {"backend": "cpu"}
    cases = [Case(each, 60.0, on, has_defaults=True, is_short=True) for each in PROBLEMS]
    for algorithm, holds, values in SIZES:
        fitting = [each for each in cases if algorithm.fits(each.problem) and holds(each)]
        assert fitting
        for case in fitting:
            found = values(case)
            assert found
            assert found.keys() <= {*known_settings([algorithm], case.problem)}


def test_sizes_of_a_search_are_not_those_of_another_algorithm() -> None:
    """The defaults of tempering on a job shop were also those of pso, which lacks them."""
    problem = islands.models.job_shop([[0, 1], [1, 0]], [[3, 2], [2, 4]])
    assert resolve(Request.of({"algorithm": "pso"}), problem).spec.algorithm == "pso"
