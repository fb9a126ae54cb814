// Local search on subsets: applies feasible exchanges that raise the profit until there are none,
// or until the step limit. At most SUBSET_MOST items change at once, and the numbers of entering
// and leaving items differ by at most one: with 4, up to two leave and two enter. Reads and writes
// the subset in place; returns its cost. No random numbers.
#pragma once

#include "core/marks.cuh"
#include "improvers/base.cuh"
#include "improvers/pairs.cuh"
#include "improvers/sides.cuh"

namespace improver {

constexpr bool ACTIVE = true;

// The entering items of an exchange, as indices into the entering side; a gain of 0 means no
// exchange.
struct Entry {
    int64_t gain;
    int first, second;
};

// All exchanges in rows, one per set of leaving items: the empty set, then single items, then
// pairs.
class Exchanges {
  public:
    __device__ Exchanges(const Sides& sides, const problem::Knapsack& knapsack,
                         const problem::Data& data)
        : sides_(sides), pairs_(sides.leaving(), Pairs::ALL), gap_(knapsack, data) {}

    __device__ int64_t rows() const {
        return 1 + (SUBSET_MOST > 1 ? singles() : 0) + (SUBSET_MOST > 2 ? pairs_.size() : 0);
    }

    // Return the indices of the leaving items.
    __device__ Pair leaving(int64_t row) const {
        if (row == 0) return {NO_ITEM, NO_ITEM};
        if (row <= singles()) return {int(row) - 1, NO_ITEM};
        return pairs_.at(row - 1 - singles());
    }

    // Return the number of exchanges of a row.
    __device__ int64_t length(int64_t row) const {
        const int64_t b = sides_.entering();
        return b + (enter_two(row) ? b * (b - 1) / 2 : 0);
    }

    // Return the total number of exchanges.
    __device__ int64_t size() const {
        int64_t all = length(0);
        if (SUBSET_MOST > 1 && singles() > 0) all += singles() * length(1);
        if (SUBSET_MOST > 2) all += pairs_.size() * length(1 + singles());
        return all;
    }

    // Return the number of exchanges of a row up to and including an entry.
    __device__ int64_t through(int64_t row, const Entry& entry) const {
        const int64_t x = entry.first, b = sides_.entering();
        if (!enter_two(row)) return x + 1;
        const int64_t before = x * b - x * (x - 1) / 2;
        return before + (entry.second == NO_ITEM ? b - x : entry.second - x);
    }

    // Return the first exchange of a row that gains more than `floor`, or the first of those with
    // the largest gain.
    __device__ Entry find(int64_t row, int64_t floor, bool best) {
        const Pair leaving = this->leaving(row);
        const int u = leaving.u == NO_ITEM ? NO_ITEM : sides_.leaves(leaving.u);
        const int v = leaving.v == NO_ITEM ? NO_ITEM : sides_.leaves(leaving.v);
        const int64_t loss = sides_.profit(u) + sides_.profit(v);
        gap_.leave(sides_.item(u), sides_.item(v));
        const bool two = enter_two(row);
        const int last = sides_.entering();
        Entry found{floor, NO_ITEM, NO_ITEM};
        for (int x = 0; x < last; ++x) {
            const int64_t one = profit(x) - loss;
            const bool has_second = two && x + 1 < last;
            if (one + (has_second ? profit(x + 1) : 0) <= found.gain) break;
            if (!gap_.holds(item(x), NO_ITEM)) continue;
            for (int y = x + 1; has_second && y < last; ++y) {
                if (one + profit(y) <= found.gain) break;
                if (gap_.holds(item(x), item(y))) found = {one + profit(y), x, y};
            }
            if (one > found.gain) found = {one, x, NO_ITEM};
            if (!best && found.first != NO_ITEM) break;
        }
        return found.first == NO_ITEM ? Entry{0, NO_ITEM, NO_ITEM} : found;
    }

  private:
    __device__ int64_t singles() const { return sides_.leaving(); }
    __device__ bool enter_two(int64_t row) const {
        return row > 0 && SUBSET_MOST > (row <= singles() ? 2 : 3);
    }
    __device__ int item(int place) const { return sides_.item(sides_.enters(place)); }
    __device__ int64_t profit(int place) const { return sides_.profit(sides_.enters(place)); }

