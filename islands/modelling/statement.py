"""What a user states of the cost of solutions: code or functions, data, and how to read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypedDict

from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.modelling.functions import Function, PythonCosts, UserFunction
from islands.modelling.header import Functions
from islands.modelling.kinds import flag
from islands.modelling.members import Members, members_of
from islands.modelling.texts import Text, without_comments
from islands.problems.arguments import is_finite
from islands.problems.solution_kinds import ITEMS, OrderKind, SolutionKind
from islands.text import shown

Code = str | Path | Text
Price = float | Literal["adaptive"]
TEXTS = ("cost", "delta", "state", "repair", "violation")
"""The arguments that may be CUDA code."""
_OWN_STATE = re.compile(r"\bstruct\s+State\b")
_SAME_STATE = Text("state", "struct State : base::State {\n    using base::State::State;\n};")
"""The state of a text that changes functions of its base class. Without a type of its own, it could
not call them: the type of the base class would bring those with the same names."""


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

    They are checked when they are read, since much depends on the kind.
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

    def changed(self, changes: Mapping[str, Any]) -> Statement:
        """Return it with other arguments; new texts may call functions of the old ones."""
        texts = {name: self._text(name, changes[name]) for name in changes if name in TEXTS}
        return replace(self, **{**changes, **texts})

    def _text(self, name: str, value: Any) -> Any:
        """Return a new text or function, with what it uses of the old one."""
        if value is None or callable(value):
            return value
        text, old = Text.of(name, value), getattr(self, name)
        if not text.calls_base:
            before = old.before if name == "cost" and isinstance(old, Text) else ()
            return replace(text, before=before)
        if old is None or callable(old):
            raise UsageError(
                f"{name}: calls a function base::..., but the base class has no {name}. Leave"
                " base:: out"
            )
        is_state = name == "state" and not _OWN_STATE.search(without_comments(text.code))
        before = (_SAME_STATE,) if is_state else ()
        return replace(text, base=Text.of(name, old), before=before)

    def fixed_price(self) -> float | None:
        """Return the price of a violation; None if it adapts."""
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
        """Return the Python function of the cost; None for CUDA code. Refuse none and several."""
        functions = {"cost": self.cost, "batch": self.batch, "function": self.function}
        named = [name for name, value in functions.items() if value is not None]
        if len(named) != 1:
            given = " and ".join(f"{each}=" for each in named)
            what = f"{given} were given" if named else "no cost"
            raise UsageError(
                f"islands.{kind.made_by}: {what}. Pass one of cost= (CUDA code), batch= (a Python"
                " function of many solutions) and function= (a Python function of one)"
            )
        (argument,) = named
        if argument == "cost":
            return None
        function = required_callable(argument, functions[argument])
        return PythonCosts(UserFunction(argument, function, presented=kind.presented), kind)

    def functions(self, kind: SolutionKind) -> Functions:
        """Return the functions in CUDA, of which `cost` is one."""
        self._require_moves(kind)
        return Functions(
            Text.of("cost", self.cost),
            None if self.delta is None else _delta(kind, self.delta),
            None if self.repair is None else Text.of("repair", self.repair),
            flag("cooperative", self.cooperative),
            None if self.state is None else Text.of("state", self.state),
            None if self.violation is None else _rule(self.violation),
        )

    def _require_moves(self, kind: SolutionKind) -> None:
        """Refuse changes by moves whose solutions are corrected afterwards."""
        for name, text in {"delta": self.delta, "state": self.state}.items():
            if kind.may_leave and text is not None:
                instead = "pass choose=p, one number of items"
                if isinstance(kind, OrderKind):
                    instead = "leave before out, and state pairs in the wrong sequence as"
                    instead += " violation="
                raise UsageError(
                    f"{name}: does not know how moves are corrected to {kind.words}. Leave {name}"
                    f" out, or {instead}"
                )

    def require_no_code(self, kind: SolutionKind, argument: str) -> None:
        """Refuse arguments that belong to CUDA code, next to a Python function of this name."""
        self._require_moves(kind)
        code = {"delta": self.delta, "state": self.state, "repair": self.repair, "data": self.data}
        for name, value in code.items():
            if value is not None:
                raise UsageError(
                    f"{name}: only belongs to cost=, CUDA code, but {argument}= was given. Leave"
                    f" {name} out"
                )
        if flag("cooperative", self.cooperative):
            raise UsageError("cooperative=True: only belongs to cost=, CUDA code. Leave it out")

    def python_violation(self, python: PythonCosts, kind: SolutionKind) -> PythonCosts | None:
        """Return the Python function of the violation, which takes what that of the cost takes."""
        if self.violation is None:
            return None
        call = required_callable("violation", self.violation)
        function = UserFunction("violation", call, not python.is_batch, kind.presented)
        return PythonCosts(function, kind, always_real=True)

    def members(self, kind: SolutionKind) -> Members:
        """Return the data, with the types that kernels read."""
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
    """Return an argument that is a Python function; refuse anything else."""
    if not isinstance(value, Callable):  # type: ignore[arg-type]
        fix = "CUDA code is passed as cost=" if isinstance(value, str | Path) else "Pass a function"
        if argument == "violation":
            fix = "With batch= or function=, pass a function"
        raise UsageError(f"{argument}={shown(value)}: is not a Python function. {fix}")
    function: Function = value
    return function


def _delta(kind: SolutionKind, delta: Code) -> Text:
    """Return the code of the change by a move."""
    if not kind.moves:
        raise UsageError(
            f"delta: is only used for orders and choices, but these solutions are {kind.words}."
            " Leave it out"
        )
    return Text.of("delta", delta)


def _rule(violation: Any) -> Text:
    """Return the code of the violation."""
    if callable(violation):
        raise UsageError(
            "violation: is a Python function, but cost= is CUDA code. Write both in CUDA, or pass"
            " batch= or function="
        )
    return Text.of("violation", violation)
