// Local search on subsets: exchanges that raise the profit and still fit are made, until there are
// none or enough are made. SUBSET_MOST items change at once at most, one more on one side than on
// the other at most; so with 4, two leave and two enter, or fewer.
#pragma once

#include "core/marks.cuh"
#include "improvers/base.cuh"
#include "improvers/pairs.cuh"
#include "improvers/sides.cuh"

namespace improver {

constexpr bool ACTIVE = true;

// What enters for those that leave, by its place among all that may; without gain, nothing does.
struct Entry {
    int64_t gain;
    int first, second;
};

// The exchanges in rows: one for each set of items that leave, of which nobody, single items and
// pairs follow each other.
class Exchanges {
  public:
    __device__ Exchanges(const Sides& sides, const problem::Knapsack& knapsack,
                         const problem::Data& data)
        : sides_(sides), pairs_(sides.leaving(), Pairs::ALL), gap_(knapsack, data) {}

    __device__ int64_t rows() const {
        return 1 + (SUBSET_MOST > 1 ? singles() : 0) + (SUBSET_MOST > 2 ? pairs_.size() : 0);
    }

    // The places of those that leave.
    __device__ Pair leaving(int64_t row) const {
        if (row == 0) return {NOBODY, NOBODY};
        if (row <= singles()) return {int(row) - 1, NOBODY};
        return pairs_.at(row - 1 - singles());
    }

    // How many exchanges a row has.
    __device__ int64_t length(int64_t row) const {
        const int64_t b = sides_.entering();
        return b + (enter_two(row) ? b * (b - 1) / 2 : 0);
    }

    // All of them, of all rows.
    __device__ int64_t size() const {
        int64_t all = length(0);
        if (SUBSET_MOST > 1 && singles() > 0) all += singles() * length(1);
        if (SUBSET_MOST > 2) all += pairs_.size() * length(1 + singles());
        return all;
    }

    // How many of a row come up to an entry, and it.
    __device__ int64_t through(int64_t row, const Entry& entry) const {
        const int64_t x = entry.first, b = sides_.entering();
        if (!enter_two(row)) return x + 1;
        const int64_t before = x * b - x * (x - 1) / 2;
        return before + (entry.second == NOBODY ? b - x : entry.second - x);
    }

    // Returns the first exchange of a row that gains more than `floor`, or the first of those that
    // gain most.
    __device__ Entry find(int64_t row, int64_t floor, bool best) {
        const Pair leaving = this->leaving(row);
        const int u = leaving.u == NOBODY ? NOBODY : sides_.leaves(leaving.u);
        const int v = leaving.v == NOBODY ? NOBODY : sides_.leaves(leaving.v);
        const int64_t loss = sides_.profit(u) + sides_.profit(v);
        gap_.leave(sides_.item(u), sides_.item(v));
        const bool two = enter_two(row);
        const int last = sides_.entering();
        Entry found{floor, NOBODY, NOBODY};
        for (int x = 0; x < last; ++x) {
            const int64_t one = profit(x) - loss;
            const bool has_second = two && x + 1 < last;
            if (one + (has_second ? profit(x + 1) : 0) <= found.gain) break;
            if (!gap_.holds(item(x), NOBODY)) continue;
            for (int y = x + 1; has_second && y < last; ++y) {
                if (one + profit(y) <= found.gain) break;
                if (gap_.holds(item(x), item(y))) found = {one + profit(y), x, y};
            }
            if (one > found.gain) found = {one, x, NOBODY};
            if (!best && found.first != NOBODY) break;
        }
        return found.first == NOBODY ? Entry{0, NOBODY, NOBODY} : found;
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

// The exchange that a scan has chosen.
struct Choice {
    int64_t row, tried;
    Entry entry;
};

// Tells all threads what one of them has found.
__device__ Entry told(const Entry& entry, bool mine) {
    const int64_t gain = block::sum(mine ? entry.gain : 0);
    Two places(entry.first, entry.second);
    places.tell(mine);
    return {gain, places.first(), places.second()};
}

// Tries all up to the first that gains. The threads try as many rows at once as they are, but only
// those exchanges count that one thread would have tried.
__device__ Choice first_choice(const Plan& plan, Exchanges& exchanges) {
    const int64_t rows = exchanges.rows();
    int64_t tried = 0;
    uint32_t turns = 0;
    for (int64_t begin = 0; begin < rows; begin += blockDim.x) {
        if (++turns % 256 == 0 && halts(plan)) break;
        const int64_t row = begin + threadIdx.x;
        const Entry entry = row < rows ? exchanges.find(row, 0, false) : Entry{};
        const int64_t found = begin + block::first(entry.gain > 0);
        if (row < rows && row <= found) {
            tried += row < found ? exchanges.length(row) : exchanges.through(row, entry);
        }
        if (found < begin + blockDim.x) {
            return {found, block::sum(tried), told(entry, row == found)};
        }
    }
    return {0, block::sum(tried), {}};
}

// Tries all and chooses the one that gains most.
__device__ Choice best_choice(const Plan& plan, Exchanges& exchanges) {
    const int64_t rows = exchanges.rows();
    Entry best{};
    block::Ranked most{0, 0}, mine{0, 0xffffffffu};
    uint32_t turns = 0;
    for (int64_t begin = 0; begin < rows; begin += blockDim.x) {
        if (++turns % 256 == 0 && halts(plan)) break;
        const int64_t row = begin + threadIdx.x;
        // Rows to come have to gain more than those before, of whichever thread.
        const int64_t floor = -most.value;
        const Entry entry = row < rows ? exchanges.find(row, floor, true) : Entry{};
        if (entry.gain > floor) {
            best = entry;
            mine = {-entry.gain, uint32_t(row)};
        }
        most = block::argmin(mine);
    }
    return {most.index, exchanges.size(), told(best, mine.index == most.index)};
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
    for (int made = 0; plan.steps == 0 || made < plan.steps; ++made) {
        sides.deal(chosen);
        Exchanges exchanges(sides, knapsack, data);
        if (looks_after(made, sides.count()) && halts(plan)) break;
        const Choice choice =
            plan.best ? best_choice(plan, exchanges) : first_choice(plan, exchanges);
        calls += choice.tried;
        if (choice.entry.gain <= 0) break;
        const auto [u, v] = exchanges.leaving(choice.row);
        const int turned[] = {
            u == NOBODY ? NOBODY : sides.leaves(u), v == NOBODY ? NOBODY : sides.leaves(v),
            sides.enters(choice.entry.first),
            choice.entry.second == NOBODY ? NOBODY : sides.enters(choice.entry.second)};
        for (const int k : turned) {
            if (k != NOBODY) knapsack.turn(chosen, sides.item(k));
        }
    }
    return marks::feasible(-knapsack.profit());
}

}  // namespace improver
