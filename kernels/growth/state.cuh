// A partial assignment that grows along the flows between items, processed by a warp. The frontier
// consists of the unplaced items with placed neighbours. For each of them, the state keeps the best
// two places: those with the lowest cost of its flows to placed neighbours plus a bound for its
// other flows. Reads the plan; writes the memory of the state, visible to every thread of the warp
// after each function. Random streams: GROWTH.
#pragma once

#include "growth/candidate.cuh"
#include "growth/plan.cuh"
#include "improvers/base.cuh"

namespace growth {

using algorithm::Plan;

// The first draw numbers of seeds, parts and proposals; those of steps start at 0.
constexpr uint32_t SEEDS = 1u << 20, PARTS = 1u << 21, PROPOSALS = 1u << 22;

class State {
  public:
    // Data kept between two uses of a state.
    struct alignas(16) Head {
        int64_t cost;    // of the flows between placed items
        int64_t excess;  // the same, with all distances reduced by the smallest one
        int32_t placed, waiting;
    };

    // Load a state from its memory. `network` is the plan's network or its pattern; `costs` is the
    // warp's memory for the costs of all places.
    __device__ State(char* memory, Number* costs, const Plan& plan, const problem::Network& network,
                     int n)
        : State(reinterpret_cast<Head*>(memory), Memory(memory + sizeof(Head), network.pitch),
                costs, plan, network, n) {}

    __device__ int placed() const { return at_.placed; }
    __device__ int64_t cost() const { return at_.cost; }
    __device__ int place_of(int item) const { return place_[item]; }
    // Return the gene of item i of the problem.
    __device__ int gene(int i) const { return network_.turned ? holder_[i] : place_[i]; }

    __device__ void clear() {
        for (int i = warp::lane(); i < network_.pitch; i += warp::SIZE) {
            penalty_[i] = i < n_ ? Number(0) : TAKEN;
            place_[i] = holder_[i] = NONE;
            neighbours_[i] = 0;
        }
        at_ = {0, 0, 0, 0};
        warp::sync();
    }

    // Store the head for the next use of the state.
    __device__ void keep() const {
        warp::sync();
        if (warp::lane() == 0) *head_ = at_;
        warp::sync();
    }

    // Place an unplaced item. Its unplaced neighbours join the frontier.
    __device__ void put(int item, int to) {
        const int begin = network_.first[item], end = network_.first[item + 1];
        for (int e = begin; e < end; ++e) {
            const int at = place_[network_.neighbour[e]];
            if (at == NONE) continue;
            const int64_t flow = network_.flow[e], distance = network_.from(to)[at];
            at_.cost += flow * distance;
            at_.excess += flow * (distance - plan_.scales[LEAST]);
        }
        warp::sync();
        if (warp::lane() == 0) place_[item] = to, holder_[to] = item, penalty_[to] = TAKEN;
        for (int e = begin + warp::lane(); e - warp::lane() < end; e += warp::SIZE) {
            const int other = e < end ? network_.neighbour[e] : item;
            const bool is_open = other != item && place_[other] == NONE;
            const bool is_new = is_open && neighbours_[other] == 0;
            if (is_open) ++neighbours_[other], best_[other] = NONE;
            const auto [all, before] = warp::counts(is_new);
            if (is_new) frontier_[at_.waiting + before] = other;
            at_.waiting += all;
        }
        ++at_.placed;
        warp::sync();
    }

    // Find the best places for the whole frontier.
    __device__ void look_around(uint32_t salt) {
        for (int i = 0; i < at_.waiting; ++i) find_places(frontier_[i], salt);
    }

    // Place one more item: the frontier item with the largest regret. Depending on the
    // `temperature`, it may take its second-best place.
    __device__ void step(int64_t temperature, const draw::Place& random) {
        const uint4 word = random.words<draw::FEWEST_ROUNDS>(stream::GROWTH, at_.placed);
        int item = most_urgent(word.x), to = NONE;
        if (item == NONE) {
            item = any_of(place_, word.x), to = any_of(holder_, word.y);
        } else {
            const Number gap = second_[item] - first_[item];
            to = word.z % 2 && is_below(gap, temperature, word.y) ? other_[item] : best_[item];
        }
        put(item, to);
        const int stale = leave_frontier(item, to);
        for (int i = 0; i < stale; ++i) find_places(stale_[i], word.w);
    }

