"""Facility location: assign customers to sites with limited capacities, which cost money if open.

python facility_location.py [SECONDS]      mpirun -n 2 python facility_location.py
islands run facility_location.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# The cost of a solution, and the total excess of loads over capacities.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int j = 0; j < data.sites; ++j) {
        bool is_open = false;
        for (int i = 0; i < n; ++i) is_open |= s[i] == j;
        sum += is_open ? data.opening[j] : 0;
    }
    for (int i = 0; i < n; ++i) sum += data.distance[s[i] * n + i];
    return sum;
}

__device__ long long violation(const Solution& s, int n, const Data& data) {
    long long above = 0;
    for (int j = 0; j < data.sites; ++j) {
        int load = 0;
        for (int i = 0; i < n; ++i) load += s[i] == j ? data.demand[i] : 0;
        above += max(0, load - data.capacity[j]);
    }
    return above;
}
"""

# The loads and numbers of customers of all sites, which determine the change by a move.
STATE = """
struct State {
    int *load, *customers;
    __device__ State(Memory& memory, int n, const Data& data)
        : load(memory.take<int>(data.sites)), customers(memory.take<int>(data.sites)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int j = 0; j < data.sites; ++j) state.load[j] = state.customers[j] = 0;
    for (int i = 0; i < n; ++i) state.load[s[i]] += data.demand[i], ++state.customers[s[i]];
}

// Return the change in cost of a site with this additional demand and number of customers.
__device__ Change of_site(const State& state, const Data& data, int j, int demand, int customers) {
    const int load = state.load[j], before = state.customers[j], most = data.capacity[j];
    const int opening = (before + customers > 0) - (before > 0);
    return {opening * data.opening[j], max(0, load + demand - most) - max(0, load - most)};
}

__device__ Change change(const State& state, const Solution& s, int n, const Data& data, Set move) {
    const int i = move.item, from = s[i], to = move.value, demand = data.demand[i];
    const Change less = of_site(state, data, from, -demand, -1);
    const Change more = of_site(state, data, to, demand, 1);
    const int way = data.distance[to * n + i] - data.distance[from * n + i];
    return {less.cost + more.cost + way, less.violation + more.violation};
}

__device__ void apply(State& state, const Solution& s, int n, const Data& data, Set move) {
    const int i = move.item, from = s[i], to = move.value;
    state.load[from] -= data.demand[i], --state.customers[from];
    state.load[to] += data.demand[i], ++state.customers[to];
}

__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Swap move) {
    const int u = move.u, v = move.v, a = s[u], b = s[v], more = data.demand[v] - data.demand[u];
    const int* d = data.distance;
    const int way = d[b * n + u] + d[a * n + v] - d[a * n + u] - d[b * n + v];
    return {way, of_site(state, data, a, more, 0).violation +
                     of_site(state, data, b, -more, 0).violation};
}

__device__ void apply(State& state, const Solution& s, int n, const Data& data, Swap move) {
    const int more = data.demand[move.v] - data.demand[move.u];
    state.load[s[move.u]] += more, state.load[s[move.v]] -= more;
}
"""


def make(sites: int, customers: int, seed: int = 1) -> islands.Problem:
    """Return random sites and customers in a square, with three times the necessary capacity."""
    random = np.random.default_rng(seed)
    places = random.integers(0, 101, (sites + customers, 2))
    steps = places[:sites, np.newaxis] - places[sites:]
    demand = random.integers(5, 15, customers).astype(np.int32)
    data = {
        "sites": sites,
        "distance": np.rint(np.hypot(steps[..., 0], steps[..., 1])).astype(np.int32),
        "opening": random.integers(80, 160, sites).astype(np.int32),
        "capacity": (demand.sum() * 3 // sites + random.integers(0, 30, sites)).astype(np.int32),
        "demand": demand,
    }

    def costs(chosen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        is_at = chosen[:, np.newaxis] == np.arange(sites)[:, np.newaxis]  # solution, site, customer
        cost = (is_at * data["distance"]).sum(axis=(1, 2)) + is_at.any(axis=2) @ data["opening"]
        above = np.maximum(0, is_at @ demand - data["capacity"])
        return cost, above.sum(axis=1)

    return islands.choices(
        customers,
        sites,
        cost=COST,
        violation=COST,
        state=STATE,
        data=data,
        reference=costs,
        name=f"facilities-{sites}x{customers}",
    )


problem = make(sites=30, customers=100)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("cost", result.cost, "open sites", np.unique(np.asarray(result.solution)))
