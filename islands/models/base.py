"""The base class of ready-made models, their CUDA code, and the functions that create them."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import ClassVar, ParamSpec, TypeVar

from islands.calls import explained
from islands.modelling.model import Model
from islands.modelling.statement import Statement
from islands.modelling.texts import Text
from islands.paths import data_folder
from islands.problems.flips import Form
from islands.problems.solution_kinds import SolutionKind

_P = ParamSpec("_P")
_R = TypeVar("_R")


@cache
def text_of(file: str, *before: str) -> Text:
    """Return the code in a file of `kernels/models`, preceded by that of other files."""
    path = data_folder("kernels") / "models" / f"{file}.cuh"
    return Text(path.name, path.read_text(encoding="utf-8"), tuple(map(text_of, before)))


class ReadyModel(Model):
    """A model of this package, whose cost and state are defined in files of `kernels/models`."""

    _cost_file: ClassVar[str]
    _state_files: ClassVar[tuple[str, ...]]
    """The file of the state, and files whose functions it calls."""
    _is_cooperative: ClassVar[bool] = False
    """Whether all threads of a block compute a cost together."""
    _quadratic: ClassVar[Form | None] = None
    """The form of the data if the cost is quadratic, otherwise None."""

    def __init__(
        self,
        kind: SolutionKind,
        name: str,
        *,
        maximise: bool = False,
        best_known: float | None = None,
    ) -> None:
        statement = Statement(
            cost=self._text(self._cost_file),
            state=self._text(*self._state_files),
            cooperative=self._is_cooperative,
            maximise=maximise,
            name=name,
            best_known=best_known,
            quadratic=self._quadratic,
        )
        super().__init__(kind, statement)
        if type(self).__module__.startswith(f"{__package__}."):  # not a class of a user
            self.ready = self._cost_file

    def _text(self, file: str, *before: str) -> Text:
        return text_of(file, *before)


def function_of(model: Callable[_P, _R], name: str) -> Callable[_P, _R]:
    """Return the function of this name that creates a model, with the docstring of the class."""

    def create(*args: _P.args, **named: _P.kwargs) -> _R:
        return model(*args, **named)

    create.__name__ = create.__qualname__ = name
    create.__doc__, create.__module__ = model.__doc__, model.__module__
    signature = inspect.signature(model)
    vars(create)["__signature__"] = signature.replace(return_annotation=model.__name__)
    return explained(create)
