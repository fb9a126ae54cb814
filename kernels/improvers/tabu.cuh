// Robust tabu search (Taillard 1991) on orders: each step applies the best exchange that is
// allowed, even if it raises the cost. Reads the order, replaces it by the best one found, and
// returns its cost. PROBLEM_TILES: GPUs use a faster version. TABU_CHECKS_STOP: long searches check
// for stop requests on GPUs, which makes steps of a microsecond 5 % slower. Random streams: TENURE
// (prohibitions.cuh).
#pragma once

#ifndef TABU_CHECKS_STOP
#define TABU_CHECKS_STOP 0
#endif

#if defined(__CUDACC__) && defined(PROBLEM_TILES) && !TABU_ASPIRATION
#include "improvers/tabu_tiles.cuh"
#else

#include "improvers/base.cuh"
#include "improvers/prohibitions.cuh"

namespace improver {

constexpr bool ACTIVE = true, TAKES_LONG = true;

namespace tabu {

// Prepare for the deltas of a step.
template <class Deltas>
__device__ void begin_step(Deltas& deltas) {
    if constexpr (Deltas::EVALUATES) deltas.begin_step();
}

// Return the deltas of a run of pairs.
template <class Deltas>
__device__ decltype(auto) advanced(Deltas& deltas, int run, const block::Triangle::Place& at,
                                   Lookout& lookout) {
    if constexpr (Deltas::EVALUATES) {
        return deltas.advance(run, at, lookout);
    } else {
        return deltas.advance(run, at);
    }
}

// The best exchange of a step; in a tie, the first one. Each thread adds its runs in ascending
// order.
class Best {
  public:
    __device__ explicit Best(const block::Triangle& triangle) : triangle_(triangle) {
#ifndef __CUDACC__
        for (Lanes& low : low_) low = Lanes{} + Least::NONE;
        for (Lanes& run : run_) run = Lanes{};
#endif
    }

    __device__ void add(const Prohibitions& prohibitions, const Scale& scale,
                        const block::Run<Delta>& delta, int run, const block::Triangle::Place& at) {
#ifdef __CUDACC__
        block::Run<Delta> value;
        prohibitions.values(scale, delta, run, [&](int k, Delta own) { value.item[k] = own; });
        Delta least = Least::NONE;
        block::along_run([&](int k) { least = min(least, value.item[k]); });
        if (least < mine_.value) {
            int first = block::RUN - 1;
            for (int k = block::RUN - 2; k >= 0; --k) first = value.item[k] == least ? k : first;
            mine_ = {least, uint32_t(at.i) << 16 | uint32_t(at.j + first)};
        }
#else
        for (int part = 0; part < PARTS; ++part) {
            const Lanes value = prohibitions.values(scale, delta, run, part);
            const auto is_better = value < low_[part];
            low_[part] = is_better ? value : low_[part];
            run_[part] = is_better ? Lanes{} + run : run_[part];
        }
#endif
    }

    // Return the best exchange of all threads.
    __device__ Least found() {
#ifndef __CUDACC__
        Delta low[block::RUN], run[block::RUN];
        memcpy(low, low_, sizeof low);
        memcpy(run, run_, sizeof run);
        Delta least = Least::NONE, place = triangle_.entries();
        block::along_run([&](int k) { least = min(least, low[k]); });
        block::along_run(
            [&](int k) { place = min(place, low[k] == least ? run[k] * block::RUN + k : place); });
        const auto [i, j] = triangle_.place(int(place / block::RUN));
        mine_ = {least, uint32_t(i) << 16 | uint32_t(j + place % block::RUN)};
#endif
        return block::least(mine_);
    }

  private:
    const block::Triangle& triangle_;
    Least mine_;
#ifndef __CUDACC__
    static constexpr int PARTS = block::RUN / lanes::COUNT<Delta>;
    static_assert(block::RUN % lanes::COUNT<Delta> == 0, "PAIRS_A_RUN % lanes must be 0");

    Lanes low_[PARTS], run_[PARTS];  // per lane
#endif
};

}  // namespace tabu

struct Workspace {
    block::Triangle triangle;
    tabu::Prohibitions prohibitions;
    problem::SwapDeltas deltas;
    int32_t* best_order;

    __device__ Workspace(Scratch& scratch, const Plan&, const int32_t* order, int n,
                         const problem::Data& data)
        : triangle(scratch, n, problem::SwapDeltas::after(data)),
          prohibitions(scratch, n, triangle),
          deltas(scratch, order, n, data, triangle),
          best_order(scratch.take<int32_t>(n)) {}
};

// Return the best cost found, with its order in `order`. Each step counts as one evaluation per
// pair.
__device__ int64_t improve(const Plan& plan, Scratch scratch, int32_t* order, int n,
                           const problem::Data& data, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    using namespace tabu;
    if (n < 2) return cost;
    Workspace workspace(scratch, plan, order, n, data);
    block::Triangle& triangle = workspace.triangle;
    Prohibitions& prohibitions = workspace.prohibitions;
    problem::SwapDeltas& deltas = workspace.deltas;
    int32_t* const best_order = workspace.best_order;
    triangle.begin();
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) best_order[i] = order[i];
    prohibitions.begin();
    deltas.begin();
    __syncthreads();

    int64_t best = cost;
    moves::Swap swap{};
    int32_t p = 0, q = 0;  // the exchanged entries
    bool moved = false, improved = false;
    // Each thread applies its part of the exchange found in the previous step.
    const auto follow = [&] {
        for (int i = block::from_last(); i < n; i += blockDim.x) {
            const int32_t entry = i == swap.u ? q : i == swap.v ? p : order[i];
            order[i] = entry;
            if (improved) best_order[i] = entry;
        }
    };
    Scale scale(plan.aspiration);
    Lookout lookout(plan);
    // Deltas that are evaluated check for stop requests themselves; other steps are short on a GPU.
    const auto halts_step = [&] {
        return !problem::SwapDeltas::EVALUATES && POLLING_IS_CHEAP && halt_requested(plan);
    };
    for (int now = 0; now < plan.steps; ++now) {
        if (lookout.halts()) break;
        if (moved) {
            follow();
            deltas.follow(swap);
        }
        if (now % DRAWN_AT_ONCE == 0) {
#if TABU_CHECKS_STOP
            if (now > 0 && halts(plan)) break;
#endif
            prohibitions.draw_tenures(plan, now, place);
        }
        scale.now = now;
        tabu::begin_step(deltas);
        tabu::Best best_of_step(triangle);
        triangle.each_run(halts_step, [&](int run, const block::Triangle::Place& at) {
            const auto& delta = tabu::advanced(deltas, run, at, lookout);
            best_of_step.add(prohibitions, scale, delta, run, at);
        });
        const Least found = best_of_step.found();
        moved = found.value != Least::NONE;
        improved = false;
        if (moved) {
            const Delta by = scale.delta(found.value);
            swap = {int(found.index >> 16), int(found.index & 0xffffu)};
            p = order[swap.u], q = order[swap.v];
            cost += by;
            improved = cost < best;
            if (improved) best = cost;
            scale.aspire(best - cost);
            deltas.announce(swap, by);
            prohibitions.forbid(swap, now);
        } else {
            deltas.rest();
        }
        __syncthreads();
    }
    if (moved) follow();
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = best_order[i];
    __syncthreads();
    calls += plan.steps * triangle.pairs();
    return best;
}

}  // namespace improver

#endif
