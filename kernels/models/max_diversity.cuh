// Maximum diversity: the sum of the distances between chosen items, and a price for surplus or
// missing items. Reads the subset and the distances; returns the sum. No random numbers.

// Each surplus or missing item costs more than the distances of any item.
__device__ double cost(const Solution& s, int n, const Data& data) {
    const auto row = [&](int i) {
        double sum = 0;
        for (int j = 0; s[i] && j < i; ++j) sum += s[j] ? data.distance[(long long)i * n + j] : 0;
        return sum;
    };
    const double sum = block::sum(n, row);
    const double chosen = block::sum(n, [&](int i) { return double(s[i]); });
    return sum - data.price * abs(chosen - data.size);
}
