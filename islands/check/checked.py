"""The report of a check: a row for each way to evaluate solutions, and the first difference."""

from dataclasses import dataclass, field

from islands.problems.base import Problem
from islands.tables import fitted
from islands.text import count, counted


@dataclass(frozen=True)
class WayResult:
    """The outcome of the check of one way to evaluate solutions, or of one function."""

    way: str
    speed: float | None
    """Solutions per second; None if not measured."""
    outcome: str


@dataclass
class Checked:
    """The result of a check of a problem."""

    problem: Problem
    samples: int
    seed: int
    rows: list[WayResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was not checked, and observations that are not errors."""
    difference: str | None = None
    """The first difference or fault, if any."""

    @property
    def works(self) -> bool:
        """Whether there is no difference and no fault."""
        return self.difference is None

    def __str__(self) -> str:
        """Return the report: the problem, a table of the ways, notes and the outcome."""
        problem = self.problem
        costs = "real" if problem.scale.real else "integer"
        sense = "maximised" if problem.maximise else "minimised"
        blocks = [
            [
                f"{problem.instance}   {problem.solution_kind} of size {problem.size},"
                f" {costs} costs, {sense}",
                f"{counted(self.samples, 'random solution')}, seed {self.seed}",
            ],
            self._table(),
            [f"Note: {words}" for words in self.notes],
            [f"Difference: {self.difference}" if self.difference else "No differences."],
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def _table(self) -> list[str]:
        if not self.rows:
            return []
        cells = [("Way", "Solutions/s", "Result")]
        cells += [
            (row.way, "-" if row.speed is None else count(row.speed), row.outcome)
            for row in self.rows
        ]
        return fitted("<><", cells)
