"""Job shops: the order in which each machine processes the operations of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.modelling.api import permutation
from islands.modelling.model import Model
from islands.models.files import Words, refusing
from islands.models.flexible_shops import stated
from islands.models.shops import (
    OBJECTIVES,
    Dates,
    FlexibleShop,
    Rows,
    draw_gantt,
    has_choices,
    whole,
)
from islands.text import unknown

_COST = """
// An order of all operations. The k-th item of a job stands for its k-th operation, which begins as
// soon as its job and its machine are free.
__device__ long long cost(const Solution& s, int n, const Data& data) {
    int next[JOBS], job[JOBS] = {}, machine[MACHINES] = {}, last = 0;
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
    for (int i = 0; i < n; ++i) {
        const int j = data.job[s[i]], o = next[j]++, k = data.machine[o];
        job[j] = machine[k] = max(job[j], machine[k]) + data.time[o];
        last = max(last, job[j]);
    }
    return last;
}
"""
_STATE = """
constexpr int NONE = -1, REACH = 24;

struct State {
    int *order, *place;   // operations in an order in which each follows all that it waits for
    int *before, *after;  // neighbours of each operation on its machine
    int *head, *tail;     // longest path from the begin to an operation; from its begin to the end
    int *path;            // the operations of a critical path
    int *item, *mark;
    int length, last;     // of the path; the end of the last job
    unsigned turn;
    __device__ State(Memory& memory, int n, const Data&)
        : order(memory.take<int>(n)), place(memory.take<int>(n)), before(memory.take<int>(n)),
          after(memory.take<int>(n)), head(memory.take<int>(n)), tail(memory.take<int>(n)),
          path(memory.take<int>(n)), item(memory.take<int>(n)), mark(memory.take<int>(n)),
          length(0), last(0), turn(0) {}
};

// Moves operation u behind v (`is_right`) or v in front of u; u is before v in a block of critical
// operations of a machine.
struct Step {
    int u, v;
    bool is_right;
};

__device__ int job_before(const Data& data, int o) {
    return o > 0 && data.job[o - 1] == data.job[o] ? o - 1 : NONE;
}
__device__ int job_after(const Data& data, int n, int o) {
    return o + 1 < n && data.job[o + 1] == data.job[o] ? o + 1 : NONE;
}
__device__ int end_of(const State& state, const Data& data, int o) {
    return o == NONE ? 0 : state.head[o] + data.time[o];
}
__device__ int tail_of(const State& state, int o) { return o == NONE ? 0 : state.tail[o]; }

// Compute heads from a place on, tails before another one, and a critical path.
__device__ void follow(State& state, int n, const Data& data, int from, int to) {
    for (int i = from; i < n; ++i) {
        const int o = state.order[i];
        state.head[o] = max(end_of(state, data, job_before(data, o)),
                            end_of(state, data, state.before[o]));
    }
    for (int i = to; i >= 0; --i) {
        const int o = state.order[i];
        state.tail[o] = data.time[o] + max(tail_of(state, job_after(data, n, o)),
                                           tail_of(state, state.after[o]));
    }
    int last = 0, at = NONE;
    for (int j = 0; j < JOBS; ++j) {
        const int o = data.first[j + 1] - 1, end = end_of(state, data, o);
        if (end > last) last = end, at = o;
    }
    state.last = last;
    int length = 0;
    while (at != NONE) {
        state.path[length++] = at;
        const int a = job_before(data, at), b = state.before[at], head = state.head[at];
        const bool by_job = a != NONE && end_of(state, data, a) == head;
        const bool by_machine = b != NONE && end_of(state, data, b) == head;
        state.turn = state.turn * 1664525u + 1013904223u;
        if (by_job && by_machine) {
            at = state.turn >> 30 ? b : a;
        } else {
            at = by_machine ? b : by_job ? a : NONE;
        }
    }
    state.length = length;
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    int next[JOBS], last[MACHINES];
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
    for (int k = 0; k < MACHINES; ++k) last[k] = NONE;
    for (int i = 0; i < n; ++i) {
        const int o = next[data.job[s[i]]]++, k = data.machine[o];
        state.order[i] = o, state.place[o] = i;
        state.before[o] = last[k], state.after[o] = NONE;
        if (last[k] != NONE) state.after[last[k]] = o;
        last[k] = o;
        state.mark[o] = 0;
        state.turn = state.turn * 1664525u + o;
    }
    follow(state, n, data, 0, n - 1);
}

// Propose to move an operation of a block to one of its ends, or past its neighbour. Other moves
// cannot shorten the critical path.
__device__ bool propose(const State& state, const Solution&, int n, const Data& data,
                        Random& random, Step& step) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        const int i = random.below(state.length), o = state.path[i], k = data.machine[o];
        int first = i, last = i;  // the path leads backwards, so that the block begins at `last`
        while (first > 0 && i - first < REACH && data.machine[state.path[first - 1]] == k) --first;
        while (last + 1 < state.length && last - i < REACH &&
               data.machine[state.path[last + 1]] == k) {
            ++last;
        }
        if (first == last) continue;
        const int kind = random.below(4);
        const int to = kind == 0 ? first : kind == 1 ? last : kind == 2 ? i - 1 : i + 1;
        if (to == i || to < first || to > last) continue;
        if (to < i) {
            step = {o, state.path[to], true};
            const int next = job_after(data, n, o);
            if (i - to == 1 || tail_of(state, step.v) >= tail_of(state, next)) return true;
        } else {
            step = {state.path[to], o, false};
            const int back = job_before(data, o);
            if (to - i == 1 ||
                end_of(state, data, step.u) >= end_of(state, data, back)) {
                return true;
            }
        }
    }
    return false;
}

