"""Calls of the functions that make problems, with wrong arguments.

Each call raises an `IslandsError`, or makes a problem whose costs are those of plain Python
numbers of any size. The arguments depend only on the number of the call.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from fuzz_cases import Fault
from plain_costs import COSTS, chosen_of
from scipy.sparse import coo_array, csr_matrix

import islands
from islands.errors import IslandsError

TOLERANCE = 1e-9


class _Raising:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


class _Unsized:
    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __getitem__(self, index: int) -> Any:
        raise RuntimeError("no item")


class _UnsizedList(list[Any]):
    def __len__(self) -> int:
        raise RuntimeError("no length")


def _each(batch: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes all problems of a batch, not only those asked for."""
    return lambda **arguments: [*batch(**arguments)]


def _total(solution: Any) -> Any:
    return int(solution.sum())


def _totals(solutions: Any) -> Any:
    return solutions.sum(axis=1)


_SQUARE = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
_CUDA = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"
_OWN: dict[str, Any] = {"maximise": True, "name": "own", "best_known": 3, "price": "adaptive"}
MODELS = islands.models
_TRIANGLE = [[0, 1], [1, 2], [2, 0], [1, 0]]
_PLACES = [[0, 0], [3, 0], [0, 4.5]]
_DATES = {"release": [0, 2], "due": [3, 4], "weights": [2, 1], "objective": "tardiness"}
_ITEMS = {"profits": [6, 5, 9], "weights": [[2, 3, 4], [1, 1, 5]], "capacities": [7, 6]}
_NAMED = {"name": "a", "best_known": 4}
CALLS: dict[str, tuple[Callable[..., Any], tuple[dict[str, Any], ...]]] = {
    "qubo": (MODELS.qubo, (
        {"q": [[-2, 3], [0, -1]], "maximise": True, **_NAMED},
        {"q": {(0, 1): 2, (1, 1): -3}},
        {"q": coo_array(([5, -1], ([0, 1], [1, 1])), shape=(2, 2))},
        {"q": [[0.5, 1.5], [-2.5, 1e3]]},
    )),
    "max_cut": (MODELS.max_cut, ({"edges": _TRIANGLE, "weights": [3, -1, 4, 1], "name": "a"},)),
    "max_diversity": (MODELS.max_diversity, (
        {"distances": [[0, 1.5, 5], [1.5, 0, 2], [5, 2, 0]], "size": 2, "name": "a"},
    )),
    "p_median": (MODELS.p_median, ({"distances": [[0, 3, 9], [3, 0, 7]], "p": 2, "name": "a"},)),
    "set_cover": (MODELS.set_cover, (
        {"costs": [3, 2, 2], "rows": [[0, 1], [0, 2], [0]], "name": "a"},
    )),
    "bin_packing": (MODELS.bin_packing, (
        {"sizes": [5, 4, 3, 2, 6], "capacity": 10, "bins": 4, "name": "a"},
    )),
    "graph_colouring": (MODELS.graph_colouring, ({"edges": _TRIANGLE, "colours": 2, "name": "a"},)),
    "flow_shop": (MODELS.flow_shop, (
        {"times": [[3, 2], [1, 4], [2, 1]], "objective": "flow_time", "name": "a"},
    )),
    "job_shop": (MODELS.job_shop, (
        {"machines": [[0, 1], [1, 0]], "times": [[3, 2], [4, 1]], "name": "a"},
        {"machines": [[0, [0, 1]], [1]], "times": [[3, [2, 5]], [4]], "best_known": 4, **_DATES},
    )),
    "tsp": (islands.tsp, (
        {"distances": _SQUARE, **_NAMED}, {"coordinates": _PLACES, "metric": "EUC_2D"},
    )),
    "qap": (islands.qap, (
        {"flows": _SQUARE, "distances": [[0, 2, 9], [1, 0, 3], [9, 3, 0]], "name": "a"},
        {"flows": _SQUARE, "distances": _SQUARE, "linear": [[1, 2, 3]] * 3, "best_known": 9},
    )),
    "mkp": (islands.mkp, ({**_ITEMS, **_NAMED},)),
    "tsp_batch": (_each(islands.tsp_batch), (
        {"coordinates": [_PLACES] * 2, "metric": "EUC_2D"}, {"distances": [_SQUARE, _SQUARE]},
    )),
    "qap_batch": (_each(islands.qap_batch), ({"flows": [_SQUARE] * 2, "distances": _SQUARE},)),
    "mkp_batch": (_each(islands.mkp_batch), (
        {"profits": [6, 5, 9], "weights": [[2, 3, 4]], "capacities": [[5], [6]]},
    )),
    "permutation": (islands.permutation, (
        {"n": 5, "function": _total, "before": [(0, 1), (0, 2)], "parts": 2, **_OWN},
        {"n": 4, "cost": _CUDA, "data": {"a": [1, 2], "b": 3.5}, "cooperative": False},
    )),
    "subset": (islands.subset, ({"n": 5, "batch": _totals, "choose": (1, 3), **_OWN},)),
    "keys": (islands.keys, ({"n": 5, "batch": _totals, "reference": _totals, **_OWN},)),
    "real": (islands.real, ({"low": [-1, 0.5], "high": 2, "n": 2, "batch": _totals, **_OWN},)),
}  # fmt: skip
"""The functions, each with valid arguments."""

SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 0.5, 1.5, 3.0, -0.0, 1e30, 1e308, 5e-324),
    *(2**31, 2**31 - 1, 2**53 + 1, 2**59, 2**60, 2**61, 2**62, 2**63 - 1, 2**63, 2**64),
    *(-(2**31), -(2**62), -(2**63), 10**400, -(10**400), 2**70 + 1),
    *(float("nan"), float("inf"), float("-inf"), 1j, complex("nan")),
    *("", "3", "abc", "1" * 5000, "\0\x1b", "tardiness", "cost.cu", _CUDA, b"12", bytearray(b"1")),
    *(Decimal(2), Decimal("nan"), Fraction(1, 3), Ellipsis, NotImplemented, int, _total, slice(3)),
    *(np.uint8(255), np.int64(-1), np.uint64(2**63), np.float16(2), np.longdouble(2), np.bool_(1)),
    *(np.str_("3"), np.datetime64("2026-01-01"), np.timedelta64(3), np.ma.masked, np.array(5)),
    np.timedelta64(3, "s"),
)
"""Values that may take the place of an argument or of one of its numbers."""


def _self_containing() -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


WHOLES: tuple[Callable[[], Any], ...] = (
    *(list, lambda: [[]], lambda: [[], []], lambda: (), dict, lambda: set()),
    *(lambda: {1, 2}, lambda: {"a": 1}, lambda: {(0, 1): 2}, lambda: {(0, 1): None}),
    *(lambda: {(0, 5): 2}, lambda: {(-1, 0): 2}, lambda: {(0, 1, 2): 3}, lambda: {0: 1}),
    *(lambda: range(3), lambda: (k for k in [0, 1]), lambda: iter([1]), lambda: map(int, "12")),
    *(_Unsized, lambda: _UnsizedList([1]), lambda: [_Unsized()], lambda: np.array([[True, False]])),
    *(object, _Raising, _self_containing, lambda: memoryview(b"12"), lambda: [_Raising()]),
    *(lambda: [[0, 1], [1]], lambda: [[0, [1]], [1, 0]], lambda: [[0, 1], 2], lambda: ["01", "10"]),
    *(lambda: [["0", "1"]], lambda: [[b"0"]], lambda: [None, None], lambda: [{0}, {1}]),
    *(lambda: np.zeros((0, 2)), lambda: np.zeros((2, 2, 2)), lambda: np.zeros((2, 2))),
    *(lambda: np.array([["1", "2"]]), lambda: np.array([1, None], object)),
    *(lambda: np.array([[2**63, 1], [1, 0]], np.uint64), lambda: np.array([[0, 255]], np.uint8)),
    *(lambda: np.array([(1, 2)], [("a", int), ("b", int)]), lambda: np.array([[1, 2j]])),
    *(lambda: np.array([[0, 1], [1]], object), lambda: np.ma.masked_array([3, 4], [0, 1])),
    *(lambda: np.ma.masked_array([[0, 1], [1, 0]], [[0, 1], [0, 0]]), lambda: [np.ma.masked, 1]),
    *(lambda: csr_matrix((2, 2)), lambda: coo_array(([1j], ([0], [0])), shape=(2, 2))),
    *(lambda: coo_array((np.array([200, 100], np.uint8), ([0, 0], [0, 0])), shape=(1, 1)),),
    *(lambda: coo_array((2, 3)), lambda: np.array([np.nan, 1.0])),
)
"""Functions that make values that may take the place of an argument."""
TYPES = (np.int8, np.uint8, np.uint64, np.float16, np.float32, np.longdouble, bool, object, str)


