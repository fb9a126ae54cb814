"""Small tunings from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")


from islands.cli import main

SMALL = ["--algorithm", "de", "--population", "16", "--islands", "2", "--migration", "none"]
SMALL += ["--backend", "cpu", "--stop", "generations=20", "--seed", "4"]
OVER = ["--over", "F=0.2..1", "--over", "Cr=0..1", "--configurations", "2", "--runs", "3"]
LINE = ["demo/tsp", "demo/qap", *SMALL, *OVER]


def done(capsys: pytest.CaptureFixture[str], command: str, *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([command, *line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def rows(folder: str) -> list[dict[str, str]]:
    with Path(folder, "tune.tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))
