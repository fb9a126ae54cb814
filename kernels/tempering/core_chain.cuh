// The Markov chain of a replica of a knapsack problem: proposes to exchange each chosen item of the
// core in turn for each free one, and accepts by the Metropolis rule; see core_state.cuh for
// energies. The first accepted exchange is applied. A feasible subset with a new highest profit is
// always accepted. The threads of a block evaluate consecutive free items. Logarithms of random
// numbers are read from a table: a random word selects the position for the first of 16 proposals.
// Reads the tables of the plan; changes the subset, and keeps the best feasible one. Random
// streams: PROPOSALS, BEGIN; draw() uses the one passed by the caller.
#pragma once

#include "improvers/base.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/base.cuh"
#include "tempering/core_state.cuh"

namespace tempering {

using Delta = int64_t;

class Chain : public BaseChain {
  public:
    __device__ Chain(Scratch& scratch, uint32_t* subset, uint32_t* best,
                     const encoding::Shape& shape, const problem::Data& data,
                     const algorithm::Plan& plan, int64_t me)
        : pitch_(shape.pitch),
          effort_(int(plan.effort)),
          plan_(plan),
          me_(me),
          subset_(subset),
          best_(best),
          core_(scratch, shape.items, data, plan) {}

    // Draw a subset near the relaxation: on average, one in SHARE items of the core is flipped.
    __device__ static void draw(uint32_t* row, const encoding::Shape& shape,
                                const draw::Place& place, uint32_t stream,
                                const algorithm::Plan& plan) {
        constexpr int SHARE = 8;
        for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) row[i] = plan.chain.rounded[i];
        __syncthreads();
        for (int i = threadIdx.x; i < shape.n; i += blockDim.x) {
            for (int k = 0; k < plan.chain.largest; ++k) {
                const int item = plan.chain.core[k];
                if (item / 32 != i) continue;
                const uint4 words = place.words(stream, k);
                if (words.x % SHARE == 0) row[i] ^= 1u << (item % 32);
            }
        }
    }

    __device__ static int64_t room_to_evaluate(Scratch scratch, const encoding::Shape& shape,
                                               const problem::Data& data) {
        const problem::Workspace evaluation(scratch, shape.items, data);
        return scratch.bytes();
    }

    __device__ static int64_t evaluate(uint32_t* subset, uint32_t* best, const Scratch& scratch,
                                       const encoding::Shape& shape, const problem::Data& data,
                                       const draw::Place& place) {
        copy_row(best, subset, shape.pitch);
        __syncthreads();
        const int64_t cost = problem::evaluate(best, scratch, shape.items, data, place, 0).cost;
        __syncthreads();
        return cost;
    }

    __device__ static int64_t energy_of(int64_t cost, const algorithm::Plan& plan) {
        return int64_t(floor(*plan.chain.scale * double(cost)));
    }

    __device__ static void begin_ladder(const algorithm::Plan& plan, int64_t ladder,
                                        int64_t number) {
        plan.chain.variant[ladder] = number;
    }

    __device__ static void renew_ladder(const algorithm::Plan& plan, int64_t ladder) {
        ++plan.chain.variant[ladder];
    }

