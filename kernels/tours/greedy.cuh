// Constructs a tour by greedy matching: paths, initially single cities, are joined by the shortest
// edges, with randomised lengths so that tours differ. In each round, every path chooses its
// shortest edge to another path; edges that both paths accept are added at once. First, neighbours
// are joined, then path ends that are close in the order of all cities. Reads the problem and the
// neighbours; writes a tour. No random numbers of its own.
#pragma once

#include "core/atomic.cuh"
#include "improvers/base.cuh"
#include "tours/neighbours.cuh"
#include "tours/random_lengths.cuh"

namespace tours {

constexpr int REACH = 50;  // path ends compared on each side, in the second phase

// The working memory for one tour.
struct Paths {
    static constexpr int ARRAYS = 6;  // of n entries each, one pitch apart

    int32_t* mate;    // [2][n]: the adjacent cities of each one, or -1
    int32_t* end;     // [n]: for a city at an end of a path, the other end
    int32_t* choice;  // [n]: for an end, the city with the shortest edge to it, or -1
    int32_t* suitor;  // [n]: for the lower end, the lowest path that offers a shorter edge
    int32_t* list;    // [n]: the ends in the order of all cities

    __device__ Paths(int32_t* memory, int64_t pitch)
        : mate(memory),
          end(memory + 2 * pitch),
          choice(memory + 3 * pitch),
          suitor(memory + 4 * pitch),
          list(memory + 5 * pitch) {}
};

// An edge from an end of a path; sorted by length, then by cities.
struct Edge {
    int64_t length;
    int from, to;  // to is -1 if there is no edge

    __device__ bool before(const Edge& other) const {
        if (to < 0 || other.to < 0) return to >= 0;
        if (length != other.length) return length < other.length;
        const int low = min(from, to), others = min(other.from, other.to);
        return low != others ? low < others : max(from, to) < max(other.from, other.to);
    }
    __device__ bool is_same(const Edge& other) const {
        return to >= 0 && min(from, to) == min(other.from, other.to) &&
               max(from, to) == max(other.from, other.to);
    }
};

class Greedy {
  public:
    __device__ Greedy(const RandomLengths& lengths, const Neighbours& near, const Paths& paths)
        : lengths_(lengths), near_(near), n_(lengths.n), paths_(paths) {}

    // Write a tour to `order`, using all threads; return false if a stop was requested.
    __device__ bool run(const improver::Plan& plan, int32_t* order) {
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
            paths_.mate[i] = paths_.mate[pitch() + i] = -1;
            paths_.end[i] = i;
            paths_.choice[i] = UNKNOWN;
        }
        __syncthreads();
        do {
            if (POLLING_IS_CHEAP && improver::halts(plan)) return false;
            choose_neighbours();
        } while (join(nullptr, n_));
        for (;;) {
            if (POLLING_IS_CHEAP && improver::halts(plan)) return false;
            const int ends = list_ends();
            if (ends <= 2) break;
            choose_ends(ends);
            if (!join(paths_.list, ends)) break;  // never: the shortest edge is always accepted
        }
        write(order);
        return true;
    }

  private:
    static constexpr int UNKNOWN = -2;

    __device__ int64_t pitch() const { return (paths_.end - paths_.mate) / 2; }
    __device__ bool is_end(int city) const { return paths_.mate[pitch() + city] < 0; }
    __device__ int path_of(int end) const { return min(end, paths_.end[end]); }

    __device__ Edge edge(int from, int to) const {
        if (to < 0) return {0, from, -1};
        return {lengths_.of(from, to), from, to};
    }

    // Return whether the choice of an end is outdated.
    __device__ bool is_outdated(int city) const {
        const int other = paths_.choice[city];
        if (other == -1) return false;
        return other == UNKNOWN || !is_end(other) || paths_.end[city] == other;
    }

    __device__ bool may_join(int city, int other) const {
        return other != city && is_end(other) && paths_.end[city] != other;
    }

    // Each end chooses among its neighbours.
    __device__ void choose_neighbours() {
        for (int city = threadIdx.x; city < n_; city += blockDim.x) {
            if (!is_end(city)) continue;
            paths_.suitor[city] = n_;
            if (!is_outdated(city)) continue;
            Edge best{0, city, -1};
            const int32_t* const neighbours = near_.of(city);
            for (int i = 0; i < near_.degree; ++i) consider(city, neighbours[i], best);
            paths_.choice[city] = best.to;
        }
        __syncthreads();
    }

