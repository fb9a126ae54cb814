"""Job shop: order the operations of all jobs on their machines, and minimise the makespan.

python job_shop.py [SECONDS]      mpirun -n 2 python job_shop.py
islands run job_shop.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# The k-th entry of a job in the order stands for its k-th operation; its number does not matter.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    int done[64] = {};  // operations of each job
    int job[64] = {}, machine[64] = {}, end = 0;  // times at which they are free, and the makespan
    for (int i = 0; i < n; ++i) {
        const int j = s[i] / data.machines, k = j * data.machines + done[j]++;
        const int m = data.machine_of[k], begin = max(job[j], machine[m]);
        job[j] = machine[m] = begin + data.times[k];
        end = max(end, job[j]);
    }
    return end;
}
"""


def make(operations: int, machines: int = 10, seed: int = 1) -> islands.Problem:
    """Return a random instance of at most 64 jobs and 64 machines; each job visits all machines."""
    random, jobs = np.random.default_rng(seed), operations // machines
    times = random.integers(1, 100, (jobs, machines), np.int32)
    machine_of = random.permuted(np.tile(np.arange(machines, dtype=np.int32), (jobs, 1)), axis=1)

    def makespans(orders: NDArray[Any]) -> NDArray[Any]:
        rows = np.arange(len(orders))
        done = np.zeros((len(orders), jobs), int)
        job, machine = done.copy(), np.zeros((len(orders), machines), int)
        for j in orders.T // machines:
            m, time = machine_of[j, done[rows, j]], times[j, done[rows, j]]
            done[rows, j] += 1
            job[rows, j] = machine[rows, m] = np.maximum(job[rows, j], machine[rows, m]) + time
        ends: NDArray[Any] = job.max(axis=1)
        return ends

    data = {"times": times, "machine_of": machine_of, "machines": machines}
    name = f"job-shop-{jobs}x{machines}"
    return islands.permutation(operations, cost=COST, data=data, reference=makespans, name=name)


problem = make(operations=150)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("makespan", result.cost, "order", result.solution)
