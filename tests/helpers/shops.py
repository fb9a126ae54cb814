"""Schedules computed in plain Python, to compare with those of job shops."""

from collections.abc import Callable, Sequence
from itertools import combinations


def best_cost(
    machines: Sequence[Sequence[Sequence[int]]],
    times: Sequence[Sequence[Sequence[int]]],
    release: Sequence[int],
    cost: Callable[[Sequence[int]], int],
) -> int:
    """Return the least cost of the ends of all jobs, by all sequences of operations and choices."""

    def best(done: tuple[int, ...], ends: tuple[int, ...], free: dict[int, int]) -> int:
        found = []
        for j, k in enumerate(done):
            if k == len(machines[j]):
                continue
            for machine, time in zip(machines[j][k], times[j][k], strict=True):
                end = max(ends[j], free.get(machine, 0)) + time
                now = (*ends[:j], end, *ends[j + 1 :])
                found.append(best((*done[:j], k + 1, *done[j + 1 :]), now, free | {machine: end}))
        return min(found) if found else cost(ends)

    return best((0,) * len(machines), tuple(release), {})


def checked_ends(
    machines: Sequence[Sequence[Sequence[int]]],
    times: Sequence[Sequence[Sequence[int]]],
    release: Sequence[int],
    rows: Sequence[tuple[int, int, int, int]],
) -> list[int]:
    """Return the end of each job of a schedule; each row has job, machine, start and end."""
    ends = list(release)
    done = [0] * len(machines)
    for job, machine, begin, end in sorted(rows, key=lambda row: row[2:]):
        choices = dict(zip(machines[job][done[job]], times[job][done[job]], strict=True))
        assert end - begin == choices[machine]
        assert begin >= ends[job]
        ends[job] = end
        done[job] += 1
    assert done == [len(row) for row in machines]
    for one, other in combinations(rows, 2):
        if one[1] == other[1] and one[2] < one[3] and other[2] < other[3]:
            assert one[3] <= other[2] or other[3] <= one[2]
    return ends
