"""Permutation flow shops: the order in which all machines process the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.modelling.api import permutation
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.numbers import amounts, chosen
from islands.models.shops import draw_gantt
from islands.models.texts import filled
from islands.problems.data import name_or

_OBJECTIVES = ("makespan", "flow_time")
_COST = """
constexpr int JOBS = {jobs}, MACHINES = {machines}, NONE = -1;
constexpr bool SUMS = {sums};

// The time that machine k needs between two jobs, of which the first may be NONE. Here 0: a copy of
// this model with setup times changes this function only.
__device__ int setup(const Data&, int, int, int) { return 0; }

// Let a job follow another one, which ends on the machines at `ready`.
__device__ void add(const Data& data, int before, int job, int* ready) {
    const int* const time = data.time + job * MACHINES;
    ready[0] += setup(data, before, job, 0) + time[0];
    for (int k = 1; k < MACHINES; ++k) {
        ready[k] = max(ready[k] + setup(data, before, job, k), ready[k - 1]) + time[k];
    }
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    int ready[MACHINES] = {};
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        add(data, i > 0 ? s[i - 1] : NONE, s[i], ready);
        sum += ready[MACHINES - 1];
    }
    return SUMS ? sum : ready[MACHINES - 1];
}
"""
_STATE = """
struct State {
    int *head, *tail;  // of each place and machine: when it ends; from its begin to the end
    long long* sum;    // of the ends of the jobs up to each place
    __device__ State(Memory& memory, int n, const Data&)
        : head(memory.take<int>(n * MACHINES)), tail(memory.take<int>(n * MACHINES)),
          sum(memory.take<long long>(n)) {}
};

// Moves the job at u to place v.
struct Step {
    int u, v;
};

__device__ void load(int* ready, const int* from, bool exists) {
    for (int k = 0; k < MACHINES; ++k) ready[k] = exists ? from[k] : 0;
}

// Compute heads from a place on, and tails up to another one.
template <class Order>
__device__ void follow(State& state, const Order& s, int n, const Data& data, int from, int to) {
    int ready[MACHINES];
    load(ready, state.head + (from - 1) * MACHINES, from > 0);
    long long sum = from > 0 ? state.sum[from - 1] : 0;
    for (int i = from; i < n; ++i) {
        add(data, i > 0 ? s[i - 1] : NONE, s[i], ready);
        state.sum[i] = sum += ready[MACHINES - 1];
        for (int k = 0; k < MACHINES; ++k) state.head[i * MACHINES + k] = ready[k];
    }
    if (SUMS) return;
    load(ready, state.tail + (to + 1) * MACHINES, to + 1 < n);
    for (int i = to; i >= 0; --i) {
        const int job = s[i], after = i + 1 < n ? s[i + 1] : NONE;
        const int* const time = data.time + job * MACHINES;
        for (int k = MACHINES - 1; k >= 0; --k) {
            const int later = ready[k] + (after == NONE ? 0 : setup(data, job, after, k));
            ready[k] = (k < MACHINES - 1 ? max(later, ready[k + 1]) : later) + time[k];
        }
        for (int k = 0; k < MACHINES; ++k) state.tail[i * MACHINES + k] = ready[k];
    }
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    follow(state, s, n, data, 0, n - 1);
}

__device__ bool propose(const State&, const Solution&, int n, const Data&, Random& random,
                        Step& step) {
    step.u = random.below(n);
    if (random.below(2)) {
        const int by = 1 + random.below(max(1, min(n - 1, max(3, n / 10))));
        step.v = random.below(2) ? step.u + by : step.u - by;
    } else {
        step.v = random.below(n);
    }
    return step.v != step.u && step.v >= 0 && step.v < n;
}

