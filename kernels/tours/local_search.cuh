// Local search on tours with neighbour lists (2-opt and Or-opt). In each round, one active city of
// each group of 32 finds its best move, which claims the cells of the tour that it touches. Among
// moves that claim the same cell, the shortest wins, then the one with the largest gain; moves that
// win all their cells are applied at once. If there are more threads than groups of cities, several
// threads work for each group. A city is active until it has no improving move, and again when one
// of its edges changes. Reads a tour and writes it in place. No random numbers.
#pragma once

#include "core/atomic.cuh"
#include "improvers/base.cuh"
#include "tours/moves.cuh"

namespace tours {

constexpr int GROUP = 32;  // cities that share a word
// A tour has at most USUAL_CELLS cells of equal size, unless these would exceed LARGEST_CELL:
// otherwise most moves in a tour of many cities would lose.
constexpr int USUAL_CELLS = 256, LARGEST_CELL = 256;

__device__ int groups(int n) { return (n + GROUP - 1) / GROUP; }
__device__ int cells(int n) { return max(USUAL_CELLS, (n + LARGEST_CELL - 1) / LARGEST_CELL); }

// The working memory of a search.
struct SearchMemory {
    uint32_t* active;   // [groups]: one bit per city
    Move* move;         // [groups]
    uint64_t* claim;    // [cells]: the largest key of an overlapping move
    uint32_t* winners;  // [1]: number of moves applied in a round

    __device__ SearchMemory(Scratch& scratch, int n)
        : active(scratch.take<uint32_t>(groups(n))),
          move(scratch.take<Move>(groups(n))),
          claim(scratch.take<uint64_t>(cells(n))),
          winners(scratch.take<uint32_t>(1)) {}
};

template <class Position>
class LocalSearch {
  public:
    __device__ LocalSearch(const Tour<Position>& tour, const Neighbours& near,
                           const SearchMemory& memory)
        : tour_(tour),
          near_(near),
          memory_(memory),
          groups_(groups(tour.n)),
          team_(int(blockDim.x) / groups_) {
        while ((tour.n - 1) >> shift_ >= cells(tour.n)) ++shift_;
    }

    // Search until no city is active, at most `most` moves are applied (0: no limit), or a stop is
    // requested. With `to_the_end`, all cities are then tried again until no move improves. Return
    // the gain of this thread's moves, to be summed over the block.
    __device__ int64_t run(const improver::Plan& plan, int64_t most, bool to_the_end,
                           int64_t& tried) {
        int64_t gain = 0, moves = 0, moves_before = 0;
        activate();
        for (uint32_t round = 0;; ++round) {
            if ((POLLING_IS_CHEAP || round % 64 == 63) && improver::halts(plan)) break;
            clear_claims();
            tried += find(round);
            if (!block::any(has_found_)) {
                if (block::any(has_active_)) continue;
                if (!to_the_end || moves == moves_before) break;
                moves_before = moves;
                activate();
                continue;
            }
            __syncthreads();  // all claims are made
            gain += decide();
            __syncthreads();  // all winners are known
            moves += *memory_.winners;
            if (most > 0 && moves > most) {
                gain -= leave_out(int(moves - most));
                __syncthreads();
            }
            make_winners();
            __syncthreads();
            if (most > 0 && moves >= most) break;
        }
        return gain;
    }

  private:
    __device__ void activate() {
        for (int i = threadIdx.x; i < groups_; i += blockDim.x) {
            const int cities = min(GROUP, tour_.n - i * GROUP);
            memory_.active[i] = cities == GROUP ? 0xffffffffu : (1u << cities) - 1;
        }
    }

    __device__ void clear_claims() {
        const int used = ((tour_.n - 1) >> shift_) + 1;
        for (int i = threadIdx.x; i < used; i += blockDim.x) memory_.claim[i] = 0;
        if (threadIdx.x == 0) *memory_.winners = 0;
        __syncthreads();
    }

    // Find a move of one active city of each group, and claim its cells. Return the number of
    // cities that this thread has tried.
    __device__ int find(uint32_t round) {
        int tried = 0;
        has_found_ = has_active_ = false;
        // Start at another bit in each round, so that no city blocks the others.
        const int turn = round * 11 % GROUP;
        for (int first = 0; first < groups_; first += team_.count()) {
            const int i = first + team_.index();
            const uint32_t active = i < groups_ ? memory_.active[i] : 0;
            const uint32_t turned = turn ? active >> turn | active << (GROUP - turn) : active;
            const int bit = (__ffs(turned) - 1 + turn) % GROUP;
            Move move{};
            int place = 2 * near_.degree + team_.thread();  // for a thread that finds nothing
            if (active) {
                Finder<Position> finder(tour_, near_);
                move = finder.best(i * GROUP + bit, team_);
                if (move.gain > 0) place = finder.turn;
                has_active_ = true, tried += team_.thread() == 0;
            }
            const bool is_best = team_.has_largest(move.gain, place);
            warp::sync();  // all have read which cities are active
            if (is_best && i < groups_) {
                memory_.move[i] = move;
                if (move.gain > 0) has_found_ = true;
                if (move.gain == 0 && active) memory_.active[i] = active & ~(1u << bit);
            }
            warp::sync();
            if (i < groups_ && memory_.move[i].gain > 0) claim(i);
        }
        return tried;
    }

