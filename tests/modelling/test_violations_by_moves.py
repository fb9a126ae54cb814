"""User-defined changes of cost and violation by moves agree with complete evaluations."""

from typing import Any

import pytest
from models_for_tests import sum_text
from test_violations import DATA, EXCESS, TOGETHER, VALUE, N, real

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model, restored
from islands.testing.devices import emulated_gpu

pytestmark = pytest.mark.slow

KNOWN = """
struct State {
    long long* load;
    __device__ State(Memory& memory, int, const Data&) : load(memory.take<long long>(1)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += s[i] ? data.weights[i] : 0;
    *state.load = sum;
}"""
LOAD = (
    KNOWN
    + """
__device__ Change by(const State& state, const Data& data, int out, int in) {
    long long value = 0, load = *state.load;
    if (out >= 0) value -= data.values[out], load -= data.weights[out];
    if (in >= 0) value += data.values[in], load += data.weights[in];
    const long long before = max(0ll, *state.load - data.limit);
    return {value, max(0ll, load - data.limit) - before};
}
__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Flip move) {
    return s[move.item] ? by(state, data, move.item, -1) : by(state, data, -1, move.item);
}
__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Exchange move) {
    return by(state, data, move.out, move.in);
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    *state.load += s[move.item] ? -data.weights[move.item] : data.weights[move.item];
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Exchange move) {
    *state.load += data.weights[move.in] - data.weights[move.out];
}"""
)
STEP = (
    KNOWN
    + """
struct Step { int item; };
__device__ bool propose(const State& state, const Solution& s, int n, const Data& data,
                        Random& random, Step& step) {
    step.item = random.below(n);
    return true;
}
__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Step step) {
    const int sign = s[step.item] ? -1 : 1;
    const long long load = *state.load + sign * data.weights[step.item];
    const long long before = max(0ll, *state.load - data.limit);
    return {sign * data.values[step.item], max(0ll, load - data.limit) - before};
}
__device__ Change apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const Change by = change(state, s.solution, n, data, step);
    *state.load += (s[step.item] ? -1 : 1) * data.weights[step.item];
    s.set(step.item, !s[step.item]);
    return by;
}"""
)
FEW: Any = {"generations": 30, "seed": 1, "islands": 2, "proposals": 200}


def stated(by: str) -> Model:
    """Return the knapsack of test_violations with a state, of whole or real numbers."""
    own: dict[str, Any] = {"cost": VALUE, "violation": EXCESS}
    if by == "real":
        own["cost"] = real(VALUE)
    elif by == "together":
        own = {"cost": TOGETHER, "violation": TOGETHER, "cooperative": True}
        first = "__device__ void apply(State& state, const Solution& s, int n, const Data& data"
        alone = LOAD.replace("*state.load = sum", "if (threadIdx.x == 0) *state.load = sum")
        for move in ("Flip", "Exchange"):
            begin = f"{first}, {move} move) {{"
            alone = alone.replace(begin, f"{begin}\n    if (threadIdx.x > 0) return;")
        return islands.subset(N, maximise=True, data=DATA, state=alone, **own)
    return islands.subset(N, maximise=True, data=DATA, state=LOAD, **own)


@pytest.mark.parametrize("by", ["cost", "real", "together"])
def test_changes_of_a_state_lead_to_the_same_run_as_whole_costs(backend: Backend, by: str) -> None:
    plain = islands.subset(
        N, maximise=True, data=DATA, cost=real(VALUE) if by == "real" else VALUE, violation=EXCESS
    )
    first, other = (
        islands.solve(each, backend=backend.name, **FEW) for each in (plain, stated(by))
    )
    assert first.digest == other.digest
    assert (first.cost, first.violation) == (other.cost, 0)


@pytest.mark.parametrize("by", ["real", "together"])
def test_the_threads_of_a_gpu_follow_both_changes(by: str) -> None:
    options: Any = FEW | {"generations": 5, "proposals": 60}
    own = islands.solve(stated(by), backend="cpu", **options)
    with emulated_gpu(64):
        assert islands.solve(stated(by), backend="cpu", **options).digest == own.digest


