// The pairs i < j of n items in rows, cut into runs of neighbours. A thread processes a run at
// once, with the widest accesses of a GPU or vector instructions of the CPU. Writes the layout to
// scratch memory, and reads it there. No random numbers.
#pragma once

namespace block {

#ifdef __CUDACC__
constexpr int RUN = 4;
#else
constexpr int RUN = 16;
#endif

template <class T>
struct alignas(RUN * sizeof(T) < 16 ? RUN * sizeof(T) : 16) Run {
    T item[RUN];
};

// Call body(k) for each item of a run.
template <class Body>
__device__ void along_run(Body body) {
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 1  // GCC vectorises a loop, but not eight unrolled bodies
#endif
    for (int k = 0; k < RUN; ++k) body(k);
}

// The layout of the pairs in an array. Rows begin and end with a whole run, so a few entries belong
// to no pair.
class Triangle {
  public:
    struct Place {
        int i, j;  // of the first pair of a run
    };

    __device__ Triangle(Scratch& scratch, int n)
        : n_(n),
          across_((n + RUN - 1) / RUN),
          row_(scratch.take<int32_t>(n)),
          place_(scratch.take<uint32_t>(runs())) {}

    // The result is visible after the next barrier.
    __device__ void begin() {
        for (int i = threadIdx.x; i < n_ - 1; i += blockDim.x) {
            const int first = (i + 1) / RUN, base = before(i) - first;
            row_[i] = base * RUN;
            for (int k = first; k < across_; ++k) place_[base + k] = uint32_t(i) << 16 | k;
        }
    }

    __device__ int runs() const { return before(n_ - 1); }
    __device__ int entries() const { return runs() * RUN; }
    __device__ int at(int i, int j) const { return i < j ? row_[i] + j : row_[j] + i; }
    __device__ Place place(int run) const {
        const uint32_t word = place_[run];
        return {int(word >> 16), int(word & 0xffffu) * RUN};
    }

  private:
    // Number of runs in the rows before row i; row i omits (i + 1) / RUN of the runs across.
    __device__ int before(int i) const {
        const int whole = i / RUN, rest = i % RUN;
        return i * across_ - whole * (whole - 1) / 2 * RUN - whole * (rest + 1);
    }

    const int n_, across_;
    int32_t* const row_;  // the entry that item 0 would have
    uint32_t* const place_;
};

}  // namespace block
