// A search for maximum cuts by flips, with stored gains. Reads the sides of nodes, and the
// neighbours of each with weights; keeps the gains. No random numbers.

struct State {
    long long* gain;  // change of the cut if a node changes sides
    __device__ State(Memory& memory, int n, const Data&) : gain(memory.take<long long>(n)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        long long gain = 0;
        for (long long k = data.first[i]; k < data.first[i + 1]; ++k) {
            gain += s[i] == s[data.other[k]] ? data.weight[k] : -data.weight[k];
        }
        state.gain[i] = gain;
    }
}

__device__ long long change(const State& state, const Solution&, int, const Data&, Flip move) {
    return state.gain[move.item];
}

__device__ void apply(State& state, const Solution& s, int, const Data& data, Flip move) {
    const bool side = s[move.item];
    const long long end = data.first[move.item + 1];
    for (long long k = data.first[move.item] + threadIdx.x; k < end; k += blockDim.x) {
        const int j = data.other[k];
        state.gain[j] += s[j] == side ? -2 * data.weight[k] : 2 * data.weight[k];
    }
    if (threadIdx.x == 0) state.gain[move.item] = -state.gain[move.item];
}
