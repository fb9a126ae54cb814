"""What a program is put together from: a problem, an encoding, an improver and an algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from islands.algorithms import ALGORITHMS, Algorithm
from islands.backends.base import Room
from islands.backends.source import Macros
from islands.encodings import ENCODINGS, Encoding
from islands.errors import UsageError
from islands.improvers import Improver, ImproverSettings, improvers_for
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import option


@dataclass(frozen=True)
class Parts:
    """What a program is put together from."""

    problem: Problem
    encoding: Encoding
    improver: Improver
    algorithm: Algorithm

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
    ) -> Parts:
        """Return the parts of these names and settings; refuse what does not fit."""
        asked = ALGORITHMS[algorithm](settings, population, encoding)
        kind = problem.solution_kind
        decoding = _decoding(asked.decoding, improver.name)
        encoded = ENCODINGS[encoding][kind](
            problem.size, block_memory, decoding, assigns=problem.assigns
        )
        improving = improvers_for(kind)[improver.name](improver, problem.size, problem.defines())
        return cls(problem, encoded, improving, asked)

    def macros(self) -> Macros:
        """Return the macros that choose the parts, and those of each."""
        chosen = {
            "ISLANDS_PROBLEM": self.problem.header,
            "ISLANDS_IMPROVER": self.improver.header,
            "ISLANDS_ALGORITHM": self.algorithm.header,
        }
        own = self.problem.defines() | self.improver.defines() | self.algorithm.defines()
        return self.encoding_macros() | chosen | own

    def encoding_macros(self) -> Macros:
        """Return the macros of the encoding, and of how costs are to be read."""
        return {
            "ISLANDS_ENCODING": self.encoding.header,
            "COSTS_MARKED": str(int(self.problem.marks)),
            **self.encoding.defines(),
        }

    def room(self) -> Room:
        """Return the working memory that a block needs for an individual."""
        decoder = self.encoding.room()
        own = self.algorithm.room(self.encoding.pitch)
        behind = max(self.problem.room(), self.improver.room())
        return Room(decoder.large + own + behind, decoder.small)

    def items(self) -> int:
        """Return the pieces of work that a block shares."""
        return max(self.problem.items(), self.improver.items())


def _decoding(asked: str, improver: str) -> str:
    """Return how genomes are decoded: only what is decoded freely can be improved."""
    if improver == "none" or asked == "free":
        return asked
    if asked != "sorted":
        raise UsageError(
            f"decoding={asked} with improver {improver}: solutions are improved where the block"
            f" decodes. Leave decoding out, or choose {option('improver', 'none')}"
        )
    return "free"
