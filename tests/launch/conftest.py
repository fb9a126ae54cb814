"""The fake machine of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
