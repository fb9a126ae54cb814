"""The kernel header of a stated problem: its data, the functions of the user, and our adapter."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from islands.backends.header import Header
from islands.backends.refused import CONTRACT
from islands.errors import UsageError
from islands.modelling.data import Members, declaration
from islands.modelling.faults import FAULTS
from islands.modelling.kinds import Box, Order, SolutionKind
from islands.modelling.signatures import (
    COST,
    DELTA,
    REPAIR,
    Signature,
    require_no_include,
    without_comments,
)
from islands.paths import reading

_RETURNS = {"long long": False, "double": True}
_MOVES = {"Swap": "swap", "Reversal": "reversal", "Insertion": "insertion"}


@dataclass(frozen=True)
class Text:
    """CUDA code of the user, and the name under which compilers show its lines."""

    name: str
    code: str

    @classmethod
    def of(cls, argument: str, value: Any) -> Text:
        """Return the text of an argument: a string, or the path of a file."""
        if isinstance(value, Path):
            with reading(value):
                return cls(_fit(value.name), value.read_text(encoding="utf-8"))
        if not isinstance(value, str):
            raise UsageError(
                f"{argument}={value!r}: is of the type {type(value).__name__}. Pass the text of a"
                " CUDA function, or the Path of a file; Python functions are passed as batch= or"
                " function="
            )
        if "__device__" not in value and "\n" not in value and Path(value).suffix:
            raise UsageError(
                f"{argument}={value!r}: looks like a file. Pass pathlib.Path({value!r})"
            )
        return cls(f"{argument}.cu", value)

    def declared(self, function: str) -> list[re.Match[str]]:
        """Return the declarations of a function: its return type and its parameters."""
        bare = without_comments(self.code)
        pattern = rf"([A-Za-z_][\w \t:]*?)\s+{function}\s*\(([^)]*)\)\s*\{{"
        return list(re.finditer(pattern, bare))


@dataclass(frozen=True)
class Functions:
    """The CUDA functions of a user."""

    cost: Text
    delta: Text | None
    repair: Text | None
    cooperative: bool

    def returns_real(self) -> bool:
        """Return whether costs are floating-point numbers; refuse other signatures."""
        found = _returned(self.cost, COST)
        if self.delta is not None and _returned(self.delta, DELTA) != found:
            raise UsageError(
                "delta: cost and delta return different types. Let both return long long, or both"
                " double"
            )
        if self.repair is not None:
            _require(self.repair, REPAIR)
        return found

    def moves(self, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves whose change of the cost is known, or can be computed from costs."""
        if not isinstance(kind, Order):
            return ()
        if self.delta is None:
            return () if self.cooperative or self.repair else tuple(_MOVES.values())
        parameters = " ".join(match[2] for match in self.delta.declared("delta"))
        moves = tuple(
            move for word, move in _MOVES.items() if re.search(rf"\b{word}\b", parameters)
        )
        if not moves:
            raise UsageError(
                "delta: has no parameter of the type Swap, Reversal or Insertion. Write"
                f" {DELTA.text} {{ ... }}"
            )
        return moves

    def header(self, kind: SolutionKind, members: Members) -> Header:
        """Return the header, whose name depends on its content."""
        own = _section(self.cost, COST)
        # The names of a text hide equal ones of the cost, whose other names it may use.
        for other, signature in ((self.delta, DELTA), (self.repair, REPAIR)):
            if other is not None:
                section = _section(other, signature)
                own += f"\nnamespace of_{signature.function} {{\n{section}\n}}"
        parts = [
            "#pragma once",
            '#include "problems/moved.cuh"',
            '#include "problems/solution.cuh"',
            *(['#include "core/exact.cuh"'] if "exact::" in own else []),
            "namespace problem {",
            f"struct Data {{\n{declaration(members)}\n    int64_t* {FAULTS};\n}};",
            "namespace user {",
            "using moves::Swap;\nusing moves::Reversal;\nusing moves::Insertion;",
            own,
            "}  // namespace user",
        ]
        if isinstance(kind, Order) and self.delta is None and not self.cooperative:
            again = f'#line 1 "{self.cost.name}"\n{self.cost.code}'
            parts += ["#ifdef STATED_MOVED", "namespace moved {", again, "}", "#endif"]
        parts += ["}  // namespace problem", '#include "problems/stated.cuh"', ""]
        text = "\n".join(parts)
        return Header(f"stated/{hashlib.sha256(text.encode()).hexdigest()[:16]}.cuh", text)

    def macros(self, kind: SolutionKind, *, real: bool, maximise: bool) -> Mapping[str, str]:
        """Return the macros of the header."""
        found = {
            "SOLUTION_KIND": str(kind.number),
            "STATED_COOPERATIVE": str(int(self.cooperative)),
            "STATED_MAXIMISES": str(int(maximise)),
            "COSTS_REAL": str(int(real)),
        }
        if self.repair is not None:
            found |= {"STATED_REPAIRS": "1", "PROBLEM_EVALUATES": "1"}
        if self.delta is not None:
            found["STATED_DELTA"] = "1"
        elif self.moves(kind):
            found["STATED_MOVED"] = "1"
        return found


def box_members(kind: SolutionKind) -> Members:
    """Return the bounds of a box, as kernels read them."""
    if not isinstance(kind, Box):
        return {}
    return {"box_low": kind.low, "box_width": kind.high - kind.low, "box_high": kind.high}


def _section(text: Text, signature: Signature) -> str:
    """Return a text as the part of a header that defines a function."""
    return f'{CONTRACT}{signature.text}\n#line 1 "{text.name}"\n{text.code}'


def _require(text: Text, signature: Signature) -> None:
    """Refuse code without a function of this signature."""
    require_no_include(text.name, text.code)
    signature.require(text.name, [match[2] for match in text.declared(signature.function)])


def _returned(text: Text, signature: Signature) -> bool:
    """Return whether a function of the user returns a floating-point number."""
    _require(text, signature)
    kinds = set()
    for match in text.declared(signature.function):
        words = [word for word in match[1].split() if word not in _QUALIFIERS]
        kind = " ".join(words)
        if kind not in _RETURNS:
            raise UsageError(
                f"{text.name}: {signature.function} returns {kind or 'nothing'}. Let it return long"
                f" long for exact costs, or double: {signature.text} {{ ... }}"
            )
        kinds.add(_RETURNS[kind])
    if len(kinds) > 1:
        raise UsageError(
            f"{text.name}: {signature.function} is defined with two return types. Choose one"
        )
    return kinds.pop()


_QUALIFIERS = ("__device__", "static", "inline", "__forceinline__", "__host__", "constexpr")


def _fit(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)
