"""Shops of other libraries, and frames of pandas and Polars."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import islands
from islands.shops import Choice, Shop

JOBS = [[(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)]]
BEST = 11


def test_an_order_of_choices_is_read_as_the_model_reads_it() -> None:
    jobs = [[[Choice(0, 3), Choice(1, 2)], [Choice(1, 2)]], [[Choice(0, 1)], [Choice(1, 4)]]]
    problem = islands.models.job_shop(
        [[[each.machine for each in some] for some in job] for job in jobs],
        [[[each.time for each in some] for some in job] for job in jobs],
        release=[0, 2],
    )
    shop = Shop(jobs, [0, 2])
    random = np.random.default_rng(1)
    for _ in range(20):
        order = random.permutation(5)
        assert problem.cost(order) == max(step.end for step in shop.steps(order))


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_come_back_with_a_tour_or_a_schedule(name: str) -> None:
    library: Any = pytest.importorskip(name)
    places = np.random.default_rng(1).random((12, 2))
    frame = library.DataFrame({"x": places[:, 0], "name": [*"abcdefghijkl"], "y": places[:, 1]})
    tour = islands.frames.tour(frame)
    assert type(tour) is type(frame)
    assert sorted(tour["name"].to_list()) == [*"abcdefghijkl"]
    ordered = np.column_stack([tour["x"].to_numpy(), tour["y"].to_numpy()])
    steps = np.linalg.norm(ordered - np.roll(ordered, -1, axis=0), axis=1)
    assert steps.sum() == pytest.approx(islands.solve(islands.tsp(places), generations=30).cost)
    rows = [(f"job {j}", f"machine {m}", t) for j, job in enumerate(JOBS) for m, t in job]
    job, machine, time = zip(*rows, strict=True)
    orders = library.DataFrame({"job": job, "machine": machine, "time": time})
    made = islands.frames.schedule(orders, time_limit=0.3)
    assert made["end"].max() == BEST
    assert (made["end"] - made["begin"]).to_list() == [*time]
    with pytest.raises(ValueError, match="no column 'z'"):
        islands.frames.tour(frame, y="z")
    with pytest.raises(ValueError, match="column 'name': must have numbers"):
        islands.frames.tour(frame, y="name")


def test_an_instance_of_job_shop_lib_gives_a_schedule() -> None:
    library: Any = pytest.importorskip("job_shop_lib")
    jobs = [[library.Operation(m, t) for m, t in job] for job in JOBS]
    schedule = islands.shops.solve(library.JobShopInstance(jobs), time_limit=0.3)
    assert schedule.is_complete()
    assert schedule.makespan() == BEST
    flexible = library.JobShopInstance([[library.Operation([0, 1], 3)] for _ in range(4)])
    assert islands.shops.solve(flexible, time_limit=0.3).makespan() == 6
    late = library.JobShopInstance([[library.Operation(0, 3, deadline=9)]])
    with pytest.raises(NotImplementedError, match="deadlines"):
        islands.shops.solve(late)


def model_of_pyjobshop() -> tuple[Any, list[Any]]:
    library: Any = pytest.importorskip("pyjobshop")
    model = library.Model()
    machines, tasks = [model.add_machine() for _ in range(3)], []
    for row in JOBS:
        job = model.add_job(due_date=5)
        own = [model.add_task(job=job) for _ in row]
        for task, (machine, time) in zip(own, row, strict=True):
            model.add_mode(task, machines[machine], time)
        for one, two in pairwise(own):
            model.add_end_before_start(one, two)
        tasks += own
    return model, tasks


def test_a_model_of_pyjobshop_gives_a_result() -> None:
    model, tasks = model_of_pyjobshop()
    found = islands.shops.solve(model, time_limit=0.3)
    assert found.objective == found.best.makespan == BEST
    assert found.lower_bound <= BEST
    assert len(found.best.tasks) == len(tasks)
    model.set_objective(weight_total_tardiness=1)
    late = islands.shops.solve(model, time_limit=0.3)
    assert late.objective == late.best.total_tardiness
    model.add_setup_time(model.resources[0], tasks[0], tasks[3], 2)
    with pytest.raises(NotImplementedError, match="setup_times are not taken"):
        islands.shops.solve(model)


def test_what_is_no_shop_is_refused() -> None:
    with pytest.raises(TypeError, match="SimpleNamespace is neither"):
        islands.shops.solve(SimpleNamespace())
    with pytest.raises(ValueError, match="time_limit=0: must be a positive number"):
        islands.shops.solve(SimpleNamespace(), time_limit=0)
