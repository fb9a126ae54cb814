// Robust tabu search with the same results as tabu.cuh, for problems whose deltas a GPU keeps in
// tiles: each thread has one tile in its registers. Reads the order, replaces it by the best one
// found, and returns its cost.
// Random streams: TENURE (tenures.cuh).
#pragma once

#include PROBLEM_TILES
#include "improvers/base.cuh"
#include "improvers/tenures.cuh"

namespace improver {

constexpr bool ACTIVE = true, TAKES_LONG = true;

namespace tabu {

using Tiles = problem::TileDeltas;
using Tile = Tiles::Tile;
using Least = block::Least<int32_t>;

// The tabu list: for each item and place, the step until which the item may not return there.
class Prohibitions {
  public:
    __device__ Prohibitions(Scratch& scratch, int n)
        : n_(n),
          pitch_(n | 1),
          expiry_(scratch.take<Step>(n * pitch_)),
          tiles_(Tile::count(n)),
          first_(scratch.take<uint32_t>(WORDS * tiles_)),
          tenures_(scratch) {}

    // Visible to all threads after the next barrier.
    __device__ void begin() {
        for (int e = threadIdx.x; e < n_ * pitch_; e += blockDim.x) expiry_[e] = 0;
        for (int k = threadIdx.x; k < WORDS * tiles_; k += blockDim.x) first_[k] = 0;
    }

    __device__ void draw_tenures(const Plan& plan, int now, const draw::Place& place) {
        tenures_.draw(plan, now, place);
    }

    // Forbid one of two exchanged items to return to its old place, and update the entry of its
    // pair with item j. `order` is the order before the exchange.
    __device__ void forbid(moves::Swap swap, bool of_second, int j, int now, const int32_t* order) {
        const int f = of_second ? swap.v : swap.u, o = of_second ? swap.u : swap.v;
        if (j == f) return;
        Step first;
        if (j == o) {
            const Step of_first = tenures_.expiry(now, 0), of_other = tenures_.expiry(now, 1);
            expiry_[f * pitch_ + order[f]] = of_second ? of_other : of_first;
            first = min(of_first, of_other);
        } else {
            first = min(expiry_[f * pitch_ + order[j]], expiry_[j * pitch_ + order[o]]);
        }
        const int i = min(f, j), k = max(f, j);
        const int c = i % Tile::SIDE * Tile::SIDE + k % Tile::SIDE;
        const int word = c / 2 * tiles_ + Tile::number(i, k, n_);
        reinterpret_cast<Step*>(first_ + word)[c % 2] = first;
    }

    // Return, in one word, the steps from which two neighbouring pairs of this thread's tile may
    // be exchanged.
    __device__ uint32_t first_of_two(int word) const { return first_[word * tiles_ + threadIdx.x]; }

  private:
    static constexpr int WORDS = (Tile::PAIRS + 1) / 2;

    const int n_, pitch_;
    Step* const expiry_;  // [item][place]
    const int tiles_;
    // [pair of a tile / 2][tile]: a word for two pairs, one in each half: the step from which at
    // least one of the two items may return to its place, so that the exchange is allowed.
    uint32_t* const first_;
    Tenures tenures_;
};

// Return the best exchange in a tile, among those that are allowed or whose delta is below
// `aspired`; in a tie, the first.
__device__ Least least(const Tile& tile, const float (&delta)[Tile::PAIRS],
                       const Prohibitions& prohibitions, int now, float aspired) {
    if (!tile.exists()) return {};
    float low = Tiles::NONE, lowest = Tiles::NONE;
    int at = 0;
    const uint32_t after = uint32_t(now + 1) << 16;  // a word whose high half is the next step
    uint32_t word = 0;
    tile.each([&](int c, int, int) {
        if (c % 2 == 0) word = prohibitions.first_of_two(c / 2);
        const bool is_allowed = c % 2 == 0 ? (word & 0xffffu) <= uint32_t(now) : word < after;
        lowest = fminf(lowest, delta[c]);
        const bool is_better = is_allowed && delta[c] < low;
        low = is_better ? delta[c] : low;
        at = is_better ? c : at;
    });
    if (lowest < aspired) {
        low = lowest;
#pragma unroll
        for (int c = Tile::PAIRS - 1; c >= 0; --c) at = delta[c] == lowest ? c : at;
    }
    if (!(low < Tiles::NONE)) return {};
    const int i = tile.i + at / Tile::SIDE, j = tile.j + at % Tile::SIDE;
    return {int32_t(low), uint32_t(i) << 16 | uint32_t(j)};
}

}  // namespace tabu

struct Workspace {
    tabu::Prohibitions prohibitions;
    tabu::Tiles deltas;
    int32_t* best_order;

    __device__ Workspace(Scratch& scratch, const Plan&, const int32_t* order, int n,
                         const problem::Data& data)
        : prohibitions(scratch, n),
          deltas(scratch, order, n, data),
          best_order(scratch.take<int32_t>(n)) {}
};

// Return the best cost found, with its order in `order`, as in tabu.cuh.
__device__ int64_t improve(const Plan& plan, Scratch scratch, int32_t* order, int n,
                           const problem::Data& data, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    using namespace tabu;
    if (n < 2) return cost;
    Workspace workspace(scratch, plan, order, n, data);
    Prohibitions& prohibitions = workspace.prohibitions;
    Tiles& deltas = workspace.deltas;
    int32_t* const best_order = workspace.best_order;
    const Tile tile = Tile::of(threadIdx.x, n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) best_order[i] = order[i];
    prohibitions.begin();
    deltas.begin();
    float delta[Tile::PAIRS];
    deltas.start(tile, delta);

    int64_t best = cost;
    for (int now = 0; now < plan.steps; ++now) {
        if (now % DRAWN_AT_ONCE == 0) {
#if TABU_CHECKS_STOP
            if (now > 0 && halts(plan)) break;
#endif
            prohibitions.draw_tenures(plan, now, place);
        }
        const float aspired = float(max(best - cost, -int64_t(Tiles::NONE)));
        const Least found = block::least(least(tile, delta, prohibitions, now, aspired));
        if (found.value == Least::NONE) {
            __syncthreads();
            continue;
        }
        const moves::Swap swap{int(found.index >> 16), int(found.index & 0xffffu)};
        const int p = order[swap.u], q = order[swap.v];
        cost += found.value;
        const bool improved = cost < best;
        if (improved) best = cost;
#pragma unroll 1
        for (int t = threadIdx.x; t < 2 * n; t += blockDim.x) {
            const bool of_second = t >= n;
            const int j = of_second ? t - n : t;
            deltas.announce(swap, found.value, of_second, j);
            prohibitions.forbid(swap, of_second, j, now, order);
        }
        __syncthreads();
        for (int i = block::from_last(); i < n; i += blockDim.x) {
            const int32_t entry = i == swap.u ? q : i == swap.v ? p : order[i];
            order[i] = entry;
            if (improved) best_order[i] = entry;
        }
        deltas.follow(swap);
        deltas.advance(tile, swap, delta);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = best_order[i];
    __syncthreads();
    calls += int64_t(plan.steps) * (n * (n - 1) / 2);
    return best;
}

}  // namespace improver
