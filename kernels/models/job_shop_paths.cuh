// The schedule of the search for job shops: heads, tails and a critical path, updated when the
// order changes. Follows job_shop.cuh. Reads the data of the shop; keeps the schedule in the state.
// Ties between paths are broken by random numbers of its own, which depend on the order.

constexpr int NONE = -1, BOTH = -2;
constexpr int SLOTS = 4096;  // a power of two

struct State {
    int *order, *place;   // operations in topological order
    int *before, *after;  // neighbours of each operation on its machine
    int *end, *tail;      // longest path to the end of an operation; from its start to the end
    int* path;            // the operations of a critical path
    int *item, *mark;     // used when operations are sorted
    int *section,
        *first;  // per place of the path: its block; first place of each block
    // Per place of the path: its time, the end of the previous operation of its job, and the tail
    // of the next one.
    int *lasting, *ready, *rest;
    int* ahead;        // on a GPU: the predecessor that determines each start; see waits_for()
    int* free;         // per machine
    int* until;        // the step until which the order of a pair is tabu; see slot_of()
    int length, last;  // of the path; the makespan
    int least;         // the lowest makespan so far
    int steps;
    unsigned turn;  // state of a random number generator
    bool is_cycle;  // operations would have formed a cycle
    __device__ State(Memory& memory, int n, const Data&)
        : order(memory.take<int>(n)),
          place(memory.take<int>(n)),
          before(memory.take<int>(n)),
          after(memory.take<int>(n)),
          end(memory.take<int>(n)),
          tail(memory.take<int>(n)),
          path(memory.take<int>(n)),
          item(memory.take<int>(n)),
          mark(memory.take<int>(n)),
          section(memory.take<int>(n)),
          first(memory.take<int>(n + 1)),
          lasting(memory.take<int>(n)),
          ready(memory.take<int>(n)),
          rest(memory.take<int>(n)),
          ahead(memory.take<int>(warp::SIZE > 1 ? n : 0)),
          free(memory.take<int>(MACHINES)),
          until(memory.take<int>(SLOTS)),
          length(0),
          last(0),
          least(0),
          steps(0),
          turn(0),
          is_cycle(false) {}
};

__device__ int job_before(const Data& data, int o) {
    return o > 0 && data.job[o - 1] == data.job[o] ? o - 1 : NONE;
}
__device__ int job_after(const Data& data, int n, int o) {
    return o + 1 < n && data.job[o + 1] == data.job[o] ? o + 1 : NONE;
}
__device__ int of(const int* values, int o) { return o == NONE ? 0 : values[o]; }
__device__ int end_of(const State& state, int o) { return of(state.end, o); }
__device__ int tail_of(const State& state, int o) { return of(state.tail, o); }

// Compute the values of operations from a place, forwards or backwards, each from the values of its
// job and machine predecessors: combine(o, value, value). Continue at least to `to`, and
// beyond it, at most to `most`, while operations depend on changed values. Called by a warp. Each
// lane processes an operation and receives the values of other lanes until none changes, with the
// same result as a single thread. Call visit(o, a, value of a, b, value of b, value) for each
// operation.
template <bool IS_BACKWARD, class Combine, class Visit>
__device__ void pass_on(const State& state, int n, const Data& data, int* values, int from, int to,
                        int most, Combine combine, Visit visit) {
    const int *const order = state.order, *const place = state.place;
    const int* const ahead = IS_BACKWARD ? state.after : state.before;
    const int* const behind = IS_BACKWARD ? state.before : state.after;
    const auto steps_to = [&](int at) { return IS_BACKWARD ? from - at : at - from; };
    const auto steps_of = [&](int o) { return o == NONE ? -1 : steps_to(place[o]); };
    struct Link {
        int o, a, b, lane_a, lane_b;  // negative: no lane
        int reach;                    // the last operation that depends on this one
    };
    const int limit = steps_to(most);
    const auto link_of = [&](int i) {
        // The last lanes repeat the last operation.
        const int k = warp::SIZE == 1 ? i : min(i, limit), begin = i - warp::lane();
        const int o = order[IS_BACKWARD ? from - k : from + k], b = ahead[o];
        const int a = IS_BACKWARD ? job_after(data, n, o) : job_before(data, o);
        if (warp::SIZE == 1) return Link{o, a, b, -1, -1, -1};
        const int c = IS_BACKWARD ? job_before(data, o) : job_after(data, n, o);
        const int reach = max(steps_of(c), steps_of(behind[o]));
        return Link{o, a, b, steps_of(a) - begin, steps_of(b) - begin, reach};
    };
    // On a CPU, finding an earlier end costs as much as it saves.
    int far = warp::SIZE > 1 ? steps_to(to) : limit;
    Link next = link_of(warp::lane());
    for (int i = warp::lane(); i - warp::lane() <= far; i += warp::SIZE) {
        const Link at = warp::SIZE > 1 ? next : link_of(i);
        if (warp::SIZE > 1) next = link_of(i + warp::SIZE);  // while the values are computed
        const int old_a = of(values, at.a), old_b = of(values, at.b), before = values[at.o];
        int now = before, by_a = 0, by_b = 0;
        bool changes = true;
        while (changes) {
            const int lane_a = warp::of(now, max(at.lane_a, 0));
            const int lane_b = warp::of(now, max(at.lane_b, 0));
            by_a = at.lane_a < 0 ? old_a : lane_a, by_b = at.lane_b < 0 ? old_b : lane_b;
            const int then = combine(at.o, by_a, by_b);
            changes = warp::find(warp::SIZE > 1 && then != now) >= 0;
            now = then;
        }
        warp::sync();  // all threads have read
        values[at.o] = now;
        if (warp::SIZE > 1) far = min(max(far, warp::most(now != before ? at.reach : -1)), limit);
        visit(at.o, at.a, by_a, at.b, by_b, now);
        warp::sync();
    }
}

