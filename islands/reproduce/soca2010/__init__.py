"""Soca et al. 2010: PUGACE, cellular evolutionary algorithms on a GPU."""

from __future__ import annotations

from islands.reproduce.soca2010.calibration import CalibrationTable
from islands.reproduce.soca2010.performance import PerformanceTable
from islands.reproduce.soca2010.quality import QualityTable
from islands.reproduce.table import ALL_CORES, Paper

PAPER = Paper(
    title="Soca et al. 2010, PUGACE (CEC 2010, doi:10.1109/CEC.2010.5586286)",
    tables={table.name: table for table in (CalibrationTable, QualityTable, PerformanceTable)},
    threads=(1, ALL_CORES),
    printed={"table2": "quality", "table3": "performance"},
)