    // Perform a number of proposals; an accepted one counts as several.
    __device__ Costs run(Costs costs, int proposals, bool, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        const int variant = int(plan_.chain.variant[me_ / plan_.rungs] % plan_.chain.variants);
        const packed::Prices<PAIRS> prices(plan_.chain.prices + variant * PRICE_WORDS);
        const int slop = plan_.chain.slops[variant];
        improver::Lookout lookout(improving);
        core_.begin(subset_, plan_.chain.sizes[variant]);
        int penalty = core_.penalty(prices), best = best_from(costs);
        costs.current = energy_of(-core_.profit(), plan_) + penalty;
        costs.proposed = 0;
        Row row{};
        row.temperature = acceptance.temperature();
        int i = draw::below(place.words(stream::BEGIN, 0).x, core_.chosen());
        int64_t end = proposals;
        uint4 words = {};
        Leaving next = core_.leaving(i);
        for (uint32_t number = 0; costs.proposed < end; ++number) {
            if (number % ROWS == 0 && lookout.halts()) break;
            words = number % 4 == 0
                        ? place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS, number / 4)
                        : uint4{words.y, words.z, words.w, words.x};
            const Leaving lost = next;
            row.i = i;
            row.word = words.x;
            row.rise = lost.gain - penalty;
            row.slop = slop;
            row.wanted = best + lost.gain;
            core_.without(lost, row.left);
            i = after(i);
            next = core_.leaving(i);
            costs.proposed += core_.free();
            const int found = first_accepted(row, prices, costs.best);
            if (found < 0) continue;
            end -= effort_;
            const int gained = core_.free_item(found);
            const int by = row.rise - core_.gain_of(gained);
            core_.exchange(subset_, row.i, found);
            i = after(row.i);
            next = core_.leaving(i);
            penalty = core_.penalty(prices);
            costs.climbs += by + penalty > 0;
            costs.current += by + penalty;
            if (penalty <= slop && -core_.profit() < costs.best &&
                core_.is_feasible(NOTHING, NOTHING)) {
                costs.best = -core_.profit();
                copy_row(best_, subset_, pitch_);
                __syncthreads();
            }
            best = best_from(costs);
        }
        return costs;
    }

  private:
    static constexpr int PRICE_WORDS = (PAIRS + 1) / 2;
    static constexpr int ROWS = 64;  // rows between checks for a stop request
    static constexpr int MOST = 1 << 30;
    // Constraints with high prices come first and exclude most exchanges. The threads of a warp
    // rarely agree on that, so a GPU adds up all words at once.
    static constexpr int HALF = packed::WIDE == 1 || PAIRS < 4 ? PAIRS : (PAIRS + 1) / 2;
    static constexpr int LEVELS = 1024, TOGETHER = 16;

    // The proposals that remove one chosen item.
    struct Row {
        int i;
        uint32_t word;
        int rise;    // energy increase without a new item, except for the price of overloads
        int slop;    // maximum price of overloads of possibly feasible subsets
        int wanted;  // minimum gain of the new item for a feasible subset to be the best
        float temperature;
        Left left;
    };

    // Return the next entry in the list of chosen items; the first one follows the last.
    __device__ int after(int i) const { return i + 1 < core_.chosen() ? i + 1 : 0; }

    // Return the minimum gain of a new item for a feasible subset to be the best if no item leaves;
    // the gains of two items may be rounded down by one more than their sum.
    __device__ int best_from(const Costs& costs) const {
        const int64_t wanted = energy_of(-costs.best - core_.profit(), plan_) - 2;
        return int(max(int64_t(-MOST), min(int64_t(MOST), wanted)));
    }

    // Return the first entry of a free item whose exchange is accepted, or -1.
    __device__ int first_accepted(const Row& row, const packed::Prices<PAIRS>& prices,
                                  int64_t best) const {
        using packed::WIDE;
        for (int first = 0; first < core_.free(); first += WIDE * blockDim.x) {
            const float* const levels = plan_.chain.levels + level(row.word, first);
            const packed::Column<PAIRS> column = core_.column(first);
            packed::Sums sums{};
            prices.template add<0, HALF>(sums, row.left, column);
            uint32_t open = possible(row, sums, column, levels);
            if (!block::any(open != 0)) continue;
            if (HALF < PAIRS) {
                prices.template add<HALF, PAIRS>(sums, row.left, column);
                open = possible(row, sums, column, levels);
            }
            const int mine = first + WIDE * threadIdx.x;
            while (open != 0) {
                const int c = __ffs(open) - 1;
                if (accepts(row, sums, column, levels, c, mine + c, best)) break;
                open &= open - 1;
            }
            const int thread = block::first(open != 0);
            if (thread == blockDim.x) continue;
            // Only a block of one thread has several columns.
            return first + WIDE * thread + (WIDE == 1 ? 0 : __ffs(open) - 1);
        }
        return -1;
    }

    // Return the table position of the logarithm for a thread's first proposal, among those from
    // `first`, a multiple of TOGETHER.
    __device__ static uint32_t level(uint32_t word, int first) {
        const uint32_t mine = packed::WIDE * threadIdx.x;
        const uint32_t group = uint32_t(first) / TOGETHER + mine / TOGETHER;
        return (word + group * 0x9E3779B9u) / (1u << 22) + mine % TOGETHER;
    }

    // Return the columns whose exchange may be accepted, as bits.
    __device__ static uint32_t possible(const Row& row, const packed::Sums& sums,
                                        const packed::Column<PAIRS>& column, const float* levels) {
        uint32_t columns = 0;
        packed::along([&](int c) {
            const int gain = column.gain(c), rise = row.rise + sums.item[c] - gain;
            const bool may = (rise <= int(levels[c] * row.temperature)) |
                             ((sums.item[c] <= row.slop) & (gain >= row.wanted));
            columns |= uint32_t(may) << c;
        });
        return columns;
    }

    // Return whether this thread accepts the exchange for the free item at `place`, its column c.
    __device__ bool accepts(const Row& row, const packed::Sums& sums,
                            const packed::Column<PAIRS>& column, const float* levels, int c,
                            int place, int64_t best) const {
        const int gain = column.gain(c), rise = row.rise + sums.item[c] - gain;
        if (place >= core_.free() || !core_.may_exchange(row.i, place)) return false;
        if (rise <= int(levels[c] * row.temperature)) return true;
        if (sums.item[c] > row.slop || gain < row.wanted) return false;
        const int lost = core_.chosen_item(row.i), gained = core_.free_item(place);
        const int64_t profit = core_.profit() - core_.profit_of(lost) + core_.profit_of(gained);
        return -profit < best && core_.is_feasible(lost, gained);
    }

    const int pitch_, effort_;
    const algorithm::Plan& plan_;
    const int64_t me_;
    uint32_t* const subset_;
    uint32_t* const best_;
    Core core_;
};

}  // namespace tempering
