"""Each command of these tests runs in a folder of its own, and asks neither git nor nvidia-smi."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_for_tests import without_facts_of_the_machine


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    without_facts_of_the_machine(monkeypatch)
