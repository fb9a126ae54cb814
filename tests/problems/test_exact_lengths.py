"""Tours through coordinates of a script: exact lengths, and TSPLIB's where they are asked for."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import islands
from islands.backends import choose
from islands.bounds.held_karp import lower_bound
from islands.cells.summary import Summary
from islands.cli import main
from islands.problems.tsp import Tsp
from islands.testing.devices import emulated_gpu

FEW: dict[str, Any] = {"generations": 8, "seed": 1, "backend": "cpu", "islands": 2}
SMALL = FEW | {"population": 20}
Places = NDArray[Any]


def random(n: int, seed: int = 1) -> Places:
    return np.random.default_rng(seed).random((n, 2))


PLACES: dict[str, Places] = {
    "unit square": random(8),
    "tiny and negative": 1e-12 * (random(6) - 5),
    "largest": 2e300 * (random(6) - 0.5),
    "far from zero": 1e6 + random(7),
    "whole numbers": np.random.default_rng(3).integers(-9, 9, (6, 2)),
    "on a line": np.column_stack([random(8)[:, 0], np.full(8, 0.1)]),
    "one far away": np.vstack([random(7), [[1e6, 0.0]]]),
    "duplicates": random(3)[[0, 1, 2, 1, 0, 2, 0]],
    "one place": np.full((5, 2), 0.7),
    "two": random(2),
    "one": random(1),
}


def length(places: Places, tour: Any) -> float:
    order = [places[city].tolist() for city in tour]
    return math.fsum(map(math.dist, order, [*order[1:], order[0]]))


def shortest(places: Places) -> float:
    orders = itertools.permutations(range(1, len(places)))
    return min(length(places, (0, *order)) for order in orders)


@pytest.mark.parametrize("name", PLACES)
def test_the_shortest_tour_is_found_with_its_true_length(name: str) -> None:
    places = PLACES[name]
    problem = islands.tsp(places)
    result = islands.solve(problem, **FEW)
    assert isinstance(result.cost, float)
    assert result.cost == pytest.approx(length(places, result.solution), rel=1e-12, abs=0)
    assert result.cost == pytest.approx(shortest(places), rel=1e-12, abs=0)
    assert result.cost == problem.cost(result.solution)
    if len(places) > 2:
        tour = np.arange(len(places))
        units = lower_bound(problem, tour, choose("cpu", 1), 0.2).value
        bound = problem.scale.value_of(units)
        assert 0.9 * result.cost <= bound <= result.cost * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"algorithm": "ga", "improver": "or_opt"}])
def test_threads_of_a_gpu_compute_the_same_bits(settings: dict[str, Any]) -> None:
    problem = islands.tsp(random(25))
    few = SMALL | settings | {"generations": 3}
    own = islands.solve(problem, **few)
    with emulated_gpu(32):
        other = islands.solve(problem, **few)
    assert (other.digest, other.cost) == (own.digest, own.cost)


def test_a_folder_keeps_its_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = random(12)
    for metric, made in ((None, float), ("EUC_2D", int)):
        folder = tmp_path / str(metric)
        problem = islands.tsp(places * 100, metric)
        whole = islands.solve(problem, **SMALL)
        islands.solve(problem, **(SMALL | {"generations": 4}), out=folder)
        resumed = islands.resume(folder, generations=8)
        assert (resumed.cost, resumed.digest) == (whole.cost, whole.digest)
        assert type(resumed.cost) is made
        assert main(["verify", str(folder), str(folder), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["cost"], found["remarks"]["said_agrees"]) == (whole.cost, True)
        stated = (folder / "solution.tour").read_text().split("COMMENT : Length ")[1]
        assert float(stated.split()[0]) == whole.cost


def restored(facts: bytes, places: Places) -> Tsp:
    kept = np.frombuffer(facts, np.uint8)
    return Tsp.restored({"metric": kept, "coordinates": places}, "name", None)


def test_arrays_of_earlier_folders_have_rounded_lengths() -> None:
    places, tour = random(4) * 10, [0, 1, 2, 3]
    for facts in (b'{"metric": "EUC_2D"}', b"{}"):
        problem = restored(facts, places)
        assert problem.cost(tour) == islands.tsp(places, "EUC_2D").cost(tour)
    for facts in (b'{"metric": "EUC_2D\\n#error"}', b'{"metric": "EUC_3D"}', b'{"metric": [1]}'):
        with pytest.raises(ValueError, match="metric"):
            restored(facts, places)


@pytest.mark.parametrize("sign", [-1, 1])
def test_costs_that_differ_by_rounding_are_equally_good(
    sign: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = random(8)
    best = islands.solve(islands.tsp(places), **FEW)
    same, shorter = best.cost * (1 + sign * 1e-14), best.cost * (1 - 1e-9)
    stops = {"start": [best.solution], "stop": "generations=3", **SMALL_OF_STOP}
    assert islands.solve(islands.tsp(places), target=same, **stops).generations == 0
    assert islands.solve(islands.tsp(places), target=shorter, **stops).generations == 3

    script = tmp_path / "stated.py"
    stated = "import islands\n{} = islands.tsp({}, best_known={!r})\n"
    script.write_text(stated.format("p", places.tolist(), same))
    for known, hits in ((same, 1), (shorter, 0)):
        problem = islands.tsp(places, best_known=known)
        few = {"generations": 1, "start": [best.solution], **SMALL_OF_STOP}
        result = islands.solve(problem, **few)
        assert Summary.of([result], problem.scale).hits == hits
    few = {"generations": 1, "start": [best.solution], **SMALL_OF_STOP}
    islands.solve(islands.tsp(places), out=tmp_path / "run", **few)
    assert main(["verify", f"{script}:p", str(tmp_path / "run" / "solution.tour"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["improves"], found["gap"]) == (False, 0.0)


SMALL_OF_STOP = {name: value for name, value in SMALL.items() if name != "generations"}
