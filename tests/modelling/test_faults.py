"""Wrong costs and wrong repairs in CUDA end a run with one error, whichever individual has them."""

from typing import Any

import numpy as np
import pytest
from models_for_tests import cost_text, delta_text, repair_text

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.parallel import World
from islands.testing.ranks import on_ranks

pytestmark = pytest.mark.slow

N = 12
FIRST = cost_text("    return s[0];")
FEW: dict[str, Any] = {"stop": "generations=20", "seed": 1, "population": 16, "islands": 2}
KINDS = {int: "long long", float: "double"}


def error(problem: Any, backend: str, **more: Any) -> str:
    with pytest.raises(RunError) as raised:
        islands.solve(problem, algorithm="ga", backend=backend, **FEW | more)
    return str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "maximise", "message"),
    [
        (np.nan, False, "cost= returned NaN"),
        (-np.inf, False, "cost= returned -INFINITY"),
        (np.inf, True, "cost= returned INFINITY"),
        (2**62 + 1, False, f"cost= returned {2**62 + 1}"),
        (-(2**63), True, f"cost= returned {-(2**63)}"),
    ],
)
def test_a_wrong_cost_of_any_individual_is_an_error(
    backend: Backend, wrong: float, maximise: bool, message: str
) -> None:
    text = cost_text("    return s[0] == 3 ? data.wrong : s[0];", KINDS[type(wrong)])
    problem = islands.permutation(N, cost=text, maximise=maximise, data={"wrong": wrong})
    assert message in error(problem, backend.name)
    with pytest.raises(RunError) as raised:
        problem.program_costs(np.roll(np.arange(N), -3)[np.newaxis], backend.name)
    assert message in str(raised.value)


def test_a_wrong_cost_that_any_rank_of_a_team_finds_is_an_error() -> None:
    size, population = 3, 16
    wrong = "    return s[0] == data.first && s[1] == data.second ? (1LL << 62) + 1 : s[0];"
    text = cost_text(wrong)

    def one(ranks: World, last: tuple[int, int]) -> list[Any]:
        problem = islands.permutation(N, cost=text, data={"first": last[0], "second": last[1]})
        few = {"seed": 1, "population": population, "islands": 1, "backend": "cpu", "threads": 1}
        solver = islands.Solver(problem, world=ranks, algorithm="ga", **few)
        solver._archipelago.measure()
        solver.best()
        return solver.populations()[0].tolist()

    orders = on_ranks(1, lambda ranks: one(ranks, (N, N)))[0]
    begins = [(order[0], order[1]) for order in orders]
    found = list[int]()
    for slot in range(0, population, 3):  # made by different ranks
        if begins.count(begins[slot]) == 1:
            found.append(slot)
            with pytest.raises(RunError, match="integer costs must be from"):
                on_ranks(size, lambda ranks, slot=slot: one(ranks, begins[slot]))
    assert found[-1] >= population - population // size, "a slot of the last rank"


def test_nan_of_rejected_individuals_is_an_error(backend: Backend) -> None:
    # Generation 0 has no NaN, which is the cost of a child that no population accepts.
    body = "    return data.worst <= s[0] * 12 + s[1] ? NAN : -12.0 * s[0] - s[1];"
    plain = islands.permutation(N, cost=cost_text("return -12.0 * s[0] - s[1];", "double"))
    few = {name: FEW[name] for name in ("seed", "population", "islands")}
    first = islands.Solver(plain, algorithm="ga", backend=backend.name, **few).best(32)
    most = max(int(12 * best.solution[0] + best.solution[1]) for best in first)
    problem = islands.permutation(N, cost=cost_text(body, "double"), data={"worst": most + 1})
    assert "cost= returned NaN" in error(problem, backend.name)


@pytest.mark.parametrize("cost", [2**62, -(2**62), np.inf])
def test_the_largest_costs_are_allowed(backend: Backend, cost: float) -> None:
    text = cost_text("    return s[0] == 3 ? data.largest : s[0];", KINDS[type(cost)])
    problem = islands.permutation(N, cost=text, data={"largest": cost})
    result = islands.solve(problem, algorithm="ga", backend=backend.name, **FEW)
    assert result.cost == min(0, cost)


ENTRY = repair_text("if (data.copies) s.set(0, s[1]); else s.set(data.entry, data.value);")
REAL = cost_text("    return s[0];", "double")


def repaired(kind: str, entry: int, value: float | None) -> Any:
    """Return a problem whose repair sets an entry to a value, or the first one to the second."""
    data = {"copies": value is None, "entry": entry, "value": value or 0.0}
    make = {"permutation": islands.permutation, "subset": islands.subset, "keys": islands.keys}
    cost = FIRST if kind in ("permutation", "subset") else REAL
    own: dict[str, Any] = {"cost": cost, "repair": ENTRY, "data": data}
    return islands.real(1, 2, N, **own) if kind == "real" else make[kind](N, **own)


WRONG = [
    ("permutation", 0, None, "more than once"),
    ("permutation", 0, 12.0, "repair= set an entry to 12"),
    ("permutation", 0, -1.0, "repair= set an entry to -1"),
    ("permutation", N, 0.0, "repair= set entry 12"),
    ("permutation", -1, 0.0, "repair= set entry -1"),
    ("subset", 0, 2.0, "repair= set an entry to 2"),
    ("keys", 0, 0.99999999999, "repair= set an entry to 1"),
    ("keys", 0, np.nan, "repair= set an entry to nan"),
    ("real", 0, 0.0, "repair= set an entry to 0"),
    ("real", 0, 2.5, "repair= set an entry to 2.5"),
]


@pytest.mark.parametrize(("kind", "entry", "value", "message"), WRONG)
def test_a_wrong_repair_is_an_error_and_no_endless_loop(
    backend: Backend, kind: str, entry: int, value: float | None, message: str
) -> None:
    said = error(repaired(kind, entry, value), backend.name)
    assert message in said


@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_an_order_that_a_repair_breaks_reaches_no_operator(backend: Backend, encoding: str) -> None:
    # Local search, too, needs orders.
    body = "if (s[0] == 3) { for (int i = 0; i < n; ++i) s.set(i, 3); }"
    delta = delta_text("return move.u == 0 ? s[move.v] - s[0] : 0;")
    problem = islands.permutation(N, cost=FIRST, repair=repair_text(body), delta=delta)
    said = error(problem, backend.name, encoding=encoding, improver="swap")
    assert "contains item 3 more than once" in said
