"""Functions with SciPy's interface behave as SciPy documents, and as its own functions."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import NonlinearConstraint

import islands
from islands.scipy import differential_evolution, quadratic_assignment

BOX = [(0.0, 2.0)] * 3


class Counting:
    """Rosenbrock's function, which counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return optimize.rosen(x)


@pytest.mark.parametrize("given", [{"maxiter": 7, "popsize": 5}, {"maxiter": 0}, {"popsize": 1}])
def test_no_more_vectors_are_evaluated_than_scipy_would(given: dict[str, Any]) -> None:
    function = Counting()
    found = differential_evolution(function, BOX, polish=False, tol=0, rng=3, **given)
    most = (given.get("maxiter", 1000) + 1) * max(5, given.get("popsize", 15) * 3)
    assert function.calls == found.nfev <= most
    assert found.nit <= given.get("maxiter", 1000)
    assert found.fun == optimize.rosen(found.x)
    assert found.population.shape == (max(5, given.get("popsize", 15) * 3), 3)
    assert found.fun == found.population_energies.min() == found.population_energies[0]


def test_the_minimum_is_found_and_the_same_seed_repeats_it() -> None:
    first, second = (differential_evolution(optimize.rosen, BOX, rng=4) for _ in range(2))
    assert first.success
    assert first.x == pytest.approx(np.ones(3), abs=1e-4)
    assert first.seed == second.seed == 4
    assert first.digest == second.digest != ""
    assert first.x.tolist() == second.x.tolist()
    assert differential_evolution(optimize.rosen, BOX, rng=5, maxiter=2).digest != first.digest


def test_integers_constraints_and_arguments_have_the_meaning_of_scipy() -> None:
    def function(x: Any, shift: float) -> float:
        return float((x[0] - 2.4) ** 2 + (x[1] - shift) ** 2)

    limit = optimize.LinearConstraint([[1, 1]], -np.inf, 3)
    bounds = [(-5, 5), (-5, 5)]
    found = differential_evolution(
        function, bounds, args=(3.0,), integrality=[True, False], constraints=limit, rng=1
    )
    by_scipy = optimize.differential_evolution(
        function, bounds, args=(3.0,), integrality=[True, False], constraints=limit, rng=1
    )
    assert found.x[0] == by_scipy.x[0] == np.round(found.x[0])
    assert found.fun == pytest.approx(by_scipy.fun, abs=1e-2)
    assert found.maxcv == 0
    nothing = optimize.NonlinearConstraint(lambda x: x[0] ** 2, -2, -1)
    failed = differential_evolution(function, bounds, (3.0,), constraints=nothing, maxiter=5, rng=1)
    assert not failed.success
    assert "MAXCV = 1" in failed.message


def test_many_vectors_processes_and_maps_give_the_same_values() -> None:
    given: dict[str, Any] = {"maxiter": 5, "rng": 2, "polish": False, "updating": "deferred"}
    plain = differential_evolution(optimize.rosen, BOX, **given)
    shapes = []

    def together(x: Any) -> Any:
        shapes.append(x.shape)
        return optimize.rosen(x)

    at_once = differential_evolution(together, BOX, vectorized=True, **given)
    mapped = differential_evolution(optimize.rosen, BOX, workers=map, **given)
    assert plain.x.tolist() == at_once.x.tolist() == mapped.x.tolist()
    assert shapes[-1] == (3, 45)
    assert at_once.nfev == len(shapes)


def test_the_callback_sees_each_generation_and_ends_the_search() -> None:
    seen = []

    def watch(intermediate_result: Any) -> bool:
        seen.append(intermediate_result)
        return len(seen) == 3

    found = differential_evolution(optimize.rosen, BOX, callback=watch, polish=False, rng=1)
    assert found.message == "callback function requested stop early"
    assert [each.nit for each in seen] == [1, 2, 3]
    assert seen[-1].fun == found.fun
    assert not found.success


