// A search for graph colouring: tabu search and greedy partition crossover. Follows
// graph_colouring.cuh. Reads the colours and the neighbours of nodes; keeps the number of
// neighbours per colour.
// No random numbers: the caller passes them.

constexpr int NONE = -1;
constexpr int LOOKS = 2000, TENURE = 10;  // steps to try; approximate tabu tenure of a node

// A tabu search with a given number of colours (Hertz and de Werra 1987): applies the best step of
// a conflicting node. If there is none, the smallest colour is closed, and its nodes need another
// one.
struct State {
    int* size;            // per colour: number of nodes
    int *bad, *place;     // the nodes that need another colour; the place of each, or NONE
    int *open, *open_at;  // the allowed colours; the place of each, or NONE
    int *near, *until;    // per node and colour: neighbours with it; until when it is tabu
    int colours, bad_count, open_count;
    int wrong, least, step;  // conflicts and nodes of closed colours; their minimum
    __device__ State(Memory& memory, int n, const Data& data)
        : size(memory.take<int>(data.colours)),
          bad(memory.take<int>(n)),
          place(memory.take<int>(n)),
          open(memory.take<int>(data.colours)),
          open_at(memory.take<int>(data.colours)),
          near(memory.take<int>(n * data.colours)),
          until(memory.take<int>(n * data.colours)),
          colours(data.colours),
          bad_count(0),
          open_count(0),
          wrong(0),
          least(0),
          step(0) {}
};

struct Step {
    int node, colour;
};

__device__ int& near_of(const State& state, int i, int colour) {
    return state.near[i * state.colours + colour];
}
__device__ int& until_of(const State& state, int i, int colour) {
    return state.until[i * state.colours + colour];
}
__device__ bool is_closed(const State& state, int colour) { return state.open_at[colour] == NONE; }

// Update whether a node with this colour is among those that need another one.
__device__ void sort_in(State& state, int i, int colour) {
    const bool was = state.place[i] != NONE;
    const bool is = near_of(state, i, colour) > 0 || is_closed(state, colour);
    if (is && !was) state.place[i] = state.bad_count, state.bad[state.bad_count++] = i;
    if (was && !is) {
        const int at = state.place[i], last = state.bad[--state.bad_count];
        state.bad[at] = last, state.place[last] = at, state.place[i] = NONE;
    }
}

// Close the smallest open colour while no node needs another one.
template <class Colours>
__device__ void close_one(State& state, const Colours& s, int n) {
    while (COUNTS && state.bad_count == 0 && state.open_count > 1) {
        int smallest = state.open[0];
        for (int k = 1; k < state.open_count; ++k) {
            const int c = state.open[k];
            if (state.size[c] < state.size[smallest]) smallest = c;
        }
        const int at = state.open_at[smallest], last = state.open[--state.open_count];
        state.open[at] = last, state.open_at[last] = at, state.open_at[smallest] = NONE;
        for (int i = 0; i < n; ++i) {
            if (s[i] == smallest) sort_in(state, i, smallest);
        }
        state.least = state.wrong = state.size[smallest];
    }
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int c = 0; c < state.colours; ++c) state.size[c] = 0;
    for (int i = 0; i < n; ++i) {
        ++state.size[s[i]];
        state.place[i] = NONE;
        for (int c = 0; c < state.colours; ++c) near_of(state, i, c) = 0, until_of(state, i, c) = 0;
    }
    for (int i = 0; i < n; ++i) {
        for (long long k = data.first[i]; k < data.first[i + 1]; ++k) {
            ++near_of(state, i, s[data.other[k]]);
        }
        state.wrong += near_of(state, i, s[i]);
    }
    state.least = state.wrong /= 2;
    int used = 0;
    for (int c = 0; c < state.colours; ++c) used += state.size[c] > 0;
    // Colours without nodes stay closed, unless the conflicts are those of random colours: at least
    // half of the edges / used that random colours have on average. Small numbers vary: hence + 4.
    const bool is_random = 4ll * (state.wrong + 4) * used >= data.first[n];
    for (int c = 0; c < state.colours; ++c) {
        const bool is_open = !COUNTS || is_random || state.size[c] > 0;
        state.open_at[c] = is_open ? state.open_count : NONE;
        if (is_open) state.open[state.open_count++] = c;
    }
    for (int i = 0; i < n; ++i) sort_in(state, i, s[i]);
    close_one(state, s, n);
}

