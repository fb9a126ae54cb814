"""A run whose folder contains the problem of another run: it is not drawn, and a note says why."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import islands
from islands.cli import main

SMALL = {"algorithm": "ga", "population": 16, "islands": 2, "backend": "cpu", "improver": "none"}
OTHER = "The problem is another one than that of the run"


def run_of(cities: int, folder: Path) -> Path:
    places = np.random.default_rng(1).integers(0, 100, (cities, 2)).tolist()
    islands.solve(islands.tsp(places), generations=5, seed=2, out=folder, **SMALL)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("cities", "others"), [(12, 9), (9, 12)])
def test_the_problem_of_another_run_is_not_drawn(
    cities: int, others: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    run = run_of(cities, tmp_path / "a")
    shutil.copy(run_of(others, tmp_path / "b") / "problem.npz", run)
    assert main(["report", str(run)]) == 0
    assert OTHER in (run / "report.html").read_text()
    capsys.readouterr()
    assert main(["plot", str(run)]) == 0
    assert OTHER in capsys.readouterr().err
