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


@pytest.mark.slow
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


@pytest.mark.slow
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