template <bool IS_BACKWARD, class Combine>
__device__ void pass_on(const State& state, int n, const Data& data, int* values, int from, int to,
                        int most, Combine combine) {
    const auto ignore = [](int, int, int, int, int, int) {};
    pass_on<IS_BACKWARD>(state, n, data, values, from, to, most, combine, ignore);
}

// Return the predecessor of `o`, in its job (a) or on its machine (b), that determines its start,
// or NONE. If both do, return BOTH - b, or b if a is on the same machine: the blocks of a path have
// no gaps, and operations that take no time may be between a and b.
__device__ int waits_for(const Data& data, int o, int end, int a, int end_a, int b, int end_b) {
    const int head = end - data.time[o];
    const bool by_job = a != NONE && end_a == head, by_machine = b != NONE && end_b == head;
    if (by_job && by_machine && data.machine[a] != data.machine[o]) return BOTH - b;
    return by_machine ? b : by_job ? a : NONE;
}

// Find a critical path and its blocks, sequences of operations on one machine. Called by a warp,
// whose first lane follows the path. On a GPU, the predecessor that determines each start is known.
__device__ void trace(State& state, const Data& data) {
    int last = 0, at = NONE;
    for (int j = warp::lane(); j < JOBS; j += warp::SIZE) {
        const int o = data.first[j + 1] - 1, end = state.end[o];
        if (end > last) last = end, at = o;
    }
    const auto latest = warp::least(block::Least<int>{-last, uint32_t(at)});
    at = warp::lane() == 0 ? int(latest.index) : NONE;
    int* const path = state.path;  // loaded once, as the state is in shared memory
    const int *const before = state.before, *const end = state.end, *const aheads = state.ahead;
    int length = 0;
    unsigned turn = state.turn;
    while (at != NONE) {
        path[length++] = at;
        turn = turn * 1664525u + 1013904223u;
        int ahead;
        if (warp::SIZE > 1) {
            ahead = aheads[at];
        } else {
            const int a = job_before(data, at), b = before[at];
            ahead = waits_for(data, at, end[at], a, of(end, a), b, of(end, b));
        }
        at = ahead > BOTH ? ahead : turn >> 30 ? BOTH - ahead : at - 1;
    }
    length = warp::first(length);
    warp::sync();
    int sections = 0;
    for (int i = warp::lane(); i - warp::lane() < length; i += warp::SIZE) {
        const bool begins =
            i == 0 || (i < length && data.machine[path[i]] != data.machine[path[i - 1]]);
        const auto begun = warp::counts(begins);
        const int section = sections + begun.before + begins - 1;
        if (i < length) state.section[i] = section;
        if (begins) state.first[section] = i;
        sections += begun.all;
    }
    if (warp::lane() != 0) return;
    state.first[sections] = length;
    state.last = -latest.value, state.length = length, state.turn = turn;
}

// Range of places changed by a step, including operations with new neighbours.
struct Window {
    int first, end;
    int first_tail, last_end;  // the most distant places with new neighbours
};

// Update ends, tails and a critical path after a change of the order.
__device__ void follow(State& state, int n, const Data& data, const Window& window) {
    const auto longer = [&data](int o, int a, int b) { return data.time[o] + max(a, b); };
    if (warp::index() == 0) {
        const auto keep = [&](int o, int a, int end_a, int b, int end_b, int end) {
            if (warp::SIZE > 1) state.ahead[o] = waits_for(data, o, end, a, end_a, b, end_b);
        };
        pass_on<false>(state, n, data, state.end, window.first, window.last_end, n - 1, longer,
                       keep);
        trace(state, data);
    }
    if (warp::index() == warp::count() - 1) {  // concurrently, as neither reads the other's results
        pass_on<true>(state, n, data, state.tail, window.end, window.first_tail, 0, longer);
    }
    __syncthreads();
}

// Take an order of operations, and compute everything else; called by all threads.
__device__ void take_order(State& state, int n, const Data& data, const int* order) {
    if (threadIdx.x == 0) {
        int last[MACHINES];
        for (int k = 0; k < MACHINES; ++k) last[k] = NONE;
        for (int i = 0; i < n; ++i) {
            const int o = order[i], k = data.machine[o];
            state.order[i] = o, state.place[o] = i;
            state.before[o] = last[k], state.after[o] = NONE;
            if (last[k] != NONE) state.after[last[k]] = o;
            last[k] = o;
            state.end[o] = state.tail[o] = state.mark[o] = 0;
            state.turn = state.turn * 1664525u + o;
        }
    }
    __syncthreads();
    follow(state, n, data, {0, n - 1, 0, n - 1});
}
