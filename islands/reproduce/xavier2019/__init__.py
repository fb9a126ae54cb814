"""Xavier 2019: brkgaCuda against brkgaAPI on the national and the VLSI instances."""

from __future__ import annotations

from islands.reproduce.table import ALL_CORES, Paper
from islands.reproduce.xavier2019.times import NationalTimesTable
from islands.reproduce.xavier2019.values import ValuesTable
from islands.reproduce.xavier2019.vlsi import VlsiTable

PAPER = Paper(
    title="Xavier 2019, brkgaCuda (WSCAD 2019, doi:10.5753/wscad.2019.8653)",
    tables={table.name: table for table in (ValuesTable, NationalTimesTable, VlsiTable)},
    threads=(1, 4, 8, ALL_CORES),
    printed={"table1": "values", "table2": "times"},
)
