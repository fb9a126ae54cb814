// p-median: the ways of all customers to the nearest chosen place, and a price for places too many
// or too few. Reads the subset and the ways; returns the sum. No random numbers.

// Without a place, each customer has a way longer than any; a place too many or too few costs more
// than all ways.
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