class Watching:
    """A callback that is an object."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, *, intermediate_result: Any) -> bool:
        self.seen.append(intermediate_result.nit)
        return len(self.seen) == 2


def test_callbacks_get_their_arguments_as_in_scipy() -> None:
    by_name = Watching()
    differential_evolution(optimize.rosen, BOX, callback=by_name, polish=False, rng=1)
    assert by_name.seen == [1, 2]
    by_place = []

    def watch(x: Any, anything: Any) -> bool:
        by_place.append((x.shape, anything))
        return True

    for function in (differential_evolution, optimize.differential_evolution):
        function(optimize.rosen, BOX, callback=watch, polish=False, rng=1)
    assert [shape for shape, _ in by_place] == [(3,), (3,)]
    assert all(each > 0 for _, each in by_place)


def test_results_have_the_types_of_scipy() -> None:
    limit = optimize.Bounds([0.5, -np.inf, -np.inf], [2, 2, 2])
    for polish in (True, False):
        found = differential_evolution(
            optimize.rosen, BOX, constraints=limit, polish=polish, maxiter=30, rng=1
        )
        assert isinstance(found.constr_violation, float)
        assert found.constr_violation == found.maxcv == 0
        assert isinstance(found.fun, np.float64)
        assert found.x[0] >= 0.5
    by_array = differential_evolution(
        optimize.rosen, BOX, mutation=np.array([0.3, 0.9]), maxiter=2, rng=1
    )
    assert by_array.nit == 2


def test_an_integer_may_begin_anywhere_within_its_bounds() -> None:
    given: dict[str, Any] = {"integrality": [True, False], "x0": [2.4, 0.5], "polish": False}
    found = differential_evolution(optimize.rosen, [(-0.6, 2.4), (0, 2)], maxiter=0, **given)
    assert found.population[0].tolist() == found.x.tolist()
    assert found.x[0] in (0, 1, 2)


def test_a_function_without_numbers_has_no_success() -> None:
    found = differential_evolution(lambda x: np.nan, BOX, maxiter=3, rng=1)
    assert np.isnan(found.fun)
    assert not found.success
    assert "NaN" in found.message


def test_first_vectors_and_fixed_variables() -> None:
    found = differential_evolution(optimize.rosen, [(1, 1), (1, 1)])
    assert (found.x.tolist(), found.fun) == ([1, 1], 0)
    start = np.linspace(0.5, 1.5, 24).reshape(6, 4)[:, :3]
    begun = differential_evolution(optimize.rosen, BOX, init=start, maxiter=0, polish=False)
    assert begun.fun == min(map(optimize.rosen, start))
    better = differential_evolution(optimize.rosen, BOX, x0=[1, 1, 1], maxiter=0, polish=False)
    assert better.fun == 0


WRONG: dict[str, tuple[type[Exception], dict[str, Any]]] = {
    "bounds should be a sequence": (ValueError, {"bounds": [(-3)]}),
    "finite real valued": (ValueError, {"bounds": [(0, np.inf)]}),
    "valid mutation strategy": (ValueError, {"strategy": "abc"}),
    "functions are not supported": (ValueError, {"strategy": len}),
    "mutation constant": (ValueError, {"mutation": 3}),
    "initialization method": (ValueError, {"init": "abc"}),
    "S > 4": (ValueError, {"init": np.zeros((2, 3))}),
    "x0 lay outside": (ValueError, {"x0": [3, 0, 0]}),
    "x0 are not finite": (ValueError, {"x0": [np.nan, 0, 0]}),
    "init are not finite": (ValueError, {"init": np.full((6, 3), np.nan)}),
    "greater than an upper bound": (ValueError, {"bounds": [(1, 0), (0, 1)]}),
    "recombination constant": (ValueError, {"recombination": 1.5}),
    "mutation constant must": (ValueError, {"mutation": "abc"}),
    "maxiter must be an integer": (TypeError, {"maxiter": 2.7}),
    "maxiter must be at least 0": (ValueError, {"maxiter": -1}),
    "popsize must be an integer": (TypeError, {"popsize": 2.5}),
    "multiple values": (TypeError, {"rng": 1, "seed": 1}),
    "Number of workers": (RuntimeError, {"workers": 0}),
    "Number of workers specified": (RuntimeError, {"workers": -2}),
    "return a scalar": (RuntimeError, {"func": lambda x: None}),
    "any possible integer": (ValueError, {"bounds": [(0.2, 0.8)], "integrality": True}),
    "unknown type": (ValueError, {"constraints": [3]}),
    "must return a scalar": (RuntimeError, {"func": lambda x: x}),
    "vectorized function must": (RuntimeError, {"func": lambda x: x.sum(), "vectorized": True}),
    "of the user": (KeyError, {"func": lambda x: {}["of the user"]}),
}


@pytest.mark.filterwarnings("ignore:differential_evolution")
@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_have_the_errors_of_scipy(message: str) -> None:
    kind, given = WRONG[message]
    with pytest.raises(kind, match=message):
        differential_evolution(**{"func": optimize.rosen, "bounds": BOX, **given})


def best_of_all(a: Any, b: Any, *, sign: int) -> float:
    from itertools import permutations

    orders = map(list, permutations(range(len(a))))
    return sign * min(sign * (a * b[np.ix_(p, p)]).sum() for p in orders)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("kind", ["whole", "real", "negative"])
def test_the_best_match_of_all_is_found(kind: str, maximize: bool) -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(-9 if kind == "negative" else 0, 10, (2, 6, 6))
    if kind == "real":
        a, b = random.normal(size=(2, 6, 6))
    found = quadratic_assignment(a, b, options={"maximize": maximize})
    assert sorted(found.col_ind) == [*range(6)]
    assert found.fun == pytest.approx((a * b[np.ix_(found.col_ind, found.col_ind)]).sum())
    assert found.fun == pytest.approx(best_of_all(a, b, sign=-1 if maximize else 1))
    assert found.digest
    assert found.nit > 0


def test_fixed_pairs_stay_and_the_rest_is_the_best_of_them() -> None:
    random = np.random.default_rng(4)
    a, b = random.integers(0, 10, (2, 6, 6))
    fixed = np.array([[0, 3], [4, 1]])
    found = quadratic_assignment(a, b, options={"partial_match": fixed})
    assert found.col_ind[fixed[:, 0]].tolist() == fixed[:, 1].tolist()
    by_scipy = optimize.quadratic_assignment(a, b, options={"partial_match": fixed})
    assert found.fun <= by_scipy.fun
    for pairs in (fixed.astype(float), fixed.tolist()):
        again = quadratic_assignment(a, b, options={"partial_match": pairs})
        assert again.col_ind.tolist() == found.col_ind.tolist()


def test_no_pairs_may_have_the_form_of_scipy() -> None:
    a, b = np.array([[0, 5], [1, 0]]), np.array([[0, 2], [7, 0]])
    for pairs in (np.array([[], []]).T, np.zeros((0, 2)), [], None):
        assert quadratic_assignment(a, b, options={"partial_match": pairs}).fun == 17


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("Unknown solver options: abc", {"abc": 1}),
        ("`time_limit` must be a positive number", {"time_limit": -1}),
        ("`partial_match` column entries must be unique", {"partial_match": [[0, 1], [0, 2]]}),
        ("entries must be less than number of nodes", {"partial_match": [[0, 9]]}),
        ("must contain only whole numbers", {"partial_match": [[0, 0.5]]}),
        ("must contain only whole numbers", {"partial_match": [[0, np.nan]]}),
        ("must contain only whole numbers", {"partial_match": [["0", "1"]]}),
    ],
)
def test_wrong_options_are_rejected(message: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=message):
        quadratic_assignment(np.eye(3), np.eye(3), options=options)
    with pytest.raises(ValueError, match="of equal size"):
        quadratic_assignment(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="real entries"):
        quadratic_assignment(np.eye(3) * 1j, np.eye(3))
    with pytest.raises(ValueError, match="must be in"):
        quadratic_assignment(np.eye(3), np.eye(3), method="abc")


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint64", "bool"])
def test_sums_of_small_integers_do_not_overflow(kind: str) -> None:
    most = 1 if kind == "bool" else np.iinfo(kind).max
    a = np.full((4, 4), most, kind)
    options = {"time_limit": np.float32(0.05)}
    found = quadratic_assignment(a, a, method="FAQ", options=options)
    assert int(found.fun) == 16 * int(most) ** 2


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("fixed", [0, 10])
def test_a_match_of_many_nodes_is_no_worse_than_that_of_faq(maximize: bool, fixed: int) -> None:
    random = np.random.default_rng(5)
    a, b = random.integers(0, 10, (2, 80, 80))
    pairs = np.column_stack([np.arange(fixed), random.permutation(80)[:fixed]])
    options = {"maximize": maximize, "partial_match": pairs}
    by_scipy = optimize.quadratic_assignment(a, b, options=options)
    found = quadratic_assignment(a, b, options={**options, "time_limit": 0.5})
    assert found.col_ind[:fixed].tolist() == pairs[:, 1].tolist()
    assert found.fun >= by_scipy.fun if maximize else found.fun <= by_scipy.fun


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("given", [{}, {"maximize": True}, {"partial_match": [[0, 1]]}])
def test_tiny_and_huge_entries_have_the_match_of_usual_ones(n: int, given: dict[str, Any]) -> None:
    random = np.random.default_rng(6)
    a, b = random.uniform(-1, 1, (2, n, n))
    for one, two in ((1023, -40), (-1000, 1015), (-1060, 0)):
        options = {**given, "time_limit": 20 if n == 5 else 0.2}  # few nodes end before
        scaled = np.ldexp(a, one), np.ldexp(b, two)
        found = quadratic_assignment(*scaled, options=options)
        assert np.isfinite(found.fun)
        value = (a * b[np.ix_(found.col_ind, found.col_ind)]).sum()
        if n == 5 and "partial_match" not in given:
            best = best_of_all(a, b, sign=-1 if "maximize" in given else 1)
            assert value == pytest.approx(best, rel=1e-3)
        by_scipy = optimize.quadratic_assignment(a, b, options=given).fun
        assert value >= by_scipy - 1e-3 if "maximize" in given else value <= by_scipy + 1e-3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [float, object])
def test_entries_whose_products_overflow_are_rejected(kind: Any) -> None:
    a = np.array([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]], kind)
    words = "entries of magnitude up to 1.7e\\+308 and 1, whose products .* Divide one of them"
    for pair in ((a, np.eye(2)), (np.pad(a, 30), np.eye(62))):
        with pytest.raises(ValueError, match=words):
            quadratic_assignment(*pair)
    with pytest.raises(ValueError, match="`B` must have finite entries"):
        quadratic_assignment(np.eye(2), [[10**400, 0], [0, 1]])


def test_large_whole_entries_of_a_matrix_are_scaled() -> None:
    a, b = np.array([[0, 2**33], [1, 0]]), np.array([[0, 1], [5, 0]])
    found = islands.scipy.quadratic_assignment(a, b, options={"time_limit": 0.2})
    assert found.fun == min((a * b[np.ix_(order, order)]).sum() for order in ([0, 1], [1, 0]))


def test_a_polish_satisfies_an_equation_up_to_rounding() -> None:
    calls = 0

    def function(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        return float((x[0] - 1) ** 2 + (x[1] - 0.2) ** 2)

    on_curve = NonlinearConstraint(lambda x: [x[0] * x[1]], 0.7, 0.7)
    found = differential_evolution(
        function, [(0, 2)] * 2, args=None, constraints=on_curve, maxiter=30, rng=1
    )
    first = np.linspace(0.4, 2, 200_001)
    exact = ((first - 1) ** 2 + (0.7 / first - 0.2) ** 2).min()
    assert found.fun == pytest.approx(exact, abs=1e-6)
    assert found.maxcv < 1e-8
    assert found.nfev == calls
