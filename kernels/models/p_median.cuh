// p-median: the distances of all customers to the nearest chosen place, and a price for surplus or
// missing places. Reads the subset and the distances; returns the sum. No random numbers.

// If no place is chosen, the distance of each customer is longer than all others; a surplus or
// missing place costs more than all distances.
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0, chosen = 0;
    for (int i = threadIdx.x; i < data.customers; i += blockDim.x) {
        long long least = data.far;
        for (int j = 0; j < n; ++j) {
            if (s[j]) least = min(least, (long long)data.way[(long long)j * data.customers + i]);
        }
        sum += least;
    }
    for (int j = threadIdx.x; j < n; j += blockDim.x) chosen += s[j];
    chosen = block::sum(int64_t(chosen));
    const long long wrong = chosen < data.size ? data.size - chosen : chosen - data.size;
    return block::sum(int64_t(sum)) + data.price * wrong;
}
