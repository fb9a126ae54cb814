// AB-cycles: closed walks along alternating edges of A and B. Several warps of a block walk
// concurrently, each in its own copy of the graph, so a cycle may be found twice. Reads the graph
// of a pair; writes the cycles. Random streams: WALK.
#pragma once

#include "eax/walks.cuh"

namespace eax {

constexpr int MOST_WALKS = 8;  // concurrent walks, if memory allows
constexpr int PER_WALK = 512;  // differing positions per walk; with fewer, walks coincide
// Maximum number of steps per cycle if there are several walks: 50 are usual, and all other pairs
// would wait for a slow walk.
constexpr int STEPS_PER_CYCLE = 64;
constexpr int UNLIMITED = 0x7fffffff;

// The AB-cycles of a pair. Each is a list of positions: the first and second, third and fourth, ...
// are connected by edges of A; the others, and the last and first, by edges of B.
struct Cycles {
    Position* positions;
    CycleTable* table;

    __device__ Cycles(const Plan& plan, int64_t pair, int pitch)
        : positions(plan.cycles + 2 * pair * pitch), table(plan.table + pair) {}

    __device__ int count() const { return table->count; }
    __device__ int edges(int cycle) const { return table->edges[cycle]; }
    __device__ const Position* of(int cycle) const { return positions + table->begin[cycle]; }

    // Write the cycle of each edge of A to `owner`, at the first position of the edge.
    __device__ void mark(uint16_t* owner, int n) const {
        for (int i = warp::index(); i < count(); i += warp::count()) {
            const Position* const mine = of(i);
            for (int k = 2 * warp::lane(); k < 2 * edges(i); k += 2 * warp::SIZE) {
                const int one = mine[k], other = mine[k + 1];
                owner[wrapped(one + 1, n) == other ? one : other] = uint16_t(i);
            }
        }
    }
};

// Memory of the walks of a pair: paths and found cycles.
template <class Number>
struct WalkRoom {
    Number* path;  // [walks][LONGEST_WALK]
    int32_t *begin, *edges, *count;

    __device__ WalkRoom(Scratch& scratch, int walks)
        : path(scratch.take<Number>(walks * LONGEST_WALK)),
          begin(scratch.take<int32_t>(MOST_CYCLES)),
          edges(scratch.take<int32_t>(MOST_CYCLES)),
          count(scratch.take<int32_t>(MOST_WALKS)) {}
};

// Return the bytes of the flags of all vertices, in whole words.
__device__ int bytes_of_bits(int vertices) { return (vertices + 3) / 4 * 4; }

// Return the number of concurrent walks in a graph in shared memory.
__device__ int walks_in(const Plan& plan, int vertices, bool is_block) {
    if (is_block) return 1;  // the cycles of this phase must have no common edge
    constexpr int LISTS = 4 * (2 * MOST_CYCLES + MOST_WALKS), ALIGNED = 32;
    const int left = plan.graph_bytes - LISTS - ALIGNED - 4 * vertices;
    const int fit = min(MOST_WALKS, left / (bytes_of_bits(vertices) + 2 * LONGEST_WALK));
    return max(1, min(fit, vertices / PER_WALK));
}

// Find at most `most` AB-cycles, using all threads. The flags of the graph have room for all walks.
template <class Number>
__device__ void find_cycles(const Cycles& cycles, const Graph<Number>& graph, Scratch scratch,
                            int walks, int most, int pitch, const draw::Place& place) {
    uint32_t* const words = reinterpret_cast<uint32_t*>(graph.bits);
    const int size = bytes_of_bits(graph.count) / sizeof(uint32_t);
    for (int i = threadIdx.x; walks > 1 && i < size; i += blockDim.x) {
        const uint32_t word = words[i];
        for (int w = 1; w < walks; ++w) words[w * size + i] = word;
    }
    __syncthreads();
    const WalkRoom<Number> room(scratch, walks);
    const int share = (most + walks - 1) / walks, positions = 2 * pitch / walks;
    for (int w = warp::index(); w < walks; w += warp::count()) {
        Graph<Number> mine = graph;
        mine.bits += w * bytes_of_bits(graph.count);
        Coins coins(place, w);
        const Found found{cycles.positions + int64_t(w) * positions, positions,
                          room.begin + w * share, room.edges + w * share};
        Walker<Number> walker(mine, room.path + w * LONGEST_WALK, coins);
        const int steps = walks > 1 ? STEPS_PER_CYCLE * share : UNLIMITED;
        const int count = walker.run(found, min(share, most - w * share), steps);
        if (warp::lane() == 0) room.count[w] = count;
    }
    __syncthreads();
    int before = 0;
    for (int w = 0; w < walks; ++w) {
        for (int i = threadIdx.x; i < room.count[w]; i += blockDim.x) {
            cycles.table->begin[before + i] = w * positions + room.begin[w * share + i];
            cycles.table->edges[before + i] = room.edges[w * share + i];
        }
        before += room.count[w];
    }
    if (threadIdx.x == 0) cycles.table->count = before, cycles.table->differing = graph.edges;
    __syncthreads();
}

}  // namespace eax
