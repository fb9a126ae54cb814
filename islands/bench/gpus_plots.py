"""The picture of `gpus`: what more ranks gain, in the time to a target and in speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from islands.bench.gpus_rows import GpuSpeedRow, GpuTargetRow
from islands.inside import inside
from islands.report.curves import draw_speed_ups
from islands.report.figure import save, style

NAME = "gpus.png"
_MOST = 16
"""Curves of a panel at most."""

Row = GpuTargetRow | GpuSpeedRow


def write_speed_ups(folder: Path, rows: Sequence[Row]) -> None:
    """Write a picture with a panel for each target, and one for the speed."""
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    methods = {row.method for row in rows}
    for row in rows:
        if row.speed_up is not None:
            curves = panels.setdefault(_title(row), {})
            name = row.instance if len(methods) == 1 else f"{row.instance}, {row.method}"
            if name in curves or len(curves) < _MOST:
                curves.setdefault(name, []).append((row.ranks, row.speed_up))
    if panels:
        with style():
            save(draw_speed_ups(panels), inside(folder, NAME), "png")


def _title(row: Row) -> str:
    return f"time to {row.target}" if isinstance(row, GpuTargetRow) else "evaluations per second"
