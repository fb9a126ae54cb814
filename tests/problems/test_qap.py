"""Costs of assignments compared with plain Python, brute force and published ones."""

import csv
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import plain_costs
import pytest
from problems_for_tests import facilities

import islands
from islands.cli import main
from islands.instances.qaplib import QapFile
from islands.problems.qap import Qap
from islands.record.inputs import stored_problem

KINDS = ["both", "a", "b", "neither"]
"""Which matrix is symmetric."""


def naive_cost(problem: Qap, p: list[int]) -> int:
    a, b = problem.file.a.tolist(), problem.file.b.tolist()
    return sum(a[i][j] * b[p[i]][p[j]] for i in range(len(p)) for j in range(len(p)))


def device_cost(problem: Qap, p: list[int]) -> int:
    """Return the cost as a kernel computes it from the device data."""
    a, b = problem.arrays()[:2]
    order, defines = problem.layout.to_device(np.array(p)), problem.defines()
    terms = a.astype(object) * b[np.ix_(order, order)]
    if defines["QAP_SYMMETRIC"] == "1":
        assert (a == a.T).all()
        assert (b == b.T).all()
        terms = np.triu(terms)
    return int(terms.sum() - (0 if defines["QAP_DIAGONAL"] == "1" else np.trace(terms)))


@pytest.mark.parametrize("symmetric", KINDS)
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize(("n", "largest"), [(1, 99), (17, 99), (17, 10**7)])
def test_costs_equal_plain_python(symmetric: str, diagonal: bool, n: int, largest: int) -> None:
    problem = facilities(n, symmetric=symmetric, diagonal=diagonal, largest=largest)
    generator = np.random.default_rng(2)
    orders = np.array([generator.permutation(n) for _ in range(20)])
    expected = [naive_cost(problem, order.tolist()) for order in orders]
    assert problem.costs(orders).tolist() == expected
    assert [device_cost(problem, order.tolist()) for order in orders] == expected


def test_cost_differences_are_long_only_if_necessary() -> None:
    def delta(of_a: int) -> str:
        a, b = np.full((4, 4), of_a), np.full((4, 4), 2**12)
        a[0, 1] -= 1
        b[0, 1] -= 1
        return Qap(QapFile("four", None, 4, a, b)).defines()["QAP_DELTA"]

    # 8 * 4 * 2**14 * 2**12 is 2**31.
    assert (delta(2**14 - 1), delta(2**14)) == ("int", "long long")


@pytest.mark.parametrize("form", ["written", "inverse", "json", "folder"])
def test_each_format_of_a_solution_is_read(tmp_path: Path, form: str) -> None:
    problem = facilities(12)
    order = np.random.default_rng(5).permutation(12)
    cost = problem.cost(order)
    path = tmp_path / "solution.sln"
    problem.write_solution(path, np.argsort(order) if form == "inverse" else order, cost)
    if form == "folder":
        path = tmp_path
    elif form == "json":
        path = tmp_path / "solution.json"
        path.write_text(json.dumps(order.tolist()))
    assert problem.cost(np.argsort(order)) != cost
    np.testing.assert_array_equal(problem.read_solution(path), order)


@pytest.mark.published
def test_published_solutions_have_the_expected_costs(published: Path) -> None:
    """Check base, convention and cost of each file; only the header of kra32 is wrong."""
    conventions = {"AB": "as written", "BA": "inverse", "both": "either"}
    with (published / "qaplib_sln_check.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(list((published / "qaplib").glob("*.sln"))) == 125
    wrong = []
    for row in rows:
        problem = Qap.read(published / "qaplib" / f"{row['name']}.dat")
        solution, remarks = problem.read_remarked(published / "qaplib" / f"{row['name']}.sln")
        facts = {remark.key: remark.value for remark in remarks}
        if not facts["header_agrees"]:
            wrong.append(row["name"])
        assert facts == {
            "index_base": int(row["index_base"]),
            "convention": conventions.get(row["convention"], "as written"),
            "header": int(row["sln_header"]),
            "header_agrees": row["match"] == "yes",
        }, row["name"]
        assert problem.cost(solution) == int(row["evaluated"])
        is_symmetric = "sym" in (row["A"], row["B"])
        assert problem.defines()["QAP_SYMMETRIC"] == str(int(is_symmetric))
        assert problem.defines()["QAP_DIAGONAL"] == str(int(row["both_diagonals_nonzero"] == "yes"))
    assert wrong == ["kra32"]


@pytest.mark.parametrize("largest", [255, 256, 65_535, 65_536, 2**31 - 1])
def test_matrices_of_any_numbers_are_the_same_on_the_device(largest: int) -> None:
    a, b = np.zeros((2, 3, 3), np.int64)
    a[0, 2], b[1, 0] = largest, 1
    found = [each.max() for each in Qap(QapFile("three", None, 3, a, b)).arrays()[:2]]
    assert sorted(found) == [1, largest]


def test_large_matrices_are_evaluated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = facilities(23, symmetric="neither", diagonal=True)
    orders = np.array([np.random.default_rng(4).permutation(23) for _ in range(3)])
    whole = problem.costs(orders)
    monkeypatch.setattr("islands.problems.qap._PRODUCTS_AT_ONCE", 100)
    np.testing.assert_array_equal(problem.costs(orders), whole)


N = 7
RNG = np.random.default_rng(8)
FLOWS, DISTANCES = RNG.integers(0, 20, (2, N, N))
LINEAR = RNG.integers(0, 4000, (N, N))
ORDERS = np.array(list(permutations(range(N))))
FEW: dict[str, Any] = {"islands": 2, "population": 16, "backend": "cpu", "threads": 1}
SYMMETRIC = np.tril(FLOWS) + np.tril(FLOWS, -1).T
FLOWS_OF = {"asymmetric": FLOWS, "symmetric": SYMMETRIC}


def problem(flows: Any = FLOWS, linear: Any = LINEAR) -> Any:
    return islands.qap(flows, DISTANCES, linear=linear)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FLOWS_OF)
@pytest.mark.parametrize("algorithm", ["tempering", "memetic", "brkga"])
def test_the_optimum_is_found(algorithm: str, kind: str) -> None:
    mine = problem(FLOWS_OF[kind])
    optimum = int(mine.costs(ORDERS).min())
    without = islands.qap(FLOWS_OF[kind], DISTANCES).costs(ORDERS)
    assert mine.costs(ORDERS)[without.argmin()] > optimum
    result = islands.solve(
        mine, algorithm=algorithm, stop=f"target={optimum}", generations=3000, **FEW
    )
    terms = {"flows": FLOWS_OF[kind], "distances": DISTANCES, "linear": LINEAR}
    assert result.cost == optimum == plain_costs.qap(result.solution.tolist(), **terms)


@pytest.mark.slow
def test_a_folder_has_the_linear_terms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    islands.solve(problem(), generations=4, out=folder, **FEW)
    again: Any = stored_problem(folder)
    assert (again.costs(ORDERS) == problem().costs(ORDERS)).all()
    whole = islands.solve(problem(), generations=9, **FEW)
    assert main(["resume", str(folder), "--stop", "generations=9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == whole.digest
    assert main(["verify", str(folder), str(folder)]) == 0
