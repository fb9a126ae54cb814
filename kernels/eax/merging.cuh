// Merges sub-tours into one tour: the smallest one is joined to another by the best exchange of two
// edges, one of which leads to a neighbour of one of its cities. Of a long segment, only the cities
// near its ends are tried. Reads the first parent and the neighbours; writes the sub-tours. No
// random numbers.
#pragma once

#include "eax/sub_tours.cuh"

namespace eax {

constexpr int TRIED_CITIES = 100;  // at each end of a segment, if there are up to four
constexpr int FEWEST_TRIED = 12;   // with more segments

// `AT_ONCE`: candidates of which a thread reads the neighbours at once.
template <int AT_ONCE>
class Merging {
  public:
    __device__ Merging(const Pair& pair, const Neighbours& near, const problem::Data& data,
                       SubTours& tours)
        : pair_(pair), near_(near), data_(data), tours_(tours) {}

    // Merge all sub-tours into one tour, which is shorter than the first parent by the returned
    // length; before, the child was shorter by `gain`. Stop once it is not, and return 0: an
    // exchange hardly ever shortens it again. All threads together.
    __device__ int64_t run(int64_t gain) {
        while (tours_.count > 1) {
            if (tours_.cuts + 2 > MOST_CUTS) return 0;
            const int smallest = find_smallest();
            list_segments(smallest);
            const block::Ranked best = find_exchange(smallest);
            if (best.index == NONE || gain <= best.value) return 0;
            gain -= best.value;
            exchange(smallest, best.index);
        }
        return gain;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffffu;

    // A segment of the sub-tour to merge, and the number of tried cities of those before it.
    struct Segment {
        int32_t rank, before;
    };

    __device__ Segment* segments() const { return reinterpret_cast<Segment*>(tours_.temporary); }

    __device__ int find_smallest() {
        block::Least<int32_t> mine;
        for (int i = threadIdx.x; i < tours_.cuts; i += blockDim.x) {
            if (is_tour(i) && tours_.size[i] < mine.value) mine = {tours_.size[i], uint32_t(i)};
        }
        const int found = block::least(mine).index;
        __syncthreads();
        return found;
    }
    // Cuts that merging made have no size of their own.
    __device__ bool is_tour(int i) const { return i < first_cuts_ && tours_.size[i] > 0; }

    // List the segments of a sub-tour, and count the cities to try.
    __device__ void list_segments(int tour) {
        const int chunk = (tours_.cuts + blockDim.x - 1) / blockDim.x;
        const int first = min(tours_.cuts, int(threadIdx.x) * chunk);
        const int last = min(tours_.cuts, first + chunk);
        int mine = 0, cities = 0;
        for (int r = first; r < last; ++r) mine += tours_.tour_behind(r) == tour;
        int number = block::sum_before(mine);
        count_ = block::sum(mine);
        tried_ = max(FEWEST_TRIED, count_ > 4 ? 4 * TRIED_CITIES / count_ : TRIED_CITIES);
        for (int r = first; r < last; ++r) {
            if (tours_.tour_behind(r) == tour) cities += min(2 * tried_, tours_.length(r));
        }
        int before = block::sum_before(cities);
        all_ = block::sum(cities);
        for (int r = first; r < last; ++r) {
            if (tours_.tour_behind(r) != tour) continue;
            segments()[number++] = {r, before};
            before += min(2 * tried_, tours_.length(r));
        }
        __syncthreads();
    }

    // Return the rank of the segment of a city to try, and its position.
    __device__ int2 city_at(int number) const {
        int low = 0, high = count_;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (segments()[middle].before <= number) {
                low = middle;
            } else {
                high = middle;
            }
        }
        const int r = segments()[low].rank, length = tours_.length(r);
        int place = number - segments()[low].before;
        if (place >= tried_ && length > 2 * tried_) place += length - 2 * tried_;
        const int position = int(tours_.at[r]) + 1 + place;
        return {r, position >= tours_.n ? position - tours_.n : position};
    }

