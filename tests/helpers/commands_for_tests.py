"""Commands in this process, and short names of pytest's fixtures."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import pytest

from islands.cli import main

Capture: TypeAlias = pytest.CaptureFixture[str]
Patch: TypeAlias = pytest.MonkeyPatch


def done(capsys: Capture, *line: str) -> dict[str, Any]:
    """Return the object that a successful command prints."""
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))