    // Find the best places of the next item, which only depends on the placed items, and list them
    // for `follow`. `visit` receives the number and the cost of each.
    template <class Visit>
    __device__ void choose(int children, const draw::Place& random, Visit visit) {
        const int item = next();
        const uint4 word = random.words<draw::FEWEST_ROUNDS>(stream::GROWTH, at_.placed);
        find_costs(item);
        const uint32_t salt = hash(item, word.x);
        Candidate last{-TAKEN, 0, NONE};
        for (int k = 0; k < children; ++k) {
            last = first_after(last, salt);
            visit(k, at_.cost + last.cost);
            if (warp::lane() == 0) best_[k] = last.place;
        }
        warp::sync();
    }

    // Place the chosen item at one of its best places.
    __device__ void follow(int child) {
        const int item = next(), to = best_[child];
        warp::sync();
        put(item, to);
        leave_frontier(item, NONE);
    }

    // Place a random unplaced item at a random free place.
    __device__ void put_any(const draw::Place& random) {
        const uint4 word = random.words<draw::FEWEST_ROUNDS>(stream::GROWTH, at_.placed);
        const int item = any_of(place_, word.x);
        put(item, any_of(holder_, word.y));
        leave_frontier(item, NONE);
    }

    // Return the excess over the cost at the smallest distance: twice that of the flows between
    // placed items, plus `weight` times the expected excess of the frontier.
    __device__ int64_t score(int weight) const {
        int64_t expected = 0;
        for (int i = 0; i < at_.waiting; ++i) {
            const int item = frontier_[i];
            expected += first_[item] - plan_.scales[LEAST] * plan_.flows[item];
        }
        return 2 * at_.excess + weight * expected;
    }

    // Take a low-cost part around an item from a row of genes, item by item, until `most` items are
    // placed: always add the one with the largest flows to nearby places.
    __device__ void take_part(const encoding::Gene* genes, int item, int most,
                              const draw::Place& random) {
        int16_t* const given = other_;  // not used yet
        for (int i = warp::lane(); i < n_; i += warp::SIZE) {
            if (network_.turned) {
                given[genes[i]] = i;
            } else {
                given[i] = genes[i];
            }
        }
        warp::sync();
        while (item != NONE) {
            put(item, given[item]);
            attract(item, given, random);
            leave_frontier(item, NONE);
            item = at_.placed < most ? most_attracted() : NONE;
        }
    }

    // Take a whole row of genes.
    __device__ void take(const encoding::Gene* genes) {
        clear();
        for (int i = warp::lane(); i < n_; i += warp::SIZE) {
            const int gene = genes[i];
            if (network_.turned) {
                holder_[i] = gene, place_[gene] = i;
            } else {
                place_[i] = gene, holder_[gene] = i;
            }
        }
        warp::sync();
        at_.placed = n_;
        at_.cost = whole_cost();
    }

    // Recompute the cost after another network was used.
    __device__ void price() { at_.cost = whole_cost(); }

    // Return the cost of an assignment of all items.
    __device__ int64_t whole_cost() const {
        int64_t cost = 0;
        for (int item = 0; item < n_; ++item) {
            const Number* const distances = network_.from(place_[item]);
            for (int e = network_.first[item]; e < network_.first[item + 1]; ++e) {
                const int other = network_.neighbour[e];
                if (other < item) cost += int64_t(network_.flow[e]) * distances[place_[other]];
            }
        }
        return cost;
    }

    // Propose `moves` random exchanges of items at a temperature, by the Metropolis rule. `first`
    // is the number of the first one. All items must be placed. Return false if halted.
    __device__ bool anneal(int64_t temperature, uint32_t first, int moves,
                           const draw::Place& random, const improver::Plan& improving) {
        for (int from = 0; from < moves;) {
            if (++annealed_ % POLLED == 0 && halts(improving)) return false;
            const int k = from + warp::lane();
            const auto [item, other, word] =
                k < moves ? proposed(first + k, random) : Proposal{0, 0, 0};
            const int64_t by = item == other ? 0 : network_.raised(place_, item, other);
            const bool is_accepted = item != other && (by <= 0 || is_below(by, temperature, word));
            const int lane = warp::find(is_accepted);
            if (lane < 0) {
                from += warp::SIZE;
                continue;
            }
            exchange(warp::of(item, lane), warp::of(other, lane));
            from += lane + 1;
        }
        return true;
    }

