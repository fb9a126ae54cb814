// The length of a tour, computed by one thread from a matrix.

__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    int from = s[n - 1];
    for (int i = 0; i < n; ++i) {
        const int to = s[i];
        sum += data.lengths[from * n + to];
        from = to;
    }
    return sum;
}
