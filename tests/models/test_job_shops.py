"""Job shops compared with all orders of all machines, and with schedules of plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from shops import best_makespan, longest_path

import islands
from islands.backends.base import Backend
from islands.errors import InputError, UsageError
from islands.models import job_shops
from islands.models.job_shops import Shop, read

SEARCH = {"algorithm": "tempering", "seed": 1}


def shop(jobs: int, machines: int, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    random = np.random.default_rng(seed)
    orders = [random.permutation(machines).tolist() for _ in range(jobs)]
    return orders, random.integers(0, 20, (jobs, machines)).tolist()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_optimum_is_that_of_all_orders(backend: Backend, seed: int) -> None:
    machines, times = shop(4, 3, seed)
    problem = islands.models.job_shop(machines, times)
    result = islands.solve(problem, **SEARCH, generations=40, backend=backend.name)
    assert result.cost == best_makespan(machines, times)


def test_a_schedule_has_the_times_of_the_longest_path() -> None:
    machines, times = shop(6, 5, 4)
    result = islands.solve(
        islands.models.job_shop(machines, times), **SEARCH, generations=20, backend="cpu"
    )
    orders: dict[int, list[tuple[int, int]]] = {}
    done = [0] * 6
    for job, machine, begin, end in Shop.of(machines, times).schedule(result.solution):
        assert machine == machines[job][done[job]]
        assert end - begin == times[job][done[job]]
        orders.setdefault(machine, []).append((job, done[job]))
        done[job] += 1
    assert done == [5] * 6
    assert longest_path(machines, times, orders) == result.cost
    assert Shop.of(machines, times).bound() <= result.cost


@pytest.mark.parametrize("machine_count", [1, 4])
def test_the_state_agrees_with_costs(machine_count: int) -> None:
    machines, times = shop(8, machine_count, 5)
    checked = str(islands.check_problem(islands.models.job_shop(machines, times), samples=60))
    assert "480 of 480 moves as costs" in checked


def test_jobs_may_have_different_lengths_and_visit_a_machine_again() -> None:
    machines, times = [[0, 1, 0], [1], [1, 0]], [[2, 3, 4], [5], [1, 1]]
    problem = islands.models.job_shop(machines, times)
    assert "moves as costs" in str(islands.check_problem(problem, samples=60))
    result = islands.solve(problem, **SEARCH, generations=20)
    assert result.cost == best_makespan(machines, times)


def test_operations_without_time_between_two_of_a_job_on_a_machine() -> None:
    machines, times = [[0, 0], *[[0]] * 120], [[5, 5], *[[0]] * 120]
    problem = islands.models.job_shop(machines, times)
    assert "480 of 480 moves as costs" in str(islands.check_problem(problem, samples=60))
    assert islands.solve(problem, **SEARCH, generations=20).cost == 10


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("# two jobs\n2 2\n0 3 1 2\n1 4 0 1\n")
    problem = read(path)
    assert problem.cost(np.array([0, 1, 2, 3])) == 3 + 2 + 4 + 1
    assert problem.cost(np.array([0, 2, 1, 3])) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 2\n0 3 1 2\n1 4 0\n", "the file ends after 3 of 4 numbers of job 1"),
        ("1 1\n0 3 1\n", "'1' follows the last number"),
        ("1 1\n0 x\n", "'x', one of the numbers of job 0: must be a whole number"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("machines", "times", "message"),
    [
        ([[0]], [[1], [2]], "machines has 1 rows and times 2"),
        ([[0, 1]], [[1]], "job 0 has 2 machines and 1 times"),
        ([[0]], [[1.5]], "times: must be whole numbers"),
        ([[0]], [[2**30]], "their sum exceeds"),
        ([[-1]], [[1]], "machines: must be whole numbers of at least 0"),
    ],
)
def test_wrong_shops_are_refused(machines: Any, times: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        islands.models.job_shop(machines, times)


def test_operations_may_take_no_time() -> None:
    problem = islands.models.job_shop([[0, 1], [1, 0]], [[0, 0], [0, 0]])
    assert islands.solve(problem, generations=3, backend="cpu").cost == 0


def digest_of_a_long_shop(state: str, patch: pytest.MonkeyPatch, **backend: str) -> str:
    """Return the digest of a run on a shop whose operations are dealt to a warp several times."""
    with patch.context() as within:
        within.setattr(job_shops, "STATE", state)
        if not backend:
            within.setattr("islands.backends._made", lambda *_: EmulatedGpu(64))
        orders, times = shop(20, 8, 3)
        problem = islands.models.job_shop(orders, [[3 * each + 1 for each in row] for row in times])
        sizes: Any = {"islands": 1, "population": 2, "proposals": 400, "tuning": 4, "cycle": 4}
        return islands.solve(problem, generations=12, **SEARCH, **sizes, **backend).digest


def test_a_warp_passes_on_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU ends where nothing changes any more; a CPU computes all operations that follow."""
    on_cpu = digest_of_a_long_shop(job_shops.STATE, monkeypatch, backend="cpu")
    assert digest_of_a_long_shop(job_shops.STATE, monkeypatch) == on_cpu
    both = "max(steps_of(c), steps_of(behind[o]))"  # what depends on an operation
    assert job_shops.STATE.count(both) == 1
    for one in ("steps_of(c)", "steps_of(behind[o])"):
        wrong = job_shops.STATE.replace(both, one)
        assert digest_of_a_long_shop(wrong, monkeypatch) != on_cpu
