"""What a run ends with."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands import text


@dataclass(frozen=True, eq=False)
class Result:
    """The best solution, exactly checked, and how it came about.

    Costs are in the instance's own sense: a profit is to be large.
    """

    instance: str
    problem: str
    algorithm: str
    encoding: str
    preset: str | None
    cost: int
    best_known: int | None
    gap: float | None
    """In per cent, positive when worse."""
    solution: NDArray[np.int64]
    island: int
    """The island that found the best solution."""
    best_generation: int
    """The generation in which it was found."""
    generations: int
    evaluations: int
    seconds: float
    """Of the generation loop alone."""
    compile_seconds: float
    reason: str
    """Why the run stopped, in words."""
    interrupted: bool
    suspended: bool
    """Whether a signal asked for a checkpoint, from which the run is to go on."""
    seed: int
    ranks: int
    islands: int
    population: int
    backend: str
    device: str
    road: str
    """How migrants travel between ranks."""
    reproducible: bool
    """Whether the run by these settings has the same digest each time, unless ended by time."""
    digest: str
    """SHA-256 of all final populations and costs: equal digests mean equal runs, bit for bit."""
    folder: str | None

    def to_mapping(self) -> dict[str, Any]:
        """Return the result as JSON takes it."""
        return dataclasses.asdict(self) | {"solution": self.solution.tolist()}

    def to_json(self) -> str:
        """Return the result as one JSON object on one line."""
        return json.dumps(self.to_mapping())

    def summary(self) -> str:
        """Return the lines that end a run."""
        lines = [
            f"Stopped: {self.reason}   (generation {self.generations}, {self.seconds:.1f} s)",
            f"Best {self.cost}{self._comparison()}   on island {self.island},"
            f" generation {self.best_generation}; checked again in NumPy: {self.cost}",
        ]
        if not self.reproducible:
            lines.append("Ranks did not wait for each other: this run cannot be repeated exactly")
        if self.folder is not None:
            solution = [] if self.suspended else ["solution"]
            checkpoints = ["checkpoints"] if self.reproducible else []
            wrote = ["run.toml", "trace", *solution, *checkpoints, "log.txt"]
            lines.append(f"Wrote {self.folder}: {', '.join(wrote)}")
        return "\n".join(lines)

    def _comparison(self) -> str:
        return "" if self.best_known is None else f", gap {text.gap(self.gap)} to {self.best_known}"
