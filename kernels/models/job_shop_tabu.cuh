// A search for job shops: tabu search by shifts of operations on a critical path, and crossover of
// two schedules. Follows job_shop_paths.cuh. Reads the data of the shop; changes the order and the
// state. Random numbers: those of the state, and for crossover those that the caller passes.

constexpr int REACH = JOBS < 64 ? JOBS : 64;  // maximum shift, in operations of its machine
constexpr unsigned SCRAMBLE = 0x9e3779b1u, UNSCRAMBLE = 0x0e8b2f51u;  // their product is 1

// A step of the tabu search. It has no data: apply() selects the best shift that is allowed.
struct Step {};

// Moves operation u after v (`is_right`), or v before u.
struct Shift {
    int u, v;
    bool is_right;
};

// A shift of the operations at two places of the path that are in the same block. The path runs
// backwards, so `early`, the place of u, is the larger index.
struct Candidate {
    int early, late;
    bool is_right;
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) state.until[i] = 0;
    if (threadIdx.x == 0) {
        int next[JOBS];
        for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
        for (int i = 0; i < n; ++i) state.path[i] = next[data.job[s[i]]]++;
    }
    __syncthreads();
    take_order(state, n, data, state.path);
}

__device__ bool propose(const State& state, const Solution&, int, const Data&, Random&, Step&) {
    return state.length > 0;  // some operation takes time
}

// Return a decrease, so that each step is accepted; apply() returns the actual change.
__device__ long long change(const State&, const Solution&, int, const Data&, Step) { return -1; }

__device__ unsigned random_word(State& state) {
    state.turn = state.turn * 1664525u + 1013904223u;
    return state.turn ^ state.turn >> 16;
}

// Convert the order to that of an active schedule, by the rule of Giffler and Thompson: of the
// operations that compete for the machine of the one that could end first, the first one in the
// current order is scheduled. Called by a warp.
__device__ void activate(State& state, Changing& s, int n, const Data& data) {
    int *const next = state.section, *const ready = state.ready;
    for (int j = warp::lane(); j < JOBS; j += warp::SIZE) next[j] = data.first[j], ready[j] = 0;
    for (int k = warp::lane(); k < MACHINES; k += warp::SIZE) state.free[k] = 0;
    warp::sync();
    const auto begin_of = [&](int j) { return max(ready[j], state.free[data.machine[next[j]]]); };
    const auto is_left = [&](int j) { return next[j] < data.first[j + 1]; };
    for (int i = 0; i < n; ++i) {
        block::Least<int> soonest, chosen;
        const auto take = [](block::Least<int>& mine, int value, int j) {
            if (value < mine.value) mine = {value, uint32_t(j)};
        };
        for (int j = warp::lane(); j < JOBS; j += warp::SIZE) {
            if (is_left(j)) take(soonest, begin_of(j) + data.time[next[j]], j);
        }
        soonest = warp::least(soonest);
        const int first = next[soonest.index], k = data.machine[first];
        for (int j = warp::lane(); j < JOBS; j += warp::SIZE) {
            if (!is_left(j) || data.machine[next[j]] != k) continue;
            const bool competes = begin_of(j) < soonest.value || next[j] == first;
            if (competes) take(chosen, state.place[next[j]], j);
        }
        chosen = warp::least(chosen);
        const int j = chosen.index, o = next[j], end = begin_of(j) + data.time[o];
        warp::sync();  // all threads have read
        if (warp::lane() == 0) {
            state.path[i] = o;
            ready[j] = state.free[k] = end;
            ++next[j];
            s.set(i, o);
        }
        warp::sync();
    }
}

// Return the slot of a pair of operations of a machine. The few other pairs with the same slot
// become tabu as well.
__device__ int& slot_of(const State& state, const Data& data, int ahead, int behind) {
    const unsigned key = ahead * unsigned(JOBS) + data.job[behind];
    return state.until[key * SCRAMBLE / (~0u / SLOTS + 1)];
}

// Find a shift of the operation at a place of the path to one of the ends of its block (kinds 0 and
// 1), or of one of these ends to its place (2 and 3). Return false if there is none, or if it might
// create a cycle. Other shifts cannot shorten the path.
__device__ bool candidate_of(const State& state, const Data& data, int i, int kind,
                             Candidate& shift) {
    const int section = state.section[i];
    const int late = state.first[section], early = state.first[section + 1] - 1;
    if (kind == 0) {
        shift = {i, max(late, i - REACH), true};
    } else if (kind == 1) {
        shift = {min(early, i + REACH), i, false};
    } else if (i == late || i == early) {
        return false;  // same as the other kinds
    } else if (kind == 2) {
        shift = {early, i, true};
    } else {
        shift = {i, late, false};
    }
    const int by = shift.early - shift.late;
    if (by == 0 || by > REACH) return false;
    if (by == 1) return data.job[state.path[shift.early]] != data.job[state.path[shift.late]];
    return shift.is_right ? tail_of(state, state.path[shift.late]) >= state.rest[shift.early]
                          : end_of(state, state.path[shift.early]) >= state.ready[shift.late];
}

