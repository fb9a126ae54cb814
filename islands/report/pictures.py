"""The pictures of a run, which `islands plot` writes and `Result.plot` draws."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from islands import text
from islands.errors import InputError, RunError, UsageError
from islands.inside import inside
from islands.progress.result import Result
from islands.report.course import draw_best, draw_convergence, draw_lineage, draw_matrix
from islands.report.figure import FORMS, save, shown, style
from islands.report.history import History, Migrants
from islands.report.recorded import RecordedRun, method_of
from islands.report.solution import draw_into, draw_solution
from islands.text import either, one_line, unknown

_LONGEST = 60
"""Maximum number of characters in the first line of a title."""


def _solution(run: RecordedRun) -> Any:
    result = run.result
    if result is None or result.solution is None:
        raise InputError(
            f"{run.folder}: the run is not finished, or has found no feasible solution, so there is"
            " none to draw. Continue it with islands resume, or draw its convergence"
        )
    return draw_solution(run.problem, result.solution_kind, result.solution)[0]


def _course(run: RecordedRun, over: str = "seconds") -> Any:
    return draw_convergence(_history(run), over, best_known=run.best_known)


def _islands(run: RecordedRun) -> Any:
    history = _history(run)
    return draw_matrix(_migrants(run), history.islands)


def _lineage(run: RecordedRun) -> Any:
    history, migrants = _history(run), _migrants(run)
    assert run.lineage is not None
    return draw_lineage(migrants, history, run.lineage)


def _history(run: RecordedRun) -> History:
    if run.history is None:
        raise InputError(f"{run.folder}: {run.without_rows()}")
    return run.history


def _migrants(run: RecordedRun) -> Migrants:
    if run.migrants is None:
        raise InputError(f"{run.folder}: {run.without_migrants()}")
    return run.migrants


PICTURES: dict[str, Callable[[RecordedRun], Any]] = {
    "solution": _solution,
    "convergence": _course,
    "seconds": _course,
    "generations": lambda run: _course(run, "generations"),
    "evaluations": lambda run: _course(run, "evaluations"),
    "islands": _islands,
    "migration": _islands,
    "lineage": _lineage,
}
"""The pictures by name, the default first."""
_SOLUTIONS = ("tour", "assignment", "knapsack")
"""Other names of the picture of the solution."""


def _picture_of(name: Any, pictures: Collection[str]) -> str:
    """Return the picture that a user means by a name."""
    what = "solution" if str(name) in _SOLUTIONS else str(name)
    if what not in pictures:
        raise UsageError(unknown("picture", what, pictures))
    return what


def titled(run: RecordedRun, what: str) -> Any:
    """Return a picture with the instance, the method, the cost and the seed as its title."""
    figure = PICTURES[what](run)
    cost = "no feasible solution"
    if run.best is not None:
        cost = f"{'best' if run.result is not None else 'best so far'} {run.best:,.10g}"
    gap = "" if run.gap is None else f", gap {text.gap(run.gap)}"
    first = one_line(f"{run.instance}, {method_of(run.settings)}", _LONGEST)
    second = f"{cost}{gap}, seed {run.settings.get('seed', '?')}"
    figure.suptitle(f"{first}\n{second}", fontsize=9, parse_math=False)
    return figure


def write_picture(
    folder: Path,
    what: str = "solution",
    out: Path | None = None,
    *,
    moved: str | None = None,
) -> tuple[Path, list[str]]:
    """Write one picture of a run, by default as PNG into its folder.

    Return its path, and notes on what is missing. `moved` is the current path of an instance or
    script that has moved.
    """
    what = _picture_of(what, PICTURES)
    path = out if out is not None else inside(folder, f"{what}.png")
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise UsageError(
            f"--out {path}: must end in {either([f'.{name}' for name in FORMS])}, which names the"
            " format"
        )
    with style():
        needs_migrations = what in ("islands", "migration", "lineage")
        run = RecordedRun.read(folder, migrations=needs_migrations, moved=moved)
        save(titled(run, what), path, form)
    return path, run.notes


def draw_result(result: Result, what: str, axes: Any) -> Any:
    """Draw a picture of a result in memory; return the axes."""
    return draw_run(lambda: RecordedRun.of(result), result, what, axes)


def draw_run(
    recorded: Callable[[], RecordedRun], result: Result, what: str = "best", axes: Any = None
) -> Any:
    """Draw a picture of a result; return the axes. `recorded` reads the run of the result."""
    what = _picture_of(what, ["best", *PICTURES])
    if axes is not None and not hasattr(axes, "plot"):
        fix = f"what={axes!r}" if isinstance(axes, str) else "those of plt.subplots()"
        raise UsageError(f"axes={text.shown(axes)}: must be axes of Matplotlib. Pass {fix}")
    if what == "best":
        trace, maximise = result.trace(), recorded().maximise
        title = f"{one_line(result.instance, 60)}, {result.algorithm}, seed {result.seed}"
        return draw_best(trace, maximise=maximise, title=title, axes=axes)
    with style():
        run = recorded()
        if axes is None:
            with shown():
                return titled(run, what).axes[0]
        if what != "solution":
            raise UsageError(f"{what} cannot be drawn into existing axes. Leave axes out")
        if result.solution is None:
            raise RunError("the run found no feasible solution, so there is nothing to draw")
        draw_into(axes, run.problem, result.solution_kind, result.solution)
    return axes
