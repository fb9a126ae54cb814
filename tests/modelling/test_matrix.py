"""Each algorithm solves each kind of problem with each encoding that fits."""

from typing import Any

import pytest
from examples_for_tests import NAMES, plain_cost, small

import islands
from islands.algorithms import ALGORITHMS
from islands.configuration.fit import fitting
from islands.encodings import ENCODINGS

DEMOS = ("demo/tsp", "demo/qap", "demo/mkp")
PROBLEMS = (*DEMOS, *NAMES, "keys")
KEYS = "__device__ double cost(const Solution& s, int n, const Data& data) { return s[0] - s[1]; }"


def problem_of(name: str) -> Any:
    if name in DEMOS:
        return islands.load(name)
    if name == "keys":
        return islands.keys(5, cost=KEYS, reference=lambda keys: keys[:, 0] - keys[:, 1] + 0.0)
    return small(name)


ALL = [(a, encoding, name) for name in PROBLEMS for a in ALGORITHMS for encoding in ENCODINGS]
FITS = {name: fitting(problem_of(name)) for name in PROBLEMS}


def chosen() -> list[tuple[str, str, str]]:
    """Return cases with each algorithm and encoding, and with each encoding of each problem."""
    seen, found = set[tuple[str, str]](), []
    for each in ALL:
        algorithm, encoding, name = each
        new = {(algorithm, encoding), (encoding, name)} - seen
        if new and each[:2] in FITS[name]:
            found.append(each)
            seen |= new
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "encoding", "name"), chosen())
def test_a_pair_that_fits_solves_the_problem(algorithm: str, encoding: str, name: str) -> None:
    problem = problem_of(name)
    few = {"generations": 3, "islands": 2, "population": 16, "backend": "cpu", "improver": "none"}
    result = islands.solve(problem, algorithm=algorithm, encoding=encoding, **few)
    assert result.generations == 3
    tolerance = 1e-9 if problem.scale.real else 0
    assert result.cost == pytest.approx(problem.cost(result.solution), rel=tolerance, abs=0)
    if name in NAMES:
        assert result.cost == pytest.approx(plain_cost(name, problem, result.solution), rel=1e-9)
