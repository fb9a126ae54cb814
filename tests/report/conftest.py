"""Folders of short runs, made once for all tests of reports."""

from pathlib import Path

import pytest

import islands

pytest.importorskip("matplotlib")

SMALL = {"population": 16, "islands": 4, "backend": "cpu", "record": {"every": 2}}
RING = {"migration": "ring", "interval": 3, "migrants": 1}
PLAIN = {"algorithm": "ga", "improver": "none"}


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("tsp", "qap", "mkp"):
        settings = {**SMALL, **RING, **PLAIN}
        islands.solve(f"demo/{name}", generations=30, seed=2, out=folder / name, **settings)
    return folder


@pytest.fixture(scope="session")
def methods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with runs of two algorithms, three seeds and two instances."""
    folder = tmp_path_factory.mktemp("methods")
    for algorithm in ("ga", "cellular"):
        for instance in ("tsp", "qap"):
            for seed in (1, 2, 3):
                settings = {**SMALL, **PLAIN, "algorithm": algorithm, "generations": 10}
                out = folder / f"{algorithm}-{instance}-{seed}"
                islands.solve(f"demo/{instance}", seed=seed, out=out, **settings)
    return folder
