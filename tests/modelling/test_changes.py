"""Changed models: functions of a text that replace others, and arguments that do not fit."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import islands
from islands.modelling.merging import merged
from islands.models import changed

TIMES = [[3, 2], [1, 4], [2, 1]]
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    return old_cost(s, n, data) + JOBS;
}
"""


def test_braces_and_names_in_comments_are_no_code() -> None:
    old = "// struct A { of b() {\n__device__ int b() { /* } */ return 1; }"
    new = "__device__ int b() { return 2; }  // }"
    assert merged(old, new) == (
        "// struct A { of b() {\n__device__ int old_b() { /* } */ return 1; }\n"
        "__device__ int b() { return 2; }  // }"
    )


def test_overloads_are_all_replaced() -> None:
    old = "__device__ int f(int) { return 1; }\n__device__ int f(char) { return 2; }\nend"
    new = "__device__ int f(long) { return old_f(1); }"
    assert merged(old, new) == (
        "__device__ int old_f(int) { return 1; }\n__device__ int old_f(char) { return 2; }\n"
        f"{new}\nend"
    )


@pytest.mark.slow
def test_a_state_with_another_member_counts_items() -> None:
    problem = changed(
        islands.models.max_cut([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]),
        cost="""
__device__ long long cost(const Solution& s, int n, const Data& data) {
    int chosen = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) chosen += s[i];
    return old_cost(s, n, data) - abs(2 * block::sum(chosen) - n);
}
""",
        state="""
struct State : old_State {
    int* chosen;
    __device__ State(Memory& memory, int n, const Data& data)
        : old_State(memory, n, data), chosen(memory.take<int>(1)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    old_prepare(state, s, n, data);
    if (threadIdx.x != 0) return;
    *state.chosen = 0;
    for (int i = 0; i < n; ++i) *state.chosen += s[i];
}
__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Flip move) {
    const int after = *state.chosen + (s[move.item] ? -1 : 1);
    return old_change(state, s, n, data, move) - abs(2 * after - n) + abs(2 * *state.chosen - n);
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    old_apply(state, s, n, data, move);
    if (threadIdx.x == 0) *state.chosen += s[move.item] ? -1 : 1;
}
""",
    )
    assert "of 480 moves as costs" in str(islands.check_problem(problem, samples=60))
    assert islands.solve(problem, generations=20).cost == 4
    assert problem.cost(np.array([1, 1, 1, 0])) == 2 - 2


@pytest.mark.slow
def test_arguments_take_the_place_of_old_ones() -> None:
    old = islands.models.flow_shop(TIMES, name="small")
    new = changed(old, maximise=True, state=None)
    assert (new.name, new.maximise, new.chains.has_state) == ("small-changed", True, False)
    assert (old.maximise, old.chains.has_state) == (False, True)
    assert new.reference is None
    longest = max(old.cost(np.array(order)) for order in permutations(range(3)))
    assert islands.solve(new, generations=20).cost == longest
    assert changed(new, name="again", n=3).name == "again"


@pytest.mark.parametrize("arguments", [{}, {"release": [0, 0, 0]}])
def test_a_changed_shop_knows_the_number_of_jobs(arguments: dict[str, Any]) -> None:
    shop = islands.models.job_shop([[0, 1], [1, 0], [0, 1]], TIMES, **arguments)
    order = np.arange(6)
    assert changed(shop, cost=COST).cost(order) == shop.cost(order) + 3


def test_a_subclass_changes_texts_and_data() -> None:
    class Later(islands.models.FlowShop, cost=COST.replace("JOBS", "data.more")):
        def data(self) -> dict[str, Any]:
            return super().data() | {"more": 5}

    order = np.arange(3)
    assert Later(TIMES).cost(order) == islands.models.FlowShop(TIMES).cost(order) + 5


def test_the_exact_cost_of_a_base_class_counts_for_the_same_cost_only() -> None:
    covered = [3, 2, 2], [[0, 1], [0, 2], [0]]

    class Same(islands.models.SetCover):
        pass

    class Searched(islands.models.SetCover, state=None):
        pass

    class Dearer(islands.models.SetCover, cost=COST.replace("JOBS", "1")):
        pass

    class Exact(Dearer):
        def exact(self, solutions: Any) -> Any:
            return super().exact(solutions) + 1

    class Choosing(islands.models.SetCover):
        choose = 2

    found = [each(*covered) for each in (Same, Searched, Dearer, Exact, Choosing)]
    assert [each.reference is not None for each in found] == [True, True, False, True, True]
    assert [each.plain() is not None for each in found] == [True, True, False, False, False]
    assert [each.chains.has_state for each in found] == [True, False, True, True, True]
    assert [each.learns for each in found] == [True, False, True, True, True]
    assert [each.cost(np.array([1, 0, 0])) for each in found[:4]] == [3, 3, 4, 4]
