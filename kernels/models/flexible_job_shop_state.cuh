// A search for job shops with dates or alternative machines: moves an operation on the critical
// path of a job that determines the cost to another place or machine. Follows
// flexible_job_shop.cuh. Reads the data of the shop; keeps the schedule. No random numbers: the
// caller passes them.

constexpr int EARLY = -2, LATE = -3, BOTH = -2, REACH = 24, WINDOW = 6;

struct State {
    int *order, *place;            // operations in topological order
    int *choice, *before, *after;  // per operation, and its neighbours on the machine
    int* head;                     // start of each operation
    int* ahead;  // the predecessor that determines its start; BOTH: job and machine
    int* start;  // the first operation of each machine
    int* late;   // the jobs that determine the cost
    int late_count;
    int from;        // first place changed by the last step; NONE if it was impossible
    bool is_sorted;  // the solution has the chosen items in order, then the others
    long long total;
    unsigned turn;
    __device__ State(Memory& memory, int, const Data&)
        : order(memory.take<int>(OPERATIONS)),
          place(memory.take<int>(OPERATIONS)),
          choice(memory.take<int>(OPERATIONS)),
          before(memory.take<int>(OPERATIONS)),
          after(memory.take<int>(OPERATIONS)),
          head(memory.take<int>(OPERATIONS)),
          ahead(memory.take<int>(OPERATIONS)),
          start(memory.take<int>(MACHINES)),
          late(memory.take<int>(JOBS)),
          late_count(0),
          from(0),
          is_sorted(false),
          total(0),
          turn(0) {}
};

// Moves operation o to the machine of one of its choices, after operation `behind`, or first if it
// is NONE.
struct Step {
    int o, choice, behind;
};

__device__ int job_before(const Data& data, int o) {
    return o > 0 && data.job[o - 1] == data.job[o] ? o - 1 : NONE;
}
__device__ int job_after(const Data& data, int o) {
    return o + 1 < OPERATIONS && data.job[o + 1] == data.job[o] ? o + 1 : NONE;
}
__device__ int end_of(const State& state, const Data& data, int o) {
    return state.head[o] + data.time[state.choice[o]];
}

// The schedule after a step that has not been applied to the state.
struct Changed {
    const State& state;
    const Data& data;
    const Step step;
    const int next;  // the operation that o will precede
    int* const now;  // EARLY or LATE, then the heads
    int first, end;  // of the places that are sorted again

    __device__ Changed(const State& state, const Data& data, Step step, int* now)
        : state(state),
          data(data),
          step(step),
          next(step.behind == NONE ? state.start[data.machine[step.choice]]
                                   : state.after[step.behind]),
          now(now),
          first(state.place[step.o]),
          end(first) {}

    __device__ int before(int p) const {
        if (p == step.o) return step.behind;
        if (p == next) return step.o;
        return p == state.after[step.o] ? state.before[step.o] : state.before[p];
    }
    __device__ int after(int p) const {
        if (p == step.o) return next;
        if (p == step.behind) return step.o;
        return p == state.before[step.o] ? state.after[step.o] : state.after[p];
    }
    __device__ int time(int p) const {
        return data.time[p == step.o ? step.choice : state.choice[p]];
    }
    __device__ bool is(int p, int kind, int from, int to) const {
        return p != NONE && state.place[p] >= from && state.place[p] <= to && now[p] == kind;
    }

    // Mark the operations between the old and the new place of o: LATE if they must follow o on its
    // way to a later place, EARLY if they must precede it on its way to an earlier one. Early ones
    // come first, and both groups keep their order. Return false if there is a cycle.
    __device__ bool divide() {
        const int at = first;
        if (step.behind != NONE && state.place[step.behind] > at) {
            end = state.place[step.behind];
            now[step.o] = LATE;
            for (int i = at + 1; i <= end; ++i) {
                const int p = state.order[i];
                const bool follows =
                    is(before(p), LATE, at, i - 1) || is(job_before(data, p), LATE, at, i - 1);
                now[p] = follows ? LATE : EARLY;
            }
            return now[step.behind] == EARLY;
        }
        now[step.o] = EARLY;
        if (next == NONE || state.place[next] > at) return true;
        first = state.place[next];
        for (int i = at - 1; i >= first; --i) {
            const int p = state.order[i];
            const bool precedes =
                is(after(p), EARLY, i + 1, at) || is(job_after(data, p), EARLY, i + 1, at);
            now[p] = precedes ? EARLY : LATE;
        }
        return now[next] == LATE;
    }

    __device__ int new_end(int p) const {
        return (state.place[p] < first ? state.head[p] : now[p]) + time(p);
    }

    // Compute the head of an operation; return the last place of its successors if its end changes.
    __device__ int follow(int p) {
        const int a = job_before(data, p), b = before(p);
        now[p] = a == NONE ? data.release[data.job[p]] : new_end(a);
        if (b != NONE) now[p] = max(now[p], new_end(b));
        if (now[p] + time(p) == end_of(state, data, p)) return NONE;
        return max(place_of(job_after(data, p)), place_of(after(p)));
    }
    __device__ int place_of(int p) const { return p == NONE ? NONE : state.place[p]; }

