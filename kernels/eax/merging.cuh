// Merges sub-tours into one tour: repeatedly joins the smallest one to another by the best exchange
// of two edges that adds an edge from one of its cities to a neighbour. In long segments, only the
// cities near the ends are tried. Reads the first parent and the neighbours; writes the sub-tours.
// No random numbers.
#pragma once

#include "eax/sub_tours.cuh"

namespace eax {

constexpr int TRIED_CITIES = 25;  // at each end of a segment, for up to four segments
constexpr int FEWEST_TRIED = 5;   // for more segments

// Data that a thread or warp of a block shares with the others.
struct Merge {
    int32_t cuts, count;  // of the sub-tours
    int32_t tour;         // the smallest one
    int32_t segments;     // of the smallest one
    int32_t tried;        // cities at each end of a segment
    int32_t all;          // cities to try
    int32_t here, there;  // positions of the best exchange: the ends of its new edge
};

// A neighbour of a city to try, as the other end of a new edge.
struct Candidate {
    int32_t number;  // index among the neighbours of all cities to try
    int32_t there;   // its position
};

constexpr int AT_ONCE = 4;  // candidates that a thread looks up concurrently
constexpr int CANDIDATES_OF_WARP = AT_ONCE * warp::SIZE;

class Merging {
  public:
    __device__ Merging(const Pair& pair, const Neighbours& near, const problem::Data& data,
                       SubTours& tours, Merge* shared, Candidate* candidates)
        : pair_(pair),
          near_(near),
          data_(data),
          tours_(tours),
          shared_(shared),
          candidates_(candidates) {}

    // Merge all sub-tours into one tour, and return its gain over the first parent; `gain` is the
    // gain of the unmerged child. Stop and return 0 as soon as the gain is lost, as an exchange
    // hardly ever regains it. Called by all threads.
    __device__ int64_t run(int64_t gain) {
        if (tours_.count > 1 && is_first_warp()) prepare();
        while (tours_.count > 1) {
            if (tours_.cuts + 2 > MOST_CUTS) return 0;
            __syncthreads();
            now_ = *shared_;
            const block::Ranked best = find_exchange();
            if (best.index == NONE || gain <= best.value) return 0;
            gain -= best.value;
            __syncthreads();
            if (is_first_warp()) {
                exchange(best.index);
                if (tours_.count > 1) prepare();
                if (warp::lane() == 0) shared_->cuts = tours_.cuts, shared_->count = tours_.count;
            }
            __syncthreads();
            tours_.cuts = shared_->cuts, tours_.count = shared_->count;
        }
        return gain;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffffu;

    // A segment of the sub-tour to merge, and the number of tried cities in earlier segments.
    struct Segment {
        int32_t rank, before;
    };

    __device__ static bool is_first_warp() { return warp::index() == 0; }
    __device__ Segment* segments() const { return reinterpret_cast<Segment*>(tours_.temporary); }

    // Find the smallest sub-tour, list its segments, and count the cities to try. Called by one
    // warp, which needs no block barriers.
    __device__ void prepare() {
        const int tour = smallest();
        int count = 0, listed = 0, all = 0;
#pragma unroll 4
        for (int r = warp::lane(); warp::first(r) < tours_.cuts; r += warp::SIZE) {
            count += warp::counts(is_behind(r, tour)).all;
        }
        const int tried = max(FEWEST_TRIED, count > 4 ? 4 * TRIED_CITIES / count : TRIED_CITIES);
        for (int r = warp::lane(); listed < count; r += warp::SIZE) {
            const bool is_mine = is_behind(r, tour);
            const warp::Counts mine = warp::counts(is_mine);
            if (mine.all == 0) continue;
            const int cities = is_mine ? min(2 * tried, tours_.length(r)) : 0;
            const int before = all + warp::sum_before(cities);
            if (is_mine) segments()[listed + mine.before] = {r, before};
            listed += mine.all, all += warp::sum(cities);
        }
        if (warp::lane() == 0) {
            *shared_ = {tours_.cuts, tours_.count, tour, count, tried, all, 0, 0};
        }
        warp::sync();
    }

    // Return whether the segment after the cut of a rank belongs to a sub-tour.
    __device__ bool is_behind(int r, int tour) const {
        return r < tours_.cuts && tours_.tour_behind(r) == tour;
    }

    __device__ int smallest() const {
        block::Least<int32_t> mine;
        for (int i = warp::lane(); i < tours_.cuts; i += warp::SIZE) {
            if (is_tour(i) && tours_.size[i] < mine.value) mine = {tours_.size[i], uint32_t(i)};
        }
        return warp::least(mine).index;
    }
    // Cuts created by merging have no size of their own.
    __device__ bool is_tour(int i) const { return i < first_cuts_ && tours_.size[i] > 0; }

    __device__ int city(int position) const { return pair_.order_a[position]; }
    __device__ problem::City where(int position) const {
        return problem::city(data_, tours_.n, city(position));
    }
    __device__ int64_t distance(problem::City a, problem::City b) const {
        return problem::distance(data_, tours_.n, a, b);
    }

    // Return the number of the best exchange, and the length that it adds. The thread that found it
    // stores its positions.
#ifndef __CUDACC__
    // A single thread needs no list of candidates.
    block::Ranked find_exchange() {
        block::Ranked best{block::Least<int64_t>::NONE, NONE};
        uint32_t number = 0;
        for (int s = 0; s < now_.segments; ++s) {
            const int r = segments()[s].rank, length = tours_.length(r);
            const int left_out = max(0, length - 2 * now_.tried);
            for (int place = 0; place < length - left_out; ++place) {
                const int behind = int(tours_.at[r]) + 1 + place;
                const int position = behind + (place < now_.tried ? 0 : left_out);
                try_city({r, position >= tours_.n ? position - tours_.n : position}, number, best);
                number += 4 * near_.degree;
            }
        }
        return best;
    }

    // Try the exchanges that join a city to its neighbours in other sub-tours.
    void try_city(int2 here, uint32_t number, block::Ranked& best) {
        const int32_t* const neighbours = near_.of(city(here.y));
        Opening opening;
        bool is_open = false;
        for (int i = 0; i < near_.degree; ++i, number += 4) {
            const int there = pair_.position_a[neighbours[i]];
            if (is_within(here.x, there)) continue;
            const int r = tours_.segment_of(there);
            if (tours_.tour_behind(r) == now_.tour) continue;
            if (!is_open) is_open = true, opening = opening_at(here);
            if (!try_exchanges(opening, r, there, number, best)) continue;
            shared_->here = here.y, shared_->there = there;
        }
    }
#else
    __device__ block::Ranked find_exchange() {
        block::Ranked best{block::Least<int64_t>::NONE, NONE};
        int2 ends{};
        const int count = now_.all * near_.degree, stride = blockDim.x;
        Candidate* const listed = candidates_ + warp::index() * CANDIDATES_OF_WARP;
        for (int first = warp::index() * warp::SIZE; first < count; first += AT_ONCE * stride) {
            const int found = list(listed, first, count);
            for (int k = warp::lane(); k < found; k += warp::SIZE) {
                const auto [number, there] = listed[k];
                const int2 here = city_at(number / near_.degree);
                const Opening opening = opening_at(here);
                const int r = tours_.segment_of(there);
                if (try_exchanges(opening, r, there, 4 * number, best)) ends = {here.y, there};
            }
            warp::sync();
        }
        const block::Ranked found = block::argmin(best);
        if (found.index != NONE && best.index == found.index) {
            shared_->here = ends.x, shared_->there = ends.y;
        }
        return found;
    }

    // List those of a warp's next candidates that are in other sub-tours, and return their number.
    // These are few, so all threads share their slow evaluation.
    __device__ int list(Candidate* listed, int first, int count) const {
        int there[AT_ONCE], within[AT_ONCE];
        int2 city{};
        int tried = -1;
        // Read their positions concurrently, as each takes several dependent reads.
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const int i = min(first + k * int(blockDim.x) + warp::lane(), count - 1);
            if (tried != i / near_.degree) tried = i / near_.degree, city = city_at(tried);
            within[k] = city.x;
            there[k] = neighbour_of(city.y, i % near_.degree);
        }
        int found = 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const int i = first + k * int(blockDim.x) + warp::lane();
            const bool is_other = i < count && !is_within(within[k], there[k]) &&
                                  tours_.tour_behind(tours_.segment_of(there[k])) != now_.tour;
            const warp::Counts counts = warp::counts(is_other);
            if (is_other) listed[found + counts.before] = {i, there[k]};
            found += counts.all;
        }
        warp::sync();
        return found;
    }