__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Step step) {
    const int low = min(step.u, step.v), high = max(step.u, step.v);
    int ready[MACHINES];
    load(ready, state.head + (low - 1) * MACHINES, low > 0);
    long long sum = low > 0 ? state.sum[low - 1] : 0;
    int before = low > 0 ? s[low - 1] : NONE;
    const auto follow_by = [&](int job) {
        add(data, before, job, ready);
        sum += ready[MACHINES - 1];
        before = job;
    };
    for (int i = low; i <= high; ++i) {
        follow_by(s[i == step.v ? step.u : step.u < step.v ? i + 1 : i - 1]);
    }
    if (SUMS) {
        for (int i = high + 1; i < n; ++i) follow_by(s[i]);
        return sum - state.sum[n - 1];
    }
    int last = ready[MACHINES - 1];
    for (int k = 0; high + 1 < n && k < MACHINES; ++k) {
        const int begin = ready[k] + setup(data, before, s[high + 1], k);
        last = max(last, begin + state.tail[(high + 1) * MACHINES + k]);
    }
    return last - state.head[n * MACHINES - 1];
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const long long before = SUMS ? state.sum[n - 1] : state.head[n * MACHINES - 1];
    const int job = s[step.u], by = step.u < step.v ? 1 : -1;
    for (int i = step.u; i != step.v; i += by) s.set(i, s[i + by]);
    s.set(step.v, job);
    follow(state, s, n, data, min(step.u, step.v), max(step.u, step.v));
    return (SUMS ? state.sum[n - 1] : state.head[n * MACHINES - 1]) - before;
}
"""


@explained
def flow_shop(
    times: Sequence[Sequence[int]], *, objective: str = "makespan", name: str | None = None
) -> Model:
    """Return the problem of the best order of jobs that pass all machines one after another.

    Job j takes `times[j][k]` on machine k, and all machines process the jobs in the same order.
    `objective` is the end of the last job, "makespan", or the sum of the ends of all jobs,
    "flow_time".

    >>> problem = islands.models.flow_shop([[3, 2], [1, 4], [2, 1]])
    >>> islands.solve(problem, generations=20).cost
    8
    """
    time = amounts("times", times, 2, 2**30)
    objective = chosen("objective", objective, _OBJECTIVES)
    n, m = time.shape
    numbers = {"jobs": n, "machines": m, "sums": str(objective == "flow_time").lower()}

    def costs(orders: NDArray[Any]) -> NDArray[Any]:
        ready = np.zeros((len(orders), m), np.int64)
        total = np.zeros(len(orders), np.int64)
        for jobs in orders.T:
            ready[:, 0] += time[jobs, 0]
            for k in range(1, m):
                ready[:, k] = np.maximum(ready[:, k], ready[:, k - 1]) + time[jobs, k]
            total += ready[:, -1]
        return total if objective == "flow_time" else ready[:, -1]

    def draw(order: Any, axes: Any) -> None:
        ready, rows = [0] * m, []
        for job in np.asarray(order).tolist():
            for k in range(m):
                begin = max(ready[k], ready[k - 1] if k else 0)
                ready[k] = begin + int(time[job, k])
                rows.append((job, k, begin, ready[k]))
        draw_gantt(axes, rows)

    return permutation(
        n,
        cost=filled(_COST, numbers),
        state=_STATE,
        data={"time": time.astype(np.int32)},
        reference=costs,
        name=name_or(name, f"flowshop-{n}x{m}"),
        plot=draw,
    )


def bound(times: Sequence[Sequence[int]]) -> int:
    """Return a lower bound of the makespan: each machine with the least times around it."""
    time = np.asarray(times, np.int64)
    before, after = time.cumsum(axis=1) - time, time[:, ::-1].cumsum(axis=1)[:, ::-1] - time
    machines = before.min(axis=0) + time.sum(axis=0) + after.min(axis=0)
    return int(max(machines.max(), time.sum(axis=1).max()))


def read(path: Path) -> Model:
    """Return the first problem in a file of Taillard: a head, then a row for each machine."""
    with NumberFile.open(path) as file:
        file.skip_past(b":")
        n, m, *_ = file.numbers(5, "numbers of the head")
        file.expect(f"a shop of {n} jobs and {m} machines", n * m)
        file.skip_past(b":")
        rows = np.array(file.numbers(n * m, "times")).reshape(m, n)
        return flow_shop(rows.T.tolist())
