"""Models compared with brute force: costs, searches, states that follow moves, and files."""

import re
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_costs import COSTS
from scipy.sparse import coo_array

import islands
from islands.backends.base import Backend
from islands.modelling.model import Model

RANDOM = np.random.default_rng(6)
EDGES = [(i, j) for i in range(12) for j in range(i) if RANDOM.random() < 0.5]
FEW_EDGES = [(i, j) for i in range(8) for j in range(i) if RANDOM.random() < 0.6]
WEIGHTS = RANDOM.integers(-5, 20, len(EDGES)).tolist()
ROWS = [RANDOM.choice(12, RANDOM.integers(1, 5), replace=False).tolist() for _ in range(20)]
POINTS = RANDOM.integers(0, 50, (9, 2))
WAYS = np.abs(POINTS[:, np.newaxis] - POINTS).sum(axis=2)
TIMES = RANDOM.integers(0, 30, (7, 4)).tolist()
PLACES = RANDOM.integers(0, 12, (2, 30))  # some of them twice, some on the diagonal
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "integers": ("qubo", {"q": RANDOM.integers(-50, 50, (12, 12))}),
    "reals": ("qubo", {"q": RANDOM.normal(size=(12, 12)), "maximise": True}),
    "sparse": ("qubo", {"q": coo_array((RANDOM.integers(-9, 9, 30), PLACES), shape=(12, 12))}),
    "cut": ("max_cut", {"edges": EDGES}),
    "weighted cut": ("max_cut", {"edges": [*EDGES, EDGES[0][::-1]], "weights": [*WEIGHTS, 7]}),
    "covering": ("set_cover", {"costs": RANDOM.integers(1, 30, 12), "rows": ROWS}),
    "unicost": ("set_cover", {"costs": np.ones(12, int), "rows": ROWS}),
    "medians": ("p_median", {"distances": WAYS, "p": 4}),
    "one median": ("p_median", {"distances": WAYS, "p": 1}),
    "all medians": ("p_median", {"distances": WAYS, "p": 9}),
    "diversity": ("max_diversity", {"distances": WAYS, "size": 4}),
    "one item": ("max_diversity", {"distances": WAYS, "size": 1}),
    "makespan": ("flow_shop", {"times": TIMES}),
    "flow time": ("flow_shop", {"times": TIMES, "objective": "flow_time"}),
    "colours": ("graph_colouring", {"edges": FEW_EDGES, "colours": 3}),
    "one colour": ("graph_colouring", {"edges": FEW_EDGES, "colours": 1}),
    "bins": ("bin_packing", {"sizes": [7, 5, 4, 4, 3, 2], "capacity": 9, "bins": 4}),
}


def model(case: str) -> Model:
    name, arguments = CASES[case]
    return getattr(islands.models, name)(**arguments)


def solutions(case: str, size: int) -> Any:
    """Return all solutions of a small model."""
    _, arguments = CASES[case]
    if "times" in arguments:
        return np.array([*permutations(range(size))])
    if classes := arguments.get("colours", arguments.get("bins")):
        return np.array([*product(range(classes), repeat=size)])
    if chosen := arguments.get("p", arguments.get("size")):
        return np.array(
            [[i in few for i in range(size)] for few in combinations(range(size), chosen)], int
        )
    return np.array([*product((0, 1), repeat=size)])


@pytest.mark.parametrize("case", CASES)
def test_costs_and_the_best_are_those_of_all_solutions(backend: Backend, case: str) -> None:
    name, arguments = CASES[case]
    problem = model(case)
    every = solutions(case, problem.size)
    plain = [float(COSTS[name](each, **arguments)) for each in every.tolist()]
    assert problem.costs(every).tolist() == pytest.approx(plain, rel=1e-12)
    assert problem.program_costs(every, backend.name).tolist() == pytest.approx(plain, rel=1e-12)
    options = {"algorithm": "tempering", "generations": 60, "seed": 1}
    result = islands.solve(problem, **options, backend=backend.name)
    best = max(plain) if problem.maximise else min(plain)
    own = COSTS[name](np.asarray(result.solution).tolist(), **arguments)
    assert (result.cost, float(own)) == pytest.approx((best, best), rel=1e-12)
    assert name != "qubo" or isinstance(result.cost, float if case == "reals" else int)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_states_agree_with_costs(case: str) -> None:
    checked = str(islands.check_problem(model(case), samples=60))
    assert re.search(r"\b(\d+) of \1 moves agree with costs", checked)


