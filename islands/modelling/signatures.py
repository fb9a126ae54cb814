"""The signatures of CUDA functions that a user writes: what each must take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from islands.errors import UsageError

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*include\b([^\n]*)", re.MULTILINE)


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
DELTA = Signature(
    "delta",
    ("Solution", "int", "Data", ""),
    "__device__ long long delta(const Solution& s, int n, const Data& data, Swap move)",
)
REPAIR = Signature(
    "repair",
    ("Changing", "int", "Data"),
    "__device__ void repair(Changing& s, int n, const Data& data)",
)


def without_comments(code: str) -> str:
    """Return code with a space for each comment."""
    return _COMMENTS.sub(" ", code)


def require_no_include(name: str, code: str) -> None:
    """Refuse code that includes headers, as it is compiled within a namespace."""
    if found := _DIRECTIVE.search(without_comments(code)):
        raise UsageError(
            f"{name}: #include{found[1].rstrip()}: headers cannot be included. Leave this line out:"
            " functions such as sqrt, min and atomicAdd are available without one"
        )
