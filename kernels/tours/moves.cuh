// The best move of a city for local search on tours with neighbour lists: 2-opt, which reverses an
// interval, and Or-opt, which moves up to three consecutive cities next to a neighbour. Nodes of
// directed tours (ENCODING_DOUBLED) cannot be reversed: instead of 2-opt, two parts of the tour are
// exchanged, the only 3-opt move without reversal. Reads a tour; returns moves, and applies them to
// it. No random numbers.
#pragma once

#include "core/group.cuh"
#include "tours/tour.cuh"

#ifndef ENCODING_DOUBLED
#define ENCODING_DOUBLED 0
#endif

namespace tours {

// The neighbour that local search tries first; nodes of directed tours skip the one joined to them.
constexpr int FIRST_NEIGHBOUR = ENCODING_DOUBLED;

constexpr int LONGEST_PART = 3;    // maximum number of cities that Or-opt moves at once
constexpr int FEWEST_TO_MOVE = 8;  // minimum number of cities of a tour for Or-opt

// A move that changes only the order within an interval. If `part` is positive, that many cities at
// one end of the interval move to its other end; otherwise, the interval is reversed.
struct Move {
    int64_t gain;  // gain of the tour; 0: no move
    Interval changed;
    int part;
    bool forward;   // whether the part is at the start of the interval
    bool reversed;  // whether the part is also reversed
};

// Finds the move of a city with the largest gain; in a tie, the first. A group of threads may share
// the search: each then tries some of the neighbours on both sides, or on one of them.
template <class Position>
class Finder {
  public:
    int turn = 0;  // the index of the neighbour, on both sides, that led to the move

    __device__ Finder(const Tour<Position>& tour, const Neighbours& near)
        : tour_(tour), near_(near) {}

    // Return the best move that this thread of a group finds.
    __device__ Move best(int city, const block::Groups& group) {
        best_.gain = 0;
        place_ = tour_.position[city], here_ = tour_.where(city);
        const int sides = min(2, group.threads()), share = group.threads() / sides;
        for (int side = group.thread() % sides; side < 2; side += sides) {
            step_ = side == 0 ? 1 : -1;
            next_ = tour_.where(tour_.city(place_ + step_));
            const int64_t removed = tour_.length(here_, next_);
            const int32_t* const neighbours = near_.of(city);
            const int first = FIRST_NEIGHBOUR + group.thread() / sides;
            for (int i = first; i < near_.degree; i += share) {
                const problem::City other = tour_.where(neighbours[i]);
                const int64_t gain = removed - tour_.length(here_, other), before = best_.gain;
                if (gain <= 0) break;  // the others are at least as far away
                if (i == first && tour_.n >= FEWEST_TO_MOVE) find_parts();
                try_neighbour(gain, tour_.position[neighbours[i]], other);
                if (best_.gain > before) turn = side * near_.degree + i;
            }
        }
        return best_;
    }

  private:
    // The city and some before it, the last of which is at the end of the part.
    struct Part {
        int end;  // its position
        problem::City last;
        int64_t gain;  // gain of removing the part, without the first edge
    };

    __device__ void find_parts() {
#pragma unroll
        for (int count = 1; count <= LONGEST_PART; ++count) {
            const int end = tour_.wrapped(place_ - step_ * (count - 1));
            const problem::City last = tour_.where(tour_.order[end]);
            const problem::City before = tour_.where(tour_.city(end - step_));
            const int64_t gain = tour_.length(last, before) - tour_.length(before, next_);
            parts_[count - 1] = {end, last, gain};
        }
    }

    // A city adjacent to the neighbour.
    struct Adjacent {
        int place;
        problem::City city;
        int64_t length;  // of the edge between them
    };

    __device__ Adjacent next_to(int place, problem::City other, int side) const {
        const int at = tour_.wrapped(place + side);
        const problem::City city = tour_.where(tour_.order[at]);
        return {at, city, tour_.length(other, city)};
    }

    __device__ void try_neighbour(int64_t gain, int place, problem::City other) {
        const Adjacent around[] = {next_to(place, other, -1), next_to(place, other, 1)};
        if (ENCODING_DOUBLED) {
            try_exchange(gain, place, around[step_ < 0]);
        } else {
            try_reversal(gain, place, around[step_ > 0]);
        }
        if (tour_.n >= FEWEST_TO_MOVE) try_parts(gain, place, around);
    }

