// Quadratic binary problems: the sum of the matrix entries whose row and column are chosen. Number:
// the type of the entries, long long or double. Reads the subset and the matrix; returns the sum.
// No random numbers.

// Return the sum of a value over all items; real values are added in a fixed order.
template <class Value, class Term>
__device__ Value sum_of(int n, Term term) {
    if constexpr (IS_WHOLE<Value>) {
        Value sum = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += term(i);
        return block::sum(int64_t(sum));
    } else {
        return block::sum(n, term);
    }
}

__device__ Number cost(const Solution& s, int n, const Data& data) {
    const auto of_row = [&](int i) {
        Number sum = 0;
        if (!s[i]) return sum;
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            if (s[data.other[k]]) sum += data.both[k];
        }
        return sum + data.diagonal[i];
    };
    return sum_of<Number>(n, of_row);
}
