"""The result of a run."""

from __future__ import annotations

import dataclasses
import json
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

from islands import text
from islands.errors import RunError
from islands.problems.kinds import SOLUTION_KINDS
from islands.settings import changed
from islands.text import counted, escaped, one_line

if TYPE_CHECKING:
    import pyarrow as pa

    from islands.problems.base import Problem

_NOT_IN_JSON = ("stored_settings", "records", "draw", "page")


class Records(Protocol):
    """The records of a run, in memory or in its folder."""

    @property
    def problem(self) -> Problem:
        """The problem of the run."""

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `trace` or `migrations`."""


UPPER = ("linear", "branch-and-cut")
"""The kinds of bounds that are upper bounds, as they limit profits."""

HOW_TO_BE_FEASIBLE = (
    "Check that violation can be 0, raise price= if it is a number, or start from a feasible"
    " solution (start)"
)
"""The hint for runs that find no solution without a violation."""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The best solution, exactly checked, and how it was found.

    Costs have the sign of the instance's objective: a profit is maximised. They are integers unless
    the instance's costs have decimals. A run without a feasible solution has no cost and no
    island; its solution is None or, with `violation=`, the one with the smallest violation.

    >>> result = islands.solve("demo/tsp", generations=2)
    >>> result.cost, result.gap, result.reason
    (8637, 0.0, '2 generations done')
    >>> result.trace().column_names[:3]
    ['island', 'generation', 'seconds']
    """

    instance: str
    problem: str
    algorithm: str
    encoding: str
    preset: str | None
    cost: float | None
    best_known: float | None
    gap: float | None
    """In per cent; positive if worse than the best known value."""
    solution: Any
    """An array, a dict of the parameters of `islands.mixed`, or None."""
    island: int | None
    """The island that found the best solution."""
    best_generation: int
    """The generation in which the best solution was found."""
    generations: int
    evaluations: int
    seconds: float
    """The time of the generation loop alone."""
    compile_seconds: float
    reason: str
    """Why the run stopped."""
    interrupted: bool
    suspended: bool
    """Whether a signal requested a checkpoint, from which the run can be resumed."""
    seed: int
    ranks: int
    islands: int
    population: int
    """Individuals per island; the mean, rounded down, if colonies differ."""
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
    violation: float = 0.0
    """How much the solution violates the constraints; 0 if it is feasible."""
    solution_kind: str = "order"
    """`order`; `subset`: 1 for each chosen item, otherwise 0; `choices`: the value of each item;
    `vector` or `keys`: numbers; `mixed`: a dict."""
    colony: int | None = None
    """The colony of `island`; None for a run without colonies."""
    colonies: Sequence[Mapping[str, Any]] = ()
    """A summary of the settings of each colony, and the best cost on its islands."""
    abandoned_seconds: float = 0.0
    """The part of `seconds` spent on generations that were abandoned at the end of the run."""
    write_error: str = ""
    """Why files of the run could not be written; the result is complete, but its folder is not."""
    is_partial: bool = False
    """Whether the run ended in generation 0; there is then nothing to resume from."""
    rank_seconds: Sequence[Mapping[str, float]] = ()
    """The seconds of each rank by phase, since the last start."""
    team: int = 1
    """The largest number of ranks that share an island."""
    idle_ranks: int = 0
    """The number of ranks that do no work, as sharing an island would take longer."""
    joules: float | None = None
    """The energy of all GPUs since the last start, if NVML reports it."""
    checked: str = "NumPy"
    """What computed the cost of the solution again; empty without a solution."""
    bound: float | None = None
    """A proven lower bound on the optimum, or an upper bound on a profit; None if not requested, or
    not proven in time."""
    bound_gap: float | None = None
    """The difference between the cost and the bound or estimate, in per cent of the latter."""
    bound_kind: str = ""
    """`1-tree` or `estimate` for tours, `assignment` for directed tours, `linear` or
    `branch-and-cut` for knapsacks, `nearest` for sparse assignments; empty if no bound was
    requested, or the run was interrupted."""
    bound_estimate: float | None = None
    """An estimate of the bound, if none was proven in time; a solution may be better."""
    bound_seconds: float = 0.0
    """The time spent on the bound, after the search."""
    stored_settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The `settings`, which several results share and which must not be changed."""
    records: Records | None = None
    """The source of `trace` and `migrations`."""
    draw: Callable[[Result, str, Any], Any] | None = None
    """The function that `plot` calls."""
    page: Callable[[Result], str] | None = None
    """The function that returns the result as HTML, for notebooks."""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """All settings of the run, as in `run.toml`."""
        return deepcopy(self.stored_settings)  # a caller may change it

    def shown_by(
        self, draw: Callable[[Result, str, Any], Any], page: Callable[[Result], str]
    ) -> Self:
        """Return the result with the functions that draw it."""
        return changed(self, draw=draw, page=page)

    def trace(self) -> pa.Table:
        """Return a row for each epoch and island, of all ranks, as an Arrow table.

        During long epochs, there is also a row about every second. The columns are those of the
        trace in a folder. Without a folder, the rows are in memory, and a run of more than about a
        million rows keeps only every second, fourth, ... epoch.
        """
        return self._recorded("trace")

    def migrations(self) -> pa.Table:
        """Return a row for each migrant that arrived, of all ranks, as an Arrow table.

        Without a folder, the same limit as for `trace` applies.
        """
        return self._recorded("migrations")

    def plot(self, axes: Any = None, what: str = "best") -> Any:
        """Draw a picture; return the first of its Matplotlib axes.

        `what` is `best` (the best cost over time), `solution`, `convergence`, `generations`,
        `evaluations`, `islands` or `lineage`, as for `islands plot`. `axes` are existing axes to
        draw `best` or a solution into. Matplotlib comes with `pip install 'islands[report]'`.
        """
        if self.draw is None:
            raise RunError("this result cannot be drawn. Call islands.solve to get one")
        return self.draw(self, what, axes)

    def _recorded(self, name: str) -> pa.Table:
        if self.records is None:
            raise RunError(f"this result has no {name}. Call islands.solve to get one")
        return self.records.table(name)

    def items(self) -> Any:
        """Return the solution as a list of items: in their order, or only the chosen items.

        For `islands.mixed`, return a dict of the parameters.
        """
        if self.solution is None:
            return None
        return SOLUTION_KINDS[self.solution_kind].listed(self.solution)

    def to_mapping(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        names = [field.name for field in dataclasses.fields(self)]
        values = {name: getattr(self, name) for name in names if name not in _NOT_IN_JSON}
        return values | {"solution": self.items()}

    def warn_of_lost_files(self) -> None:
        """Warn the code that started the run if files could not be written."""
        if self.write_error:
            # On the stack in between: the called function of the package, and its two decorators.
            warnings.warn(self.write_error, RuntimeWarning, stacklevel=5)

    def require_solution(self, hint: str = "") -> Self:
        """Return the result; raise a `RunError` if the run ended without a solution.

        The result of an interrupted run is returned, as the run may be resumed.
        """
        if self.cost is not None or self.interrupted or self.suspended:
            return self
        raise self.without_solution(hint)

    def without_solution(self, hint: str = "") -> RunError:
        """Return the error about a run that has ended without a solution."""
        sentences = [
            f"{self.instance}: no feasible solution found in"
            f" {counted(self.evaluations, 'evaluation')}{self._least()}"
        ]
        if self.violation > 0:
            hint = HOW_TO_BE_FEASIBLE
        if hint:
            sentences.append(hint)
        if self.folder is not None and self.reproducible:
            again = f"islands resume {shlex.quote(self.folder)} --stop KIND=VALUE"
            sentences.append(f"To continue this run: {again}")
        return RunError(". ".join(sentences))

    def __repr__(self) -> str:
        """Return the most important facts on one line."""
        cost = f"no feasible solution{self._least()}" if self.cost is None else f"cost {self.cost}"
        return (
            f"Result({one_line(self.instance, 60)}: {cost}{self._comparison()},"
            f" {counted(self.generations, 'generation')}, {self.seconds:.1f} s, seed {self.seed})"
        )

    def __str__(self) -> str:
        """Return the most important facts as aligned lines."""
        return "\n".join(f"{name:10}{value}" for name, value in self.facts().items())

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook: the facts, a picture and the settings."""
        return None if self.page is None else self.page(self)

    def facts(self) -> dict[str, str]:
        """Return the most important facts by name, in the order in which they are shown."""
        rows = {
            "instance": f"{one_line(self.instance, 200)} ({self.problem})",
            "cost": f"no feasible solution found{self._least()}",
            "method": self._method(),
            "stopped": self.reason,
            "effort": f"{counted(self.generations, 'generation')},"
            f" {counted(self.evaluations, 'evaluation', form=',')}, {self.seconds:.1f} s",
            "device": f"{self.device}, {counted(self.ranks, 'rank')}{self._idle()}",
            "seed": str(self.seed),
            "digest": self.digest[:16] or "none: generation 0 is incomplete",
            "folder": self.folder or "none",
        }
        if bound := self.bound_words():
            rows["bound"] = bound
        if self.cost is not None:
            rows["cost"] = f"{self.cost}{self._comparison()}, checked by {self.checked}"
            place = f"on {self.place()}, generation {self.best_generation}"
            rows = {**dict(list(rows.items())[:2]), "found": place, **rows}
        return {name: escaped(value, kept="") for name, value in rows.items()}

    def to_json(self) -> str:
        """Return the result as one JSON object on one line."""
        return json.dumps(self.to_mapping())

    def summary(self) -> str:
        """Return the final lines of a run's output."""
        lines = [
            f"Stopped: {self.reason}   (generation {self.generations}, {self.seconds:.1f} s)",
            self._best(),
        ]
        if bound := self.bound_words():
            side = "Upper" if self.bound_kind in UPPER else "Lower"
            lines.append(f"{side} bound {bound}")
        if not self.reproducible:
            lines.append("Ranks did not wait for each other: this run cannot be repeated exactly")
        if self.folder is not None and not self.write_error:
            is_finished = self.cost is not None and not (self.suspended or self.is_partial)
            solution = ["solution"] if is_finished else []
            checkpoints = ["checkpoints"] if self.reproducible and not self.is_partial else []
            wrote = ["run.toml", "trace", *solution, *checkpoints, "log.txt"]
            lines.append(f"Wrote {self.folder}: {', '.join(wrote)}")
        return "\n".join(escaped(line, kept="") for line in lines)

    def bound_words(self) -> str:
        """Return the bound and the gap to it as text; empty if there is none."""
        words = f"({self.bound_kind}, {self.bound_seconds:.1f} s), gap {text.gap(self.bound_gap)}"
        if self.bound is not None:
            end = ": this is the optimum" if self.bound == self.cost else ""
            return f"{self.bound} {words}{end}"
        if self.bound_estimate is None:
            return ""
        return f"not proven in time; about {self.bound_estimate} {words}"

    def _best(self) -> str:
        if self.cost is None:
            evaluations = counted(self.evaluations, "evaluation")
            return f"No feasible solution in {evaluations}{self._least()}"
        return (
            f"Best {self.cost}{self._comparison()}   on {self.place()},"
            f" generation {self.best_generation}; checked again by {self.checked}: {self.cost}"
        )

    def _method(self) -> str:
        islands = counted(self.islands, "island")
        if self.colonies:
            return f"{self.algorithm}, {islands} in {len(self.colonies)} colonies"
        return f"{self.algorithm} on {self.encoding}, {islands} x {self.population}"

    def _least(self) -> str:
        return f": the best one has the violation {self.violation:g}" if self.violation > 0 else ""

    def place(self) -> str:
        """Return which island found the best solution."""
        if self.colony is None:
            return f"island {self.island}"
        algorithm = self.colonies[self.colony]["algorithm"]
        return f"island {self.island} of colony {self.colony} ({algorithm})"

    def _idle(self) -> str:
        return f" ({self.idle_ranks} idle)" if self.idle_ranks else ""

    def _comparison(self) -> str:
        if self.best_known is None or self.cost is None:
            return ""
        return f", gap {text.gap(self.gap)} to {self.best_known}"