// Return the length of the longest path through the operations of a candidate after its shift, or a
// lower bound above `most`. If neighbours are exchanged and the makespan increases, the length is
// the new makespan; otherwise it is a good estimate.
__device__ int estimate(const State& state, const Candidate& shift, int most) {
    const int early = shift.early, late = shift.late, last = early - late;
    const auto place = [&](int k) {
        if (shift.is_right) return k < last ? early - 1 - k : early;
        return k > 0 ? early + 1 - k : late;
    };
    int end[REACH + 1], begin = end_of(state, state.before[state.path[early]]);
    for (int k = 0; k <= last; ++k) {
        const int i = place(k);
        end[k] = begin = state.lasting[i] + max(begin, state.ready[i]);
    }
    int tail = tail_of(state, state.after[state.path[late]]), longest = 0;
    for (int k = last; k >= 0 && longest <= most; --k) {
        const int i = place(k);
        tail = max(tail, state.rest[i]);
        longest = max(longest, end[k] + tail);
        tail += state.lasting[i];
    }
    return longest;
}

// Call visit(ahead, behind), in the current order, for each pair of operations that a shift
// reverses.
template <class Visit>
__device__ void for_pairs(const State& state, const Candidate& shift, Visit visit) {
    const int* const path = state.path;
    if (shift.is_right) {
        for (int k = shift.late; k < shift.early; ++k) visit(path[shift.early], path[k]);
    } else {
        for (int k = shift.late + 1; k <= shift.early; ++k) visit(path[k], path[shift.late]);
    }
}

__device__ bool is_forbidden(const State& state, const Data& data, const Candidate& shift) {
    bool is_tabu = false;
    for_pairs(state, shift, [&](int ahead, int behind) {
        is_tabu |= slot_of(state, data, behind, ahead) > state.steps;
    });
    return is_tabu;
}

// Forbid the current order of the pairs of a shift for a number of steps.
__device__ void forbid(State& state, const Data& data, const Candidate& shift) {
    constexpr int FEWEST = 20 + 2 * JOBS / MACHINES;
    const int length = FEWEST + draw::below(random_word(state), FEWEST / 4 + 1);
    for_pairs(state, shift, [&](int ahead, int behind) {
        slot_of(state, data, ahead, behind) = state.steps + length;
    });
}

__device__ void link(State& state, int a, int b) {
    if (a != NONE) state.after[a] = b;
    if (b != NONE) state.before[b] = a;
}

// Move u after v in the list of their machine, or v before u.
__device__ void relink(State& state, const Shift& step) {
    const int u = step.u, v = step.v;
    if (step.is_right) {
        const int next = state.after[v];
        link(state, state.before[u], state.after[u]);
        link(state, v, u), link(state, u, next);
    } else {
        const int back = state.before[u];
        link(state, state.before[v], state.after[v]);
        link(state, back, v), link(state, v, u);
    }
}

// Apply a step, and sort the operations between both places again. Called by a warp.
__device__ void reorder(State& state, Changing& s, int n, const Data& data, const Shift& step,
                        int first, int end) {
    const int u = step.u, v = step.v, back = state.before[v], next = state.after[u];
    const bool is_right = step.is_right;
    warp::sync();  // all threads have read
    if (warp::lane() == 0) {
        relink(state, step);
        state.mark[is_right ? u : v] = 1;
    }
    warp::sync();
    // Mark what must follow u, or what must precede v.
    const auto either = [](int, int a, int b) { return a | b; };
    if (is_right) {
        pass_on<false>(state, n, data, state.mark, first + 1, end, end, either);
    } else {
        pass_on<true>(state, n, data, state.mark, end - 1, first, first, either);
    }
    const bool is_cycle = state.mark[is_right ? v : u];
    warp::sync();
    if (warp::lane() == 0) state.is_cycle = is_cycle;
    if (is_cycle) {  // only if operations take no time, or are not neighbours
        for (int i = first + warp::lane(); i <= end; i += warp::SIZE) {
            state.mark[state.order[i]] = 0;
        }
        const Shift back_again = is_right ? Shift{next, u, false} : Shift{v, back, true};
        if (warp::lane() == 0) relink(state, back_again);
        return;
    }
    // Sort the operations in between: unmarked ones first, then the others; reversed for shifts to
    // the left.
    int late = 0, passed = 0;
    for (int i = first + warp::lane(); i <= end; i += warp::SIZE) {
        const int o = state.order[i];
        state.path[i] = o, state.item[i] = s[i];
        late += state.mark[o] == is_right;
    }
    const int begin = end + 1 - warp::sum(late);
    warp::sync();
    for (int i = first + warp::lane(); i - warp::lane() <= end; i += warp::SIZE) {
        const int o = i <= end ? state.path[i] : NONE;
        const bool is_late = o != NONE && state.mark[o] == is_right;
        const auto counts = warp::counts(is_late);
        if (o != NONE) {
            const int before = passed + counts.before, at = is_late ? begin + before : i - before;
            state.order[at] = o, state.place[o] = at, state.mark[o] = 0;
            s.set(at, state.item[i]);
        }
        passed += counts.all;
    }
}

