// A search for p-medians by exchanges of places. Follows exchanges.cuh. Reads the subset and the
// distances; keeps the two nearest chosen places of each customer. No random numbers: the caller
// passes them.

struct State {
    int *first, *second;  // per customer: the two nearest chosen places
    Choice choice;
    __device__ State(Memory& memory, int n, const Data& data)
        : first(memory.take<int>(data.customers)),
          second(memory.take<int>(data.customers)),
          choice(memory, n) {}
};

__device__ long long way(const Data& data, int place, int customer) {
    return place == NONE ? data.far : data.way[(long long)place * data.customers + customer];
}

// Find the two nearest chosen places of a customer.
__device__ void find(State& state, const Data& data, int i) {
    int first = NONE, second = NONE;
    for (int k = 0; k < state.choice.chosen; ++k) {
        const int j = state.choice.item[k];
        if (first == NONE || way(data, j, i) < way(data, first, i)) {
            second = first, first = j;
        } else if (second == NONE || way(data, j, i) < way(data, second, i)) {
            second = j;
        }
    }
    state.first[i] = first, state.second[i] = second;
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    if (threadIdx.x != 0) return;  // only cost() uses all threads of a block
    state.choice.fill(s, n);
    for (int i = 0; i < data.customers; ++i) find(state, data, i);
}

__device__ bool propose(const State& state, const Solution&, int n, const Data& data,
                        Random& random, Step& step) {
    return state.choice.draw(n, data, random, step);
}

__device__ long long change(const State& state, const Solution&, int, const Data& data, Step step) {
    long long by = -state.choice.price(data, step);
    for (int i = 0; i < data.customers; ++i) {
        const long long now = way(data, state.first[i], i);
        const long long rest = state.first[i] == step.out ? way(data, state.second[i], i) : now;
        by += (step.in == NONE ? rest : min(rest, way(data, step.in, i))) - now;
    }
    return by;
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    if (threadIdx.x != 0) return 0;
    const long long by = change(state, s.solution, n, data, step);
    state.choice.make(s, step);
    for (int i = 0; i < data.customers; ++i) {
        const bool is_lost =
            step.out != NONE && (state.first[i] == step.out || state.second[i] == step.out);
        if (is_lost) {
            find(state, data, i);
        } else if (step.in != NONE) {
            if (state.first[i] == NONE || way(data, step.in, i) < way(data, state.first[i], i)) {
                state.second[i] = state.first[i], state.first[i] = step.in;
            } else if (state.second[i] == NONE ||
                       way(data, step.in, i) < way(data, state.second[i], i)) {
                state.second[i] = step.in;
            }
        }
    }
    return by;
}
