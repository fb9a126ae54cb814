// The settings and arrays of eax on the device. A pair of parents is numbered by its place in the
// mating order; its first parent A is replaced by the best children. Cities are identified by their
// positions in A: an edge of A connects positions p and p + 1. No random numbers.
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

constexpr int MOST_EDGES = 256;   // maximum number of edges of A removed by an E-set
constexpr int MOST_CUTS = 320;    // the same, including those removed by merging sub-tours
constexpr int MOST_CYCLES = 128;  // maximum number of AB-cycles of a pair
constexpr int NO_CYCLE = 0xffff;
constexpr int WORK = 6;                    // arrays per pair in `work`
constexpr int RECORD = 1 + 3 * MOST_CUTS;  // entries per child in `record`

constexpr int64_t NO_COST = block::Least<int64_t>::NONE;

enum Phase : int64_t { SINGLE = 0, BLOCK = 1, DONE = 2 };

// How the first tours are constructed.
enum FirstTours : int32_t { GREEDY, CURVE, NEAREST, RANDOM, MIXED, ASSIGNMENT };

// The stage of an island; a restart begins with the first phase.
struct Stage {
    int64_t phase;
    int64_t since;  // generation in which the phase began
    int64_t idle;   // consecutive generations in which too few individuals improved
    int64_t best;   // best cost of the phase, and the generation in which it was found
    int64_t best_generation;
    int64_t sleeps;     // whether an heir waits until the other individuals have converged
    int64_t inherited;  // cost of the heir that the population started with, or NO_COST
    int64_t failures;   // consecutive populations that did not improve on their heirs
};

// The AB-cycles of a pair.
struct CycleTable {
    int32_t begin[MOST_CYCLES];  // per cycle: its first place in the list of positions
    int32_t edges[MOST_CYCLES];  // per cycle: number of edges of A
    int32_t count;
    int32_t differing;  // edges of A that B lacks
};

// The outcome of a child.
struct Outcome {
    double score;  // 0: rejected, or not created
    int64_t gain;
};

constexpr int MOST_CHOSEN_CUTS = 1024;  // maximum of the chosen children of a pair together

// The chosen children of a pair: ranks that share an island send this to each other.
struct Chosen {
    int64_t gain;
    int32_t cuts, children;
    Position at[MOST_CHOSEN_CUTS];        // the positions of all cuts, sorted
    uint16_t link[2 * MOST_CHOSEN_CUTS];  // the end that each end is joined to
};

struct Plan {
    Neighbours near;
    int32_t children;        // per pair
    int32_t by_entropy;      // whether selection of children includes the entropy of edges
    int32_t spread;          // of the lengths for the first tours, in units of 1 / 256
    int32_t first_tours;     // a FirstTours
    int32_t restarts;        // whether converged islands restart
    const double* frame;     // [3]: minimum coordinates, and curve cells per unit
    const int32_t* entropy;  // [population + 2]: -f log f of the frequency of an edge
    Stage* stage;            // [islands]
    Position* position;      // [islands][population][pitch]: of each city
    int32_t* frequency;      // [islands][n][degree]: number of tours with the edge to a neighbour
    int32_t* mates;          // [islands][population][2]: the parents of each pair
    int32_t* work;           // [islands][population][WORK][pitch]
    Position* cycles;        // [islands][population][2 pitch]: the AB-cycles, as positions
    CycleTable* table;       // [islands][population]
    uint16_t* owner;         // [islands][population][pitch]: the cycle of each edge of A
    Outcome* outcome;        // [islands][population][children]
    double* promise;         // the same: scores of heavy children before merging; otherwise 0
    Position* record;        // [islands][population][children][RECORD]: the cuts of a child
    Chosen* chosen;          // [islands][population] if ranks share the island, else null
    int32_t first_pair, end_pair;  // per island: the pairs of a launch
    // Shared memory for the graph of a pair and its walks, and the number of vertices that fit.
    int32_t graph_bytes, fast_vertices;
    int32_t shares;      // number of blocks that share the heavy children of a pair
    int32_t is_outside;  // whether shared memory is too small: tours are in `work`
    int32_t shared;      // whether a launch uses `chosen`, as ranks share the island
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

// Return the first of the sorted cuts that is not before a position, or their end.
template <class Number>
__device__ int first_cut_from(const Number* at, int first, int end, int position) {
    // Branchless, as a CPU would often mispredict.
    for (int count = end - first; count > 0;) {
        const int half = (count + 1) / 2;
        first += at[first + half - 1] < position ? half : 0;
        count -= half;
    }
    return first;
}

// Wrap a position from -1 to n around the tour.
__device__ int wrapped(int position, int n) {
    return position == n ? 0 : position < 0 ? n - 1 : position;
}

}  // namespace eax

namespace algorithm {
using Plan = eax::Plan;
}
