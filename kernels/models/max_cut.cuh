// Maximum cut: the weight of the edges between both sides. Reads the sides of nodes, and the
// neighbours of each with weights; returns the cut. No random numbers.

__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            if (s[i] != s[data.other[k]]) sum += data.weight[k];
        }
    }
    return block::sum(int64_t(sum));
}
