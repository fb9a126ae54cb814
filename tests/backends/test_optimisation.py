"""The level of optimisation of the CPU backend changes no result."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from scripts_for_tests import script

from islands.backends.cpu import CpuBackend

_FOLDER = Path(__file__).parents[1]
_DIGESTS = script(_FOLDER / "digests")
_ALGORITHMS = ("brkga", "de", "ga", "cellular", "pso", "memetic", "tempering", "eax")


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")
@pytest.mark.parametrize("algorithm", _ALGORITHMS)
def test_results_with_the_usual_optimisation_are_the_recorded_ones(algorithm: str) -> None:
    assert not CpuBackend(1)._names_level
    with (_FOLDER / "digests.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if f"--algorithm {algorithm} " in row["run"]]
    assert _DIGESTS.digest(rows[0]["run"], "cpu", 1) == rows[0]["digest"]
