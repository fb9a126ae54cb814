"""Call the compiled functions of a problem on given solutions, on any backend."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block, Call, Program, Room
from islands.backends.source import Macros, Source
from islands.errors import RunError
from islands.modelling.problem import StatedProblem
from islands.problems.base import Problem

MOVES = ("swap", "reversal", "insertion")
_BLOCKS = 1024

Ints = NDArray[np.int64]


def source_of(entry: str, problem: Problem, data: Struct) -> Source:
    """Return a program that includes kernels/check/functions.cuh, for a problem with its data."""
    macros: Macros = {
        **problem.defines(),
        "ISLANDS_PROBLEM": problem.header,
        "COSTS_MARKED": str(int(problem.marks)),
        "COSTS_REAL": str(int(problem.real)),
    }
    if problem.solution_kind == "order" and not isinstance(problem, StatedProblem):
        macros["CHECK_ORDERS"] = "1"
    if problem.solution_kind == "order" and problem.moves:
        macros["CHECK_DELTAS"] = "1"
        macros |= {f"CHECK_{move.upper()}": "1" for move in problem.moves if move in MOVES}
    return Source(entry, macros, {"problem::Data": data})


class CheckProgram:
    """The functions of a problem on a backend, with blocks of a given number of threads."""

    def __init__(self, problem: Problem, backend: Backend, threads: int) -> None:
        """Compile the program and copy the data of the problem."""
        self._problem, self._backend = problem, backend
        self._data = Struct(
            **{
                name: value if isinstance(value, np.generic) else backend.upload(value)
                for name, value in problem.data().items()
            }
        )
        self._is_stated = isinstance(problem, StatedProblem)
        source = source_of("check/functions.cuh", problem, self._data)
        self._room: Room | None = None
        block = Block() if backend.in_host_memory else Block(threads)
        if not self._is_stated:
            self._room = backend.required_room(source, np.int32(problem.size), self._data)
            if backend.block_memory is not None and self._room.total > backend.block_memory:
                chosen = backend.block(self._room, 16 * threads, _BLOCKS, fewest=threads)
                block = Block(threads, 1, chosen.spill)
        self._program: Program = backend.compile(source, block)

    def costs(self, solutions: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
        """Return the costs as on the device, and the solutions after their evaluation."""
        backend, count = self._backend, len(solutions)
        costs = backend.zeros((count,), np.int64)
        rows = backend.upload(self._rows(solutions))
        sizes = (np.int32(self._problem.size), np.int32(count))
        kernel = "evaluate_solutions" if self._is_stated else "evaluate_rows"
        self._run(kernel, count, self._data, rows, *sizes, costs)
        found = solutions if self._is_stated else self._read(backend.download(rows))
        return backend.download(costs), found

    def deltas(self, orders: NDArray[Any], ends: NDArray[np.int32]) -> dict[str, Ints]:
        """Return the changes of the device's costs by each kind of move.

        `ends` has the first and the last place of each move: orders x moves x 2.
        """
        backend, (count, moves, _) = self._backend, ends.shape
        found = backend.zeros((len(MOVES), count, moves), np.int64)
        rows = self._rows(orders)
        sizes = (self._problem.size, rows.shape[1], count, moves)
        self._run(
            "compute_deltas",
            count,
            *(self._data, backend.upload(rows), *(np.int32(size) for size in sizes)),
            *(backend.upload(ends), found),
            without_room=True,
        )
        every = backend.download(found)
        return {move: every[i] for i, move in enumerate(MOVES) if move in self._problem.moves}

    def repaired(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return what the repair of a stated problem makes of solutions."""
        assert isinstance(self._problem, StatedProblem)
        backend, count = self._backend, len(solutions)
        rows = backend.upload(self._problem.kind.encoded(solutions))
        sizes = (np.int32(self._problem.size), np.int32(count))
        self._run("repair_solutions", count, self._data, rows, *sizes)
        return np.asarray(self._problem.kind.read(backend.download(rows)))

    def fault(self) -> str:
        """Return the fault of a function that the last calls have reported, or an empty string."""
        try:
            self._problem.refuse_faults(self._data, self._backend)
        except RunError as error:
            return str(error)
        return ""

    def _rows(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return solutions as kernels read them."""
        if isinstance(self._problem, StatedProblem):
            return self._problem.kind.stored(solutions)
        count, size = solutions.shape
        if self._problem.solution_kind == "order":
            rows = np.zeros((count, -(-size // 4) * 4), np.int32)
            rows[:, :size] = self._problem.to_device(solutions)
            return rows
        chosen = self._problem.to_device(solutions)
        bits = np.zeros((count, -(-size // 128) * 128), np.uint8)
        bits[:, :size] = chosen
        return np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)

    def _read(self, rows: NDArray[Any]) -> NDArray[Any]:
        size = self._problem.size
        if self._problem.solution_kind == "order":
            return self._problem.from_device(rows[:, :size].astype(np.int64))
        bits = np.unpackbits(rows.astype("<u4").view(np.uint8), axis=1, bitorder="little")
        return self._problem.from_device(bits[:, :size].astype(np.int64))

    def _run(self, kernel: str, count: int, *arguments: Any, without_room: bool = False) -> None:
        blocks = max(1, min(count, _BLOCKS))
        room = None if without_room else self._room
        call: Call = self._backend.call(self._program, kernel, *arguments, blocks=blocks, room=room)
        self._backend.run([call])
        self._backend.synchronise()
