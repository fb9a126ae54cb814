"""Munhão et al. 2019: a binary particle swarm on a GPU for the multidimensional knapsack."""

from __future__ import annotations

from islands.reproduce.munhao2019.comparison import Comparison
from islands.reproduce.munhao2019.models import Gk, OrLibrary, Sac94
from islands.reproduce.munhao2019.search import Search
from islands.reproduce.table import Paper

PAPER = Paper(
    title="Munhão et al. 2019, binary PSO for the knapsack (WSCAD 2019, extended proceedings)",
    tables={table.name: table for table in (Sac94, Gk, Comparison, OrLibrary, Search)},
    threads=(1,),
)
