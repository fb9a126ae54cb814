// Whether a column may be chosen next to those that are: here always. A model with forbidden pairs
// replaces this function, and adds a price of pairs to the cost. No random numbers.

__device__ bool may_choose(const Solution&, const Data&, int) { return true; }
