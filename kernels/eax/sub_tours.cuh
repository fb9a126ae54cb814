// The sub-tours of A after edges are cut and their ends joined differently. Cuts are numbered; cut
// i, after position p, has the ends 2 i, at p, and 2 i + 1, at p + 1. A segment of A extends from
// one cut to the next. All threads of a block cooperate. Reads AB-cycles; writes shared memory. No
// random numbers.
#pragma once

#include "eax/cycles.cuh"

namespace eax {

class SubTours {
  public:
    int n, cuts = 0, count = 0;  // cities, cuts and sub-tours
    Position* at;                // [MOST_CUTS]: the positions of the cuts, sorted
    uint16_t* id;                // [MOST_CUTS]: their numbers in this order
    Position* place;             // [MOST_CUTS]: the position of each cut by its number
    uint16_t* link;              // [2 MOST_CUTS]: the end that each end is joined to
    uint16_t* label;             // [MOST_CUTS]: the sub-tour of the segment after each cut
    int32_t* size;               // [MOST_CUTS]: number of cities of each sub-tour
    uint64_t* temporary;         // [MOST_CUTS]

    __device__ SubTours(Scratch& scratch, int n)
        : n(n),
          at(scratch.take<Position>(MOST_CUTS)),
          id(scratch.take<uint16_t>(MOST_CUTS)),
          place(scratch.take<Position>(MOST_CUTS)),
          link(scratch.take<uint16_t>(2 * MOST_CUTS)),
          label(scratch.take<uint16_t>(MOST_CUTS)),
          size(scratch.take<int32_t>(MOST_CUTS)),
          temporary(scratch.take<uint64_t>(MOST_CUTS)) {}

    // Add an AB-cycle: cut its edges of A, and join their ends by its edges of B.
    __device__ void add(const Position* cycle, int edges) {
        for (int i = threadIdx.x; i < edges; i += blockDim.x) {
            const int one = cycle[2 * i], other = cycle[2 * i + 1];
            place[cuts + i] = Position(wrapped(one + 1, n) == other ? one : other);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < edges; i += blockDim.x) {
            const int next = i + 1 < edges ? i + 1 : 0;
            const int one = end_at(cuts + i, cycle[2 * i + 1]);
            const int other = end_at(cuts + next, cycle[2 * next]);
            link[one] = uint16_t(other), link[other] = uint16_t(one);
        }
        cuts += edges;
        __syncthreads();
    }

    // Sort the cuts, and label each segment with its sub-tour.
    __device__ void find() {
        for (int i = threadIdx.x; i < cuts; i += blockDim.x) {
            temporary[i] = uint64_t(place[i]) << 16 | i;
        }
        __syncthreads();
        block::sort(temporary, cuts);
        for (int r = threadIdx.x; r < cuts; r += blockDim.x) {
            const int number = temporary[r] & 0xffff;
            at[r] = place[number], id[r] = uint16_t(number);
            label[number] = uint16_t(r);  // temporarily its rank
            size[r] = 0;
        }
        __syncthreads();
        find_orbits();
        int mine = 0;
        for (int r = threadIdx.x; r < cuts; r += blockDim.x) {
            const int number = id[r], tour = orbit()[2 * number + 1] & 0xffff;
            label[number] = uint16_t(tour);
            mine += tour == r;
            add_size(tour, length(r));
        }
        __syncthreads();
        count = block::sum(mine);
    }

    __device__ int next_rank(int r) const { return r + 1 == cuts ? 0 : r + 1; }
    // Return the number of cities of the segment after the cut of a rank.
    __device__ int length(int r) const {
        const int cities = int(at[next_rank(r)]) - int(at[r]);
        return cities > 0 ? cities : cities + n;
    }
    __device__ int tour_behind(int r) const { return label[id[r]]; }

    // Return the rank of the cut before the segment of a position.
    __device__ int segment_of(int position) const {
        const int r = cuts_before(position);
        return r == 0 ? cuts - 1 : r - 1;
    }
    // Return the position of an end.
    __device__ int position_of(int end) const {
        return end & 1 ? wrapped(int(place[end / 2]) + 1, n) : int(place[end / 2]);
    }
    // Return the position next to one in the segment after rank r, in the child.
    __device__ int neighbour(int r, int position, bool ahead) const {
        if (ahead) {
            const int next = next_rank(r);
            if (position == at[next]) return position_of(link[2 * id[next]]);
            return wrapped(position + 1, n);
        }
        if (position == wrapped(int(at[r]) + 1, n)) return position_of(link[2 * id[r] + 1]);
        return wrapped(position - 1, n);
    }