    // Return the cost after the step.
    __device__ long long total() {
        int far = max(place_of(next), place_of(state.after[step.o]));
        for (int kind = EARLY; kind >= LATE; --kind) {
            for (int i = first; i <= end; ++i) {
                if (now[state.order[i]] == kind) far = max(far, follow(state.order[i]));
            }
        }
        int i = end + 1;
        for (; i <= far; ++i) far = max(far, follow(state.order[i]));
        Total total;
        for (int j = 0; j < JOBS; ++j) {
            const int o = data.first[j + 1] - 1, place = state.place[o];
            total.add(data, j, place < i ? new_end(o) : end_of(state, data, o));
        }
        return total.value;
    }
};

// Compute the heads from a place. Called by a warp. Each lane processes an operation until no head
// changes, with the same result as a single thread.
__device__ void find_heads(State& state, const Data& data, int from) {
    int* const heads = state.head;  // loaded once, as the state is in shared memory
    for (int i = from + warp::lane(); i - warp::lane() < OPERATIONS; i += warp::SIZE) {
        // The last lanes repeat the last operation.
        const int o = state.order[warp::SIZE == 1 ? i : min(i, OPERATIONS - 1)];
        const int a = job_before(data, o), b = state.before[o];
        const int by_a = a == NONE ? data.release[data.job[o]] : data.time[state.choice[a]];
        const int by_b = b == NONE ? 0 : data.time[state.choice[b]];
        bool changes = true;
        int head = 0, of_job = 0, of_machine = 0;
        while (changes) {
            of_job = a == NONE ? by_a : heads[a] + by_a;
            of_machine = b == NONE ? of_job : heads[b] + by_b;
            head = max(of_job, of_machine);
            changes = warp::SIZE > 1 && head != heads[o];
            warp::sync();  // all threads have read
            heads[o] = head;
            warp::sync();
            changes = warp::find(changes) >= 0;
        }
        const bool by_job = a != NONE && of_job == head;
        const bool by_machine = b != NONE && of_machine == head;
        state.ahead[o] = by_job && by_machine ? BOTH : by_machine ? b : by_job ? a : NONE;
    }
}

// Compute the heads from a place, the cost, and the jobs that determine it.
__device__ void follow(State& state, const Data& data, int from) {
    if (warp::index() == 0) find_heads(state, data, from);
    __syncthreads();
    Total part;
    for (int j = threadIdx.x; j < JOBS; j += blockDim.x) {
        part.add(data, j, end_of(state, data, data.first[j + 1] - 1));
    }
    const long long total =
        IS_MAKESPAN ? -block::argmin({-part.value, 0}).value : block::sum(int64_t(part.value));
    if (warp::index() == 0) {
        int late_count = 0;
        for (int j = warp::lane(); j - warp::lane() < JOBS; j += warp::SIZE) {
            bool counts = j < JOBS;
            if (counts) {
                const int end = end_of(state, data, data.first[j + 1] - 1);
                counts = IS_MAKESPAN ? end == total : Total::late(data, j, end) > 0;
            }
            const auto ahead = warp::counts(counts);
            if (counts) state.late[late_count + ahead.before] = j;
            late_count += ahead.all;
        }
        if (warp::lane() == 0) {
            state.total = total, state.late_count = late_count;
            state.turn = state.turn * 1664525u + 1013904223u;
        }
    }
    __syncthreads();
}

__device__ void link(State& state, int machine, int a, int b) {
    if (a != NONE) state.after[a] = b;
    if (a == NONE) state.start[machine] = b;
    if (b != NONE) state.before[b] = a;
}

__device__ void fill(State& state, const Solution& s, int n, const Data& data) {
    int next[JOBS], last[MACHINES], at = 0;
    for (int o = 0; o < OPERATIONS; ++o) state.choice[o] = NONE;
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
    for (int i = 0; i < n; ++i) {
        const int p = data.operation[s[i]];
        if (state.choice[p] != NONE) continue;
        state.choice[p] = s[i];
        const int o = next[data.job[p]]++;
        state.order[at] = o, state.place[o] = at++;
    }
    for (int k = 0; k < MACHINES; ++k) state.start[k] = last[k] = NONE;
    for (int i = 0; i < OPERATIONS; ++i) {
        const int o = state.order[i], k = data.machine[state.choice[o]];
        state.after[o] = state.before[o] = NONE, state.head[o] = 0;
        link(state, k, last[k], o);
        last[k] = o;
        state.turn = state.turn * 1664525u + o;
    }
    state.is_sorted = false;
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    if (threadIdx.x == 0) fill(state, s, n, data);
    __syncthreads();
    follow(state, data, 0);
}

