"""The printed figures: thirty runs of each instance, for the models m1 and m2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.cells import read_printed
from islands.reproduce.orlib import ProblemKind

INTERPRETATIONS = (
    "only the initial inertia 1 is stated: it stays high, and decreases to 0.5 near the end",
    "initial positions are not stated: all particles begin feasible",
    "the weight that divides the profit in m2 is not stated: the sum over all constraints",
)
"""What was chosen where the paper is silent."""

MODELS = {"m1": "munhao2019-m1", "m2": "munhao2019-m2"}
"""The presets of the models."""
RUNS = 30
SPEEDUPS = {"m1": 4.15, "m2": 6.33}
"""Printed speed-ups of all sets over the paper's sequential program."""

_PrintedRow = Mapping[str, str]


@dataclass(frozen=True)
class ModelFigures:
    """The figures of a model on a group of instances; gaps are in per cent."""

    best: float
    """The smallest gap of all runs of the group."""
    mean: float
    deviation: float
    milliseconds: float
    """Of a run."""
    speedup: float
    """Over the paper's sequential program."""
    hits: int | None
    """Runs that reached the optimum, if printed."""


@dataclass(frozen=True)
class InstanceGroup:
    """A row of two tables of the paper, one for each model."""

    m: int
    n: int
    instances: tuple[str, ...]
    printed: Mapping[str, ModelFigures]
    """The printed figures by model."""
    reference: int | None
    """The value that gaps refer to, if not the best known value."""


@cache
def orlib() -> Mapping[str, InstanceGroup]:
    """Return tables 1 and 2 by kind of problem."""

    def kind(row: _PrintedRow) -> ProblemKind:
        return ProblemKind(int(row["m"]), int(row["n"]), row["alpha"])

    return _groups("orlib", lambda row: kind(row).name, lambda row: kind(row).instances())


@cache
def sac94() -> Mapping[str, InstanceGroup]:
    """Return tables 3 and 4 by family and size."""
    return _groups(
        "sac94",
        lambda row: f"{row['family']} {row['m']} x {row['n']}",
        lambda row: tuple(f"sac94/{name}" for name in row["instances"].split()),
    )


@cache
def gk() -> Mapping[str, InstanceGroup]:
    """Return tables 5 and 6 by instance."""
    return _groups("gk", lambda row: row["instance"], lambda row: (f"gk/{row['instance']}",))


@cache
def comparison() -> Mapping[str, Mapping[str, float]]:
    """Return table 7, best gaps, by instance and then by `m1`, `m2` and `hembecker`."""
    names = (*MODELS, "hembecker")
    return {
        row["instance"]: {name: float(row[name]) for name in names} for row in _read("comparison")
    }


def _groups(
    table: str,
    name: Callable[[_PrintedRow], str],
    instances: Callable[[_PrintedRow], tuple[str, ...]],
) -> dict[str, InstanceGroup]:
    models: dict[str, dict[str, ModelFigures]] = {}
    groups = {}
    for row in _read(table):
        printed = models.setdefault(name(row), {})
        printed[row["model"]] = _printed(row)
        reference = int(row["reference"]) if "reference" in row else None
        groups[name(row)] = InstanceGroup(
            int(row["m"]), int(row["n"]), instances(row), printed, reference
        )
    return groups


def _printed(row: _PrintedRow) -> ModelFigures:
    return ModelFigures(
        best=float(row["best"]),
        mean=float(row["mean"]),
        deviation=float(row["deviation"]),
        milliseconds=float(row["milliseconds"]),
        speedup=float(row["speedup"]),
        hits=int(row["hits"]) if "hits" in row else None,
    )


def _read(name: str) -> list[dict[str, str]]:
    return read_printed(Path(__file__).with_name(f"{name}.csv"))
