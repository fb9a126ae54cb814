"""The kernel header of a user-defined problem: data, the user's functions, and an adapter."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from islands.backends.source import Header
from islands.modelling import messages
from islands.modelling.faults import FAULTS
from islands.modelling.members import Members, declaration
from islands.modelling.signatures import (
    APPLY,
    APPLY_STEP,
    CHANGE,
    CHANGE_STEP,
    COST,
    CROSS,
    DELTA,
    PREPARE,
    PROPOSE,
    REPAIR,
    VIOLATION,
    move_type,
)
from islands.modelling.texts import Text, without_comments
from islands.problems.mixed import MixedKind
from islands.problems.solution_kinds import STEP, ChoicesKind, OrderKind, SolutionKind

_MOVES = ("Swap", "Reversal", "Insertion", "Flip", "Exchange")
_TYPES = "".join(f"using moves::{move};\n" for move in _MOVES) + (
    "using Set = moves::Setting<Stored>;\nusing Memory = Scratch;\n"
)
"""The names of moves and of memory in the user's code."""
_CONSTRUCTOR = re.compile(r"__device__\s+State\s*\(([^()]*)\)")
_WITHOUT_DATA = re.compile(r"(?:[^,]*,){2}\s*const\s+Data\s*&\s*")
"""Matches the parameters of a constructor if that of the data is unnamed, and therefore unused."""


