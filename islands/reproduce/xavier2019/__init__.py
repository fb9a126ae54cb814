"""Xavier 2019: brkgaCuda against brkgaAPI on the national and the VLSI instances."""

from __future__ import annotations

from islands.reproduce.table import Paper
from islands.reproduce.xavier2019.times import Times
from islands.reproduce.xavier2019.values import Values
from islands.reproduce.xavier2019.vlsi import Vlsi

PAPER = Paper(
    title="Xavier 2019, brkgaCuda (WSCAD 2019, doi:10.5753/wscad.2019.8653)",
    tables={table.name: table for table in (Values, Times, Vlsi)},
    threads=(1, 4, 8),
)
