// The length of a tour, by all threads of a block, each four edges at a time. Follows rounded.cuh.

__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) {
        const int4 four = s.four(i);
        const int edges = min(4, n - i);
        const double2 a = at(data, four.x);
        const double2 next = at(data, s[i + edges < n ? i + edges : 0]);
        const double2 b = edges > 1 ? at(data, four.y) : next;
        const double2 c = edges > 2 ? at(data, four.z) : next;
        const double2 d = edges > 3 ? at(data, four.w) : next;
        sum += length(a, b);
        if (edges > 1) sum += length(b, c);
        if (edges > 2) sum += length(c, d);
        if (edges > 3) sum += length(d, next);
    }
    return block::sum(sum);
}
