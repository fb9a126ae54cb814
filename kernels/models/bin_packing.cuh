// Bin packing: the number of bins in use, plus a price for overfull bins. BINS: the number of bins,
// a constant of the instance. Reads the bins and the sizes of items; returns a cost. No random
// numbers.

// An overfull bin costs more than a separate bin for each of its items.
__device__ int price(long long load, int count, const Data& data) {
    return load > data.capacity ? count + 1 : count > 0;
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    int load[BINS] = {}, count[BINS] = {};
    for (int i = 0; i < n; ++i) {
        load[s[i]] += data.size[i];
        ++count[s[i]];
    }
    long long sum = 0;
    for (int b = 0; b < BINS; ++b) sum += price(load[b], count[b], data);
    return sum;
}
