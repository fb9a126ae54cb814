"""Commands in this process, and short names of pytest's fixtures."""

import csv
import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from instance_texts import tsplib_text
from synthetic import uniform_tsp

from islands.cli import main
from islands.doctor import nvidia
from islands.record import provenance

Capture: TypeAlias = pytest.CaptureFixture[str]
Patch: TypeAlias = pytest.MonkeyPatch


def done(capsys: Capture, *line: str) -> dict[str, Any]:
    """Return the object that a successful command prints."""
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def rows_of(table: str | Path) -> list[dict[str, str]]:
    """Return the rows of a table, whose name ends in .csv or .tsv."""
    with Path(table).open(newline="", encoding="utf-8") as stream:
        return [*csv.DictReader(stream, delimiter="," if str(table).endswith("csv") else "\t")]


def write_tours(count: int, cities: int = 20) -> list[str]:
    """Write instances to the folder `tours`; return their paths."""
    Path("tours").mkdir(exist_ok=True)
    paths = [f"tours/t{number:03}.tsp" for number in range(count)]
    for number, path in enumerate(paths):
        Path(path).write_text(tsplib_text(uniform_tsp(cities, seed=number)))
    return paths


def without_facts_of_the_machine(monkeypatch: Patch) -> None:
    """Let commands that write what made their tables start neither git nor nvidia-smi."""
    monkeypatch.setattr(provenance, "commit", lambda: {"commit": None, "changed": None})
    monkeypatch.setattr(nvidia, "gpus", list)
