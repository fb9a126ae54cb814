"""All ways to evaluate the solutions of a problem: compiled code on each backend, and Python."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import automatic
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Block, Call, CompiledProgram, Room
from islands.backends.source import Macros, Source
from islands.errors import CompileError, RunError
from islands.modelling.evaluation import backend_of
from islands.modelling.functions import UserFunction
from islands.modelling.model import Model
from islands.problems.base import Problem
from islands.problems.solution_kinds import STEP, ChoicesKind, OrderKind, VectorKind

Ints = NDArray[np.int64]
_BLOCKS = 1024


def random_ends(count: int, moves: int, size: int, seed: int) -> NDArray[np.int32]:
    """Return the first and last place of random moves: count x moves x 2; none for one item.

    The first move of each order is the longest possible; the second is between adjacent items.
    """
    if size < 2 or moves < 1:
        return np.zeros((count, 0, 2), np.int32)
    random = np.random.default_rng(seed)
    first = random.integers(size - 1, size=(count, moves))
    last = first + 1 + (random.random((count, moves)) * (size - 1 - first)).astype(np.int64)
    ends = np.stack([first, last], axis=-1)
    ends[:, 0] = 0, size - 1
    if moves > 1:
        ends[:, 1, 1] = ends[:, 1, 0] + 1
    return ends.astype(np.int32)


def moved(orders: Ints, ends: NDArray[np.int32], move: str) -> Ints:
    """Return the orders after one move each."""
    places = np.arange(orders.shape[1])
    u, v = ends[:, :1], ends[:, 1:]
    if move == "swap":
        source = np.where(places == u, v, np.where(places == v, u, places))
    elif move == "reversal":
        source = np.where((places >= u) & (places <= v), u + v - places, places)
    else:
        source = np.where((places >= u) & (places < v), places + 1, places)
        source = np.where(places == v, u, source)
    return np.take_along_axis(orders, source, axis=1)


@dataclass(frozen=True)
class Walk:
    """Successive random moves of solutions."""

    numbers: NDArray[np.int32]
    """Solutions x moves x 4: for `move_of` in kernels/check/functions.cuh."""
    values: NDArray[np.float64]
    names: list[str]
    """The kind of each move, the same for all solutions."""
    reached: list[NDArray[Any]]
    """The solutions after each move; empty if the state chooses its own steps."""


@dataclass(frozen=True)
class Mates:
    """The second parent of each child, and four random words for each child."""

    solutions: NDArray[Any]
    random: NDArray[np.uint32]


def random_walk(problem: Model, solutions: NDArray[Any], steps: int, seed: int) -> Walk:
    """Return random moves that the functions of a problem's state accept."""
    random, (count, size) = np.random.default_rng(seed), solutions.shape
    moves = [move for move in problem.chains.proposals if size > 1 or move in ("flip", "setting")]
    numbers, values = np.zeros((count, steps, 4), np.int32), np.zeros((count, steps))
    names, reached, rows = [], [], np.arange(count)
    now = solutions
    for step in range(steps if moves else 0):
        name, now = moves[step % len(moves)], now.copy()
        if name == STEP:
            numbers[:, step] = random.integers(-(2**31), 2**31, (count, 4))
            names.append(name)
            continue
        if isinstance(problem.kind, ChoicesKind):
            sets = "setting" in moves
            now, numbers[:, step, :3] = _rechosen(problem.kind, now, name, random, sets=sets)
        elif name in problem.kind.moves:
            ends = random_ends(count, 3, size, seed + step)[:, 2]
            now = moved(now, ends, name)
            numbers[:, step, 0], numbers[:, step, 1:3] = problem.kind.moves.index(name), ends
        elif name == "setting":
            item = random.integers(size, size=count)
            [unit] = random.random((1, count)).astype(now.dtype)
            low, high = (np.broadcast_to(end, size)[item] for end in (problem.low, problem.high))
            now[rows, item] = low + (high - low) * unit
            numbers[:, step, 0], values[:, step] = item, unit
        else:
            one = random.integers(size, size=count)
            other = (now != now[rows, one, np.newaxis]) * random.random((count, size))
            is_other = (name == "exchange") & other.any(axis=1)
            other = other.argmax(axis=1)
            now[rows, one] ^= 1
            now[rows[is_other], other[is_other]] ^= 1
            numbers[:, step, 0], numbers[:, step, 1] = one, np.where(is_other, other, -1)
        names.append(name)
        reached.append(now)
    return Walk(numbers, values, names, reached)


