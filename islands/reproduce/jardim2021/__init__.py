"""Jardim 2021: differential evolution on a GPU for the quadratic assignment problem."""

from __future__ import annotations

from islands.reproduce.jardim2021.implementations import ImplementationsTable
from islands.reproduce.jardim2021.literature import LiteratureTable
from islands.reproduce.jardim2021.local_searches import LocalSearchesAlwaysTable, LocalSearchesTable
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Jardim 2021, differential evolution for the QAP (bachelor's thesis, UFOP)",
    tables={
        table.name: table
        for table in (
            ImplementationsTable,
            LocalSearchesTable,
            LiteratureTable,
            LocalSearchesAlwaysTable,
        )
    },
    threads=(1, ALL_CORES),
    printed={"table3": "implementations", "table4": "local-searches", "table5": "literature"},
)
