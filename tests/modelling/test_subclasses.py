"""Subclasses of models: texts that extend those of the base class, or replace them."""

from itertools import permutations
from pathlib import Path
from types import new_class
from typing import Any

import numpy as np
import pytest
from programs_for_tests import require_compiles
from test_gpu_programs import program

import islands
from islands.backends.base import Backend
from islands.errors import CompileError, UsageError
from islands.improvers import ImproverSettings
from islands.modelling.model import Model, restored
from islands.models import FlowShop, JobShop, MaxCut, SetCover

TIMES = [[3, 2], [1, 4], [2, 1]]
EDGES = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
COVER: Any = ([3, 2, 2], [[0, 1], [0, 2], [0]])
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    return base::cost(s, n, data) + JOBS;
}
"""
BALANCED = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    int chosen = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) chosen += s[i];
    return base::cost(s, n, data) - abs(2 * block::sum(chosen) - n);
}
"""
COUNTING = """
struct State : base::State {
    int* chosen;
    __device__ State(Memory& memory, int n, const Data& data)
        : base::State(memory, n, data), chosen(memory.take<int>(1)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    base::prepare(state, s, n, data);
    if (threadIdx.x != 0) return;
    *state.chosen = 0;
    for (int i = 0; i < n; ++i) *state.chosen += s[i];
}
__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Flip move) {
    const int after = *state.chosen + (s[move.item] ? -1 : 1);
    return base::change(state, s, n, data, move) - abs(2 * after - n) + abs(2 * *state.chosen - n);
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    base::apply(state, s, n, data, move);
    if (threadIdx.x == 0) *state.chosen += s[move.item] ? -1 : 1;
}
"""
TWICE = """
// Hides that of the base class, for the function below only.
__device__ long long weight(const Solution&, int, const Data&) { return 2; }
__device__ long long cost(const Solution& s, int n, const Data& data) {
    return weight(s, n, data) * base::cost(s, n, data);
}
"""
TWICE_CHANGED = """
__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Flip move) {
    return 2 * base::change(state, s, n, data, move);
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    if (change(state, s, n, data, move) != 2 * base::change(state, s, n, data, move)) return;
    base::apply(state, s, n, data, move);
}
"""
SETUP = "__device__ int setup(const Data&, int, int, int) { return 12; }"
FIRST = """
__device__ long long violation(const Solution& s, int, const Data&) { return s[0] != 2; }
"""
SECOND = """
__device__ long long violation(const Solution& s, int n, const Data& data) {
    return base::violation(s, n, data) + (s[1] != 1);
}
"""


class Balanced(MaxCut, cost=BALANCED, state=COUNTING):
    pass


class Twice(MaxCut, cost=TWICE, state=TWICE_CHANGED):
    pass


class TwiceBalanced(Balanced, cost=TWICE, state=TWICE_CHANGED):
    """Extends texts that extend others."""


class Later(FlowShop, cost=COST.replace("JOBS", "data.more")):
    def data(self) -> dict[str, Any]:
        return super().data() | {"more": 5}


class Twelve(FlowShop, setup=SETUP):
    pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "best", "one"),
    [(Balanced, 4, 2 - 2), (Twice, 8, 2 * 2), (TwiceBalanced, 8, 2 * (2 - 2))],
)
def test_a_state_extends_that_of_its_base(make: Any, best: int, one: int, backend: Backend) -> None:
    problem = make(EDGES)
    assert problem.cost(np.array([1, 1, 1, 0])) == one
    assert islands.solve(problem, generations=20, backend=backend.name).cost == best
    assert "of 480 moves agree with costs" in str(islands.check_problem(problem, samples=60))


@pytest.mark.gpu
@pytest.mark.parametrize(
    "problem",
    [*(make(EDGES) for make in (Balanced, Twice, TwiceBalanced)), Later(TIMES), Twelve(TIMES)],
    ids=lambda problem: type(problem).__name__,
)
def test_programs_of_subclasses_compile_for_gpus(problem: Model) -> None:
    encoding = "permutation" if isinstance(problem, FlowShop) else "bits"
    require_compiles(program(problem, "tempering", encoding, ImproverSettings()))


