// A batch of growths: partial assignments grow along the flows of a sparse matrix, each from a
// random item at a random place, or from a part of an individual. At checkpoints, the better half
// replaces the other half. After a sixth of the initial batches, three out of four batches are beam
// searches, in which all growths place the same items in the same order; if there is a pattern,
// most searches use its costs. After the initial batches, most generations anneal individuals if
// `sweeps` is set. Reads generation g; writes the states. Random streams: GROWTH.
#pragma once

#include "core/sort.cuh"
#include "growth/state.cuh"
#include "improvers/base.cuh"

namespace growth {

constexpr int NARROW = 32;  // growths of a beam search that begins with a part
constexpr int MATES = 4;    // a beam search takes a part of the cheapest of MATES individuals
constexpr int PERIOD = 4;   // after the first batches, one in PERIOD generations grows a batch
constexpr int FEWEST_RUNGS = 24;   // minimum number of annealing temperatures, in steps of 1/16
constexpr int MOST_SWEEPS = 8192;  // maximum annealing moves per item

// The parameters that differ between the batches of an island.
struct Batch {
    int checkpoints, weight;
    int64_t temperature;

    __device__ Batch(const Plan& plan, int n, int64_t number) {
        constexpr int CHECKPOINTS[] = {64, 32, 128};
        checkpoints = min(n, CHECKPOINTS[number % 3]);
        weight = 1 + int(number % 2);
        temperature = plan.scales[SOFTNESS] * int(number / 2 % 3);
    }
};

// Return the first of the slots that are selected by the cost in the pattern.
__device__ int first_of_pattern(const Islands& all, const Plan& plan) {
    return all.population - (plan.has_pattern ? all.population / 2 : 0);
}

// The growths of an island.
class Growths {
  public:
    __device__ Growths(Scratch& scratch, const Islands& all, const Plan& plan)
        : all_(all),
          plan_(plan),
          n_(all.shape.n),
          costs_(scratch.take<Number>(warp::count() * plan.network.pitch)),
          value_(scratch.take<int64_t>(block::power_of_two(most_children(plan)))),
          index_(scratch.take<uint32_t>(block::power_of_two(most_children(plan)))),
          rating_(scratch.take<int64_t>(all.population)) {}

    // Grow a batch, and sort and polish its cheapest assignments. Return false if it was halted.
    __device__ bool grow(int local, int64_t made, const improver::Plan& improving) {
        const int64_t later = made - plan_.batches;
        const int64_t number = later < 0 ? made : plan_.batches + later / PERIOD;
        const bool is_first = number < plan_.batches / 6;
        const bool has_parts = is_first ? number % 2 : number / 4 % 2;
        const bool is_search = !is_first && number % 4 != 0;
        const bool is_whole =
            is_search
                ? search(local, made, improving)
                : grow_batch(local, made, number + all_.island[local].number, has_parts, improving);
        if (!is_whole) return false;
        for (int k = warp::index(); k < OFFERED; k += warp::count()) {
            State state = of_rank(local, k);
            // Exchanges that lower the cost may break the pattern that the search has found.
            if (is_search && is_pattern(k)) {
                state.price();
            } else {
                state.polish();
            }
            state.keep();
        }
        __syncthreads();
        return true;
    }

    // Compute the pattern costs of those individuals of the previous generation that were selected
    // by these costs.
    __device__ void rate(int local, int64_t made) const {
        const int first = first_of_pattern(all_, plan_);
        for (int i = first + warp::index(); i < all_.population; i += warp::count()) {
            State state = at(local, OFFERED + warp::index(), plan_.pattern);
            state.take(all_.genes_of(all_.row(made - 1, local, i)));
            if (warp::lane() == 0) rating_[i] = state.cost();
            warp::sync();  // all threads have read the state
        }
        __syncthreads();
    }
    __device__ int64_t rating(int slot) const { return rating_[slot]; }

    // Return whether a generation anneals individuals instead of growing a batch.
    __device__ bool anneals(int64_t made) const {
        return plan_.sweeps > 0 && made >= plan_.batches && made % PERIOD != 0;
    }

