"""Other programs that `quality` compares with its runs: on all cores, for the same time.

They run when no run of ours is under way, each in processes of its own.
"""

from __future__ import annotations

import math
import multiprocessing
import operator
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from islands.backends.cpu import share_of_cores
from islands.errors import RunError, UsageError
from islands.models.plain import Covering, Medians
from islands.problems.base import Problem
from islands.problems.legs import Legs
from islands.problems.mkp import Mkp
from islands.problems.tsp import Tsp
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.model_rivals import MODEL_RIVALS
from islands.studies.bench.peers import PEERS
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rival import Answer, Rival
from islands.text import counted, unknown

_PATIENCE = 10
"""How many times its limit a rival that cannot be interrupted may take."""
_STARTING = 60.0
_MOST_IN_MATRIX = 3000
"""Cities of tours for which a program needs a matrix of all distances."""


class Highs(Rival):
    """HiGHS, an integer programming solver, as SciPy starts it: until no gap is left.

    It solves knapsacks, coverings and p-medians. Only the end of a run tells its cost.
    """

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "scipy"
    module: ClassVar[str] = "scipy"
    is_seeded: ClassVar[bool] = False
    statements = (Covering, Medians)
    solves = "knapsacks, coverings and p-medians"

    def given(self, problem: Problem) -> Any:
        """Return a knapsack, or the numbers of another problem."""
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
        taken = time.perf_counter() - began
        if end.x is None:
            return Answer((), None, taken)
        items = np.rint(end.x).astype(np.int64)
        if isinstance(problem, Mkp):
            try:
                solution, cost = items.tolist(), problem.cost(items)
            except RunError:  # the solution may exceed a capacity within HiGHS's tolerance
                return Answer((), None, taken)
        else:
            solution, cost = problem.answer(items)
        return Answer([(taken, cost)], solution, taken, proved=end.status == 0)


_METRICS = ("EUC_2D", "CEIL_2D", "ATT", "GEO")
"""Those of which LKH takes coordinates."""


class TourRival(Rival):
    """A program for tours."""

    solves = "tours"
    largest: ClassVar[str] = "takes at most {} cities here"
    takes_fixed: ClassVar[bool] = False
    """Whether it takes fixed legs."""

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems than tours, and those that need a large matrix of distances."""
        if not isinstance(problem, Tsp):
            return super().refusal(problem)
        near = problem.near
        if isinstance(near, Legs):
            if near.file.ends is not None or bool((near.legs < 0).any()):
                return "takes closed tours here, without forbidden legs"
            if near.file.fixed and not self.takes_fixed:
                return "takes no fixed legs here"
        if not problem.scale.is_whole:
            return 'takes whole lengths here, such as those of metric="EUC_2D"'
        if self.needs_matrix(problem) and problem.entries > _MOST_IN_MATRIX:
            return self.largest.format(_MOST_IN_MATRIX)
        return None

    def needs_matrix(self, tsp: Tsp) -> bool:
        """Return whether the program needs all distances."""
        return True

    def given(self, problem: Problem) -> Any:
        """Return the tours themselves."""
        return problem if isinstance(problem, Tsp) else None


class OrTools(TourRival):
    """The routing solver of OR-tools on tours: guided local search, as its guide recommends.

    One vehicle visits all cities. The seed is the number of the city where it begins.
    """

    name: ClassVar[str] = "ortools"
    package: ClassVar[str] = "ortools"
    module: ClassVar[str] = "ortools"

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run the search once."""
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        assert isinstance(problem, Tsp)
        n = problem.size
        cities = np.arange(n)
        matrix = [problem.near.between(np.full(n, city), cities).tolist() for city in cities]
        manager = pywrapcp.RoutingIndexManager(n, 1, seed % n)
        course = Course(maximise=False)
        routing = pywrapcp.RoutingModel(manager)
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(matrix))

        def see() -> None:
            cost, known = int(routing.CostVar().Max()), problem.best_known
            course.now(cost)
            if known is not None and cost <= known.value:
                routing.solver().FinishCurrentSearch()

        routing.AddAtSolutionCallback(see)
        options = pywrapcp.DefaultRoutingSearchParameters()
        first = routing_enums_pb2.FirstSolutionStrategy
        options.first_solution_strategy = first.PATH_CHEAPEST_ARC
        guided = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        options.local_search_metaheuristic = guided
        options.time_limit.FromMilliseconds(max(1, int(1000 * seconds)))
        found = routing.SolveWithParameters(options)
        taken = course.passed()
        if found is None:
            return Answer((), None, taken)
        index, tour = routing.Start(0), []
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = found.Value(routing.NextVar(index))
        cost = problem.cost(np.array(tour))
        course.add(taken, cost)
        return Answer(course.points, tour, taken)


_TRIALS = 1_000_000_000
"""More than any time limit allows."""
_LONGEST_DIRECTED = 10_000_000
"""LKH multiplies directed legs by 100, as 32-bit integers."""
_READY = re.compile(r"Preprocessing time = ([\d.]+)")
_BETTER = re.compile(r"\*.*?Cost = (\d+).*?Time = ([\d.]+)")


