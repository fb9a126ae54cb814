"""Which steps may last much longer than the interval between checks."""

from __future__ import annotations

import math
from typing import Any

from fakes import FakeProblem
from problems_for_tests import facilities

from islands.configuration.resolve import layers, resolve
from islands.run.pace import Pace


def pace(**options: Any) -> Pace:
    return Pace(resolve(layers({"algorithm": "brkga", **options}), FakeProblem()))


def test_a_step_may_be_slow_until_one_was_quick_and_after_a_slow_one() -> None:
    plain = pace(improver="none")
    assert plain.may_be_slow(0, 1)
    plain.epoch_ended(None, 0, 0.001)
    assert not plain.may_be_slow(0, 50)
    plain.step_ended(1, 2.001)
    assert plain.may_be_slow(1, 1)


def test_a_lucky_step_does_not_predict_the_next_ones() -> None:
    searching = pace(improver="swap")
    searching.step_ended(1, 0.1)
    searching.step_ended(2, 0.1001)  # such as one without a search, if only a few are drawn
    assert searching.may_be_slow(2, 1)
    for generation in range(3, 30):
        searching.step_ended(generation, 0.1001)
    assert not searching.may_be_slow(30, 1)


def test_a_few_generations_without_a_search_predict_nothing() -> None:
    few = pace(improver="swap", islands=2, population=100, **{"improver.rate": 0.01})
    for generation in range(1, 5):  # two searches each, on average
        few.step_ended(generation, 0.0001 * generation)
        assert few.may_be_slow(generation, 1)
    few.step_ended(5, 0.0005)
    assert not few.may_be_slow(5, 1)


def test_steps_grow_step_by_step_where_one_may_be_lost() -> None:
    def steps(*seconds: float, may_take_long: bool) -> list[int]:
        tried = Pace(
            resolve(layers({"algorithm": "ga"}), FakeProblem()), may_take_long=may_take_long
        )
        found, generation, now = [], 0, 0.0
        for each in seconds:
            generation, now = generation + tried.step, now + each
            tried.step_ended(generation, now)
            found.append(tried.step)
        return found

    quick = [0.001, 0.001, 0.001]
    assert steps(*quick, may_take_long=False)[0] == 256
    assert steps(*quick, may_take_long=True) == [2, 4, 8]
    assert steps(*quick, 4.0, 0.2, may_take_long=True) == [2, 4, 8, 1, 2]


def test_the_time_of_generation_0_does_not_predict_searches() -> None:
    searching = pace(improver="swap")
    searching.epoch_ended(None, 0, 0.001)
    assert searching.may_be_slow(0, 1)
    searching.step_ended(1, 0.002)
    assert not searching.may_be_slow(1, 1)
    # A search may take many times longer than the previous one.
    searching.step_ended(2, 0.102)
    assert searching.may_be_slow(2, 1)


def test_the_time_of_generation_0_does_not_predict_an_algorithm_that_searches_itself() -> None:
    spec = resolve(layers({"algorithm": "tempering", "backend": "cpu"}), facilities(9))
    searching = Pace(spec)
    assert searching.step == 1
    searching.epoch_ended(None, 0, 0.001)
    assert searching.step == 1
    assert searching.may_be_slow(0, 1)
    searching.step_ended(1, 0.002)
    assert not searching.may_be_slow(1, 1)
    assert searching.step > 1


def test_evaluations_are_counted_in_each_generation_with_a_search() -> None:
    options = {"improver": "swap", "improver.every": 10}
    counting = pace(stop="evaluations=1000", **options)
    assert [g for g in range(31) if counting.counts_at(g)] == [10, 20, 30]
    assert [counting.next_count(g) for g in (0, 3, 9, 10, 25)] == [10, 10, 10, 20, 30]
    for other in (pace(**options), pace(improver="none", stop="evaluations=1000")):
        assert not any(map(other.counts_at, range(31)))
        assert other.next_count(3) == math.inf


def test_generations_without_search_do_not_predict_those_with_search() -> None:
    seldom = pace(improver="swap", **{"improver.every": 100})
    seldom.epoch_ended(None, 0, 0.001)
    seldom.step_ended(50, 0.002)
    assert not seldom.may_be_slow(40, 50)
    assert seldom.may_be_slow(50, 50)
    seldom.step_ended(100, 0.012)
    assert not seldom.may_be_slow(150, 50)
    assert seldom.may_be_slow(150, 1000)
