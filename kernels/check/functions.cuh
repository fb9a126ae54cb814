// Calls the functions of a problem on given solutions, without an algorithm, for `islands check`.
// CHECK_DELTAS includes deltas of the moves in CHECK_SWAP, CHECK_REVERSAL and CHECK_INSERTION.
// Reads rows of solutions; writes costs, deltas and repaired solutions. No random numbers.
#pragma once

#ifdef SOLUTION_KIND

#include "solutions.cuh"

using Word = problem::Stored;

#ifdef STATED_REPAIRS

// Repairs solutions; coordinates are in the unit box.
KERNEL(repair_solutions, (problem::Data data, Word* solutions, int32_t n, int32_t count)) {
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        Word* const row = solutions + int64_t(k) * problem::stored_length(n);
        problem::repair(row, n, data);
        __syncthreads();
    }
}

#endif

#ifdef CHECK_FOLLOWS

KERNEL(room, (int32_t n, problem::Data data, int64_t* bytes)) {
    Scratch scratch(nullptr);
    const problem::Evaluator evaluator(scratch, n, data);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

#ifdef STATED_STEP
// Apply a step proposed by the state; return the cost according to the state, or `cost` if it
// proposes none. Called by all threads.
__device__ int64_t follow(const problem::Evaluator& evaluator, Word* row, const int32_t* numbers,
                          double, int64_t cost) {
    __shared__ problem::Move step;
    __shared__ bool is_proposed;
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint4 words{uint32_t(numbers[0]), uint32_t(numbers[1]), uint32_t(numbers[2]), 0};
        is_proposed = evaluator.propose(row, words, step);
    }
    __syncthreads();
    return is_proposed ? evaluator.make(row, step, cost, evaluator.cost_after(row, step, cost))
                       : cost;
}
#else
// Return the move that Python drew and encoded as numbers.
__device__ problem::Move move_of(const int32_t* numbers, double value) {
#if SOLUTION_KIND == SOLUTION_ORDER
    return {problem::Move::Kind(numbers[0]), numbers[1], numbers[2], numbers[3]};
#elif SOLUTION_KIND == SOLUTION_SUBSET
    return {numbers[0], numbers[1]};
#elif SOLUTION_KIND == SOLUTION_CHOICES
    return {numbers[0], numbers[1], numbers[2]};
#else
    return {numbers[0], Word(value)};
#endif
}

// Apply a move; return the cost according to the state. Called by all threads.
__device__ int64_t follow(const problem::Evaluator& evaluator, Word* row, const int32_t* numbers,
                          double value, int64_t cost) {
    __shared__ int64_t now;
    const problem::Move move = move_of(numbers, value);
    __syncthreads();
    if (threadIdx.x == 0) now = evaluator.cost_after(row, move, cost);
    __syncthreads();
    return evaluator.make(row, move, cost, now);
}
#endif

// Applies moves to solutions one after another, and writes the costs according to the state and the
// resulting solutions. With `mates`, a solution is first replaced by a child of itself and its
// mate, from four random words.
KERNEL(follow_moves, (Arena arena, problem::Data data, Word* solutions, int32_t n, int32_t count,
                      int32_t steps, const int32_t* numbers, const double* values, int64_t* costs,
                      Word* reached, const Word* mates, const uint32_t* random)) {
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        __syncthreads();
        Scratch scratch(arena.large());
        const int words = problem::stored_length(n);
        Word* const row = solutions + int64_t(k) * words;
#ifdef STATED_CROSS
        if (mates != nullptr) {
            const uint32_t* const four = random + 4 * int64_t(k);
            const uint4 drawn{four[0], four[1], four[2], four[3]};
            Scratch of_child = scratch;  // the evaluator needs at least as much
            problem::StateCross(of_child, n, data)
                .make_child(row, mates + int64_t(k) * words, drawn);
        }
#endif
        const problem::Evaluator evaluator(scratch, n, data);
        int64_t cost = problem::cost_after(row, n, data);
        evaluator.prepare(row);
        for (int step = 0; step < steps; ++step) {
            const int64_t i = int64_t(k) * steps + step;
            cost = follow(evaluator, row, numbers + 4 * i, values[i], cost);
            __syncthreads();
            if (threadIdx.x == 0) costs[i] = cost;
            for (int w = threadIdx.x; w < words; w += blockDim.x) reached[i * words + w] = row[w];
            __syncthreads();
        }
    }
}

#endif

#else

#include "core/core.cuh"
#include "core/costs.cuh"
#include ISLANDS_PROBLEM

#ifdef CHECK_ORDERS

using Word = int32_t;

struct Row {
    const int32_t* item;

    __device__ int operator[](int place) const { return item[place]; }
    __device__ uint4 four(int place) const { return *reinterpret_cast<const uint4*>(item + place); }
};

__device__ int words_of(int n) { return (n + 3) / 4 * 4; }

#else

using Word = uint32_t;

struct Row {
    const uint32_t* word;

    __device__ int operator[](int item) const { return word[item / 32] >> (item % 32) & 1; }
};

__device__ int words_of(int n) { return ((n + 31) / 32 + 3) / 4 * 4; }

#endif

KERNEL(room, (int32_t n, problem::Data data, int64_t* bytes)) {
    Scratch scratch(nullptr);
#ifdef PROBLEM_EVALUATES
    scratch.take<Word>(words_of(n));
    const problem::Workspace workspace(scratch, n, data);
#endif
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

// Evaluates rows, which the evaluation may change. A block evaluates one row after another.
KERNEL(evaluate_rows,
       (Arena arena, problem::Data data, Word* rows, int32_t n, int32_t count, int64_t* costs)) {
    const int words = words_of(n);
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        Word* const row = rows + int64_t(k) * words;
#ifdef PROBLEM_EVALUATES
        Scratch scratch(arena.large());
        Word* const solution = scratch.take<Word>(words);
        for (int w = threadIdx.x; w < words; w += blockDim.x) solution[w] = row[w];
        __syncthreads();
        const draw::Place place{1, uint32_t(k), 1, 0};
        const int64_t cost = problem::evaluate(solution, scratch, n, data, place, 0).cost;
        __syncthreads();
        for (int w = threadIdx.x; w < words; w += blockDim.x) row[w] = solution[w];
        __syncthreads();
#else
        const int64_t cost = problem::cost(Row{row}, n, data);
#endif
        if (threadIdx.x == 0) costs[k] = cost;
    }
}

#endif

#ifdef CHECK_DELTAS

#include "moves.cuh"

// Computes the deltas of moves, with a thread for each move. Orders are rows of length `pitch`, and
// `ends` are pairs of places. The deltas are grouped by the three kinds of moves.
KERNEL(compute_deltas, (problem::Data data, const int32_t* orders, int32_t n, int32_t pitch,
                        int32_t count, int32_t moves, const int32_t* ends, int64_t* deltas)) {
    const int64_t all = int64_t(count) * moves;
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const int32_t* const order = orders + int64_t(k) * pitch;
        for (int m = threadIdx.x; m < moves; m += blockDim.x) {
            const int64_t i = int64_t(k) * moves + m;
            const int u = ends[2 * i], v = ends[2 * i + 1];
#ifdef CHECK_SWAP
            deltas[i] = problem::delta(order, n, data, moves::Swap{u, v});
#endif
#ifdef CHECK_REVERSAL
            deltas[all + i] = problem::delta(order, n, data, moves::Reversal{u, v});
#endif
#ifdef CHECK_INSERTION
            deltas[2 * all + i] = problem::delta(order, n, data, moves::Insertion{u, v});
#endif
        }
    }
}

#endif
