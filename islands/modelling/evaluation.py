"""The evaluation of a user-defined problem, by a program or by a Python function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import is_gpu
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.errors import CompileError
from islands.modelling import messages
from islands.modelling.faults import FAULTS, no_faults, reject_faults
from islands.modelling.functions import SEED, PythonCosts
from islands.modelling.members import Members
from islands.modelling.subclasses import Extensible
from islands.problems import priced
from islands.problems.evaluation import Ends, Evaluation, never
from islands.problems.real_costs import ordered

_BLOCKS, _THREADS = 1024, 128


class ModelEvaluation(Evaluation):
    """The evaluation of a model; its `reference` function only verifies costs."""

    python: PythonCosts | None

    def __init__(
        self, model: Extensible, python: PythonCosts | None, violation: PythonCosts | None
    ) -> None:
        """Evaluate by the model's functions in CUDA, or by functions in Python."""
        functions, has_rules = model.functions, bool(model.kind.rules)
        self.is_serial = functions is not None and not functions.cooperative
        is_repaired = functions is not None and functions.repair is not None
        items = 1 if self.is_serial else model.size
        super().__init__(
            model,
            items=items,
            changes_solutions=is_repaired or has_rules,
            same_memory=functions is None or not functions.memory_depends_on_data,
        )
        self.numbers_differ = functions is not None
        self.python, self._violation, self._model = python, violation, model
        self.argument = "cost" if python is None else python.function.argument
        self.name = f"{self.argument}= of {model.name}"
        compare = "Compare its functions: islands.check_problem(problem)"
        self.cost_fix = compare if python is None else f"{SEED}. {compare}"
        self.checks_on = ""
        """The backend that verifies the costs of a run, or an empty string for any backend."""

    @property
    def checker(self) -> str:
        """What computes the exact costs, for messages."""
        if self._model.reference is not None:
            return "its reference"
        if self.python is not None:
            return f"{self.argument}="
        return f"its program on the {self.checks_on.upper() or 'CPU'}"

    @contextmanager
    def prepared(self, processes: int, backend: str) -> Iterator[str]:
        """Start `processes` processes that call function=, and yield a description."""
        self.checks_on = other_backend(backend)
        if self.python is None:
            yield ""
            return
        rule = nullcontext() if self._violation is None else self._violation.prepared(processes)
        with self.python.prepared(processes) as words, rule:
            yield words

    def reports(self) -> Members:
        """Return the member of `struct Data` to which kernels report invalid values."""
        return {FAULTS: no_faults()}

    def reject_faults(self, data: Struct, device: Backend) -> None:
        """Raise a `RunError` if kernels have reported an invalid value of a user function."""
        if (words := data.members.get(FAULTS)) is not None:
            self.reject_reported(device.download(words))

    def reject_reported(self, words: NDArray[np.int64]) -> None:
        """Raise a `RunError` if the array of reports contains a fault."""
        model = self._model
        bits = priced.LARGEST_COST.bit_length() - 1 if model.scale.priced else 62
        functions = model.functions
        # With repair=, the moves of a state are not used.
        is_state = functions is not None and functions.repair is None
        reject_faults(
            words,
            self.argument,
            "state" if is_state else "repair",
            model.kind,
            maximise=model.maximise,
            bits=bits,
        )

    def device_costs(
        self,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        factors: NDArray[np.float64] | float = 1.0,
        ends: Ends | None = None,
    ) -> NDArray[np.int64]:
        """Return the costs as minimised integers, as on the device, without the reference."""
        model, scale = self._model, self._model.scale
        solutions = np.asarray(solutions).astype(model.kind.dtype)
        if self.python is None:
            costs = model.costs(solutions)
        else:
            costs = self.python.costs(solutions, must_leave, ends)
        minimised = -costs if model.maximise else costs
        if scale.priced:
            return self._compared(solutions, minimised, must_leave, factors)
        if scale.real and bool((minimised == -np.inf).any()):
            raise messages.infinitely_good(instance=model.instance, maximise=model.maximise)
        return ordered(minimised) if scale.real else minimised.astype(np.int64)

    def _compared(
        self,
        solutions: NDArray[Any],
        costs: NDArray[Any],
        must_leave: Callable[[], bool],
        factors: NDArray[np.float64] | float,
    ) -> NDArray[np.int64]:
        """Return minimised costs with priced violations, as kernels compare them."""
        model, real = self._model, self._model.scale.real
        if not real and (np.abs(costs) > priced.LARGEST_COST).any():
            raise messages.too_large_with_violation(
                argument=self.argument, cost=costs[np.abs(costs).argmax()]
            )
        violations = model.evaluated_violations(solutions[: len(costs)], "", must_leave)
        count = len(violations)
        prices = model.price * np.broadcast_to(factors, (len(solutions),))[:count]
        return priced.compared(costs[:count], violations, prices, real=real)


@cache
def backend_of(name: str) -> Backend:
    """Return the backend with this name, or the first available one, for evaluations."""
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
    """Return the backend that verifies the costs of a run: one other than `name` if available."""
    if name == "cuda":
        return backend_of("").name
    return "cuda" if is_gpu("auto") else "cpu"


def costs_of(
    problem: Extensible,
    solutions: NDArray[Any],
    backend: str = "",
    kernel: str = "evaluate_solutions",
) -> NDArray[np.int64]:
    """Return the device cost of each row without its violation, or the result of `kernel`."""
    device = backend_of(backend)
    data = device.uploaded(problem.device_data())
    macros = {**problem.defines(), "ISLANDS_PROBLEM": problem.header}
    block = Block(_THREADS) if not device.in_host_memory else Block()
    program = device.compile(Source("solutions.cuh", macros, {"problem::Data": data}), block)
    stored = device.upload(problem.kind.stored(solutions))
    costs = device.zeros((len(solutions),), np.int64)
    arguments = data, stored, np.int32(problem.size), np.int32(len(solutions)), costs
    blocks = max(1, min(len(solutions), _BLOCKS))
    device.run([device.call(program, kernel, *arguments, blocks=blocks)])
    values = device.download(costs)
    problem.evaluation.reject_faults(data, device)
    return values
