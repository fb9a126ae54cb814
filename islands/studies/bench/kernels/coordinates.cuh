// The length of a tour, computed by one thread from coordinates. Follows rounded.cuh.

__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    double2 from = at(data, s[n - 1]);
    for (int i = 0; i < n; ++i) {
        const double2 to = at(data, s[i]);
        sum += length(from, to);
        from = to;
    }
    return sum;
}
