"""The printed figures: means of ten runs on an RTX 2060 and a Ryzen 5 3600X."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.cells import read_printed

INTERPRETATIONS = (
    "the printed repair of equal keys does not work; here equal keys keep their order",
    "the thesis does not say how flows are indexed; here the first matrix is indexed by pairs of"
    " facilities, the second by their locations",
)
"""What was chosen where the thesis is silent or unclear."""

SEARCH_INTERPRETATIONS = (
    *INTERPRETATIONS,
    "the text says that every trial is improved, the printed evaluations imply a fifth; here a"
    " fifth is improved",
    "how moves count is not stated: each difference of costs counts as an evaluation",
)
"""The same for the experiments with local search."""

IMPLEMENTATIONS = {
    "GPU": "one block",
    "GPU-P": "objective in n² blocks",
    "CPU": "CPU threads",
}
"""The three implementations of the thesis."""

SEARCHES = ("swap", "two_opt", "reinsert")
"""The thesis' local searches by our names."""

IMPLEMENTATION_GAPS = {"GPU": 10.97, "GPU-P": 10.85, "CPU": 10.59}
"""Printed mean gaps of table 3; the first is truncated."""

SEARCH_GAPS = {"swap": 8.38, "two_opt": 7.93, "reinsert": 9.07}
"""Printed mean gaps of table 4; that of `two_opt` is truncated."""

LITERATURE_GAPS = {"mean_gap": 4.69, "best_gap": 3.37}
"""Printed averages of the gaps of table 5."""


@dataclass(frozen=True)
class ImplementationFigures:
    """One of the three on an instance, without local search (experiment A, table 3)."""

    gap: float
    seconds: float
    rate: float
    """Thousands of calls of the objective per second."""


@dataclass(frozen=True)
class SearchFigures:
    """One local search on an instance (experiment B, table 4)."""

    gap: float
    seconds: float
    calls: float
    """In thousands."""


@dataclass(frozen=True)
class LiteratureFigures:
    """An instance against the literature (experiment C, table 5)."""

    known: int
    best: int
    best_gap: float
    mean: int
    mean_gap: float
    best_calls: float
    """In millions."""
    mean_calls: float


@cache
def implementations() -> Mapping[str, Mapping[str, ImplementationFigures]]:
    """Return table 3 by instance and implementation."""
    table: dict[str, dict[str, ImplementationFigures]] = {}
    for row in _read("implementations"):
        figures = ImplementationFigures(*(float(row[name]) for name in ("gap", "seconds", "rate")))
        table.setdefault(row["instance"], {})[row["implementation"]] = figures
    return table


@cache
def searches() -> Mapping[str, Mapping[str, SearchFigures]]:
    """Return table 4 by instance and local search."""
    table: dict[str, dict[str, SearchFigures]] = {}
    for row in _read("local_searches"):
        figures = SearchFigures(*(float(row[name]) for name in ("gap", "seconds", "calls")))
        table.setdefault(row["instance"], {})[row["search"]] = figures
    return table


@cache
def literature() -> Mapping[str, LiteratureFigures]:
    """Return table 5 by instance."""
    return {
        row["instance"]: LiteratureFigures(
            known=int(row["known"]),
            best=int(row["best"]),
            best_gap=float(row["best_gap"]),
            mean=int(row["mean"]),
            mean_gap=float(row["mean_gap"]),
            best_calls=float(row["best_calls"]),
            mean_calls=float(row["mean_calls"]),
        )
        for row in _read("literature")
    }


def _read(name: str) -> list[dict[str, str]]:
    return read_printed(Path(__file__).with_name(f"{name}.csv"))
