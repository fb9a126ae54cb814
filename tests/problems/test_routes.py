"""Directed tours, paths and fixed edges, compared with all orders of a few cities."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_texts import entry_of
from numpy.typing import NDArray

import islands
from islands.bounds import assignment
from islands.errors import InputError, UsageError
from islands.instances.tsplib import TspFile
from islands.problems import levels
from islands.problems.legs import JOINED, PRICE, Legs
from islands.problems.tsp import Tsp

Ends = tuple[int | None, int | None]

ENDS: dict[str, Ends | None] = {"closed": None, "both": (0, 4), "start": (3, None)}
ENDS |= {"end": (None, 1), "free": (None, None)}
FIXED = {"none": (), "one": ((2, 3),), "chain": ((2, 3), (3, 0)), "two": ((1, 2), (4, 3))}


def legs(n: int, seed: int, *, symmetric: bool, holes: float = 0.0) -> NDArray[np.float64]:
    """Return random lengths, a share of them infinite."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, 100, (n, n)).astype(np.float64)
    lengths[generator.random((n, n)) < holes] = np.inf
    lengths = np.maximum(lengths, lengths.T) if symmetric else lengths
    np.fill_diagonal(lengths, 0)
    return lengths


def length_of(lengths: NDArray[np.float64], order: tuple[int, ...], ends: Ends | None) -> float:
    """Return the length of a tour in plain Python; infinity if it has other ends."""
    if ends is not None:
        start, end = ends
        if start not in (None, order[0]) or end not in (None, order[-1]):
            return math.inf
    edges = list(itertools.pairwise(order if ends is not None else (*order, order[0])))
    return float(sum(lengths[a, b] for a, b in edges))


def has_all(order: tuple[int, ...], fixed: Any, ends: Ends | None, *, symmetric: bool) -> bool:
    edges = set(itertools.pairwise(order if ends is not None else (*order, order[0])))
    edges |= {(b, a) for a, b in edges} if symmetric else set()
    return all(edge in edges for edge in fixed)


def stated(lengths: NDArray[np.float64], ends: Ends | None, fixed: Any = ()) -> Tsp:
    if ends is None:
        return islands.tsp(distances=lengths, fixed=fixed)
    start, end = ("any" if each is None else each for each in ends)
    return islands.tsp(distances=lengths, start=start, end=end, fixed=fixed)


def best_of(lengths: NDArray[np.float64], ends: Ends | None, fixed: Any = ()) -> float:
    symmetric = np.array_equal(lengths, lengths.T)
    return min(
        length_of(lengths, order, ends)
        for order in itertools.permutations(range(len(lengths)))
        if has_all(order, fixed, ends, symmetric=symmetric)
    )


def fits(ends: Ends | None, fixed: Any, *, symmetric: bool) -> bool:
    """Return whether the examples above do not contradict each other."""
    start, end = ends or (None, None)
    left = [a for a, _ in fixed] + ([b for _, b in fixed] if symmetric else [])
    entered = [b for _, b in fixed] + ([a for a, _ in fixed] if symmetric else [])
    most = 2 if symmetric else 1
    return (start is None or entered.count(start) < most) and (
        end is None or left.count(end) < most
    )


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("fixed", FIXED)
@pytest.mark.parametrize("ends", ENDS)
def test_items_have_the_lengths_of_their_tours(ends: str, fixed: str, symmetric: bool) -> None:
    way, edges = ENDS[ends], FIXED[fixed]
    if not fits(way, edges, symmetric=symmetric):
        pytest.skip("contradiction")
    lengths = legs(6, 1, symmetric=symmetric, holes=0.1)
    for one, other in edges:
        lengths[one, other] = 7
        lengths[other, one] = 7 if symmetric else lengths[other, one]
    problem = stated(lengths, way, edges)
    if not isinstance(problem.near, Legs):
        return  # a plain tour
    chains, matrix = problem.near.chains, problem.near.matrix
    found = 0
    for order in itertools.permutations(range(6)):
        exact = length_of(lengths, order, way)
        if not (exact < math.inf and has_all(order, edges, way, symmetric=symmetric)):
            assert problem.violation(np.array(order)) > 0
            continue
        found += 1
        tour = np.array(order)
        assert problem.cost(tour) == exact
        items = chains.to_items(tour)
        assert sorted(items.tolist()) == list(range(problem.size))
        entries = matrix[items, np.roll(items, -1)]
        joins = (entries == JOINED).sum()
        assert joins == (chains.pairs if chains.has_two_ends else 0)
        assert entries[entries >= 0].sum() == exact
        again = chains.from_items(np.stack([items, np.roll(items, 1)]))
        assert [problem.cost(each) for each in again] == [exact, exact]
    assert found > 0


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_eax_finds_the_best_of_all_orders(n: int, ends: str, symmetric: bool) -> None:
    way = ENDS[ends]
    if way is not None:
        way = tuple(None if each is None else min(each, n - 1) for each in way)  # type: ignore[assignment]
    if n == 1 and ends == "both":
        way = (0, None)
    lengths = legs(n, n + 10, symmetric=symmetric)
    problem = stated(lengths, way)
    result = islands.solve(problem, generations=20, seed=3, backend="cpu", threads=1)
    assert result.cost == best_of(lengths, way)
    assert len(result.solution) == n
    if way is not None and way[0] is not None:
        assert result.solution[0] == way[0]
    bound = islands.solve(problem, generations=1, bound=True, backend="cpu", threads=1).bound
    assert bound is not None or symmetric or n < 5
    assert bound is None or bound <= result.cost


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["brkga", "ga", "cellular", "de", "pso", "memetic", "eax"])
@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("ends", ENDS)
def test_all_algorithms_find_the_best_order(algorithm: str, ends: str, symmetric: bool) -> None:
    lengths = legs(7, 5, symmetric=symmetric)
    problem = stated(lengths, ENDS[ends], [(5, 6)])
    best = best_of(lengths, ENDS[ends], [(5, 6)])
    few = {"islands": 2, "population": 128, "generations": 200, "backend": "cpu", "threads": 1}
    assert islands.solve(problem, algorithm=algorithm, target=best, **few).cost == best


