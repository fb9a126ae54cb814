"""The kernel header of a user's own problem: its data, the user's functions, and our adapter."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from islands.backends.source import CONTRACT, WHOLE, Header
from islands.errors import UsageError
from islands.modelling.faults import FAULTS
from islands.modelling.members import Members, declaration
from islands.paths import reading
from islands.problems.solution_kinds import STEP, SolutionKind

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

    def written(self, kind: SolutionKind, *, gives_both: bool) -> Signature:
        """Return it as one writes it for a kind of solution, and with a violation."""
        text = self.text.replace("Swap", _stated(kind.proposals[0]))
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


_TYPES = "\n".join(
    (
        *(
            f"using moves::{each};"
            for each in ("Swap", "Reversal", "Insertion", "Flip", "Exchange")
        ),
        "using Set = moves::Setting<Stored>;",
        "using Memory = Scratch;",
    )
)
"""What texts call the types of moves, and the memory of a state."""
_CONSTRUCTOR = re.compile(r"__device__\s+State\s*\(([^()]*)\)")
_WITHOUT_DATA = re.compile(r"(?:[^,]*,){2}\s*const\s+Data\s*&\s*")
"""The parameters of a constructor that cannot read the data, as they have no name."""
_RETURNS = {"long long": False, "double": True}
_QUALIFIERS = ("__device__", "static", "inline", "__forceinline__", "__host__", "constexpr")


_WHOLE = re.compile(r"\blong long(?=\s+(cost|violation|delta|change|apply)\s*\([^)]*\)\s*[{;])")


def _blank(comment: re.Match[str]) -> str:
    """Return a comment without its letters, of the same length and lines."""
    return re.sub(r"[^\n]", " ", comment[0])


def without_comments(code: str) -> str:
    """Return code with spaces instead of its comments."""
    return _COMMENTS.sub(_blank, code)


@lru_cache(maxsize=64)  # a text is searched a few times for each problem that is made of it
def _declared(code: str, function: str) -> tuple[re.Match[str], ...]:
    pattern = rf"([A-Za-z_][\w \t:]*?)\s+{function}\s*\(([^)]*)\)\s*\{{"
    return tuple(re.finditer(pattern, _COMMENTS.sub(" ", code)))


@dataclass(frozen=True)
class Text:
    """CUDA code of the user, and the name under which compilers show its lines."""

    name: str
    code: str

    @classmethod
    def of(cls, argument: str, value: Any) -> Text:
        """Return the text of an argument: a string, the path of a file, or such a text."""
        if isinstance(value, Text):
            return value
        if isinstance(value, Path):
            with reading(value):
                return cls(re.sub(r"[^\w.-]", "_", value.name), value.read_text(encoding="utf-8"))
        if not isinstance(value, str):
            raise UsageError(
                f"{argument}={value!r}: is of the type {type(value).__name__}. Pass the text of a"
                " CUDA function, or the Path of a file; Python functions are passed as batch= or"
                " function="
            )
        is_code = any(mark in value for mark in ("\n", "(", ";", "{"))
        if not is_code and Path(value).suffix:
            raise UsageError(
                f"{argument}={value!r}: looks like a file. Pass pathlib.Path({value!r})"
            )
        return cls(f"{argument}.cu", value)

    def declared(self, function: str) -> list[re.Match[str]]:
        """Return the declarations of a function: its return type and its parameters."""
        return list(_declared(self.code, function))

    def section(self, signature: Signature) -> str:
        """Return it as the part of a header that defines a function."""
        return f'{CONTRACT}{signature.text}\n#line 1 "{self.name}"\n{self.checked}'

    @property
    def checked(self) -> str:
        """The code whose functions of the cost, if they are whole, cannot return real numbers."""
        plain, code = without_comments(self.code), self.code
        for match in reversed(list(_WHOLE.finditer(plain))):
            code = f"{code[: match.start()]}{WHOLE}{code[match.end() :]}"
        return code

    def require(self, signature: Signature) -> None:
        """Refuse code without a function of this signature, or that includes headers.

        It is compiled within a namespace.
        """
        if found := _DIRECTIVE.search(_COMMENTS.sub(" ", self.code)):
            raise UsageError(
                f"{self.name}: #include{found[1].rstrip()}: headers cannot be included. Leave this"
                " line out: functions such as sqrt, min and atomicAdd are available without one"
            )
        signature.require(self.name, [match[2] for match in self.declared(signature.function)])

    def require_both(self, signature: Signature) -> None:
        """Refuse a function that does not return the changes of both cost and violation."""
        self.require(signature)
        for kind in self._returned(signature.function):
            if kind != "Change":
                raise UsageError(
                    f"{self.name}: {signature.function} returns {kind or 'nothing'}. With"
                    " violation=, let it return Change, both changes: return {cost, violation};"
                )

    def _returned(self, function: str) -> list[str]:
        """Return the types that the definitions of a function return."""
        types = (match[1].split() for match in self.declared(function))
        return [" ".join(word for word in words if word not in _QUALIFIERS) for words in types]

    def returns_real(self, signature: Signature) -> bool:
        """Return whether a function of the user returns a floating-point number."""
        self.require(signature)
        kinds = set()
        for kind in self._returned(signature.function):
            if kind not in _RETURNS:
                raise UsageError(
                    f"{self.name}: {signature.function} returns {kind or 'nothing'}. Let it return"
                    f" long long for exact costs, or double: {signature.text} {{ ... }}"
                )
            kinds.add(_RETURNS[kind])
        if len(kinds) > 1:
            raise UsageError(
                f"{self.name}: {signature.function} is defined with two return types. Choose one"
            )
        return kinds.pop()


@dataclass(frozen=True)
class Functions:
    """The CUDA functions of a user."""

    cost: Text
    delta: Text | None
    repair: Text | None
    cooperative: bool
    state: Text | None = None
    violation: Text | None = None

    @property
    def has_steps(self) -> bool:
        """Whether the state proposes moves of the user's own."""
        return self.state is not None and bool(self.state.declared(PROPOSE.function))

    @property
    def has_cross(self) -> bool:
        """Whether the state makes children of two solutions; a helper may have the same name."""
        if self.state is None:
            return False
        parameters = [match[2] for match in self.state.declared(CROSS.function)]
        return any(re.search(r"\b(State|Changing)\b", each) for each in parameters)

    @property
    def memory_depends_on_data(self) -> bool:
        """Whether the memory of a state may depend on the data: unless no constructor names it."""
        if self.state is None:
            return False
        found = _CONSTRUCTOR.findall(without_comments(self.state.code))
        return not found or not all(_WITHOUT_DATA.fullmatch(each) for each in found)

    def returns_real(self, kind: SolutionKind) -> bool:
        """Return whether costs are floating-point numbers; refuse other signatures."""
        found = self.cost.returns_real(COST)
        if self.violation is not None:
            self._require_both(kind, is_real=self.violation.returns_real(VIOLATION))
        elif self.delta is not None and self.delta.returns_real(DELTA) != found:
            raise UsageError(
                "delta: cost and delta return different types. Let both return long long, or both"
                " double"
            )
        if self.repair is not None:
            self.repair.require(REPAIR)
        if self.state is not None:
            self._require_state(self.state, kind, is_real=found)
        return found

    def _require_state(self, state: Text, kind: SolutionKind, *, is_real: bool) -> None:
        """Refuse a state that lacks a function, or whose changes have another type than costs."""
        state.require(PREPARE)
        state.require(PROPOSE if self.has_steps else APPLY.written(kind, gives_both=False))
        if self.has_cross:
            state.require(CROSS)
            if self.repair is not None:
                raise UsageError(
                    "state: cross is never called with repair=, which only other algorithms than"
                    " tempering use. Leave one of both out"
                )
        for each in [CHANGE_STEP, APPLY_STEP] if self.has_steps else [CHANGE]:
            wanted = each.written(kind, gives_both=self._gives_both)
            if self._gives_both:
                state.require_both(wanted)
            elif state.returns_real(wanted) != is_real:
                raise UsageError(
                    f"state: cost and {each.function} return different types. Let both return long"
                    " long, or both double"
                )

    @property
    def _gives_both(self) -> bool:
        """Whether changes by moves are those of the cost and of the violation."""
        return self.violation is not None and not (self.delta is self.state is None)

    @property
    def _moves_are_whole(self) -> bool:
        """Whether local search computes the cost of a whole solution after a move."""
        return self.delta is None or self._gives_both

    def _require_both(self, kind: SolutionKind, *, is_real: bool) -> None:
        """Refuse changes without those of the violation, and such as would have rounding errors."""
        if not self._gives_both:
            return
        name = "state" if self.delta is None else "delta"
        if is_real:
            raise UsageError(
                f"violation: returns double, but {name}= adds up its changes, which must be exact."
                f" Let violation return long long, or leave {name} out"
            )
        if self.delta is not None:
            self.delta.require_both(DELTA.written(kind, gives_both=True))

    def moves(self, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves whose change of the cost is known, or can be computed from costs."""
        if not kind.moves or kind.may_leave:
            return ()
        of_delta = () if self.delta is None else self._moves_of_delta(self.delta, kind)
        if self._moves_are_whole:
            return () if self.cooperative or self.repair else kind.moves
        return of_delta

    def _moves_of_delta(self, delta: Text, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves that the overloads of a delta take."""
        parameters = " ".join(match[2] for match in delta.declared("delta"))
        words = re.findall(r"\w+", parameters)
        moves = tuple(move for move in kind.moves if move.title() in words)
        if not moves:
            raise UsageError(
                "delta: has no parameter of the type Swap, Reversal or Insertion. Write"
                f" {DELTA.text} {{ ... }}"
            )
        return moves

    def proposals(self, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves that tempering proposes; none if a state would miss repairs."""
        if self.state is not None and (self.repair is not None or kind.may_leave):
            return ()
        if self._is_whole(kind):
            return kind.proposals
        if self.state is None:
            if self.delta is None:
                return kind.proposals
            return self._moves_of_delta(self.delta, kind)
        if self.has_steps:
            return (STEP,)
        change, apply = (_taken(self.state, name, kind) for name in ("change", "apply"))
        if change != apply or not change:
            every = ", ".join(_stated(each) for each in kind.proposals if each != "rotation")
            raise UsageError(
                f"state: of the moves {every}, change takes"
                f" {' and '.join(map(_stated, change)) or 'none'}, and apply"
                f" {' and '.join(map(_stated, apply)) or 'none'}. Define both for the same moves"
            )
        return change

    def _is_whole(self, kind: SolutionKind) -> bool:
        """Whether a move can only be judged by the cost of a whole new solution in memory."""
        is_together = self.cooperative and self.state is None
        return self.repair is not None or kind.may_leave or is_together

    def header(self, kind: SolutionKind, members: Members) -> Header:
        """Return the header, whose name depends on its content."""
        own = self.cost.section(COST)
        # The names of a text hide equal ones of the cost, whose other names it may use.
        others = {
            "delta": (self.delta, DELTA),
            "repair": (self.repair, REPAIR),
            "state": (self.state, CHANGE.written(kind, gives_both=self._gives_both)),
            "violation": (self.violation, VIOLATION),
        }
        for name, (other, signature) in others.items():
            if other is not None:
                own += f"\nnamespace of_{name} {{\n{other.section(signature)}\n}}"
        parts = [
            "#pragma once",
            '#include "problems/moved.cuh"',
            '#include "problems/solution.cuh"',
            '#include "problems/whole.cuh"',
            *(['#include "core/exact.cuh"'] if "exact::" in own else []),
            *(['#include "core/warp.cuh"'] if "warp::" in own else []),
            *(['#include "problems/random.cuh"'] if self.has_steps or self.has_cross else []),
            *(['#include "problems/change.cuh"'] if self._gives_both else []),
            "namespace problem {",
            f"struct Data {{\n{declaration(members)}\n    int64_t* {FAULTS};\n}};",
            "namespace user {",
            _TYPES,
            own,
            "}  // namespace user",
        ]
        if self._moves_are_whole and not self.cooperative:
            again = f'{_TYPES}\n#line 1 "{self.cost.name}"\n{self.cost.checked}'
            if (rule := self.violation) is not None:
                again += f'\nnamespace of_violation {{\n#line 1 "{rule.name}"\n{rule.checked}\n}}'
            # Argument-dependent lookup searches the namespace of Solution, which has no texts.
            parts += ["#ifdef STATED_MOVED", "namespace moved::user {", again, "}", "#endif"]
        parts += ["}  // namespace problem", '#include "problems/stated.cuh"', ""]
        text = "\n".join(parts)
        return Header(f"stated/{hashlib.sha256(text.encode()).hexdigest()[:16]}.cuh", text)

    def macros(self, kind: SolutionKind, *, real: bool, maximise: bool) -> Mapping[str, str]:
        """Return the macros of the header."""
        found = {
            **kind.moving(self.proposals(kind)),
            "STATED_COOPERATIVE": str(int(self.cooperative)),
            "STATED_MAXIMISES": str(int(maximise)),
            "COSTS_REAL": str(int(real)),
        }
        if self.violation is not None:
            found["COSTS_PRICED"] = "1"
        if self.state is not None:
            found["STATED_STATE"] = "1"
            if self.has_steps:
                found["STATED_STEP"] = "1"
            if self.has_cross:
                found["STATED_CROSS"] = "1"
        if self._is_whole(kind):
            found["STATED_WHOLE"] = "1"
        if self.repair is not None:
            found |= {"STATED_REPAIRS": "1", "PROBLEM_EVALUATES": "1"}
        if kind.rules:
            found |= {**kind.rules, "PROBLEM_EVALUATES": "1"}
        if self.delta is not None:
            found["STATED_DELTA"] = "1"
        if self._moves_are_whole and not self.cooperative and self.repair is None:
            found["STATED_MOVED"] = "1"
        return found


def _stated(move: str) -> str:
    """Return the type of a move in a user's functions."""
    return "Set" if move == "setting" else move.title()


def _taken(text: Text, function: str, kind: SolutionKind) -> tuple[str, ...]:
    """Return the moves of a kind of solution that the overloads of a function take."""
    words = {each for match in text.declared(function) for each in re.findall(r"\w+", match[2])}
    return tuple(each for each in kind.proposals if _stated(each) in words)


PRICE = "_price"
"""The member with the price of a unit of the violation (kernels/core/priced.cuh)."""
