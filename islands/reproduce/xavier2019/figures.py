"""The printed figures: one run of brkgaCuda and of brkgaAPI on each national instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.cells import read_printed

INTERPRETATIONS = (
    "25.6 elites and 25.6 mutants are rounded down to 25",
    "the paper does not say who sends elites to whom; here each population receives the 2 best of"
    " every other one",
)
"""What was chosen where the paper is silent."""

MEAN_VALUES = {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
"""Printed means of table 1."""

MEAN_SPEEDUPS = {1: 2.71, 4: 1.28, 8: 1.16}
"""Printed means of table 2: speed-ups of brkgaCuda over brkgaAPI by number of threads."""


@dataclass(frozen=True)
class InstanceFigures:
    """The figures of one instance. Unlike brkgaAPI and us, brkgaCuda did not round distances."""

    cuda_value: float
    api_value: float
    cuda_seconds: float
    api_seconds: dict[int, float]
    """Seconds by number of threads."""


@cache
def printed() -> dict[str, InstanceFigures]:
    """Return the paper's figures by the full name of the instance, in the order of its table 1."""
    rows = read_printed(Path(__file__).with_name("national.csv"))
    return {row["instance"]: _printed(row) for row in rows}


def _printed(row: dict[str, str]) -> InstanceFigures:
    return InstanceFigures(
        cuda_value=float(row["cuda_value"]),
        api_value=float(row["api_value"]),
        cuda_seconds=float(row["cuda_seconds"]),
        api_seconds={threads: float(row[f"api_{threads}_seconds"]) for threads in (1, 4, 8)},
    )
