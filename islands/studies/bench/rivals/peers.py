"""Functions of networkx, SciPy (which contains HiGHS) and D-Wave, on problems that they solve."""

import time
from abc import abstractmethod
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError
from islands.models.plain import Colouring, Covering, Medians, Quadratic
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rivals.base import Answer, Rival


class Networkx(Rival, of="networkx"):
    """Colourings by saturation, then in random orders; cuts by `one_exchange`, randomly started."""

    statements = (Colouring, Quadratic)

    def given(self, problem: Problem) -> Any:
        """Return the problem as plain data; a quadratic one must allow any number of items."""
        plain = super().given(problem)
        return None if isinstance(plain, Quadratic) and plain.size is not None else plain

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Call the function repeatedly; the first call is always completed."""
        is_graph = isinstance(problem, Colouring)
        sign = 1 if is_graph else problem.sign
        course, random = Course(maximise=sign < 0), Random(seed)
        best: Any = None
        for answer in _colourings(problem, random) if is_graph else _choices(problem, random):
            if not is_graph or answer.max() < problem.most:
                solution, cost = problem.answer(answer)
                known = len(course.points)
                course.add_now(cost)
                best = solution if len(course.points) > known else best
                if problem.best is not None and sign * (cost - problem.best) <= 0:
                    break
            if course.passed() >= seconds:
                break
        return Answer(course.points, best, course.passed())


def _colourings(problem: Colouring, random: Random) -> Iterator[NDArray[Any]]:
    """Yield the colour of each node."""
    import networkx as nx

    order = [*range(problem.nodes)]
    graph = nx.empty_graph(problem.nodes)
    graph.add_edges_from(problem.edges.tolist())
    strategy: Any = "saturation_largest_first"
    while True:
        colours = nx.greedy_color(graph, strategy)
        yield np.array([colours[node] for node in range(problem.nodes)])
        random.shuffle(order)
        strategy = _in_order(order)


def _in_order(order: list[int]) -> Any:
    return lambda *_: order


def _choices(problem: Quadratic, random: Random) -> Iterator[NDArray[Any]]:
    """Yield choices of items from large cuts: the items on the side without an additional node.

    A pair counts half for each of its items, minus half if a cut divides it.
    """
    import networkx as nx

    count, (one, two, by) = len(problem.single), problem.pairs
    half = by / 2
    alone = problem.single + np.bincount(one, half, count) + np.bincount(two, half, count)
    graph = nx.empty_graph(count + 1)
    graph.add_weighted_edges_from(zip(one.tolist(), two.tolist(), half.tolist(), strict=True))
    graph.add_weighted_edges_from((count, k, -weight) for k, weight in enumerate(alone.tolist()))
    while True:
        first = {node for node in graph if random.random() < 0.5}
        _, sides = nx.approximation.one_exchange(graph, first, random.getrandbits(31), "weight")
        chosen = next(side for side in sides if count not in side)
        yield np.array([int(node in chosen) for node in range(count)])


class Faq(Rival, of="faq"):
    """SciPy's quadratic assignment, from its usual start, then from random ones."""

    def given(self, problem: Problem) -> Any:
        """Return both matrices and the best known cost."""
        if not isinstance(problem, Qap) or problem.file.linear is not None:
            return None
        known = problem.best_known
        return problem.file.a, problem.file.b, known.value if known is not None else None

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Call it repeatedly; the first call is always completed."""
        from scipy.optimize import quadratic_assignment

        a, b, known = problem
        course, random = Course(maximise=False), np.random.default_rng(seed)
        options: dict[str, Any] = {"rng": random}
        best: NDArray[Any] | None = None
        while best is None or course.passed() < seconds:
            order = quadratic_assignment(a, b, options=options).col_ind
            cost = int((a * b[np.ix_(order, order)]).sum())
            best = order if best is None or cost < course.points[-1][1] else best
            course.add_now(cost)
            options["P0"] = "randomized"
            if known is not None and cost <= known:
                break
        return Answer(course.points, best.tolist(), course.passed())


class Highs(Rival, of="highs"):
    """HiGHS, an integer programming solver, as SciPy calls it, until the gap is 0.

    It solves knapsacks, coverings and p-medians. The cost is known only at the end of a run.
    """

    statements = (Covering, Medians)

    def given(self, problem: Problem) -> Any:
        """Return a knapsack, or the plain data of another problem."""
        return problem if isinstance(problem, Mkp) else super().given(problem)

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run HiGHS once."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if isinstance(problem, Mkp):
            file = problem.file
            price = -file.profits.astype(float)
            rules = [LinearConstraint(file.weights, -np.inf, file.capacities)]
        else:
            price, rules = problem.program()
        began = time.perf_counter()
        end = milp(
            price,
            integrality=np.ones(len(price)),
            bounds=Bounds(0, 1),
            constraints=rules,
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        elapsed = time.perf_counter() - began
        if end.x is None:
            return Answer((), None, elapsed)
        items = np.rint(end.x).astype(np.int64)
        if isinstance(problem, Mkp):
            try:
                solution, cost = items.tolist(), problem.cost(items)
            except RunError:  # the solution may exceed a capacity within HiGHS's tolerance
                return Answer((), None, elapsed)
        else:
            solution, cost = problem.answer(items)
        return Answer([(elapsed, cost)], solution, elapsed, proved=end.status == 0)


_SWEEPS = 1000
"""Sweeps of the first annealing: the default of D-Wave's sampler."""


