"""Criteria to stop: their text, when they are reached, and the generations that are visited."""

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from results_for_tests import NEAR_BEST_KNOWN

import islands
from islands.configuration.keywords import of_keywords
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.stop import last_generation, parse, time_limit
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.visits import Visits


def progress(**changes: object) -> Progress:
    values = {
        "generation": 100, "evaluations": 5000, "seconds": 12.5, "cost": 210, "island": 1,
        "best_generation": 60, "mean": 300.0, "gap": 5.0, "best_known": 200,
    }  # fmt: skip
    return Progress(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reached", "not_reached", "reason"),
    [
        ("generations=100", "generations=101", "100 generations done"),
        ("seconds=12.5", "seconds=12.6", "time limit of 12.5 s reached"),
        ("evaluations=5e3", "evaluations=5001", "evaluation limit of 5000 reached"),
        ("target=210", "target=209", "target 210 reached"),
        ("gap=5%", "gap=4.99%", "target gap of 5% reached"),
        ("stagnation=40", "stagnation=41", "no improvement for 40 generations"),
    ],
)
def test_criteria_stop_exactly_at_their_limit(reached: str, not_reached: str, reason: str) -> None:
    assert parse(reached).reason(progress()) == reason
    assert parse(not_reached).reason(progress()) is None


@pytest.mark.parametrize("text", ["best-known", "optimum", "target", "gap=0%"])
@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_values_near_a_limit_go_on(known: float, near: float, maximise: bool, text: str) -> None:
    criterion = parse(f"target={known}" if text == "target" else text)
    problem = FakeProblem(BestKnown(known, "optimal", ""), maximise=maximise)
    for cost in (near, known):
        now = progress(cost=cost, gap=problem.gap(cost), best_known=known, maximise=maximise)
        assert (criterion.reason(now) is None) == (cost == near)


def test_gap_just_above_the_limit_does_not_stop() -> None:
    for gap, stops in ((1.0, True), (1.0 + 1e-9, False), (1.004, False)):
        assert (parse("gap=1%").reason(progress(gap=gap)) is not None) == stops


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60), ("60s", 60), ("5m", 300), ("2h", 7200), ("0.5", 0.5)]
)
def test_seconds_accept_units(text: str, seconds: float) -> None:
    assert parse(f"seconds={text}").value == seconds


def test_large_integers_are_exact() -> None:
    assert parse("target=9007199254740993").value == 9007199254740993


@pytest.mark.parametrize(
    ("stop", "keywords", "texts"),
    [
        (None, {}, None),
        ("best-known", {}, ["best-known"]),
        (("optimum", "seconds=5"), {}, ["optimum", "seconds=5"]),
        (None, {"seconds": "5m"}, ["seconds=5m"]),
        (None, {"generations": np.int32(5)}, ["generations=5"]),
        (None, {"evaluations": 1e9}, ["evaluations=1000000000"]),
        (None, {"gap": np.float64(0)}, ["gap=0"]),
        ("optimum", {"stagnation": 9, "seconds": 1}, ["optimum", "seconds=1", "stagnation=9"]),
        ("generations=5", {"generations": 5}, ["generations=5"]),
        (["seconds=1m"], {"seconds": 60}, ["seconds=1m"]),
    ],
)
def test_text_lists_and_keywords_are_combined(
    stop: Any, keywords: dict[str, Any], texts: list[str] | None
) -> None:
    found = of_keywords({}, stop=stop, **keywords).options.get("stop")
    assert (found and [each.text for each in found]) == texts


def test_the_first_satisfied_criterion_ends_the_run() -> None:
    few = {"population": 16, "islands": 2, "backend": "cpu", "improver": "none"}
    result = islands.solve("demo/tsp", stop="best-known", generations=4, seconds=60, **few)
    assert (result.generations, result.reason) == (4, "4 generations done")
    assert result.settings["stop"] == ["best-known", "seconds=60", "generations=4"]
    reached = islands.solve("demo/tsp", target=10**9, generations=7, **few)
    assert reached.generations == 0
    assert reached.reason == "target 1000000000 reached"