def _rechosen(
    kind: ChoicesKind,
    before: NDArray[Any],
    move: str,
    random: np.random.Generator,
    *,
    sets: bool,
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the choices after one move each, and the moves: item, value, other item or -1.

    If no two items can be exchanged, one item gets another value, provided that `sets` allows
    this.
    """
    count, rows, sizes = len(before), np.arange(len(before)), kind.sizes
    item = random.choice(np.flatnonzero(sizes > 1), size=count)
    old, other = before[rows, item], np.full(count, -1)
    value = random.integers(sizes[item] - 1)
    value = value + (value >= old) if sets else old
    if sets and kind.at_most is not None:
        room = kind.room(before)
        others = room.sum(axis=1) - room[rows, old]
        # If only the value of an item has room, another item takes it.
        item = np.where(others > 0, item, (before != old[:, np.newaxis]).argmax(axis=1))
        old = before[rows, item]
        room[rows, old] = 0
        value = room.argmax(axis=1)
    after = before.copy()
    if move == "swap":
        fits = (before < sizes[item, np.newaxis]) & (old[:, np.newaxis] < sizes)
        fits &= before != old[:, np.newaxis]
        if kind.groups is not None:
            fits &= kind.groups == kind.groups[item, np.newaxis]
        can = fits.any(axis=1)
        other[can] = (fits * random.random(fits.shape)).argmax(axis=1)[can]
        value = np.where(can, before[rows, other], value)
        after[rows[can], other[can]] = old[can]
    after[rows, item] = value
    return after, np.stack([item, value, other], axis=-1).astype(np.int32)


def source_of(entry: str, problem: Problem, data: Struct) -> Source:
    """Return the source of a program that checks a problem with kernels/check/functions.cuh."""
    macros: Macros = {
        **problem.defines(),
        "ISLANDS_PROBLEM": problem.header,
        **problem.scale.macros(),
    }
    if problem.solution_kind == OrderKind.name and not isinstance(problem, Model):
        macros["CHECK_ORDERS"] = "1"
    if follows(problem):
        macros["CHECK_FOLLOWS"] = "1"
    if moves := [move for move in problem.kind.moves if move in problem.moves]:
        macros |= {"CHECK_DELTAS": "1", **{f"CHECK_{move.upper()}": "1" for move in moves}}
    return Source(entry, macros, {"problem::Data": data})


def follows(problem: Problem) -> bool:
    """Return whether costs are updated after each move: by a state, or by adding deltas.

    Deltas are added if there are violations, or for choices.
    """
    functions = problem.functions if isinstance(problem, Model) else None
    if functions is None:
        return False
    adds_deltas = problem.scale.priced or isinstance(problem.kind, ChoicesKind)
    return functions.state is not None or (adds_deltas and functions.delta is not None)


class CheckProgram:
    """The compiled functions of a problem on a backend, in blocks of a given size."""

    def __init__(self, problem: Problem, backend: Backend, threads: int) -> None:
        """Compile the program and copy the data of the problem."""
        self._problem, self._backend = problem, backend
        self._data = backend.uploaded(problem.device_data())
        self._is_model = isinstance(problem, Model)
        source = source_of("check/functions.cuh", problem, self._data)
        self._room: Room | None = None
        block = Block() if backend.in_host_memory else Block(threads)
        if not self._is_model or follows(problem):
            self._room = backend.required_room(source, np.int32(problem.size), self._data)
            if backend.shared_memory is not None and self._room.total > backend.shared_memory:
                chosen = backend.block(self._room, 16 * threads, _BLOCKS, fewest=threads)
                block = Block(threads, 1, chosen.spill)
        self._program: CompiledProgram = backend.compile(source, block)

    def evaluate(self, solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the costs, as the user sees them, and the evaluated solutions.

        An evaluation may change solutions.
        """
        problem, backend, count = self._problem, self._backend, len(solutions)
        costs = backend.zeros((count,), np.int64)
        rows = backend.upload(self._rows(solutions))
        kernel = "evaluate_solutions" if self._is_model else "evaluate_rows"
        sizes = np.int32(problem.size), np.int32(count)
        self._run(kernel, count, self._data, rows, *sizes, costs, has_room=not self._is_model)
        if not self._is_model:
            words = backend.download(rows)[:, : problem.kind.stored_length]
            solutions = problem.layout.from_device(problem.kind.read(words).astype(np.int64))
        units = problem.scale.unmarked(backend.download(costs))
        return np.asarray(problem.scale.user_costs(units)), solutions

    def violations(self, solutions: NDArray[Any]) -> NDArray[np.float64]:
        """Return the violations of the solutions of a model."""
        rows, count = self._backend.upload(self._rows(solutions)), len(solutions)
        violations = self._backend.zeros((count,), np.int64)
        sizes = np.int32(self._problem.size), np.int32(count)
        self._run("evaluate_violations", count, self._data, rows, *sizes, violations)
        return self._backend.download(violations).view(np.float64)

    def deltas(self, orders: NDArray[Any], ends: NDArray[np.int32]) -> dict[str, Ints]:
        """Return the cost changes by kind of move, in the unit of the kernels.

        `ends` has the first and last place of each move: orders x moves x 2.
        """
        backend, (count, moves, _), kinds = self._backend, ends.shape, self._problem.kind.moves
        changes = backend.zeros((len(kinds), count, moves), np.int64)
        rows = self._rows(orders)
        sizes = map(np.int32, (self._problem.size, rows.shape[1], count, moves))
        arrays = backend.upload(rows), *sizes, backend.upload(ends), changes
        self._run("compute_deltas", count, self._data, *arrays)
        by_move = dict(zip(kinds, backend.download(changes), strict=True))
        return {move: by_move[move] for move in kinds if move in self._problem.moves}

    def followed(
        self, solutions: NDArray[Any], walk: Walk, mates: Mates | None = None
    ) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """Return the costs after each move of a walk, computed by the state, and the solutions.

        With `mates`, the walk begins at the children of the solutions.
        """
        count, steps = walk.values.shape
        costs = self._backend.zeros((count, steps), np.int64)
        reached = self._backend.upload(np.repeat(self._problem.kind.encoded(solutions), steps, 0))
        self._follow(solutions, steps, (walk.numbers, walk.values), (costs, reached), mates)
        after = self._read(reached)
        by_step = [after[step::steps] for step in range(steps)]
        return np.asarray(self._problem.scale.user_costs(self._backend.download(costs))), by_step

    def children(self, solutions: NDArray[Any], mates: Mates) -> NDArray[Any]:
        """Return the children of solutions and their mates."""
        backend = self._backend
        none = np.zeros((1, 4), np.int32), np.zeros(1)
        unused = backend.zeros((1,), np.int64), backend.upload(mates.solutions[:1])
        return self._read(self._follow(solutions, 0, none, unused, mates))

    def _follow(
        self,
        solutions: NDArray[Any],
        steps: int,
        moves: tuple[NDArray[Any], NDArray[Any]],
        results: tuple[Array, Array],
        mates: Mates | None,
    ) -> Array:
        """Create children if there are mates, then make the moves; return the final solutions."""
        upload, kind, count = self._backend.upload, self._problem.kind, len(solutions)
        rows = upload(kind.encoded(solutions))
        sizes = map(np.int32, (kind.size, count, steps))
        crossed: tuple[Any, Any] = Null(kind.stored_dtype(in_tiles=False)), Null(np.uint32)
        if mates is not None:
            crossed = upload(kind.encoded(mates.solutions)), upload(mates.random)
        arguments = rows, *sizes, *map(upload, moves), *results, *crossed
        self._run("follow_moves", count, self._data, *arguments, has_room=True)
        return rows

    def _read(self, rows: Array) -> NDArray[Any]:
        kind = self._problem.kind
        solutions = np.asarray(kind.read(self._backend.download(rows)))
        if isinstance(kind, VectorKind):
            low, high = kind.bounds()
            solutions = np.minimum(low + (high - low) * solutions, high)
        return solutions

    def repaired(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the solutions after the repair of the model."""
        kind, backend, count = self._problem.kind, self._backend, len(solutions)
        rows = backend.upload(kind.encoded(solutions))
        self._run("repair_solutions", count, self._data, rows, np.int32(kind.size), np.int32(count))
        return np.asarray(kind.read(backend.download(rows)))

    def fault(self) -> str:
        """Return the fault that the last calls have reported, or an empty string."""
        try:
            self._problem.evaluation.reject_faults(self._data, self._backend)
        except RunError as error:
            return str(error)
        return ""

    def _rows(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return solutions as kernels read them; for `evaluate_rows`, padded to 16 bytes."""
        if self._is_model:
            return self._problem.kind.stored(solutions)
        stored = self._problem.kind.stored(self._problem.layout.to_device(solutions))
        return np.pad(stored, ((0, 0), (0, -stored.shape[1] % 4)))

    def _run(self, kernel: str, count: int, *arguments: Any, has_room: bool = False) -> None:
        blocks = max(1, min(count, _BLOCKS))
        room = self._room if has_room else None
        call: Call = self._backend.call(self._program, kernel, *arguments, blocks=blocks, room=room)
        self._backend.run([call])
        self._backend.synchronise()


_THREADS = (32, 128, 1024)
"""Threads per block on a GPU."""

Evaluate = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
"""Returns the costs, as the user sees them, and the evaluated solutions."""


@dataclass(frozen=True)
class Way:
    """A way to evaluate solutions."""

    name: str
    evaluate: Evaluate

    def timed(self, solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], float]:
        """Return costs and solutions, and the number of solutions per second."""
        began = time.perf_counter()
        costs, after = self.evaluate(solutions)
        return costs, after, len(solutions) / max(1e-9, time.perf_counter() - began)


@dataclass(frozen=True)
class CompiledWay(Way):
    """A way to evaluate solutions by compiled code."""

    program: CheckProgram

    def named(self, function: str) -> str:
        """Return the name with another function instead of the cost, for messages."""
        return self.name.replace("cost", function, 1)


def backends() -> tuple[list[Backend], list[str]]:
    """Return the available backends, and why others are missing."""
    available, missing = [], []
    try:
        available.append(backend_of("cpu"))
    except CompileError as error:
        missing.append(f"not checked on a CPU: {error}")
    usual, reason = automatic()
    if usual == "cuda":
        available.append(backend_of("cuda"))
    else:
        missing.append(f"not checked on a GPU: {reason}")
    return available, missing


def compiled_ways(problem: Problem, available: list[Backend]) -> Iterator[CompiledWay]:
    """Yield the compiled ways: on the CPU, and in blocks of several sizes on a GPU."""
    for backend in available:
        for threads in (1,) if backend.in_host_memory else _THREADS:
            program = CheckProgram(problem, backend, threads)
            name = "CPU" if backend.in_host_memory else f"GPU, {threads} threads"
            yield CompiledWay(f"cost, {name}", program.evaluate, program)


def python_ways(problem: Problem, available: list[Backend]) -> Iterator[Way]:
    """Yield the Python functions; the reference is the first, if there is one."""
    if not isinstance(problem, Model):
        yield Way(
            "NumPy", lambda solutions: (problem.scale.value_of(problem.costs(solutions)), solutions)
        )
        return
    if problem.reference is not None:
        yield Way("reference", _by_function(problem.reference, problem))
    if (python := problem.evaluation.python) is None:
        return
    function, is_batch = python.function, python.is_batch
    yield Way("batch, NumPy" if is_batch else "function", _by_function(function, problem))
    for backend in available:
        if is_batch and not backend.in_host_memory:
            yield Way("batch, CuPy", _by_function(function, problem, backend))


def _by_function(
    function: UserFunction, problem: Problem, backend: Backend | None = None
) -> Evaluate:
    def evaluate(solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        if backend is None:
            return function.costs(solutions, real=problem.scale.real), solutions
        with backend.python() as module:
            costs = function.costs(module.asarray(solutions), real=problem.scale.real)
            return backend.download(costs), solutions

    return evaluate
