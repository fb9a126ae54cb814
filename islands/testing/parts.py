"""The contracts of the parts of a run: algorithms, encodings, improvers and topologies."""

from typing import Any, ClassVar

import numpy as np

import islands
from islands.encodings.base import Encoding
from islands.migration.topology import NOBODY, Scene, Topology
from islands.testing.runs import RunContract


class AlgorithmContract(RunContract):
    """The contract of runs, and tests of the algorithm that `settings` names."""

    def test_the_best_never_gets_worse(self) -> None:
        result = self.solved(record={"every": 1})
        is_max = self.loaded().maximise
        worst = -np.inf if is_max else np.inf  # until a feasible solution is found
        best = np.array([worst if b is None else b for b in result.trace()["best"].to_pylist()])
        islands_ = np.array(result.trace()["island"].to_pylist())
        better = np.maximum if is_max else np.minimum
        for island in np.unique(islands_):
            costs = best[islands_ == island]
            assert (better.accumulate(costs) == costs).all()

    def test_a_reset_repeats_the_same_generations(self) -> None:
        solver, costs = self.solver(), list[list[float]]()
        for _ in range(2):
            solver.evolve(4)
            solver.exchange()
            solver.evolve(2)
            costs.append([best.cost for best in solver.best(5)])
            solver.reset()
        assert costs[0] == costs[1]

    def test_an_injected_solution_takes_part(self) -> None:
        best = self.solved().solution
        assert best is not None
        solver = self.solver(seed=self.seed + 1)
        solver.inject([best])
        problem = solver.problem
        worse = min if problem.maximise else max
        exact = problem.cost(best)
        assert worse(solver.best(1)[0].cost, exact) == exact


class ImproverContract(RunContract):
    """The contract of runs, and a test of the improver that `settings` names."""

    def test_it_improves_the_first_generation(self) -> None:
        plain, improved = (
            self.solver(**changes).best(1)[0] for changes in ({"improver": "none"}, {})
        )
        better = max if self.loaded().maximise else min
        assert better(plain.cost, improved.cost) == improved.cost


class EncodingContract:
    """The contract of an encoding: genomes and solutions represent each other."""

    samples: ClassVar[int] = 40

    def encoding(self) -> Encoding:
        """Return the encoding for solutions of one size."""
        raise NotImplementedError

    def solutions(self) -> np.ndarray[Any, Any]:
        """Return a few valid solutions, one per row."""
        raise NotImplementedError

    def test_a_genome_represents_its_solution(self) -> None:
        encoding = self.encoding()
        for solution in self.solutions():
            genome = encoding.encode(solution)
            assert encoding.holds(genome[np.newaxis])
            assert np.array_equal(encoding.decode(genome[np.newaxis])[0], solution)

    def test_genomes_have_room_in_memory(self) -> None:
        encoding = self.encoding()
        assert encoding.pitch >= encoding.size
        for solution in self.solutions():
            assert encoding.encode(solution).dtype == encoding.gene


class TopologyContract:
    """The contract of a topology: every rank finds the same senders."""

    sizes: ClassVar[tuple[int, ...]] = (2, 3, 4, 5, 7, 8, 9, 16, 17, 30)
    numbers: ClassVar[range] = range(1, 6)

    def topology(self) -> Topology:
        """Return the topology."""
        raise NotImplementedError

    @staticmethod
    def rows(topology: Topology, scene: Scene, receivers: range) -> list[list[int]]:
        """Return the islands that send to each receiver."""
        sources = topology.sources(scene, receivers).tolist()
        return [[island for island in row if island != NOBODY] for row in sources]

    def test_every_rank_finds_the_same_senders(self) -> None:
        for islands_, number in ((a, b) for a in self.sizes for b in self.numbers):
            scene = Scene(islands_, 11, number)
            whole = self.rows(self.topology(), scene, range(islands_))
            for island, row in enumerate(whole):
                assert row == sorted(set(row) - {island})
                assert not row or (row[0] >= 0 and row[-1] < islands_)
                alone = self.rows(self.topology(), scene, range(island, island + 1))
                assert alone == [row]

    def test_memory_suffices_for_all_senders(self) -> None:
        topology = self.topology()
        for islands_, number in ((a, b) for a in self.sizes for b in self.numbers):
            rows = self.rows(topology, Scene(islands_, 11, number), range(islands_))
            assert max(map(len, rows)) <= topology.widest(islands_, 11)

    def test_migrants_travel_in_a_run(self) -> None:
        """An island that receives is then at least as good as the best of its senders."""
        settings: dict[str, Any] = {"algorithm": "ga", "encoding": "permutation", "seed": 4}
        settings |= {"improver": "none", "islands": 5, "population": 24, "migrants": 1}
        solver = islands.Solver("demo/tsp", migration=self.topology(), backend="cpu", **settings)
        solver.evolve(3)

        def best() -> list[float]:
            size = solver.problem.size
            return [
                min(solver.problem.cost(order) for order in np.asarray(orders)[:, :size])
                for orders in solver.populations()
            ]

        before = best()
        solver.exchange()
        rows = self.rows(self.topology(), Scene(5, 4, 1), range(5))
        for after, alone, senders in zip(best(), before, rows, strict=True):
            assert after == min([alone, *(before[sender] for sender in senders)])
