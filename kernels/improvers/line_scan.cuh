// Scans over moves that form lines (see moves.cuh), for problems with PROBLEM_DELTA_PARTS:
// neighbouring threads share the n products of the delta of an exchange through `delta_part`. Each
// move is the previous one of its line plus one more exchange; evaluated alone, it takes up to n /
// 2 or n exchanges. Reads the order and the problem's data; returns choices. No random numbers.
#pragma once

#include "core/group.cuh"
#include "core/votes.cuh"
#include "core/warp.cuh"
#include "improvers/scan.cuh"

namespace improver {

template <class Move>
class Scan<Move, true> {
  public:
    __device__ Scan(const Plan& plan, const Pairs& pairs, const int32_t* order, int n,
                    const problem::Data& data)
        : lookout_(plan), pairs_(pairs), order_(order), n_(n), data_(data), groups_(n) {}

    // As in scan.cuh.
    __device__ Choice first(int64_t start) {
        const int64_t size = pairs_.size();
        // Lines are sorted by their lowest moves, so that a scan of all moves in order may end
        // early.
        const bool in_order = start == 0 && pairs_.are_all();
        if (!in_order) {
            const int64_t alone = pairs_.are_all() ? min(size, int64_t(n_)) : size;
            const Choice choice = first_alone(start, alone);
            if (choice.delta < 0 || alone == size) return choice;
        }
        int64_t nearest = size, least = 0;
        along_lines(
            [&](Pair pair, int64_t delta) {
                if (delta >= 0) return false;
                const int64_t number = pairs_.number(pair) - start;
                const int64_t distance = number < 0 ? number + size : number;
                if (distance < nearest) nearest = distance, least = delta;
                return in_order && Move::ASCENDS;
            },
            [&](int line) {
                const Move lowest = Move::on(line, Move::ASCENDS ? 0 : Move::length(line, n_) - 1);
                return in_order && block::any(nearest < pairs_.number({lowest.u, lowest.v}));
            });
        const int64_t found = block::argmin({nearest, 0}).value;
        if (found == size) return {0, 0, size};
        const bool is_mine = nearest == found && groups_.thread() == 0;
        return chosen(start + found, is_mine ? least : 0, found + 1);
    }

    __device__ Choice best() {
        const int64_t size = pairs_.size();
        block::Ranked best{0, 0xffffffffu};
        const auto compare = [&](uint32_t number, int64_t delta) {
            const block::Ranked tried{delta, number};
            if (tried.before(best)) best = tried;
        };
        if (pairs_.are_all()) {
            along_lines(
                [&](Pair pair, int64_t delta) {
                    compare(uint32_t(pairs_.number(pair)), delta);
                    return false;
                },
                [](int) { return false; });
        } else {
            Pair pair = pairs_.at(groups_.index() % size);
            for (int64_t tried = 0; tried < size; tried += groups_.count()) {
                const int64_t number = tried + groups_.index();
                const int64_t delta = raised_by(pair, number < size);
                if (number < size) compare(uint32_t(number), delta);
                pair = pairs_.after(pair, groups_.count());
            }
        }
        best = block::argmin(best);
        return {best.index, best.value, size};
    }

  private:
    // Try `count` moves from `start`, one per group, until one improves.
    __device__ Choice first_alone(int64_t start, int64_t count) {
        Pair pair = pairs_.at((start + groups_.index()) % pairs_.size());
        for (int64_t tried = 0; tried < count; tried += groups_.count()) {
            if (lookout_.halts()) break;
            const int64_t delta = raised_by(pair, tried + groups_.index() < count);
            const int winner = block::first(delta < 0);
            if (winner < int(blockDim.x)) {
                const int64_t found = tried + winner / groups_.threads();
                return chosen(start + found, winner == int(threadIdx.x) ? delta : 0, found + 1);
            }
            pair = pairs_.after(pair, groups_.count());
        }
        return {0, 0, count};
    }

    // Return the choice of a move whose delta is known to one thread. `number` may be beyond the
    // last move.
    __device__ Choice chosen(int64_t number, int64_t delta, int64_t tried) const {
        const int64_t size = pairs_.size();
        return {number < size ? number : number - size, block::sum(delta), tried};
    }

    // Return this thread's part of the difference between a move and its predecessor in the line.
    __device__ auto added_by(Move move) const {
        const moves::After<Move> order{order_, move.before()};
        return problem::delta_part(order, n_, data_, move.last(), groups_.thread(),
                                   groups_.threads());
    }

    // Return the delta of a move of each group, or 0. Called by all threads of the warp.
    __device__ int64_t raised_by(Pair pair, bool exists) const {
        const Move move{pair.u, pair.v};
        if constexpr (warp::SIZE == 1) {
            // A single thread is faster with the common terms of all exchanges.
            return exists ? problem::delta(order_, n_, data_, move) : 0;
        }
        int64_t raised = 0;
        const int line = move.line(), last = exists ? move.step() : -1;
        for (int step = 0; step <= last; ++step) raised += added_by(Move::on(line, step));
        return groups_.sum(raised);
    }

    // Call visit(pair, delta) for the moves of all lines, in each thread of a group; it returns
    // whether to skip the rest of the line. Lines are processed in order, as many at once as there
    // are groups, until ends(line) is true for the next line.
    template <class Visit, class Ends>
    __device__ void along_lines(Visit visit, Ends ends) {
        const int lines = Move::lines(n_);
        for (int first = 0; first < lines; first += groups_.count()) {
            if (lookout_.halts()) return;
            if (first > 0 && ends(first)) return;
            const int line = first + groups_.index();
            int left = line < lines ? Move::length(line, n_) : 0;
            int64_t delta = 0;
            for (int step = 0; groups_.any_of_warp(left > 0); ++step) {
                const Move move = Move::on(line, step);
                using Part = decltype(added_by(move));
                delta += groups_.sum(left > 0 ? added_by(move) : Part(0));
                if (left > 0) left = visit(Pair{move.u, move.v}, delta) ? 0 : left - 1;
            }
        }
    }

    Lookout lookout_;
    const Pairs& pairs_;
    const int32_t* const order_;
    const int n_;
    const problem::Data& data_;
    const block::Groups groups_;
};

}  // namespace improver