// Find the candidate with the best estimate that is not tabu, or that yields a new best makespan;
// if all are tabu, any of them. Ties are broken at random. Return false if there are no candidates.
// Called by all threads.
__device__ bool choose(const State& state, int n, const Data& data, Candidate& best) {
    constexpr int KINDS = 4, FORBIDDEN = 1 << 30;
    for (int i = threadIdx.x; i < state.length; i += blockDim.x) {
        const int o = state.path[i];
        state.lasting[i] = data.time[o];
        state.ready[i] = end_of(state, job_before(data, o));
        state.rest[i] = tail_of(state, job_after(data, n, o));
    }
    __syncthreads();
    block::Least<int> mine;
    for (int c = threadIdx.x; c < KINDS * state.length; c += blockDim.x) {
        Candidate shift;
        if (!candidate_of(state, data, c / KINDS, c % KINDS, shift)) continue;
        int value = estimate(state, shift, mine.value);
        if (value > mine.value) continue;
        if (value >= state.least && is_forbidden(state, data, shift)) value = FORBIDDEN;
        const uint32_t index = c * SCRAMBLE + state.turn;
        if (value < mine.value || (value == mine.value && index < mine.index)) {
            mine = {value, index};
        }
    }
    const auto found = block::least(mine);
    if (found.value == found.NONE) return false;
    const int c = int((found.index - state.turn) * UNSCRAMBLE);
    return candidate_of(state, data, c / KINDS, c % KINDS, best);
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step) {
    const int old = state.last;
    if (state.steps == 0) {
        if (warp::index() == 0) activate(state, s, n, data);
        __syncthreads();
        take_order(state, n, data, state.path);
        if (threadIdx.x == 0) state.steps = 1, state.least = state.last;
        __syncthreads();
        return state.last - old;
    }
    Candidate best;
    const bool is_found = choose(state, n, data, best);
    if (!is_found) return 0;
    const Shift shift{state.path[best.early], state.path[best.late], best.is_right};
    const int first = state.place[shift.u], end = state.place[shift.v];
    const int before = state.before[shift.u], after = state.after[shift.v];
    const Window window{first, end, before == NONE ? first : state.place[before],
                        after == NONE ? end : state.place[after]};
    __syncthreads();  // all threads have read
    if (threadIdx.x == 0) {
        ++state.steps;
        forbid(state, data, best);
    }
    if (warp::index() == 0) warp::sync(), reorder(state, s, n, data, shift, first, end);
    __syncthreads();
    if (state.is_cycle) return 0;
    follow(state, n, data, window);
    if (threadIdx.x == 0) state.least = min(state.least, state.last);
    __syncthreads();
    return state.last - old;
}

// Compute the ends of all operations in an order. Called by one thread.
template <class Items>
__device__ void find_ends(State& state, const Items& s, int n, const Data& data, int* ends) {
    int next[JOBS];
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
    for (int k = 0; k < MACHINES; ++k) state.free[k] = 0;
    for (int i = 0; i < n; ++i) {
        const int o = next[data.job[s[i]]]++, k = data.machine[o];
        state.free[k] = ends[o] = data.time[o] + max(state.free[k], of(ends, job_before(data, o)));
    }
}

// Sort operations by increasing keys, ties by number. Called by one thread.
template <class Key>
__device__ const int* sorted(State& state, int n, Key key) {
    int *from = state.order, *to = state.item;
    for (int o = 0; o < n; ++o) from[o] = o;
    for (int width = 1; width < n; width *= 2) {
        for (int first = 0; first < n; first += 2 * width) {
            int i = first, j = min(first + width, n);
            const int middle = j, end = min(first + 2 * width, n);
            for (int k = first; k < end; ++k) {
                const bool is_left = j == end || (i < middle && key(from[i]) <= key(from[j]));
                to[k] = from[is_left ? i++ : j++];
            }
        }
        int* const other = from;
        from = to, to = other;
    }
    return from;
}

// Sort operations by the weighted mean of their starts in both schedules, with random weights: an
// order common to both parents is preserved. A child of equal schedules is changed at random.
__device__ void cross(State& state, Changing& child, const Solution& other, int n, const Data& data,
                      Random& random) {
    if (threadIdx.x != 0) return;
    find_ends(state, child, n, data, state.end);
    find_ends(state, other, n, data, state.tail);
    int differences = 0, time = 0;
    for (int o = 0; o < n; ++o) {
        differences += state.end[o] != state.tail[o], time += data.time[o];
    }
    constexpr int PARTS = 64;
    const int64_t weight = PARTS * 3 / 10 + random.below(PARTS * 4 / 10);
    const uint32_t word = random.word();
    const int most = 2 * (time / n) + 1;  // maximum delay of an operation in the sorting
    const auto key = [&](int o) {
        const int64_t later =
            differences > 0 ? 0 : draw::below((o + 1) * (word | 1) * SCRAMBLE, most);
        return (PARTS - weight) * (state.end[o] - data.time[o]) +
               weight * (state.tail[o] - data.time[o]) + PARTS * later;
    };
    const int* const order = sorted(state, n, key);
    for (int i = 0; i < n; ++i) child.set(i, order[i]);
}
