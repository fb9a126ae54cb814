"""Several orders that have all items together: an order with separators."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.modelling.model import Model, restored

SETUP = np.random.default_rng(6).integers(1, 60, (7, 7))
"""The time of a job after another one; the diagonal has that of a first job."""
LONGEST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long longest = 0, time = 0;
    int last = -1;
    for (int i = 0; i < n; ++i) {
        if (s[i] >= data.items) {  // the next machine
            time = 0, last = -1;
            continue;
        }
        time += data.setup[(last < 0 ? s[i] : last) * data.items + s[i]];
        longest = max(longest, time);
        last = s[i];
    }
    return longest;
}"""


def length(job_lists: list[list[int]]) -> int:
    return max(
        sum(int(SETUP[jobs[max(0, k - 1)], job]) for k, job in enumerate(jobs))
        for jobs in job_lists
    )


def machines(n: int, parts: int, **more: Any) -> Model:
    setup = np.ascontiguousarray(SETUP[:n, :n])
    return islands.permutation(n, parts=parts, cost=LONGEST, data={"setup": setup}, **more)


def best_of_all(n: int, parts: int, pairs: Any = ()) -> int:
    found = []
    for order in permutations(range(n + parts - 1)):
        place = {item: k for k, item in enumerate(order)}
        if all(place[a] < place[b] for a, b in pairs):
            text = " ".join("|" if item >= n else str(item) for item in order)
            found.append(length([list(map(int, each.split())) for each in text.split("|")]))
    return min(found)


@pytest.mark.parametrize(("n", "parts"), [(5, 1), (6, 2), (5, 3)])
def test_the_default_finds_the_best_parts(backend: Backend, n: int, parts: int) -> None:
    own = machines(n, parts)
    islands.check_problem(own, samples=50)
    result = islands.solve(own, backend=backend.name, generations=40, seed=1)
    jobs = [each.tolist() for each in own.parts_of(result.solution)]
    assert len(jobs) == parts
    assert sorted(job for each in jobs for job in each) == list(range(n))
    assert result.cost == length(jobs) == best_of_all(n, parts)
    again = islands.solve(restored(own.saved()), backend=backend.name, generations=40, seed=1)
    assert again.digest == result.digest


def test_parts_keep_items_in_sequence(backend: Backend) -> None:
    pairs = [(4, 0), (0, 2)]
    result = islands.solve(machines(5, 2, before=pairs), backend=backend.name, generations=40)
    assert result.cost == best_of_all(5, 2, pairs)