@dataclass(frozen=True)
class Functions:
    """The CUDA functions of a user."""

    cost: Text
    delta: Text | None = None
    repair: Text | None = None
    cooperative: bool = False
    state: Text | None = None
    violation: Text | None = None

    @property
    def has_steps(self) -> bool:
        """Whether the state proposes user-defined moves."""
        return self.state is not None and bool(self.state.declared(PROPOSE.function))

    @property
    def has_cross(self) -> bool:
        """Whether the state defines a crossover; a helper function may have the same name."""
        if self.state is None:
            return False
        parameters = [match[2] for match in self.state.declared(CROSS.function)]
        return any(re.search(r"\b(State|Changing)\b", names) for names in parameters)

    @property
    def memory_depends_on_data(self) -> bool:
        """Whether the memory of a state may depend on the data.

        It does not if all constructors leave their parameter for the data unnamed.
        """
        if self.state is None:
            return False
        codes = [without_comments(text.code) for text in self.state.layers]
        constructors = _CONSTRUCTOR.findall("\n".join(codes))
        return not constructors or not all(map(_WITHOUT_DATA.fullmatch, constructors))

    def stored(self) -> dict[str, Any]:
        """Return the functions in a form to save, from which `Text.restored` restores the texts."""
        return asdict(self, dict_factory=_without_empty)

    def returns_real(self, kind: SolutionKind) -> bool:
        """Return whether costs are floating-point numbers; reject invalid signatures."""
        is_real = self.cost.returns_real(COST)
        if self.violation is not None:
            self._require_both(kind, is_real=self.violation.returns_real(VIOLATION))
        elif self.delta is not None and self.delta.returns_real(DELTA) != is_real:
            raise messages.cost_and_delta_differ()
        if self.repair is not None:
            self.repair.require(REPAIR)
        if self.state is not None:
            self._require_state(self.state, kind, is_real=is_real)
        return is_real

    def _require_state(self, state: Text, kind: SolutionKind, *, is_real: bool) -> None:
        """Reject a state that lacks a function, or whose changes and costs differ in type."""
        state.require(PREPARE)
        state.require(PROPOSE if self.has_steps else APPLY.written(kind, gives_both=False))
        if self.has_cross:
            state.require(CROSS)
            if self.repair is not None:
                raise messages.cross_with_repair()
        for signature in [CHANGE_STEP, APPLY_STEP] if self.has_steps else [CHANGE]:
            wanted = signature.written(kind, gives_both=self._gives_both)
            if self._gives_both:
                state.require_both(wanted)
            elif state.returns_real(wanted) != is_real:
                raise messages.cost_and_change_differ(function=signature.function)

    @property
    def _gives_both(self) -> bool:
        """Whether changes by moves have both a cost and a violation."""
        return self.violation is not None and not (self.delta is self.state is None)

    @property
    def _moves_are_whole(self) -> bool:
        """Whether local search computes the whole cost after a move."""
        return self.delta is None or self._gives_both

    def _require_both(self, kind: SolutionKind, *, is_real: bool) -> None:
        """Reject changes that lack a violation, and real violations, whose sums are inexact."""
        if not self._gives_both:
            return
        name = "state" if self.delta is None else "delta"
        if is_real:
            raise messages.real_violation_of_changes(argument=name)
        if self.delta is not None:
            self.delta.require_both(DELTA.written(kind, gives_both=True))

    def moves(self, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves of local search: those of `delta`, or all if it computes whole costs."""
        if not isinstance(kind, OrderKind) or kind.may_leave:
            return ()  # only for local searches of orders
        delta_moves = () if self.delta is None else self._moves_of_delta(self.delta, kind)
        if self._moves_are_whole:
            return () if self.cooperative or self.repair else kind.moves
        return delta_moves

    def _moves_of_delta(self, delta: Text, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves for which `delta` is overloaded."""
        possible = kind.proposals if isinstance(kind, ChoicesKind) else kind.moves
        moves = _overloads(delta, "delta", possible)
        if not moves:
            declared = DELTA.written(kind, gives_both=self._gives_both)
            raise messages.delta_without_move(
                types=[move_type(move) for move in possible], declaration=declared.text
            )
        return moves

    def proposals(self, kind: SolutionKind) -> tuple[str, ...]:
        """Return the moves that tempering proposes: none for a state if solutions are corrected."""
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
        change, apply = (
            _overloads(self.state, name, kind.proposals) for name in ("change", "apply")
        )
        if change != apply or not change:
            possible = [move_type(move) for move in kind.proposals if move != "rotation"]
            raise messages.change_and_apply_differ(
                possible=possible,
                of_change=list(map(move_type, change)),
                of_apply=list(map(move_type, apply)),
            )
        return change

    def _is_whole(self, kind: SolutionKind) -> bool:
        """Whether the cost of a move needs the whole new solution in memory."""
        is_together = self.cooperative and self.state is None
        return self.repair is not None or kind.may_leave or is_together

    def header(self, kind: SolutionKind, members: Members) -> Header:
        """Return the header, named by a hash of its content."""
        # Code of other functions hides equal names of the cost's code, and sees its other names.
        others = {
            "delta": (self.delta, DELTA),
            "repair": (self.repair, REPAIR),
            "state": (self.state, CHANGE.written(kind, gives_both=self._gives_both)),
            "violation": (self.violation, VIOLATION),
        }
        inside = "".join(
            "\n" + text.namespace(f"of_{name}", signature)
            for name, (text, signature) in others.items()
            if text is not None
        )
        code = self.cost.namespace("user", COST, _TYPES, inside, "}  // namespace user")
        includes = {
            "problems/moved.cuh": True,
            "problems/solution.cuh": True,
            "problems/whole.cuh": True,
            "core/exact.cuh": "exact::" in code,
            "problems/mixed.cuh": isinstance(kind, MixedKind),
            "core/warp.cuh": "warp::" in code,
            "problems/random.cuh": self.has_steps or self.has_cross,
            "problems/change.cuh": self._gives_both,
        }
        parts = [
            "#pragma once",
            *(f'#include "{file}"' for file, is_used in includes.items() if is_used),
            "namespace problem {",
            f"struct Data {{\n{declaration(members)}\n    int64_t* {FAULTS};\n}};",
            code,
        ]
        if self._moves_are_whole and not self.cooperative:
            rule = self.violation
            inside = "" if rule is None else "\n" + rule.namespace("of_violation")
            moved = self.cost.namespace("moved::user", None, _TYPES, inside)
            # Not in the namespace of Solution, which argument-dependent lookup would search.
            parts += ["#ifdef STATED_MOVED", moved, "#endif"]
        parts += ["}  // namespace problem", '#include "problems/stated.cuh"', ""]
        text = "\n".join(parts)
        return Header(f"stated/{hashlib.sha256(text.encode()).hexdigest()[:16]}.cuh", text)

    def macros(self, kind: SolutionKind, *, real: bool, maximise: bool) -> Mapping[str, str]:
        """Return the macros of the header."""
        flags = {
            "COSTS_PRICED": self.violation is not None,
            "STATED_DELTA": self.delta is not None,
            "STATED_STATE": self.state is not None,
            "STATED_STEP": self.has_steps,
            "STATED_CROSS": self.has_cross,
            "STATED_WHOLE": self._is_whole(kind),
            "STATED_REPAIRS": self.repair is not None,
            "STATED_MOVED": self._moves_are_whole and not (self.cooperative or self.repair),
            "PROBLEM_EVALUATES": bool(self.repair or kind.rules),
        }
        return {
            **kind.moving(self.proposals(kind)),
            **kind.rules,
            "STATED_COOPERATIVE": str(int(self.cooperative)),
            "STATED_MAXIMISES": str(int(maximise)),
            "COSTS_REAL": str(int(real)),
            **{name: "1" for name, is_set in flags.items() if is_set},
        }


def _overloads(text: Text, function: str, moves: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the given moves for which a function is overloaded."""
    words = {word for match in text.declared(function) for word in re.findall(r"\w+", match[2])}
    return tuple(move for move in moves if move_type(move) in words)


PRICE = "_price"
"""The member of `struct Data` with the price of a unit of violation (kernels/core/priced.cuh)."""


def _without_empty(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a text or of functions, without empty fields of texts."""
    return {name: value for name, value in items if value or name not in ("base", "before")}
