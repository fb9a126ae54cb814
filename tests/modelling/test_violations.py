"""Violations of own problems: feasible solutions are better than all others, on all devices."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from models_for_tests import sum_text
from test_evaluations import digests, facts

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model
from islands.problems import priced
from islands.problems.real_costs import ordered, real_of

N = 16
VALUES, WEIGHTS = (np.random.default_rng(3).integers(10, 100, (2, N))).astype(np.int64)
LIMIT = int(0.3 * WEIGHTS.sum())
VALUE = sum_text("s[i] ? data.values[i] : 0")
EXCESS = sum_text("s[i] ? data.weights[i] : 0", name="violation", of="max(0ll, sum - data.limit)")
TOGETHER = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[i] ? data.values[i] : 0;
    return block::sum(int64_t(sum));
}
__device__ long long violation(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[i] ? data.weights[i] : 0;
    return max(0ll, (long long)block::sum(int64_t(sum)) - data.limit);
}"""
DATA = {"values": VALUES, "weights": WEIGHTS, "limit": LIMIT}


def values(chosen: Any) -> Any:
    return chosen.astype(np.int64) @ VALUES


def excess(chosen: Any) -> Any:
    return np.maximum(0, chosen.astype(np.int64) @ WEIGHTS - LIMIT)


def real(text: str) -> str:
    return text.replace("__device__ long long", "__device__ double")


def knapsack(by: str = "cost", **more: Any) -> Model:
    """Return the same knapsack, stated in one of several ways; `real` has real numbers."""
    if by == "batch":
        own: dict[str, Any] = {"batch": values, "violation": excess}
    elif by == "function":
        # The first of several numbers is an integer, others are real.
        own = {
            "function": lambda s: int(values(s)),
            "violation": lambda s: 0 if excess(s) == 0 else float(excess(s)),
        }
    elif by == "together":
        own = {"cost": TOGETHER, "violation": TOGETHER, "cooperative": True, "data": DATA}
    else:
        own = {"cost": VALUE, "violation": EXCESS, "data": DATA}
        if by == "real":
            own |= {"cost": real(VALUE), "violation": real(EXCESS)}
    return islands.subset(N, maximise=True, **own | more)


@pytest.fixture(scope="module")
def best() -> int:
    every = np.array(list(product((0, 1), repeat=N)))
    return int(values(every)[excess(every) == 0].max())


@pytest.mark.slow
@pytest.mark.parametrize("by", ["cost", "real", "together", "batch", "function"])
def test_the_default_finds_the_best_feasible_subset(backend: Backend, by: str, best: int) -> None:
    # With a function, a generation is one of few and short chains by default.
    generations = 120 if by == "function" else 30
    result = islands.solve(knapsack(by), backend=backend.name, generations=generations, seed=1)
    assert (result.cost, result.violation) == (best, 0)
    assert values(result.solution) == best
    assert excess(result.solution) == 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["tempering", "ga", "pso"])
def test_all_ways_have_the_same_digest(backend: Backend, on_gpu_paths: Any, algorithm: str) -> None:
    how = backend.name, algorithm, ""
    found = digests(knapsack, on_gpu_paths, *how)
    on_gpu_paths(False)
    assert found == {facts(knapsack("together"), *how)}
    of_host = {"batch": lambda s: values(s).astype(float), "violation": excess}
    real_of_host = islands.subset(N, maximise=True, **of_host)
    # A batch evaluates moves beyond the accepted one, too, which count.
    assert facts(knapsack("real"), *how)[:2] == facts(real_of_host, *how)[:2]


JUMPS = sum_text("(s[i] * 37 + i * 11) % 17 * (1 + (s[i] + i) % 3)")
LATE = """
__device__ long long violation(const Solution& s, int n, const Data& data) {
    long long sum = 0;  // item k must come before item k + 4
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) sum += s[j] == s[i] + 4;
    }
    return sum;
}"""


def jumps(order: Any) -> int:
    return sum((s * 37 + i * 11) % 17 * (1 + (s + i) % 3) for i, s in enumerate(order))


def late(order: Any) -> int:
    return sum(order[j] == order[i] + 4 for i in range(len(order)) for j in range(i))


TWO_OPT = {"algorithm": "ga", "improver": "two_opt"}


