"""The functions that users write in CUDA: their names, types and declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from islands.errors import UsageError
from islands.problems.solution_kinds import SolutionKind


def stated(move: str) -> str:
    """Return the type of a move in a user's functions."""
    return "Set" if move == "setting" else move.title()


@dataclass(frozen=True)
class Signature:
    """A function of the user: its name, its types in order, and its declaration."""

    function: str
    types: tuple[str, ...]
    text: str

    def require(self, name: str, parameters: Sequence[str]) -> None:
        """Refuse code that does not define the function with these types.

        `parameters` are those of its definitions, and `name` is that of the code.
        """
        if not parameters:
            raise UsageError(
                f"{name}: does not define {self.function}. Write {self.text} {{ ... }}"
            )
        if not any(self._fits(each) for each in parameters):
            given = " ".join(parameters[-1].split())
            raise UsageError(
                f"{name}: {self.function} has the parameters ({given}). Write {self.text} {{ ... }}"
            )

    def written(self, kind: SolutionKind, *, gives_both: bool) -> Signature:
        """Return it as one writes it for a kind of solution, and with a violation."""
        text = self.text.replace("Swap", stated(kind.proposals[0]))
        return replace(self, text=text.replace("long long", "Change") if gives_both else text)

    def _fits(self, parameters: str) -> bool:
        words = [re.findall(r"\w+", each) or [""] for each in parameters.split(",")]
        return len(words) == len(self.types) and all(
            not wanted or wanted in has or "auto" in has
            for wanted, has in zip(self.types, words, strict=True)
        )


COST = Signature(
    "cost",
    ("Solution", "int", "Data"),
    "__device__ long long cost(const Solution& s, int n, const Data& data)",
)
VIOLATION = Signature(
    "violation",
    COST.types,
    "__device__ long long violation(const Solution& s, int n, const Data& data)",
)
DELTA = Signature(
    "delta",
    ("Solution", "int", "Data", ""),
    "__device__ long long delta(const Solution& s, int n, const Data& data, Swap move)",
)
_STATE = "State& state, const Solution& s, int n, const Data& data"
PREPARE = Signature(
    "prepare",
    ("State", "Solution", "int", "Data"),
    f"__device__ void prepare({_STATE})",
)
CHANGE = Signature(
    "change",
    ("State", "Solution", "int", "Data", ""),
    f"__device__ long long change(const {_STATE}, Swap move)",
)
APPLY = Signature(
    "apply",
    ("State", "Solution", "int", "Data", ""),
    f"__device__ void apply({_STATE}, Swap move)",
)
PROPOSE = Signature(
    "propose",
    ("State", "Solution", "int", "Data", "Random", "Step"),
    f"__device__ bool propose(const {_STATE}, Random& random, Step& step)",
)
CHANGE_STEP = Signature(
    "change",
    (*CHANGE.types[:-1], "Step"),
    f"__device__ long long change(const {_STATE}, Step step)",
)
APPLY_STEP = Signature(
    "apply",
    ("State", "Changing", "int", "Data", "Step"),
    "__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step)",
)
CROSS = Signature(
    "cross",
    ("State", "Changing", "Solution", "int", "Data", "Random"),
    "__device__ void cross(State& state, Changing& child, const Solution& other, int n, const Data&"
    " data, Random& random)",
)
REPAIR = Signature(
    "repair",
    ("Changing", "int", "Data"),
    "__device__ void repair(Changing& s, int n, const Data& data)",
)
