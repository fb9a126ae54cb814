from __future__ import annotations

import math
import re
from copy import copy
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from results_for_tests import NEAR_BEST_KNOWN

import islands
from islands.configuration.resolve import layers, resolve
from islands.configuration.stop import (
    CRITERIA,
    first_reason,
    last_generation,
    parse,
    require_known,
    stop_texts,
    time_limit,
)
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.text import command_line

OWN = islands.permutation(5, batch=lambda orders: orders[:, 0], name="own")


def progress(**changes: object) -> Progress:
    values = {
        "generation": 100,
        "evaluations": 5000,
        "seconds": 12.5,
        "cost": 210,
        "island": 1,
        "best_generation": 60,
        "mean": 300.0,
        "gap": 5.0,
        "best_known": 200,
    }
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
def test_each_criterion_stops_exactly_at_its_limit(
    reached: str, not_reached: str, reason: str
) -> None:
    assert parse(reached).reason(progress()) == reason
    assert parse(not_reached).reason(progress()) is None


@pytest.mark.parametrize("text", ["best-known", "optimum"])
def test_known_values_are_reached_at_equality(text: str) -> None:
    assert parse(text).reason(progress(cost=201)) is None
    assert parse(text).reason(progress(cost=200)) is not None
    assert parse(text).reason(progress(cost=199)) is not None


def test_a_maximising_problem_reaches_its_target_from_below() -> None:
    assert parse("target=300").reason(progress(maximise=True, cost=299)) is None
    assert parse("target=300").reason(progress(maximise=True, cost=300)) is not None


@pytest.mark.parametrize("text", ["best-known", "optimum", "target", "gap=0%"])
@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_value_just_below_a_limit_does_not_stop(
    known: float, near: float, maximise: bool, text: str
) -> None:
    criterion = parse(f"target={known}" if text == "target" else text)
    problem = FakeProblem(BestKnown(known, "optimal", ""), maximise=maximise)
    reasons = [
        criterion.reason(
            progress(cost=cost, gap=problem.gap(cost), best_known=known, maximise=maximise)
        )
        for cost in (near, known)
    ]
    assert [reason is None for reason in reasons] == [True, False]


def test_gap_just_above_the_limit_does_not_stop() -> None:
    for gap, stops in ((1.0, True), (1.0 + 1e-9, False), (1.004, False)):
        assert (parse("gap=1%").reason(progress(gap=gap)) is not None) == stops


def test_unknown_gap_does_not_stop() -> None:
    assert parse("gap=5%").reason(progress(gap=None)) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60), ("60s", 60), ("5m", 300), ("2h", 7200), ("0.5", 0.5)]
)
def test_seconds_accept_units(text: str, seconds: float) -> None:
    assert parse(f"seconds={text}").value == seconds


