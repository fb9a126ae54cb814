// A search for bin packing: exchanges up to two items between two bins, so that bins become exactly
// full. Follows bin_packing.cuh. Reads the bins and the sizes of items; keeps the items and the
// load of each bin. No random numbers: the caller passes them.

constexpr int NONE = -1;
constexpr int ONE = 1 << 20;  // lack of an empty bin
constexpr int MOST = 2;       // maximum number of items of a bin that a step moves
constexpr int LOOKS = 16;     // number of random steps, of which the best is proposed

struct State {
    int* after;                 // per item: the next one in its bin, or NONE
    int *load, *count, *first;  // per bin; `first` is one of its items, or NONE
    long long* lack;            // per bin: see lack_of()
    __device__ State(Memory& memory, int n, const Data&)
        : after(memory.take<int>(n)),
          load(memory.take<int>(BINS)),
          count(memory.take<int>(BINS)),
          first(memory.take<int>(BINS)),
          lack(memory.take<long long>(BINS)) {}
};

// Exchanges up to two items each between two bins: `item[k]`, unless NONE, leaves `bin[k]` for the
// other one.
struct Step {
    int bin[2], item[2][MOST];
};

// The lack of a bin: 0 if it is full, ONE if it is empty. The last units of free space count most,
// so that bins become exactly full and stay so, while others become empty. The number of bins alone
// would give no direction, and squared loads would leave a little space in all bins.
__device__ long long lack_of(long long load, const Data& data) {
    const double room = double(data.capacity - load) / double(data.capacity);
    return (long long)(ONE * (room >= 0 ? sqrt(sqrt(room)) : 1 - 4 * room));
}

__device__ void put(State& state, int item, int b, const Data& data) {
    state.after[item] = state.first[b];
    state.first[b] = item;
    state.load[b] += data.size[item], ++state.count[b];
}

__device__ void take(State& state, int item, int b, const Data& data) {
    int* at = &state.first[b];
    while (*at != item) at = &state.after[*at];
    *at = state.after[item];
    state.load[b] -= data.size[item], --state.count[b];
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int b = 0; b < BINS; ++b) state.load[b] = state.count[b] = 0, state.first[b] = NONE;
    for (int i = 0; i < n; ++i) put(state, i, s[i], data);
    for (int b = 0; b < BINS; ++b) state.lack[b] = lack_of(state.load[b], data);
}

// Return the change in the lack of both bins due to a step.
__device__ long long change(const State& state, const Solution&, int, const Data& data, Step step) {
    const int a = step.bin[0], b = step.bin[1];
    const auto size_of = [&](int item) { return item == NONE ? 0 : data.size[item]; };
    long long by = 0;
    for (int k = 0; k < MOST; ++k) by += size_of(step.item[0][k]) - size_of(step.item[1][k]);
    return lack_of(state.load[a] - by, data) + lack_of(state.load[b] + by, data) - state.lack[a] -
           state.lack[b];
}

// Return another item of the same bin, or NONE.
__device__ int next_to(const State& state, const Solution& s, int item) {
    const int next = state.after[item];
    const int other = next == NONE ? state.first[s[item]] : next;
    return other == item ? NONE : other;
}

__device__ bool propose(const State& state, const Solution& s, int n, const Data& data,
                        Random& random, Step& step) {
    const int item = random.below(n), next = next_to(state, s, item), bin = s[item];
    long long least = 0;
    bool is_found = false;
    for (int k = 0; k < LOOKS; ++k) {
        const int other = random.below(n), kind = random.below(8), more = random.below(16);
        const int to = kind ? s[other] : random.below(BINS);
        if (to == bin) continue;
        const bool has_other = kind > 1;  // whether the other item moves in exchange
        const Step candidate = {
            {bin, to},
            {{item, more % 4 ? NONE : next},
             {has_other ? other : NONE, has_other && more < 4 ? next_to(state, s, other) : NONE}},
        };
        const long long by = change(state, s, n, data, candidate);
        if (!is_found || by < least) step = candidate, least = by, is_found = true;
    }
    return is_found;
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const auto prices = [&] {
        long long sum = 0;
        for (const int b : step.bin) sum += price(state.load[b], state.count[b], data);
        return sum;
    };
    const long long before = prices();
    for (int side = 0; side < 2; ++side) {
        const int to = step.bin[1 - side];
        for (const int item : step.item[side]) {
            if (item == NONE) continue;
            take(state, item, step.bin[side], data);
            put(state, item, to, data);
            s.set(item, to);
        }
    }
    for (const int b : step.bin) state.lack[b] = lack_of(state.load[b], data);
    return prices() - before;
}
