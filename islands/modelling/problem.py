"""A problem that a user states in a script: a kind of solution, and functions for its cost."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends import takes_gpu
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block
from islands.backends.header import Header
from islands.backends.source import Macros, Source
from islands.errors import CompileError, InputError, RunError
from islands.instances.catalogue import BestKnown
from islands.instances.solution_files import solution_file
from islands.modelling.faults import FAULTS, ProblemWords, no_faults, refuse_faults
from islands.modelling.functions import Function, WorkerPool, costs_by, reference_of, returned_by
from islands.modelling.header import Functions, Members, Text, box_members
from islands.paths import published
from islands.problems.base import Problem, Solution, never
from islands.problems.saved import FACTS, packed
from islands.problems.solution_kinds import Box, KeyVectors, Order, SolutionKind, Subset
from islands.problems.values import ordered
from islands.untrusted import bounded_text, followed

_BLOCKS = 1024


@cache
def backend_of(name: str) -> Backend:
    """Return a backend for evaluations: the one with this name, or the first that exists."""
    from islands.backends.cpu import CpuBackend

    if name == "cuda":
        from islands.backends.cuda import CudaBackend

        return CudaBackend()
    try:
        return CpuBackend()
    except CompileError:
        if name == "cpu":
            raise
        return backend_of("cuda")


def other_backend(name: str) -> str:
    """Return the backend that checks the costs of a run on another one, if there are two."""
    if name == "cuda":
        return backend_of("").name
    return "cuda" if takes_gpu("auto") else "cpu"


def costs_of(
    problem: StatedProblem, solutions: NDArray[Any], backend: str = "", threads: int = 128
) -> NDArray[np.int64]:
    """Return the device's cost of each row of `solutions`."""
    device = backend_of(backend)
    members = {
        name: value if isinstance(value, np.generic) else device.upload(value)
        for name, value in problem.data().items()
    }
    data = Struct(**members)
    macros = {
        **problem.defines(),
        "ISLANDS_PROBLEM": problem.header,
        "ISLANDS_DATA_BYTES": str(data.bytes),
    }
    block = Block(threads) if not device.in_host_memory else Block()
    program = device.compile(Source("solutions.cuh", macros), block)
    stored = device.upload(problem.kind.stored(solutions))
    costs = device.zeros((len(solutions),), np.int64)
    call = device.call(
        program,
        "evaluate_solutions",
        *(data, stored, np.int32(problem.size), np.int32(len(solutions)), costs),
        blocks=max(1, min(len(solutions), _BLOCKS)),
    )
    device.run([call])
    found = device.download(costs)
    problem.refuse_faults(data, device)
    return found


LOW, HIGH, DATA = "low", "high", "data/"
"""Names of arrays: bounds of vectors, and the prefix of the members of the data."""


def saved(problem: StatedProblem) -> dict[str, NDArray[Any]]:
    """Return the arrays from which `modelling.restored` makes the problem again."""
    functions, kind, best = problem.functions, problem.kind, problem.best_known
    facts = {
        "solutions": kind.name,
        "size": kind.size,
        "name": problem.name,
        "maximise": problem.maximise,
        "best_known": None if best is None else best.value,
        "python": None if problem.python is None else problem.python[0],
        "functions": None if functions is None else dataclasses.asdict(functions),
        "numbers": [k for k, value in problem.members.items() if isinstance(value, np.generic)],
    }
    arrays: dict[str, NDArray[Any]] = {FACTS: packed(facts)}
    if isinstance(kind, Box):
        arrays |= {LOW: kind.low, HIGH: kind.high}
    return arrays | {f"{DATA}{name}": np.asarray(value) for name, value in problem.members.items()}


_ROWS_AT_ONCE = 1 << 22
_SOLUTION_BASE, _SOLUTION_ENTRY = 1 << 20, 64
"""The most bytes in the file of a solution: of its comments, and of each entry."""
_SEED = (
    "A solution must always have the same cost: seed random generators of the script, such as"
    " np.random.default_rng(1), or load the data from a file"
)