    // Return the end on a side of a position, cutting the edge if necessary. Called by one warp.
    __device__ int end_of(int position, bool ahead) {
        const int r = segment_of(position), next = next_rank(r);
        if (ahead && position == at[next]) return 2 * id[next];
        if (!ahead && position == wrapped(int(at[r]) + 1, n)) return 2 * id[r] + 1;
        const int number = cuts, tour = tour_behind(r);
        insert(ahead ? position : wrapped(position - 1, n), number, tour);
        return 2 * number + !ahead;
    }

    // Join the end `a` to `c`, and their former partners; sub-tour `from` becomes a part of `into`.
    // Called by one warp.
    __device__ void join(int a, int c, int from, int into) {
        const int b = link[a], d = link[c];
        warp::sync();
        if (warp::lane() == 0) {
            link[a] = uint16_t(c), link[c] = uint16_t(a);
            link[b] = uint16_t(d), link[d] = uint16_t(b);
            size[into] += size[from], size[from] = 0;
        }
        for (int i = warp::lane(); i < cuts; i += warp::SIZE) {
            if (label[i] == from) label[i] = uint16_t(into);
        }
        --count;
        warp::sync();
    }

  private:
    static constexpr int ENDS_AT_ONCE = warp::SIZE > 1 ? 4 : 1;  // per thread

    __device__ int end_at(int cut, int position) const {
        return 2 * cut + (place[cut] != position);
    }
    __device__ uint32_t* orbit() const { return reinterpret_cast<uint32_t*>(temporary); }
    __device__ void add_size(int tour, int cities) {
        atomicAdd(reinterpret_cast<uint32_t*>(&size[tour]), uint32_t(cities));
    }

    // Return the number of cuts at positions before this one.
    __device__ int cuts_before(int position) const { return first_cut_from(at, 0, cuts, position); }

    // Follow each end through its segment and its link to the next end, by pointer doubling: a word
    // contains the end reached and the lowest segment rank on the way.
    __device__ void find_orbits() {
        uint32_t* const word = orbit();
        for (int e = threadIdx.x; e < 2 * cuts; e += blockDim.x) {
            const int r = label[e / 2], before = r == 0 ? cuts - 1 : r - 1;
            word[e] = e & 1 ? uint32_t(link[2 * id[next_rank(r)]]) << 16 | r
                            : uint32_t(link[2 * id[before] + 1]) << 16 | before;
        }
        __syncthreads();
        const int part = ENDS_AT_ONCE * blockDim.x;
        for (int steps = 1; steps < cuts; steps *= 2) {
            // Words of earlier parts are already updated and reach further, which is harmless.
            for (int first = threadIdx.x; first - int(threadIdx.x) < 2 * cuts; first += part) {
                uint32_t reached[ENDS_AT_ONCE];
#pragma unroll
                for (int k = 0; k < ENDS_AT_ONCE; ++k) {
                    const int e = min(first + k * int(blockDim.x), 2 * cuts - 1);
                    const uint32_t here = word[e], there = word[here >> 16];
                    reached[k] = (there & 0xffff0000u) | min(here & 0xffff, there & 0xffff);
                }
                __syncthreads();
#pragma unroll
                for (int k = 0; k < ENDS_AT_ONCE; ++k) {
                    const int e = first + k * int(blockDim.x);
                    if (e < 2 * cuts) word[e] = reached[k];
                }
                __syncthreads();
            }
        }
    }

    // Insert a cut into the sorted list. Called by one warp.
    __device__ void insert(int position, int number, int tour) {
        const int rank = cuts_before(position);
        warp::sync();
        for (int top = cuts - warp::lane(); warp::first(top) > rank;
             top -= READS_AT_ONCE * warp::SIZE) {
            Position moved[READS_AT_ONCE];
            uint16_t moved_id[READS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int from = max(top - k * warp::SIZE - 1, 0);
                moved[k] = at[from], moved_id[k] = id[from];
            }
            warp::sync();
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = top - k * warp::SIZE;
                if (i > rank) at[i] = moved[k], id[i] = moved_id[k];
            }
            warp::sync();
        }
        if (warp::lane() == 0) {
            at[rank] = Position(position), id[rank] = uint16_t(number);
            place[number] = Position(position), label[number] = uint16_t(tour);
            link[2 * number] = uint16_t(2 * number + 1),
                     link[2 * number + 1] = uint16_t(2 * number);
        }
        ++cuts;
        warp::sync();
    }
};

}  // namespace eax
