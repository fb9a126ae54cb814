"""Jardim 2021: differential evolution on a GPU for the quadratic assignment problem."""

from __future__ import annotations

from islands.reproduce.jardim2021.implementations import Implementations
from islands.reproduce.jardim2021.literature import Literature
from islands.reproduce.jardim2021.local_searches import LocalSearches, LocalSearchesAlways
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Jardim 2021, differential evolution for the QAP (bachelor's thesis, UFOP)",
    tables={
        table.name: table
        for table in (Implementations, LocalSearches, Literature, LocalSearchesAlways)
    },
    threads=(1, ALL_CORES),
)
