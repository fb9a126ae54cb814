"""A problem of a user whose state proposes steps."""

import numpy as np

import islands
from islands.modelling.model import Model

N = 10
TABLE = np.random.default_rng(3).integers(-20, 20, (N, N)).astype(np.int64)
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) sum += s[i] && s[j] ? data.t[i * n + j] : 0;
    }
    return sum;
}
"""
# A step flips up to three items; `change` is an estimate, and `apply` returns the real change.
STATE = """
struct State {
    long long* now;
    __device__ State(Memory& memory, int, const Data&) : now(memory.take<long long>(1)) {}
};
struct Step {
    int first, count;
};
template <class Some>
__device__ long long sum_of(const Some& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) sum += s[i] && s[j] ? data.t[i * n + j] : 0;
    }
    return sum;
}
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    *state.now = sum_of(s, n, data);
}
__device__ bool propose(const State&, const Solution&, int n, const Data&, Random& random,
                        Step& step) {
    step = {random.below(n), 1 + random.below(3)};
    return step.first + step.count <= n;
}
__device__ long long change(const State&, const Solution&, int, const Data&, Step step) {
    return step.count - 2;
}
__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    for (int i = step.first; i < step.first + step.count; ++i) s.set(i, 1 - s[i]);
    const long long before = *state.now;
    *state.now = sum_of(s, n, data);
    return *state.now - before;
}
"""


def problem(state: str = STATE) -> Model:
    """Return the choice of items with the least sum of the entries of all pairs."""
    return islands.subset(N, cost=COST, state=state, data={"t": TABLE})
