"""Plots of benchmarks: the gaps of `quality` over time, and the speed-ups of `gpus`."""

import re
from collections.abc import Sequence
from pathlib import Path

from islands.inside import inside
from islands.report.figure import save, style
from islands.studies.bench.gpus_rows import TARGETS as TIMES
from islands.studies.bench.quality_rows import TARGETS
from islands.studies.bench.quality_runs import RunRow, labels
from islands.studies.pages.curves import Curve, draw_gaps, draw_speed_ups, draw_targets
from islands.tables import Row

_MOST_METHODS = 8
_MOST_INSTANCES = 40
"""Maximum number of instances with their own pictures."""


def write_plots(folder: Path, rows: Sequence[RunRow]) -> None:
    """Write the pictures of all instances together and of each of them."""
    names = labels(rows)
    methods = list(dict.fromkeys(names.values()))[:_MOST_METHODS]
    curves = [row.curve(names[row.backend, row.method]) for row in rows]
    curves = [curve for curve in curves if curve.method in methods]
    instances = list(dict.fromkeys(curve.instance for curve in curves))
    with style():
        if len(instances) > 1:
            _write(folder, "all", curves, methods)
        for instance in instances[:_MOST_INSTANCES]:
            own_curves = [curve for curve in curves if curve.instance == instance]
            name = re.sub(r"[^\w.-]+", "-", instance).strip("-.")
            _write(folder, name, own_curves, methods)


def _write(folder: Path, name: str, curves: Sequence[Curve], methods: Sequence[str]) -> None:
    save(draw_gaps(curves, methods), inside(folder, f"gap-{name}.png"), "png")
    targets = _targets(curves) if len(methods) > 1 else TARGETS
    times = {
        f"{method}, {target}": [(c.instance, c.seed, c.time_to(gap)) for c in own_curves]
        for method in methods
        if (own_curves := [curve for curve in curves if curve.method == method])
        for target, gap in targets.items()
    }
    save(draw_targets(times), inside(folder, f"time-{name}.png"), "png")


def _targets(curves: Sequence[Curve]) -> dict[str, float]:
    """Return only the smallest target that a run reached, to limit the number of curves."""
    best = min(curve.final for curve in curves)
    reached = [name for name, gap in TARGETS.items() if best <= gap]
    name = reached[-1] if reached else next(iter(TARGETS))
    return {name: TARGETS[name]}


_MOST = 16
"""Maximum number of curves of a panel."""


def write_speed_ups(folder: Path, rows: Sequence[Row]) -> None:
    """Write a picture with a panel for each target, and one for the speed."""
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    methods = {row["method"] for row in rows}
    for row in rows:
        if row["speed_up"] is not None:
            title = f"time to {row['target']}" if row.table is TIMES else "evaluations per second"
            curves = panels.setdefault(title, {})
            name = row["instance"] if len(methods) == 1 else f"{row['instance']}, {row['method']}"
            if name in curves or len(curves) < _MOST:
                curves.setdefault(name, []).append((row["ranks"], row["speed_up"]))
    if panels:
        with style():
            save(draw_speed_ups(panels), inside(folder, "gpus.png"), "png")