class StatedProblem(Problem):
    """A problem whose cost a user has written, in CUDA or in Python."""

    moves_fix = "Define delta for it, or leave delta out"
    solution_suffix: ClassVar[str] = ".txt"
    hint: ClassVar[str] = "All costs were infinite: let the cost of a solution be finite"

    def __init__(
        self,
        kind: SolutionKind,
        name: str,
        *,
        members: Members,
        functions: Functions | None,
        python: tuple[str, Function] | None,
        reference: Function | None,
        maximise: bool,
        best_known: BestKnown | None,
        plot: Function | None = None,
    ) -> None:
        """Take either CUDA `functions` or the Python function of `batch=` or `function=`."""
        self.kind, self.members, self.functions = kind, members, functions
        self.python, self.reference, self.plot = python, reference, plot
        self.name, self.solution_kind = name, kind.name
        self.instance, self.size = name, kind.size
        self.maximise, self.best_known = maximise, best_known
        self._is_real: bool | None = None
        self._first: NDArray[Any] | None = None
        """The cost of a first solution by the Python function."""
        self._checks_on = ""
        self._workers: WorkerPool | None = None
        if functions is not None:
            self._is_real = functions.returns_real()
            self.header = functions.header(kind, members | box_members(kind))
            self.moves = functions.moves(kind)
            self.evaluation = "block" if functions.cooperative else "thread"
            self.changes_solutions = functions.repair is not None
        else:
            self.header = Header("problems/outside.cuh")
            self.moves_fix = "Only costs in CUDA, cost=, may have one"
            assert python is not None
            self.evaluation = python[0]
        self.evaluator = f"{'cost' if python is None else python[0]}= of {name}"
        if isinstance(kind, Box):
            self.low, self.high = kind.low, kind.high

    @property
    def real(self) -> bool:  # type: ignore[override]
        """Whether costs are floating-point numbers; a Python function shows it by a first cost."""
        if self._is_real is None:
            self._first = self._python_costs(self.kind.drawn(1, seed=0), None)
            self._is_real = self._first.dtype.kind == "f"
        return self._is_real

    @property
    def cost_fix(self) -> str:  # type: ignore[override]
        """What to do if a cost of the run is wrong."""
        compare = "Compare its functions: islands.check_problem(problem)"
        return compare if self.python is None else f"{_SEED}. {compare}"

    def defaults(self) -> dict[str, Any]:
        """Return the default algorithm for this kind of solution."""
        return {"algorithm": self.kind.algorithm, **self.kind.defaults}

    def defines(self) -> Macros:
        """Return the macros of the header."""
        if self.functions is None:
            return {
                "SOLUTION_KIND": str(self.kind.number),
                "STATED_MAXIMISES": str(int(self.maximise)),
            }
        return dict(self.functions.macros(self.kind, real=self.real, maximise=self.maximise))

    def stored(self, *, in_tiles: bool) -> tuple[np.dtype[Any], int]:
        """Return the type and number of words of a solution in kernels/problems/solution.cuh."""
        return self.kind.stored_dtype(in_tiles=in_tiles), self.kind.stored_length

    def saved(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which the problem can be made again."""
        return saved(self)

    def batch_costs(self, stored: Any, *, is_compared: bool) -> Any:
        """Return the costs of stored solutions in the memory where they are, of any value."""
        assert self.python is not None
        argument, function = self.python
        solutions = self.kind.read(stored)
        return returned_by(function, argument, solutions, self.real, is_compared=is_compared)

    def data(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `struct Data`."""
        return self._inputs() | self.reports()

    def reports(self) -> Members:
        """Return the member of `struct Data` to which kernels report wrong values."""
        return {FAULTS: no_faults()}

    def arrays(self) -> list[NDArray[Any]]:
        """Return the members of `struct Data` that kernels read, as arrays."""
        return [np.asarray(value) for value in self._inputs().values()]

    def refuse_faults(self, data: Struct, device: Backend) -> None:
        """Raise a `RunError` if kernels have reported a wrong value of a user's function."""
        if (words := data.members.get(FAULTS)) is not None:
            argument = "cost" if self.python is None else self.python[0]
            stated = ProblemWords(argument, self.kind, self.maximise)
            refuse_faults(device.download(words), stated)

    def _inputs(self) -> Members:
        return self.members | box_members(self.kind)

    def items(self) -> int:
        """Return 1 if one thread evaluates a solution, else the number of items."""
        return 1 if self.evaluation == "thread" else self.size

    def costs(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each row: by the reference, the Python function, or the program."""
        solutions = np.asarray(solutions).astype(self.kind.dtype)
        if self.reference is not None:
            return self._by("reference", self.reference, solutions, is_batch=True)
        if self.python is not None:
            return self._python_costs(solutions, self.real)
        return self.program_costs(solutions, self._checks_on)

    @property
    def checker(self) -> str:  # type: ignore[override]
        """What computes the exact costs."""
        if self.reference is not None:
            return "its reference"
        if self.python is not None:
            return f"{self.python[0]}="
        return f"its program on the {self._checks_on.upper() or 'CPU'}"

    def program_costs(self, solutions: NDArray[Any], backend: str = "") -> NDArray[Any]:
        """Return the cost of each row as the program on a backend computes it.

        By default, the backend is the CPU if there is a compiler, otherwise a GPU.
        """
        units = costs_of(self, np.asarray(solutions), backend)
        return np.asarray(self.own_sense(units))

    def device_costs(
        self, solutions: NDArray[Any], must_leave: Callable[[], bool] = never
    ) -> NDArray[np.int64]:
        """Return the costs as on the device: minimised integers."""
        if self.python is None:
            return self.on_device(self.costs(solutions))
        # The reference only checks the result.
        solutions = np.asarray(solutions).astype(self.kind.dtype)
        return self.on_device(self._python_costs(solutions, self.real, must_leave))

    def on_device(self, costs: NDArray[Any]) -> NDArray[np.int64]:
        """Return costs in the sense of the problem as minimised integers."""
        minimised = -costs if self.maximise else costs
        if self.real and bool((minimised == -np.inf).any()):
            raise RunError(
                f"{self.instance}: a cost is {'inf' if self.maximise else '-inf'}, better than any"
                f" other. Return {'-inf' if self.maximise else 'inf'} if a solution is infeasible"
            )
        return ordered(minimised) if self.real else minimised.astype(np.int64)

    def cost(self, solution: Solution) -> float:
        """Return the exact cost of one solution; refuse an invalid one."""
        self.check(solution)
        cost: float = self.costs(np.asarray(solution)[np.newaxis])[0].item()
        return cost

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` is not of the right kind."""
        array = np.asarray(solution)
        if array.shape != (self.size,):
            raise RunError(
                f"not a solution of {self.instance}: has the shape {array.shape}, not"
                f" ({self.size},)"
            )
        if not self.kind.holds(array[np.newaxis]):
            raise RunError(f"not a solution of {self.instance}: is not {self.kind.words}")

    def read_solution(self, path: Path) -> Solution:
        """Return the solution in a file with a number on each line."""
        path = solution_file(path, self.solution_suffix, "solution")
        longest = _SOLUTION_BASE + _SOLUTION_ENTRY * self.size
        lines = bounded_text(path, longest, followed, "replace").splitlines()
        words = [line for line in lines if line.strip() and not line.startswith("#")]
        try:
            numbers = np.array([float(word) for word in words])
        except ValueError as error:
            raise InputError(f"{path}: {error}. Write one number on each line") from None
        solution = numbers.astype(self.kind.dtype)
        if solution.shape != (self.size,):
            raise InputError(f"{path}: has {len(solution)} numbers, but needs {self.size}")
        if (solution != numbers).any() and self.kind.dtype.kind == "i":
            raise InputError(f"{path}: has numbers that are not whole. Correct them")
        return solution.astype(np.int64) if self.kind.dtype.kind == "i" else solution

    def write_solution(self, path: Path, solution: Solution, cost: float) -> None:
        """Write the entries of a solution, one on each line."""
        lines = [f"# {self.instance}: cost {cost}", *(str(each) for each in solution.tolist())]
        with published(path) as temporary:
            temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @contextmanager
    def prepared(self, processes: int, backend: str) -> Iterator[str]:
        """Let `processes` processes call function=; yield a text that says who calls it."""
        self._checks_on = other_backend(backend)
        if self.python is None:
            yield ""
            return
        argument, function = self.python
        reference = None
        if argument == "function":
            reference = reference_of(function)
        if reference is None or processes < 2:
            alone = argument == "function" and reference is None
            why = ": it is not at the top level of a script" if alone else ""
            yield f"costs by {argument}=, called by this process alone{why}"
            return
        with WorkerPool(reference, processes) as self._workers:
            self._require_equal_data(argument, self._workers)
            self.callers = processes
            yield f"costs by {argument}=, called by {processes} processes"
        self._workers, self.callers = None, 1

    def _require_equal_data(self, argument: str, workers: WorkerPool) -> None:
        """Refuse a function that gives another cost in a new process than in this one."""
        real = self.real  # sets the first cost
        assert self._first is not None
        own = self._first[0].item()
        other = workers.costs(argument, self.kind.drawn(1, seed=0), real=real)[0].item()
        if not self.agrees(own, other):
            raise RunError(
                f"{argument}= returned {own} for a solution, but {other} for the same one in a new"
                f" process, which has imported the script again. {_SEED}"
            )

    def _python_costs(
        self, solutions: NDArray[Any], real: bool | None, must_leave: Callable[[], bool] = never
    ) -> NDArray[Any]:
        assert self.python is not None
        argument, function = self.python
        if self._workers is not None and len(solutions) > 1:
            return self._workers.costs(argument, solutions, real=real, must_leave=must_leave)
        is_batch = argument == "batch"
        return self._by(argument, function, solutions, must_leave, is_batch=is_batch, real=real)

    def _by(
        self,
        argument: str,
        function: Function,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        *,
        is_batch: bool,
        real: bool | None = True,
    ) -> NDArray[Any]:
        if argument == "reference":
            real = self.real
        rows = max(1, _ROWS_AT_ONCE // self.size)
        how: dict[str, Any] = {"is_batch": is_batch, "real": real, "must_leave": must_leave}
        parts = [solutions[i : i + rows] for i in range(0, len(solutions), rows)]
        found = [costs_by(function, argument, each, **how) for each in parts]
        costs: NDArray[Any] = np.concatenate(found)
        return costs


_KINDS: dict[str, type[SolutionKind]] = {each.name: each for each in (Order, Subset, KeyVectors)}


class NeedsScriptError(InputError):
    """The problem has a Python function, which only its script defines."""


def restored(arrays: Mapping[str, NDArray[Any]]) -> StatedProblem:
    """Return the problem that these arrays describe; refuse one with a Python function."""
    from islands.modelling.problem import StatedProblem

    facts = json.loads(arrays[FACTS].tobytes())
    if facts["python"] is not None:
        raise NeedsScriptError(
            f"the cost of {facts['name']} is a Python function ({facts['python']}=), which is not"
            " stored with a run. Name the script that defines it"
        )
    size, texts = int(facts["size"]), facts["functions"]
    kind = (
        Box(arrays[LOW], arrays[HIGH])
        if facts["solutions"] == Box.name
        else _KINDS[facts["solutions"]](size)
    )
    found = {key.removeprefix(DATA): a for key, a in arrays.items() if key.startswith(DATA)}
    members: Members = {name: a[()] if name in facts["numbers"] else a for name, a in found.items()}
    best = facts["best_known"]
    return StatedProblem(
        kind,
        str(facts["name"]),
        members=members,
        functions=Functions(
            Text(**texts["cost"]),
            None if texts["delta"] is None else Text(**texts["delta"]),
            None if texts["repair"] is None else Text(**texts["repair"]),
            bool(texts["cooperative"]),
        ),
        python=None,
        reference=None,
        maximise=bool(facts["maximise"]),
        best_known=None if best is None else BestKnown(best, "best_known", "the script"),
    )