    const Sides& sides_;
    const Pairs pairs_;
    Gap gap_;
};

// The exchange selected by a scan.
struct Choice {
    int64_t row, tried;
    Entry entry;
};

// Broadcast the result of one thread.
__device__ Entry broadcast(const Entry& entry, bool mine) {
    const int64_t gain = block::sum(mine ? entry.gain : 0);
    NumberPair places(entry.first, entry.second);
    places.broadcast(mine);
    return {gain, places.first(), places.second()};
}

// Try exchanges until the first that gains. Each thread tries one row at a time, but only the
// exchanges that a single thread would have tried are counted.
__device__ Choice first_choice(const Plan& plan, Exchanges& exchanges) {
    const int64_t rows = exchanges.rows();
    int64_t tried = 0;
    uint32_t turns = 0;
    for (int64_t begin = 0; begin < rows; begin += blockDim.x) {
        if ((POLLING_IS_CHEAP || ++turns % 256 == 0) && halts(plan)) break;
        const int64_t row = begin + threadIdx.x;
        const Entry entry = row < rows ? exchanges.find(row, 0, false) : Entry{};
        const int64_t found = begin + block::first(entry.gain > 0);
        if (row < rows && row <= found) {
            tried += row < found ? exchanges.length(row) : exchanges.through(row, entry);
        }
        if (found < begin + blockDim.x) {
            return {found, block::sum(tried), broadcast(entry, row == found)};
        }
    }
    return {0, block::sum(tried), {}};
}

// Try all exchanges and select the one with the largest gain.
__device__ Choice best_choice(const Plan& plan, Exchanges& exchanges) {
    const int64_t rows = exchanges.rows();
    Entry best{};
    block::Ranked most{0, 0}, mine{0, 0xffffffffu};
    uint32_t turns = 0;
    for (int64_t begin = 0; begin < rows; begin += blockDim.x) {
        if ((POLLING_IS_CHEAP || ++turns % 256 == 0) && halts(plan)) break;
        const int64_t row = begin + threadIdx.x;
        // Later rows must gain more than all earlier ones of any thread.
        const int64_t floor = -most.value;
        const Entry entry = row < rows ? exchanges.find(row, floor, true) : Entry{};
        if (entry.gain > floor) {
            best = entry;
            mine = {-entry.gain, uint32_t(row)};
        }
        most = block::argmin(mine);
    }
    return {most.index, exchanges.size(), broadcast(best, mine.index == most.index)};
}

struct Workspace {
    problem::Knapsack knapsack;
    Sides sides;

    __device__ Workspace(Scratch& scratch, const Plan& plan, const uint32_t*, int n,
                         const problem::Data& data)
        : knapsack(scratch, n, data), sides(scratch, n, plan.core, data) {}
};

__device__ int64_t improve(const Plan& plan, Scratch scratch, uint32_t* chosen, int n,
                           const problem::Data& data, int64_t cost, const draw::Place&,
                           int64_t& calls) {
    if (!marks::is_feasible(cost)) return cost;
    Workspace workspace(scratch, plan, chosen, n, data);
    problem::Knapsack& knapsack = workspace.knapsack;
    Sides& sides = workspace.sides;
    knapsack.begin(chosen);
    sides.begin(chosen);
    for (int step = 0; plan.steps == 0 || step < plan.steps; ++step) {
        sides.deal(chosen);
        Exchanges exchanges(sides, knapsack, data);
        if (polls_after(step, sides.count()) && halts(plan)) break;
        const Choice choice =
            plan.best ? best_choice(plan, exchanges) : first_choice(plan, exchanges);
        calls += choice.tried;
        if (choice.entry.gain <= 0) break;
        const auto [u, v] = exchanges.leaving(choice.row);
        const int turned[] = {
            u == NO_ITEM ? NO_ITEM : sides.leaves(u), v == NO_ITEM ? NO_ITEM : sides.leaves(v),
            sides.enters(choice.entry.first),
            choice.entry.second == NO_ITEM ? NO_ITEM : sides.enters(choice.entry.second)};
        for (const int k : turned) {
            if (k != NO_ITEM) knapsack.toggle(chosen, sides.item(k));
        }
    }
    return marks::feasible(-knapsack.profit());
}

}  // namespace improver
