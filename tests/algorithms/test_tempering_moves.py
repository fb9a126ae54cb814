"""Tempering of users' own problems compared with plain Python, and by Python functions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from moving_problems import BOWL, BOWL_STATE, CHOICE, CHOICE_STATE, ROUTE, TABLE, N, bowl, problem
from numpy.typing import NDArray
from numpy_chains import NumpyChains
from numpy_islands import evolve_together
from numpy_tempering import assert_same_numbers, ladders

import islands
from islands.algorithms.tempering import TemperingSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.modelling.model import Model

ENCODINGS = {"order": "permutation", "subset": "bits", "keys": "keys", "vector": "vector"}


def numbers(costs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the real costs that integers stand for on the device: negative ones in reverse."""
    return np.where(costs < 0, costs ^ (2**63 - 1), costs).view(np.float64)


def chains(
    backend: Backend, model: Model, settings: TemperingSettings, way: str = "none"
) -> Archipelago:
    return ladders(backend, model, settings, ENCODINGS[model.solution_kind], way={"topology": way})


def both(backend: Backend, kind: str, **settings: Any) -> tuple[Archipelago, NumpyChains]:
    """Return the same run on a device and in Python."""
    model, cost, moves = problem(kind)
    own = TemperingSettings.build({"rungs": 2, "proposals": 60, "patience": 4, **settings})
    mine = chains(backend, model, own)
    is_given = own.coldest > 0
    reference = NumpyChains(
        cost, model.solution_kind, N, islands=2, population=4, seed=5, rungs=own.rungs,
        proposals=own.proposals, patience=own.patience, tuning=0 if is_given else own.tuning,
        cycle=own.cycle, low=own.coldest or 1e-6, high=own.hottest or 1.0,
        renewed=range(own.rungs // 2, own.rungs), moves=moves,
    )  # fmt: skip
    mine.start()
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyChains, model: Model) -> None:
    saved = mine.snapshot()
    if model.scale.real:
        saved |= {name: numbers(saved[name].reshape(-1)) for name in ("cost", "energy")}
    rows = assert_same_numbers(saved, reference, "cost", "energy")
    for name, states in {"genes": [r.best for r in rows], "state": [r.order for r in rows]}.items():
        genes = saved[name].reshape(len(rows), -1)
        if model.solution_kind == "subset":
            bits = [[int(word[0]) >> i & 1 for i in range(N)] for word in genes]
            assert bits == [list(each) for each in states]
        else:
            assert genes[:, :N].tolist() == [list(each) for each in states]


WHOLE = ["cooperative", "repaired choice", "repaired order"]
STATES = ["state of choice", "state of places"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cycle"),
    [
        *((kind, 2) for kind in ("order", "delta", "subset", "keys", "vector", *STATES, *WHOLE)),
        *((kind, 0) for kind in ("order", "subset", "keys", STATES[0])),
    ],
)
def test_all_kinds_of_solutions_equal_plain_python(backend: Backend, kind: str, cycle: int) -> None:
    mine, reference = both(backend, kind, tuning=5, cycle=cycle, patience=2)
    model = problem(kind)[0]
    evolve_together(mine, reference, 16, partial(assert_same, model=model))
    assert reference.kinds["accepted"] > 20
    assert reference.kinds["renewed"] > 0 or kind in ("keys", "vector")
    assert (reference.kinds["heated"] > 0) == (cycle > 0)
    if kind == "order":
        assert all(reference.kinds[f"move {move}"] > 20 for move in range(4))


def test_given_temperatures_are_kept(backend: Backend) -> None:
    mine, reference = both(backend, "order", coldest=0.01, hottest=0.3)
    same = partial(assert_same, model=problem("order")[0])
    evolve_together(mine, reference, 6, same)
    assert reference.kinds["exchanged"] > 0


@pytest.mark.slow
def test_each_replica_has_the_cost_of_a_whole_evaluation(backend: Backend) -> None:
    model = islands.keys(N, cost=BOWL, state=BOWL_STATE, data={"t": TABLE})
    mine = chains(backend, model, TemperingSettings.build({"rungs": 2, "proposals": 60}))
    mine.start()
    for _ in range(8):
        mine.advance(1)
        saved = mine.snapshot()
        for name, genes in (("cost", "genes"), ("energy", "state")):
            rows = saved[genes].reshape(-1, saved[genes].shape[-1])[:, :N]
            assert numbers(saved[name].reshape(-1)).tolist() == [*map(bowl(), rows.tolist())]


@pytest.mark.slow
def test_moves_to_infinite_costs_do_not_heat(backend: Backend) -> None:
    own = TemperingSettings.build({"rungs": 2, "proposals": 60})
    small = BOWL.replace("return sum;", "return sum / 1000;")
    walls = small.replace("double sum = 0;", "double sum = s[0] < 0.5f ? 0 : INFINITY;")
    mine, free = (
        chains(backend, islands.keys(N, cost=each, data={"t": TABLE}), own)
        for each in (walls, small)
    )
    hottest = []
    for each in (mine, free):
        each.start()
        each.advance(3)
        hottest.append(each.snapshot()["temperature"][0].max())  # some begin with finite costs
    assert 0 < hottest[0] < 10 * hottest[1]