// Estimate the change: the longest path through the operations that move. It is exact if
// neighbours are exchanged and the last job ends later.
__device__ long long change(const State& state, const Solution&, int n, const Data& data,
                            Step step) {
    int block[2 * REACH + 2], head[2 * REACH + 2], size = 0;
    if (!step.is_right) block[size++] = step.v;
    for (int o = step.is_right ? state.after[step.u] : step.u;; o = state.after[o]) {
        if (o != step.v || step.is_right) block[size++] = o;
        if (o == step.v) break;
    }
    if (step.is_right) block[size++] = step.u;
    int ready = end_of(state, data, state.before[step.u]);
    for (int i = 0; i < size; ++i) {
        head[i] = max(ready, end_of(state, data, job_before(data, block[i])));
        ready = head[i] + data.time[block[i]];
    }
    int tail = tail_of(state, state.after[step.v]), longest = 0;
    for (int i = size - 1; i >= 0; --i) {
        const int o = block[i];
        tail = data.time[o] + max(tail, tail_of(state, job_after(data, n, o)));
        longest = max(longest, head[i] + tail);
    }
    return longest - state.last;
}

__device__ void link(State& state, int a, int b) {
    if (a != NONE) state.after[a] = b;
    if (b != NONE) state.before[b] = a;
}

