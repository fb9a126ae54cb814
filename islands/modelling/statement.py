"""The arguments that define the cost of solutions, such as code, functions and data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypedDict

from islands.calls import INTERNAL
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.modelling import messages
from islands.modelling.functions import Function, PythonCosts, UserFunction
from islands.modelling.header import Functions
from islands.modelling.kinds import flag
from islands.modelling.members import Members, members_of
from islands.modelling.texts import Text, without_comments
from islands.problems.arguments import is_finite
from islands.problems.flips import Form
from islands.problems.solution_kinds import ITEMS, OrderKind, SolutionKind
from islands.text import shown

Code = str | Path | Text
Price = float | Literal["adaptive"]
TEXTS = ("cost", "delta", "state", "repair", "violation")
"""The arguments that may be CUDA code."""
_OWN_STATE = re.compile(r"\bstruct\s+State\b")
_SAME_STATE = Text("state", "struct State : base::State {\n    using base::State::State;\n};")
"""The state of code that only changes functions of the base class. Without this type, calls would
be ambiguous: argument-dependent lookup would also find the functions of the base class."""


class StatementKeywords(TypedDict, total=False):
    """The arguments that `permutation`, `subset`, `choices`, `keys` and `real` have in common."""

    cost: Code | None
    batch: Function | None
    function: Function | None
    data: Mapping[str, Any] | None
    cooperative: bool
    delta: Code | None
    state: Code | None
    repair: Code | None
    violation: Code | Function | None
    price: Price
    reference: Function | None
    maximise: bool
    name: str | None
    best_known: float | None
    plot: Function | None


@dataclass(frozen=True)
class Statement:
    """The arguments of `permutation`, `subset`, `choices`, `keys` and `real` besides the kind.

    They are validated when they are used, as validation depends on the kind of solution.
    """

    cost: Code | None = None
    batch: Function | None = None
    function: Function | None = None
    data: Mapping[str, Any] | None = None
    cooperative: bool = False
    delta: Code | None = None
    state: Code | None = None
    repair: Code | None = None
    violation: Code | Function | None = None
    price: Price = "adaptive"
    reference: Function | None = None
    maximise: bool = False
    name: str | None = None
    best_known: float | None = None
    plot: Function | None = None
    quadratic: Form | None = field(default=None, metadata=INTERNAL)
    """The form of a ready-made model's data, if they determine the whole cost: see `Flips`."""

    def changed(self, changes: Mapping[str, Any]) -> Statement:
        """Return the statement with other arguments; new code may call functions of old code."""
        texts = {name: self._text(name, changes[name]) for name in changes if name in TEXTS}
        same = self.quadratic if not changes.keys() - {"maximise"} else None
        return replace(self, **{**changes, **texts, "quadratic": same})

    def _text(self, name: str, value: Any) -> Any:
        """Return new code or a function, with the parts of the old code that it uses."""
        if value is None or callable(value):
            return value
        text, old = Text.of(name, value), getattr(self, name)
        if not text.calls_base:
            before = old.before if name == "cost" and isinstance(old, Text) else ()
            return replace(text, before=before)
        if old is None or callable(old):
            raise messages.no_function_of_base(name=name)
        is_state = name == "state" and not _OWN_STATE.search(without_comments(text.code))
        before = (_SAME_STATE,) if is_state else ()
        return replace(text, base=Text.of(name, old), before=before)

    def fixed_price(self) -> float | None:
        """Return the price of a violation, or None if it is adaptive."""
        price: Any = self.price
        if isinstance(price, str) and price == "adaptive":
            return None
        is_number = isinstance(price, Real) and not isinstance(price, bool)
        if not is_number or not is_finite(price) or not price > 0:
            raise UsageError(f'price={shown(price)}: must be a number above 0, or "adaptive"')
        if self.violation is None:
            raise UsageError(f"price={shown(price)}: only belongs to violation=. Leave price out")
        return float(price)

    def python(self, kind: SolutionKind) -> PythonCosts | None:
        """Return the Python function of the cost, or None if the cost is CUDA code.

        Reject a statement without a cost or with several costs.
        """
        functions = {"cost": self.cost, "batch": self.batch, "function": self.function}
        named = [name for name, value in functions.items() if value is not None]
        if len(named) != 1:
            raise messages.not_one_cost(function=kind.made_by, given=named)
        (argument,) = named
        if argument == "cost":
            return None
        function = required_callable(argument, functions[argument])
        return PythonCosts(UserFunction(argument, function, presented=kind.presented), kind)

    def functions(self, kind: SolutionKind) -> Functions:
        """Return the functions in CUDA."""
        self._require_moves(kind)
        if self.delta is not None and not kind.moves:
            raise messages.unused_delta(solution=kind.words)
        if callable(self.violation):
            raise messages.violation_in_python()
        given = {name: getattr(self, name) for name in TEXTS}
        texts = {name: Text.of(name, code) for name, code in given.items() if code is not None}
        return Functions(**texts, cooperative=flag("cooperative", self.cooperative))

    def _require_moves(self, kind: SolutionKind) -> None:
        """Reject delta and state if solutions are corrected after each move."""
        for name, text in {"delta": self.delta, "state": self.state}.items():
            if kind.may_leave and text is not None:
                raise messages.moves_that_are_corrected(
                    name=name, solution=kind.words, are_orders=isinstance(kind, OrderKind)
                )

    def require_no_code(self, kind: SolutionKind, argument: str) -> None:
        """Reject arguments for CUDA code, as `argument` is a Python function."""
        self._require_moves(kind)
        code = {"delta": self.delta, "state": self.state, "repair": self.repair, "data": self.data}
        for name, value in code.items():
            if value is not None:
                raise messages.code_with_python_cost(name=name, argument=argument)
        if flag("cooperative", self.cooperative):
            raise UsageError("cooperative=True: only belongs to cost=, CUDA code. Leave it out")

    def python_violation(self, python: PythonCosts, kind: SolutionKind) -> PythonCosts | None:
        """Return the Python function of the violation, called like that of the cost."""
        if self.violation is None:
            return None
        call = required_callable("violation", self.violation)
        function = UserFunction("violation", call, not python.is_batch, kind.presented)
        return PythonCosts(function, kind, always_real=True)

    def members(self, kind: SolutionKind) -> Members:
        """Return the data in types that kernels support."""
        members = members_of(self.data)
        if ITEMS in members and ITEMS in kind.members:
            raise UsageError("data: with parts=, items is the number of items. Choose another name")
        return members

    def best(self) -> BestKnown | None:
        """Return the best known cost."""
        value: Any = self.best_known
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
            raise UsageError(f"best_known={shown(value)}: is not a finite number")
        number = int(value) if isinstance(value, Integral) else float(value)
        return BestKnown(number, "best_known", "the script")


def required_callable(argument: str, value: Any) -> Function:
    """Return an argument that is a Python function; reject anything else."""
    if not isinstance(value, Callable):  # type: ignore[arg-type]
        fix = "CUDA code is passed as cost=" if isinstance(value, str | Path) else "Pass a function"
        if argument == "violation":
            fix = "With batch= or function=, pass a function"
        raise UsageError(f"{argument}={shown(value)}: is not a Python function. {fix}")
    function: Function = value
    return function
