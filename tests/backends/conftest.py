"""The fixture of tests that compile."""

from pathlib import Path

import pytest


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let programs be compiled to an empty cache, and return its folder."""
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