def subclass(base: Any, **texts: Any) -> Any:
    """Return what a statement `class Own(base, **texts): pass` defines."""
    return new_class("Own", (base,), texts)


WHOLE = subclass(Later, cost=COST, state=None)


@pytest.mark.slow
def test_costs_after_a_move_are_those_of_all_layers(backend: Backend) -> None:
    problem = WHOLE(TIMES)
    orders = np.array([*permutations(range(3))])
    expected = FlowShop(TIMES).costs(orders) + 5 + 3
    assert problem.costs(orders).tolist() == expected.tolist()
    settings = {"improver": "swap", "generations": 5, "backend": backend.name}
    assert islands.solve(problem, algorithm="ga", **settings).cost == expected.min()
    problem = subclass(subclass(WHOLE, violation=FIRST), violation=SECOND)(TIMES)
    orders = ([0, 1, 2], [2, 0, 1], [1, 2, 0])
    assert [problem.violation(np.array(order)) for order in orders] == [1, 1, 2]
    assert islands.solve(problem, algorithm="ga", **settings).solution.tolist() == [2, 1, 0]


@pytest.mark.gpu
@pytest.mark.parametrize("encoding", ["keys", "permutation"])
def test_costs_after_a_move_compile_for_gpus(encoding: str) -> None:
    require_compiles(program(WHOLE(TIMES), "ga", encoding, ImproverSettings(name="swap")))


def test_a_text_without_a_base_takes_the_place_of_the_old_one() -> None:
    cost = COST.replace("base::cost(s, n, data)", "s[0]")
    problem = subclass(FlowShop, cost=cost, state=None)(TIMES)
    assert problem.cost(np.array([2, 1, 0])) == 2 + 3  # constants are known
    assert "MACHINES - 1" not in (problem.header.text or "")
    assert not problem.chains.has_state


@pytest.mark.parametrize("arguments", [{}, {"release": [0, 0, 0]}])
def test_a_subclass_of_a_shop_has_the_number_of_jobs(arguments: dict[str, Any]) -> None:
    machines, order = [[0, 1], [1, 0], [0, 1]], np.arange(6)
    shop = islands.models.job_shop(machines, TIMES, **arguments)
    own = subclass(type(shop), cost=COST)(machines, TIMES, **arguments)
    assert own.cost(order) == shop.cost(order) + 3


def test_a_subclass_changes_data_and_functions_that_the_model_calls() -> None:
    order = np.arange(3)
    assert Later(TIMES).cost(order) == FlowShop(TIMES).cost(order) + 5
    first = second = 0
    for on_first, on_second in TIMES:
        first += 12 + on_first
        second = max(second + 12, first) + on_second
    assert Twelve(TIMES).cost(order) == second


@pytest.mark.parametrize("make", [Balanced, Twice, TwiceBalanced])
def test_a_subclass_is_stored_with_all_of_its_texts(make: Any) -> None:
    problem = make(EDGES)
    again = restored(problem.saved())
    assert again.header == problem.header
    assert (type(again), again.saved().keys()) == (Model, problem.saved().keys())


