"""Small runs from the command line, and what they write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from islands.cli import main

SMALL = ["--population", "64", "--islands", "4", "--interval", "20", "--backend", "cpu"]
SMALL += ["--improver", "none"]


def solved(
    capsys: pytest.CaptureFixture[str], *options: str, line: Sequence[str] = SMALL
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", "demo/tsp", *line, *options, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))
