"""Commands of these tests run in new folders, and call neither git nor nvidia-smi."""

from pathlib import Path

import pytest
from commands_for_tests import without_facts_of_the_machine

import islands

SMALL = {"algorithm": "ga", "population": 16, "islands": 2, "backend": "cpu", "improver": "none"}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run, to be copied."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    islands.solve("demo/tsp", generations=20, seed=2, interval=5, out=folder, **SMALL)
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    without_facts_of_the_machine(monkeypatch)
