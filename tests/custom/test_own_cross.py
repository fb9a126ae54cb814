"""States that make children of two solutions: by nothing else, the searches below improve."""

from __future__ import annotations

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.errors import RunError, UsageError
from islands.modelling.model import Model

N = 40
COUNT = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += s[i];
    return sum;
}
"""
STILL = """
struct State {
    int* mine;
    __device__ State(Memory& memory, int n, const Data&) : mine(memory.take<int>(n)) {}
};
struct Step {
    int i;
};
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ bool propose(const State&, const Solution&, int, const Data&, Random&, Step&) {
    return false;
}
__device__ long long change(const State&, const Solution&, int, const Data&, Step) { return 0; }
__device__ long long apply(State&, Changing&, int, const Data&, Step) { return 0; }
"""
# The child has the items of both parents, but a random one.
UNION = """
__device__ void cross(State& state, Changing& child, const Solution& other, int n,
                      const Data& data, Random& random) {
    for (int i = 0; i < n; ++i) state.mine[i] = child[i];
    for (int i = 0; i < n; ++i) child.set(i, state.mine[i] | other[i]);
    child.set(random.below(n), 0);
}
"""
SEARCH = {
    "algorithm": "tempering",
    "islands": 1,
    "population": 32,
    "rungs": 2,
    "tuning": 1,
    "patience": 1,
    "generations": 60,
    "seed": 3,
}


def most(state: str) -> Model:
    return islands.subset(N, cost=COUNT, state=state, maximise=True)


def test_children_have_the_items_of_both_parents(backend: Backend) -> None:
    result = islands.solve(most(STILL + UNION), **SEARCH, backend=backend.name)
    assert result.cost == N - 1 == np.sum(result.solution)
    whole = UNION.replace("child.set(random.below(n), 0);", "")
    assert islands.solve(most(STILL + whole), **SEARCH, backend=backend.name).cost == N


@pytest.mark.parametrize("population", [2, 32])
def test_a_ladder_alone_crosses_its_own_solutions(population: int) -> None:
    ones = UNION.replace("state.mine[i] | other[i]", "1").replace("random.below(n), 0", "0, 1")
    options = SEARCH | {"population": population}
    assert islands.solve(most(STILL + ones), **options).cost == N


def test_an_order_in_which_an_item_is_repeated_ends_the_run() -> None:
    cost = COUNT.replace("s[i]", "i * s[i]")
    repeats = UNION.replace("state.mine[i] | other[i]", "0").replace("random.below(n), 0", "0, 0")
    problem = islands.permutation(N, cost=cost, state=STILL + repeats)
    with pytest.raises(RunError, match="state= made a solution that contains item 0 more than"):
        islands.solve(problem, **SEARCH)


def test_a_wrong_entry_ends_the_run() -> None:
    wrong = UNION.replace("random.below(n), 0", "0, 2")
    with pytest.raises(RunError, match="state= set an entry to 2, but a solution is a 0 or 1"):
        islands.solve(most(STILL + wrong), **SEARCH)


def test_a_crossover_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cross has the parameters .*Changing& child"):
        most(STILL + UNION.replace("Changing& child", "const Solution& child"))


def test_a_ladder_is_renewed_sooner_by_a_crossover() -> None:
    def patience(state: str) -> object:
        return islands.solve(most(state), generations=1, seed=1).settings["patience"]

    assert (patience(STILL), patience(STILL + UNION)) == (100, 10)