def test_a_tour_without_forbidden_legs_that_does_not_exist_is_not_found() -> None:
    lengths = np.full((6, 6), np.inf)
    lengths[[0, 1, 2], [1, 2, 0]] = lengths[[3, 4, 5], [4, 5, 3]] = 1  # two circles
    problem = stated(lengths, None)
    result = islands.solve(problem, generations=10, backend="cpu", threads=1)
    assert result.cost is None
    assert problem.costs(np.arange(6)[np.newaxis])[0] >= PRICE


def test_lengths_with_decimals_are_scaled_exactly() -> None:
    tenths = legs(8, 2, symmetric=False) / 10
    problem = stated(tenths, None)
    assert problem.near.unit == 10
    order = np.arange(8)
    exact = sum(round(10 * tenths[a, b]) for a, b in zip(order, np.roll(order, -1), strict=True))
    assert problem.cost(order) == exact / 10
    real = np.random.default_rng(1).random((8, 8))
    other = stated(real, (0, 7))
    expected = real[order[:-1], order[1:]].sum()
    assert abs(other.cost(order) - expected) < 1e-8 * expected


def test_tiny_lengths_are_scaled() -> None:
    small = legs(5, 1, symmetric=False) * 1e-200
    exact = length_of(small, tuple(range(5)), None)
    assert islands.tsp(distances=small).cost(np.arange(5)) / exact == pytest.approx(1)


@pytest.mark.parametrize("way", ["from", "to"])
def test_a_city_without_a_way_is_rejected_unless_it_may_be_an_end(way: str) -> None:
    lengths = legs(5, 1, symmetric=False)
    (lengths if way == "from" else lengths.T)[2, [0, 1, 3, 4]] = np.inf
    with pytest.raises(UsageError, match=f"no leg leads {way} city 2"):
        islands.tsp(distances=lengths)
    assert islands.tsp(distances=lengths, start="any").size == 6
    own, other = ("end", "start") if way == "from" else ("start", "end")
    allowed: dict[str, Any] = {own: 2}
    assert islands.tsp(distances=lengths, **allowed).entries == 5
    wrong: list[dict[str, Any]] = [{other: 2}, {own: 1}]
    for ends in wrong:
        with pytest.raises(UsageError, match=f"no leg leads {way} city 2"):
            islands.tsp(distances=lengths, **ends)
    (lengths if way == "from" else lengths.T)[4, :4] = np.inf
    with pytest.raises(UsageError, match=f"no leg leads {way} city 4"):
        islands.tsp(distances=lengths, start="any")


def test_a_city_without_any_way_is_not_both_ends_of_a_path() -> None:
    lengths = legs(5, 1, symmetric=False)
    lengths[2, [0, 1, 3, 4]] = lengths[[0, 1, 3, 4], 2] = np.inf
    with pytest.raises(UsageError, match="only the first city of a path may have none"):
        islands.tsp(distances=lengths, start="any", end="any")