    // Join the city and its neighbour, and their successors in the direction of `step_`.
    __device__ void try_reversal(int64_t gain, int place, const Adjacent& after) {
        gain += after.length - tour_.length(next_, after.city);
        if (gain <= best_.gain) return;
        const int first = tour_.wrapped(place_ + (step_ > 0));
        const int length = tour_.wrapped(place - place_);
        const bool is_long = 2 * length > tour_.n;
        const Interval part = is_long ? Interval{tour_.wrapped(first + length), tour_.n - length}
                                      : Interval{first, length};
        best_ = {gain, part, 0, false, false};
    }

    // Exchange the part from the next city up to the neighbour, in the direction of `step_`, with
    // the part after it, which ends before a neighbour of the last city of the first part.
    __device__ void try_exchange(int64_t gain, int place, const Adjacent& last) {
        const int one = tour_.wrapped(step_ * (place - place_)) - 1;  // length of the first part
        if (one <= 0) return;
        gain += last.length;
        const int32_t* const neighbours = near_.of(tour_.order[last.place]);
        for (int i = FIRST_NEIGHBOUR; i < near_.degree; ++i) {
            const problem::City after = tour_.where(neighbours[i]);
            const int64_t left = gain - tour_.length(last.city, after);
            if (left <= 0) break;
            const int at = tour_.position[neighbours[i]];
            const int other = tour_.wrapped(step_ * (at - place));
            if (other == 0 || one + other >= tour_.n) continue;
            const Adjacent end = next_to(at, after, -step_);
            const int64_t total = left + end.length - tour_.length(end.city, next_);
            if (total > best_.gain) take_exchange(total, one, other);
        }
    }

    // Of the two parts and the rest of the tour, the longest stays in place, as any two may be
    // exchanged.
    __device__ void take_exchange(int64_t gain, int one, int other) {
        const int rest = tour_.n - one - other;
        const int length[] = {step_ > 0 ? one : other, step_ > 0 ? other : one, rest};
        int first = tour_.wrapped(step_ > 0 ? place_ + 1 : place_ - one - other);
        int part = 0;
        if (length[0] > length[1] && length[0] >= rest) part = 1;
        if (length[1] >= length[0] && length[1] >= rest) part = 2;
        for (int k = 0; k < part; ++k) first = tour_.wrapped(first + length[k]);
        const int moved = length[part], jumped = length[(part + 1) % 3];
        best_ = {gain, Interval{first, moved + jumped}, moved, true, false};
    }

    // Move the city and up to two cities before it to one side of its neighbour.
    __device__ void try_parts(int64_t gain, int place, const Adjacent* around) {
        const int ahead = tour_.wrapped(step_ * (place_ - place));
#pragma unroll
        for (int count = 1; count <= LONGEST_PART; ++count) {
            if (ahead < count) return;  // the neighbour is itself in the part
            const Part& part = parts_[count - 1];
#pragma unroll
            for (int side = 0; side < 2; ++side) {
                const Adjacent& open = around[side];
                if (tour_.wrapped(step_ * (place_ - open.place)) < count) continue;
                const int64_t most = gain + part.gain + open.length;
                if (most <= best_.gain) continue;
                const int64_t total = most - tour_.length(part.last, open.city);
                if (total > best_.gain) {
                    take_part(total, count, part.end, place, open.place, 2 * side - 1);
                }
            }
        }
    }

    __device__ void take_part(int64_t gain, int count, int end, int place, int adjacent, int side) {
        const int first = step_ > 0 ? end : place_;      // of the part
        const int before = side > 0 ? place : adjacent;  // the part moves behind this position
        const int forth = tour_.wrapped(before - tour_.wrapped(first + count - 1));
        const int back = tour_.wrapped(first - tour_.wrapped(before + 1));
        if (forth == 0 || back == 0) return;  // it is already there
        const bool forward = forth <= back;
        const Interval part = forward ? Interval{first, count + forth}
                                      : Interval{tour_.wrapped(before + 1), back + count};
        best_ = {gain, part, count, forward, (step_ > 0) == (side > 0)};
    }

    const Tour<Position>& tour_;
    const Neighbours& near_;
    Move best_{};
    int place_, step_;
    problem::City here_, next_;
    Part parts_[LONGEST_PART];
};

// Apply a move. Called by one warp.
template <class Position>
__device__ void make(const Tour<Position>& tour, const Move& move) {
    const auto [first, length] = move.changed;
    tour.reverse(move.changed);
    if (move.part == 0) return;
    const int others = length - move.part;
    const Interval moved{tour.wrapped(first + (move.forward ? others : 0)), move.part};
    tour.reverse({tour.wrapped(first + (move.forward ? 0 : move.part)), others});
    if (!move.reversed) tour.reverse(moved);
}

}  // namespace tours
