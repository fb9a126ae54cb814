"""Assignment problems with a cost of each facility at each location, compared with brute force."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.cli import main
from islands.errors import UsageError
from islands.record.inputs import stored_problem

N = 7
RNG = np.random.default_rng(8)
FLOWS, DISTANCES = RNG.integers(0, 20, (2, N, N))
LINEAR = RNG.integers(0, 4000, (N, N))
ORDERS = np.array(list(permutations(range(N))))
FEW: dict[str, Any] = {"islands": 2, "population": 16, "backend": "cpu", "threads": 1}
SYMMETRIC = np.tril(FLOWS) + np.tril(FLOWS, -1).T
KINDS = {"asymmetric": FLOWS, "symmetric": SYMMETRIC}


def cost(flows: Any, p: Any) -> int:
    pairs = [(i, j) for i in range(N) for j in range(N)]
    of_pairs = sum(int(flows[i, j]) * int(DISTANCES[p[i], p[j]]) for i, j in pairs)
    return of_pairs + sum(int(LINEAR[i, p[i]]) for i in range(N))


def problem(flows: Any = FLOWS, linear: Any = LINEAR) -> Any:
    return islands.qap(flows, DISTANCES, linear=linear)


@pytest.mark.parametrize("kind", KINDS)
def test_costs_include_the_linear_terms(kind: str) -> None:
    mine, some = problem(KINDS[kind]), ORDERS[::97]
    assert mine.costs(some).tolist() == [cost(KINDS[kind], p) for p in some.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ["tempering", "memetic", "brkga"])
def test_the_optimum_is_found(algorithm: str, kind: str) -> None:
    mine = problem(KINDS[kind])
    optimum = int(mine.costs(ORDERS).min())
    without = islands.qap(KINDS[kind], DISTANCES).costs(ORDERS)
    assert mine.costs(ORDERS)[without.argmin()] > optimum
    result = islands.solve(
        mine, algorithm=algorithm, stop=f"target={optimum}", generations=3000, **FEW
    )
    assert result.cost == optimum == cost(KINDS[kind], result.solution)


def test_no_linear_terms_change_nothing() -> None:
    plain = islands.qap(FLOWS, DISTANCES)
    assert plain.defines().keys() == problem().defines().keys() - {"QAP_LINEAR"}
    assert len(plain.arrays()) == 2
    zeros = islands.solve(problem(linear=0 * LINEAR), generations=30, **FEW)
    assert zeros.cost == islands.solve(plain, generations=30, **FEW).cost


@pytest.mark.parametrize(
    ("largest", "kind", "delta", "total"),
    [
        (255, "unsigned char", "int", "int"),
        (65_536, "int", "int", "int"),
        (2**27, "int", "int", "int"),
        (2**28, "int", "long long", "int"),
        (2**31 - 1, "int", "long long", "int64_t"),
    ],
)
def test_types_hold_the_linear_terms(largest: int, kind: str, delta: str, total: str) -> None:
    linear = 0 * LINEAR
    linear[1, 2] = largest
    defines = problem(linear=linear).defines()
    found = (defines["QAP_LINEAR"], defines["QAP_DELTA"], defines["QAP_COST"])
    assert found == (kind, delta, total)


def test_large_linear_terms_are_exact() -> None:
    linear = LINEAR * 500_000
    mine = problem(linear=linear)
    result = islands.solve(mine, generations=40, **FEW)
    assert result.solution is not None
    others = islands.qap(FLOWS, DISTANCES).cost(result.solution)
    assert result.cost == others + sum(linear[i, p].item() for i, p in enumerate(result.solution))


def test_a_folder_contains_the_linear_terms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    islands.solve(problem(), generations=4, out=folder, **FEW)
    again: Any = stored_problem(folder)
    assert (again.costs(ORDERS) == problem().costs(ORDERS)).all()
    whole = islands.solve(problem(), generations=9, **FEW)
    assert main(["resume", str(folder), "--stop", "generations=9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == whole.digest
    assert main(["verify", str(folder), str(folder)]) == 0


def test_the_drawing_shows_the_linear_terms() -> None:
    pytest.importorskip("matplotlib")
    from islands.report.solution import draw_solution

    p = np.array([3, 1, 0, 2, 6, 5, 4])
    figure, words = draw_solution(problem(), "order", p)
    images = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert images[2].diagonal().sum() == sum(LINEAR[i, p[i]] for i in range(N))
    assert "linear" in words
    assert len(draw_solution(islands.qap(FLOWS, DISTANCES), "order", p)[0].axes) == 4


@pytest.mark.parametrize(
    ("linear", "words"),
    [
        (LINEAR[1:], r"linear: has the shape \(6, 7\), must be \(7, 7\): a row for each of 7 f"),
        (LINEAR[0], "linear: has 1 dimension, must have 2"),
        (-LINEAR, r"linear\[0, 0\] = -\d+: must be a whole number from 0 to 2147483647"),
        (LINEAR / 7, r"linear\[0, \d\] = .*: must be a whole number .* flows or distances by the"),
    ],
)
def test_other_numbers_are_refused(linear: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        problem(linear=linear)
