"""Tempering of sparse quadratic models, compared with plain Python."""

from typing import Any

import numpy as np
import pytest
from numpy_flips import NumpyFlips, sparse_pairs
from numpy_islands import evolve_together
from numpy_tempering import assert_same_numbers, ladders

import islands
from islands import models
from islands.algorithms.tempering import TemperingSettings
from islands.algorithms.tempering.algorithm import chains_of
from islands.algorithms.tempering.flips import FlipChains
from islands.algorithms.tempering.moves import MoveChains
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.modelling.model import Model, restored
from islands.testing.devices import emulated_gpu

N = 530  # with other numbers of words for runs of 4 and of 64 places
FEW: Any = {"generations": 25, "tuning": 4, "cycle": 6, "proposals": 1300, "population": 4}


def model(kind: str, n: int = N) -> Model:
    random = np.random.default_rng(2)
    pairs = sparse_pairs(n, 2 * n)
    weights = random.integers(-3, 4, len(pairs))
    if kind == "cut":
        return models.max_cut(pairs, weights, nodes=n)
    entries = {(i, i): int(w) for i, w in enumerate(random.integers(-5, 6, n))}
    entries |= {tuple(pair): int(w) for pair, w in zip(pairs.tolist(), 99 * weights, strict=True)}
    return islands.qubo(entries, maximise=True)


def assert_same(mine: Archipelago, reference: NumpyFlips) -> None:
    saved = mine.snapshot()
    rows = assert_same_numbers(saved, reference, "cost", "energy")
    for name, states in {"genes": [r.best for r in rows], "state": [r.order for r in rows]}.items():
        words = np.ascontiguousarray(saved[name].reshape(len(rows), -1))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :N]
        assert bits.tolist() == states


@pytest.mark.parametrize("kind", ["cut", "matrix"])
def test_a_device_follows_plain_python(kind: str) -> None:
    problem = model(kind)
    own = TemperingSettings.build(
        {"rungs": 2, "proposals": 700, "patience": 0, "tuning": 6, "cycle": 6}
    )
    mine = ladders(choose("cpu", 1), problem, own, "bits", way={"topology": "none"})
    reference = NumpyFlips(
        problem, islands=2, population=4, seed=5, rungs=2, proposals=700, patience=0, tuning=6,
        cycle=6, low=1e-3, high=1.0, renewed=range(1, 2),
    )  # fmt: skip
    mine.start()
    evolve_together(mine, reference, 20, assert_same)
    assert reference.kinds["reheated"] > 0
    assert reference.kinds["doublings 1"] > 0
    assert reference.kinds["parts"] > 0


@pytest.mark.parametrize("kind", ["cut", "matrix"])
@pytest.mark.parametrize("threads", [32, 96])
def test_the_threads_of_a_gpu_do_not_matter(kind: str, threads: int) -> None:
    problem = model(kind)
    own = islands.solve(problem, backend="cpu", **FEW)
    with emulated_gpu(threads):
        assert islands.solve(problem, backend="cpu", **FEW).digest == own.digest


def test_a_limit_of_evaluations_ends_within_a_sweep() -> None:
    problem = model("cut")
    result = islands.solve(problem, stop="evaluations=9999", backend="cpu", population=2)
    assert result.evaluations == 9999


@pytest.mark.parametrize("kind", ["cut", "matrix"])
def test_a_stored_problem_is_searched_in_the_same_way(kind: str) -> None:
    problem = model(kind)
    again = restored(problem.saved())
    assert chains_of(again) is chains_of(problem) is FlipChains
    runs = [islands.solve(stated, backend="cpu", **FEW) for stated in (problem, again)]
    assert runs[0].digest == runs[1].digest


class OtherCost(models.MaxCut, cost="__device__ long long cost(const Solution& s, int n,"
                " const Data& data) { return base::cost(s, n, data); }"):  # fmt: skip
    """A cut whose cost may have other terms."""


class Half(models.MaxCut):
    """A cut with sides of equal size."""

    choose = N // 2


def test_other_problems_have_other_chains() -> None:
    pairs = sparse_pairs(N, 2 * N)
    dense = np.triu(np.ones((N, N), np.int64), 1)
    others = [
        models.max_cut(pairs[pairs.max(axis=1) < 400]),  # few nodes
        models.max_cut(np.argwhere(dense)),
        models.max_cut(pairs, np.full(len(pairs), 2**40)),
        islands.qubo({(0, i): 0.5 for i in range(N)}),
        OtherCost(pairs),
    ]
    assert [chains_of(each) for each in others] == [MoveChains] * len(others)
    assert chains_of(models.max_cut(pairs)) is FlipChains


def test_few_proposals_are_a_sweep() -> None:
    # Otherwise, the last items would never be flipped.
    own: Any = {"backend": "cpu", **FEW}
    runs = [islands.solve(model("cut"), **own | {"proposals": each}) for each in (10, N)]
    assert runs[0].digest == runs[1].digest
    assert runs[0].evaluations == runs[1].evaluations
