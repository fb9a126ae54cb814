// Finds the edges of the complete graph that should replace edges of a spanning tree. The cities
// are laid out in a line such that the longest edge on the path between any two cities in the tree
// is the widest gap between them; an edge that is shorter than this gap should replace it. A thread
// compares a city with all cities after it, and skips tiles of cities that are too far away. Reads
// the problem and the line; writes the edges found for each place of the line. No random numbers.
#include "core/core.cuh"
#include ISLANDS_PROBLEM

namespace bounds {

constexpr int TILE = 64;  // consecutive cities of the line
constexpr int MOST = 4;   // edges stored per city

// Weights are lengths multiplied by `scale`, plus the multipliers of both cities.
struct Line {
    const int32_t* city;        // [n]: the city at each place
    const int64_t* gap;         // [n]: the gap between a place and the next one
    const int64_t* multiplier;  // [n]: of the city at each place
    const int64_t* widest;      // [tiles]: the widest gap between two places of a tile
    const int64_t* least;       // [tiles]: the smallest multiplier of a tile
    const double* box;          // [tiles][4]: lowest x and y, and highest x and y, of a tile
    int64_t scale;
};

// Return a lower bound on the distances between a city and those of a tile. Rounding, subtraction
// and square roots are monotonic, so this is at most each exact distance.
__device__ int64_t least_distance(const problem::Data& data, const Line& line, int n,
                                  problem::City city, int tile) {
#if TSP_METRIC == TSP_MATRIX
    return 0;
#else
    const double* const box = line.box + 4 * int64_t(tile);
    const double dx = max(0.0, max(box[0] - city.x, city.x - box[2]));
    const double dy = max(0.0, max(box[1] - city.y, city.y - box[3]));
    return problem::distance(data, n, double2{dx, dy}, double2{0.0, 0.0});
#endif
}

}  // namespace bounds

// Processes the places part, part + parts, part + 2 * parts, ..., so all parts take about the same
// time. `counts` receives the number of edges of each place; `edges` stores at most MOST of them.
KERNEL(find_shorter_edges, (problem::Data data, bounds::Line line, int32_t n, int32_t part,
                            int32_t parts, int32_t* counts, int32_t* edges)) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x * parts;
    const int64_t first = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * parts + part;
    for (int64_t row = first; row < n; row += step) {
        const problem::City city = problem::city(data, n, line.city[row]);
        const int64_t own = line.multiplier[row];
        int64_t longest = line.gap[row];  // the widest gap between the row and the column
        int32_t count = 0;
        for (int64_t column = row + 1; column < n; ++column) {
            if (column % bounds::TILE == 0) {
                const int tile = int(column / bounds::TILE);
                const int64_t after = max(longest, line.widest[tile]);
                const int64_t least = bounds::least_distance(data, line, n, city, tile);
                if (line.scale * least + own + line.least[tile] >= after) {
                    column = min(int64_t(n), column + bounds::TILE) - 1;
                    longest = max(after, line.gap[column]);
                    continue;
                }
            }
            const problem::City other = problem::city(data, n, line.city[column]);
            const int64_t weight = line.scale * problem::distance(data, n, city, other) + own +
                                   line.multiplier[column];
            if (weight < longest) {
                if (count < bounds::MOST) edges[bounds::MOST * row + count] = line.city[column];
                ++count;
            }
            longest = max(longest, line.gap[column]);
        }
        counts[row] = count;
    }
}