class Lkh(TourRival):
    """LKH, the local search of Helsgaun for tours, with its usual settings, through elkai.

    It makes one run with as many trials as the time allows.
    The functions that elkai documents take a number of runs and no seed. The one below them takes
    the parameters of LKH, among them a time limit and a seed.

    It counts processor time, and looks at the clock after each trial.
    """

    name: ClassVar[str] = "lkh"
    package: ClassVar[str] = "elkai"
    module: ClassVar[str] = "elkai"
    largest = "takes matrices of at most {} cities here"
    takes_fixed = True

    def refusal(self, problem: Problem) -> str | None:
        """Refuse directed legs that are too long, too."""
        near = problem.near if isinstance(problem, Tsp) else None
        if (
            isinstance(near, Legs)
            and near.chains.are_directed
            and int(near.legs.max()) > _LONGEST_DIRECTED
        ):
            return f"takes directed legs up to {_LONGEST_DIRECTED} here"
        return super().refusal(problem)

    def needs_matrix(self, tsp: Tsp) -> bool:
        """Return whether LKH reads a text of all distances."""
        return isinstance(tsp.near, Legs) or tsp.near.metric not in _METRICS

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run LKH until the time limit; its first trial ends in any case."""
        from elkai import _elkai

        assert isinstance(problem, Tsp)
        known, fixed = problem.best_known, _length_of_fixed(problem)
        parameters = [
            "PROBLEM_FILE = :stdin:",
            "RUNS = 1",
            f"MAX_TRIALS = {_TRIALS}",
            f"SEED = {seed}",
            f"TIME_LIMIT = {seconds:.3f}",
            "TRACE_LEVEL = 1",
            *([f"OPTIMUM = {known.value - fixed}"] if known is not None else []),
        ]
        text = _tsplib(problem)
        with _printed() as output:
            began = time.perf_counter()
            found = _elkai.solve_problem("\n".join(parameters) + "\n", text)
            taken = time.perf_counter() - began
            printed = output.read_text(errors="replace")
        tour = [city - 1 for city in found]
        course = [(second, length + fixed) for second, length in _course(printed)]
        cost = problem.cost(np.array(tour))
        if not course or course[-1][1] != cost:
            course.append((taken, cost))
        return Answer(course, tour, taken)


def _length_of_fixed(problem: Tsp) -> int:
    """Return the length of fixed legs, which LKH counts or not: its text has 0 for them."""
    if not problem.file.fixed:
        return 0
    ones, others = np.array(problem.file.fixed).T
    return int(problem.near.between(ones, others).sum())


def _tsplib(problem: Tsp) -> str:
    """Return the instance in TSPLIB's format, with fixed legs of no length."""
    near, count, fixed = problem.near, problem.entries, problem.file.fixed
    is_directed = isinstance(near, Legs) and near.chains.are_directed
    kind = "ATSP" if is_directed else "TSP"
    head = [f"NAME : {count}", f"TYPE : {kind}", f"DIMENSION : {count}"]
    if not isinstance(near, Legs) and near.metric in _METRICS:
        places = problem.file.coordinates
        assert places is not None
        lines = [f"{city} {x!r} {y!r}" for city, (x, y) in enumerate(places.tolist(), 1)]
        head += [f"EDGE_WEIGHT_TYPE : {near.metric}", "NODE_COORD_SECTION"]
        return "\n".join([*head, *lines, "EOF", ""])
    cities = np.arange(count)
    rows = [near.between(np.full_like(cities, city), cities).tolist() for city in cities]
    for one, other in fixed:
        rows[one][other] = 0
        rows[other][one] = rows[other][one] if is_directed else 0
    head += ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX"]
    lines = [" ".join(map(str, row)) for row in rows]
    edges = [f"{one + 1} {other + 1}" for one, other in fixed]
    lines += ["FIXED_EDGES_SECTION", *edges, "-1"] if fixed else []
    return "\n".join([*head, "EDGE_WEIGHT_SECTION", *lines, "EOF", ""])


def _course(output: str) -> list[tuple[float, float]]:
    """Return the costs that LKH marks as better; the clock of a run begins after preprocessing."""
    before, found = 0.0, list[tuple[float, float]]()
    for line in output.splitlines():
        if ready := _READY.search(line):
            before = float(ready[1])
        elif better := _BETTER.search(line):
            found.append((before + float(better[2]), int(better[1])))
    return found


@contextmanager
def _printed() -> Iterator[Path]:
    """Let this process print to a file, which LKH flushes at each line."""
    kept = os.dup(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), 1)
        try:
            yield path
        finally:
            os.dup2(kept, 1)
            os.close(kept)


_ALL = (Lkh(), OrTools(), Highs(), *MODEL_RIVALS, *PEERS)
RIVALS: dict[str, Rival] = {each.name: each for each in _ALL}