    // Exchange items with those at the places nearest to their neighbours as long as this lowers
    // the cost. All items must be placed.
    __device__ void polish() {
        for (bool falls = true; falls;) {
            falls = false;
            for (int item = 0; item < n_; ++item) {
                for (int e = network_.first[item]; e < network_.first[item + 1]; ++e) {
                    falls |= move_near(item, network_.neighbour[e]);
                }
            }
        }
    }

    // Return whether a stop is requested, the same for all threads of the warp.
    __device__ static bool halts(const improver::Plan& improving) {
        return warp::first(warp::lane() == 0 && improver::halt_requested(improving));
    }

  private:
    __device__ State(Head* head, Memory memory, Number* costs, const Plan& plan,
                     const problem::Network& network, int n)
        : plan_(plan),
          network_(network),
          n_(n),
          head_(head),
          at_(*head),
          costs_(costs),
          penalty_(memory.take<Number>()),
          first_(memory.take<Number>()),
          second_(memory.take<Number>()),
          place_(memory.take<int16_t>()),
          holder_(memory.take<int16_t>()),
          best_(memory.take<int16_t>()),
          other_(memory.take<int16_t>()),
          neighbours_(memory.take<int16_t>()),
          frontier_(memory.take<int16_t>()),
          stale_(memory.take<int16_t>()) {}

    // Return whether a cost is below an exponential random number with the temperature as its mean.
    // The logarithm of the random word is approximated from its leading zeros and the bits after
    // them.
    __device__ static bool is_below(int64_t cost, int64_t temperature, uint32_t word) {
        const int zeros = __clz(word | 1);
        const uint32_t rest = (word << zeros << 1) >> 16;          // after the first 1
        const int64_t binary = (int64_t(zeros + 1) << 16) - rest;  // to base 2
        const int64_t natural = binary * 45426 >> 16;              // times ln 2
        const int64_t high = temperature >> 16, low = temperature & 0xffff;
        return cost < (high * natural + (low * natural >> 16)) >> 8;
    }

    // Return the frontier item with the lowest key, or NONE.
    template <class KeyOf>
    __device__ int lowest_of_frontier(KeyOf key_of) const {
        block::Least<int64_t> lowest;
        for (int i = warp::lane(); i < at_.waiting; i += warp::SIZE) {
            const int item = frontier_[i];
            const int64_t key = key_of(item);
            if (key < lowest.value || (key == lowest.value && uint32_t(item) < lowest.index)) {
                lowest = {key, uint32_t(item)};
            }
        }
        return int(warp::least(lowest).index);
    }

    // Return the frontier item with the largest gap between its best places, and in a tie the one
    // with the most placed neighbours.
    __device__ int most_urgent(uint32_t salt) const {
        return lowest_of_frontier([&](int item) {
            const int64_t gap = min(int64_t(second_[item]) - first_[item], int64_t(0x7fffffff));
            return -(gap << 32 | int64_t(min(int(neighbours_[item]), 1023)) << 22 |
                     hash(item, salt) >> 10);
        });
    }

    // Return the unplaced item with the most placed neighbours, and in a tie the one with the
    // largest flow to them.
    __device__ int next() const {
        const int item = lowest_of_frontier([&](int item) {
            int64_t flow = 0;
            for (int e = network_.first[item]; e < network_.first[item + 1]; ++e) {
                if (place_[network_.neighbour[e]] != NONE) flow += network_.flow[e];
            }
            return -(int64_t(neighbours_[item]) << 48 | flow);
        });
        return item == NONE ? any_of(place_, at_.placed) : item;
    }

    // Return a random index at which an array is NONE, or NONE if there is none.
    __device__ int any_of(const int16_t* array, uint32_t salt) const {
        block::Least<int64_t> lowest;
        for (int i = warp::lane(); i < n_; i += warp::SIZE) {
            const int64_t key = hash(i, salt);
            if (array[i] == NONE && key < lowest.value) lowest = {key, uint32_t(i)};
        }
        return int(warp::least(lowest).index);
    }

