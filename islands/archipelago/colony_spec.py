"""The settings of a colony, and the parts of the programs of all colonies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

from islands.archipelago.memory import fields_of
from islands.archipelago.program_parts import ProgramParts
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import Layout
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import as_settings

_WRITTEN_IN_COLONIES = ("algorithm", "encoding", "improver", "population", "islands")


@dataclass(frozen=True)
class ColonySpec:
    """The settings of one colony of a run."""

    islands: int
    population: int
    algorithm: str
    encoding: str
    settings: Settings
    improver: ImproverSettings
    decoding: str = ""
    rate: int = 1
    """Its own generations in one generation of the run."""

    def parts(self, problem: Problem, block_memory: int | None, islands: int = 1) -> ProgramParts:
        """Return the parts of its program for this number of islands on a rank."""
        return ProgramParts.of(
            *(problem, self.algorithm, self.encoding, self.settings, self.improver),
            population=self.population,
            islands=islands,
            block_memory=block_memory,
            decoding=self.decoding,
        )


def islands_of_each(specs: Sequence[ColonySpec]) -> list[range]:
    """Return the islands of each colony: colony 0 has the first ones."""
    ends = accumulate(each.islands for each in specs)
    return [range(end - each.islands, end) for each, end in zip(specs, ends, strict=True)]


def common_layout(specs: Sequence[ColonySpec], parts: Sequence[ProgramParts]) -> Layout:
    """Return the layout of the migrants of all colonies."""
    return Layout(
        [
            (part.algorithm.name, fields_of(part, part.shape(spec.population)))
            for spec, part in zip(specs, parts, strict=True)
        ]
    )


@contextmanager
def of_colony(number: int | None, origin: str = "") -> Iterator[None]:
    """Let errors name the colony, if there are several, after their origin."""
    try:
        with as_settings([] if number is None else _WRITTEN_IN_COLONIES):
            yield
    except UsageError as error:
        raise error if number is None else UsageError(f"{origin}colony {number}: {error}") from None
