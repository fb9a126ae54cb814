// A search for maximum diversity by exchanges of items. Follows exchanges.cuh. Reads the subset and
// the distances; keeps the sum of distances from each item to the chosen ones. No random numbers:
// the caller passes them.

struct State {
    double* sum;  // per item: sum of the distances to the chosen ones
    Choice choice;
    __device__ State(Memory& memory, int n, const Data&)
        : sum(memory.take<double>(n)), choice(memory, n) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += s[j] ? data.distance[(long long)i * n + j] : 0;
        state.sum[i] = sum;
    }
    if (threadIdx.x == 0) state.choice.fill(s, n);
}

__device__ bool propose(const State& state, const Solution&, int n, const Data& data,
                        Random& random, Step& step) {
    return state.choice.draw(n, data, random, step);
}

__device__ double change(const State& state, const Solution&, int n, const Data& data, Step step) {
    double by = state.choice.price(data, step);
    if (step.out != NONE) by -= state.sum[step.out];
    if (step.in != NONE) by += state.sum[step.in];
    if (step.out != NONE && step.in != NONE) {
        by -= data.distance[(long long)step.out * n + step.in];
    }
    return by;
}

__device__ double apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const double by = change(state, s.solution, n, data, step);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double sum = state.sum[i];
        if (step.out != NONE) sum -= data.distance[(long long)step.out * n + i];
        if (step.in != NONE) sum += data.distance[(long long)step.in * n + i];
        state.sum[i] = sum;
    }
    if (threadIdx.x == 0) state.choice.make(s, step);
    return by;
}
