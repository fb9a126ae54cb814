"""Rostering: assign early, late and night shifts and days off to nurses to suit their wishes.

python rostering.py [SECONDS]      mpirun -n 2 python rostering.py
islands run rostering.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

DAYS, OFF = 14, 3
NEEDED = [4, 4, 3]  # nurses in each shift on each day

# Entry i of a solution is the shift of nurse i / DAYS on day i % DAYS: 0 early, 1 late, 2 night,
# 3 off.
COST = """
constexpr int DAYS = 14, NIGHT = 2, OFF = 3;

__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += data.penalty[4 * i + s[i]];
    return sum;
}

// Return the number of violations by one nurse, whose shift on a day is shift(day).
template <class Shift>
__device__ int of_nurse(Shift shift) {
    int wrong = 0, worked = 0, nights = 0, in_a_row = 0, before = OFF;
    for (int day = 0; day < DAYS; ++day) {
        const int now = shift(day);
        worked += now != OFF, nights += now == NIGHT;
        in_a_row = now == OFF ? 0 : in_a_row + 1;
        wrong += in_a_row > 5;                                  // at most five days in a row
        wrong += before == NIGHT && now != NIGHT && now != OFF;  // after a night: a night or off
        before = now;
    }
    return wrong + max(0, worked - 9) + max(0, 7 - worked) + max(0, nights - 3);
}

__device__ long long violation(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int nurse = 0; nurse < n / DAYS; ++nurse) {
        sum += of_nurse([&](int day) { return s[nurse * DAYS + day]; });
    }
    for (int day = 0; day < DAYS; ++day) {
        for (int shift = 0; shift < OFF; ++shift) {
            int cover = 0;
            for (int i = day; i < n; i += DAYS) cover += s[i] == shift;
            sum += abs(cover - int(data.needed[shift]));
        }
    }
    return sum;
}
"""

# The number of nurses in each shift on each day, and of violations by each nurse.
STATE = """
struct State {
    int *cover, *wrong;
    __device__ State(Memory& memory, int n, const Data& data)
        : cover(memory.take<int>(4 * DAYS)), wrong(memory.take<int>(n / DAYS)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int k = 0; k < 4 * DAYS; ++k) state.cover[k] = 0;
    for (int i = 0; i < n; ++i) ++state.cover[i % DAYS * 4 + s[i]];
    for (int nurse = 0; nurse < n / DAYS; ++nurse) {
        state.wrong[nurse] = of_nurse([&](int day) { return s[nurse * DAYS + day]; });
    }
}

// Return the violations by the nurse of entry i if it is another shift.
__device__ int wrong_with(const Solution& s, int i, int other) {
    const int first = i / DAYS * DAYS;
    return of_nurse([&](int day) { return first + day == i ? other : s[first + day]; });
}

// Return how many nurses a shift lacks or has too many, with `more` additional nurses.
__device__ int missing(const State& state, const Data& data, int day, int shift, int more) {
    return shift == OFF ? 0 : abs(state.cover[4 * day + shift] + more - int(data.needed[shift]));
}

__device__ Change change(const State& state, const Solution& s, int n, const Data& data, Set move) {
    const int i = move.item, day = i % DAYS, from = s[i], to = move.value;
    const int cover = missing(state, data, day, from, -1) - missing(state, data, day, from, 0) +
                      missing(state, data, day, to, 1) - missing(state, data, day, to, 0);
    const int wrong = wrong_with(s, i, to) - state.wrong[i / DAYS];
    return {data.penalty[4 * i + to] - data.penalty[4 * i + from], cover + wrong};
}

__device__ void apply(State& state, const Solution& s, int n, const Data& data, Set move) {
    const int i = move.item, day = i % DAYS;
    --state.cover[4 * day + s[i]], ++state.cover[4 * day + move.value];
    state.wrong[i / DAYS] = wrong_with(s, i, move.value);
}

// An exchange of two nurses on the same day does not change its cover.
__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Swap move) {
    const int u = move.u, v = move.v, *penalty = data.penalty;
    const int cost = penalty[4 * u + s[v]] + penalty[4 * v + s[u]] - penalty[4 * u + s[u]] -
                     penalty[4 * v + s[v]];
    return {cost, wrong_with(s, u, s[v]) - state.wrong[u / DAYS] + wrong_with(s, v, s[u]) -
                      state.wrong[v / DAYS]};
}

__device__ void apply(State& state, const Solution& s, int n, const Data& data, Swap move) {
    state.wrong[move.u / DAYS] = wrong_with(s, move.u, s[move.v]);
    state.wrong[move.v / DAYS] = wrong_with(s, move.v, s[move.u]);
}
"""


def make(nurses: int, seed: int = 1) -> islands.Problem:
    """Return an instance with random wishes: a penalty from 0 to 9 for each shift on each day."""
    penalty = np.random.default_rng(seed).integers(0, 10, (nurses, DAYS, 4)).astype(np.int32)
    penalty[..., OFF] = 0

    def costs(rosters: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        shifts = rosters.reshape(len(rosters), nurses, DAYS)
        cost = np.take_along_axis(penalty[np.newaxis], shifts[..., np.newaxis], 3).sum((1, 2, 3))
        cover = (shifts[..., np.newaxis] == np.arange(OFF)).sum(axis=1)
        works, nights = shifts != OFF, shifts == 2
        worked = works.sum(axis=2)
        wrong = np.maximum(0, worked - 9) + np.maximum(0, 7 - worked)
        wrong += np.maximum(0, nights.sum(axis=2) - 3)
        wrong += (nights[..., :-1] & (shifts[..., 1:] < 2)).sum(axis=2)
        wrong += sum(works[..., day : day + 6].all(axis=2) for day in range(DAYS - 5))
        return cost, wrong.sum(axis=1) + np.abs(cover - NEEDED).sum(axis=(1, 2))

    return islands.choices(
        nurses * DAYS,
        4,
        groups=np.arange(nurses * DAYS) % DAYS,
        cost=COST,
        violation=COST,
        state=STATE,
        data={"penalty": penalty, "needed": np.array(NEEDED, np.int32)},
        reference=costs,
        name=f"roster-{nurses}x{DAYS}",
    )


problem = make(nurses=20)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("penalties", result.cost)
    for shifts in np.asarray(result.solution).reshape(-1, DAYS):
        print("".join("ELN."[shift] for shift in shifts))