    // Return the number of assignments that a generation evaluates.
    __device__ int64_t evaluated(int64_t made) const {
        if (!anneals(made)) return plan_.growths;
        int64_t sum = 0;
        for (int k = 0; k < OFFERED; ++k) sum += rungs_of(k) * int64_t(moves_at(made, rungs_of(k)));
        return sum;
    }

    // Anneal random individuals from different initial temperatures, with more moves in later
    // generations. Return false if it was halted.
    __device__ bool anneal(int local, int64_t made, const improver::Plan& improving) {
        bool halted = improver::halts(improving);
        for (int k = warp::index(); k < OFFERED && !halted; k += warp::count()) {
            const draw::Place random = all_.place(local, made, k);
            State state = at(local, k);
            state.take(mate(local, made, random.words(stream::GROWTH, SEEDS).x));
            const int rungs = rungs_of(k);
            for (int rung = rungs; rung > 0 && !halted; --rung) {
                int64_t temperature = plan_.scales[COLDEST];
                for (int i = 1; i < rung; ++i) temperature += temperature / 16;
                const int moves = moves_at(made, rungs);
                halted =
                    !state.anneal(temperature, uint32_t(rung) * moves, moves, random, improving);
            }
            if (halted) break;
            state.polish();
            state.keep();
            if (warp::lane() == 0) index_[k] = k;
        }
        return !block::any(halted);
    }

    // Complete one state of a halted batch at random, so that there is a solution. Growing it would
    // take a second on a GPU for the largest instances.
    __device__ void complete_one(int local) {
        if (warp::index() == 0) {
            State state = at(local, 0);
            while (state.placed() < n_) state.put_any(all_.place(local, 0, 0));
            state.keep();
        }
        for (int i = threadIdx.x; i < plan_.growths; i += blockDim.x) index_[i] = 0;
        __syncthreads();
    }

    // Return a state of the sorted batch.
    __device__ State of_rank(int local, int rank) const { return at(local, index_[rank]); }

    // Return the cost of a state of the sorted batch in the pattern.
    __device__ int64_t rating_of_rank(int local, int rank) const {
        return at(local, index_[rank], plan_.pattern).whole_cost();
    }

    __device__ void write(encoding::Gene* row, const State& state) const {
        for (int i = threadIdx.x; i < all_.shape.pitch; i += blockDim.x) {
            row[i] = i < n_ ? state.gene(i) : i;
        }
    }

  private:
    // The number of annealing temperatures, and of exchanges at each.
    __device__ static int rungs_of(int k) { return FEWEST_RUNGS + 2 * k; }
    __device__ int moves_at(int64_t made, int rungs) const {
        return n_ * int(min(made * plan_.sweeps, int64_t(MOST_SWEEPS))) / rungs;
    }

    __device__ char* memory(int local, int slot) const {
        return plan_.states +
               (int64_t(local) * (plan_.growths + OFFERED) + slot) * plan_.state_bytes;
    }
    __device__ State at(int local, int slot) const { return at(local, slot, plan_.network); }
    __device__ State at(int local, int slot, const problem::Network& network) const {
        Number* const costs = costs_ + warp::index() * plan_.network.pitch;
        return {memory(local, slot), costs, plan_, network, n_};
    }
    // The network of a beam search.
    __device__ const problem::Network& network_of(int search) const {
        return is_pattern(search) ? plan_.pattern : plan_.network;
    }
    __device__ bool is_pattern(int search) const {
        return plan_.has_pattern && search >= OFFERED / 4;
    }
    __device__ static int most_children(const Plan& plan) {
        return max(2 * plan.growths, MOST_CHILDREN * min(NARROW, plan.growths));
    }

    // Call visit(state, slot) for `count` states from `first`, with one warp per state.
    template <class Visit>
    __device__ void for_states(int local, int first, int count, const problem::Network& network,
                               Visit visit) const {
        for (int slot = warp::index(); slot < count; slot += warp::count()) {
            State state = at(local, first + slot, network);
            visit(state, slot);
            state.keep();
        }
    }

