"""Statements of problems: kinds of solutions, data, signatures, and errors of their arguments."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models_for_tests import KINDS, cost_text, model_of
from programs_for_tests import parts

import islands
from islands.backends.source import rejected, user_line
from islands.errors import RunError
from islands.modelling.kinds import vectors_of
from islands.modelling.model import restored
from islands.problems.solution_kinds import KeysKind, OrderKind, SubsetKind


@pytest.mark.parametrize(
    "kind",
    [OrderKind(33), SubsetKind(1), SubsetKind(33), KeysKind(5), vectors_of(-1.0, [2.0, 3.0], None)],
)
def test_drawn_solutions_are_valid_and_stored_without_loss(kind: Any) -> None:
    solutions = kind.drawn(50, seed=2)
    assert kind.holds(solutions)
    assert solutions.dtype == kind.dtype
    assert len(np.unique(solutions, axis=0)) > 1
    stored = kind.encoded(solutions)
    assert stored.shape == (50, kind.stored_length)
    np.testing.assert_allclose(kind.read(stored), solutions, rtol=1e-15, atol=1e-15)


def test_rounding_does_not_lead_out_of_a_box() -> None:
    low, high = np.random.default_rng(2).uniform(0, 10, (2, 4000)) * [[-1], [1]]
    assert (low + (high - low) > high).any()
    box = vectors_of(low, high, None)
    assert box.holds(box.read(np.ones((1, 4000))))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (OrderKind(3), [0, 0, 2]),
        (SubsetKind(3), [0, 2, 1]),
        (KeysKind(3), [0.0, 0.5, 1.0]),
        (vectors_of(0.0, 1.0, 3), [0.0, 1.0, 1.5]),
        (vectors_of(0.0, 1.0, 3), [0.0, 1.0, np.nan]),
    ],
)
def test_invalid_solutions_are_found(kind: Any, wrong: list[float]) -> None:
    assert not kind.holds(np.array([wrong], kind.dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_solutions_of_files_are_the_same(kind: str, tmp_path: Path) -> None:
    problem = model_of(kind, "batch")
    (solution,) = problem.kind.drawn(1, seed=1)
    problem.write_solution(tmp_path / "s.txt", solution, 1.5)
    assert problem.read_solution(tmp_path / "s.txt").tolist() == solution.tolist()
    with pytest.raises(RunError, match="has the shape"):
        problem.check(solution[:-1])


@pytest.mark.parametrize("form", ["cost.cu:3:5: error: wrong", "cost.cu(3): error: wrong"])
def test_a_compile_error_shows_the_line_and_the_contract(form: str) -> None:
    problem = islands.permutation(3, cost=cost_text("    int a = 1;\n    return b;"))
    own = {problem.header.name: problem.header.text or ""}
    said = str(rejected("NVRTC", "0", f"program.cu(1): warning\n{form}\n", own))
    assert f"NVRTC rejected a kernel: {form}; this line is 'return b;'" in said
    assert user_line(problem.header.text or "", "cost.cu", 3) == "cost.cu, line 3, 'return b;'"
    assert user_line(problem.header.text or "", "other.cu", 3) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("maximise", [False, True])
def test_each_kind_of_problem_is_restored(kind: str, maximise: bool) -> None:
    problem = model_of(kind, "cost", maximise=maximise, best_known=70)
    again = restored(problem.saved())
    for name in ("name", "size", "maximise", "functions", "header"):
        assert getattr(again, name) == getattr(problem, name), name
    assert (again.kind.name, again.defines()) == (problem.kind.name, problem.defines())
    assert again.best_known.value == problem.best_known.value == 70
    assert list(again.members) == list(problem.members)
    for name, value in problem.members.items():
        member: Any = again.members[name]
        assert (type(member), member.dtype) == (type(value), value.dtype), name
        assert np.array_equal(member, value), name
    solutions = problem.kind.drawn(5, 1)
    assert np.array_equal(again.kind.stored(solutions), problem.kind.stored(solutions))
    assert again.kind.holds(solutions)


@pytest.mark.parametrize(
    ("make", "algorithm", "encoding"),
    [
        (islands.permutation, "tempering", "permutation"),
        (islands.subset, "tempering", "bits"),
        (islands.keys, "brkga", "keys"),
        (lambda n, **cost: islands.real(0.0, 1.0, n, **cost), "de", "vector"),
    ],
)
def test_functions_and_sizes_change_no_programs(make: Any, algorithm: str, encoding: str) -> None:
    settings = {"rungs": 4} if algorithm == "tempering" else {}
    functions = (lambda one: int(sum(one) > 3), lambda one: int(max(one) > 0))
    one, other = (
        parts(make(n, function=function), algorithm, encoding, settings)
        for n, function in zip((20, 90), functions, strict=True)
    )
    assert one.macros() == other.macros()
    assert one.encoding_macros() == other.encoding_macros()