// Move u behind v in the list of their machine, or v in front of u.
__device__ void relink(State& state, const Step& step) {
    const int u = step.u, v = step.v;
    if (step.is_right) {
        const int next = state.after[v];
        link(state, state.before[u], state.after[u]);
        link(state, v, u), link(state, u, next);
    } else {
        const int back = state.before[u];
        link(state, state.before[v], state.after[v]);
        link(state, back, v), link(state, v, u);
    }
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const int first = state.place[step.u], end = state.place[step.v];
    const int old = state.last, back = state.before[step.v], next = state.after[step.u];
    relink(state, step);
    const auto is_marked = [&](int o) { return o != NONE && state.mark[o]; };
    // Mark what must follow u, or what must precede v.
    bool is_cycle;
    if (step.is_right) {
        state.mark[step.u] = 1;
        for (int i = first + 1; i <= end; ++i) {
            const int o = state.order[i];
            state.mark[o] = is_marked(job_before(data, o)) || is_marked(state.before[o]);
        }
        is_cycle = state.mark[step.v];
    } else {
        state.mark[step.v] = 1;
        for (int i = end - 1; i >= first; --i) {
            const int o = state.order[i];
            state.mark[o] = is_marked(job_after(data, n, o)) || is_marked(state.after[o]);
        }
        is_cycle = state.mark[step.u];
    }
    if (is_cycle) {  // only if operations take no time, or if they are not neighbours
        for (int i = first; i <= end; ++i) state.mark[state.order[i]] = 0;
        if (step.is_right) {
            const int behind = state.after[step.u];
            link(state, state.before[next], step.u), link(state, step.u, next);
            link(state, step.v, behind);
        } else {
            const int ahead = state.before[step.v];
            link(state, ahead, step.u);
            const int follower = state.after[back];
            link(state, back, step.v), link(state, step.v, follower);
        }
        return 0;
    }
    // The order of the operations in between: those without a mark, then the others; to the left,
    // the reverse.
    int at = first;
    for (int i = first; i <= end; ++i) state.item[i] = s[i], state.path[i] = state.order[i];
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = first; i <= end; ++i) {
            const int o = state.path[i];
            if (state.mark[o] != (step.is_right ? pass : 1 - pass)) continue;
            state.order[at] = o, state.place[o] = at;
            s.set(at++, state.item[i]);
        }
    }
    for (int i = first; i <= end; ++i) state.mark[state.order[i]] = 0;
    follow(state, n, data, first, end);
    return state.last - old;
}
"""


def job_shop(
    machines: Rows,
    times: Rows,
    *,
    release: Sequence[int] | None = None,
    due: Sequence[int] | None = None,
    weights: Sequence[int] | None = None,
    objective: str = "makespan",
    name: str | None = None,
    best_known: float | None = None,
) -> Model:
    """Return the problem of the schedule whose last job ends first, or whose jobs are late least.

    Operation k of job j takes `times[j][k]` on machine `machines[j][k]`, without interruption and
    after the operations of the job before it. A machine processes one operation at a time. If an
    operation may use one of several machines, both are lists: of machines, and of the time on each.

    Job j begins at `release[j]` or later. With the objective "tardiness" instead of "makespan", the
    cost is the sum of `weights[j]` times the time by which job j ends after `due[j]`, its weighted
    tardiness; without weights, each is 1.

    A solution is an order of all operations, numbered job by job: the k-th item of a job stands
    for its k-th operation, which begins as soon as its job and its machine are free. With lists, it
    is an order of all choices, of which the first of each operation counts.

    >>> problem = islands.models.job_shop([[0, 1], [1, 0]], [[3, 2], [4, 1]])
    >>> islands.solve(problem, generations=20).cost
    6
    """
    if objective not in OBJECTIVES:
        raise UsageError(unknown("objective", objective, OBJECTIVES))
    _refuse_other_rows(machines, times)
    if (
        any(each is not None for each in (release, due, weights))
        or objective != "makespan"
        or has_choices(machines)
    ):
        dates = Dates.of(len(times), objective, release, due, weights)
        return stated(FlexibleShop.of(machines, times, dates), name, best_known)
    shop = Shop.of(machines, times)
    words = {"JOBS": str(len(shop.first) - 1), "MACHINES": str(int(shop.machine.max()) + 1)}

    def filled(text: str) -> str:
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    def ends(orders: NDArray[Any]) -> NDArray[Any]:
        return np.array([max(end for *_, end in shop.schedule(order)) for order in orders])

    return permutation(
        len(shop.time),
        cost=filled(_COST),
        state=filled(_STATE),
        data={"first": shop.first, "job": shop.job, "machine": shop.machine, "time": shop.time},
        reference=ends,
        name=name or f"jobshop-{len(shop.first) - 1}x{words['MACHINES']}",
        best_known=best_known,
        plot=lambda solution, axes: draw_gantt(axes, shop.schedule(solution)),
    )


@dataclass(frozen=True)
class Shop:
    """The operations of all jobs, job by job."""

    first: NDArray[np.int32]
    """The first operation of each job, and the number of all operations."""
    job: NDArray[np.int32]
    machine: NDArray[np.int32]
    time: NDArray[np.int32]

    @classmethod
    def of(cls, machines: Rows, times: Rows) -> Shop:
        """Return the operations of these jobs; refuse what is no job shop."""
        _refuse_other_rows(machines, times)
        first = np.cumsum([0, *(len(each) for each in times)]).astype(np.int32)
        job = np.repeat(np.arange(len(times), dtype=np.int32), np.diff(first))
        found = [whole(name, rows) for name, rows in (("machines", machines), ("times", times))]
        if int(found[1].sum()) >= 2**30:
            raise UsageError("times: their sum exceeds 2**30. Use a larger unit of time")
        if int(found[0].max()) >= 10_000:
            raise UsageError(f"machines: {found[0].max()} is above 9999. Number them from 0")
        return cls(first, job, found[0].astype(np.int32), found[1].astype(np.int32))

    def schedule(self, order: Sequence[int] | NDArray[Any]) -> list[tuple[int, int, int, int]]:
        """Return job, machine, begin and end of each operation, as an order begins them."""
        ready: dict[int, int] = {}
        free: dict[int, int] = {}
        rows = []
        left = self.first[:-1].tolist()
        for j in self.job[np.asarray(order)].tolist():
            o = left[j]
            left[j] += 1
            k = int(self.machine[o])
            begin = max(ready.get(j, 0), free.get(k, 0))
            ready[j] = free[k] = begin + int(self.time[o])
            rows.append((j, k, begin, ready[j]))
        return rows

    def bound(self) -> int:
        """Return a lower bound: of each job, and of each machine with the least time around it."""
        jobs = np.add.reduceat(self.time, self.first[:-1])
        before = np.concatenate([np.cumsum(each) - each for each in self._by_job()])
        after = jobs[self.job] - before - self.time
        machines = [
            int(before[own].min() + self.time[own].sum() + after[own].min())
            for k in np.unique(self.machine)
            for own in [self.machine == k]
        ]
        return max(int(jobs.max()), *machines)

    def _by_job(self) -> list[NDArray[np.int32]]:
        return np.split(self.time, self.first[1:-1])


def _refuse_other_rows(machines: Rows, times: Rows) -> None:
    """Refuse rows of which some lack a machine or a time."""
    if len(machines) != len(times) or not len(times):
        raise UsageError(
            f"machines has {len(machines)} rows and times {len(times)}. Pass a row for each"
            " job in both"
        )
    for j, (own, each) in enumerate(zip(machines, times, strict=True)):
        if len(own) != len(each) or not len(own):
            raise UsageError(
                f"job {j} has {len(own)} machines and {len(each)} times. Pass a machine and a"
                " time for each operation"
            )


def read(path: Path) -> Model:
    """Return the problem in a file: jobs and machines; for each job, pairs of machine and time."""
    words = Words(path)
    jobs, machines = words.numbers(2, "sizes", 1, 100_000)
    rows = [words.numbers(2 * machines, f"numbers of job {j}") for j in range(jobs)]
    words.end()
    with refusing(path):
        return job_shop([row[::2] for row in rows], [row[1::2] for row in rows])
