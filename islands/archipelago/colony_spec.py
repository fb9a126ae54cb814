"""The settings of a colony, and the islands that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

from islands.errors import UsageError
from islands.improvers import ImproverSettings
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


def islands_of_each(specs: Sequence[ColonySpec]) -> list[range]:
    """Return the islands of each colony: colony 0 has the first ones."""
    ends = accumulate(each.islands for each in specs)
    return [range(end - each.islands, end) for each, end in zip(specs, ends, strict=True)]


@contextmanager
def of_colony(number: int | None, origin: str = "") -> Iterator[None]:
    """Let errors name the colony, if there are several, after their origin."""
    try:
        with as_settings([] if number is None else _WRITTEN_IN_COLONIES):
            yield
    except UsageError as error:
        raise error if number is None else UsageError(f"{origin}colony {number}: {error}") from None
