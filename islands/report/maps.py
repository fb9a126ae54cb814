"""The tour of a run as GeoJSON, for maps."""

import json
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.paths import publish
from islands.problems.base import Problem, Solution
from islands.problems.geojson import places_of
from islands.problems.tsp import Tsp
from islands.report.recorded import RecordedRun


def require_places(problem: Problem) -> None:
    """Reject a problem whose solutions cannot be drawn on a map."""
    _tours_of(problem)


def write_map(problem: Problem, solution: Solution, path: Path) -> None:
    """Write a tour to a file."""
    publish(path, json.dumps(_tours_of(problem).geojson(solution)))


def write_map_of(folder: Path, path: Path, *, moved: str | None = None) -> list[str]:
    """Write the tour of a finished run; return notes about it. `moved`: as in `write_picture`."""
    run = RecordedRun.read(folder, migrations=False, moved=moved)
    if run.result is None or run.result.solution is None:
        raise InputError(
            f"{folder}: the run is not finished, or has found no feasible solution, so there is no"
            " tour to write. Continue it with islands resume"
        )
    if run.problem is None:
        raise InputError(f"{folder}: {run.notes[-1]}")
    write_map(run.problem, run.result.solution, path)
    return run.notes


def _tours_of(problem: Problem) -> Tsp:
    if not isinstance(problem, Tsp):
        raise UsageError(
            f"{problem.instance}: its solutions are not tours, and maps show only tours."
            " Leave --geojson out, or draw a solution with islands plot DIR"
        )
    places_of(problem.file)
    return problem
