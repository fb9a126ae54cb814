// The positions of A at which the parents differ, with the edges that only one of them contains.
// Reads the tours of a pair; writes the lists. No random numbers.
#pragma once

#include "eax/base.cuh"

namespace eax {

// The unsigned integer with twice as many bits as `Number`.
template <class Number>
struct Twice;
template <>
struct Twice<uint16_t> {
    using Word = uint32_t;
};
template <>
struct Twice<int32_t> {
    using Word = uint64_t;
};

// The two neighbours of a vertex in B, in one word, so that selecting one needs no memory access.
template <class Number>
class Adjacent {
  public:
    __device__ int at(int side) const { return Number(both_ >> side * BITS); }
    __device__ void set(int side, int vertex) { both_ |= Word(Number(vertex)) << side * BITS; }

  private:
    using Word = typename Twice<Number>::Word;
    static constexpr int BITS = 8 * sizeof(Number);

    Word both_;
};

// The differing positions as vertices of a graph, numbered in order. Flags of a vertex mark its
// remaining edges (1 to the next and 2 to the previous vertex in A, 4 and 8 to its neighbours in
// B), and whether the walk has reached it after an even (16) or odd (32) number of steps.
template <class Number>
struct Graph {
    static constexpr int SEEN = 16;

    int count, edges;   // vertices, and edges of A
    int32_t* position;  // [count]
    Adjacent<Number>* adjacent;
    uint8_t* bits;

    __device__ Graph(int count, int32_t* position, Adjacent<Number>* adjacent, uint8_t* bits)
        : count(count), edges(0), position(position), adjacent(adjacent), bits(bits) {}

    // Return the neighbour of a vertex in A: the next one or the previous one.
    __device__ int neighbour(int vertex, int is_before) const {
        if (is_before) return vertex > 0 ? vertex - 1 : count - 1;
        return vertex + 1 < count ? vertex + 1 : 0;
    }
};

// A bit set of positions, with the number of bits before each word.
class Marks {
  public:
    __device__ Marks(Scratch& scratch, int n)
        : words_((n + 31) / 32),
          bits_(scratch.take<uint32_t>(words_)),
          before_(scratch.take<uint32_t>(words_)) {}

    __device__ static int64_t bytes(int n) {
        Scratch counted(nullptr);
        return (Marks(counted, n), counted.bytes());
    }

    __device__ int size() const { return words_; }
    __device__ uint32_t& word(int i) { return bits_[i]; }
    __device__ uint32_t before(int i) const { return before_[i]; }
    __device__ bool has(int i) const { return bits_[i / 32] >> (i % 32) & 1; }
    __device__ void mark(int i) { set_bits(&bits_[i / 32], 1u << (i % 32)); }
    // Return the number of marked positions before this one.
    __device__ int number(int i) const {
        return before_[i / 32] + __popc(bits_[i / 32] & ((1u << (i % 32)) - 1));
    }
    __device__ void clear() {
        for (int i = threadIdx.x; i < words_; i += blockDim.x) bits_[i] = 0;
        __syncthreads();
    }
    // Count the bits before each word; return the total.
    __device__ int count() {
        for (int i = threadIdx.x; i < words_; i += blockDim.x) before_[i] = __popc(bits_[i]);
        __syncthreads();
        block::scan(before_, words_);
        return before_[words_ - 1] + __popc(bits_[words_ - 1]);
    }

  private:
    const int words_;
    uint32_t *const bits_, *const before_;
};

// Return the memory of a comparison: the last array of `work`, or the end of shared memory.
__device__ Scratch memory_of(const Plan& plan, int32_t* work, int64_t pitch, char* block, int n) {
    if (plan.is_outside) return Scratch(reinterpret_cast<char*>(work + (WORK - 1) * pitch));
    return Scratch(block + plan.graph_bytes - 2 * Marks::bytes(n));
}

// Compares the parents of a pair, using all threads of a block.
class Comparison {
  public:
    // `placed` has room for n numbers.
    __device__ Comparison(const Plan& plan, const Pair& pair, Scratch& scratch, int32_t* placed,
                          int n)
        : plan_(plan),
          pair_(pair),
          n_(n),
          placed_(placed),
          common_(scratch, n),
          differing_(scratch, n) {}

    // Return the number of differing positions. `memory` is shared memory: all of it before the bit
    // sets of this comparison may be overwritten.
    __device__ int count(char* memory) {
        if (SHARED_MEMORY_IS_FASTER && fits()) {
            auto* const copied = reinterpret_cast<uint64_t*>(memory);
            auto* const original = reinterpret_cast<const uint64_t*>(pair_.position_a);
            for (int i = threadIdx.x; i < words_of(n_); i += blockDim.x) copied[i] = original[i];
            __syncthreads();
            place(reinterpret_cast<const Position*>(copied));
        } else {
            place(pair_.position_a);
        }
        mark_common();
        mark_differing();
        return differing_.count();
    }

