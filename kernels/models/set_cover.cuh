// Set covering: the cost of the chosen columns, and a price for each uncovered row. Reads the
// subset, the costs of columns and the columns of rows; returns the sum. No random numbers.

// An uncovered row costs one more than its cheapest column.
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int j = threadIdx.x; j < n; j += blockDim.x) sum += s[j] ? data.cost[j] : 0;
    for (int r = threadIdx.x; r < data.rows; r += blockDim.x) {
        bool is_covered = false;
        for (long long k = data.row_first[r]; k < data.row_first[r + 1] && !is_covered; ++k) {
            is_covered = s[data.column[k]];
        }
        if (!is_covered) sum += data.price[r];
    }
    return block::sum(int64_t(sum));
}
