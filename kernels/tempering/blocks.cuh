// Blocks: compound moves of choices, whose results single moves only reach through higher costs. A
// block closes a value, moving each of its items to its best other value, or opens an unused value,
// moving to it the items that are cheaper there. Its single moves are evaluated one by one, and the
// block is accepted or undone as a whole. There are no blocks if values have a limited number of
// items. Changes the solution. No random numbers here: the caller passes random words.
#pragma once

#include "tempering/move_rule.cuh"
#include "tempering/proposals.cuh"

namespace tempering {

#if SOLUTION_KIND == SOLUTION_CHOICES && (defined(STATED_STATE) || defined(STATED_DELTA)) && \
    !defined(STATED_STEP) && !CHOICES_LIMITED

class Blocks {
  public:
    __device__ Blocks(Scratch& scratch, const encoding::Shape& shape)
        : shape_(shape), log_(scratch.take<problem::Move>(shape.n)) {}

    // Return whether a proposal is a block: one in n is, as a block evaluates about n moves.
    __device__ bool are_at(const uint4& words) const {
        return problem::may_propose(problem::SETTING) &&
               draw::below(words.x, max(shape_.n, FEWEST)) == 0;
    }

    // Propose a block using all threads; return the decision of rule::decide. `cost` becomes that
    // of the solution, and `evaluated` the number of evaluated moves.
    __device__ rule::Decision run(const problem::Evaluator& evaluator, Gene* row,
                                  const uint4& words, const Acceptance<Delta>& acceptance,
                                  int64_t& cost, int& evaluated) {
        const int64_t before = cost;
        moves_ = evaluated_ = 0;
        if (words.w & 1) {
            close(evaluator, row, row[draw::below(words.y, shape_.n)], cost);
        } else {
            open(evaluator, row, draw::below(words.y, shape_.values), cost);
        }
        evaluated = evaluated_;
        rule::Decision decision{false, false};
        if (moves_ > 0) decision = rule::decide(cost, before, acceptance, words.z);
        if (!decision.accepts) {
            while (moves_ > 0) evaluator.make(row, log_[--moves_], cost, before);
            cost = before;
        }
        return decision;
    }

  private:
    static constexpr int FEWEST = 16;
    static constexpr int64_t NONE = int64_t(~uint64_t(0) >> 1);  // above all costs

    // Move all items with a value to other values.
    __device__ void close(const problem::Evaluator& evaluator, Gene* row, int value,
                          int64_t& cost) {
        for (int item = 0; item < shape_.n; ++item) {
            if (row[item] != value || shape_.sizes[item] < 2) continue;
            block::Ranked best{NONE, 0};
            for (int other = threadIdx.x; other < shape_.sizes[item]; other += blockDim.x) {
                if (other == value) continue;
                const block::Ranked tried{evaluator.cost_after(row, set(item, other), cost),
                                          uint32_t(other)};
                if (tried.before(best)) best = tried;
            }
            evaluated_ += shape_.sizes[item] - 1;
            best = block::argmin(best);
            make(evaluator, row, set(item, best.index), best.value, cost);
        }
    }

    // Move the item with the smallest loss to an unused value, and then all items that are cheaper
    // there.
    __device__ void open(const problem::Evaluator& evaluator, Gene* row, int value, int64_t& cost) {
        int used = 0;
        for (int item = threadIdx.x; item < shape_.n; item += blockDim.x) {
            used += row[item] == value;
        }
        if (block::sum(int32_t(used)) > 0) return;
        block::Ranked best{NONE, uint32_t(shape_.n)};
        for (int item = threadIdx.x; item < shape_.n; item += blockDim.x) {
            if (value >= shape_.sizes[item]) continue;
            const block::Ranked tried{evaluator.cost_after(row, set(item, value), cost),
                                      uint32_t(item)};
            if (tried.before(best)) best = tried;
        }
        evaluated_ += 2 * shape_.n;
        best = block::argmin(best);
        if (int(best.index) == shape_.n) return;
        make(evaluator, row, set(best.index, value), best.value, cost);
        for (int next = 0; next < shape_.n;) {
            const int item = next + threadIdx.x;
            block::Ranked cheaper{NONE, 0};
            if (item < shape_.n && row[item] != value && value < shape_.sizes[item]) {
                const int64_t after = evaluator.cost_after(row, set(item, value), cost);
                // Select the first item, so that the number of threads does not matter.
                if (after < cost) cheaper = {threadIdx.x, 0};
            }
            cheaper = block::argmin(cheaper);
            if (cheaper.value == NONE) {
                next += blockDim.x;
                continue;
            }
            const int found = next + int(cheaper.value);
            make(evaluator, row, set(found, value),
                 cost_after(evaluator, row, set(found, value), cost), cost);
            next = found + 1;
        }
    }

    // Return the cost after a move to all threads.
    __device__ static int64_t cost_after(const problem::Evaluator& evaluator, const Gene* row,
                                         const problem::Move& move, int64_t cost) {
        __shared__ int64_t after;
        __syncthreads();
        if (threadIdx.x == 0) after = evaluator.cost_after(row, move, cost);
        __syncthreads();
        return after;
    }

    __device__ static problem::Move set(int item, int value) {
        return {item, value, problem::Move::NONE};
    }

    // Apply a move, and store its reverse.
    __device__ void make(const problem::Evaluator& evaluator, Gene* row, const problem::Move& move,
                         int64_t after, int64_t& cost) {
        if (threadIdx.x == 0) log_[moves_] = set(move.item, row[move.item]);
        ++moves_;
        cost = evaluator.make(row, move, cost, after);
    }

    const encoding::Shape& shape_;
    problem::Move* const log_;
    int moves_, evaluated_;
};

#else

// Other kinds of solutions have no blocks.
class Blocks {
  public:
    __device__ Blocks(Scratch&, const encoding::Shape&) {}

    __device__ static constexpr bool are_at(const uint4&) { return false; }

    __device__ static rule::Decision run(const problem::Evaluator&, Gene*, const uint4&,
                                         const Acceptance<Delta>&, int64_t&, int&) {
        return {false, false};
    }
};

#endif

}  // namespace tempering
