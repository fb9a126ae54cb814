"""States that make children of two solutions: the searches below improve by crossover only."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from models_for_tests import sum_text

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model
from islands.testing.devices import emulated_gpu

pytestmark = pytest.mark.slow

N = 40
COUNT = sum_text("s[i]")
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
# The child has the items of both parents, without a random one.
UNION = """
__device__ void cross(State& state, Changing& child, const Solution& other, int n,
                      const Data& data, Random& random) {
    for (int i = 0; i < n; ++i) state.mine[i] = child[i];
    for (int i = 0; i < n; ++i) child.set(i, state.mine[i] | other[i]);
    child.set(random.below(n), 0);
}
"""
SEARCH = {
    "algorithm": "tempering", "islands": 1, "population": 32, "rungs": 2, "tuning": 1,
    "patience": 1, "generations": 60, "seed": 3,
}  # fmt: skip


def most(state: str) -> Model:
    return islands.subset(N, cost=COUNT, state=state, maximise=True)


def test_children_have_the_items_of_both_parents(backend: Backend) -> None:
    result = islands.solve(most(STILL + UNION), **SEARCH, backend=backend.name)
    assert result.cost == N - 1 == np.sum(result.solution)
    whole = UNION.replace("child.set(random.below(n), 0);", "")
    assert islands.solve(most(STILL + whole), **SEARCH, backend=backend.name).cost == N


def test_all_but_the_best_of_a_ladder_that_is_alone_cross_with_it() -> None:
    whole = UNION.replace("child.set(random.below(n), 0);", "")

    def found(generations: int, **settings: int) -> Any:
        options = SEARCH | settings | {"generations": generations}
        return islands.solve(most(STILL + whole), **options).cost

    one, two = (found(generations, population=2) for generations in (1, 30))
    four = found(30, population=4, rungs=4)
    assert one < two < four < N  # the items of one, of both and of all


def test_a_state_without_steps_of_its_own_may_cross(backend: Backend) -> None:
    own = """
    struct State { __device__ State(Memory&, int, const Data&) {} };
    __device__ void prepare(State&, const Solution&, int, const Data&) {}
    __device__ long long change(const State&, const Solution&, int, const Data&, Swap) { return 1; }
    __device__ void apply(State&, const Solution&, int, const Data&, Swap) {}
    __device__ void cross(State&, Changing& child, const Solution&, int n, const Data&, Random&) {
        for (int i = 0; i < n; ++i) child.set(i, i);
    }
    """
    cost = COUNT.replace("s[i]", "(s[i] - i) * (s[i] - i)")
    problem = islands.permutation(N, cost=cost, state=own)
    # Each swap seems to be worse, so that none is made at the end of the first annealing.
    assert islands.solve(problem, **SEARCH, backend=backend.name).cost == 0


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_all_threads_may_cross_together(device: str) -> None:
    cost = """
    __device__ long long cost(const Solution& s, int n, const Data& data) {
        int64_t sum = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[i];
        return block::sum(sum);
    }
    """
    union_ = """
    __device__ void cross(State& state, Changing& child, const Solution& other, int n,
                          const Data& data, Random& random) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) state.mine[i] = child[i] | other[i];
        __syncthreads();
        if (threadIdx.x > 0) return;
        for (int i = 0; i < n; ++i) child.set(i, state.mine[i]);
        child.set(random.below(n), 0);
    }
    """
    problem = islands.subset(N, cost=cost, cooperative=True, state=STILL + union_, maximise=True)
    with emulated_gpu(64) if device == "emulated" else nullcontext():
        alone = islands.solve(most(STILL + UNION), **SEARCH)
        together = islands.solve(problem, **SEARCH)
    assert together.solution.tolist() == alone.solution.tolist()


def test_an_immigrant_is_not_replaced_by_a_child() -> None:
    worst = UNION.replace("state.mine[i] | other[i]", "0").replace("random.below(n), 0", "0, 0")
    options = SEARCH | {"islands": 4, "population": 2, "record.every": 1}
    options |= {"migration": "ring", "interval": 4, "migrants": 1}
    trace = islands.solve(most(STILL + worst), **options).trace().to_pydict()
    for island in range(4):
        rows = zip(trace["island"], trace["best"], strict=True)
        best = [cost for at, cost in rows if at == island]
        assert best == sorted(best)
    assert min(trace["best"]) < max(trace["best"]) == best[-1]


def test_a_child_that_is_no_solution_ends_the_run() -> None:
    cost = COUNT.replace("s[i]", "i * s[i]")
    repeats = UNION.replace("state.mine[i] | other[i]", "0").replace("random.below(n), 0", "0, 0")
    problem = islands.permutation(N, cost=cost, state=STILL + repeats)
    with pytest.raises(RunError, match="contains item 0 more than"):
        islands.solve(problem, **SEARCH)
    wrong = UNION.replace("random.below(n), 0", "0, 2")
    with pytest.raises(RunError, match="set an entry to 2"):
        islands.solve(most(STILL + wrong), **SEARCH)


def test_a_ladder_is_renewed_sooner_by_a_crossover() -> None:
    def patience(state: str) -> object:
        return islands.solve(most(state), generations=1, backend="cpu").settings["patience"]

    assert (patience(STILL), patience(STILL + UNION)) == (100, 10)
