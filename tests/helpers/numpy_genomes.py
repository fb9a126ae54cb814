"""What the references of the genetic and the cellular algorithm have in common."""

from dataclasses import dataclass
from typing import Any

from colonies_for_tests import begun
from numpy_improvers import NumpyLocalSearch
from numpy_islands import START, NumpyIslands, Place, evolve_together
from numpy_operators import Genome, random_genome

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.base import Problem


@dataclass
class NumpyGenomes(NumpyIslands):
    """Islands with their genomes and costs."""

    n: int
    encoding: str = "permutation"
    population: int = 12
    islands: int = 2
    seed: int = 5
    crossover: str = "pmx"
    mutation: str = "swap"
    strength: int = 1
    reset: int = 0
    given: tuple[Genome, ...] = ()
    search: NumpyLocalSearch | None = None

    def __post_init__(self) -> None:
        self.generation, self.calls = 0, self.islands * self.population
        genomes = [[self.drawn(START, k, s) for s in self.slots] for k in range(self.islands)]
        for number, genome in enumerate(self.given):
            genomes[number % self.islands][number // self.islands] = list(genome)
        first = [self.with_costs(k, each) for k, each in enumerate(genomes)]
        self.genomes, self.cost = [genomes for genomes, _ in first], [cost for _, cost in first]
        self.begin_records()

    def drawn(self, stream: int, island: int, slot: int) -> Genome:
        return random_genome(self.n, self.encoding, stream, self.place(island, slot))

    def with_costs(self, island: int, genomes: list[Genome]) -> tuple[list[Genome], list[int]]:
        """Return the genomes of an island after their evaluation, and their costs."""
        raise NotImplementedError

    def improved(self, genome: Genome, cost: int, place: Place) -> tuple[Genome, int]:
        if self.search is None or not self.search.is_due(place):
            return genome, cost
        genome, cost, tried = self.search.improve(genome, cost, place)
        self.calls += tried
        return genome, cost


USUAL = {
    "permutation": ("pmx", "swap"),
    "keys": ("two_point", "reset"),
    "bits": ("uniform", "flip"),
    "vector": ("sbx", "polynomial"),
}


def on_device(
    algorithm: str, backend: Backend, problem: Problem, encoding: str, changes: dict[str, Any]
) -> tuple[Archipelago, Any, dict[str, Any]]:
    """Return islands that have started, their settings, and those of their reference."""
    given, search = changes.pop("given", ()), changes.pop("search", {})
    mine, settings, sizes = begun(
        algorithm, encoding, changes, sizes={"population": 12, "islands": 2, "seed": 5},
        problem=problem, backend=backend, search=search, given=given,
    )  # fmt: skip
    crossover, mutation = USUAL[encoding]
    own = {"crossover": crossover, "mutation": mutation, **sizes, **changes}
    own |= {"encoding": encoding, "given": tuple(given)}
    if search:
        own["search"] = NumpyLocalSearch(problem, **search)
    return mine, settings, own


def genomes(mine: Archipelago) -> list[Any]:
    """Return the genomes of all islands, with one entry for each bit."""
    found = mine.snapshot()["genes"][:, :, : mine._encodings[0].size]
    if mine._encodings[0].name == "bits":
        return [mine._encodings[0].decode(each).tolist() for each in found]
    return list(found.tolist())


def assert_same(mine: Archipelago, reference: NumpyGenomes) -> None:
    assert mine.snapshot()["cost"].tolist() == reference.cost
    assert genomes(mine) == reference.genomes
    assert sum(each.evaluations for each in mine.measure()) == reference.calls


def assert_evolves(mine: Archipelago, reference: NumpyGenomes, generations: int) -> None:
    evolve_together(mine, reference, generations, assert_same)
