// Permutation flow shops: the makespan, or the sum of the completion times of all jobs (SUMS).
// JOBS, MACHINES: constants of the instance. Reads an order of the jobs, and their times; returns
// its cost. No random numbers.

// Append a job after the job `before`, and update the times at which the machines become ready.
__device__ void add(const Data& data, int before, int job, int* ready) {
    const int* const time = data.time + job * MACHINES;
    ready[0] += setup(data, before, job, 0) + time[0];
    for (int k = 1; k < MACHINES; ++k) {
        ready[k] = max(ready[k] + setup(data, before, job, k), ready[k - 1]) + time[k];
    }
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    int ready[MACHINES] = {};
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        add(data, i > 0 ? s[i - 1] : NONE, s[i], ready);
        sum += ready[MACHINES - 1];
    }
    return SUMS ? sum : ready[MACHINES - 1];
}