def _lists(value: Any, depth: int = 3) -> Any:
    """Return a copy of nested lists."""
    is_list = isinstance(value, list | tuple) and depth
    return [_lists(each, depth - 1) for each in value] if is_list else value


def _damaged(value: Any, draw: random.Random) -> Any:
    """Return a value with a change inside, or another one."""
    if draw.random() < 0.3 or not isinstance(value, list):
        return draw.choice(SCALARS) if draw.random() < 0.5 else draw.choice(WHOLES)()
    kind = draw.randrange(5)
    if kind == 0:
        return _as_array(value, draw)
    inside = changed = _lists(value)
    while inside and isinstance(inside[0], list) and draw.random() < 0.8:
        inside = draw.choice([each for each in inside if isinstance(each, list)])
    place = draw.randrange(len(inside) or 1)
    if kind == 1:
        del inside[place : place + 1]
    elif kind == 2:
        inside.insert(place, draw.choice(SCALARS) if draw.random() < 0.5 else draw.choice(WHOLES)())
    else:
        inside[place : place + 1] = [draw.choice(SCALARS)]
    return tuple(changed) if draw.random() < 0.2 else changed


def _as_array(value: Any, draw: random.Random) -> Any:
    try:
        array = np.array(value, draw.choice(TYPES))
    except Exception:  # such as of lists of different lengths
        return value
    if draw.random() < 0.3:
        mask = np.zeros(array.shape, bool)
        mask.flat[:1] = draw.random() < 0.7
        return np.ma.masked_array(array, mask)
    return draw.choice((array, array.T, array[np.newaxis], array[:0], array.astype(object)))


@dataclass(frozen=True)
class Call:
    """A call with arguments, some of which are wrong."""

    number: int
    name: str
    arguments: dict[str, Any]

    @classmethod
    def of(cls, number: int) -> Call:
        draw = random.Random(number)
        name = draw.choice([*CALLS])
        arguments = dict(draw.choice(CALLS[name][1]))
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            key = draw.choice([*arguments])
            arguments[key] = _damaged(arguments[key], draw)
        if draw.random() < 0.1:
            del arguments[draw.choice([*arguments])]
        if draw.random() < 0.05:
            arguments[draw.choice(("maximize", "nosuch", "weight"))] = 1
        return cls(number, name, arguments)

    def fault(self) -> str:
        """Return what is wrong with what the call does, if anything."""
        make = CALLS[self.name][0]
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                problem = make(**self.arguments)
            except IslandsError as error:
                return "" if str(error).isprintable() else f"an error of lines: {str(error)!r}"
            except Exception as error:
                return f"{type(error).__name__}: {error}"
            try:
                return self._wrong_cost(problem)
            except Exception as error:
                return f"{type(error).__name__} of its costs: {error}"

    def _wrong_cost(self, problem: Any) -> str:
        """Return how the cost of a random solution differs from that of plain numbers."""
        if self.name not in COSTS or problem.size > 100:
            return ""
        solution = chosen_of(self.name, self.arguments, problem.size, self.number)
        wanted = COSTS[self.name](solution, **self.arguments)
        if wanted is None:
            return ""
        (cost,) = problem.costs(np.array([solution])).tolist()
        scale = max(1, abs(wanted)) if isinstance(cost, float) else 0
        return "" if abs(cost - wanted) <= TOLERANCE * scale else f"costs {cost}, not {wanted}"


def call_faults(calls: range) -> Iterator[Fault]:
    for number in calls:
        call = Call.of(number)
        if what := call.fault():
            arguments = ", ".join(f"{name}={value!r:.60}" for name, value in call.arguments.items())
            yield Fault(f"{call.name}({arguments})", number, what)