def test_a_search_converges_when_populations_are_alike_or_stand_still() -> None:
    longer = replace(parse("converged"), value=41)
    assert longer.reason(progress()) is None
    words = "converged: no improvement for 40 generations"
    assert replace(longer, value=40).reason(progress()) == words
    alike = longer.reason(progress(has_converged=True))
    assert str(alike).startswith("converged: ")
    with pytest.raises(UsageError, match="takes no value"):
        parse("converged=3")


def test_few_cities_converge_when_the_best_tour_stands_still() -> None:
    tours = np.random.default_rng(4).random((8, 100, 2)) * 1e6
    for found in islands.solve_many(tours, islands=1, backend="cpu", stop="converged"):
        still = found.generations - found.best_generation
        assert found.reason == f"converged: no improvement for {still} generations"
        assert 5 <= still < 5 + 5  # looked at every 5 generations


@pytest.mark.slow
def test_a_tour_to_start_from_is_searched_before_it_stands_still() -> None:
    tours = np.random.default_rng(7).random((6, 200, 2)) * 1e6
    for places in tours:
        problem = islands.tsp(places)
        weak = islands.solve(problem, islands=1, population=10, backend="cpu", stop="converged")
        # A bound on the generations, as a population of 240 may not converge before.
        found = islands.solve(
            problem, start=[weak.solution], backend="cpu", stop=["converged", "generations=30"]
        )
        assert found.cost < weak.cost


def _standstill(problem: Problem, **settings: object) -> float:
    [criterion] = resolve(Request.of({"stop": ["converged"], **settings}, None), problem).spec.stop
    return criterion.value


def test_the_standstill_of_a_run_is_that_of_the_slowest_colony() -> None:
    tour = islands.tsp(np.random.default_rng(4).random((60, 2)))
    assert _standstill(tour, algorithm="eax") == 5
    few = {"islands": 1, "algorithm": "ga", "population": 10}
    assert _standstill(tour, **few) == 10
    quick = {"islands": 1, "algorithm": "eax", "population": 60}
    colonies = [few, {**few, "population": 400}, quick]
    for order in (colonies, colonies[::-1]):
        assert _standstill(tour, colony=order) == 400
    faster = [few, {**few, "population": 400, "rate": 8}]
    assert _standstill(tour, colony=faster) == 50
    assert parse("converged").reason(progress(generation=10**6)) is None


def test_tempering_has_not_converged_while_it_cools_down() -> None:
    few = {"backend": "cpu", "threads": 1, "stop": "converged", "islands": 1, "population": 8}
    random = np.random.default_rng(3).integers(0, 99, (2, 20, 20))
    problem = islands.qap(*random)
    found = islands.solve(problem, algorithm="tempering", tuning=9, **few)
    assert found.generations >= found.best_generation + 8 + 2 * 9
    given = islands.solve(problem, algorithm="tempering", coldest=0.1, hottest=0.2, **few)
    assert given.generations < 40


@pytest.mark.slow
def test_few_facilities_have_a_memetic_search_that_ends() -> None:
    random = np.random.default_rng(3).integers(0, 99, (2, 8, 8))
    problem = islands.qap(*random)
    every = np.array(list(permutations(range(8))))
    found = islands.solve(problem, backend="cpu", stop="converged")
    assert found.algorithm == "memetic"
    assert found.cost == problem.costs(every).min()
    assert islands.solve(problem, backend="cpu", generations=1).algorithm == "tempering"


def test_limits_are_those_of_the_first_criterion_that_ends() -> None:
    some = [parse(each) for each in ("seconds=500", "generations=3", "seconds=30", "generations=5")]
    assert (time_limit(some), last_generation(some)) == (30, 3)
    assert time_limit([parse("generations=500")]) == math.inf
    assert last_generation([parse("seconds=500")]) is None


@pytest.mark.parametrize("interval", [None, 7])
@pytest.mark.parametrize("last", [None, 25, 30, 10**20])
def test_visits_follow_each_other(interval: int | None, last: int | None) -> None:
    visits = Visits(interval, 10, last)
    visited, generation = [0], 0
    while generation < 60:
        generation = visits.after(generation)
        visited.append(generation)
    assert [g for g in range(61) if visits.include(g)] == [g for g in visited if g <= 60]
    together = visits.include(np.arange(61))
    assert np.flatnonzero(together).tolist() == [g for g in visited if g <= 60]
    assert visits.after(np.array(visited[:4])).tolist() == visited[1:5]