    // Return the rank of the segment of a city to try, and its position.
    __device__ int2 city_at(int number) const {
        int low = 0, high = now_.segments;
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
        if (place >= now_.tried && length > 2 * now_.tried) place += length - 2 * now_.tried;
        const int position = int(tours_.at[r]) + 1 + place;
        return {r, position >= tours_.n ? position - tours_.n : position};
    }

    // Return the position of a neighbour of the city at a position.
    __device__ int neighbour_of(int position, int number) const {
        return pair_.position_a[near_.of(city(position))[number]];
    }
#endif

    // Return whether a position is in a segment.
    __device__ bool is_within(int r, int position) const {
        const int ahead = position - wrapped(int(tours_.at[r]) + 1, tours_.n);
        return uint32_t(ahead < 0 ? ahead + tours_.n : ahead) < uint32_t(tours_.length(r));
    }

    // A city to try, and its edges in the sub-tour.
    struct Opening {
        problem::City a, b[2];
        int64_t cut[2];
    };

    __device__ Opening opening_at(int2 here) const {
        Opening opening;
        opening.a = where(here.y);
        for (int side = 0; side < 2; ++side) {
            opening.b[side] = where(tours_.neighbour(here.x, here.y, side));
            opening.cut[side] = distance(opening.a, opening.b[side]);
        }
        return opening;
    }

    // Try the four exchanges that join a city to one of another sub-tour; return whether one is
    // better.
    __device__ bool try_exchanges(const Opening& here, int r, int there, uint32_t number,
                                  block::Ranked& best) const {
        bool is_better = false;
        const problem::City c = where(there);
        const int64_t joined = distance(here.a, c);
        for (int side = 0; side < 2; ++side) {
            const problem::City d = where(tours_.neighbour(r, there, side));
            const int64_t more = joined - distance(c, d);
            for (int k = 0; k < 2; ++k) {
                const int64_t added = more + distance(here.b[k], d) - here.cut[k];
                const block::Ranked tried{added, number + 2 * side + k};
                if (tried.before(best)) best = tried, is_better = true;
            }
        }
        return is_better;
    }

    // Apply the best exchange, given its number. Called by one warp.
    __device__ void exchange(uint32_t number) {
        const int k = number % 4, here = shared_->here, there = shared_->there;
        const int into = tours_.tour_behind(tours_.segment_of(there));
        const int a = tours_.end_of(here, k & 1);
        const int c = tours_.end_of(there, k >> 1);
        tours_.join(a, c, now_.tour, into);
    }

    const Pair& pair_;
    const Neighbours& near_;
    const problem::Data& data_;
    SubTours& tours_;
    Merge* const shared_;
    Candidate* const candidates_;  // [warps][CANDIDATES_OF_WARP]
    Merge now_{};
    const int first_cuts_ = tours_.cuts;
};

}  // namespace eax