__device__ bool propose(const State& state, const Solution& s, int n, const Data&, Random& random,
                        Step& step) {
    if (state.bad_count == 0 || state.open_count == 0) return false;
    const int count = min(state.bad_count, max(1, LOOKS / state.open_count));
    int at = random.below(state.bad_count), best = n, equal = 0;  // above the cost of any step
    Step found = {NONE, 0};
    for (int i = 0; i < count; ++i, at = at + 1 < state.bad_count ? at + 1 : 0) {
        const int node = state.bad[at], old = s[node];
        const int* const near = &near_of(state, node, 0);
        const int loss = near[old] + is_closed(state, old);
        for (int k = 0; k < state.open_count; ++k) {
            const int colour = state.open[k], by = near[colour] - loss;
            if (by > best || colour == old) continue;
            const bool is_tabu = until_of(state, node, colour) > state.step;
            if (is_tabu && state.wrong + by >= state.least) continue;
            equal = by == best ? equal + 1 : 1;
            if (equal == 1 || random.below(equal) == 0) found = {node, colour}, best = by;
        }
    }
    step = found;
    return step.node != NONE;
}

// Return 0, so that each step is accepted: it is the best one, whatever its cost.
__device__ long long change(const State&, const Solution&, int, const Data&, Step) { return 0; }

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const int i = step.node, old = s[i];
    const int more = near_of(state, i, step.colour) - near_of(state, i, old);
    state.wrong += more - is_closed(state, old);
    state.least = min(state.least, state.wrong);
    const long long end = data.first[i + 1];
    for (long long k = data.first[i]; k < end; ++k) {
        const int j = data.other[k], colour = s[j];
        int* const near = &near_of(state, j, 0);
        --near[old], ++near[step.colour];
        if (colour == old || colour == step.colour) sort_in(state, j, colour);
    }
    sort_in(state, i, step.colour);
    ++state.step;
    until_of(state, i, old) = state.step + state.bad_count * 3 / 5 + (i * 7 + state.step) % TENURE;
    const int used = (state.size[step.colour]++ == 0) - (--state.size[old] == 0);
    s.set(i, step.colour);
    close_one(state, s, n);
    return COUNTS ? 2 * more + used : more;
}

// Greedy partition crossover (Galinier and Hao 1999): the parents alternately pass on the colour
// with the most uncoloured nodes; the remaining nodes get random colours. The child has one colour
// fewer than its first parent if that has no conflicts.
__device__ void cross(State& state, Changing& child, const Solution& other, int n, const Data& data,
                      Random& random) {
    int *const size[2] = {state.size, state.open}, *const given = state.place;
    int used = 0, clashes = 0;
    for (int c = 0; c < state.colours; ++c) size[0][c] = size[1][c] = 0;
    for (int i = 0; i < n; ++i) {
        used += size[0][child[i]]++ == 0;
        ++size[1][other[i]];
        given[i] = NONE;
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            clashes += child[data.other[k]] == child[i];
        }
    }
    const int colours = COUNTS ? max(1, used - (clashes == 0)) : state.colours;
    for (int k = 0, left = n; k < colours && left > 0; ++k) {
        const int* const sizes = size[k % 2];
        int most = random.below(state.colours);
        for (int c = 0; c < state.colours; ++c) {
            if (sizes[c] > sizes[most]) most = c;
        }
        for (int i = 0; i < n; ++i) {
            if (given[i] != NONE || (k % 2 ? other[i] : child[i]) != most) continue;
            given[i] = k, --left;
            --size[0][child[i]], --size[1][other[i]];
        }
    }
    for (int i = 0; i < n; ++i) {
        child.set(i, given[i] == NONE ? random.below(colours) : given[i]);
    }
}
