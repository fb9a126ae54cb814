"""SciPy's own tests of its functions, with those of islands in their place."""

import inspect
import re
from typing import Any

import numpy as np
import pytest

from islands.scipy import differential_evolution, quadratic_assignment

EVOLUTION = "scipy.optimize.tests.test__differential_evolution"
ASSIGNMENT = "scipy.optimize.tests.test_quadratic_assignment"

CALLS = re.compile(r"^[^#\n]*\bdifferential_evolution[(,]", re.MULTILINE)
PASSING = [
    *(f"test_L{k}" for k in range(1, 10)),
    *("test_args_tuple_is_passed", "test_bounds_checking", "test_callback_terminates"),
    *("test_constraint_violation_error_message", "test_deferred_updating", "test_equal_bounds"),
    *("test_gh_4511_regression", "test_infinite_objective_function"),
    *("test_init_with_invalid_strategy", "test_intermediate_result", "test_invalid_functional"),
    *("test_polish_function", "test_quadratic_from_diff_ev", "test_random_generator"),
    *("test_rng_gives_repeatability", "test_vectorized", "test_vectorized_constraints", "test_x0"),
]
LEFT_OUT = {
    "test_integrality": "needs the better of two values, 0.08 % apart, with one seed: 34 of"
    " 40 seeds find it, and 38 with SciPy's search",
    "test_strategy_fn": "has a strategy that is a function, which is rejected",
}
"""Tests of the function that do not run; all others only check the class of its internals."""
OF_ASSIGNMENT = [
    *(("Test2opt", f"test_accuracy_{k}") for k in (2, 3)),
    *(("TestFAQ", "test_accuracy_3"), ("TestQAPOnce", "test_common_input_validation")),
]
"""Others expect the inferior answers, the steps or the options of a method of SciPy, or one of two
optima (test_accuracy_1)."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PASSING)
def test_tests_of_differential_evolution_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs: Any = pytest.importorskip(EVOLUTION)
    monkeypatch.setattr(theirs, "differential_evolution", differential_evolution)
    suite = theirs.TestDifferentialEvolutionSolver()
    if not hasattr(suite, name):
        pytest.skip("not in this version of SciPy")
    with np.errstate():  # which they change
        suite.setup_method()
        getattr(suite, name)()


@pytest.mark.slow
def test_all_tests_of_the_function_are_known() -> None:
    theirs: Any = pytest.importorskip(EVOLUTION)
    suite = theirs.TestDifferentialEvolutionSolver
    for name, test in inspect.getmembers(suite, inspect.isfunction):
        is_call = name.startswith("test") and CALLS.search(inspect.getsource(test))
        assert not is_call or name in (*PASSING, *LEFT_OUT)


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "name"), OF_ASSIGNMENT)
def test_tests_of_assignment_pass(suite: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs: Any = pytest.importorskip(ASSIGNMENT)
    monkeypatch.setattr(theirs, "quadratic_assignment", quadratic_assignment)
    getattr(getattr(theirs, suite)(), name)()
