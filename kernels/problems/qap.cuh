// The quadratic assignment problem: cost() sums over all ordered pairs of items, delta() returns
// the change by a move. Solutions assign item i to place p(i). With QAP_SYMMETRIC, both matrices
// are symmetric, and off-diagonal entries of `a` count for both orders of a pair. With QAP_LINEAR,
// the type of a matrix, each item also has a cost at each place. Reads the matrices and solutions;
// returns costs. No random numbers.
#pragma once

#include "core/core.cuh"
#include "core/warp.cuh"
#include "moves.cuh"

namespace problem {

struct Data {
    const QAP_A* a;
    const QAP_B* b;
#ifdef QAP_LINEAR
    const QAP_LINEAR* linear;  // [item][place]
#endif
#if PROBLEM_CLASSES
    const int32_t* after;  // see core/triangle.cuh
#endif
};

using Cost = QAP_COST;    // represents any cost
using Small = QAP_DELTA;  // represents any product of differences

#ifdef QAP_LINEAR
constexpr bool HAS_LINEAR = true;
__device__ Small linear(const Data& data, int n, int i, int p) { return data.linear[i * n + p]; }
#else
constexpr bool HAS_LINEAR = false;
__device__ Small linear(const Data&, int, int, int) { return 0; }
#endif

// Return this thread's part of the linear terms of an assignment.
template <class Order>
__device__ Cost linear_part(const Order& order, int n, const Data& data) {
    Cost part = 0;
    if constexpr (HAS_LINEAR) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) part += linear(data, n, i, order[i]);
    }
    return part;
}

// Call visit(i, j) for each entry of `a` that contributes to the cost.
template <class Visit>
__device__ void entries(int n, Visit visit) {
    block::pairs(n, [&](int i, int j) {
        visit(i, j);
#if !QAP_SYMMETRIC
        visit(j, i);
#endif
    });
#if QAP_DIAGONAL
    for (int i = threadIdx.x; i < n; i += blockDim.x) visit(i, i);
#endif
}

template <class Order>
__device__ int64_t cost(const Order& order, int n, const Data& data) {
    Cost part = linear_part(order, n, data);
    entries(n, [&](uint32_t i, uint32_t j) {
        part += Cost(data.a[i * n + j]) * Cost(data.b[order[i] * n + order[j]]);
    });
    return block::sum(part);
}

struct Costs {
    int64_t first, second;
};

// Return the costs of two assignments; each entry of `a` is read only once.
template <class Order>
__device__ Costs costs(const Order& one, const Order& other, int n, const Data& data) {
    Cost part = linear_part(one, n, data), other_part = linear_part(other, n, data);
    entries(n, [&](uint32_t i, uint32_t j) {
        const Cost a = data.a[i * n + j];
        part += a * Cost(data.b[uint32_t(one[i] * n + one[j])]);
        other_part += a * Cost(data.b[uint32_t(other[i] * n + other[j])]);
    });
    const int64_t sum = block::sum(part);
    return {sum, block::sum(other_part)};
}

// Return the additional cost of items i and j at places p2 and q2 instead of p and q. Entries are
// subtracted before they are multiplied, as NVRTC 13.0 was seen to lose the sign of the difference
// of two products of narrow types.
__device__ int64_t raised_by(const Data& data, int n, int i, int j, int p, int q, int p2, int q2) {
    return Small(data.a[i * n + j]) * (Small(data.b[p2 * n + q2]) - Small(data.b[p * n + q]));
}

// Return the cost increase by a move, from the pairs in which one or both items move.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, Move move) {
    int64_t raised = 0;
    for (int i = move.u; i <= move.v; ++i) {
        const int p = order[i], p2 = order[move.source(i)];
        if constexpr (HAS_LINEAR) raised += linear(data, n, i, p2) - linear(data, n, i, p);
#if QAP_DIAGONAL
        raised += raised_by(data, n, i, i, p, p, p2, p2);
#endif
        const auto raised_with = [&](int j, int q, int q2) {
            int64_t more = raised_by(data, n, i, j, p, q, p2, q2);
#if !QAP_SYMMETRIC
            more += raised_by(data, n, j, i, q, p, q2, p2);
#endif
            return more;
        };
        for (int j = 0; j < move.u; ++j) raised += raised_with(j, order[j], order[j]);
        for (int j = i + 1; j <= move.v; ++j) {
            raised += raised_with(j, order[j], order[move.source(j)]);
        }
        for (int j = move.v + 1; j < n; ++j) raised += raised_with(j, order[j], order[j]);
    }
    return raised;
}

// The cost increase by the exchange of the entries u and v of an order. As transposing both
// matrices changes no cost, they may be read by rows or by columns: `down` and `right` are the
// strides of the two indices.
template <class Order>
struct Exchange {
    const Order& order;
    const int n;
    const Data& data;
    const int u, v, p, q, down, right;

    __device__ Exchange(const Order& order, int n, const Data& data, moves::Swap move,
                        bool by_columns)
        : order(order),
          n(n),
          data(data),
          u(move.u),
          v(move.v),
          p(order[u]),
          q(order[v]),
          down(by_columns ? n : 1),
          right(by_columns ? 1 : n) {}

    // Return the increase in the pairs of entry k with u and v.
    __device__ Small with(int k) const {
        const int r = order[k];
        Small raised = (a(k, u) - a(k, v)) * (b(r, q) - b(r, p));
#if !QAP_SYMMETRIC
        raised += (a(u, k) - a(v, k)) * (b(q, r) - b(p, r));
#endif
        return raised;
    }

    // Return the increase in the pair of u and v.
    __device__ Small between() const {
        Small raised = 0;
#if !QAP_SYMMETRIC
        raised += (a(u, v) - a(v, u)) * (b(q, p) - b(p, q));
#endif
#if QAP_DIAGONAL
        raised += (a(u, u) - a(v, v)) * (b(q, q) - b(p, p));
#endif
        if constexpr (HAS_LINEAR) {
            raised += linear(data, n, u, q) - linear(data, n, u, p);
            raised += linear(data, n, v, p) - linear(data, n, v, q);
        }
        return raised;
    }

  private:
    __device__ Small a(int i, int j) const { return data.a[i * down + j * right]; }
    __device__ Small b(int i, int j) const { return data.b[i * down + j * right]; }
};

// Return the cost increase by an exchange. A single thread reads the matrices by rows, which are
// contiguous; many threads, mostly with neighbouring v, read adjacent entries by columns.
__device__ int64_t delta(const int32_t* order, int n, const Data& data, moves::Swap move) {
    const Exchange<const int32_t*> exchange(order, n, data, move, blockDim.x > 1);
    Small raised = exchange.between() - exchange.with(move.u) - exchange.with(move.v);
    for (int k = 0; k < n; ++k) raised += exchange.with(k);
    return raised;
}

// Return one thread's part of the delta; `threads` neighbouring threads read rows together.
#define PROBLEM_DELTA_PARTS
template <class Order>
__device__ Small delta_part(const Order& order, int n, const Data& data, moves::Swap move,
                            int thread, int threads) {
    const Exchange<Order> exchange(order, n, data, move, false);
    // A single thread subtracts the two entries from the sum again, which is faster.
    constexpr bool is_alone = warp::SIZE == 1;
    Small raised = thread == 0 ? exchange.between() : 0;
    if (is_alone) raised -= exchange.with(move.u) + exchange.with(move.v);
    for (int k = thread; k < n; k += threads) {
        if (is_alone || (k != move.u && k != move.v)) raised += exchange.with(k);
    }
    return raised;
}

}  // namespace problem
