"""What the paper printed: one run of brkgaCuda and of brkgaAPI on each national instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.printed import read_printed

MEAN_VALUES = {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
"""What is printed as the means of table 1."""

MEAN_SPEEDUPS = {1: 2.71, 4: 1.28, 8: 1.16}
"""What is printed as the means of table 2: of brkgaCuda over brkgaAPI with so many threads."""


@dataclass(frozen=True)
class Printed:
    """The figures of one instance. brkgaCuda did not round distances; brkgaAPI did, as we do."""

    cuda_value: float
    api_value: float
    cuda_seconds: float
    api_seconds: dict[int, float]
    """By the number of threads."""


@cache
def printed() -> dict[str, Printed]:
    """Return the paper's figures by the full name of the instance, in the order of its table 1."""
    rows = read_printed(Path(__file__).with_name("national.csv"))
    return {row["instance"]: _printed(row) for row in rows}


def _printed(row: dict[str, str]) -> Printed:
    return Printed(
        cuda_value=float(row["cuda_value"]),
        api_value=float(row["api_value"]),
        cuda_seconds=float(row["cuda_seconds"]),
        api_seconds={threads: float(row[f"api_{threads}_seconds"]) for threads in (1, 4, 8)},
    )
