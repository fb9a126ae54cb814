// The pairs i < j of n items in rows, divided into runs of neighbours. A thread processes a run at
// once, with the widest accesses of a GPU or vector instructions of the CPU. With PROBLEM_CLASSES,
// consecutive items may be equal, and equal items do not form pairs. PAIRS_A_RUN: run length on a
// CPU. Writes the layout to scratch memory. No random numbers.
#pragma once

#include "core/scratch.cuh"
#ifndef __CUDACC__
#include "core/lanes.hpp"
#endif

#ifndef PAIRS_A_RUN
#define PAIRS_A_RUN 16  // on a CPU, a multiple of the lanes of a vector
#endif

#ifndef PROBLEM_CLASSES
#define PROBLEM_CLASSES 0
#endif

namespace block {

#ifdef __CUDACC__
constexpr int RUN = 4;
#else
constexpr int RUN = PAIRS_A_RUN;
#endif

template <class T>
struct alignas(RUN * sizeof(T) < 16 ? RUN * sizeof(T) : 16) Run {
    T item[RUN];
};

// A run for reading. A GPU loads it at once. A CPU reads it in place: compilers copy it in parts,
// and wider vector loads of the copy would stall until all stores are complete.
#ifdef __CUDACC__
template <class T>
using ReadRun = const Run<T>;
#else
template <class T>
using ReadRun = const Run<T>&;
#endif

// Call body(k) for each item of a run.
template <class Body>
__device__ void along_run(Body body) {
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 1  // GCC vectorises a loop but not eight unrolled bodies
#endif
    for (int k = 0; k < RUN; ++k) body(k);
}

// The layout of the pairs in an array. Rows consist of complete runs, so a few entries belong to no
// pair.
class Triangle {
  public:
    struct Place {
        int i, j;  // of the first pair of a run
    };

    // `after[i]` is the first item after those equal to i. `after` is null without
    // PROBLEM_CLASSES, where this would be i + 1.
    __device__ Triangle(Scratch& scratch, int n, const int32_t* after)
        : n_(n),
          across_((n + RUN - 1) / RUN),
          after_(after),
          rows_(count_rows()),
          runs_(count_runs()),
          row_(scratch.take<int32_t>(n)),
          place_(scratch.take<uint32_t>(runs())) {}

    // The result is visible after the next barrier.
    __device__ void begin() {
        int passed = 0, runs_before = 0;
        for (int i = threadIdx.x; i < rows(); i += blockDim.x) {
            if constexpr (PROBLEM_CLASSES) {
                while (passed < i) runs_before += across_ - first(passed++) / RUN;
            } else {
                runs_before = before(i);
            }
            const int begin = first(i) / RUN, base = runs_before - begin;
            row_[i] = base * RUN;
            for (int k = begin; k < across_; ++k) place_[base + k] = uint32_t(i) << 16 | k;
        }
    }

    // Number of items with pairs to later ones; these are the first items.
    __device__ int rows() const { return PROBLEM_CLASSES ? rows_ : n_ - 1; }
    // The first later item that forms a pair with item i, or n.
    __device__ int first(int i) const { return PROBLEM_CLASSES ? after_[i] : i + 1; }
    // Return whether i < j is a pair.
    __device__ bool has(int i, int j) const { return first(i) <= j && j < n_; }
    __device__ bool are_equal(int i, int j) const {
        return PROBLEM_CLASSES && after_[i] == after_[j];
    }
    // Number of pairs in the rows before row i.
    __device__ int64_t pairs_before(int i) const {
        if constexpr (!PROBLEM_CLASSES) return int64_t(i) * (2 * n_ - 1 - i) / 2;
        int64_t count = 0;
        for (int k = 0; k < i; ++k) count += n_ - first(k);
        return count;
    }
    __device__ int64_t pairs() const { return pairs_before(rows()); }

    __device__ int runs() const { return PROBLEM_CLASSES ? runs_ : before(n_ - 1); }
    __device__ int entries() const { return runs() * RUN; }
    __device__ int at(int i, int j) const { return i < j ? row_[i] + j : row_[j] + i; }
    __device__ Place place(int run) const {
        const uint32_t word = place_[run];
        return {int(word >> 16), int(word & 0xffffu) * RUN};
    }

    // Call visit(run, place) for each run of this thread until halts() is true. On a CPU, halts()
    // is called once per row.
    template <class Halts, class Visit>
    __device__ void each_run(Halts halts, Visit visit) const {
#ifdef __CUDACC__
        for (int run = threadIdx.x; run < runs() && !halts(); run += blockDim.x) {
            visit(run, place(run));
        }
#else
        // A single thread needs no table of places.
        for (int i = 0, run = 0, end = rows(); i < end && !halts(); ++i) {
            for (int k = first(i) / RUN; k < across_; ++k) visit(run++, Place{i, k * RUN});
        }
#endif
    }

#ifndef __CUDACC__
    // Set the value of each pair of item i with another item j to body(j, value).
    template <class T, class Body>
    void each_pair(T* values, int i, Body body) const {
        const int n = n_, later = first(i);
        for (int j = 0; j < i; ++j) {
            if (are_equal(i, j)) continue;
            T& value = values[at(j, i)];
            value = body(j, value);
        }
        if (later >= n) return;
        T* const row = values + at(i, later);
#pragma GCC ivdep
        for (int j = later; j < n; ++j) row[j - later] = body(j, row[j - later]);
    }
#endif

  private:
    __device__ int count_rows() const {
        int rows = 0;
        if constexpr (PROBLEM_CLASSES) {
            while (rows < n_ && after_[rows] < n_) ++rows;
        }
        return rows;
    }
    __device__ int count_runs() const {
        int runs = 0;
        for (int i = 0; i < rows_; ++i) runs += across_ - first(i) / RUN;
        return runs;
    }

    // Without PROBLEM_CLASSES: number of runs before row i. Row i lacks the first (i + 1) / RUN
    // runs.
    __device__ int before(int i) const {
        const int whole = i / RUN, rest = i % RUN;
        return i * across_ - whole * (whole - 1) / 2 * RUN - whole * (rest + 1);
    }

    const int n_, across_;
    const int32_t* const after_;
    const int rows_, runs_;  // only with PROBLEM_CLASSES
    int32_t* const row_;     // the index that column 0 of each row would have
    uint32_t* const place_;
};

}  // namespace block