def test_files_may_be_directed_paths_or_have_fixed_edges(tmp_path: Path) -> None:
    lines = ["NAME: a", "TYPE: ATSP", "DIMENSION: 3", "EDGE_WEIGHT_TYPE: EXPLICIT"]
    matrix = ["EDGE_WEIGHT_FORMAT: FULL_MATRIX", "EDGE_WEIGHT_SECTION", "99 1 2 3 99 4 5 6 99"]
    path = tmp_path / "a.atsp"
    path.write_text("\n".join([*lines, *matrix, "EOF"]))
    problem = islands.load(path)
    assert [problem.cost(each) for each in ([0, 1, 2], [0, 2, 1])] == [10, 11]
    path.write_text("\n".join([*lines, "FIXED_EDGES_SECTION", "1 3", "-1", *matrix]))
    with pytest.raises(islands.errors.RunError, match="the fixed edge from 0 to 2 is missing"):
        islands.load(path).cost([0, 1, 2])
    path.write_text(
        "\n".join([*lines, *matrix]).replace("ATSP", "HPP").replace("3 99 4 5 6", "1 99 4 2 4")
    )
    assert islands.load(path).cost([1, 0, 2]) == 3
    path.write_text("\n".join([*lines, *matrix]).replace("ATSP", "TSP"))
    with pytest.raises(InputError, match=r"TYPE TSP must not have. Write TYPE : ATSP if"):
        islands.load(path)
    path.write_text("\n".join([*lines, *matrix]).replace("ATSP", "HPP"))
    with pytest.raises(InputError, match="TYPE : ATSP, and pass --set ends=any:any, if"):
        islands.load(path)
    path.write_text("\n".join([*lines, *matrix]))
    assert islands.solve(path, ends="any:any", generations=5, backend="cpu").cost == 5


def test_a_problem_with_a_route_is_stored_and_read_again(tmp_path: Path) -> None:
    lengths = legs(7, 3, symmetric=False) / 4
    problem = islands.tsp(distances=lengths, start=2, fixed=[(3, 4)], labels="abcdefg")
    result = islands.solve(problem, generations=5, out=tmp_path / "run", backend="cpu", threads=1)
    again = islands.resume(tmp_path / "run", generations=9)
    assert again.cost <= result.cost
    assert again.solution[0] == 2
    stored = Tsp.restored(problem.saved(), "again", None)
    assert stored.file.labels == tuple("abcdefg")
    assert stored.cost(result.solution) == result.cost


TSPLIB = ["br17", "ft53", "ft70", "ftv33", "ftv35", "ftv38", "ftv55", "ftv70", "ftv170", "p43"]
TSPLIB += ["rbg323", "rbg403", "rbg443"]


@pytest.mark.slow
@pytest.mark.published
@pytest.mark.parametrize("name", TSPLIB)
def test_directed_tours_of_tsplib_have_their_optima(published: Path, name: str) -> None:
    best = entry_of(f"atsp/{name}")[1].value  # which a test of the catalogue compares
    (path,) = (published / "atsp").glob(f"{name}.atsp*")
    result = islands.solve(path, target=best, seconds=240, backend="cpu", bound=True)
    assert result.cost == best >= result.bound


@pytest.mark.slow
@pytest.mark.published
def test_the_fixed_edge_of_linhp318_has_its_published_optimum(published: Path) -> None:
    problem = islands.load(published / "tsplib" / "linhp318.tsp")
    (fixed,) = problem.remarks()
    result = islands.solve(problem, target=41345 + fixed.value, seconds=60, backend="cpu")
    assert result.cost - fixed.value == 41345  # which leaves the fixed edge out


@pytest.mark.parametrize("sizes", [[7] * 5, [5, 6, 7]], ids=["directed", "mixed"])
def test_tours_of_a_batch_may_be_directed_and_mixed(sizes: list[int]) -> None:
    kinds = [False] if len(sizes) == 5 else [False, True]
    many = [legs(n, k, symmetric=kind) for k, n in enumerate(sizes) for kind in kinds]
    batch = islands.tsp_batch(distances=np.stack(many) if len(kinds) == 1 else many)
    found = islands.solve_many(batch, backend="cpu", threads=1)
    assert [result.cost for result in found] == [best_of(lengths, None) for lengths in many]


def test_lengths_that_differ_by_rounding_are_remarked_on() -> None:
    lengths = np.random.default_rng(5).random((9, 9))
    lengths = lengths + lengths.T
    lengths[2, 3] *= 1 + 1e-7
    (remark,) = islands.tsp(distances=lengths).remarks()
    assert "if they were equal, the instance would be solved faster" in remark.words
    assert remark.value == pytest.approx(lengths[2, 3] - lengths[3, 2], rel=0.1)
    lengths[2, 3] += 0.5
    assert islands.tsp(distances=lengths).remarks() == []


def test_a_file_with_whole_lengths_keeps_its_kernels() -> None:
    matrix = legs(6, 1, symmetric=True).astype(np.int32)
    plain = Tsp(TspFile("plain", None, 6, "EXPLICIT", matrix=matrix))
    assert plain.defines() == {"TSP_METRIC": "TSP_MATRIX"}


