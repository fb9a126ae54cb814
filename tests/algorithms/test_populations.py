"""Equal costs, extreme and improved keys, draws, and several parents of populations."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy_cellular
import numpy_de
import numpy_ga
import numpy_pso
import pytest
from numpy_brkga import archipelago, assert_same, both, genes_and_costs
from numpy_genomes import assert_evolves
from numpy_improvers import NumpyLocalSearch
from numpy_islands import DONORS, words
from problems_for_tests import NUMBERS, cities, facilities, flat
from test_operators import Wanted

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.paths import data_folder

GENERATIONAL = {"replacement": "generational"}


@pytest.mark.parametrize("cost", [0, 720])
def test_equal_parents_are_equally_likely(backend: Backend, cost: int) -> None:
    changes = GENERATIONAL | {"selection": "proportional", "mutation_rate": 0}
    mine, reference = numpy_ga.both(backend, flat(9, cost), "permutation", **changes, population=10)
    ranked = [(genome, cost) for genome in reference.genomes[0]]
    drawn = Counter(
        reference.genomes[0].index(mate)
        for individual in range(500)
        for mate in reference.mates((1, 0, 1, individual), ranked, list(range(10)))
    )
    assert all(60 < drawn[slot] < 140 for slot in range(10))
    assert_evolves(mine, reference, 3)


def test_child_with_equal_cost_replaces_no_individual(backend: Backend) -> None:
    mine, reference = numpy_ga.both(backend, flat(9, 720), "permutation", duplicates="accept")
    before = mine.snapshot()["genes"]
    assert_evolves(mine, reference, 3)
    assert np.array_equal(mine.snapshot()["genes"], before)


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["tournament", "proportional"])
def test_duplicates_are_compared_by_their_genes(backend: Backend, selection: str) -> None:
    problem = Wanted(12)
    problem.weight[:] = 1
    mine, reference = numpy_ga.both(backend, problem, population=30, selection=selection)
    assert_evolves(mine, reference, 15)
    assert min(reference.rejected, reference.displaced) > 0
    assert any(len(set(cost)) < 15 for cost in reference.cost), "no costs are equal"


@pytest.mark.slow
@pytest.mark.parametrize("cost", [0, 720])
@pytest.mark.parametrize("selection", ["proportional", "relative"])
def test_equal_neighbours_are_equally_likely(backend: Backend, selection: str, cost: int) -> None:
    own: Any = {"selection": selection, "population": 200, "islands": 1}
    mine, reference = numpy_cellular.both(backend, flat(9, cost), **own)
    assert {value for island in reference.cost for value in island} == {cost}
    chosen = Counter[int]()
    for slot in range(200):
        near = [reference.genomes[k][s] for k, s in reference.neighbourhood(0, slot)]
        chosen[near.index(reference.mate(0, slot))] += 1
    assert all(30 < chosen[k] < 70 for k in range(4))
    assert_evolves(mine, reference, 3)


@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_elitist_replacement_keeps_parents_of_equal_cost(backend: Backend, encoding: str) -> None:
    mine, reference = numpy_cellular.both(backend, flat(9, 720), encoding, replacement="elitist")
    before = mine.snapshot()["genes"].tobytes()
    assert_evolves(mine, reference, 3)
    assert mine.snapshot()["genes"].tobytes() == before


def test_improved_keys_decode_to_their_cost(backend: Backend) -> None:
    problem = facilities(9, symmetric="neither")
    search = {"name": "swap", "strategy": "best", "steps": 1, "scope": "position", "every": 3}
    mine, _ = numpy_cellular.both(backend, problem, "keys", search=search, replacement="elitist")
    mine.advance(9)
    saved = mine.snapshot()
    for genomes, costs in zip(saved["genes"], saved["cost"], strict=True):
        assert problem.costs(mine._encodings[0].decode(genomes)).tolist() == costs.tolist()
    # Each individual makes two children per generation, and eight exchanges every third one.
    assert sum(each.evaluations for each in mine.measure()) == 24 * (1 + 2 * 9 + 8 * 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NUMBERS)
def test_bounded_genes_cover_their_range_and_reach_the_bounds(backend: Backend, kind: str) -> None:
    mine, _ = numpy_de.both(backend, NUMBERS[kind](8), Cr=1, F=2)
    first = mine.snapshot()["genes"][:, :, :8]
    assert first.min() < 0.05
    assert first.max() > 0.95
    mine.advance(40)
    genes = mine.snapshot()["genes"][:, :, :8]
    assert mine._encodings[0].holds(genes.reshape(-1, 8))
    assert genes[:, :, 0].max() > 0.99, "the best value of the first gene is its upper bound"


def test_all_choices_of_donors_are_equally_likely() -> None:
    """Test the reference, which equals the kernels, with a population of five."""
    seen = np.zeros((5, 5, 5, 5), int)
    for generation in range(800):
        for slot in range(5):
            others = [other for other in range(5) if other != slot]
            draws = words(4, DONORS, 1, 0, generation, slot).tolist()[:3]
            a, b, c = (others.pop(draw * len(others) >> 32) for draw in draws)
            seen[slot, a, b, c] += 1
    counts = seen[seen > 0]
    assert len(counts) == 5 * 4 * 3 * 2
    # The chi-square statistic of 115 degrees of freedom exceeds 190 once in a hundred thousand.
    assert ((counts - 800 / 24) ** 2 / (800 / 24)).sum() < 190


def take_over(mine: Archipelago, reference: numpy_de.NumpyDe, saved: dict[str, Any]) -> None:
    """Replace the population of numpy_de.both by a changed one."""
    mine.restore(saved, generation=0, migrations=0)
    reference.keys = [island[:, : reference.n].copy() for island in saved["genes"]]
    reference.cost = [island.copy() for island in saved["cost"]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", numpy_de.PROBLEMS)
def test_improvers_make_equal_keys_different(backend: Backend, kind: str) -> None:
    """Sums of small integers are often equal, but improved keys must be different."""
    problem = numpy_de.PROBLEMS[kind](9)
    search = NumpyLocalSearch(problem, "swap", steps=1)
    mine, reference = numpy_de.both(backend, problem, search=search, islands=1, F=1)
    saved = mine.snapshot()
    saved["genes"] = np.floor(saved["genes"] / 2)
    solutions = reference.decoded(saved["genes"][0, :, :9])
    saved["cost"] = problem.costs(solutions)[np.newaxis]
    take_over(mine, reference, saved)
    mine.advance(6)
    reference.evolve(6)
    numpy_de.assert_same(mine, reference)
    saved = mine.snapshot()
    assert (problem.costs(reference.decoded(saved["genes"][0, :, :9])) == saved["cost"]).all()


def test_trials_with_infinite_keys_are_rejected(backend: Backend) -> None:
    mine, reference = numpy_de.both(
        backend, facilities(6), strategy="current-to-best/1", F=2, Cr=1, islands=1
    )
    # With the highest possible costs, selection accepts all trials.
    saved = mine.snapshot()
    saved["genes"] = np.where(saved["genes"] > 0, np.float32(9e29), np.float32(-9e29))
    saved["genes"][0, 3, 1] = np.float32(3e38)
    saved["cost"] += 10**9
    take_over(mine, reference, saved)
    mine.advance(3)
    reference.evolve(3)
    numpy_de.assert_same(mine, reference)
    assert np.isfinite(mine.snapshot()["genes"]).all()


def test_sigmoid_of_the_kernels_is_accurate(backend: Backend) -> None:
    x = np.concatenate([np.linspace(-120, 120, 100_001), [-1e30, 1e30, 0]]).astype(np.float32)
    entry = os.path.relpath(Path(__file__).with_name("sigmoid.cuh"), data_folder("kernels"))
    program = backend.compile(Source(entry), Block(32))
    out = backend.upload(np.zeros_like(x))
    count = np.int32(len(x))
    backend.run([backend.call(program, "check_sigmoid", count, backend.upload(x), out, blocks=1)])
    found = backend.download(out)
    assert (found == numpy_pso.sigmoid(x)).all()
    exact = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -700, 700)))
    assert np.abs(found - exact).max() < 1e-6
    near = np.abs(x) < 80
    assert (np.abs(found - exact) / exact)[near].max() < 1e-6
    assert found[-1] == 0.5


@pytest.mark.parametrize(
    ("parents", "elite_parents", "bias", "shares"),
    [
        (3, 2, "constant", (1 / 3, 2 / 3)),
        (3, 1, "linear", (6 / 11, 9 / 11)),
        (4, 4, "quadratic", (144 / 205, 180 / 205, 196 / 205)),
        (8, 3, "constant", tuple(i / 8 for i in range(1, 8))),
    ],
)
def test_several_parents_equal_the_reference(
    backend: Backend, parents: int, elite_parents: int, bias: str, shares: Any
) -> None:
    own = {"parents": parents, "elite_parents": elite_parents, "bias": bias, "islands": 1}
    mine, reference = both(backend, cities(30), shares, **own)
    mine.advance(5)
    reference.evolve(5)
    assert_same(mine, reference)


def evolved(mine: Archipelago, *generations: int) -> list[tuple[int, str]]:
    """Return the digests after these numbers of generations, with migrations between them."""
    mine.start()
    for number, each in enumerate(generations):
        if number:
            mine.migrate()
        mine.advance(each)
    return mine.digests()


@pytest.mark.slow
@pytest.mark.parametrize("decoding", ["plain", "host"])
def test_all_decodings_give_the_same_run(backend: Backend, decoding: str) -> None:
    ways = [{"decoding": way, "reset": 3} for way in ("sorted", decoding)]
    one, other = (evolved(archipelago(backend, cities(70), **way), 7, 8) for way in ways)
    assert one == other


@pytest.mark.slow
def test_keys_in_global_memory_give_the_same_run(backend: Backend) -> None:
    problem = cities(70_000)
    one, other = (archipelago(device, problem) for device in (choose("cpu", 1), backend))
    assert evolved(one, 2, 1) == evolved(other, 2, 1)
    assert problem.cost(other.best().solution) == other.best().cost


def test_large_populations_are_ranked_correctly(backend: Backend) -> None:
    mine = archipelago(backend, cities(8), population=40_000, islands=2)
    evolved(mine, 2, 0)
    order = mine.snapshot()["order"]
    for (_, costs), ranked in zip(genes_and_costs(mine), order, strict=True):
        assert ranked.tolist() == np.argsort(costs, kind="stable").tolist()
