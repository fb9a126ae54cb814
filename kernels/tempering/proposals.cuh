// The moves proposed by a chain of a user-defined problem, for each kind of solution. Half of the
// moves of orders are between nearby places; those of subsets exchange items or flip one; those of
// choices change one or exchange two; those of numbers have steps of all magnitudes. Only moves of
// the kinds in STATED_MOVES are proposed. Reads random words and a solution; returns moves.
// Random numbers: those that the caller passes.
#pragma once

#include "core/core.cuh"
#include "genes.cuh"
#include "problems/move_kinds.cuh"

namespace proposals {

using problem::Move;

// Minimum number of items for which there are moves.
constexpr int FEWEST_ITEMS = SOLUTION_KIND == SOLUTION_CHOICES ? 1 : 2;

// Draws several numbers from one random word; the product of their bounds must be far below 2^32.
class Drawn {
  public:
    __device__ explicit Drawn(uint32_t word) : word_(word) {}

    __device__ int below(uint32_t bound) {
        const uint64_t product = uint64_t(word_) * bound;
        word_ = uint32_t(product);
        return int(product >> 32);
    }

  private:
    uint32_t word_;
};

#ifdef STATED_STEP

// Minimum number of simultaneous proposals: few threads diverge less, and waste less work.
constexpr int FEWEST_LOOKS = 4;

// Let the user's state propose a step; return false if there is none.
template <class Evaluator, class Row>
__device__ bool draws(const Evaluator& evaluator, const uint4& words, const Row* row,
                      const encoding::Shape&, Move& step) {
    return evaluator.propose(row, words, step);
}

#elif SOLUTION_KIND == SOLUTION_ORDER

// Return a place near another one in an order of at least two items, with distances of all
// magnitudes equally likely.
__device__ int near_to(int u, uint32_t word, bool is_right, int n) {
    Drawn of(word);
    const int magnitude = of.below(32 - __clz(n - 1));
    const int distance = 1 + of.below(1 << magnitude);
    const int right = u + distance, left = u - distance;
    if (is_right) return right < n ? right : left >= 0 ? left : u > 0 ? 0 : n - 1;
    return left >= 0 ? left : right < n ? right : u > 0 ? 0 : n - 1;
}

// Return the number of places by which a segment is rotated, such that few items move to its other
// end.
__device__ int turned(Drawn& word, int most) {
    const int few = 1 + word.below(min(most, 4));
    return word.below(2) ? few : most + 1 - few;
}

template <class Row>
__device__ Move drawn(const uint4& words, const Row*, const encoding::Shape& shape) {
    constexpr int KINDS = 4;
    const int n = shape.n;
    Drawn word(words.x);
    int kind = word.below(KINDS);
    while (!problem::may_propose(kind)) kind = (kind + 1) % KINDS;
    const int u = draw::below(words.y, n);
    int v;
    if (word.below(2)) {
        v = near_to(u, words.z, word.below(2), n);
    } else {
        v = draw::below(words.z, n - 1);
        v += v >= u;
    }
    const int low = min(u, v), high = max(u, v);
    if (kind == Move::INSERTION && problem::may_propose(problem::ROTATION)) {
        return {Move::ROTATION, low, high, u < v ? 1 : high - low};
    }
    return {Move::Kind(kind), low, high, kind == Move::ROTATION ? turned(word, high - low) : 0};
}

#elif SOLUTION_KIND == SOLUTION_SUBSET

// Draw an exchange or a flip (`other` is NONE). If flips are not proposed, NONE means that there is
// no move, as all items or none are chosen.
template <class Row>
__device__ Move drawn(const uint4& words, const Row* row, const encoding::Shape& shape) {
    constexpr int TRIES = 16;
    const int n = genes::items(shape);
    Drawn word(words.x);
    const int one = draw::below(words.y, n);
    if constexpr (!problem::may_propose(problem::EXCHANGE)) return {one, moves::Flips::NONE};
    if (problem::may_propose(problem::FLIP) && !word.below(2)) return {one, moves::Flips::NONE};
    uint32_t other = words.z;
    for (int k = 0; k < TRIES; ++k) {
        const int item = draw::below(other, n);
        if (genes::get(row, item) != genes::get(row, one)) return {one, item};
        other = other * 0x915f77f5u + 0x9e3779b9u;
    }
    if constexpr (!problem::may_propose(problem::FLIP)) {
        const int first = draw::below(other, n);
        for (int k = 1; k <= n; ++k) {
            const int item = first + k < n ? first + k : first + k - n;
            if (genes::get(row, item) != genes::get(row, one)) return {one, item};
        }
    }
    return {one, moves::Flips::NONE};
}

#elif SOLUTION_KIND == SOLUTION_CHOICES

#if CHOICES_LIMITED
// Return whether a value has its maximum number of items.
template <class Row>
__device__ bool is_full(const Row* row, int value, const encoding::Shape& shape) {
    int items = 0;
    for (int i = 0; i < shape.n; ++i) items += row[i] == value;
    return items >= shape.most[value];
}
#endif

// Three of four moves are exchanges between items of a group: after 40 million moves, rosters were
// 1.7 % above the optimum, but 3.0 % if only half were exchanges; the results for facilities were
// equal. If there is no exchange, the move is a change of one value or, if these are not proposed,
// none. A change to a full value is replaced by an exchange.
template <class Row>
__device__ Move drawn(const uint4& words, const Row* row, const encoding::Shape& shape) {
    constexpr int TRIES = 8;
    constexpr bool SETS = problem::may_propose(problem::SETTING);
    Drawn word(words.x);
    int item = draw::below(words.y, shape.n);
    const auto exchanges = [&](int other) {
        return row[other] != row[item] && shape.fits(row, item, other);
    };
    uint32_t random = words.z;
    if (problem::may_propose(problem::SWAP) && !(SETS && word.below(4) == 0)) {
        for (int k = 0; k < TRIES; ++k) {
            const int other = shape.mate(item, random);
            if (exchanges(other)) return {item, 0, other};
            random = random * 0x915f77f5u + 0x9e3779b9u;
        }
    }
    if (SETS && shape.values > 1) {
        while (shape.sizes[item] < 2) item = item + 1 < shape.n ? item + 1 : 0;
        int value = draw::below(words.z, shape.sizes[item] - 1);
        value += value >= row[item];
#if CHOICES_LIMITED
        if (!is_full(row, value, shape))
#endif
            return {item, value, Move::NONE};
    }
    if constexpr (problem::may_propose(problem::SWAP)) {
        const int32_t* const members = shape.members + shape.first[item];
        const int count = shape.count[item];
        const int first = draw::below(random * 0x915f77f5u + 0x9e3779b9u, count);
        for (int k = 0; k < count; ++k) {
            const int other = members[first + k < count ? first + k : first + k - count];
            if (exchanges(other)) return {item, 0, other};
        }
    }
    return {item, row[item], Move::NOTHING};
}

#else

// Steps of mean lengths from half of the range down to 2^-24 of it, in both directions; a quarter
// of the moves draw from the whole range.
template <class Row>
__device__ Move drawn(const uint4& words, const Row* row, const encoding::Shape& shape) {
    using Gene = encoding::Gene;
    Drawn word(words.x);
    const int item = draw::below(words.y, shape.n);
    if (word.below(4) == 0) return {item, draw::fraction<Gene>(words.z)};
    const int length = word.below(24);
    const Gene step = draw::fraction<Gene>(words.z) * Gene(1.0 / double(1 << length));
    const Gene now = row[item];
    return {item, genes::clipped<Gene>(word.below(2) ? now + step : now - step)};
}

#endif

#ifndef STATED_STEP

// No reduction: all moves take equally long, so fewer threads would only need more rounds.
constexpr int FEWEST_LOOKS = 1 << 30;

// Return whether a drawn move is valid: there is no exchange if all items have the same value.
template <class Any>
__device__ bool exists(const Any&) {
    return true;
}

__device__ bool exists(const moves::Flips& move) {
    return problem::may_propose(problem::FLIP) || move.other != moves::Flips::NONE;
}

__device__ bool exists(const moves::Choice& move) { return move.other != moves::Choice::NOTHING; }

// Return whether a drawn move changes a solution. Steps of numbers may end where they begin, at a
// bound.
template <class Any, class Row>
__device__ bool changes(const Any& move, const Row*) {
    return exists(move);
}

template <class Number>
__device__ bool changes(const moves::Setting<Number>& move, const Number* row) {
    return row[move.item] != move.value;
}

// Draw a move; return false if there is none.
template <class Evaluator, class Row>
__device__ bool draws(const Evaluator&, const uint4& words, const Row* row,
                      const encoding::Shape& shape, Move& move) {
    move = drawn(words, row, shape);
    return exists(move);
}

#endif

}  // namespace proposals
