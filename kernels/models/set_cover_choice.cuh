// Return whether a column is compatible with the chosen ones; here always. A model with forbidden
// pairs replaces this function, and adds a price for pairs to the cost. No random numbers.

__device__ bool may_choose(const Solution&, const Data&, int) { return true; }
