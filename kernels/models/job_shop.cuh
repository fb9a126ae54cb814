// Job shops: the makespan. JOBS, MACHINES: constants of the instance. Reads an order of
// the operations, and their jobs, machines and times; returns its cost. No random numbers.

// Return the makespan of an order of all operations. The k-th item of a job stands for its k-th
// operation, which begins as soon as its job and its machine are free.
__device__ int last_end(const Solution& s, int n, const Data& data) {
    int next[JOBS], job[JOBS] = {}, machine[MACHINES] = {}, last = 0;
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j];
    for (int i = 0; i < n; ++i) {
        const int j = data.job[s[i]], o = next[j]++, k = data.machine[o];
        job[j] = machine[k] = max(job[j], machine[k]) + data.time[o];
        last = max(last, job[j]);
    }
    return last;
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    // Computed by one thread.
    return block::sum(int64_t(threadIdx.x == 0 ? last_end(s, n, data) : 0));
}
