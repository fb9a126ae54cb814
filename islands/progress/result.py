"""What a run ends with."""

from __future__ import annotations

import dataclasses
import json
import shlex
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands import text
from islands.errors import RunError
from islands.text import counted


@dataclass(frozen=True, eq=False)
class Result:
    """The best solution, exactly checked, and how it came about.

    Costs are in the instance's own sense: a profit is to be large. They are whole numbers unless
    those of the instance have decimals. A run that has met no feasible solution has neither a cost
    nor a solution, and no island has found one.
    """

    instance: str
    problem: str
    algorithm: str
    encoding: str
    preset: str | None
    cost: float | None
    best_known: float | None
    gap: float | None
    """In per cent, positive when worse."""
    solution: NDArray[np.int64] | None
    island: int | None
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
    transport: str
    """How migrants travel between ranks."""
    reproducible: bool
    """Whether the run by these settings has the same digest each time, unless ended by time."""
    digest: str
    """SHA-256 of all final populations and costs: equal digests mean equal runs, bit for bit.

    Empty where the run `is_partial`.
    """
    folder: str | None
    solution_kind: str = "order"
    """`order`, or `subset` where the solution says by 0 and 1 which items are chosen."""
    given_up_seconds: float = 0.0
    """Of `seconds`, those of generations that were given up when the run ended."""
    is_partial: bool = False
    """Whether it ended inside generation 0, so that there is nothing to go on from."""

    def items(self) -> list[int] | None:
        """Return the solution as a list of items: in their order, or those that are chosen."""
        if self.solution is None:
            return None
        if self.solution_kind == "subset":
            return [int(item) for item in np.flatnonzero(self.solution)]
        return [int(item) for item in self.solution]

    def to_mapping(self) -> dict[str, Any]:
        """Return the result as JSON takes it."""
        return dataclasses.asdict(self) | {"solution": self.items()}

    def require_solution(self, hint: str = "") -> Self:
        """Return the result; raise a `RunError` where the run has ended without a solution.

        One that was cut short may find a solution yet.
        """
        if self.cost is not None or self.interrupted or self.suspended:
            return self
        sentences = [
            f"{self.instance}: no feasible solution was met in"
            f" {counted(self.evaluations, 'evaluation')}"
        ]
        if hint:
            sentences.append(hint)
        if self.folder is not None and self.reproducible:
            again = f"islands resume {shlex.quote(self.folder)} --stop KIND=VALUE"
            sentences.append(f"To go on with this run: {again}")
        raise RunError(". ".join(sentences))

    def to_json(self) -> str:
        """Return the result as one JSON object on one line."""
        return json.dumps(self.to_mapping())

    def summary(self) -> str:
        """Return the lines that end a run."""
        lines = [
            f"Stopped: {self.reason}   (generation {self.generations}, {self.seconds:.1f} s)",
            self._best(),
        ]
        if not self.reproducible:
            lines.append("Ranks did not wait for each other: this run cannot be repeated exactly")
        if self.folder is not None:
            is_finished = self.cost is not None and not (self.suspended or self.is_partial)
            solution = ["solution"] if is_finished else []
            checkpoints = ["checkpoints"] if self.reproducible and not self.is_partial else []
            wrote = ["run.toml", "trace", *solution, *checkpoints, "log.txt"]
            lines.append(f"Wrote {self.folder}: {', '.join(wrote)}")
        return "\n".join(lines)

    def _best(self) -> str:
        if self.cost is None:
            return f"No feasible solution in {counted(self.evaluations, 'evaluation')}"
        return (
            f"Best {self.cost}{self._comparison()}   on island {self.island},"
            f" generation {self.best_generation}; checked again in NumPy: {self.cost}"
        )

    def _comparison(self) -> str:
        return "" if self.best_known is None else f", gap {text.gap(self.gap)} to {self.best_known}"
