// A search for flow shops by moving a job to another place; the cost is computed from the heads and
// tails of the schedule. Follows flow_shop.cuh. Reads the order and the times; keeps heads and
// tails. No random numbers: the caller passes them.

struct State {
    int *head, *tail;  // per place and machine: its operation's end; time from its start to the end
    long long* sum;    // of the completion times of the jobs up to each place
    __device__ State(Memory& memory, int n, const Data&)
        : head(memory.take<int>(n * MACHINES)),
          tail(memory.take<int>(n * MACHINES)),
          sum(memory.take<long long>(n)) {}
};

// Moves the job at u to place v.
struct Step {
    int u, v;
};

__device__ void load(int* ready, const int* from, bool exists) {
    for (int k = 0; k < MACHINES; ++k) ready[k] = exists ? from[k] : 0;
}

// Compute the heads from a place, and the tails up to another one.
template <class Order>
__device__ void follow(State& state, const Order& s, int n, const Data& data, int from, int to) {
    int ready[MACHINES];
    load(ready, state.head + (from - 1) * MACHINES, from > 0);
    long long sum = from > 0 ? state.sum[from - 1] : 0;
    for (int i = from; i < n; ++i) {
        add(data, i > 0 ? s[i - 1] : NONE, s[i], ready);
        state.sum[i] = sum += ready[MACHINES - 1];
        for (int k = 0; k < MACHINES; ++k) state.head[i * MACHINES + k] = ready[k];
    }
    if (SUMS) return;
    load(ready, state.tail + (to + 1) * MACHINES, to + 1 < n);
    for (int i = to; i >= 0; --i) {
        const int job = s[i], after = i + 1 < n ? s[i + 1] : NONE;
        const int* const time = data.time + job * MACHINES;
        for (int k = MACHINES - 1; k >= 0; --k) {
            const int later = ready[k] + (after == NONE ? 0 : setup(data, job, after, k));
            ready[k] = (k < MACHINES - 1 ? max(later, ready[k + 1]) : later) + time[k];
        }
        for (int k = 0; k < MACHINES; ++k) state.tail[i * MACHINES + k] = ready[k];
    }
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    follow(state, s, n, data, 0, n - 1);
}

__device__ bool propose(const State&, const Solution&, int n, const Data&, Random& random,
                        Step& step) {
    step.u = random.below(n);
    if (random.below(2)) {
        const int by = 1 + random.below(max(1, min(n - 1, max(3, n / 10))));
        step.v = random.below(2) ? step.u + by : step.u - by;
    } else {
        step.v = random.below(n);
    }
    return step.v != step.u && step.v >= 0 && step.v < n;
}

__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Step step) {
    const int low = min(step.u, step.v), high = max(step.u, step.v);
    int ready[MACHINES];
    load(ready, state.head + (low - 1) * MACHINES, low > 0);
    long long sum = low > 0 ? state.sum[low - 1] : 0;
    int before = low > 0 ? s[low - 1] : NONE;
    const auto follow_by = [&](int job) {
        add(data, before, job, ready);
        sum += ready[MACHINES - 1];
        before = job;
    };
    for (int i = low; i <= high; ++i) {
        follow_by(s[i == step.v ? step.u : step.u < step.v ? i + 1 : i - 1]);
    }
    if (SUMS) {
        for (int i = high + 1; i < n; ++i) follow_by(s[i]);
        return sum - state.sum[n - 1];
    }
    int last = ready[MACHINES - 1];
    for (int k = 0; high + 1 < n && k < MACHINES; ++k) {
        const int begin = ready[k] + setup(data, before, s[high + 1], k);
        last = max(last, begin + state.tail[(high + 1) * MACHINES + k]);
    }
    return last - state.head[n * MACHINES - 1];
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const long long before = SUMS ? state.sum[n - 1] : state.head[n * MACHINES - 1];
    const int job = s[step.u], by = step.u < step.v ? 1 : -1;
    for (int i = step.u; i != step.v; i += by) s.set(i, s[i + by]);
    s.set(step.v, job);
    follow(state, s, n, data, min(step.u, step.v), max(step.u, step.v));
    return (SUMS ? state.sum[n - 1] : state.head[n * MACHINES - 1]) - before;
}