    // Remove a placed item from the frontier, and list the items whose best places may have changed
    // because its place is near; return their number. If `to` is NONE, list nothing.
    __device__ int leave_frontier(int item, int to) {
        int left = 0, stale = 0;
        for (int i = warp::lane(); i - warp::lane() < at_.waiting; i += warp::SIZE) {
            const int other = i < at_.waiting ? frontier_[i] : item;
            const bool stays = other != item;
            const bool is_stale = stays && to != NONE && needs_places(other, to);
            const auto [kept, kept_before] = warp::counts(stays);
            const auto [listed, listed_before] = warp::counts(is_stale);
            if (stays) frontier_[left + kept_before] = other;
            if (is_stale) stale_[stale + listed_before] = other;
            left += kept, stale += listed;
            warp::sync();
        }
        at_.waiting = left;
        return stale;
    }

    __device__ bool needs_places(int item, int taken) const {
        const int best = best_[item], other = other_[item];
        if (best == NONE || best == taken || other == taken) return true;
        const Number reach = plan_.reach[taken];
        return network_.from(taken)[best] <= reach || network_.from(taken)[other] <= reach;
    }

    // Compute the costs of an unplaced item at all places, from the flows to placed neighbours;
    // return the sum of these flows.
    __device__ Number find_costs(int item) {
        const int padded = network_.pitch;
        Number flows = 0;
        Number* __restrict__ const costs = costs_;
        const Number* const penalty = penalty_;
        for (int x = warp::lane(); x < padded; x += warp::SIZE) costs[x] = penalty[x];
        for (int e = network_.first[item]; e < network_.first[item + 1]; ++e) {
            const int at = place_[network_.neighbour[e]];
            if (at == NONE) continue;
            const Number flow = network_.flow[e];
            const Number* __restrict__ const distances = network_.from(at);
            flows += flow;
            for (int x = warp::lane(); x < padded; x += warp::SIZE) costs[x] += flow * distances[x];
        }
        return flows;
    }

    // Return the free place that follows another one in the order of the costs just computed.
    __device__ Candidate first_after(const Candidate& last, uint32_t salt) const {
        Candidate best;
        Number limit = TAKEN - 1;
        for (int from = warp::lane() * CHUNK; from < network_.pitch; from += warp::SIZE * CHUNK) {
            bool any = false;
            for (int k = 0; k < CHUNK; ++k) {
                any |= costs_[from + k] >= last.cost && costs_[from + k] <= limit;
            }
            for (int x = from; any && x < from + CHUNK; ++x) {
                if (costs_[x] < last.cost || costs_[x] > limit) continue;
                const Candidate next{costs_[x], hash(x, salt), x};
                if (last.before(next) && next.before(best)) best = next, limit = next.cost;
            }
        }
        return best.first_of_warp();
    }

    // Find the best two places of an unplaced item. The bound on the flows to unplaced neighbours
    // is only computed for places whose cost is near the lowest.
    __device__ void find_places(int item, uint32_t salt) {
        const int padded = network_.pitch;
        const Number flows = find_costs(item);
        const Number* const costs = costs_;
        Number lowest = TAKEN;
        for (int x = warp::lane(); x < padded; x += warp::SIZE) lowest = min(lowest, costs[x]);
        const Number limit = warp::least(block::Least<Number>{lowest, 0}).value +
                             flows * Number(plan_.scales[WINDOW]);
        const uint32_t item_salt = hash(item, salt);
        Candidate best, second;
        for (int from = warp::lane() * CHUNK; from < padded; from += warp::SIZE * CHUNK) {
            bool any = false;
            for (int k = 0; k < CHUNK; ++k) any |= costs[from + k] <= limit;
            for (int x = from; any && x < from + CHUNK; ++x) {
                if (costs[x] > limit) continue;
                const Candidate next{costs[x] + ahead(item, x), hash(x, item_salt), x};
                if (next.before(best)) {
                    second = best, best = next;
                } else if (next.before(second)) {
                    second = next;
                }
            }
        }
        const Candidate one = best.first_of_warp();
        const Candidate two = (best.place == one.place ? second : best).first_of_warp();
        warp::sync();
        if (warp::lane() == 0) {
            first_[item] = one.cost, best_[item] = one.place;
            const bool is_only = two.place == NONE;
            second_[item] = is_only ? max(one.cost, limit + 1) : two.cost;
            other_[item] = is_only ? one.place : two.place;
        }
        warp::sync();
    }

    // Return a bound on the cost of an item's flows to unplaced neighbours if the item is placed at
    // `to`: the largest flows go to the nearest free places.
    __device__ Number ahead(int item, int to) const {
        Number sum = 0, distance = 0;
        const int32_t* const near = plan_.near + to * MOST_NEAR;
        for (int e = network_.first[item], k = 0; e < network_.first[item + 1]; ++e) {
            if (place_[network_.neighbour[e]] != NONE) continue;
            while (k < plan_.known && holder_[near[k]] != NONE) ++k;
            if (k < plan_.known) distance = network_.from(to)[near[k++]];
            sum += network_.flow[e] * distance;
        }
        return sum;
    }

