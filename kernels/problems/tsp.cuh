// The travelling salesman problem: the length of the closed tour, rounded as in TSPLIB, and its
// change by a move. TSP_METRIC: distances come from coordinates (in double precision: float32 is
// off by one on some edges), from a symmetric matrix, or from a matrix of legs, which may be
// asymmetric, with legs that are forbidden or join two cities: see problems/legs.cuh. Reads the
// coordinates or distances and the tour; returns lengths. No random numbers.
#pragma once

#include "core/core.cuh"
#include "moves.cuh"

#define TSP_EUC_2D 1
#define TSP_CEIL_2D 2
#define TSP_ATT 3
#define TSP_MATRIX 4
#define TSP_LEGS 5

// Whether distances come from an array.
#define TSP_IS_MATRIX (TSP_METRIC == TSP_MATRIX || TSP_METRIC == TSP_LEGS)

#if TSP_METRIC == TSP_LEGS
#include "problems/legs.cuh"
#endif

namespace problem {

#if TSP_METRIC == TSP_MATRIX

struct Data {
    const int32_t* distance;
};

struct City {
    int index;
};

__device__ City city(const Data&, int, int index) { return {index}; }

__device__ int64_t distance(const Data& data, int n, City a, City b) {
    return data.distance[int64_t(a.index) * n + b.index];
}

#elif TSP_METRIC != TSP_LEGS

struct Data {
    const double2* coordinates;
};

using City = double2;

__device__ City city(const Data& data, int, int index) { return data.coordinates[index]; }

__device__ int64_t distance(const Data&, int, City a, City b) {
    const double dx = a.x - b.x, dy = a.y - b.y;
#if TSP_METRIC == TSP_EUC_2D
    return int64_t(sqrt(dx * dx + dy * dy) + 0.5);
#elif TSP_METRIC == TSP_CEIL_2D
    const double exact = sqrt(dx * dx + dy * dy);
    const int64_t below = int64_t(exact);
    return below + (below < exact);
#elif TSP_METRIC == TSP_ATT
    const double exact = sqrt((dx * dx + dy * dy) / 10.0);
    const int64_t nearest = int64_t(exact + 0.5);
    return nearest + (nearest < exact);
#endif
}

#endif

// A thread processes runs of four edges, so it reads five cities instead of eight.
template <class Order>
__device__ int64_t cost(const Order& order, int n, const Data& data) {
    int64_t length = 0;
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) {
        const uint4 four = order.four(i);
        const int edges = min(4, n - i);
        const City a = city(data, n, four.x);
        const City next = city(data, n, order[i + edges < n ? i + edges : 0]);
        const City b = edges > 1 ? city(data, n, four.y) : next;
        const City c = edges > 2 ? city(data, n, four.z) : next;
        const City d = edges > 3 ? city(data, n, four.w) : next;
        length += distance(data, n, a, b);
        if (edges > 1) length += distance(data, n, b, c);
        if (edges > 2) length += distance(data, n, c, d);
        if (edges > 3) length += distance(data, n, d, next);
#if TSP_METRIC == TSP_LEGS
        for (int k = 0; k < edges; ++k) length += price_of_join(data, n, order[i + k]);
#endif
    }
    return block::sum(length);
}

// An order as a cycle of cities.
struct Cycle {
    const int32_t* order;
    int n;
    const Data& data;

    __device__ City at(int position) const { return city(data, n, order[position]); }
    __device__ City before(int position) const { return at(position > 0 ? position - 1 : n - 1); }
    __device__ City after(int position) const { return at(position < n - 1 ? position + 1 : 0); }
    __device__ int64_t edge(City a, City b) const { return distance(data, n, a, b); }
};

// Up to this number of cities, all tours have the same length, unless it depends on the direction.
constexpr int FEW = TSP_METRIC == TSP_LEGS ? 2 : 3;

// Return how much longer the path from position u to v is in the opposite direction.
__device__ int64_t turned(const Cycle& tour, int u, int v) {
    int64_t change = 0;
#if TSP_METRIC == TSP_LEGS
    for (int i = u; i < v; ++i) {
        const City a = tour.at(i), b = tour.at(i + 1);
        change += tour.edge(b, a) - tour.edge(a, b);
    }
#endif
    return change;
}

// Return how much a move lengthens the tour. Tours that differ only in their start have the same
// length.
__device__ int64_t delta(const int32_t* order, int n, const Data& data, moves::Reversal move) {
    if (n <= FEW) return 0;
    const Cycle tour{order, n, data};
    const bool is_whole = move.u == 0 && move.v == n - 1;
    if (is_whole && TSP_METRIC != TSP_LEGS) return 0;
    const City u = tour.at(move.u), v = tour.at(move.v);
    const int64_t inside = turned(tour, move.u, move.v);
    if (is_whole) return inside + tour.edge(u, v) - tour.edge(v, u);
    const City left = tour.before(move.u), right = tour.after(move.v);
    return inside + tour.edge(left, v) + tour.edge(u, right) - tour.edge(left, u) -
           tour.edge(v, right);
}

__device__ int64_t delta(const int32_t* order, int n, const Data& data, moves::Insertion move) {
    if (n <= FEW || (move.u == 0 && move.v == n - 1)) return 0;
    const Cycle tour{order, n, data};
    const City u = tour.at(move.u), v = tour.at(move.v);
    const City left = tour.before(move.u), next = tour.after(move.u), right = tour.after(move.v);
    return tour.edge(left, next) + tour.edge(v, u) + tour.edge(u, right)  //
           - tour.edge(left, u) - tour.edge(u, next) - tour.edge(v, right);
}

__device__ int64_t delta(const int32_t* order, int n, const Data& data, moves::Swap move) {
    if (n <= FEW) return 0;
    const Cycle tour{order, n, data};
    // If the two cities are adjacent, the edge between them stays, in the opposite direction.
    const bool ends = move.u == 0 && move.v == n - 1;
    const int first = ends ? move.v : move.u, second = ends ? move.u : move.v;
    const City a = tour.at(first), b = tour.at(second);
    const City before_a = tour.before(first), after_b = tour.after(second);
    int64_t change = tour.edge(before_a, b) + tour.edge(a, after_b)  //
                     - tour.edge(before_a, a) - tour.edge(b, after_b);
#if TSP_METRIC == TSP_LEGS
    if (ends || second == first + 1) change += tour.edge(b, a) - tour.edge(a, b);
#endif
    if (!ends && second > first + 1) {
        const City after_a = tour.after(first), before_b = tour.before(second);
        change += tour.edge(b, after_a) + tour.edge(before_b, a)  //
                  - tour.edge(a, after_a) - tour.edge(before_b, b);
    }
    return change;
}

}  // namespace problem
