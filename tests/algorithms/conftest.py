"""Fixtures of the algorithms."""

import pytest


@pytest.fixture(params=["", "kept"])
def deltas(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep deltas between generations or not, which must not change a result."""
    if request.param:
        monkeypatch.setattr("islands.algorithms.tempering.pairs._KEPT_FROM", 1)