// Return the predecessor that determines the start of an operation, or NONE.
__device__ int waits_for(const State& state, int o) {
    const int ahead = state.ahead[o];
    return ahead != BOTH ? ahead : (state.turn >> 24 ^ o) & 1 ? o - 1 : state.before[o];
}

// Return a move of an operation to another machine. There, it follows all operations that end
// before it can begin, and a random number, possibly 0, of those that begin before the next
// operation of its job.
__device__ Step moved(const State& state, const Data& data, Random& random, int o, int count) {
    int c = data.choices[o] + random.below(count - 1);
    if (c >= state.choice[o]) ++c;
    const int a = job_before(data, o), b = job_after(data, o);
    const int ready = a == NONE ? data.release[data.job[o]] : end_of(state, data, a);
    int behind = NONE, next = state.start[data.machine[c]], places = 1;
    while (next != NONE && end_of(state, data, next) <= ready) {
        behind = next, next = state.after[next];
    }
    for (int p = next; p != NONE && places < WINDOW; p = state.after[p]) {
        if (b != NONE && state.head[p] >= state.head[b]) break;
        ++places;
    }
    for (int left = random.below(places); left > 0; --left) {
        behind = next, next = state.after[next];
    }
    return {o, c, behind};
}

// Propose a step for an operation on the critical path of a job: to another machine, or before or
// after another operation of its block. No other step can make this job end earlier.
__device__ bool propose(const State& state, const Solution&, int, const Data& data, Random& random,
                        Step& step) {
    if (state.late_count == 0) return false;
    for (int attempt = 0; attempt < 8; ++attempt) {
        int v = data.first[state.late[random.below(state.late_count)] + 1] - 1, steps = 0;
        for (int o = v; o != NONE; o = waits_for(state, o)) ++steps;
        for (int i = random.below(steps); i > 0; --i) v = waits_for(state, v);
        const int count = data.choices[v + 1] - data.choices[v];
        if (count > 1 && random.below(2)) {
            step = moved(state, data, random, v, count);
            return true;
        }
        int length = 0;
        for (int o = v; length < REACH; o = state.before[o], ++length) {
            const int b = state.before[o];
            if (b == NONE || end_of(state, data, b) < state.head[o]) break;
        }
        if (length == 0) continue;
        const int by = random.below(2) ? 1 : 1 + random.below(length);
        int u = v;
        for (int i = 0; i < by; ++i) u = state.before[u];
        if (random.below(2)) {
            const int b = job_after(data, u);
            step = {u, state.choice[u], v};
            if (by == 1 || b == NONE || state.head[v] < end_of(state, data, b)) return true;
        } else {
            const int a = job_before(data, v);
            step = {v, state.choice[v], state.before[u]};
            if (by == 1 || a == NONE || state.head[a] < end_of(state, data, u)) return true;
        }
    }
    return false;
}

__device__ long long change(const State& state, const Solution&, int, const Data& data, Step step) {
    int now[OPERATIONS];
    Changed changed(state, data, step, now);
    return changed.divide() ? changed.total() - state.total : 1;
}

// Write the unused choices of an operation to their places in the solution.
__device__ void write_others(const State& state, Changing& s, const Data& data, int o) {
    int at = OPERATIONS + data.choices[o] - o;
    for (int c = data.choices[o]; c < data.choices[o + 1]; ++c) {
        if (c != state.choice[o]) s.set(at++, c);
    }
}

// Apply a step without updating the heads; return the first place that it changes, or NONE. Called
// by one thread.
__device__ int reorder(State& state, Changing& s, const Data& data, const Step& step) {
    int now[OPERATIONS], late[OPERATIONS];
    Changed changed(state, data, step, now);
    if (!changed.divide()) return NONE;  // only if operations take no time
    const int o = step.o, first = changed.first, end = changed.end, next = changed.next;
    int at = first, late_count = 0;
    for (int i = first; i <= end; ++i) {
        const int p = state.order[i];
        if (now[p] == LATE) late[late_count++] = p;
        if (now[p] == EARLY) state.order[at++] = p;
    }
    for (int i = 0; i < late_count; ++i) state.order[at++] = late[i];
    for (int i = first; i <= end; ++i) state.place[state.order[i]] = i;
    link(state, data.machine[state.choice[o]], state.before[o], state.after[o]);
    state.choice[o] = step.choice;
    link(state, data.machine[step.choice], step.behind, o);
    link(state, data.machine[step.choice], o, next);
    const int from = state.is_sorted ? first : 0, to = state.is_sorted ? end : OPERATIONS - 1;
    for (int i = from; i <= to; ++i) s.set(i, state.choice[state.order[i]]);
    for (int p = 0; p < OPERATIONS; ++p) {
        if (!state.is_sorted || p == o) write_others(state, s, data, p);
    }
    state.is_sorted = true;
    return first;
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const long long old = state.total;
    if (threadIdx.x == 0) state.from = reorder(state, s, data, step);
    __syncthreads();
    if (state.from == NONE) return 0;
    follow(state, data, state.from);
    return state.total - old;
}
