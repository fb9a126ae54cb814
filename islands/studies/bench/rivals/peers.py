"""networkx, SciPy (which contains HiGHS) and D-Wave functions, on problems that they solve."""

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain, count, repeat
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
    """Greedy colourings, by saturation, then in random orders; cuts by repeated `one_exchange`."""

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
        found = _colourings(problem, random) if is_graph else _choices(problem, random)
        answers = (
            None if is_graph and answer.max() >= problem.most else problem.answer(answer)
            for answer in found
        )
        return _best_of(answers, course, seconds, problem.best, sign)


def _best_of(
    answers: Iterable[tuple[Any, float] | None],
    course: Course,
    seconds: float,
    known: float | None,
    sign: int = 1,
) -> Answer:
    """Return the best answer until the time limit or the `known` cost; the first always counts.

    Costs are minimised, or maximised if the `sign` is -1; None is a call without a solution.
    """
    best: Any = None
    for answer in answers:
        if answer is not None:
            solution, cost = answer
            improvements = len(course.points)
            course.add_now(cost)
            best = solution if len(course.points) > improvements else best
            if known is not None and sign * (cost - known) <= 0:
                break
        if course.passed() >= seconds:
            break
    return Answer(course.points, best, course.passed())


def _colourings(problem: Colouring, random: Random) -> Iterator[NDArray[Any]]:
    """Yield colourings: the colour of each node."""
    import networkx as nx

    order = [*range(problem.nodes)]
    graph = nx.empty_graph(problem.nodes)
    graph.add_edges_from(problem.edges.tolist())
    strategies: Any = chain(["saturation_largest_first"], repeat(lambda *_: order))
    for strategy in strategies:
        colours = nx.greedy_color(graph, strategy)
        yield np.array([colours[node] for node in range(problem.nodes)])
        random.shuffle(order)


def _choices(problem: Quadratic, random: Random) -> Iterator[NDArray[Any]]:
    """Yield choices of items from large cuts: those on the side without an additional node.

    The product of two items is half of their sum, minus half if a cut separates them.
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
    """SciPy's `quadratic_assignment`, from its default start, then from random ones."""

    def given(self, problem: Problem) -> Any:
        """Return both matrices and the best known cost."""
        if not isinstance(problem, Qap) or problem.file.linear is not None:
            return None
        known = problem.best_known
        return problem.file.a, problem.file.b, known.value if known is not None else None

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Call the function repeatedly; the first call is always completed."""
        from scipy.optimize import quadratic_assignment

        a, b, known = problem
        options: dict[str, Any] = {"rng": np.random.default_rng(seed)}

        def answers() -> Iterator[tuple[list[int], int]]:
            while True:
                order = quadratic_assignment(a, b, options=options).col_ind
                yield order.tolist(), int((a * b[np.ix_(order, order)]).sum())
                options["P0"] = "randomized"

        return _best_of(answers(), Course(maximise=False), seconds, known)


class Highs(Rival, of="highs"):
    """The integer programming solver HiGHS, called through SciPy, until the gap is 0.

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
    """Return a problem as a D-Wave model, with a penalty for a wrong number of items."""
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
    """A D-Wave sampler, on quadratic problems, cuts and diversities."""

    statements = (Quadratic,)
    most: ClassVar[float] = np.inf

    def rejection(self, problem: Problem) -> str | None:
        """Reject other problems, and those that are too large."""
        if why := super().rejection(problem):
            return why
        return None if problem.size <= self.most else f"accepts at most {self.most:,g} items here"

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Sample repeatedly."""
        model = _binary(problem)
        course = Course(maximise=problem.sign < 0)
        self.begin()

        def answers() -> Iterator[tuple[list[int], float]]:
            for number in count(seed, 1_000_003):  # far from the seeds of other copies
                left = max(seconds - course.passed(), 0.01)
                first = self.sample(model, number, left, problem).first.sample
                chosen = np.array([first[i] for i in range(len(first))])
                yield chosen.tolist(), problem.cost(chosen)

        return _best_of(answers(), course, seconds, problem.best, problem.sign)

    def begin(self) -> None:
        """Prepare for the first sample."""

    @abstractmethod
    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Sample for at most about the given seconds, and return the samples."""


class DwaveTabu(Sampler, of="dwave-tabu"):
    """D-Wave's tabu search, for the whole time; the cost is known only at the end of a run."""

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Search until the time is up."""
        options: dict[str, Any] = {"timeout": max(1, int(1000 * seconds)), "num_reads": 1}
        if problem.best is not None:
            options["energy_threshold"] = problem.sign * problem.best
        return _dwave().TabuSampler().sample(model, seed=seed % 2**31, **options)


class DwaveAnnealing(Sampler, of="dwave-annealing"):
    """D-Wave's simulated annealing: with the default of 1000 sweeps, then each time twice as many.

    The last annealing takes the remaining time.
    """

    def begin(self) -> None:
        """Begin with the default number of sweeps."""
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
