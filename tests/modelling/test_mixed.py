"""Problems of named parameters: the optimum, and bit-identical results for each kind of cost."""

import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mixed_for_tests import PARAMETERS, mixed_by, sum_of

import islands
from islands import space
from islands.modelling.model import Model, restored
from islands.space.parameters import Order

WAYS = ("cost", "batch", "function")
SETTINGS: dict[str, Any] = {"seed": 3, "backend": "cpu", "threads": 1, "islands": 2}
SETTINGS |= {"population": 24, "generations": 25}

_TABLE = np.random.default_rng(4).permutation(3 * 3 * 6 * 8)
_ORDERS = [*permutations(range(3))]
_LOOKUP = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    const int order = 2 * s.order[0] + (s.order[1] > s.order[2]);
    const int items = 4 * s.items[0] + 2 * s.items[1] + s.items[2];
    return data.table[((s.depth + 1) * 3 + s.kind) * 48 + order * 8 + items];
}
"""


def place(depth: int, kind: int, order: Any, items: Any) -> int:
    """Return the place of a solution in the table."""
    whole = 4 * items[0] + 2 * items[1] + items[2]
    return int(((depth + 1) * 3 + kind) * 48 + _ORDERS.index(tuple(order)) * 8 + whole)


def tabled(way: str) -> Model:
    """Return a problem of 432 solutions, each of which has a cost in a table."""
    kinds = ("x", ("y", 1), None)
    parameters = {"depth": space.integer(-1, 1), "kind": space.category(*kinds)}
    parameters |= {"order": space.order(3), "items": space.subset(3)}

    def one(s: dict[str, Any]) -> int:
        assert [type(s["depth"]), s["order"].dtype, s["items"].dtype] == [int, np.int32, np.int8]
        kind = kinds.index(s["kind"])
        return int(_TABLE[place(s["depth"], kind, s["order"].tolist(), s["items"].tolist())])

    def many(s: dict[str, Any]) -> Any:
        rows = zip(*(s[name].tolist() for name in parameters), strict=True)
        return _TABLE[[place(*row) for row in rows]]

    if way == "cost":
        return islands.mixed(**parameters, cost=_LOOKUP, data={"table": _TABLE}, reference=many)
    return islands.mixed(**parameters, **{way: one if way == "function" else many})


@pytest.mark.parametrize("way", WAYS)
def test_the_best_of_all_solutions_is_found(way: str) -> None:
    problem = tabled(way)
    every = product((-1, 0, 1), (0, 1, 2), permutations(range(3)), product((0, 1), repeat=3))
    rows = np.array([[depth, kind, *order, *items] for depth, kind, order, items in every])
    assert problem.kind.holds(rows)
    assert sorted(problem.costs(rows).tolist()) == [*range(432)]
    result = islands.solve(problem, **SETTINGS | {"population": 64, "generations": 150}, target=0)
    assert result.cost == 0
    assert problem.cost(result.solution) == 0
    best = rows[problem.costs(rows).argmin()]
    assert problem.kind.array_of(result.solution).tolist() == best.tolist()


def test_each_kind_of_cost_gives_the_same_bits() -> None:
    results = [islands.solve(mixed_by(way), **SETTINGS) for way in WAYS]
    assert len({each.digest for each in results}) == 1
    for each in results:
        assert each.cost == results[0].cost == sum_of(each.solution)
        assert list(each.solution) == list(PARAMETERS)


@pytest.mark.slow
def test_other_algorithms_search_them() -> None:
    settings = SETTINGS | {"generations": 4, "proposals": 50}  # the default depends on the way
    costs = [islands.solve(mixed_by(way), **settings, algorithm="tempering").digest for way in WAYS]
    assert len({*costs}) == 1
    del settings["proposals"]
    found = islands.solve(mixed_by("cost"), **settings, algorithm="pso")
    assert sum_of(found.solution) == found.cost


@pytest.mark.parametrize("way", ["cost", "batch"])
def test_gpus_evaluate_them_with_the_same_bits(way: str, on_gpu_paths: Any) -> None:
    settings = SETTINGS | {"population": 600, "generations": 3}
    usual = islands.solve(mixed_by(way), **settings).digest
    on_gpu_paths(True)
    assert islands.solve(mixed_by(way), **settings).digest == usual


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_has_the_values_of_the_best_solution(way: str, tmp_path: Path) -> None:
    problem, folder = mixed_by(way), tmp_path / "run"
    result = islands.solve(problem, **SETTINGS, out=folder)
    stored = islands.read_run(folder)
    assert repr(stored.solution) == repr(result.solution)
    assert problem.cost(stored.solution) == result.cost
    entries = problem.read_solution(folder)
    assert repr(problem.kind.presented(entries)) == repr(result.solution)
    again = islands.resume(folder, problem=None if way == "cost" else problem, generations=30)
    whole = islands.solve(problem, **SETTINGS | {"generations": 30})
    assert again.digest == whole.digest


def test_a_problem_in_cuda_is_restored_without_its_script() -> None:
    problem = mixed_by("cost")
    again = restored(problem.saved())
    assert again.header == problem.header
    solution = problem.kind.presented(problem.kind.drawn(1, seed=1)[0])
    assert again.cost(solution) == pytest.approx(sum_of(solution))
    assert repr(again.kind.presented(problem.kind.array_of(solution))) == repr(solution)


def test_json_has_values_and_chosen_items() -> None:
    result = islands.solve(mixed_by("function"), **SETTINGS)
    found = json.loads(result.to_json())["solution"]
    assert (found["depth"], found["kind"]) == (result.solution["depth"], result.solution["kind"])
    assert found["order"] == result.solution["order"].tolist()
    assert found["items"] == np.flatnonzero(result.solution["items"]).tolist()


def test_a_search_begins_with_the_dict_of_another_one() -> None:
    problem = mixed_by("function")
    best = islands.solve(problem, **SETTINGS)
    settings = SETTINGS | {"generations": 1}
    for start in (best.solution, [best.solution]):
        assert islands.solve(problem, **settings, start=start).cost <= best.cost + 1e-9
    del settings["generations"]
    solver = islands.Solver(problem, **settings)
    solver.inject([best.solution])
    [found] = solver.best()
    assert sum_of(found.solution) == found.cost == pytest.approx(best.cost)


@pytest.mark.slow
def test_functions_and_violations_are_checked() -> None:
    report = islands.check_problem(mixed_by("cost"), samples=60)
    assert "no differences" in str(report).lower()
    limited = {"violation": lambda s: max(0, 6 - s["depth"]), "price": 2.0}
    problem = islands.mixed(PARAMETERS, function=sum_of, **limited)
    result = islands.solve(problem, **SETTINGS)
    assert result.solution["depth"] >= 6
    assert problem.violation({**result.solution, "depth": 2}) == 4


def test_an_error_shows_the_line_and_the_values() -> None:
    problem = islands.mixed(depth=space.integer(1, 3), function=lambda s: s["dept"])
    with pytest.raises(islands.IslandsError, match=r"test_mixed.py.*for \{'depth': \d\}"):
        islands.solve(problem, **SETTINGS)


def test_equal_coordinates_are_in_the_order_of_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cost = """
    __device__ long long cost(const Solution& s, int n, const Data& data) {
        long long digits = 0;
        for (int i = 0; i < 9; ++i) digits = 10 * digits + s.order[i];
        return digits;
    }
    """
    problem = islands.mixed(order=space.order(9), cost=cost)
    monkeypatch.setattr(Order, "coordinates", lambda self, entries: np.full_like(entries, 0.5))
    settings = SETTINGS | {"population": 8, "generations": 1}
    result = islands.solve(problem, **settings, start=[{"order": range(9)}])
    assert (result.cost, result.solution["order"].tolist()) == (12345678, [*range(9)])


def test_violations_have_the_same_bits_and_parameters_any_names() -> None:
    names = ("s", "n", "from_", "coordinates_", "mixed", "exact", "cost")
    parameters = {name: space.integer(0, 9) for name in names}
    body = " + ".join(f"{k + 1} * s.{name}" for k, name in enumerate(names))
    head = "__device__ long long {}(const Solution& s, int n, const Data& data) {{ return {}; }}"
    texts = {
        "cost": head.format("cost", body),
        "violation": head.format("violation", "max(0ll, 20 - s.mixed - s.s - s.n)"),
    }

    def cost(s: dict[str, int]) -> int:
        return sum((k + 1) * s[name] for k, name in enumerate(names))

    def violation(s: dict[str, int]) -> int:
        return max(0, 20 - s["mixed"] - s["s"] - s["n"])

    for price in ("adaptive", 0.5):
        given: dict[str, Any] = {"price": price}
        compiled = islands.solve(islands.mixed(parameters, **texts, **given), **SETTINGS)
        problem = islands.mixed(parameters, function=cost, violation=violation, **given)
        python = islands.solve(problem, **SETTINGS)
        assert (compiled.digest, compiled.cost) == (python.digest, python.cost)
        assert violation(python.solution) == python.violation


def test_choices_with_equal_texts_are_read_from_a_folder(tmp_path: Path) -> None:
    choices = [(1, 2), "(1, 2)", np.int64(3), np.bool_(False), np.str_("a")]
    costs = dict(zip(choices, range(len(choices)), strict=True))
    problem = islands.mixed(
        one=space.category(*choices),
        two=space.category(*choices[2:]),
        function=lambda p: costs[p["one"]] - costs[p["two"]],
    )
    result = islands.solve(problem, evaluations=200, backend="cpu", out=tmp_path / "run")
    stored = islands.read_run(tmp_path / "run")
    assert result.solution == {"one": (1, 2), "two": "a"}
    assert stored.solution == {"one": "(1, 2)", "two": "a"}
    assert stored.trace().num_rows > 1
    values = [space.category(*choices[2:]).stored()["choices"]]
    assert values == [[3, False, "a"]]
    assert [type(each) for each in values[0]] == [int, bool, str]
