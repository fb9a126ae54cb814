// Job shops with dates or alternative machines: the makespan (IS_MAKESPAN), or the
// weighted tardiness. JOBS, MACHINES, OPERATIONS: constants of the instance. Reads an order of the
// choices, and the data of the shop; returns its cost. No random numbers.

constexpr int NONE = -1;

// The cost of the completion times of jobs: the makespan, or the sum of the costs of late jobs.
struct Total {
    long long value = 0;
    __device__ static long long late(const Data& data, int job, int end) {
        return data.weight[job] * max(0LL, (long long)end - data.due[job]);
    }
    __device__ void add(const Data& data, int job, int end) {
        value = IS_MAKESPAN ? max(value, (long long)end) : value + late(data, job, end);
    }
};

// In an order of all choices, the first choice of each operation counts. The k-th counted choice of
// a job stands for its k-th operation, which begins as soon as its job and its machine are free.
__device__ long long cost_of_order(const Solution& s, int n, const Data& data) {
    int choice[OPERATIONS], next[JOBS], ready[JOBS], machine[MACHINES] = {};
    for (int o = 0; o < OPERATIONS; ++o) choice[o] = NONE;
    for (int i = 0; i < n; ++i) {
        int& chosen = choice[data.operation[s[i]]];
        if (chosen == NONE) chosen = s[i];
    }
    for (int j = 0; j < JOBS; ++j) next[j] = data.first[j], ready[j] = data.release[j];
    for (int i = 0; i < n; ++i) {
        if (choice[data.operation[s[i]]] != s[i]) continue;
        const int j = data.job[data.operation[s[i]]], c = choice[next[j]++], k = data.machine[c];
        ready[j] = machine[k] = max(ready[j], machine[k]) + data.time[c];
    }
    Total total;
    for (int j = 0; j < JOBS; ++j) total.add(data, j, ready[j]);
    return total.value;
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    // Computed by one thread.
    return block::sum(int64_t(threadIdx.x == 0 ? cost_of_order(s, n, data) : 0));
}
