"""Evaluation of children between two launches: by the host, or by a Python function."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.goal import Goal, Reached
from islands.archipelago.launches import Launches
from islands.archipelago.measure import Interpreter
from islands.archipelago.memory import Memory
from islands.archipelago.parts import COST, GENES, HOST, SOLUTIONS, WAITING
from islands.errors import RunError

_BATCH_SECONDS = 0.1


class Outside:
    """Evaluates children on the host: NumPy decodes, and the problem computes exact costs."""

    def __init__(self, memory: Memory) -> None:
        parts, state, self._backend = memory.parts, memory.state, memory.backend
        self._problem, self._encoding = parts.problem, parts.encoding
        self._evaluation = parts.problem.evaluation
        self._genes, self._cost, self._waiting = (
            state.arrays[name] for name in (GENES, COST, WAITING)
        )
        self._prices = state.arrays.get(parts.algorithm.price_factors)
        self._batch = 1
        self.evaluated = 0
        """The number of children evaluated since the last launch; any thread may read it."""
        self.goal: Goal | None = None
        self.reached: Reached | None = None
        """The first child of the last evaluation that reaches the goal."""
        self._interpreter = Interpreter(self._problem, self._encoding, self._cost.shape[1])
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """The time that evaluations have taken."""
        return self._seconds

    def evaluate(self, must_stop: Callable[[], bool], *, is_first: bool) -> bool:
        """Evaluate the waiting children; return False if `must_stop` has ended this early.

        A child that reaches the goal also ends it. `must_stop` is called about every tenth of a
        second. The first batch of generation 0 (`is_first`) is always evaluated, so that there is
        an individual.
        """
        places = np.arange(self._cost.shape[-1])
        counts = self._backend.download(self._waiting)
        waits = places < counts[..., np.newaxis]
        genes = self._backend.download(self._genes)
        genomes = genes[waits]
        factors = self._factors(waits)
        all_costs = np.zeros(len(genomes), np.int64)
        self.evaluated, self.reached = 0, None

        def must_leave() -> bool:
            return (self.evaluated > 0 or not is_first) and must_stop()

        while self.evaluated < len(genomes) and self.reached is None and not must_leave():
            python = self._evaluation.python
            callers = 1 if python is None else python.callers  # each takes a solution
            begin = self.evaluated
            batch = slice(begin, begin + max(self._batch, callers))
            costs = self._timed(genomes[batch], factors[batch], must_leave)
            self.evaluated += len(costs)
            all_costs[begin : self.evaluated] = costs
            first = None if self.goal is None else self.goal.first_in(costs, self._interpreter)
            if first is not None:
                island, slot, _ = (int(axis[begin + first]) for axis in np.nonzero(waits))
                self.reached = Reached(0, island, slot, int(costs[first]), genomes[begin + first])
        if self._problem.kind.rules:
            corrected = np.array(genes)
            corrected[waits] = genomes
            self._backend.upload(corrected, self._genes)
        cost = np.zeros(waits.shape, np.int64)
        cost[waits] = all_costs
        self._backend.upload(cost, self._cost)
        is_complete = self.evaluated == len(genomes) or self.reached is not None
        if not is_complete:
            waits[waits] = np.arange(len(genomes)) < self.evaluated
            self._backend.upload(waits.sum(axis=-1, dtype=np.int32), self._waiting)
        return is_complete

    def slots_changed(self) -> None:
        """Prepare for children that wait in slots other than those of the last generation."""

    def _factors(self, waits: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the factor of the violation price for each waiting child."""
        if self._prices is None:
            return np.ones(int(waits.sum()))
        group_prices = self._backend.download(self._prices)
        slot_prices = group_prices.repeat(waits.shape[1] // group_prices.shape[1], axis=1)
        return np.broadcast_to(slot_prices[..., np.newaxis], waits.shape)[waits]

    def _timed(
        self,
        genomes: NDArray[Any],
        factors: NDArray[np.float64],
        must_leave: Callable[[], bool],
    ) -> NDArray[np.int64]:
        """Return the costs of genomes, and adapt the batch size to a tenth of a second.

        Fewer costs than genomes are returned if they take too long, or after one that may reach
        the goal. Genomes whose solutions the problem corrects are changed in place.
        """
        began = time.perf_counter()
        solutions = self._problem.layout.from_device(self._encoding.decode(genomes))
        if self._problem.kind.rules:
            decoded, solutions = solutions, self._problem.kind.corrected(solutions)
            for row in np.flatnonzero((solutions != decoded).any(axis=1)):
                genomes[row] = self._encoding.corrected(genomes[row], solutions[row])
        ends = None if self.goal is None else self.goal.reached
        costs = self._evaluation.device_costs(solutions, must_leave, factors, ends)
        took = time.perf_counter() - began
        self._seconds += took
        per_cost = max(took / max(1, len(costs)), 1e-9)
        self._batch = max(1, min(int(_BATCH_SECONDS / per_cost), 2 * self._batch))
        return costs


_AHEAD = 2
"""Maximum number of calls queued on a GPU; small, so that a run can end soon."""
_RECORDED_AT = 16
"""Number of calls after which the launches of a function are recorded; a power of two."""
_TOLERANCE = 1e-9
"""Maximum relative difference between real costs that count as equal: the order of sums varies."""


class BatchOutside(Outside):
    """Evaluates children on the device: kernels decode, and a Python function takes the arrays.

    On a GPU, the host prepares a generation during the previous ones, and looks up which children
    wait only if that may have changed. If it never changes, the launches of the function are
    repeated as a CUDA graph, without its Python code; the function is called again in ever rarer
    generations, to compare the costs.
    """

    def __init__(self, memory: Memory, launches: Launches) -> None:
        super().__init__(memory)
        self._launches, parts = launches, memory.parts
        solutions = memory.state.arrays[SOLUTIONS]
        self._solutions = solutions.reshape(-1, solutions.shape[-1])
        self._rows_per_island = solutions.shape[1]
        kind = np.float64 if parts.problem.scale.real else np.int64
        self._returned = self._backend.empty((self._cost.size,), kind)
        self._may_change = not parts.algorithm.same_slots or parts.algorithm.patience > 0
        self._counts: NDArray[np.int32] | None = None
        self._waiting_now = 0
        """The number of waiting children."""
        self._number = 0
        """The number of calls for the same slots."""
        self._repeat: Callable[[], None] | None = None
        self._spans: deque[tuple[Any, Any]] = deque()

    def evaluate(self, must_stop: Callable[[], bool], *, is_first: bool) -> bool:
        """Evaluate all waiting children in one call; none if `must_stop`."""
        if not is_first and must_stop():
            return False
        if is_first or self._may_change or self._counts is None:
            self._locate()
        if is_first:
            self._counts = None  # other children will wait in the next generation
        self.evaluated = self._waiting_now
        if self.evaluated == 0:
            return True
        with self._backend.python():
            self._solutions.take(self._rows, axis=0, out=self._stored)
            begin = self._backend.mark()
            self._compute_costs()
            self._spans.append((begin, self._backend.mark()))
        self._backend.run([self._taking])
        self._count_seconds(_AHEAD)
        return True

    def slots_changed(self) -> None:
        """Look up the waiting children again."""
        self._counts = None

    def _locate(self) -> None:
        """Find the rows of solutions, and the places of costs, of the waiting children."""
        counts = self._backend.download(self._waiting)
        if self._counts is not None and np.array_equal(counts, self._counts):
            return
        waits = np.arange(self._cost.shape[-1]) < counts[..., np.newaxis]
        place = np.flatnonzero(waits)
        self._number, self._repeat = 0, None
        self._counts, self._waiting_now = counts.copy(), len(place)
        if len(place) == 0:
            return
        island, child = np.divmod(place, waits[0].size)
        self._rows = self._backend.upload(island * self._rows_per_island + child)
        shape = len(place), self._solutions.shape[-1]
        self._stored = self._backend.empty(shape, self._solutions.dtype)
        self._taking = self._launches.taking_costs(self._returned, self._backend.upload(place))

    def _compute_costs(self) -> None:
        """Write the costs of the stored solutions to `returned`."""
        self._number += 1
        is_compared = self._number & (self._number - 1) == 0
        is_new = self._number == _RECORDED_AT + 1
        if self._repeat is None:
            self._call(is_compared=is_compared)
        else:
            self._repeat()
            if (is_compared or is_new) and not self._is_confirmed():
                if not is_new:
                    raise RunError(_CHANGED)
                self._repeat = None
        if self._number == _RECORDED_AT and not self._may_change:
            self._repeat = self._backend.recorded(lambda: self._call(is_compared=False))

    def _call(self, *, is_compared: bool) -> Any:
        """Call the function; return the array that must live while its launches are repeated."""
        assert self._evaluation.python is not None, "a batch is evaluated by a Python function"
        costs = self._evaluation.python.stored_costs(self._stored, is_compared=is_compared)
        self._returned[: self.evaluated] = costs
        return costs

    def _is_confirmed(self) -> bool:
        """Call the function; return whether the repeated launches gave the same costs."""
        before = self._returned[: self.evaluated].copy()
        self._call(is_compared=True)
        costs = self._returned[: self.evaluated]
        different = before != costs
        if costs.dtype.kind == "f":
            different &= ~(abs(before - costs) <= _TOLERANCE * abs(costs))
            different &= (before == before) | (costs == costs)  # a NaN ends the run elsewhere
        return not bool(different.any())

    def _count_seconds(self, pending: int) -> None:
        """Wait for all calls but the last `pending` ones, and add up their time."""
        while len(self._spans) > pending:
            begin, end = self._spans.popleft()
            self._backend.wait_for(end)
            self._seconds += self._backend.seconds_between(begin, end)

    @property
    def seconds(self) -> float:
        """The time that evaluations have taken."""
        self._count_seconds(0)
        return self._seconds


_CHANGED = (
    "batch= does not return the costs that its launches on the GPU gave when they were repeated"
    " without its Python code. Make costs depend on the solutions alone, or choose decoding=host"
)


def evaluator(memory: Memory, launches: Launches) -> Outside | None:
    """Return the evaluator of children between launches; None if kernels evaluate them."""
    if memory.parts.evaluated_by == "batch":
        return BatchOutside(memory, launches)
    return Outside(memory) if memory.parts.evaluated_by == HOST else None