CHAINS = {"two": 2, "most": 7, "all but one": 8, "all": 9}


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("chain", CHAINS)
def test_fixed_legs_of_any_length_leave_room_for_the_others(chain: str, symmetric: bool) -> None:
    fixed = [(k, k + 1) for k in range(CHAINS[chain])]
    for seed in range(20):
        lengths = np.random.default_rng(seed).random((10, 10))
        lengths = lengths + lengths.T if symmetric else lengths
        problem = islands.tsp(distances=lengths, fixed=fixed)
        assert isinstance(problem.near, Legs)
        exact = length_of(lengths, tuple(range(10)), None)
        assert problem.cost(np.arange(10)) == pytest.approx(exact, rel=1e-7)
        items = problem.near.chains.to_items(np.arange(10))
        entries = problem.near.matrix[items, np.roll(items, -1)]
        sums = entries[entries >= 0].sum() / problem.near.unit
        assert sums == problem.cost(np.arange(10))


ONLY: dict[str, dict[str, Any]] = {
    "both ends": {"start": 0, "end": 5, "fixed": [(k, k + 1) for k in range(5)]},
    "one end": {"start": 0, "fixed": [(k, k + 1) for k in range(5)]},
    "no end": {"fixed": [(k, (k + 1) % 6) for k in range(6)]},
}


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("name", ONLY)
def test_the_only_tour_with_all_edges_is_found(name: str, symmetric: bool) -> None:
    lengths = legs(6, 4, symmetric=symmetric)
    problem = islands.tsp(distances=lengths, **ONLY[name])
    result = islands.solve(problem, generations=3, backend="cpu", threads=1)
    way = None if name == "no end" else (0, 5)
    assert result.cost == length_of(lengths, tuple(range(6)), way)
    assert problem.violation(result.solution) == 0
    if way is not None:
        assert result.solution.tolist() == list(range(6))
    two = islands.tsp(distances=[[0, 3], [5, 0]], fixed=[(0, 1)])
    assert islands.solve(two, generations=3, backend="cpu").cost == 8


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_holds_for_lengths_before_they_are_rounded(seed: int, symmetric: bool) -> None:
    whole = legs(8, seed, symmetric=symmetric)
    result = islands.solve(
        islands.tsp(distances=whole / 7), generations=30, bound=True, backend="cpu", threads=1
    )
    assert result.bound <= best_of(whole, None) / 7
    assert result.bound > 0


def chained(n: int) -> NDArray[np.float64]:
    """Return lengths whose prices fall from each city to the next one."""
    lengths = np.full((n, n), 5000.0)
    for k in range(n):
        lengths[k, (k + 1) % n] = 1000
        lengths[k, min(k + 2, n - 1)] = 999
    np.fill_diagonal(lengths, 0)
    return lengths


@pytest.mark.parametrize("name", ["random", "chained"])
def test_prices_of_an_assignment_keep_tours_and_make_no_leg_shorter(name: str) -> None:
    lengths = legs(7, 6, symmetric=False) if name == "random" else chained(7)
    matrix = lengths.astype(np.int32)
    matrix[1, 4] = -1
    found = levels.levelled(matrix)
    assert found is not matrix
    for order in itertools.permutations(range(7)):
        edges = list(itertools.pairwise((*order, order[0])))
        if (1, 4) not in edges:
            assert sum(found[each] for each in edges) == sum(matrix[each] for each in edges)
    orders = [o for o in itertools.permutations(range(7)) if all(o[k] != k for k in range(7))]
    allowed = [order for order in orders if order[1] != 4]
    best = min(allowed, key=lambda order: sum(int(matrix[k, order[k]]) for k in range(7)))
    for one, other in itertools.permutations(range(7), 2):
        if (one, other) == (1, 4):
            assert found[one, other] == -1
        else:
            assert found[one, other] >= found[one, best[one]]


def test_prices_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = chained(50).astype(np.int32)
    assert levels.levelled(matrix) is not matrix
    monkeypatch.setattr(levels, "_MOST_STEPS", 10 * matrix.size)
    assert levels.levelled(matrix) is matrix


def test_a_bound_without_time_for_an_assignment_is_lower() -> None:
    lengths = legs(7, 8, symmetric=False)
    orders = itertools.permutations(range(7))
    ways = [order for order in orders if all(order[k] != k for k in range(7))]
    shortest = min(sum(lengths[k, way[k]] for k in range(7)) for way in ways)
    whole = lengths.astype(np.int64)
    exact, soon = (assignment._assigned(whole.copy(), seconds) for seconds in (1.0, 0.0))
    assert 0 < soon <= exact == shortest <= best_of(lengths, None)