FILES = [
    ("colouring", "c a comment\np edge 4 3\ne 1 2\ne 2 3\ne 3 1\n", [0, 1, 2], 3),
    ("setcover", "2 3\n5 6 7\n2 1 2\n1 3\n", [1, 0, 1], 12),  # by rows
    ("setcover", "2 3\n5 1 1\n6 1 1\n7 1 2\n", [1, 1, 0], 5 + 6 + 7 + 1),  # by columns
    ("setcover", "2 3\n9 9 9 9\n2 1 2\n1 3\n", [1, 1, 0], 1 + 1 + 1 + 1),  # unicost
    ("maxcut", "4 3\n1 2 5\n2 3 -1\n1 4 2\n", [1, 0, 0, 0], 7),
    ("maxcut", "4 2\n1 2 5\n2 3 -1\n", [1, 0, 0, 1], 5),  # the last node has no edges
    ("qubo", "3 4\n1 1 -5\n1 2 3\n2 3 4\n3 3 -7\n", [1, 0, 1], -5 - 7),
    ("qubo", "c one\np qubo 0 4 1 2\n1 1 -5\n0 1 3\nc two\n2 1 4\n", [0, 1, 1, 0], -5 + 4),
    ("bqp", "1\n2 2\n1 1 -5\n1 2 3\n", [1, 1], -5 + 2 * 3),
    ("bqp", "2 2\n1 1 -5\n1 2 3\n", [1, 0], -5),
    ("flowshop", ":\n 3 2 1 9 9\nprocessing times :\n 3 1 2\n 2 4 1\n", [1, 0, 2], 8),
    ("jobshop", "# two jobs\n2 2\n0 3 1 2\n1 4 0 1\n", [0, 1, 2, 3], 3 + 2 + 4 + 1),
    ("jobshop", "# two jobs\n2 2\n0 3 1 2\n1 4 0 1\n", [0, 2, 1, 3], 6),
    ("flexiblejobshop", "1 2\n2 1 0 5 1 1 6\n", [0, 1], 11),  # machines from 0, without a mean
    ("pmedian", "4 4 1\n1 2 3\n2 3 4\n3 4 1\n1 2 2\n", [0, 1, 0, 0], 2 + 4 + 5),
    ("diversity", "3 2\n0 1 1.5\n0 2 4\n1 2 2\n", [1, 0, 1], 4),
    ("binpacking", "3\n10\n6\n5\n4\n", [0, 1, 0], 2),
]


@pytest.mark.parametrize(("form", "text", "solution", "cost"), FILES)
def test_a_file_is_read(form: str, text: str, solution: Any, cost: int, tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text(text)
    assert islands.load(path, form).cost(np.array(solution)) == cost


ARGUMENTS = {
    "GraphColouring": ("edges",),
    "SetCover": ("prices", "rows"),
    "MaxCut": ("edges", "weights"),
    "Qubo": ("matrix",),
    "FlowShop": ("times",),
    "JobShop": ("machines", "times"),
    "FlexibleJobShop": ("machines", "times"),
    "PMedian": ("distances", "p"),
    "MaxDiversity": ("distances", "chosen"),
    "BinPacking": ("sizes", "capacity", "bins"),
}


@pytest.mark.parametrize(("form", "text"), [case[:2] for case in FILES])
def test_problems_of_files_have_the_arguments_of_classes(
    form: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "small.txt"
    path.write_text(text)
    problem: Any = islands.load(path, form)
    kind = type(problem)
    given: dict[str, Any] = {}
    if kind is islands.models.MaxCut:
        given["nodes"] = problem.size
    if kind is islands.models.Qubo:
        given["maximise"] = problem.maximise
    again = kind(*(getattr(problem, name) for name in ARGUMENTS[kind.__name__]), **given)
    assert again.header == problem.header
    for mine, other in zip(again.arrays(), problem.arrays(), strict=True):
        np.testing.assert_array_equal(mine, other)


CLASSES = {
    "qubo": "Qubo",
    "max_cut": "MaxCut",
    "set_cover": "SetCover",
    "p_median": "PMedian",
    "max_diversity": "MaxDiversity",
    "flow_shop": "FlowShop",
    "graph_colouring": "GraphColouring",
    "bin_packing": "BinPacking",
}


@pytest.mark.parametrize("case", CASES)
def test_a_function_returns_an_object_of_its_class(case: str) -> None:
    assert type(model(case)) is getattr(islands.models, CLASSES[CASES[case][0]])


def test_the_data_of_a_model_are_its_fields() -> None:
    def fields(case: str, *names: str) -> list[Any]:
        found = [getattr(model(case), name) for name in names]
        return [each.tolist() if isinstance(each, np.ndarray) else each for each in found]

    assert fields("weighted cut", "weights") == [[*WEIGHTS, 7]]
    assert fields("medians", "distances", "p") == [WAYS.tolist(), 4]
    assert fields("diversity", "distances", "chosen") == [WAYS.tolist(), 4]
    assert fields("flow time", "times", "objective") == [TIMES, "flow_time"]
    assert fields("colours", "colours", "counts") == [3, False]
    assert fields("bins", "sizes", "capacity", "bins") == [[7, 5, 4, 4, 3, 2], 9, 4]
    assert fields("unicost", "prices") == [[1] * 12]
    assert (model("integers").matrix.toarray() == CASES["integers"][1]["q"]).all()


@pytest.mark.parametrize(
    ("q", "n", "best"),
    [
        ({(0, 1): 2, (1, 1): -3, (0, 0): -1}, 2, -3),
        ({(1, 0): -4, (0, 1): 2}, 2, -2),
        (((-1, 5), (0, -2)), 2, -2),  # not values and places, as SciPy reads a tuple
        (np.array([[7, 1], [1, 200]], np.uint64), 2, 0),
        (coo_array((np.array([200, 100], np.uint8), ([0, 0], [0, 0])), shape=(1, 1)), 1, 0),
        ([[1e30, -3e30], [0, 1e30]], 2, -1e30),
    ],
)
def test_all_forms_of_a_matrix_have_its_costs(q: Any, n: int, best: float) -> None:
    problem = islands.qubo(q)
    every = np.array(list(product((0, 1), repeat=n)))
    if isinstance(q, dict):
        entries = [(i, j, value) for (i, j), value in q.items()]
    elif isinstance(q, coo_array):
        entries = [(0, 0, 300)]
    else:
        entries = [(i, j, int(q[i][j])) for i in range(n) for j in range(n)]
    values = [sum(int(v) * x[i] * x[j] for i, j, v in entries) for x in every.tolist()]
    assert problem.program_costs(every, "cpu").tolist() == pytest.approx(values, rel=1e-12)
    assert problem.costs(every).tolist() == pytest.approx(values, rel=1e-12)
    assert min(values) == pytest.approx(best)
