"""Dantas and Cáceres 2014: parallel genetic algorithms for the multidimensional knapsack."""

from __future__ import annotations

from islands.reproduce.dantas2014.equal_time import EqualTimeTable
from islands.reproduce.dantas2014.gaps import GapsTable
from islands.reproduce.dantas2014.prototype import PrototypeTable
from islands.reproduce.dantas2014.times import SizeTimesTable
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Dantas and Cáceres 2014, parallel GAs for the knapsack (charts only, no numbers)",
    tables={
        table.name: table for table in (GapsTable, PrototypeTable, EqualTimeTable, SizeTimesTable)
    },
    threads=(1, ALL_CORES),
)
