// Graph colouring: the number of colours in use plus a price for each edge within a colour
// (COUNTS), or the number of edges within a colour. COUNTS and MOST, an upper bound on the number
// of colours, are constants. Reads the colours and the neighbours of nodes; returns a cost. No
// random numbers.

__device__ long long cost(const Solution& s, int n, const Data& data) {
    unsigned is_used[(MOST + 31) / 32] = {};
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        const int own = s[i];
        if (COUNTS && !(is_used[own / 32] >> own % 32 & 1)) {
            is_used[own / 32] |= 1u << own % 32;
            ++sum;
        }
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            sum += (1 + COUNTS) * (s[data.other[k]] == own);
        }
    }
    return sum;
}
