"""User-defined problems: a kind of solution, and functions that compute its cost."""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.source import Header, Macros
from islands.errors import InputError, RunError, UsageError
from islands.instances.solution_files import solution_file, write_lines
from islands.modelling.evaluation import ModelEvaluation, costs_of
from islands.modelling.faults import wrong_violation
from islands.modelling.functions import PythonCosts, UserFunction, costs_and_violations
from islands.modelling.header import PRICE, Functions
from islands.modelling.kinds import flag
from islands.modelling.members import Members
from islands.modelling.statement import TEXTS, Statement, required_callable
from islands.modelling.subclasses import Extensible, has_other_cost, has_other_state, may_differ
from islands.modelling.texts import Text
from islands.problems import priced
from islands.problems.arguments import name_or
from islands.problems.arrays import FACTS, packed
from islands.problems.base import Solution
from islands.problems.capabilities import ChainMoves, ProblemWords
from islands.problems.evaluation import never
from islands.problems.flips import FORMS, Flips
from islands.problems.kinds import SOLUTION_KINDS
from islands.problems.scale import Scale
from islands.problems.solution_kinds import OrderKind, SolutionKind
from islands.untrusted import bounded_text, followed

_pricing = RLock()
"""Held while a price is computed, so that other threads wait for it."""
_PRICED_BY = 16
"""Number of random solutions in each group that is used to estimate the price of a violation. It is
small, as the user's functions may be slow."""
_SOLUTION_BASE, _SOLUTION_ENTRY = 1 << 20, 64
"""Maximum number of bytes in a solution file, for comments and for each entry."""
_LOW, _HIGH, _DATA = "low", "high", "data/"
"""Names of saved arrays: bounds of vectors, and the prefix of data members."""


class NeedsScriptError(InputError):
    """The problem cannot be restored, as it has a Python function that only its script defines."""