def require_installed(names: Sequence[str]) -> None:
    """Refuse rivals that are unknown or not installed."""
    for name in names:
        if name not in RIVALS:
            raise UsageError(unknown("rival", name, RIVALS))
        if find_spec(RIVALS[name].module) is None:
            package = RIVALS[name].package
            raise UsageError(
                f"--rivals {name} needs {package}, which is not installed. Install it with:"
                f" pip install {package}"
            )


def require_fitting(names: Sequence[str], problems: Sequence[Problem], ranks: int) -> None:
    """Refuse a rival that fits no instance, and rivals on several ranks."""
    if names and ranks > 1:
        raise UsageError(
            f"--rivals {','.join(names)} on {ranks} ranks: waiting ranks would use the cores of"
            " rivals. Start it without mpirun"
        )
    for name in names:
        refusals = [RIVALS[name].refusal(problem) for problem in problems]
        if all(refusals):
            raise UsageError(
                f"--rivals {name}: {name} {refusals[0]}. Leave it out, or choose instances of"
                " another problem with --of"
            )


class Contest:
    """The processes of rivals, until it is closed."""

    def __init__(self, request: BenchRequest) -> None:
        """Use as many processes as our runs on the CPU have threads."""
        self._request = request
        self._copies = request.threads or share_of_cores(1)
        self._pool: Pool | None = None

    def results(self, problem: Problem, seed: int) -> Iterator[dict[str, Any]]:
        """Yield the results that a `RunRow` needs of each rival that fits."""
        for name in self._request.rivals:
            rival = RIVALS[name]
            if rival.refusal(problem) is None and (rival.is_seeded or seed == 1):
                yield self._request.campaign.result(
                    self._asked(rival, problem, seed),
                    partial(self._result, rival, problem, seed),
                    f"{name}, seed {seed}",
                )

    def _asked(self, rival: Rival, problem: Problem, seed: int) -> dict[str, Any]:
        """Return what a result depends on."""
        return {
            "rival": rival.name,
            "version": version(rival.package),
            "instance": problem.instance,
            "seed": seed,
            "limit": self._request.limit,
            "copies": self._copies,
        }

    def _result(self, rival: Rival, problem: Problem, seed: int) -> dict[str, Any]:
        """Run one copy on each core; the best of all at a time is the rival's best."""
        copies = self._copies if rival.is_seeded and not rival.is_parallel else 1
        first = (seed - 1) * copies + 1
        answers = self._answers(rival, problem, range(first, first + copies))
        for each in answers:
            _check(rival, problem, each)
        course = Course(maximise=problem.maximise)
        for seconds, cost in sorted(point for each in answers for point in each.course):
            course.add(seconds, cost)
        known, reached = problem.best_known, course.points[-1] if course.points else None
        ended = [each.seconds for each in answers]
        if known is not None and reached is not None and problem.gap(reached[1]) == 0:
            ended = [min(ended)]  # a run ends when one copy is at the best known value
        return {
            "backend": "cpu",
            "method": rival.name,
            "device": f"CPU, {counted(self._copies if rival.is_parallel else copies, 'thread')}",
            "ranks": 1,
            "algorithm": f"{rival.package} {version(rival.package)}",
            "islands": copies,
            "population": 0,
            "cost": reached[1] if reached is not None else None,
            "seconds": max(ended, default=self._request.limit),
            "other_seconds": 0.0,
            "generations": 0,
            "evaluations": 0,
            "proved": any(each.proved for each in answers),
            "course": course.points,
        }

    def _answers(self, rival: Rival, problem: Problem, seeds: range) -> list[Answer]:
        """Return the answers of copies that ended in time."""
        if self._pool is None:
            self._pool = silent_processes(self._copies)
        limit = self._request.limit
        given = rival.given(problem)
        threads = self._copies if rival.is_parallel else 1
        work = [(rival.name, given, seed, limit, threads) for seed in seeds]
        try:
            asked = self._pool.starmap_async(_solved, work, chunksize=1)
            return asked.get(_PATIENCE * limit + _STARTING)
        except multiprocessing.TimeoutError:
            self.close()
            return []

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None


def _solved(name: str, given: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
    return RIVALS[name].solve(given, seed, seconds, threads)


def _check(rival: Rival, problem: Problem, answer: Answer) -> None:
    """Compare the cost that a rival reports with that of its solution."""
    if answer.solution is None:
        return
    cost = problem.cost(np.array(answer.solution))
    # Sums of real numbers depend on their order.
    is_equal = math.isclose if problem.scale.real else operator.eq
    if not is_equal(cost, answer.course[-1][1]):
        raise RunError(
            f"{problem.instance}: {rival.name} reports a cost of {answer.course[-1][1]}, but its"
            f" solution has {cost}. Please report this"
        )


def silent_processes(count: int) -> Pool:
    """Return a pool of processes without output, as rivals print even if their output is disabled.

    The processes end with the block that uses the pool, even if they are busy.
    """
    spawned = multiprocessing.get_context("spawn")  # a CUDA context does not survive a fork
    return spawned.Pool(count, initializer=_discard_output)


def _discard_output() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