    // Write the graph of the differing positions.
    template <class Number>
    __device__ void write(Graph<Number>& graph) {
        list(graph);
        __syncthreads();
        link(graph);
        __syncthreads();
    }

  private:
    __device__ static int words_of(int n) { return (n + 3) / 4 * sizeof(Position) / 2; }
    __device__ bool fits() const {
        return !plan_.is_outside &&
               words_of(n_) * int(sizeof(uint64_t)) <= plan_.graph_bytes - 2 * Marks::bytes(n_);
    }

    // Find the position in A of the city at each position of B.
    __device__ void place(const Position* position_a) {
        for (int first = threadIdx.x; first < n_; first += READS_AT_ONCE * blockDim.x) {
            int position[READS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = min(first + k * int(blockDim.x), n_ - 1);
                position[k] = position_a[pair_.order_b[i]];
            }
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = first + k * int(blockDim.x);
                if (i < n_) placed_[i] = position[k];
            }
        }
    }

    // Mark each edge of A that is also in B, at the first of its two positions.
    __device__ void mark_common() {
        common_.clear();
        for (int first = threadIdx.x; first < n_; first += READS_AT_ONCE * blockDim.x) {
            int one[READS_AT_ONCE], other[READS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = min(first + k * int(blockDim.x), n_ - 1);
                one[k] = placed_[i], other[k] = placed_[wrapped(i + 1, n_)];
            }
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {  // the last edge may be marked twice
                if (other[k] == wrapped(one[k] + 1, n_)) common_.mark(one[k]);
                if (one[k] == wrapped(other[k] + 1, n_)) common_.mark(other[k]);
            }
        }
        __syncthreads();
    }

    __device__ void mark_differing() {
        const int tail = n_ % 32;
        for (int i = threadIdx.x; i < common_.size(); i += blockDim.x) {
            const uint32_t here = common_.word(i);
            const uint32_t carry = i > 0 ? common_.word(i - 1) >> 31 : common_.has(n_ - 1);
            uint32_t differing = ~here | ~(here << 1 | carry);
            if (tail && i == common_.size() - 1) differing &= (1u << tail) - 1;
            differing_.word(i) = differing;
        }
        __syncthreads();
    }

    // List the differing positions and their edges of A.
    template <class Number>
    __device__ void list(Graph<Number>& graph) {
        int edges = 0;
        for (int i = threadIdx.x; i < differing_.size(); i += blockDim.x) {
            uint32_t bits = differing_.word(i);
            for (int number = differing_.before(i); bits; ++number, bits &= bits - 1) {
                const int position = 32 * i + __ffs(bits) - 1;
                const bool ahead = !common_.has(position);
                const bool behind = !common_.has(wrapped(position - 1, n_));
                graph.position[number] = position;
                graph.bits[number] = uint8_t(ahead | behind << 1);
                edges += ahead;
            }
        }
        graph.edges = block::sum(edges);
    }

    // Link each differing position to its neighbours in B.
    template <class Number>
    __device__ void link(Graph<Number>& graph) {
        for (int first = threadIdx.x; first < n_; first += READS_AT_ONCE * blockDim.x) {
            int here[READS_AT_ONCE], around[READS_AT_ONCE][2];
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = min(first + k * int(blockDim.x), n_ - 1);
                here[k] = placed_[i];
                around[k][0] = placed_[wrapped(i - 1, n_)];
                around[k][1] = placed_[wrapped(i + 1, n_)];
            }
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                if (first + k * int(blockDim.x) < n_ && differing_.has(here[k])) {
                    link(graph, here[k], around[k]);
                }
            }
        }
    }

    template <class Number>
    __device__ void link(Graph<Number>& graph, int here, const int* around) {
        const int number = differing_.number(here);
        uint32_t bits = graph.bits[number];
        Adjacent<Number> adjacent{};
        for (int side = 0; side < 2; ++side) {
            const int other = around[side];
            if (other == wrapped(here + 1, n_) || here == wrapped(other + 1, n_)) continue;
            adjacent.set(side, differing_.number(other));
            bits |= 4u << side;
        }
        graph.adjacent[number] = adjacent;
        graph.bits[number] = uint8_t(bits);
    }

    const Plan& plan_;
    const Pair& pair_;
    const int n_;
    int32_t* const placed_;  // the position in A of the city at each position of B
    Marks common_, differing_;
};

}  // namespace eax