    // Add the attraction of a new item to its unplaced neighbours, in units of the mean distance;
    // random factors from 3/4 to 5/4 diversify the parts.
    __device__ void attract(int item, const int16_t* given, const draw::Place& random) {
        const int begin = network_.first[item], end = network_.first[item + 1];
        const uint4 word = random.words<draw::FEWEST_ROUNDS>(stream::GROWTH, PARTS + at_.placed);
        for (int e = begin + warp::lane(); e < end; e += warp::SIZE) {
            const int other = network_.neighbour[e];
            if (place_[other] != NONE) continue;
            if (neighbours_[other] == 1) first_[other] = 0;
            const int64_t factor = 192 + (hash(other, word.x) & 127);
            const int64_t gain = plan_.scales[MEAN] - network_.from(given[item])[given[other]];
            first_[other] += Number(network_.flow[e] * gain * factor / 256);
        }
        warp::sync();
    }

    // Return the frontier item with the largest attraction, or NONE.
    __device__ int most_attracted() const {
        const int item = lowest_of_frontier([&](int item) { return -int64_t(first_[item]); });
        return item != NONE && first_[item] > 0 ? item : NONE;
    }

    // Exchange an item with those at the places nearest to a neighbour whenever this lowers the
    // cost; return whether the cost fell.
    __device__ bool move_near(int item, int neighbour) {
        const int32_t* const near = plan_.near + place_[neighbour] * MOST_NEAR;
        bool falls = false;
        for (int from = 0; from < plan_.known;) {
            const int k = from + warp::lane();
            const int other = k < plan_.known ? holder_[near[k]] : item;
            const int lane = warp::find(other != item && network_.raised(place_, item, other) < 0);
            if (lane < 0) {
                from += warp::SIZE;
                continue;
            }
            exchange(item, holder_[near[from + lane]]);
            falls = true;
            from += lane + 1;
        }
        return falls;
    }

    struct Proposal {
        int item, other;
        uint32_t word;
    };

    // Return a random exchange; half of them use a place near a neighbour of the item.
    __device__ Proposal proposed(uint32_t number, const draw::Place& random) const {
        const uint4 word = random.words<draw::FEWEST_ROUNDS>(stream::GROWTH, PROPOSALS + number);
        const int item = draw::below(word.x, n_);
        const int begin = network_.first[item], degree = network_.first[item + 1] - begin;
        if (degree > 0 && word.w % 2) {
            const int at = place_[network_.neighbour[begin + draw::below(word.y, degree)]];
            const int near = plan_.near[at * MOST_NEAR + draw::below(word.z, plan_.known)];
            return {item, holder_[near], word.w};
        }
        const int other = item + 1 + draw::below(word.z, n_ - 1);
        return {item, other < n_ ? other : other - n_, word.w};
    }

    // Exchange two items. Called by all threads of the warp.
    __device__ void exchange(int item, int other) {
        const int64_t by = network_.raised(place_, item, other);
        const int p = place_[item], q = place_[other];
        warp::sync();
        if (warp::lane() == 0) {
            place_[item] = q, place_[other] = p;
            holder_[q] = item, holder_[p] = other;
        }
        warp::sync();
        at_.cost += by;
    }

    static constexpr int POLLED = 1024;  // annealing steps between checks for a stop request
    static constexpr int CHUNK = warp::SIZE == 1 ? 16 : 1;  // places evaluated at once

    const Plan& plan_;
    const problem::Network& network_;
    const int n_;
    int annealed_ = 0;  // annealing steps so far
    Head* const head_;
    Head at_;
    Number* const costs_;
    Number* const penalty_;                   // per place: TAKEN, or 0
    Number *const first_, *const second_;     // costs of the best two places of frontier items
    int16_t* const place_;                    // the place of each item, or NONE
    int16_t* const holder_;                   // the item at each place, or NONE
    int16_t *const best_, *const other_;      // the best two places of frontier items
    int16_t* const neighbours_;               // number of placed neighbours of each unplaced item
    int16_t *const frontier_, *const stale_;  // items
};

}  // namespace growth
