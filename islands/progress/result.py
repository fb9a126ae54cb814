"""The result of a run."""

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
    """The best solution, exactly checked, and how it was found.

    Costs have the sign of the instance's objective: a profit is maximised. They are integers unless
    the instance's costs have decimals. A run without a feasible solution has no cost, no solution
    and no island.
    """

    instance: str
    problem: str
    algorithm: str
    encoding: str
    preset: str | None
    cost: float | None
    best_known: float | None
    gap: float | None
    """In per cent; positive if worse than the best-known value."""
    solution: NDArray[np.int64] | None
    island: int | None
    """The island that found the best solution."""
    best_generation: int
    """The generation in which it was found."""
    generations: int
    evaluations: int
    seconds: float
    """The time of the generation loop alone."""
    compile_seconds: float
    reason: str
    """Why the run stopped."""
    interrupted: bool
    suspended: bool
    """Whether a signal asked for a checkpoint, from which the run can be resumed."""
    seed: int
    ranks: int
    islands: int
    population: int
    backend: str
    device: str
    transport: str
    """How migrants travel between ranks."""
    reproducible: bool
    """Whether the settings give the same digest each time, unless the time limit ends the run."""
    digest: str
    """SHA-256 of all final populations and costs: equal digests mean equal runs, bit for bit.

    Empty if the run `is_partial`.
    """
    folder: str | None
    solution_kind: str = "order"
    """`order`, or `subset` if the solution marks chosen items by 1 and others by 0."""
    given_up_seconds: float = 0.0
    """The part of `seconds` spent on generations that were abandoned at the end of the run."""
    is_partial: bool = False
    """Whether it ended inside generation 0, so that there is nothing to resume from."""

    def items(self) -> list[int] | None:
        """Return the solution as a list of items: in their order, or only the chosen items."""
        if self.solution is None:
            return None
        if self.solution_kind == "subset":
            return [int(item) for item in np.flatnonzero(self.solution)]
        return [int(item) for item in self.solution]

    def to_mapping(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        return dataclasses.asdict(self) | {"solution": self.items()}

    def require_solution(self, hint: str = "") -> Self:
        """Return the result; raise a `RunError` if the run ended without a solution.

        An interrupted run may still find a solution, and is returned.
        """
        if self.cost is not None or self.interrupted or self.suspended:
            return self
        sentences = [
            f"{self.instance}: no feasible solution found in"
            f" {counted(self.evaluations, 'evaluation')}"
        ]
        if hint:
            sentences.append(hint)
        if self.folder is not None and self.reproducible:
            again = f"islands resume {shlex.quote(self.folder)} --stop KIND=VALUE"
            sentences.append(f"To continue this run: {again}")
        raise RunError(". ".join(sentences))

    def to_json(self) -> str:
        """Return the result as one JSON object on one line."""
        return json.dumps(self.to_mapping())

    def summary(self) -> str:
        """Return the final lines of a run's output."""
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
