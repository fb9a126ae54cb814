// Fills the table of neighbours, one thread per city. The neighbours of a city with coordinates are
// the two nearest cities of each quadrant among the nearest POOL cities, then the nearest others;
// of a city of a matrix, the nearest cities. Ties are broken by number. Cities with the same
// coordinates form a path in the order of their numbers, which short tours visit consecutively:
// each is a neighbour of the next, and only the ends of paths have, and are, neighbours elsewhere.
// Rows with fewer neighbours repeat some. Reads the problem and the tree of cities; writes the
// table. No random numbers.
#pragma once

#include "core/instance.cuh"
#include "tours/neighbours.cuh"

namespace neighbours {

// The nearest cities so far, sorted by distance and number.
template <int MOST>
struct Nearest {
    double distance[MOST];
    int32_t city[MOST];
    int count = 0;
    int most;  // at most MOST

    __device__ explicit Nearest(int most) : most(most) {}

    __device__ bool is_full() const { return count == most; }
    __device__ double farthest() const { return distance[count - 1]; }

    __device__ void offer(double other_distance, int other) {
        int hole = count;
        if (is_full()) {
            const double last = farthest();
            if (other_distance > last) return;
            if (other_distance == last && other > city[count - 1]) return;
            --hole;
        } else {
            ++count;
        }
        for (; hole > 0; --hole) {
            const double before = distance[hole - 1];
            if (before < other_distance) break;
            if (before == other_distance && city[hole - 1] < other) break;
            distance[hole] = before, city[hole] = city[hole - 1];
        }
        distance[hole] = other_distance, city[hole] = other;
    }
};

constexpr int MOST_DEGREE = 16;

#if TSP_IS_MATRIX

__device__ void find(const problem::Data& data, const Neighbours& near, int n, int city) {
    Nearest<MOST_DEGREE> nearest(near.degree);
    // The matrix is symmetric: neighbouring threads read neighbouring words of a row.
    const problem::City here = problem::city(data, n, city);
    for (int other = 0; other < n; ++other) {
        const problem::City there = problem::city(data, n, other);
        if (other != city) nearest.offer(problem::distance(data, n, there, here), other);
    }
    int32_t* const row = near.table + int64_t(city) * near.degree;
    for (int i = 0; i < near.degree; ++i) row[i] = nearest.city[i];
}

#else

constexpr int POOL = 48, PER_QUADRANT = 2, DEEPEST = 32;

// Offer all cities that may be among the nearest, visiting nearer halves first.
__device__ void search(const problem::Data& data, const Neighbours& near, int n, int city,
                       Nearest<POOL>& nearest) {
    struct Branch {
        int node;
        double least;  // lower bound on squared distances
    } waiting[DEEPEST];
    int count = 0;
    waiting[count++] = {1, 0.0};
    const double2 here = data.coordinates[city];
    const int first_leaf = 1 << near.levels;
    while (count > 0) {
        Branch branch = waiting[--count];
        if (nearest.is_full() && branch.least > nearest.farthest()) continue;
        while (branch.node < first_leaf) {
            const double place = near.axis[branch.node] ? here.y : here.x;
            const double gap = place - near.split[branch.node];
            const int below = 2 * branch.node, is_above = gap >= 0.0;
            waiting[count++] = {below + 1 - is_above, max(branch.least, gap * gap)};
            branch.node = below + is_above;
        }
        const int64_t leaf = branch.node - first_leaf;
        const int last = ((leaf + 1) * n) >> near.levels;
        for (int i = (leaf * n) >> near.levels; i < last; ++i) {
            const int other = near.cities[i];
            const double2 there = data.coordinates[other];
            const double dx = there.x - here.x, dy = there.y - here.y;
            const bool is_twin = dx == 0.0 && dy == 0.0;
            const bool is_inside = near.twins[other] >= 0 && near.twins[n + other] >= 0;
            if (!is_twin && !is_inside) nearest.offer(dx * dx + dy * dy, other);
        }
    }
}

// Write at most `most` neighbours with other coordinates; return their number.
__device__ int find_elsewhere(const problem::Data& data, const Neighbours& near, int n, int city,
                              int32_t* row, int most) {
    Nearest<POOL> nearest(min(POOL, n - 1));
    search(data, near, n, city, nearest);
    const double2 here = data.coordinates[city];
    bool chosen[POOL] = {};
    int left = most, of_quadrant[4] = {};
    for (int i = 0; i < nearest.count && left > 0; ++i) {
        const double2 there = data.coordinates[nearest.city[i]];
        const int quadrant = 2 * (there.x >= here.x) + (there.y >= here.y);
        if (of_quadrant[quadrant]++ < PER_QUADRANT) chosen[i] = true, --left;
    }
    for (int i = 0; i < nearest.count && left > 0; ++i) {
        if (!chosen[i]) chosen[i] = true, --left;
    }
    int count = 0;
    for (int i = 0; i < nearest.count; ++i) {
        if (chosen[i]) row[count++] = nearest.city[i];
    }
    return count;
}

__device__ void find(const problem::Data& data, const Neighbours& near, int n, int city) {
    int32_t* const row = near.table + int64_t(city) * near.degree;
    int count = 0;
    for (int side = 0; side < 2; ++side) {
        const int twin = near.twins[side * n + city];
        if (twin >= 0) row[count++] = twin;
    }
    if (count < 2) {
        count += find_elsewhere(data, near, n, city, row + count, near.degree - count);
    }
    for (int i = count; i < near.degree; ++i) row[i] = row[i - count];
}

#endif

// A single city is its own neighbour.
__device__ void find_any(const problem::Data& data, const Neighbours& near, int n, int city) {
    if (n > 1) {
        find(data, near, n, city);
    } else {
        near.table[0] = city;
    }
}

}  // namespace neighbours

KERNEL(find_neighbours, (problem::Data data, Neighbours near, int32_t n)) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        neighbours::find_any(data, near, n, i);
    }
}

#ifdef ISLANDS_INSTANCES
// Fills the tables of all runs that begin.
KERNEL(find_neighbours_of_runs, (Islands all, problem::Data data, Neighbours near, int32_t n)) {
    const int runs = all.islands / all.runs.islands;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < runs * n; i += gridDim.x * blockDim.x) {
        const int local = i / n * all.runs.islands;
        if (!all.begins(local)) continue;
        problem::Data own = data;
        Neighbours own_near = near;
        instance::choose_data(own, data, instance::row_of(all, local));
        instance::choose_near(own_near, near, instance::row_of(all, local));
        neighbours::find_any(own, own_near, n, i % n);
    }
}
#endif