    // List the ends in the order of all cities; return their number.
    __device__ int list_ends() {
        const int chunk = (n_ + blockDim.x - 1) / blockDim.x;
        const int first = min(n_, int(threadIdx.x) * chunk), last = min(n_, first + chunk);
        int mine = 0;
        for (int i = first; i < last; ++i) mine += is_end(near_.cities[i]);
        int place = block::sum_before(mine);
        for (int i = first; i < last; ++i) {
            const int city = near_.cities[i];
            if (is_end(city)) paths_.list[place++] = city;
        }
        return block::sum(mine);
    }

    // Each end chooses among nearby ends in the list.
    __device__ void choose_ends(int ends) {
        __syncthreads();
        for (int i = threadIdx.x; i < ends; i += blockDim.x) {
            const int city = paths_.list[i];
            paths_.suitor[city] = n_;
            const int other = paths_.choice[city];
            if (other >= 0 && !is_outdated(city)) continue;
            Edge best{0, city, -1};
            const int last = min(ends - 1, i + REACH);
            for (int k = max(0, i - REACH); k <= last; ++k) consider(city, paths_.list[k], best);
            paths_.choice[city] = best.to;
        }
        __syncthreads();
    }

    __device__ void consider(int city, int other, Edge& best) const {
        if (!may_join(city, other)) return;
        const Edge tried = edge(city, other);
        if (tried.before(best)) best = tried;
    }

    // Return the shorter one of the edges chosen by both ends of a path.
    __device__ Edge best_of(int city) const {
        const int other = paths_.end[city];
        const Edge mine = edge(city, paths_.choice[city]), its = edge(other, paths_.choice[other]);
        return its.before(mine) ? its : mine;
    }

    // Join paths by edges that both accept; `ends` lists the cities to try, or null for all. Return
    // whether there was such an edge.
    __device__ bool join(const int32_t* ends, int count) {
        // A path offers itself to the path that it chose, if that one would choose a longer edge.
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            const int city = ends ? ends[i] : i;
            if (!is_end(city) || city != path_of(city)) continue;
            const Edge offered = best_of(city);
            if (offered.to < 0) continue;
            const Edge wanted = best_of(offered.to);
            if (offered.before(wanted) && !offered.is_same(wanted)) {
                lower(&paths_.suitor[path_of(offered.to)], city);
            }
        }
        __syncthreads();
        // Decide before anything changes; `mate` then holds the city to join.
        bool joins = false;
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            const int city = ends ? ends[i] : i;
            if (!is_end(city) || city != path_of(city)) continue;
            const Edge offered = best_of(city);
            if (offered.to < 0 || paths_.suitor[city] < n_) continue;
            const int other = path_of(offered.to);
            const bool is_mutual = best_of(offered.to).is_same(offered);
            const bool is_accepted = is_mutual ? paths_.suitor[other] == n_ && city < other
                                               : paths_.suitor[other] == city;
            if (!is_accepted) continue;
            // The second entry is unused at an end: store the decision there, as a negative number,
            // until all threads have decided.
            paths_.mate[pitch() + city] = -2 - offered.from;
            joins = true;
        }
        joins = block::any(joins);
        if (!joins) return false;
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            const int city = ends ? ends[i] : i;
            const int mark = paths_.mate[pitch() + city];
            if (mark > -2) continue;
            paths_.mate[pitch() + city] = -1;
            add(-2 - mark, paths_.choice[-2 - mark]);
        }
        __syncthreads();
        return true;
    }

    // Join two paths, which no other thread joins.
    __device__ void add(int from, int to) {
        const int first = paths_.end[from], last = paths_.end[to];
        attach(from, to);
        attach(to, from);
        paths_.end[first] = last;
        paths_.end[last] = first;
    }
    __device__ void attach(int city, int other) {
        paths_.mate[(paths_.mate[city] < 0 ? 0 : pitch()) + city] = other;
    }

    // Traverse the only remaining path, from one of its ends.
    __device__ void write(int32_t* order) {
        if (threadIdx.x == 0) {
            int city = n_ > 1 ? paths_.list[0] : 0, before = -1;
            for (int i = 0; i < n_; ++i) {
                order[i] = city;
                const int one = paths_.mate[city], other = paths_.mate[pitch() + city];
                const int next = one == before ? other : one;
                before = city, city = next;
            }
        }
        __syncthreads();
    }

    const RandomLengths& lengths_;
    const Neighbours& near_;
    const int n_;
    const Paths& paths_;
};

}  // namespace tours
