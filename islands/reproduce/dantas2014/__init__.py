"""Dantas and Cáceres 2014: parallel genetic algorithms for the multidimensional knapsack."""

from __future__ import annotations

from islands.reproduce.dantas2014.equal_time import EqualTime
from islands.reproduce.dantas2014.gaps import Gaps
from islands.reproduce.dantas2014.prototype import PrototypeGaps
from islands.reproduce.dantas2014.times import Times
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Dantas and Cáceres 2014, parallel GAs for the knapsack (charts alone, no numbers)",
    tables={table.name: table for table in (Gaps, PrototypeGaps, EqualTime, Times)},
    threads=(1, ALL_CORES),
)
