// A search for quadratic binary problems by flips. Number: the type of the entries, long long or
// double. Reads the subset and the matrix; keeps, for each item, the cost change if it enters the
// subset. No random numbers.

struct State {
    Number* field;  // per item: its diagonal entry plus those with all chosen items
    __device__ State(Memory& memory, int n, const Data&) : field(memory.take<Number>(n)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Number sum = data.diagonal[i];
        for (long long k = data.first[i]; k < data.first[i + 1]; ++k) {
            if (s[data.other[k]]) sum += data.both[k];
        }
        state.field[i] = sum;
    }
}

__device__ Number change(const State& state, const Solution& s, int, const Data&, Flip move) {
    return s[move.item] ? -state.field[move.item] : state.field[move.item];
}

__device__ void apply(State& state, const Solution& s, int, const Data& data, Flip move) {
    const bool leaves = s[move.item];
    const long long end = data.first[move.item + 1];
    for (long long k = data.first[move.item] + threadIdx.x; k < end; k += blockDim.x) {
        state.field[data.other[k]] += leaves ? -data.both[k] : data.both[k];
    }
}
