"""Tempering whose moves Python functions evaluate compared with costs in CUDA, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from moving_problems import BOWL, CHOICE, ROUTE, TABLE, N
from numpy.typing import NDArray
from test_tempering_moves import OWN, chains

import islands
from islands.backends import choose
from islands.modelling.model import Model
from islands.parallel import World

Rows = NDArray[Any]


def route(orders: Rows) -> Rows:
    following = np.roll(orders, -1, axis=1)
    return (TABLE[orders, following] * (1 + np.arange(N) % 3)).sum(axis=1, dtype=np.int64)


def choice(subsets: Rows) -> Rows:
    chosen = subsets.astype(np.int64)
    return np.asarray(((chosen @ (TABLE.astype(np.int64) - 50)) * chosen).sum(axis=1))


def bowl(vectors: Rows) -> Rows:
    total = np.zeros(len(vectors))
    for i in range(N):  # the sum in the order of the code in CUDA
        away = vectors[:, i].astype(np.float64) - TABLE[0, i] / 128.0
        total += away * away * (1 + i)
    return total


FORMS: dict[str, tuple[Callable[..., Model], str, Callable[[Rows], Rows]]] = {
    "order": (lambda **own: islands.permutation(N, **own), ROUTE, route),
    "subset": (lambda **own: islands.subset(N, **own), CHOICE, choice),
    "keys": (lambda **own: islands.keys(N, **own), BOWL, bowl),
    "vector": (lambda **own: islands.real(-2.0, 2.0, N, **own), BOWL, bowl),
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
    make, text, _ = FORMS[kind]
    options: dict[str, Any] = {
        "algorithm": "tempering", "islands": 2, "population": 4, "rungs": 2, "proposals": 70,
        "cycle": 4, "patience": 3, "tuning": 4, "seed": 7, "backend": "cpu",
        "stop": "generations=25", "migration.interval": 5,
    }  # fmt: skip
    text_run = islands.solve(make(cost=text, data={"t": TABLE}), **options)
    for form in ("batch", "function"):
        found = islands.solve(in_python(kind, form), **options)
        assert found.digest == text_run.digest
        assert found.evaluations == text_run.evaluations
        assert found.cost == text_run.cost


@pytest.mark.parametrize("descent", [0, 3])
@pytest.mark.parametrize("kind", ["order", "subset"])
def test_replicas_that_descend_are_the_same(kind: str, descent: int) -> None:
    make, text, _ = FORMS[kind]
    own = OWN.replace({"descent": descent, "cycle": 0, "rungs": 4, "proposals": 33})
    models = (make(cost=text, data={"t": TABLE}), in_python(kind))
    runs = [chains(choose("cpu", 1), each, own, World(), "ring") for each in models]
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

    whole = chains(choose("cpu", 1), in_python("order"), OWN, World())
    halted = chains(choose("cpu", 1), islands.permutation(N, batch=counted), OWN, World())
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
