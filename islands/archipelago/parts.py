"""What a program is put together from: a problem, an encoding, an improver and an algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from islands.algorithms import ALGORITHMS, Algorithm
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings import ENCODINGS, Encoding, moved_as
from islands.encodings.keys import Keys
from islands.errors import UsageError
from islands.improvers import Improver, ImproverSettings, improvers_for
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import option

HOST = "host"
"""The decoding by which the host judges children, between two launches."""
_FREE = "free"


@dataclass(frozen=True)
class Parts:
    """What a program is put together from."""

    problem: Problem
    encoding: Encoding
    improver: Improver
    algorithm: Algorithm
    outside: bool
    """Whether somebody else than a kernel judges what algorithms make."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        algorithm: str,
        encoding: str,
        settings: Settings,
        improver: ImproverSettings,
        *,
        population: int,
        block_memory: int | None,
        decoding: str = "",
    ) -> Parts:
        """Return the parts of these names and settings; refuse what does not fit."""
        kind = ALGORITHMS[algorithm]
        asked = kind(settings, population, moved_as(encoding))
        solutions = problem.solution_kind
        if decoding == HOST:
            _require_judged_outside(problem, improver.name)
        encoder = ENCODINGS[encoding][solutions]
        encoded = encoder(
            problem.size,
            block_memory,
            _decoding(decoding, kind, encoder, improver.name),
            assigns=problem.assigns,
        )
        improving = improvers_for(solutions)[improver.name](improver, problem.size)
        return cls(problem, encoded, improving, asked, decoding == HOST)

    def macros(self) -> Macros:
        """Return the macros that choose the parts, and those of each."""
        judge = Header("problems/outside.cuh") if self.outside else self.problem.header
        chosen: Macros = {
            "ISLANDS_PROBLEM": judge,
            "ISLANDS_IMPROVER": self.improver.header,
            "ISLANDS_ALGORITHM": self.algorithm.header,
        }
        if self.outside:
            chosen["ISLANDS_OUTSIDE"] = str(self.algorithm.children)
        else:
            chosen |= self.problem.defines()
        own = self.improver.defines() | self.algorithm.defines()
        return self.encoding_macros() | chosen | own

    def encoding_macros(self) -> Macros:
        """Return the macros of the encoding, and of how costs are to be read."""
        return {
            "ISLANDS_ENCODING": self.encoding.header,
            "COSTS_MARKED": str(int(self.problem.marks)),
            **self.encoding.defines(),
        }

    def room(self) -> int:
        """Return the bytes that a block takes beside what the kernels declare."""
        own = self.algorithm.room(self.encoding.pitch)
        return max(own, self.problem.room(), self.improver.room())

    def items(self) -> int:
        """Return the pieces of work that a block shares."""
        return max(self.problem.items(), self.improver.items())


def _decoding(
    asked: str, algorithm: type[Algorithm], encoder: type[Encoding], improver: str
) -> str:
    """Return how a kernel decodes keys: only what is decoded freely can be improved."""
    known = algorithm.decodings
    if asked not in ("", HOST, *known):
        fit = " or ".join((*known, HOST))
        raise UsageError(
            f"decoding={asked}: {algorithm.name} takes {fit}. Leave decoding out, or choose such a"
            " one"
        )
    if not known or encoder is not Keys:
        return _FREE
    if improver == "none":
        return known[0] if asked in ("", HOST) else asked
    if asked not in ("", known[0]):
        raise _unimproved(asked, improver)
    return _FREE


def _require_judged_outside(problem: Problem, improver: str) -> None:
    """Refuse what the host cannot do in the place of a kernel."""
    if improver != "none":
        raise _unimproved(HOST, improver)
    if problem.changes_solutions:
        raise UsageError(
            f"decoding=host: which items are chosen is judged on the device for {problem.name}."
            " Leave decoding out"
        )


def _unimproved(decoding: str, improver: str) -> UsageError:
    return UsageError(
        f"decoding={decoding} with improver {improver}: solutions are improved where the block"
        f" decodes. Leave decoding out, or choose {option('improver', 'none')}"
    )