@pytest.mark.parametrize("by", ["real", "together"])
def test_a_check_follows_both_changes(by: str) -> None:
    report = islands.check_problem(stated(by), samples=50)
    assert any(row.outcome == "400 of 400 moves agree with costs" for row in report.rows)


def test_a_check_finds_a_wrong_change_of_the_violation() -> None:
    wrong = LOAD.replace("max(0ll, load - data.limit) - before", "-before")
    problem = islands.subset(N, cost=VALUE, violation=EXCESS, state=wrong, data=DATA)
    with pytest.raises(
        RunError, match=r"with its violation at .* per unit, is .*, but the state gives"
    ):
        islands.check_problem(problem, samples=50)
    delta = BOTH.replace("max(0, v - data.due[p]) -", "1 + max(0, v - data.due[p]) -")
    with pytest.raises(RunError, match=r"delta, CPU: .*, but the delta gives \d+\. Correct delta"):
        islands.check_problem(due(delta=delta), samples=50)


def test_a_run_with_a_wrong_violation_says_so() -> None:
    wrong = LOAD.replace("*state.load +=", "*state.load -=")
    problem = islands.subset(N, cost=VALUE, violation=EXCESS, state=wrong, data=DATA, maximise=True)
    with pytest.raises(RunError, match=r"in the run, but its violation is \d+\. Compare its"):
        islands.solve(problem, backend="cpu", **FEW)


def test_steps_of_the_users_own_return_both_changes(backend: Backend) -> None:
    own: Any = {"maximise": True, "data": DATA, "cost": VALUE, "violation": EXCESS}
    problem = islands.subset(N, state=STEP, **own)
    islands.check_problem(problem, samples=50)
    result = islands.solve(problem, backend=backend.name, **FEW)
    best = islands.solve(stated("cost"), backend=backend.name, **FEW | {"generations": 60})
    assert (result.cost, result.violation) == (best.cost, 0)


PLACES = sum_text("data.table[i * n + s[i]]")
TOO_LATE = sum_text("max(0, i - data.due[s[i]])", name="violation")
BOTH = """
__device__ Change delta(const Solution& s, int n, const Data& data, Swap move) {
    const int u = move.u, v = move.v, p = s[u], q = s[v];
    const int *at_u = data.table + u * n, *at_v = data.table + v * n;
    return {at_u[q] + at_v[p] - at_u[p] - at_v[q],
            max(0, u - data.due[q]) + max(0, v - data.due[p]) - max(0, u - data.due[p]) -
                max(0, v - data.due[q])};
}"""
NOTHING = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ void apply(State&, const Solution&, int, const Data&, Swap) {}
__device__ Change change(const State&, const Solution& s, int n, const Data& data, Swap move) {"""


def due(**more: Any) -> Model:
    """Return an assignment of items to places, each with a latest place."""
    import numpy as np

    random = np.random.default_rng(5)
    table = random.integers(0, 100, (9, 9)).astype(np.int32)
    last = np.minimum(8, random.permutation(9) + random.integers(0, 4, 9)).astype(np.int32)
    data = {"table": table, "due": last}
    return islands.permutation(9, cost=PLACES, violation=TOO_LATE, data=data, **more)


def test_a_delta_returns_both_changes(backend: Backend) -> None:
    from scipy.optimize import linear_sum_assignment

    problem, options = due(delta=BOTH), {"backend": backend.name, **FEW}
    islands.check_problem(problem, samples=50)
    result = islands.solve(problem, **options)
    table, last = problem.members["table"], problem.members["due"]
    places = [[i <= last[item] for item in range(9)] for i in range(9)]
    allowed = [[int(table[i][k]) if places[i][k] else 10**6 for k in range(9)] for i in range(9)]
    rows, columns = linear_sum_assignment(allowed)
    best = sum(allowed[i][k] for i, k in zip(rows, columns, strict=True))
    assert (result.cost, result.violation) == (best, 0)
    state = NOTHING + BOTH.split("Swap move) {")[1]
    assert islands.solve(due(state=state), **options).digest == result.digest
    assert islands.solve(restored(problem.saved()), **options).digest == result.digest
