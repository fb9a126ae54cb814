"""Measures, best individuals and digests of a rank's islands, as read by the host."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.state import IslandArrays
from islands.encodings import Encoding
from islands.encodings.direct import Doubled
from islands.errors import RunError
from islands.problems.base import Problem, Solution
from islands.problems.priced import first_infeasible
from islands.problems.real_costs import INFINITE, NOT_A_NUMBER, mean_of

NONE = np.iinfo(np.int64).max
INFEASIBLE = 1  # the lowest bit of a marked cost: see kernels/core/marks.cuh
# The members of `Island` in kernels/core/islands.cuh and of `Measure` in kernels/measure.cuh.
ISLAND = (
    *("generation", "best", "best_generation", "restart", "ended", "archived"),
    *("archived_generation", "seed", "number"),
)
MEASURE = (
    *("best", "worst", "sum_high", "sum_low", "best_generation", "ended", "archived"),
    *("archived_generation", "best_row", "calls", "distance", "distinct"),
)
_WORST = MEASURE.index("worst")
READ_STRUCTS = {
    name: Struct(**dict.fromkeys(members, np.int64(0)))
    for name, members in {"Island": ISLAND, "Measure": MEASURE}.items()
}
"""Samples of the structs of kernels that Python reads."""


class IslandMeasure(NamedTuple):
    """The measures of an island at the end of an epoch; costs are minimised."""

    island: int
    best: int | None
    """None without a feasible solution."""
    total: int
    """The sum of all costs, if they are integers."""
    mean: float
    worst: int
    best_generation: int
    evaluations: int
    present: int | None = None
    """The best cost of this generation; None if it may be infeasible."""
    real_total: float = 0.0
    """The sum of all costs, if they are real, in the unit of `real_costs`."""
    distance: float | None = None
    """The mean distance of sampled genomes, from 0 to 1; None with fewer than two individuals."""
    distinct: float = 1.0
    """The share of distinct costs in the population."""
    colony: int = 0
    """The number of its colony."""
    has_converged: bool = False
    """Whether all costs of the population are equal or have stopped improving, now or before a
    restart."""


@dataclass(frozen=True)
class Candidate:
    """An individual: cost on the device (minimised), island, solution and genome."""

    cost: int
    island: int
    solution: Solution
    genome: NDArray[Any]


class Elite(NamedTuple):
    """One of the best individuals: its cost on the device, and the place of its genome."""

    cost: int
    island: int
    slot: int | None
    """None for the archive of the island."""

    def decoded(self, problem: Problem, encoding: Encoding, row: NDArray[Any]) -> Candidate:
        """Return the individual with the solution that its row of genes represents."""
        genome = row[: encoding.size]
        solution = problem.layout.from_device(encoding.decode(genome[np.newaxis])[0])
        return Candidate(self.cost, self.island, solution, genome)


class Interpreter:
    """Interprets the measures and costs that kernels write.

    It depends on the kind of problem and the population size, but not on the instance, so many
    runs can share it.
    """

    def __init__(self, problem: Problem, encoding: Encoding, population: int) -> None:
        self.scale, self._population, self._size = problem.scale, population, encoding.size
        self._has_violations = self.scale.has_violations
        self.worst = INFINITE if self.scale.real else NONE
        """The costs of solutions are below this one."""
        self.infeasible = self.worst
        """The costs of feasible solutions are below this one."""
        if self.scale.priced:
            self.infeasible = first_infeasible(real=self.scale.real)
        if self.scale.first_infeasible is not None:
            self.infeasible = self.scale.first_infeasible
        self._most_distant = most_distant(encoding, problem, population)

    def measures(
        self, islands: Sequence[int], rows: Iterable[Sequence[int]], instance: str
    ) -> list[IslandMeasure]:
        """Return the measures of islands, from their rows of `MEASURE`.

        Errors name the `instance`.
        """
        measures = []
        for island, row in zip(islands, rows, strict=True):
            if self.scale.real and row[_WORST] == NOT_A_NUMBER:
                raise RunError(
                    f"{instance}: the cost of an individual on island {island} is NaN."
                    " Return a number, or infinity if a solution is infeasible"
                )
            measures.append(self._measure(island, row))
        return measures

    def _measure(self, island: int, row: Sequence[int]) -> IslandMeasure:
        # In the order of `MEASURE`.
        best, worst, high, low, generation, ended, archived, archived_generation, *rest = row
        _, calls, distance, distinct = rest
        present = None if self._has_violations else best
        # An island may reach the same cost again after a restart: the first time counts.
        if self.scale.marks or archived <= best:
            best, generation = archived, archived_generation
        total, real_total = (high << 32) + low, 0.0
        mean = total / self._population
        if self.scale.real:
            total, real_total = 0, float(np.int64(high).view(np.float64))
            mean = mean_of(real_total, self._population)
        return IslandMeasure(
            island=island,
            best=None if best >= self.infeasible else self.scale.unmarked(best),
            present=present,
            total=total,
            real_total=real_total,
            mean=mean,
            worst=self.scale.unmarked(worst),
            best_generation=generation,
            evaluations=calls,
            distance=distance / self._most_distant if self._most_distant else None,
            distinct=distinct / self._population,
            has_converged=ended > 0 or distinct == 1,
        )

    def elite(
        self,
        costs: NDArray[np.int64],
        records: NDArray[np.int64],
        count: int,
        *,
        any_solution: bool = False,
    ) -> list[Elite]:
        """Return the best individuals of islands, best first, archives included.

        `costs` and `records` have a row for each island: the costs of its population, and `ISLAND`.
        If populations may hold infeasible solutions, only the archives are considered. With
        `any_solution`, solutions with a violation are included.
        """
        if self.scale.marks:
            costs = np.full_like(costs, NONE)
        # Archives follow the populations; an archive with the cost NONE is empty.
        archived = records[:, ISLAND.index("archived")]
        table = np.concatenate([costs, archived[:, np.newaxis]], axis=1)
        flat, archive = table.ravel(), costs.shape[1]
        chosen = flat.argsort(kind="stable")[:count] if count > 1 else [flat.argmin()]
        end, elite = self.worst if any_solution else self.infeasible, []
        for index in chosen:
            if flat[index] < end:
                island, slot = divmod(int(index), table.shape[1])
                cost = self.scale.unmarked(int(flat[index]))
                elite.append(Elite(cost, island, None if slot == archive else slot))
        return elite

    def digest(self, genes: NDArray[Any], cost: NDArray[np.int64]) -> str:
        """Return the SHA-256 of the genomes and costs of an island."""
        content = hashlib.sha256(genes[:, : self._size].ravel().data)
        content.update(cost.ravel().data)
        return content.hexdigest()


class IslandReader:
    """Reads the measures, best individuals and digests of the islands with these `numbers`."""

    def __init__(
        self,
        problem: Problem,
        encoding: Encoding,
        state: IslandArrays,
        backend: Backend,
        numbers: range,
    ) -> None:
        """Allocate the measures; the kernel `measure` writes them to `measured`."""
        self._problem, self._encoding = problem, encoding
        self._state, self._backend, self._numbers = state, backend, numbers
        self.measured = backend.empty((len(numbers), len(MEASURE)), np.int64)
        self.rows = backend.host_array(self.measured.shape, np.int64)
        """The fetched measures: a row of `MEASURE` for each island."""
        self.interpreter = Interpreter(problem, encoding, int(state.arrays["order"].shape[1]))

    def fetch(self) -> None:
        """Begin to copy the measures to the host."""
        self._backend.fetch(self.measured, self.rows)

    def measures(self) -> list[IslandMeasure]:
        """Return the fetched measures."""
        return self.interpreter.measures(self._numbers, self.rows.tolist(), self._problem.instance)

    def elite(self, generation: int, count: int, *, any_solution: bool = False) -> list[Candidate]:
        """Return the best individuals: see `Interpreter.elite`."""
        download, part = self._backend.download, self._state.part
        costs, records = (download(part(name, generation)) for name in ("cost", "island"))
        candidates = []
        for best in self.interpreter.elite(costs, records, count, any_solution=any_solution):
            name, place = ("archive", ()) if best.slot is None else ("genes", (best.slot,))
            row = download(part(name, generation)[best.island, *place])
            numbered = best._replace(island=self._numbers[best.island])
            candidates.append(numbered.decoded(self._problem, self._encoding, row))
        return candidates

    def digests(self, generation: int) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island."""
        genes, costs = (self._state.part(name, generation) for name in ("genes", "cost"))
        read = self._backend.read
        return [
            (number, self.interpreter.digest(read(genes[local]), read(costs[local])))
            for local, number in enumerate(self._numbers)
        ]


# As in kernels/measure.cuh.
_PAIRS, _GENES, _ONE = 8, 256, 1 << 24
_WORD_BITS = 32


def compares_edges(encoding: Encoding, problem: Problem) -> bool:
    """Return whether genomes are closed tours, whose distance counts edges, not positions."""
    are_orders = "permutation" in (encoding.name, encoding.like) or isinstance(encoding, Doubled)
    return problem.layout.is_tour and are_orders


def most_distant(encoding: Encoding, problem: Problem, population: int) -> int:
    """Return the maximum sum of all distances in the sample; 0 with fewer than two individuals."""
    genes = min(_GENES, encoding.size)
    if compares_edges(encoding, problem):
        a_pair = 2 * genes
    elif encoding.gene == np.uint32:
        # The last word may be incomplete; it is in the sample if all words are.
        unused = _WORD_BITS * encoding.size - problem.size if genes == encoding.size else 0
        a_pair = _WORD_BITS * genes - (unused if 0 < unused < _WORD_BITS else 0)
    else:
        a_pair = genes * (_ONE if encoding.gene.kind == "f" else 1)
    return min(_PAIRS, population // 2) * a_pair
