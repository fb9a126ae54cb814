"""Shops of other libraries, and frames of pandas and Polars."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import islands
from islands.shops import _SIZES, Jobs, Mode, _filled_up

JOBS = [[(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)]]
BEST = 11


def test_operations_are_scheduled_on_one_of_their_machines() -> None:
    modes = [[[Mode(0, 3), Mode(1, 2)], [Mode(1, 2)]], [[Mode(0, 1)], [Mode(1, 4)]]]
    jobs = Jobs(modes, [0, 2])
    scheduled, bound, result = jobs.schedule(0.3, 1)
    assert len(scheduled) == 4
    assert bound <= result.cost == max(each.end for each in scheduled)
    for each in scheduled:
        assert each.end - each.begin == modes[each.job][each.operation][each.mode].time
        assert each.begin >= jobs.release[each.job]


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
    with pytest.raises(ValueError, match="column 'name': must contain numbers"):
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
    assert 0 < found.runtime < 2  # compilation does not count
    assert len(found.best.tasks) == len(tasks)
    model.set_objective(weight_total_tardiness=1)
    late = islands.shops.solve(model, time_limit=0.3)
    assert late.objective == late.best.total_tardiness
    model.add_setup_time(model.resources[0], tasks[0], tasks[3], 2)
    with pytest.raises(NotImplementedError, match="setup_times are not supported"):
        islands.shops.solve(model)


def test_due_dates_may_have_passed_and_the_shortest_of_modes_on_a_machine_counts() -> None:
    library: Any = pytest.importorskip("pyjobshop")
    for machines, best in ((1, min(3 + 5 + 8 + 2, 5 + 2 + 8 + 5)), (2, 3 + 5 + 5 + 2)):
        model = library.Model()
        where = [model.add_machine() for _ in range(machines)]
        for number, (time, date) in enumerate([(3, -5), (5, -2)]):
            task = model.add_task(job=model.add_job(due_date=date))
            for longer in (4, 0, 1):
                model.add_mode(task, where[number % machines], time + longer)
        model.set_objective(weight_total_tardiness=1)
        found = islands.shops.solve(model, time_limit=0.3)
        assert found.objective == found.best.total_tardiness == best
        assert found.lower_bound <= best
    assert found.lower_bound == best


def test_what_is_no_shop_is_rejected() -> None:
    with pytest.raises(TypeError, match="SimpleNamespace is neither"):
        islands.shops.solve(SimpleNamespace())
    with pytest.raises(ValueError, match="time_limit=0: must be a positive number"):
        islands.shops.solve(SimpleNamespace(), time_limit=0)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_that_lack_something_are_rejected(name: str) -> None:
    library: Any = pytest.importorskip(name)
    orders = {"job": ["a", None], "machine": ["m", "n"], "time": [1, 2]}
    with pytest.raises(ValueError, match="column 'job', row 1: has no value"):
        islands.frames.schedule(library.DataFrame(orders))
    with pytest.raises(ValueError, match="column 'machine', row 0: has no value"):
        islands.frames.schedule(library.DataFrame({**orders, "job": [1, 2], "machine": [None, 1]}))
    whole = {**orders, "job": [1, 2], "begin": [0, 0]}
    with pytest.raises(ValueError, match="already has a column 'begin'"):
        islands.frames.schedule(library.DataFrame(whole))
    with pytest.raises(ValueError, match="time_limit=True: must be a positive number"):
        islands.frames.tour(library.DataFrame({"x": [0], "y": [0]}), time_limit=True)
    with pytest.raises(ValueError, match="column 'x': must contain numbers"):
        islands.frames.tour(library.DataFrame({"x": ["1"], "y": [0]}))


def test_columns_of_pandas_have_any_name_once() -> None:
    pandas: Any = pytest.importorskip("pandas")
    places = pandas.DataFrame(np.random.default_rng(1).random((6, 2)))
    assert len(islands.frames.tour(places, x=0, y=1)) == 6
    twice = pandas.DataFrame([[0.0, 1.0, 2.0]], columns=["x", "y", "x"])
    with pytest.raises(ValueError, match="has 2 columns 'x'"):
        islands.frames.tour(twice)
    missing = pandas.DataFrame({"x": pandas.array([1, None], "Int64"), "y": [0, 1]})
    with pytest.raises(ValueError, match="column 'x', row 1: has no value"):
        islands.frames.tour(missing)


@pytest.mark.parametrize("frame", [None, [[0, 1]], {"x": [0]}, np.zeros((3, 2))])
def test_what_is_no_frame_is_rejected(frame: Any) -> None:
    with pytest.raises(TypeError, match="is not a DataFrame of pandas or Polars"):
        islands.frames.tour(frame)


@pytest.mark.parametrize(("jobs", "machines"), [(1, 1), (5, 5), (6, 4), (10, 10), (11, 3)])
def test_added_jobs_change_no_schedule(jobs: int, machines: int) -> None:
    random = np.random.default_rng(jobs)
    where = [random.permutation(machines).tolist() for _ in range(jobs)]
    times = random.integers(1, 9, (jobs, machines)).tolist()
    filled = _filled_up(where, times)
    sizes = [len(filled[0]), 1 + max(map(max, filled[0]))]
    assert all(each - 1 in _SIZES for each in sizes)
    own, other = islands.models.job_shop(where, times), islands.models.job_shop(*filled)
    order = random.permutation(other.size)
    assert other.cost(order) == own.cost([each for each in order if each < own.size])


def test_instances_without_jobs_or_with_parts_of_a_unit_are_rejected() -> None:
    library: Any = pytest.importorskip("job_shop_lib")
    with pytest.raises(ValueError, match="the instance has no jobs"):
        islands.shops.solve(SimpleNamespace(jobs=[], num_operations=0))
    empty = SimpleNamespace(jobs=[[library.Operation(0, 1)], []], num_operations=1)
    with pytest.raises(ValueError, match="job 1 of the instance has no operations"):
        islands.shops.solve(empty)
    half = library.JobShopInstance([[library.Operation(0, 1.5)]])
    with pytest.raises(ValueError, match=r"duration 1\.5, which is not a whole number"):
        islands.shops.solve(half)
    other: Any = pytest.importorskip("pyjobshop")
    with pytest.raises(ValueError, match="the model has no jobs"):
        islands.shops.solve(other.Model())
