"""Job shops and flow shops, compared with all orders and with schedules of plain Python."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import begun
from shops import best_cost, checked_ends

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model
from islands.models.base import text_of
from islands.models.flow_shops import bound
from islands.models.shops import Shop
from islands.testing.devices import emulated_gpu

SEARCH = {"algorithm": "tempering", "seed": 1}
STATE = text_of("job_shop_paths").code + text_of("job_shop_tabu").code


Rows = list[list[int]]


def shop(jobs: int, machines: int, seed: int) -> tuple[Rows, Rows]:
    random = np.random.default_rng(seed)
    orders = [random.permutation(machines).tolist() for _ in range(jobs)]
    return orders, random.integers(0, 20, (jobs, machines)).tolist()


def choices(machines: Rows, times: Rows) -> Any:
    """Return the machines and times of operations that have one choice each."""
    return [[[[each] for each in row] for row in rows] for rows in (machines, times)]


def best_makespan(machines: Rows, times: Rows) -> int:
    return best_cost(*choices(machines, times), [0] * len(machines), max)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_optimum_is_that_of_all_orders(backend: Backend, seed: int) -> None:
    machines, times = shop(3, 3, seed)
    problem = islands.models.job_shop(machines, times)
    result = islands.solve(problem, **SEARCH, generations=40, backend=backend.name)
    assert result.cost == best_makespan(machines, times)


@pytest.mark.parametrize("seed", range(20))
def test_no_schedule_ends_before_the_bound(seed: int) -> None:
    machines, times = shop(3, 1 + seed % 3, seed)
    assert Shop.of(machines, times).bound() <= best_makespan(machines, times)


@pytest.mark.slow
def test_a_schedule_has_the_times_of_its_operations() -> None:
    machines, times = shop(6, 5, 4)
    problem = islands.models.job_shop(machines, times)
    result = islands.solve(problem, **SEARCH, generations=20, backend="cpu")
    rows = Shop.of(machines, times).schedule(result.solution)
    ends = checked_ends(*choices(machines, times), [0] * 6, rows)
    assert Shop.of(machines, times).bound() <= max(ends) == result.cost


@pytest.mark.slow
@pytest.mark.parametrize("machine_count", [1, 4])
def test_the_state_agrees_with_costs(machine_count: int) -> None:
    machines, times = shop(8, machine_count, 5)
    checked = str(islands.check_problem(islands.models.job_shop(machines, times), samples=60))
    assert "480 of 480 moves agree with costs" in checked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machines", "times"),
    [
        # Jobs of different lengths, which visit a machine again, also at once.
        ([[0, 1, 0], [1], [1, 0]], [[2, 3, 4], [5], [1, 1]]),
        ([[0, 0, 1], [1, 0, 0], [0, 1, 1]], [[2, 3, 4], [5, 1, 2], [1, 1, 3]]),
        # Many operations without time between two of a job.
        ([[0, 0], *[[0]] * 120], [[5, 5], *[[0]] * 120]),
    ],
)
def test_jobs_may_visit_a_machine_again(backend: Backend, machines: Rows, times: Rows) -> None:
    problem = islands.models.job_shop(machines, times)
    assert "480 of 480 moves agree with costs" in str(islands.check_problem(problem, samples=60))
    result = islands.solve(problem, **SEARCH, generations=20, backend=backend.name)
    assert result.cost == (10 if len(machines) > 9 else best_makespan(machines, times))


LONG = shop(20, 8, 3)
BEGUN = {"islands": 1, "population": 2, "generations": 1, "proposals": 1}
"""One step of each individual, which makes its schedule active."""


def begins(machines: list[list[int]], times: list[list[int]], order: Any) -> dict[int, int]:
    """Return when each operation begins, by its number."""
    done = [0] * len(machines)
    found = {}
    for job, _, begin, _ in Shop.of(machines, times).schedule(order):
        found[job * len(machines[0]) + done[job]] = begin
        done[job] += 1
    return found


@pytest.mark.slow
def test_searches_begin_with_active_schedules(backend: Backend) -> None:
    """No operation can begin earlier in a gap of its machine."""
    problem = islands.models.job_shop(*LONG)
    shortest = min(problem.cost(np.random.default_rng(k).permutation(160)) for k in range(50))
    result = islands.solve(problem, **SEARCH, **BEGUN, backend=backend.name)
    assert result.cost < shortest
    rows = Shop.of(*LONG).schedule(result.solution)
    ready: dict[int, int] = {}
    for job, machine, begin, end in rows:
        others = [(b, e) for _, k, b, e in rows if k == machine and (b, e) != (begin, end)]
        for at in [ready.get(job, 0), *(e for _, e in others if e >= ready.get(job, 0))]:
            if at < begin:
                assert any(b < at + end - begin and at < e for b, e in others)
        ready[job] = end


PARENTS = """
constexpr int JOBS = 20, MACHINES = 8;
__device__ long long cost(const Solution& s, int n, const Data& data) {
    bool is_p = true, is_q = true;
    for (int i = 0; i < n; ++i) is_p &= s[i] == data.p[i], is_q &= s[i] == data.q[i];
    return is_p || is_q;
}
"""


def child_of(first: Any, second: Any, backend: Backend) -> Any:
    """Return the first child of two orders: the only ones that cost something."""
    members = islands.models.job_shop(*LONG).statement.data
    state = STATE.replace("return state.length > 0;", "return false;")
    assert state != STATE
    problem = islands.permutation(
        160, cost=PARENTS, state=state, data={**members, "p": first, "q": second}, cooperative=True
    )
    problem.searches = True
    starts = [first, second]
    found = islands.solve(
        problem, **SEARCH, **BEGUN | {"generations": 2}, start=starts, backend=backend.name
    )
    assert found.cost == 0
    return found.solution


@pytest.mark.slow
def test_children_keep_the_order_that_both_parents_have(backend: Backend) -> None:
    random = np.random.default_rng(4)
    parents = [random.permutation(160) for _ in range(2)]
    one, other = (begins(*LONG, each) for each in parents)
    found = child_of(*parents, backend)
    place = np.argsort(found)
    alike = [
        (a, b) for a in range(160) for b in range(160) if one[a] < one[b] and other[a] < other[b]
    ]
    assert len(alike) > 5000
    assert all(place[a] < place[b] for a, b in alike)


@pytest.mark.slow
def test_a_child_of_equal_parents_differs_from_them(backend: Backend) -> None:
    order = np.random.default_rng(4).permutation(160)
    found = child_of(order, order, backend)
    assert begins(*LONG, found) != begins(*LONG, order)


def digest_of_a_long_shop(state: str, *, is_emulated: bool) -> str:
    """Return the digest of a run on a shop whose operations are dealt to a warp several times."""
    orders, times = shop(20, 8, 3)
    own = islands.models.job_shop(orders, [[3 * time + 1 for time in row] for row in times])
    problem = Model(own.kind, replace(own.statement, state=state))
    problem.searches = True
    sizes: Any = {"islands": 1, "population": 2, "proposals": 400, "generations": 4}
    with emulated_gpu(64) if is_emulated else nullcontext():
        return islands.solve(problem, backend="cpu", **SEARCH, **sizes).digest


@pytest.mark.slow
def test_a_warp_passes_on_what_changes() -> None:
    """A GPU ends where nothing changes any more; a CPU computes all operations that follow."""
    on_cpu = digest_of_a_long_shop(STATE, is_emulated=False)
    assert digest_of_a_long_shop(STATE, is_emulated=True) == on_cpu
    both = "max(steps_of(c), steps_of(behind[o]))"  # what depends on an operation
    assert STATE.count(both) == 1
    for one in ("steps_of(c)", "steps_of(behind[o])"):
        digest = "another cost than the exact one"
        with suppress(RunError):
            digest = digest_of_a_long_shop(STATE.replace(both, one), is_emulated=True)
        assert digest != on_cpu


TIMES = np.random.default_rng(9).integers(0, 30, (7, 4))


@pytest.mark.parametrize("seed", range(20))
def test_no_order_ends_before_the_bound(seed: int) -> None:
    draw = np.random.default_rng(seed)
    times = draw.integers(0, 9, (int(draw.integers(1, 6)), int(draw.integers(1, 4))))
    orders = np.array([*permutations(range(len(times)))])
    assert bound(times.tolist()) <= islands.models.flow_shop(times.tolist()).costs(orders).min()


@pytest.mark.parametrize("objective", ["makespan", "flow_time"])
def test_no_step_climbs_without_heat(backend: Backend, objective: str) -> None:
    """The search looks at the change that a step would make: this must be its true one."""
    cold = {"rungs": 2, "proposals": 60, "patience": 0, "coldest": 1e-9, "hottest": 1e-9}
    problem = islands.models.flow_shop(TIMES.tolist(), objective=objective)
    sizes = {"population": 8, "islands": 2, "seed": 5}
    mine, _, _ = begun(
        "tempering", "permutation", cold, sizes=sizes, problem=problem, backend=backend
    )
    energies = []
    for _ in range(6):
        energies.append(np.sort(mine.snapshot()["energy"]))  # replicas exchange their states
        mine.advance(1)
    assert (np.diff(energies, axis=0) <= 0).all()
    assert (energies[-1] < energies[0]).any()
