"""Subclasses of models, which may change code, data, constants, the exact cost and the plot."""

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.modelling import messages
from islands.modelling.functions import UserFunction
from islands.modelling.header import Functions
from islands.modelling.statement import TEXTS, Statement
from islands.modelling.texts import Text
from islands.problems.base import Problem
from islands.text import unknown

_CHANGEABLE = (*TEXTS, "cooperative", "maximise", "price")
"""The arguments of a `Statement` that a subclass may change."""
_OF_THE_SEARCH = {"delta", "state"}
"""The arguments that do not change costs."""
_MAY_OVERRIDE = {"constants", "data", "hooks", "plain", "choose", "learns", "searches"}
"""Members, besides `exact` and `draw`, that a class may override if its problems share launches."""


class Extensible(Problem):
    """A model that subclasses may change.

    A subclass may have a method `exact`, which returns the cost of each row of an array, and a
    method `draw`, which plots a solution.
    """

    choose: int | tuple[int, int] | None = None
    """The number of chosen items of a ready-made model of subsets, as in `islands.subset`."""
    hooks: ClassVar[Mapping[str, Text]] = MappingProxyType({})
    """Functions called by the cost and the state, which a subclass may replace one by one."""
    statement: Statement
    """The arguments that define the cost."""
    functions: Functions | None
    """The functions in CUDA, or None if the cost is a function in Python."""
    reference: UserFunction | None
    _changes: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """The arguments that this class changes."""

    @property
    @abstractmethod
    def price(self) -> float:
        """The price of a unit of violation."""

    @abstractmethod
    def evaluated_violations(
        self, solutions: NDArray[Any], backend: str, must_leave: Callable[[], bool]
    ) -> NDArray[np.float64]:
        """Return the violation of each row, as evaluated in a run: without the reference."""

    def __init_subclass__(cls, **changes: Any) -> None:
        """Set the arguments that differ from the base class, such as `cost` or `maximise`."""
        super().__init_subclass__()
        known = (*_CHANGEABLE, *cls.hooks)
        for name in changes:
            if name not in known:
                raise UsageError(f"class {cls.__name__}: {unknown('argument', name, known)}")
        for name in known:
            value = vars(cls).get(name, property())
            if not (callable(value) or isinstance(value, property)):
                raise messages.argument_inside_class(
                    name=name, model=cls.__name__, base=cls.__mro__[1].__name__
                )
        cls._changes = MappingProxyType(changes)

    def constants(self) -> Mapping[str, int | bool]:
        """Return constants for the compiler, such as sizes of arrays in CUDA code."""
        return {}

    def data(self) -> Mapping[str, Any]:
        """Return the arrays and numbers that CUDA code reads; a subclass may add others."""
        return {} if self.statement.data is None else self.statement.data

    def completed(self, statement: Statement) -> Statement:
        """Return a statement with the changes of all classes of the model."""
        self.statement = statement
        classes = _subclasses(type(self))
        if any("data" in vars(model) for model in classes):
            statement = replace(statement, data=self.data())
        changed = ChainMap(*(dict(_changes(model)) for model in classes))
        hooks = [Text.of(name, changed.get(name, text)) for name, text in self.hooks.items()]
        if before := (*_declared(self.constants()), *hooks):
            statement = replace(
                statement, cost=replace(Text.of("cost", statement.cost), before=before)
            )
        for model in reversed(classes):
            changes = {
                name: text for name, text in _changes(model).items() if name not in self.hooks
            }
            statement = statement.changed(changes)
        for argument, method in {"reference": "exact", "plot": "draw"}.items():
            if getattr(statement, argument) is None:
                inherited: dict[str, Any] = {argument: self.inherited(method, has_other_cost)}
                statement = replace(statement, **inherited)
        return statement

    def inherited(self, name: str, differs: Callable[[type], bool]) -> Any:
        """Return a member of the nearest class that defines it.

        Return None if there is no such class, or if `differs` is true for a nearer class.
        """
        for model in _subclasses(type(self)):
            if name in vars(model):
                return getattr(self, name)
            if differs(model):
                return None
        return None


def has_other_cost(model: type) -> bool:
    """Return whether a class changes the cost of its base class."""
    is_other = {"constants", "data"} & vars(model).keys()
    return bool(is_other or _changes(model).keys() - _OF_THE_SEARCH)


def has_other_state(model: type) -> bool:
    """Return whether a class has a state that does not extend that of its base class."""
    if "state" not in _changes(model):
        return False
    state = _changes(model)["state"]
    return state is None or not Text.of("state", state).calls_base


def _changes(model: type) -> Mapping[str, Any]:
    """Return the arguments that a class changes."""
    changes: Mapping[str, Any] = vars(model).get("_changes", {})
    return changes


def _subclasses(model: type[Extensible]) -> tuple[type, ...]:
    """Return the class of a model and its base classes below `Model`."""
    return model.__mro__[: model.__mro__.index(Extensible) - 1]


@cache
def may_differ(model: type[Extensible]) -> bool:
    """Return whether a subclass overrides members that may differ between its problems."""
    classes = _subclasses(model)
    base = model.__mro__[model.__mro__.index(Extensible) - 1]
    names = {name for model in classes for name in vars(model) if not name.startswith("__")}
    return any(hasattr(base, name) for name in names - _MAY_OVERRIDE - {"_changes", "_abc_impl"})


def _declared(constants: Mapping[str, int | bool]) -> list[Text]:
    """Return a text that declares the constants, if there are any."""
    lines = [
        f"constexpr bool {name} = {str(value).lower()};"
        if isinstance(value, bool)
        else f"constexpr int {name} = {value};"
        for name, value in constants.items()
    ]
    return [Text("constants", "\n".join(lines))] if lines else []
