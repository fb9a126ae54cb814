"""The declarations of the functions that users write in CUDA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from islands.errors import UsageError
from islands.problems.solution_kinds import SolutionKind

_PARTS = re.compile(r"(\w+)\((.*)\)")
_MOVE = "Swap"
"""The move in declarations; functions may take other moves instead."""


def move_type(move: str) -> str:
    """Return the type of a move in a user's functions."""
    return "Set" if move == "setting" else move.title()


@dataclass(frozen=True)
class Signature:
    """The declaration of a function that users define."""

    declaration: str
    move: str = _MOVE
    gives_both: bool = False
    """Whether it returns the changes of both the cost and the violation."""

    @property
    def function(self) -> str:
        """The name of the function."""
        return _PARTS.findall(self.declaration)[0][0]  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """The declaration for this move and result."""
        text = self.declaration.replace(_MOVE, self.move)
        return text.replace("long long", "Change") if self.gives_both else text

    def written(self, kind: SolutionKind, *, gives_both: bool) -> Signature:
        """Return the declaration for a kind of solution, possibly with a violation."""
        return replace(self, move=move_type(kind.proposals[0]), gives_both=gives_both)

    def require(self, name: str, parameters: Sequence[str]) -> None:
        """Reject code that does not define the function with these types.

        `name` is the name of the code; `parameters` has the parameters of each definition in it.
        """
        if not parameters:
            raise UsageError(
                f"{name}: does not define {self.function}. Write {self.text} {{ ... }}"
            )
        if not any(self._fits(types) for types in parameters):
            given = " ".join(parameters[-1].split())
            raise UsageError(
                f"{name}: {self.function} has the parameters ({given}). Write {self.text} {{ ... }}"
            )

    def _fits(self, parameters: str) -> bool:
        """Return whether parameters have the types of the declaration; a move may have any type."""
        wanted = _words(_PARTS.findall(self.declaration)[0][1].replace("const ", ""))
        given = _words(parameters)
        return len(given) == len(wanted) and all(
            types[0] == _MOVE or types[0] in has or "auto" in has
            for types, has in zip(wanted, given, strict=True)
        )


def _words(parameters: str) -> list[list[str]]:
    """Return the words of each parameter."""
    return [re.findall(r"\w+", parameter) or [""] for parameter in parameters.split(",")]


_SOLUTION = "const Solution& s, int n, const Data& data"
_STATE = f"State& state, {_SOLUTION}"

COST = Signature(f"__device__ long long cost({_SOLUTION})")
VIOLATION = Signature(f"__device__ long long violation({_SOLUTION})")
DELTA = Signature(f"__device__ long long delta({_SOLUTION}, {_MOVE} move)")
PREPARE = Signature(f"__device__ void prepare({_STATE})")
CHANGE = Signature(f"__device__ long long change(const {_STATE}, {_MOVE} move)")
APPLY = Signature(f"__device__ void apply({_STATE}, {_MOVE} move)")
PROPOSE = Signature(f"__device__ bool propose(const {_STATE}, Random& random, Step& step)")
CHANGE_STEP = Signature(f"__device__ long long change(const {_STATE}, Step step)")
APPLY_STEP = Signature(
    "__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step)"
)
CROSS = Signature(
    "__device__ void cross(State& state, Changing& child, const Solution& other, int n, const Data&"
    " data, Random& random)"
)
REPAIR = Signature("__device__ void repair(Changing& s, int n, const Data& data)")