class Model(Extensible):
    """A problem with a user-defined cost, in CUDA or in Python."""

    solution_suffix: ClassVar[str] = ".txt"
    words: ProblemWords = ProblemWords(
        infeasible_fix="All costs were infinite: return a finite cost for feasible solutions",
        moves_fix="Define delta for it, or leave delta out",
    )
    learns: bool = False
    """True if the state keeps learned weights within a generation; generations are then longer."""
    searches: bool = False
    """True if steps belong to a local search in the state, such as a tabu search: individuals then
    restart repeatedly as children, and the best result of each is kept."""

    ready: str | None = None
    """The name of the ready-made model whose `draw` is also used for a problem read from a file."""

    def __init__(self, kind: SolutionKind, statement: Statement) -> None:
        """Create the problem from a kind of solution and the arguments that define the cost."""
        self.kind = kind
        self.statement = statement = self.completed(statement)
        self.solution_kind, self.size = kind.encoded_as, kind.size
        self.low, self.high, self.layout = kind.low, kind.high, kind.layout
        self._price = statement.fixed_price()
        adapts_price = self._price is None
        self._python = python = statement.python(kind)
        self.functions: Functions | None = None
        self._violation: PythonCosts | None = None
        if python is None:
            self.functions = statement.functions(kind)
        else:
            statement.require_no_code(kind, python.function.argument)
            self._violation = statement.python_violation(python, kind)
        self.reference: UserFunction | None = None
        if statement.reference is not None:
            function = required_callable("reference", statement.reference)
            self.reference = UserFunction("reference", function, presented=kind.presented)
        if statement.plot is not None:
            self.plot = required_callable("plot", statement.plot)
        self.members = statement.members(kind)
        self.name = self.instance = name_or(statement.name, f"{kind.made_by}-{kind.size}")
        self.maximise = flag("maximise", statement.maximise)
        self.best_known = statement.best()
        self._priced = self._violation is not None
        if self.functions is not None:
            self._compose(self.functions)
        else:
            self.header = Header("problems/outside.cuh")
            self.chains = ChainMoves(kind.proposals)
            self.words = replace(self.words, moves_fix="Write the cost and its delta in CUDA")
        self.reference_violation: UserFunction | None = None
        self._adapts_price = self._priced and adapts_price
        if self._priced and self.reference is not None:
            self.reference, self.reference_violation = costs_and_violations(self.reference)
        self._evaluation = ModelEvaluation(self, python, self._violation)

    def _compose(self, functions: Functions) -> None:
        """Create the header of functions in CUDA, and derive the available moves."""
        kind = self.kind
        has_state = functions.state is not None
        self.learns = has_state and bool(self.inherited("learns", has_other_state))
        self.searches = has_state and bool(self.inherited("searches", has_other_state))
        self._returns_real = functions.returns_real(kind)
        self._priced = functions.violation is not None
        price = {PRICE: np.float64(0)} if self._priced else {}
        self.header = functions.header(kind, {**self.members, **kind.members, **price})
        self.moves = functions.moves(kind)
        self.chains = ChainMoves(
            functions.proposals(kind),
            has_state=has_state,
            has_steps=functions.has_steps,
            has_cross=functions.has_cross,
        )

    def plain(self) -> Any:
        """Return a record of `islands.models.plain` for other solvers, or None."""
        record_of = self.inherited("_plain", has_other_cost) if self.choose is None else None
        return None if record_of is None else record_of()

    @cached_property
    def flips(self) -> Flips | None:
        """The cost changes of flips, for a sparse quadratic cost if all subsets are allowed."""
        form = self.statement.quadratic
        if form is None or self.chains.proposals != ("flip",):
            return None
        flips = Flips.of(form, self.members, maximise=self.maximise)
        return flips if flips is not None and flips.suits else None

    @property
    def scale(self) -> Scale:
        """How to interpret costs; the first cost of a Python function shows if they are real."""
        return Scale(
            maximise=self.maximise,
            real=self._returns_real if self._python is None else self._python.real,
            priced=self._priced,
            adapts_price=self._adapts_price,
        )

    @property
    def evaluation(self) -> ModelEvaluation:
        """The evaluation, which calls the user's functions."""
        return self._evaluation

    def launch_key(self) -> Hashable:
        """Return the code, the kind of solution and the shapes of the data.

        Return None if the memory of kernels depends on the data, or if a subclass overrides
        members that may differ between its problems, such as `defaults`.
        """
        is_plain = self.best_known is None and self.functions is not None
        if not is_plain or not self.evaluation.same_memory or may_differ(type(self)):
            return None
        shapes = [(name, np.shape(value)) for name, value in self._inputs().items()]
        bounds = [np.asarray(bound).tobytes() for bound in self.kind.box.values()]
        has_flips = self.flips is not None
        facts = self.size, self.maximise, self.learns, self.searches, has_flips, self._adapts_price
        return (self.header.name, *facts, *shapes, *bounds, *self.defines().items())

    def defines(self) -> Macros:
        """Return the macros of the header."""
        if self.functions is None:
            return {
                "SOLUTION_KIND": str(self.kind.number),
                "STATED_MAXIMISES": str(int(self.maximise)),
            }
        return dict(self.functions.macros(self.kind, real=self.scale.real, maximise=self.maximise))

    def device_data(self) -> Members:
        """Return the members of `struct Data`: inputs, and the array of reported faults."""
        return self._inputs() | self.evaluation.reports()

    def arrays(self) -> list[NDArray[Any]]:
        """Return the inputs in `struct Data` as arrays."""
        return [np.asarray(value) for value in self._inputs().values()]

    def _inputs(self) -> Members:
        price = {PRICE: np.float64(self.price)} if self._priced and self._python is None else {}
        return {**self.members, **self.kind.members, **price}

    @property
    def price(self) -> float:
        """The price of a unit of violation, the same on all ranks and backends."""
        with _pricing:
            if self._price is None:
                # A placeholder, as costs and violations do not depend on the price.
                self._price = price = 1.0
                try:
                    prices = [
                        priced.price_of(self._evaluated_costs(x), self.evaluated_violations(x))
                        for x in _samples(self.kind)
                    ]
                    price = max(prices) or 1.0
                except BaseException:
                    self._price = None  # another run must not use it
                    raise
                self._price = price
            return self._price

    def costs(self, solutions: ArrayLike) -> NDArray[Any]:
        """Return the cost of each row: by the reference, the Python function, or the program."""
        solutions = self._rows(solutions).astype(self.kind.dtype)
        if self.reference is not None:
            return np.asarray(self.reference.costs(solutions, real=self.scale.real))
        return self._evaluated_costs(solutions, self.evaluation.checks_on)

    def _evaluated_costs(self, solutions: NDArray[Any], backend: str = "") -> NDArray[Any]:
        if self._python is not None:
            return self._python.costs(solutions)
        return self.program_costs(solutions, backend)

    def violation(self, solution: Solution) -> float:
        """Return the violation of a solution; 0 if it is feasible."""
        violation: float = self.violations(self.kind.array_of(solution)[np.newaxis])[0].item()
        return violation

    def violations(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the violation of each row, computed as in `costs`; zeros without `violation=`."""
        solutions = np.asarray(solutions).astype(self.kind.dtype)
        if not self._priced:
            return np.zeros(len(solutions))
        if self.reference_violation is not None:
            return _usable(self.reference_violation.costs(solutions, real=None))
        return self.evaluated_violations(solutions, self.evaluation.checks_on)

    def evaluated_violations(
        self,
        solutions: NDArray[Any],
        backend: str = "",
        must_leave: Callable[[], bool] = never,
    ) -> NDArray[np.float64]:
        """Return the violation of each row, as evaluated in a run: without the reference."""
        if self._violation is not None:
            return _usable(self._violation.costs(solutions, must_leave))
        return costs_of(self, solutions, backend, kernel="evaluate_violations").view(np.float64)

    def program_costs(self, solutions: NDArray[Any], backend: str = "") -> NDArray[Any]:
        """Return the cost of each row, computed by the program on a backend.

        By default, the backend is the CPU if there is a compiler, otherwise a GPU.
        """
        units = costs_of(self, np.asarray(solutions), backend)
        return np.asarray(self.scale.user_costs(units))

    def parts_of(self, solution: Solution) -> list[NDArray[Any]]:
        """Return the parts of a solution of `islands.permutation(n, parts=...)`."""
        if not isinstance(self.kind, OrderKind):
            raise UsageError(f"parts_of: {self.name} has no orders. Use the solution itself")
        return self.kind.split(self._shaped(solution))

    def cost(self, solution: ArrayLike) -> float:
        """Return the exact cost of a solution; reject an invalid one."""
        array = self.kind.array_of(solution)
        self.check(array)
        cost: float = self.costs(array[np.newaxis])[0].item()
        return cost

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` is not of the right kind."""
        array = self._shaped(solution)
        if not self.kind.holds(array[np.newaxis]):
            raise RunError(f"not a solution of {self.instance}: {self.kind.fault(array)}")

    def _shaped(self, solution: Solution) -> NDArray[Any]:
        """Return a solution as an array; reject other shapes."""
        array = self.kind.array_of(solution)
        if array.shape != (self.size,):
            raise RunError(
                f"not a solution of {self.instance}: has the shape {array.shape}, not"
                f" ({self.size},)"
            )
        return array

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
        if self.kind.largest is None:
            return solution
        if (solution != numbers).any():
            raise InputError(f"{path}: has numbers that are not whole. Correct them")
        return solution.astype(np.int64)

    def write_solution(self, path: Path, solution: Solution, cost: float) -> None:
        """Write the entries of a solution, one on each line."""
        head = f"# {self.instance}: cost {cost}"
        write_lines(path, [head, *self.kind.lines(solution)])

    def saved(self) -> dict[str, NDArray[Any]]:
        """Return the arrays from which `restored` recreates the problem."""
        best = self.best_known
        facts = {
            "solutions": self.kind.name,
            "size": self.size,
            "own": self.kind.options,
            "name": self.name,
            "maximise": self.maximise,
            "price": self.price if self._priced and self._python is None else None,
            "adapts_price": self._adapts_price,
            "best_known": None if best is None else best.value,
            "python": None if self._python is None else self.evaluation.argument,
            "functions": None if self.functions is None else self.functions.stored(),
            "quadratic": self.statement.quadratic,
            "ready": self.ready,
            "numbers": [k for k, value in self.members.items() if isinstance(value, np.generic)],
        }
        low, high = self.kind.box.get("low"), self.kind.box.get("high")
        bounds = {} if low is None else {_LOW: np.asarray(low), _HIGH: np.asarray(high)}
        data = {f"{_DATA}{name}": np.asarray(value) for name, value in self.members.items()}
        return {FACTS: packed(facts)} | bounds | data


def restored(arrays: Mapping[str, NDArray[Any]]) -> Model:
    """Return the problem that these arrays describe; reject one with a Python function."""
    facts = json.loads(arrays[FACTS].tobytes())
    if facts["python"] is not None:
        raise NeedsScriptError(
            f"the cost of {facts['name']} is a Python function ({facts['python']}=), which is not"
            " stored with a run. Specify the script that defines it"
        )
    bounds = [arrays[name] for name in (_LOW, _HIGH) if name in arrays]
    kind = SOLUTION_KINDS[facts["solutions"]](int(facts["size"]), *bounds, **facts.get("own", {}))
    data = {key.removeprefix(_DATA): a for key, a in arrays.items() if key.startswith(_DATA)}
    members: Members = {name: a[()] if name in facts["numbers"] else a for name, a in data.items()}
    texts, price = facts["functions"], facts.get("price")
    given: dict[str, Any] = {name: Text.restored(texts[name]) for name in TEXTS if texts.get(name)}
    statement = Statement(
        **given,
        data=members,
        cooperative=bool(texts["cooperative"]),
        price="adaptive" if price is None or facts.get("adapts_price") else price,
        maximise=bool(facts["maximise"]),
        name=str(facts["name"]),
        best_known=facts["best_known"],
        quadratic=form if (form := facts.get("quadratic")) in FORMS else None,
    )
    model = Model(kind, statement)
    model.ready = facts.get("ready")
    model._price = price  # the initial value of an adaptive price
    return model


def _samples(kind: SolutionKind) -> list[NDArray[Any]]:
    """Return groups of random solutions, from which the price of a violation is computed.

    For subsets, each further group has fewer items, as feasible subsets may be small.
    """
    groups = [kind.drawn(_PRICED_BY, seed=0)]
    if kind.name == "subset" and getattr(kind, "choose", None) is None:
        for half in range(1, kind.size.bit_length() - 2):
            groups.append(groups[-1] * kind.drawn(_PRICED_BY, seed=half))
    return groups


def _usable(violations: NDArray[Any]) -> NDArray[np.float64]:
    """Return violations from Python functions as real numbers; reject negative ones."""
    amounts = violations.astype(np.float64)
    if (amounts < 0).any():
        raise RunError(wrong_violation(amounts.min()))
    return amounts