@pytest.mark.slow
@pytest.mark.parametrize(("is_real", "options"), [(True, {}), (False, TWO_OPT)])
def test_orders_with_precedence(backend: Backend, is_real: bool, options: dict[str, Any]) -> None:
    n = 7
    texts = [real(text) if is_real else text for text in (JUMPS, LATE)]
    problem = islands.permutation(n, cost=texts[0], violation=texts[1])
    result = islands.solve(problem, backend=backend.name, generations=200, seed=1, **options)
    expected = min(jumps(order) for order in permutations(range(n)) if late(order) == 0)
    assert (result.cost, result.violation) == (expected, 0)
    assert jumps(result.solution.tolist()) == expected
    assert late(result.solution.tolist()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("by", ["cost", "real", "batch"])
def test_a_run_without_a_feasible_solution_says_so(backend: Backend, by: str) -> None:
    always = EXCESS.replace("max(0ll, sum - data.limit)", "sum + 5")
    own: Any = {"violation": lambda s: s.astype(np.int64) @ WEIGHTS + 5}
    if by != "batch":
        own = {"violation": real(always) if by == "real" else always}
    result = islands.solve(knapsack(by, **own), backend=backend.name, generations=20, seed=1)
    assert result.cost is None
    assert result.gap is None
    assert result.violation == result.solution @ WEIGHTS + 5
    with pytest.raises(RunError, match="no feasible solution found"):
        result.require_solution()


def test_commands_report_infeasibility(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from islands.cli import main

    script = tmp_path / "never.py"
    script.write_text(
        "import islands\n"
        "problem = islands.subset(9, batch=lambda s: s.sum(axis=1),"
        " violation=lambda s: s[:, 0] + 2)\n"
    )
    folder = tmp_path / "run"
    stop = ["--stop", "generations=5", "--out", str(folder)]
    assert main(["run", f"{script}:problem", *stop]) == 1
    assert "the best one has the violation 2" in capsys.readouterr().out
    with pytest.raises(islands.IslandsError, match="or has found no feasible solution"):
        islands.read_run(folder)
    (tmp_path / "chosen.txt").write_text("1\n" * 9)
    assert main(["verify", f"{script}:problem", str(tmp_path / "chosen.txt")]) == 1
    assert main(["resume", str(folder), "--stop", "generations=8", "--trust"]) == 1


@pytest.mark.parametrize("is_real", [False, True])
def test_a_feasible_solution_is_better_than_an_infeasible_one(is_real: bool) -> None:
    random = np.random.default_rng(1)
    top = 2**60
    own: Any = np.concatenate([random.integers(-top, top, 200), [0, top, -top]])
    if is_real:
        scale = 2.0 ** random.integers(-300, 300, 200)
        own = np.concatenate([random.normal(size=200) * scale, [0.0, 2.0**300, -(2.0**300)]])
    violations = np.where(random.random(203) < 0.5, 0, 2.0 ** random.integers(-50, 300, 203))
    for price in (1e-300, 1.0, 1e200):
        found = priced.compared(own, violations, price, real=is_real)
        feasible = violations == 0
        assert found[feasible].max() < priced.first_infeasible(real=is_real)
        assert found[~feasible].min() >= priced.first_infeasible(real=is_real)
        exact = ordered(own) if is_real else own
        assert (found[feasible] == exact[feasible]).all()
        soft = priced.soft(found, real=is_real)
        if price == 1.0 and is_real:
            expected = np.clip(own + violations, -(2.0**300), 2.0**300)
            np.testing.assert_allclose(real_of(soft), expected, rtol=1e-15)
        elif price == 1.0:
            added = [max(1, min(int(v), 2 * top)) if v else 0 for v in violations.tolist()]
            sums = [min(c + v, top) for c, v in zip(own.tolist(), added, strict=True)]
            assert soft.tolist() == sums
        assert [priced.soft(int(each), real=is_real) for each in found] == soft.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["real", "together"])
def test_a_check_compares_violations_with_the_reference(by: str) -> None:
    def exact(chosen: Any) -> Any:
        costs = values(chosen)
        return costs.astype(float) if by == "real" else costs, excess(chosen)

    report = islands.check_problem(knapsack(by, reference=exact), samples=60)
    assert any(row.way == "violation, CPU" for row in report.rows)
    wrong = knapsack(by, reference=lambda s: (exact(s)[0], np.minimum(excess(s), 20)))
    with pytest.raises(RunError, match=r"has the violation 20 by violation, reference, but \d+ by"):
        islands.check_problem(wrong, samples=60)
    alone = knapsack(by, reference=lambda s: exact(s)[0])
    said = r"^reference= returned array[^\n]*\. With violation=, return two arrays: costs, viol"
    with pytest.raises(RunError, match=said):
        islands.check_problem(alone, samples=60)


@pytest.mark.parametrize("by", ["cost", "batch"])
def test_a_negative_violation_ends_the_run(backend: Backend, by: str) -> None:
    own: Any = EXCESS.replace("max(0ll, sum - data.limit)", "sum - data.limit")
    if by != "cost":
        own = lambda s: s.astype(np.int64) @ WEIGHTS - LIMIT  # noqa: E731
    with pytest.raises(RunError, match=r"violation= returned -\d+. Return 0 if"):
        islands.solve(knapsack(by, violation=own), backend=backend.name, generations=5)
