"""Lengths compared with the definitions of TSPLIB in plain Python, and with published ones."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from instance_texts import entry_of
from problems_for_tests import lattice

from islands.instances.tsplib import TspFile, read_tsp
from islands.paths import data_folder
from islands.problems.tsp import Tsp

PLANE = ("EUC_2D", "CEIL_2D", "ATT")


def made(metric: str, n: int, seed: int = 1) -> TspFile:
    """Return cities with repeated points, integer and fractional coordinates, or a matrix."""
    generator = np.random.default_rng(seed)
    if metric == "EXPLICIT":
        upper = np.triu(generator.integers(0, 2**31 - 1, (n, n), np.int32), 1)
        return TspFile("made", None, n, metric, matrix=upper + upper.T)
    if metric == "GEO":
        degrees = generator.integers([-89, -179], [90, 180], (n, 2))
        places = degrees + np.sign(degrees) * generator.integers(0, 60, (n, 2)) / 100
    else:
        places = np.round(generator.uniform(-3000, 3000, (n, 2)), 1)
        places[: n // 3] = np.round(places[: n // 3], -2)
    return TspFile("made", None, n, metric, coordinates=places)


def naive_distance(file: TspFile, a: int, b: int) -> int:
    if file.matrix is not None:
        return int(file.matrix[a, b])
    (xa, ya), (xb, yb) = file.coordinates[a].tolist(), file.coordinates[b].tolist()
    if file.metric == "GEO":
        return 0 if a == b else naive_geo(xa, ya, xb, yb)
    squares = (xa - xb) * (xa - xb) + (ya - yb) * (ya - yb)
    if file.metric == "EUC_2D":
        return math.floor(math.sqrt(squares) + 0.5)
    if file.metric == "CEIL_2D":
        return math.ceil(math.sqrt(squares))
    exact = math.sqrt(squares / 10.0)
    nearest = math.floor(exact + 0.5)
    return nearest + 1 if nearest < exact else nearest


def naive_geo(xa: float, ya: float, xb: float, yb: float) -> int:
    def radians(place: float) -> float:
        return 3.141592 * (int(place) + 5.0 * (place - int(place)) / 3.0) / 180.0

    q1 = math.cos(radians(ya) - radians(yb))
    q2 = math.cos(radians(xa) - radians(xb))
    q3 = math.cos(radians(xa) + radians(xb))
    return int(6378.388 * math.acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0)


def naive_length(file: TspFile, tour: list[int]) -> int:
    return sum(naive_distance(file, a, b) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))


@pytest.mark.parametrize("metric", [*PLANE, "GEO", "EXPLICIT"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 60])
def test_lengths_equal_plain_python(metric: str, n: int) -> None:
    file = made(metric, n)
    generator = np.random.default_rng(2)
    tours = np.array([generator.permutation(n) for _ in range(20)])
    expected = [naive_length(file, tour.tolist()) for tour in tours]
    assert Tsp(file).costs(tours).tolist() == expected


def exact_distance(metric: str, squares: int) -> int:
    """Return the exact distance for a sum of squared differences in units of 1/2."""
    below = math.isqrt(squares)
    if metric == "EUC_2D":
        return (below + 1) // 2
    if metric == "CEIL_2D":
        return (below + (below**2 < squares) + 1) // 2
    # Rounded up to an integer.
    below = math.isqrt(squares // 40)
    return below + (40 * below**2 < squares)


@pytest.mark.parametrize("metric", PLANE)
def test_integer_and_half_distances_are_rounded_exactly(metric: str) -> None:
    problem = lattice(metric)
    (places,) = problem.arrays()
    halves = [(round(2 * x), round(2 * y)) for x, y in places.tolist()]
    pairs = list(itertools.combinations(range(len(halves)), 2))
    squares = [math.dist(halves[a], halves[b]) ** 2 for a, b in pairs]
    expected = [2 * exact_distance(metric, round(each)) for each in squares]
    assert problem.near.along(np.array(pairs)).sum(axis=1).tolist() == expected
    # 3, 4 and 5, as integers and halves, and just above.
    wanted = {"EUC_2D": [5, 3, 3, 5], "CEIL_2D": [5, 3, 3, 6], "ATT": [2, 1, 1, 2]}
    assert [exact_distance(metric, each) for each in (100, 25, 26, 101)] == wanted[metric]


def test_lengths_beyond_32_bits_are_exact() -> None:
    places = np.array([[-1e11, -1e11], [1e11, 1e11]])
    problem = Tsp(TspFile("far", None, 2, "EUC_2D", coordinates=places))
    nearest = (math.isqrt(4 * 8 * 10**22) + 1) // 2
    assert problem.cost(np.array([0, 1])) == 2 * nearest


def test_embedded_tour_has_the_length_of_the_catalogue() -> None:
    folder = data_folder("instances") / "tsp"
    entry, best_known = entry_of("demo/tsp")
    problem = Tsp.read(folder / "demo.tsp", entry.full_name, best_known)
    cost = problem.cost(problem.read_solution(folder / "demo.opt.tour"))
    assert cost == best_known.value
    assert problem.gap(cost) == 0.0
    assert problem.gap(2 * cost) == 100.0


@pytest.mark.published
def test_published_optimal_tours_have_their_published_lengths(published: Path) -> None:
    paths = sorted((published / "tsplib").glob("*.opt.tour"))
    assert len(paths) == 31
    for path in paths:
        name = path.name.removesuffix(".opt.tour")
        entry, best_known = entry_of(f"tsplib/{name}")
        problem = Tsp.read(published / "tsplib" / entry.file)
        assert (name, problem.cost(problem.read_solution(path))) == (name, best_known.value)


@pytest.mark.published
@pytest.mark.parametrize("name", ["burma14", "gr96", "gr137", "ulysses22", "gr229"])
def test_geographical_distances_equal_plain_python(published: Path, name: str) -> None:
    file = read_tsp(published / "tsplib" / f"{name}.tsp")
    (matrix,) = Tsp(file).arrays()
    n = file.dimension
    assert matrix.tolist() == [[naive_distance(file, a, b) for b in range(n)] for a in range(n)]
