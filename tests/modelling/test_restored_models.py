"""A model is the same after it was stored as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models_for_tests import KINDS, cost_text, model_of

import islands
from islands.modelling.model import Model, NeedsScriptError, restored


def require_same(problem: Model) -> None:
    again = restored(problem.saved())
    assert (again.name, again.size, again.maximise) == (
        *(problem.name, problem.size, problem.maximise),
    )
    assert (again.functions, again.kind.name) == (problem.functions, problem.kind.name)
    assert again.defines() == problem.defines()
    assert again.header == problem.header
    known = [
        None if each.best_known is None else each.best_known.value for each in (problem, again)
    ]
    assert known[0] == known[1]
    assert list(again.members) == list(problem.members)
    for name, value in problem.members.items():
        found: Any = again.members[name]
        assert (type(found), found.dtype) == (type(value), value.dtype), name
        assert np.array_equal(found, value), name
    solutions = problem.kind.drawn(5, 1)
    assert np.array_equal(again.kind.stored(solutions), problem.kind.stored(solutions))
    assert again.kind.holds(solutions)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("maximise", [False, True])
def test_each_kind_of_problem_is_restored(kind: str, maximise: bool) -> None:
    require_same(model_of(kind, "cost", maximise=maximise, best_known=70))


def test_all_functions_and_types_of_data_are_restored() -> None:
    delta = (
        "__device__ long long delta(const Solution& s, int n, const Data& data, Swap move)"
        " { return s[move.u] - s[move.v]; }"
    )
    repair = "__device__ void repair(Changing& s, int n, const Data& data) { }"
    data = {"limit": 3, "share": 0.5, "is_open": True, "small": np.float32(2), "table": [[1, 2]]}
    cost = cost_text("    return s[0];")
    require_same(islands.permutation(5, cost=cost, delta=delta, data=data))
    require_same(islands.permutation(5, cost=cost, repair=repair, data=data, cooperative=True))


def test_a_python_function_is_not_restored() -> None:
    with pytest.raises(NeedsScriptError, match="is not stored with a run"):
        restored(model_of("subset", "batch").saved())
