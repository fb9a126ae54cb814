"""The folder of a measurement: what was measured, its tables and their plots."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.doctor.nvidia import driver
from islands.errors import UsageError
from islands.inside import inside
from islands.paths import published
from islands.record.folder import BENCH, FolderKind, refuse_other_work
from islands.record.provenance import provenance
from islands.studies.bench.base import BenchRequest
from islands.tables import Row
from islands.untrusted import bounded_text, parsing

Tables = Mapping[str, Sequence[Mapping[str, Any]]]

PROVENANCE = "provenance"
"""The key of what made the tables."""
MEASUREMENT = "measurement"
"""The key of what was measured, in the provenance."""
PRINTED = "printed"
"""The key of the texts of the tables; all other keys, but for the provenance, are tables."""
_MOST_BYTES = 1 << 24
"""Of the tables of a measurement."""
_DEFINING = ("of", "variant", "mixes", "colony", "instances")
"""Options that make another measurement; with other ones, it is continued or made again."""


def measurement(benchmarks: Sequence[str], request: BenchRequest) -> dict[str, list[str]]:
    """Return what is measured, as JSON has it."""
    options = {name: list(getattr(request, name)) for name in _DEFINING}
    return {"benchmarks": sorted(benchmarks), **options}


def refuse_other_measurement(folder: Path, mine: dict[str, list[str]]) -> None:
    """Refuse a file, and a folder with another measurement or with anything else."""
    refuse_other_work(folder, FolderKind.MEASUREMENT)
    if not (folder / BENCH).exists():
        return
    made = _made(folder / BENCH)
    if made.get(MEASUREMENT) != mine:
        command = shlex.join(["islands", *map(str, made.get("command", ()))])
        raise UsageError(
            f"--out {folder}: contains another measurement: {command}. Name a new folder"
        )


def _made(path: Path) -> dict[str, Any]:
    """Return the provenance in a file."""
    text = bounded_text(path, _MOST_BYTES)
    with parsing(path, "is not the output of islands bench", "Name a new folder"):
        return dict(json.loads(text)[PROVENANCE])


def text_of(rows: Sequence[Row]) -> str:
    """Return the header and the rows of a table."""
    return "\n".join([rows[0].table.header, *(row.line() for row in rows)])


def origin(
    tables: Mapping[str, Sequence[Row]], what: Mapping[str, Any], command: Sequence[str]
) -> dict[str, Any]:
    """Return what made the tables, on which devices, and the tables as they were printed."""
    rows = [row for each in tables.values() for row in each if "device" in row]
    devices = dict.fromkeys(str(row["device"]) for row in rows)
    made = {**provenance(), "devices": [*devices], "driver": driver(), "command": [*command]}
    printed = {name: text_of(rows) for name, rows in tables.items() if rows[0].table.header}
    return {PROVENANCE: {**made, MEASUREMENT: what}, PRINTED: printed}


def write(folder: Path, tables: Mapping[str, Sequence[Row]], measured: Mapping[str, Any]) -> None:
    """Write each table to a file, and plots of some of them; no file is ever seen incomplete."""
    from islands.studies.bench import topologies
    from islands.studies.bench.gpus_rows import SPEEDS, TARGETS
    from islands.studies.bench.plots import write_plots, write_speed_ups
    from islands.studies.bench.quality_runs import RUNS, read_rows

    for name, rows in tables.items():
        rows[0].table.write(folder, rows)
        if name == RUNS.name:
            write_plots(folder, read_rows(rows))
        if name == topologies.TABLE.name:
            topologies.write_plot(inside(folder, f"{name}.png"), rows)
    if gains := [row for each in (TARGETS, SPEEDS) for row in tables.get(each.name, ())]:
        write_speed_ups(folder, gains)
    with published(inside(folder, BENCH)) as temporary:
        temporary.write_text(json.dumps(measured) + "\n", encoding="utf-8")