    // Grow and sort a batch whose better half replaces the other half at checkpoints.
    __device__ bool grow_batch(int local, int64_t made, int64_t number, bool has_parts,
                               const improver::Plan& improving) {
        const Batch batch(plan_, n_, number);
        for_states(local, 0, plan_.growths, plan_.network,
                   [&](State& state, int slot) { seed(state, local, slot, made, has_parts); });
        for (int k = 1; k < batch.checkpoints; ++k) {
            const int until = max(4, k * n_ / batch.checkpoints);
            if (!advance(local, made, until, batch, improving)) return false;
            resample(local);
        }
        if (!advance(local, made, n_, batch, improving)) return false;
        block::sort(value_, index_, plan_.growths);
        __syncthreads();
        return true;
    }

    // Perform beam searches, most of which begin with a part of an individual. If there is a
    // pattern, three out of four use its costs.
    __device__ bool search(int local, int64_t made, const improver::Plan& improving) {
        for (int k = 0; k < OFFERED; ++k) {
            if (!beam_search(local, made, k, k % 8 != 0, improving)) return false;
            if (warp::index() == 0) copy(local, OFFERED + index_[0], k);
            __syncthreads();
        }
        for (int i = threadIdx.x; i < OFFERED; i += blockDim.x) index_[i] = i;
        __syncthreads();
        return true;
    }

    // Perform a beam search: each growth proposes places for the next item, and the cheapest
    // growths remain. They all place the same items, so their costs are comparable. They begin with
    // one item at different places, or with a part of an individual, and use the states after the
    // first OFFERED ones. Sort the assignments. Return false if it was halted.
    __device__ bool beam_search(int local, int64_t made, int number, bool has_parts,
                                const improver::Plan& improving) {
        const int width = has_parts ? min(NARROW, plan_.growths) : plan_.growths;
        const int most = is_pattern(number) && has_parts ? MOST_CHILDREN : 2;
        const problem::Network& network = network_of(number);
        int live = has_parts ? 1 : min(n_, width);
        for_states(local, OFFERED, live, network, [&](State& state, int slot) {
            const draw::Place random = all_.place(local, made, number);
            const uint4 word = random.words(stream::GROWTH, SEEDS);
            state.clear();
            const int item = draw::below(word.x, n_);
            if (has_parts) {
                const int part = n_ / 4 + draw::below(word.z, n_ / 2 + n_ / 8);
                const encoding::Gene* const mate =
                    good_mate(local, made, is_pattern(number), word.y);
                state.take_part(mate, item, part, random);
            } else {
                state.put(item, (slot + draw::below(word.y, n_)) % n_);
            }
        });
        __syncthreads();
        for (int placed = at(local, OFFERED).placed(); placed < n_; ++placed) {
            const int children = min(most, n_ - placed);  // at most the number of free places
            bool halted = false;
            for_states(local, OFFERED, live, network, [&](State& state, int slot) {
                halted = halted || State::halts(improving);
                if (halted) return;
                const uint32_t stream = number * plan_.growths + slot;
                const draw::Place random = all_.place(local, made, stream);
                state.choose(children, random, [&](int child, int64_t cost) {
                    if (warp::lane() > 0) return;
                    const int key = child * live + slot;
                    value_[key] = cost, index_[key] = key;
                });
            });
            if (block::any(halted)) return false;
            const int kept = min(children * live, width);
            branch(local, live, children, kept, network);
            live = kept;
        }
        for_states(local, OFFERED, live, network, [&](State& state, int slot) {
            if (warp::lane() == 0) value_[slot] = state.cost(), index_[slot] = slot;
        });
        __syncthreads();
        block::sort(value_, index_, live);
        __syncthreads();
        return true;
    }

