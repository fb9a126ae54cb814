"""Gantt charts: when each machine processes which job."""

from __future__ import annotations

from typing import Any

_SHOWN = 60
"""The most bars of a machine that have the number of their job."""


def draw_gantt(axes: Any, rows: list[tuple[int, int, int, int]]) -> None:
    """Draw operations, each with job, machine, begin and end, into Matplotlib axes."""
    machines = sorted({machine for _, machine, *_ in rows})
    is_small = len(rows) <= _SHOWN * len(machines)
    for job, machine, begin, end in rows:
        axes.barh(machine, end - begin, left=begin, height=0.8, color=f"C{job % 10}")
        if is_small:
            axes.text((begin + end) / 2, machine, str(job), ha="center", va="center", fontsize=6)
    axes.set(xlabel="time", ylabel="machine", yticks=machines)
    axes.invert_yaxis()