    __device__ void claim(int group) {
        const Move& move = memory_.move[group];
        const uint64_t key = key_of(move, group);
        each_cell(move, team_.thread(), team_.threads(),
                  [&](int cell) { raise(&memory_.claim[cell], key); });
    }

    // Return whether the move of a group has kept its cells; each of `threads` threads checks its
    // share.
    __device__ bool keeps_cells(int group, int thread, int threads) const {
        const Move& move = memory_.move[group];
        const uint64_t key = key_of(move, group);
        bool keeps = true;
        each_cell(move, thread, threads,
                  [&](int cell) { keeps = keeps && memory_.claim[cell] == key; });
        return keeps;
    }

    // Mark moves that lost a cell by a gain of -1. Return the gain of this thread's other moves.
    __device__ int64_t decide() {
        int64_t gain = 0;
        for (int first = 0; first < groups_; first += team_.count()) {
            const int i = first + team_.index();
            const bool is_found = i < groups_ && memory_.move[i].gain != 0;
            const bool loses = is_found && !keeps_cells(i, team_.thread(), team_.threads());
            const bool wins = team_.sum(int(loses)) == 0;
            warp::sync();  // all have read the move
            if (!is_found || team_.thread() > 0) continue;
            if (!wins) {
                memory_.move[i].gain = -1;
                continue;
            }
            atomicAdd(memory_.winners, 1u);
            gain += memory_.move[i].gain;
        }
        return gain;
    }

    // Mark the surplus winning moves of the last groups as losers. One thread returns their gain,
    // the others 0.
    __device__ int64_t leave_out(int count) {
        int64_t gain = 0;
        for (int i = groups_ - 1; threadIdx.x == 0 && count > 0; --i) {
            if (memory_.move[i].gain <= 0) continue;
            gain += memory_.move[i].gain, --count;
            memory_.move[i].gain = -1;
        }
        return gain;
    }

    // Apply the winning moves, one per warp.
    __device__ void make_winners() {
        for (int i = warp::index(); i < groups_; i += warp::count()) {
            const Move move = memory_.move[i];
            if (move.gain <= 0) continue;
            make(tour_, move);
            warp::sync();
            if (warp::lane() == 0) activate_ends(move);
        }
    }

    // Activate the cities whose edges have changed.
    __device__ void activate_ends(const Move& move) {
        const auto [first, length] = move.changed;
        const int inner = move.part == 0 ? 0 : move.forward ? length - move.part : move.part;
        const int places[] = {first - 1,
                              first,
                              first + length - 1,
                              first + length,
                              inner > 0 ? first + inner - 1 : first,
                              first + inner};
        for (const int place : places) {
            const int city = tour_.order[tour_.wrapped(tour_.wrapped(place))];
            set_bits(&memory_.active[city / GROUP], 1u << (city % GROUP));
        }
    }

    // Return the rank of a move; the largest wins. Moves are ordered by length up to a factor of
    // two, shortest first, as a long interval blocks all moves inside it; then by gain, then by
    // group.
    __device__ uint64_t key_of(const Move& move, int group) const {
        const uint64_t shortness = __clz(move.changed.length);
        return shortness << 58 | rank_of(move.gain) << 25 | uint32_t(group);
    }

    // Return a 33-bit number in the order of gains: large gains lose their low bits.
    __device__ static uint64_t rank_of(int64_t gain) {
        const int64_t large = int64_t(1) << 32;
        if (gain < large) return uint64_t(gain);
        return large + __float_as_uint(float(gain)) - __float_as_uint(float(large));
    }

    // Call a function for each cell touched by the interval of a move and its adjacent cities, or
    // only for one thread's share.
    template <class Function>
    __device__ void each_cell(const Move& move, int thread, int threads, Function function) const {
        const auto [first, length] = move.changed;
        const int last = (tour_.n - 1) >> shift_;
        int cell = 0, end = last;
        if (length + 2 < tour_.n) {
            cell = tour_.wrapped(first - 1) >> shift_;
            end = tour_.wrapped(first + length) >> shift_;
        }
        // An interval that wraps around to its first cell touches all of them.
        if (cell == end && length + 2 > 1 << shift_) cell = 0, end = last;
        const int count = end - cell + (end < cell ? last + 1 : 0);
        for (int k = thread; k <= count; k += threads) {
            function(cell + k <= last ? cell + k : cell + k - last - 1);
        }
    }

    const Tour<Position>& tour_;
    const Neighbours& near_;
    const SearchMemory& memory_;
    const int groups_;
    const block::Groups team_;  // the threads that work for a group of cities
    int shift_ = 0;
    bool has_found_ = false, has_active_ = false;
};

}  // namespace tours