    // Keep the cheapest children of all states. The first child of a state takes its slot. Further
    // ones, which are kept only if the first one is, take the slots after `live` and those of
    // states without children.
    __device__ void branch(int local, int live, int children, int kept,
                           const problem::Network& network) {
        block::sort(value_, index_, children * live);
        __syncthreads();
        if (threadIdx.x == 0) {
            int unused = live, dropped = kept;
            for (int rank = 0; rank < kept; ++rank) {
                const int child = index_[rank];
                if (child < live) {
                    value_[child] = child;
                    continue;
                }
                while (unused == kept && int(index_[dropped]) >= live) ++dropped;
                const int to = unused < kept ? unused++ : int(index_[dropped++]);
                value_[to] = child;
            }
        }
        __syncthreads();
        for (int slot = warp::index(); slot < kept; slot += warp::count()) {
            if (value_[slot] >= live)
                copy(local, OFFERED + int(value_[slot]) % live, OFFERED + slot);
        }
        __syncthreads();
        for_states(local, OFFERED, kept, network,
                   [&](State& state, int slot) { state.follow(int(value_[slot]) / live); });
        __syncthreads();
    }

    // Copy a state to another slot. Called by all threads of a warp.
    __device__ void copy(int local, int slot, int other) const {
        const uint4* const from = reinterpret_cast<const uint4*>(memory(local, slot));
        uint4* const to = reinterpret_cast<uint4*>(memory(local, other));
        const int units = plan_.state_bytes / sizeof(uint4);
        for (int k = warp::lane(); k < units; k += warp::SIZE) to[k] = from[k];
    }

    // Return the genes of a random individual of the previous generation.
    __device__ const encoding::Gene* mate(int local, int64_t made, uint32_t word) const {
        return all_.genes_of(all_.row(made - 1, local, draw::below(word, all_.population)));
    }

    // Return the genes of the cheapest of several random individuals of the previous generation, by
    // their cost or by that in the pattern.
    __device__ const encoding::Gene* good_mate(int local, int64_t made, bool by_pattern,
                                               uint32_t word) const {
        const int last = first_of_pattern(all_, plan_);
        const int first = by_pattern ? last : 0;
        const int count = by_pattern ? all_.population - last : last;
        const int64_t row = all_.row(made - 1, local, 0);
        const int64_t* const cost = by_pattern ? rating_ : all_.cost + row;
        int best = first + draw::below(word, count);
        for (int k = 1; k < MATES; ++k) {
            const int slot = first + draw::below(hash(k, word), count);
            if (cost[slot] < cost[best]) best = slot;
        }
        return all_.genes_of(row + best);
    }

    // Initialise a state with a random item at a random place, or with a part of an individual.
    __device__ void seed(State& state, int local, int slot, int64_t made, bool has_parts) const {
        const draw::Place random = all_.place(local, made, slot);
        const uint4 word = random.words(stream::GROWTH, SEEDS);
        state.clear();
        const int item = draw::below(word.x, n_);
        if (has_parts) {
            state.take_part(mate(local, made, word.y), item, max(4, n_ / 8), random);
        } else {
            state.put(item, draw::below(word.y, n_));
        }
        state.look_around(word.z);
    }

    // Grow all states to a number of placed items, and rate them, complete ones by their cost.
    __device__ bool advance(int local, int64_t made, int until, const Batch& batch,
                            const improver::Plan& improving) {
        bool halted = false;
        for_states(local, 0, plan_.growths, plan_.network, [&](State& state, int slot) {
            halted = halted || State::halts(improving);
            if (halted) return;
            const draw::Place random = all_.place(local, made, slot);
            while (state.placed() < until) state.step(batch.temperature, random);
            const int64_t value = until < n_ ? state.score(batch.weight) : state.cost();
            if (warp::lane() == 0) value_[slot] = value, index_[slot] = slot;
        });
        return !block::any(halted);
    }

    // Replace the worse half of the states by the better half.
    __device__ void resample(int local) {
        const int count = plan_.growths, half = count / 2;
        block::sort(value_, index_, count);
        __syncthreads();
        for (int i = half + warp::index(); i < count; i += warp::count()) {
            copy(local, index_[i % half], index_[i]);
        }
        __syncthreads();
    }

    const Islands& all_;
    const Plan& plan_;
    const int n_;
    Number* const costs_;
    int64_t* const value_;
    uint32_t* const index_;
    int64_t* const rating_;  // per slot that is selected by the pattern
};

}  // namespace growth
