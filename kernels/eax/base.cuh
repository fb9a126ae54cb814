// The settings and arrays of the algorithm eax, as kernels read them. A pair of parents is numbered
// by its place in the mating order; its first parent A is replaced by the best ones of their
// children. Cities are handled by their positions in A: an edge of A joins positions p and p + 1.
// Reads nothing. No random numbers.
#pragma once

#include "core/atomic.cuh"
#include "core/islands.cuh"
#include "tours/neighbours.cuh"

// Whether positions need 32 bits.
#ifndef EAX_WIDE
#define EAX_WIDE 0
#endif

namespace eax {

#if EAX_WIDE
using Position = int32_t;
#else
using Position = uint16_t;
#endif

constexpr int MOST_EDGES = 256;   // edges of A that an E-set removes
constexpr int MOST_CUTS = 320;    // the same with those that merging sub-tours removes
constexpr int MOST_CYCLES = 128;  // AB-cycles of a pair
constexpr int NO_CYCLE = 0xffff;
constexpr int WORK = 6;                    // arrays of a pair in `work`
constexpr int RECORD = 1 + 3 * MOST_CUTS;  // numbers of a child in `record`

constexpr int64_t NO_COST = block::Least<int64_t>::NONE;

enum Phase : int64_t { SINGLE = 0, BLOCK = 1, DONE = 2 };

// How the first tours are made.
enum FirstTours : int32_t { GREEDY, CURVE, NEAREST, RANDOM, MIXED, ASSIGNMENT };

// Where an island stands; a restart begins at the first phase.
struct Stage {
    int64_t phase;
    int64_t since;  // generation in which the phase began
    int64_t idle;   // generations in a row in which too few individuals became better
    int64_t best;   // the best cost of the phase, and the generation in which it was found
    int64_t best_generation;
    int64_t sleeps;     // whether an heir waits until the other individuals have converged
    int64_t inherited;  // the cost of the heir that the population began with, or NO_COST
    int64_t failures;   // consecutive populations that have not improved on their heirs
};

// The AB-cycles of a pair.
struct CycleTable {
    int32_t begin[MOST_CYCLES];  // of each: its first place in the list of positions
    int32_t edges[MOST_CYCLES];  // of each: number of edges of A
    int32_t count;
    int32_t differing;  // edges of A that B does not have
};

// The outcome of a child.
struct Outcome {
    double score;  // 0: refused, or not made
    int64_t gain;
};

constexpr int MOST_CHOSEN_CUTS = 1024;  // of the children of a pair that are chosen together

// The chosen children of a pair: what the ranks that share an island exchange.
struct Chosen {
    int64_t gain;
    int32_t cuts, children;
    Position at[MOST_CHOSEN_CUTS];        // the positions of all cuts in their order
    uint16_t link[2 * MOST_CHOSEN_CUTS];  // the end that each end is joined to
};

struct Plan {
    Neighbours near;
    int32_t children;        // of a pair
    int32_t by_entropy;      // whether children are selected by the entropy of edges too
    int32_t spread;          // of the lengths for the first tours, in units of 1 / 256
    int32_t first_tours;     // a FirstTours
    int32_t restarts;        // whether islands that have converged begin again
    const double* frame;     // [3]: the lowest coordinates, and cells of a curve in a unit
    const int32_t* entropy;  // [population + 2]: -f log f of the frequency of an edge
    Stage* stage;            // [islands]
    Position* position;      // [islands][population][pitch]: of each city
    int32_t* frequency;      // [islands][n][degree]: number of tours with an edge to a neighbour
    int32_t* mates;          // [islands][population][2]: the parents of each pair
    int32_t* work;           // [islands][population][WORK][pitch]
    Position* cycles;        // [islands][population][2 pitch]: the AB-cycles, as positions
    CycleTable* table;       // [islands][population]
    uint16_t* owner;         // [islands][population][pitch]: the cycle of each edge of A
    Outcome* outcome;        // [islands][population][children]
    double* promise;         // the same: scores of heavy children before merging; otherwise 0
    Position* record;        // [islands][population][children][RECORD]: the cuts of a child
    Chosen* chosen;          // [islands][population] if ranks share the island, else null
    int32_t first_pair, end_pair;  // of each island: those of which a launch makes children
    // The memory of a block for the graph of a pair and its walks, and the vertices for which it is
    // large enough.
    int32_t graph_bytes, fast_vertices;
    int32_t shares;      // blocks that make the heavy children of a pair
    int32_t is_outside;  // whether tours are compared and improved in `work`: a block lacks room
    int32_t shared;      // whether a launch takes `chosen`, as ranks share the island
};

// A pair of parents.
struct Pair {
    int local, number;  // the island, and the place in its mating order
    int64_t index;      // among all pairs of this rank
    int a, b;           // slots of the parents
    const encoding::Gene *order_a, *order_b;
    const Position* position_a;
    int64_t cost_a, cost_b;

    __device__ Pair(const Islands& all, const Plan& plan, int64_t index) : index(index) {
        const auto place = all.individual(index);
        local = place.local, number = place.slot;
        a = plan.mates[2 * index], b = plan.mates[2 * index + 1];
        const int64_t generation = all.island[local].generation;
        const int32_t row_a = all.row(generation, local, a), row_b = all.row(generation, local, b);
        order_a = all.genes_of(row_a), order_b = all.genes_of(row_b);
        cost_a = all.cost[row_a], cost_b = all.cost[row_b];
        position_a = plan.position + all.number(local, a) * all.shape.pitch;
    }
};

// Return the first of ordered cuts that is not before a position, or their end.
template <class Number>
__device__ int first_cut_from(const Number* at, int first, int end, int position) {
    // Without branches, which a CPU would often predict wrongly.
    for (int count = end - first; count > 0;) {
        const int half = (count + 1) / 2;
        first += at[first + half - 1] < position ? half : 0;
        count -= half;
    }
    return first;
}

// Return a position from -1 to n as one of the tour.
__device__ int wrapped(int position, int n) {
    return position == n ? 0 : position < 0 ? n - 1 : position;
}

}  // namespace eax

namespace algorithm {
using Plan = eax::Plan;
}