    __device__ int city(int position) const { return pair_.order_a[position]; }
    __device__ problem::City where(int position) const {
        return problem::city(data_, tours_.n, city(position));
    }
    __device__ int64_t distance(problem::City a, problem::City b) const {
        return problem::distance(data_, tours_.n, a, b);
    }

    // Return the best exchange: its number, and the length that it adds.
    __device__ block::Ranked find_exchange(int tour) {
        block::Ranked best{block::Least<int64_t>::NONE, NONE};
        const int count = all_ * near_.degree;
        Opening opening;
        int tried = -1, opened = -1;
        int2 city{};
        // The neighbours of some cities are read at once, as each takes several reads in turn.
        for (int first = threadIdx.x; first < count; first += AT_ONCE * blockDim.x) {
            int2 here[AT_ONCE];
            int there[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const int i = min(first + k * int(blockDim.x), count - 1);
                if (tried != i / near_.degree) tried = i / near_.degree, city = city_at(tried);
                here[k] = city;
                there[k] = neighbour_of(city.y, i % near_.degree);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const int i = first + k * int(blockDim.x);
                if (i >= count || is_within(here[k].x, there[k])) continue;
                const int r = tours_.segment_of(there[k]);
                if (tours_.tour_behind(r) == tour) continue;
                if (opened != i / near_.degree) {
                    opened = i / near_.degree, opening = opening_at(here[k]);
                }
                try_exchanges(opening, r, there[k], 4 * i, best);
            }
        }
        return block::argmin(best);
    }

    // Return the position of a neighbour of the city at a position.
    __device__ int neighbour_of(int position, int number) const {
        return pair_.position_a[near_.of(city(position))[number]];
    }
    // Return whether a position is in a segment.
    __device__ bool is_within(int r, int position) const {
        const int ahead = position - wrapped(int(tours_.at[r]) + 1, tours_.n);
        return uint32_t(ahead < 0 ? ahead + tours_.n : ahead) < uint32_t(tours_.length(r));
    }

    // A city to try, and the edges to its neighbours in the sub-tour.
    struct Opening {
        problem::City a, b[2];
        int64_t cut[2];
    };

    __device__ Opening opening_at(int2 here) const {
        Opening made;
        made.a = where(here.y);
        for (int side = 0; side < 2; ++side) {
            made.b[side] = where(tours_.neighbour(here.x, here.y, side));
            made.cut[side] = distance(made.a, made.b[side]);
        }
        return made;
    }

    // Try the four exchanges that join a city to one of another sub-tour.
    __device__ void try_exchanges(const Opening& here, int r, int there, uint32_t number,
                                  block::Ranked& best) const {
        const problem::City c = where(there);
        const int64_t joined = distance(here.a, c);
        for (int side = 0; side < 2; ++side) {
            const problem::City d = where(tours_.neighbour(r, there, side));
            const int64_t more = joined - distance(c, d);
            for (int k = 0; k < 2; ++k) {
                const int64_t whole = more + distance(here.b[k], d) - here.cut[k];
                const block::Ranked tried{whole, number + 2 * side + k};
                if (tried.before(best)) best = tried;
            }
        }
    }

    __device__ void exchange(int tour, uint32_t number) {
        const int i = number / 4, k = number % 4;
        const int here = city_at(i / near_.degree).y;
        const int there = neighbour_of(here, i % near_.degree);
        const int into = tours_.tour_behind(tours_.segment_of(there));
        __syncthreads();  // the list has been read
        const int a = tours_.end_of(here, k & 1);
        const int c = tours_.end_of(there, k >> 1);
        tours_.join(a, c, tour, into);
    }

    const Pair& pair_;
    const Neighbours& near_;
    const problem::Data& data_;
    SubTours& tours_;
    const int first_cuts_ = tours_.cuts;
    int count_ = 0, tried_ = 0, all_ = 0;  // segments; cities at each end; cities to try
};

}  // namespace eax
