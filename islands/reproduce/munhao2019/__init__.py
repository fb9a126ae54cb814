"""Munhão et al. 2019: a binary particle swarm on a GPU for the multidimensional knapsack."""

from __future__ import annotations

from islands.reproduce.munhao2019.comparison import ComparisonTable
from islands.reproduce.munhao2019.models import GkTable, OrLibraryTable, Sac94Table
from islands.reproduce.munhao2019.search import SearchTable
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Munhão et al. 2019, binary PSO for the knapsack (WSCAD 2019, extended proceedings)",
    tables={
        table.name: table
        for table in (Sac94Table, GkTable, ComparisonTable, OrLibraryTable, SearchTable)
    },
    threads=(1, ALL_CORES),
    printed={
        "table1": "orlib",
        "table2": "orlib",
        "table3": "sac94",
        "table4": "sac94",
        "table5": "gk",
        "table6": "gk",
        "table7": "comparison",
    },
)
