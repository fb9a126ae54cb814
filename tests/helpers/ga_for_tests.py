"""Runs of the genetic algorithm on a device and in NumPy, and their comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy_ga import NumpyGa
from numpy_improvers import NumpyLocalSearch
from numpy_mkp import evaluated
from numpy_operators import Genome
from numpy_streams import Place
from one_colony import one_colony

from islands.algorithms.ga import GaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.mkp import Mkp

USUAL = {
    "permutation": ("pmx", "swap"),
    "keys": ("two_point", "reset"),
    "bits": ("uniform", "flip"),
    "vector": ("sbx", "polynomial"),
}
DANTAS = {"selection": "best", "replacement": "generational", "crossover": "one_point"}


def evaluated_as_numbered(problem: Mkp, genome: Genome, place: Place) -> tuple[Genome, int]:
    """Return a choice after evaluation, in the device's order of items, and its cost."""
    order = problem.numbering()
    choice = np.empty(problem.size, np.int64)
    choice[order] = genome
    choice, cost = evaluated(problem, choice, place[0], place[1:])
    return choice[order].tolist(), cost


def both(
    backend: Backend, problem: Problem, encoding: str = "bits", **changes: Any
) -> tuple[Archipelago, NumpyGa]:
    """Return the same run on a device and in NumPy."""
    general: dict[str, Any] = {"population": 12, "islands": 2, "seed": 5, "runs": 1}
    general |= {name: changes.pop(name) for name in list(changes) if name in general}
    given, search = changes.pop("given", ()), changes.pop("search", {})
    mine = one_colony(
        problem=problem,
        algorithm="ga",
        encoding=encoding,
        settings=GaSettings.build(changes),
        migration=MigrationSettings.build({"topology": "none"}),
        backend=backend,
        world=World(),
        improver=ImproverSettings.build(search),
        warm_start=lambda: [np.array(solution, np.int64) for solution in given],
        **general,
    )

    def evaluate(genome: Genome, place: Place) -> tuple[Genome, int]:
        if isinstance(problem, Mkp):
            return evaluated_as_numbered(problem, genome, place)
        genomes = np.array([genome])
        solutions = genomes if encoding == "bits" else mine._encodings[0].decode(genomes)
        return genome, int(problem.costs(solutions)[0])

    crossover, mutation = USUAL[encoding]
    changes = {"crossover": crossover, "mutation": mutation, "given": tuple(given), **changes}
    del general["runs"]
    if search:
        changes["search"] = NumpyLocalSearch(problem, **search)
    mine.start()
    return mine, NumpyGa(problem.size, evaluate, encoding, **general, **changes)


def genomes(mine: Archipelago) -> list[Any]:
    """Return the genomes of all islands, with one entry for each bit."""
    found = mine.snapshot()["genes"][:, :, : mine._encodings[0].size]
    if mine._encodings[0].name == "bits":
        return [mine._encodings[0].decode(each).tolist() for each in found]
    return list(found.tolist())


def assert_same(mine: Archipelago, reference: NumpyGa) -> None:
    assert mine.snapshot()["cost"].tolist() == reference.cost
    assert genomes(mine) == reference.genomes
    assert sum(each.evaluations for each in mine.measure()) == reference.calls


def assert_evolves(mine: Archipelago, reference: NumpyGa, generations: int = 5) -> None:
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)