def _dwave() -> Any:
    return import_module("dwave.samplers")


def _binary(problem: Quadratic) -> Any:
    """Return D-Wave's form of a problem, with a penalty for a wrong number of items."""
    form: Any = import_module("dimod").BinaryQuadraticModel
    single, (one, two, by), constant = problem.single, problem.pairs, 0.0
    if problem.size is not None:
        # The penalty of the squared difference is at least the largest gain of an item.
        pairs, penalty = np.tril_indices(len(single), -1), problem.size * float(np.abs(by).max())
        one, two = map(np.concatenate, zip((one, two), pairs, strict=True))
        by = np.concatenate([by, np.full(len(pairs[0]), 2 * penalty)])
        single = single + penalty * (1 - 2 * problem.size)
        constant = penalty * problem.size**2
    return form.from_numpy_vectors(single, (one, two, by), constant, "BINARY")


class Sampler(Rival):
    """A sampler of D-Wave, on quadratic problems, cuts and diversities."""

    statements = (Quadratic,)
    most: ClassVar[float] = np.inf

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems, and those that are too large."""
        if why := super().refusal(problem):
            return why
        return None if problem.size <= self.most else f"accepts at most {self.most:,g} items here"

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Sample repeatedly."""
        model = _binary(problem)
        course = Course(maximise=problem.sign < 0)
        best: NDArray[Any] | None = None
        self.begin()
        while (left := seconds - course.passed()) > 0 or best is None:
            samples = self.sample(model, seed, max(left, 0.01), problem)
            seed += 1_000_003  # far from the seeds of other copies
            first = samples.first.sample
            chosen = np.array([first[i] for i in range(len(first))])
            cost = problem.cost(chosen)
            course.add_now(cost)
            if best is None or course.points[-1][1] == cost:
                best = chosen
            if problem.best is not None and problem.sign * (cost - problem.best) <= 0:
                break
        return Answer(course.points, best.tolist(), course.passed())

    def begin(self) -> None:
        """Prepare for the first sample."""

    @abstractmethod
    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Return samples that take at most about the given seconds."""


class DwaveTabu(Sampler, of="dwave-tabu"):
    """D-Wave's tabu search, for the whole time; the cost is known only at the end of a run."""

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Search until the time is up."""
        options: dict[str, Any] = {"timeout": max(1, int(1000 * seconds)), "num_reads": 1}
        if problem.best is not None:
            options["energy_threshold"] = problem.sign * problem.best
        return _dwave().TabuSampler().sample(model, seed=seed % 2**31, **options)


class DwaveAnnealing(Sampler, of="dwave-annealing"):
    """D-Wave's simulated annealing: with the default of 1000 sweeps, then with twice as many, ...

    The last annealing takes the time that is left.
    """

    def begin(self) -> None:
        """Begin with the default."""
        self._sweeps, self._rate = _SWEEPS // 2, 0.0

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Anneal once."""
        fitting = int(self._rate * seconds) if self._rate else _SWEEPS
        self._sweeps = max(1, min(2 * self._sweeps, fitting))
        if fitting < 2 * self._sweeps + _SWEEPS:
            self._sweeps = max(1, fitting)  # the remaining time is too short for another one
        began = time.perf_counter()
        samples = (
            _dwave()
            .SimulatedAnnealingSampler()
            .sample(model, num_reads=1, num_sweeps=self._sweeps, seed=seed % 2**31)
        )
        self._rate = self._sweeps / (time.perf_counter() - began)
        return samples
