"""What the thesis printed: means of ten runs on an RTX 2060 and a Ryzen 5 3600X."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.printed import read_printed

IMPLEMENTATIONS = {
    "GPU": "one block",
    "GPU-P": "objective in n² blocks",
    "CPU": "CPU threads",
}
"""The thesis' three, in words."""

SEARCHES = ("swap", "two_opt", "reinsert")
"""The thesis' local searches by our names."""

IMPLEMENTATION_GAPS = {"GPU": 10.97, "GPU-P": 10.85, "CPU": 10.59}
"""What is printed as the mean gaps of table 3; the first is cut off."""

SEARCH_GAPS = {"swap": 8.38, "two_opt": 7.93, "reinsert": 9.07}
"""What is printed as the mean gaps of table 4; that of `two_opt` is cut off."""

LITERATURE_GAPS = {"mean_gap": 4.69, "best_gap": 3.37}
"""What is printed as the averages of the gaps of table 5."""


@dataclass(frozen=True)
class Implementation:
    """One of the three on an instance, without local search (experiment A, table 3)."""

    gap: float
    seconds: float
    rate: float
    """Thousands of calls of the objective a second."""


@dataclass(frozen=True)
class Search:
    """One local search on an instance (experiment B, table 4)."""

    gap: float
    seconds: float
    calls: float
    """In thousands."""


@dataclass(frozen=True)
class Literature:
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
def implementations() -> Mapping[str, Mapping[str, Implementation]]:
    """Return table 3 by instance and implementation."""
    table: dict[str, dict[str, Implementation]] = {}
    for row in _read("implementations"):
        figures = Implementation(*(float(row[name]) for name in ("gap", "seconds", "rate")))
        table.setdefault(row["instance"], {})[row["implementation"]] = figures
    return table


@cache
def searches() -> Mapping[str, Mapping[str, Search]]:
    """Return table 4 by instance and local search."""
    table: dict[str, dict[str, Search]] = {}
    for row in _read("local_searches"):
        figures = Search(*(float(row[name]) for name in ("gap", "seconds", "calls")))
        table.setdefault(row["instance"], {})[row["search"]] = figures
    return table


@cache
def literature() -> Mapping[str, Literature]:
    """Return table 5 by instance."""
    return {
        row["instance"]: Literature(
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