def test_a_state_whose_functions_take_different_moves_is_rejected() -> None:
    half = CHOICE_STATE.replace(
        "void apply(State& state, const Solution& s, int n, const Data& data, Exchange",
        "void other(State& state, const Solution& s, int n, const Data& data, Exchange",
    )
    with pytest.raises(UsageError, match=r"takes Flip and Exchange, and apply Flip\. Define"):
        islands.subset(N, cost=CHOICE, state=half, data={"t": TABLE})


OWN = TemperingSettings.build({"rungs": 2, "proposals": 60, "tuning": 4, "cycle": 3, "patience": 3})


Rows = NDArray[Any]


def route(orders: Rows) -> Rows:
    following = np.roll(orders, -1, axis=1)
    return (TABLE[orders, following] * (1 + np.arange(N) % 3)).sum(axis=1, dtype=np.int64)


def choice(subsets: Rows) -> Rows:
    chosen = subsets.astype(np.int64)
    return np.asarray(((chosen @ (TABLE.astype(np.int64) - 50)) * chosen).sum(axis=1))


def bowls(vectors: Rows) -> Rows:
    total = np.zeros(len(vectors))
    for i in range(N):  # the sum in the order of the code in CUDA
        away = vectors[:, i].astype(np.float64) - TABLE[0, i] / 128.0
        total += away * away * (1 + i)
    return total


FORMS: dict[str, tuple[Callable[..., Model], str, Callable[[Rows], Rows]]] = {
    "order": (lambda **own: islands.permutation(N, **own), ROUTE, route),
    "subset": (lambda **own: islands.subset(N, **own), CHOICE, choice),
    "keys": (lambda **own: islands.keys(N, **own), BOWL, bowls),
    "vector": (lambda **own: islands.real(-2.0, 2.0, N, **own), BOWL, bowls),
}


def in_python(kind: str, form: str = "batch") -> Model:
    make, _, costs = FORMS[kind]
    if form == "batch":
        return make(batch=costs)
    return make(function=lambda solution: costs(solution[np.newaxis])[0].item())


@pytest.mark.parametrize(
    "kind",
    [
        "order",
        "subset",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("keys", "vector")),
    ],
)
def test_all_forms_of_a_cost_give_the_same_run(kind: str) -> None:
    make, text, costs = FORMS[kind]
    options: dict[str, Any] = {
        "algorithm": "tempering", "islands": 2, "population": 4, "rungs": 2, "proposals": 70,
        "cycle": 4, "patience": 3, "tuning": 4, "seed": 7, "backend": "cpu",
        "stop": "generations=25", "migration.interval": 5,
    }  # fmt: skip
    text_run = islands.solve(make(cost=text, data={"t": TABLE}), **options)
    batch = islands.solve(in_python(kind, "batch"), **options)
    # Moves after an accepted one are evaluated, too.
    assert text_run.evaluations < batch.evaluations < 3 * text_run.evaluations
    calls = 0

    def counted(solution: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        return costs(solution[np.newaxis])[0].item()

    called = islands.solve(make(function=counted), **options, threads=1)
    # Numbers that are at a bound may stay there, which is not a call.
    assert 0.99 * text_run.evaluations < called.evaluations <= text_run.evaluations
    assert called.evaluations == calls - 2  # that of a trial solution, and that of the result
    for found in (batch, called):
        assert (found.digest, found.cost) == (text_run.digest, text_run.cost)


@pytest.mark.parametrize("descent", [0, 3])
@pytest.mark.parametrize("kind", ["order", "subset"])
def test_replicas_that_descend_are_the_same(kind: str, descent: int) -> None:
    make, text, _ = FORMS[kind]
    own = OWN.replace({"descent": descent, "cycle": 0, "rungs": 4, "proposals": 33})
    models = (make(cost=text, data={"t": TABLE}), in_python(kind))
    runs = [chains(choose("cpu", 1), each, own, "ring") for each in models]
    for mine in runs:
        mine.start()
        for _ in range(4):
            mine.advance(6)
            mine.migrate()
    assert runs[0].digests() == runs[1].digests()


def test_an_abandoned_generation_leaves_no_trace() -> None:
    calls, stops_at = 0, -1

    def counted(orders: Rows) -> Rows:
        nonlocal calls
        calls += 1
        if calls == stops_at:
            halted.abandon()
        return route(orders)

    whole = chains(choose("cpu", 1), in_python("order"), OWN)
    halted = chains(choose("cpu", 1), islands.permutation(N, batch=counted), OWN)
    for mine in (whole, halted):
        mine.start()
        assert mine.attempt(4)
    stops_at = calls + 2  # within the rounds of the next generation
    assert not halted.attempt(1)
    assert calls == stops_at
    halted.undo()
    assert halted.digests() == whole.digests()
    for mine in (whole, halted):
        assert mine.attempt(3)
    assert halted.digests() == whole.digests()