@pytest.mark.parametrize("kind", CRITERIA)
def test_example_of_each_kind_is_parsed_and_keeps_its_text(kind: str) -> None:
    criterion = parse(CRITERIA[kind].example)
    assert criterion.kind == kind
    assert parse(criterion.text) == criterion
    assert criterion.words()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("generations=-5", "--stop generations=-5: must be at least 1"),
        ("generations=1.5", "--stop generations=1.5: must be a whole number"),
        ("generations=many", "--stop generations=many: must be a number"),
        ("generations=1e999", "--stop generations=1e999: must be a finite number"),
        ("generations", "--stop generations: needs a value, such as --stop generations=1000"),
        ("seconds=0", "--stop seconds=0: must be more than 0"),
        (
            "seconds=nan",
            "--stop seconds=nan: must be a number of seconds, or a duration such as 60s",
        ),
        ("seconds=5d", "--stop seconds=5d: must be a number of seconds, or a duration such as 60s"),
        ("gap=-1%", "--stop gap=-1%: must be at least 0%"),
        ("best-known=3", "--stop best-known=3: takes no value; write --stop best-known"),
        ("generation=5", "unknown criterion 'generation'. Did you mean 'generations'?"),
        ("time_limit=5", "time_limit is not a stopping criterion. Write --stop seconds=60"),
        ("", "unknown criterion ''"),
    ],
)
def test_invalid_text_is_refused_with_a_hint(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught, command_line():
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_large_integers_are_exact() -> None:
    assert parse("target=9007199254740993").value == 9007199254740993


@pytest.mark.parametrize(
    ("text", "known", "is_refused"),
    [
        ("gap=1%", None, True),
        ("best-known", None, True),
        ("best-known", BestKnown(7, "best_known", "a list"), False),
        ("optimum", BestKnown(7, "best_known", "a list"), True),
        ("optimum", BestKnown(7, "optimal", "a list"), False),
        ("generations=5", None, False),
    ],
)
def test_criteria_without_a_known_value_are_refused(
    text: str, known: BestKnown | None, is_refused: bool
) -> None:
    if not is_refused:
        require_known([parse(text)], "fake/five", known)
        return
    with pytest.raises(UsageError, match=r"for fake/five. Use stop=\"target=VALUE\""):
        require_known([parse(text)], "fake/five", known)
    fix = "Use stop=" if text == "optimum" else "Add best_known=VALUE to the problem, or use stop="
    with pytest.raises(UsageError, match=f'for fake/five. {fix}"target=VALUE"'):
        require_known([parse(text)], "fake/five", known, is_of_script=True)


@pytest.mark.parametrize("problem", [islands.tsp([[0, 0], [3, 4], [6, 0]], name="own"), OWN])
def test_a_problem_of_a_script_may_state_its_best_known_value(problem: Problem) -> None:
    few: dict[str, Any] = {"backend": "cpu", "stop": "best-known", "population": 4, "islands": 1}
    with pytest.raises(UsageError, match=r"no best known value for own\. Add best_known=VALUE"):
        islands.solve(problem, **few)
    stated = copy(problem)
    stated.best_known = BestKnown(0, "best_known", "the script")
    criteria = resolve(layers(few), stated).stop
    assert [each.kind for each in criteria] == ["best-known"]


def test_first_satisfied_criterion_gives_the_reason() -> None:
    criteria = [parse("generations=500"), parse("target=210"), parse("seconds=1")]
    assert first_reason(criteria, progress()) == "target 210 reached"
    assert first_reason(criteria[:1], progress()) is None


def test_time_limit_is_the_minimum() -> None:
    assert time_limit([parse("seconds=500"), parse("generations=3"), parse("seconds=30")]) == 30
    assert time_limit([parse("generations=500")]) == math.inf


def test_last_generation_is_the_minimum() -> None:
    assert last_generation([parse("generations=500"), parse("generations=30")]) == 30
    assert last_generation([parse("seconds=500")]) is None


@pytest.mark.parametrize(
    ("stop", "keywords", "texts"),
    [
        (None, {}, None),
        (None, {"generations": None}, None),
        ("best-known", {}, ["best-known"]),
        (("optimum", "seconds=5"), {}, ["optimum", "seconds=5"]),
        (None, {"seconds": 2.5}, ["seconds=2.5"]),
        (None, {"seconds": "5m"}, ["seconds=5m"]),
        (None, {"generations": 5}, ["generations=5"]),
        (None, {"generations": np.int32(5)}, ["generations=5"]),
        (None, {"evaluations": 1e9}, ["evaluations=1000000000"]),
        (None, {"target": -3}, ["target=-3"]),
        (None, {"gap": "0.5%"}, ["gap=0.5%"]),
        (None, {"gap": np.float64(0)}, ["gap=0"]),
        ("optimum", {"stagnation": 9, "seconds": 1}, ["optimum", "stagnation=9", "seconds=1"]),
        ("generations=5", {"generations": 5}, ["generations=5"]),
        (["seconds=1m"], {"seconds": 60}, ["seconds=1m"]),
    ],
)
def test_text_lists_and_keywords_are_combined(
    stop: Any, keywords: dict[str, Any], texts: list[str] | None
) -> None:
    assert stop_texts(stop, keywords) == texts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"stop": 5},
            'stop=5: is not a stopping criterion. Write generations=5 or stop="generations=5"',
        ),
        ({"stop": 5.0}, 'Write generations=5 or stop="generations=5"'),
        ({"stop": ["optimum", 5]}, 'Write generations=5 or stop="generations=5"'),
        ({"stop": {"seconds": 3}}, 'Write generations=100 or stop="generations=100"'),
        ({"stop": "x=1"}, 'stop="x=1": unknown criterion'),
        ({"generations": 0}, "generations=0: must be at least 1"),
        ({"generations": 2.5}, "generations=2.5: must be a whole number"),
        ({"generations": True}, "generations=True: must be a number. Write generations=100"),
        ({"seconds": [1]}, "seconds=[1]: must be a number"),
        ({"seconds": "soon"}, "seconds=soon: must be a number of seconds"),
        ({"target": float("nan")}, "target=nan: must be a finite number"),
        ({"gap": -1}, "gap=-1: must be at least 0%"),
        (
            {"stop": "generations=5", "generations": 6},
            'generations is given twice: stop="generations=5" and generations=6. Leave one of',
        ),
    ],
)
def test_wrong_criteria_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(islands.IslandsError, match=re.escape(message)):
        islands.solve("demo/tsp", **arguments)


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


def test_few_cities_have_one_population_that_converges() -> None:
    tours = {
        size: islands.tsp(np.random.default_rng(size).random((size, 2)))
        for size in (9, 50, 500, 501)
    }
    few = islands.solve(tours[9], backend="cpu", stop=["converged", "generations=10"])
    assert few.settings["restart"] is False
    assert few.settings["children"] == 10
    assert (few.islands, few.population) == (1, 60)
    first = few.settings["first_tours"], few.settings["spread"]
    assert first == ("nearest", 1)
    more = islands.solve(tours[50], backend="cpu", stop=["converged", "generations=1"])
    most = islands.solve(tours[500], backend="cpu", stop=["converged", "generations=1"])
    assert [more.population, most.population] == [60, 300]
    assert [more.settings["children"], most.settings["children"]] == [10, 20]
    many = islands.solve(tours[501], backend="cpu", stop=["converged", "generations=1"])
    assert many.settings["restart"] is False
    assert many.settings["children"] == 30
    usual = islands.solve(tours[9], backend="cpu", generations=1)
    assert usual.settings["restart"] is True
    assert (usual.islands, usual.population) == (8, 50)


def test_few_cities_converge_when_the_best_tour_stands_still() -> None:
    tours = np.random.default_rng(4).random((8, 100, 2)) * 1e6
    for found in islands.solve_many(tours, islands=1, backend="cpu", stop="converged"):
        still = found.generations - found.best_generation
        assert found.reason == f"converged: no improvement for {still} generations"
        assert 5 <= still < 5 + 5  # looked at every 5 generations


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
    [criterion] = resolve(layers({"stop": ["converged"], **settings}, None), problem).stop
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


def test_few_facilities_have_a_memetic_search_that_ends() -> None:
    random = np.random.default_rng(3).integers(0, 99, (2, 8, 8))
    problem = islands.qap(*random)
    every = np.array(list(permutations(range(8))))
    found = islands.solve(problem, backend="cpu", stop="converged")
    assert found.algorithm == "memetic"
    assert found.cost == problem.costs(every).min()
    assert islands.solve(problem, backend="cpu", generations=1).algorithm == "tempering"