def test_texts_of_a_class_may_be_files(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.cu" for name in ("cost", "state", "setup")}
    for name, text in {"cost": BALANCED, "state": COUNTING}.items():
        paths[name].write_text(text)
    filed = subclass(MaxCut, cost=paths["cost"], state=paths["state"])
    assert filed(EDGES).header == Balanced(EDGES).header
    paths["setup"].write_text(SETUP.replace("12", "x"))
    wrong = subclass(FlowShop, setup=paths["setup"])(TIMES)
    words = r"setup\.cu, line 1|setup\.cu:1.*this line is"
    with pytest.raises(CompileError, match=words) as raised:
        wrong.program_costs(np.arange(3)[np.newaxis], "cpu")
    assert "must define" not in str(raised.value)


def test_a_function_of_no_base_class_is_rejected() -> None:
    with pytest.raises(UsageError, match="violation: calls a function base::"):
        subclass(MaxCut, violation=BALANCED)(EDGES)


def test_the_exact_cost_of_a_base_class_counts_for_the_same_cost_only() -> None:
    dearer = subclass(SetCover, cost=COST.replace("JOBS", "1"))

    class Exact(dearer):
        def exact(self, solutions: Any) -> Any:
            return super().exact(solutions) + 1

    class Choosing(SetCover):
        choose = 2

    still = subclass(SetCover, state="using base::prepare;")
    own = subclass(SetCover, cost=BALANCED, state=COUNTING.replace("base::", "own::"))
    kinds = (subclass(SetCover), subclass(SetCover, state=None), dearer, Exact, Choosing)
    models = [kind(*COVER) for kind in kinds]
    assert [model.reference is not None for model in models] == [True, True, False, True, True]
    assert [model.plain() is not None for model in models] == [True, True, False, False, False]
    assert [model.chains.has_state for model in models] == [True, False, True, True, True]
    assert [model.learns for model in models] == [True, False, True, True, True]
    assert [kind(*COVER).learns for kind in (still, own)] == [True, False]
    assert [model.cost(np.array([1, 0, 0])) for model in models[:4]] == [3, 3, 4, 4]


@pytest.mark.slow
def test_a_subclass_may_look_for_the_highest_cost() -> None:
    problem = subclass(FlowShop, maximise=True, state=None)(TIMES, name="small")
    assert (problem.name, problem.maximise, problem.chains.has_state) == ("small", True, False)
    longest = max(problem.cost(np.array(order)) for order in permutations(range(3)))
    assert islands.solve(problem, generations=20).cost == longest


def test_code_inside_of_a_class_is_rejected() -> None:
    for name, value in {"state": SETUP, "cost": Path("cost.cuh"), "cooperative": False}.items():
        with pytest.raises(UsageError, match=rf"Write it after .* Wrong\(JobShop, {name}=...\)"):
            new_class("Wrong", (JobShop,), {}, lambda own, n=name, v=value: own.update({n: v}))


def test_a_job_shop_with_setup_times_is_a_subclass_with_a_file(tmp_path: Path) -> None:
    path = tmp_path / "setups.cuh"
    path.write_text(
        """
        __device__ long long cost(const Solution& s, int n, const Data& data) {
            int done[JOBS] = {}, job[JOBS] = {}, free[MACHINES] = {}, last = 0;
            int before[MACHINES] = {};
            for (int i = 0; i < n; ++i) {
                const int j = data.job[s[i]], o = data.first[j] + done[j]++, k = data.machine[o];
                const int setup = free[k] == 0 ? 0 : data.setups[before[k] * JOBS + j];
                job[j] = free[k] = max(job[j], free[k] + setup) + data.time[o];
                before[k] = j;
                last = max(last, job[j]);
            }
            return last;
        }
        """
    )

    class Setups(JobShop, cost=path, state=None, cooperative=False):
        def __init__(self, machines: Any, times: Any, setups: Any) -> None:
            self.setups = np.array(setups)
            super().__init__(machines, times)

        def data(self) -> dict[str, Any]:
            return super().data() | {"setups": self.setups}

    problem = Setups([[0, 1], [0, 1]], [[3, 2], [1, 4]], [[0, 5], [1, 0]])
    assert islands.solve(problem, generations=20, seed=1, backend="cpu").cost == 8
    # On the last machine, job 0 takes 2 and job 1 takes 4, with setup times of 5 and 1 between.
    assert problem.cost([0, 1, 2, 3]) == 3 + 2 + 5 + 4
    assert problem.cost([2, 3, 0, 1]) == 1 + 4 + 1 + 2
