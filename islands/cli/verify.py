"""The commands that check a solution, or the code of a problem."""

import argparse
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from islands.cli.arguments import NAME, SETTING, add_format, positive, whole_number
from islands.cli.run import of_set
from islands.configuration.given import gathered
from islands.custom.scripts import is_reference, split_reference
from islands.errors import InputError, RunError, UsageError
from islands.instances.locate import Located, find
from islands.instances.solution_files import Remark, counting_as_in, solution_file
from islands.paths import expanded, reading
from islands.problems import loaded, read
from islands.problems.base import Problem, Solution
from islands.record.folder import FINISHED, RUN_SETTINGS, not_a_run, require_run
from islands.record.inputs import has_problem, read_settings, stored_problem
from islands.record.one_run import warnings
from islands.record.solution import recorded
from islands.text import gap, one_line, show, unknown

_REPORT = (
    "better than the best known value of the catalogue: please report it with this file, in an"
    " issue of the project, so that it can be added to the catalogue"
)
_SHOWN = 40  # maximum characters of a stated cost that is not a number


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `islands verify`."""
    add = parser.add_argument
    text = "set/name, a bare name, a path or FILE.py:NAME"
    add("instance", metavar="INSTANCE", type=NAME, help=text)
    text = "a solution file, also searched for next to the instance, or a run's folder"
    add("solution", metavar="SOLUTION", help=text)
    add_format(parser)
    text = "a setting of the problem in the run of the solution, such as ends=0:any; repeatable"
    add("--set", metavar="KEY=VALUE", action="append", type=SETTING, help=text)
    text = "compile code that is stored in the folder and was not written by you on this machine"
    add("--trust", action="store_true", help=text)
    add("--json", action="store_true", help="print one JSON object")


def verify(args: argparse.Namespace) -> int:
    """Compute the exact cost of a solution file or a run's folder, and check that it is feasible.

    Return 0 if the solution is feasible and nothing in its file or folder contradicts it, otherwise
    1. A wrong header of a `.sln` file, which some published files have, leads to a remark only.
    """
    path, problem = _read(args.instance, args.solution, args.format)
    file = solution_file(path, problem.solution_suffix, "solution")
    is_run = path.is_dir() and (path / RUN_SETTINGS).exists()
    stated = read_settings(path) if is_run else problem.settings_in(file)
    problem = problem.as_solved({**stated, **_given(args.set or [], problem)})
    solution = problem.read_solution(file)
    cost, reason, compared = None, None, list[Remark]()
    try:
        with counting_as_in(file):
            problem.check(solution)
        if (violation := problem.violation(solution)) > 0:
            raise RunError(f"the violation is {violation:g}")
        cost = problem.cost(solution)
        compared = [*_compared(path, problem, cost), *_other_runs(path, problem, solution)]
    except RunError as error:
        reason = str(error)
    remarks = [*problem.remarks_on(file, cost), *compared]
    _print(problem, path, cost, reason, remarks, as_json=args.json)
    is_wrong = any(remark.value in (None, False) for remark in compared)
    return 1 if cost is None or is_wrong else 0


def _given(texts: list[str], problem: Problem) -> dict[str, Any]:
    """Return the settings of the problem in `--set`; reject others."""
    names = problem.Settings.names()
    given = gathered(map(of_set, texts))
    for name in given:
        if not names:
            raise UsageError(f"--set {name}: {problem.name} has no settings. Leave it out")
        if name not in names:
            raise UsageError(f"--set {name}: {unknown('setting', name, names)}")
    return given


def _read(instance: str, solution: str, form: str | None) -> tuple[Path, Problem]:
    """Return the path of the solution and the problem."""
    folder = Path(instance)
    if has_problem(folder):
        return _solution_path(solution, folder), stored_problem(folder)
    if is_reference(instance):
        path = _solution_path(solution, split_reference(instance)[0])
        return path, loaded(instance, form)
    named = find(instance)
    path = _solution_path(solution, named.file())
    return path, read(named, form or _format_of_run(path, named))


def _solution_path(name: str, instance: Path) -> Path:
    with reading(name):
        for path in (expanded(name), instance.parent / name):
            if path.exists():
                if path.name == FINISHED:
                    path = path.parent
                # A folder that islands has not written may contain a solution file.
                if (path / RUN_SETTINGS).exists() or not_a_run(path):
                    require_run(path)
                return path
    raise InputError(
        f"{name}: no such file, and none with this name next to {instance}. Specify a solution file"
    )


def _format_of_run(path: Path, named: Located) -> str | None:
    """Return the format of a run's instance, or None; reject a run of another instance."""
    if not path.is_dir() or not (path / RUN_SETTINGS).exists():
        return None
    run = read_settings(path)
    form = None if run.get("format") is None else str(run["format"])
    try:
        solved = find(str(run.get("instance", "")))
        is_same = solved.file().resolve() == named.file().resolve() and solved.part == named.part
    except InputError:
        return form  # the file of the instance has moved
    if not is_same:
        raise InputError(
            f"{path}: is a run of {solved.name}, not of {named.name}. Specify its instance, or a"
            " solution file"
        )
    return form


def _compared(path: Path, problem: Problem, cost: float) -> list[Remark]:
    """Return remarks about the cost that is stated in a JSON file or by a finished run."""
    try:
        stated = _stated(path)
    except InputError as error:
        return [Remark("said", None, str(error))]
    if stated is None:
        return []
    word = problem.words.cost
    agrees = not isinstance(stated, str) and problem.scale.agrees(cost, stated)
    result = "correct" if agrees else f"wrong, the {word} of its solution is {cost}"
    return [
        Remark("said", stated, ""),
        Remark(
            "said_agrees", agrees, f"{word} stated in {path.resolve().name}: {stated} ({result})"
        ),
    ]


def _stated(path: Path) -> float | str | None:
    """Return the cost stated in a file, or None; as short text if it is not a number."""
    if path.is_dir():
        return recorded(path).result.cost if (path / FINISHED).exists() else None
    if path.suffix != ".json":
        return None
    content = json.loads(path.read_bytes())
    cost = content.get("cost") if isinstance(content, dict) else None
    is_number = type(cost) is int or (type(cost) is float and math.isfinite(cost))
    return cost if cost is None or is_number else str(cost)[:_SHOWN]


def _other_runs(path: Path, problem: Problem, solution: Solution) -> list[Remark]:
    """Return remarks about files of other runs in the folder of a run."""
    if not path.is_dir():
        return []
    messages = warnings(path)
    if (path / FINISHED).exists():
        with suppress(InputError):  # there is a remark about the error already
            stated = recorded(path).result.solution
            if stated is not None and not np.array_equal(problem.kind.array_of(stated), solution):
                native = f"solution{problem.solution_suffix}"
                messages.append(f"{native} does not contain the solution of {FINISHED}")
    return [Remark("one_run", False, message) for message in messages]


def _print(
    problem: Problem,
    path: Path,
    cost: float | None,
    reason: str | None,
    remarks: list[Remark],
    *,
    as_json: bool,
) -> None:
    """Print the cost, or the reason why there is none, and the remarks."""
    known, percent = problem.best_known, None if cost is None else problem.gap(cost)
    if as_json:
        facts = {
            "instance": problem.instance,
            "problem": problem.name,
            "file": str(path),
            "feasible": cost is not None,
            "reason": reason,
            "cost": cost,
            "best_known": known.value if known else None,
            "gap": percent,
            "improves": _improves(problem, cost),
            "remarks": {remark.key: remark.value for remark in remarks},
        }
        show(json.dumps(facts))
        return
    show(f"{one_line(problem.instance)}   {problem.name} of size {problem.entries}")
    for remark in remarks:
        if remark.words:
            show(remark.words)
    if cost is None:
        show(f"infeasible: {reason}")
        return
    show(f"{problem.words.cost} {cost}")
    if known is not None:
        status = known.status.replace("_", " ")
        show(f"best known {known.value} ({status})   gap {gap(percent)}")
        if _improves(problem, cost):
            show(_REPORT)
    show("feasible")


def _improves(problem: Problem, cost: float | None) -> bool:
    """Return whether a cost is better than the best known value."""
    if cost is None or problem.best_known is None:
        return False
    return not problem.scale.reaches(problem.best_known.value, cost)


def add_check(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `islands check`."""
    add = parser.add_argument
    text = "FILE.py:NAME, set/name, a bare name or a path"
    add("instance", metavar="PROBLEM", type=NAME, help=text)
    text = "number of random solutions (default: 1000)"
    add("--samples", metavar="N", type=whole_number(), default=1000, help=text)
    text = "seed of the random solutions (default: 1)"
    seed = whole_number("Leave it out to use 1", least=0)
    add("--seed", metavar="S", type=seed, default=1, help=text)
    text = "seconds allowed for the evaluation of one solution (default: 10)"
    add("--seconds", metavar="T", type=positive, default=10.0, help=text)
    add_format(parser)


def check(args: argparse.Namespace) -> int:
    """Compare all ways to evaluate a problem on random solutions, and find faults in its code."""
    from islands.check.perform import examine
    from islands.engine.signals import suspending

    # Otherwise, a signal would leave the user's functions running.
    with suspending("the check is incomplete. To start it again, repeat the command"):
        problem = loaded(args.instance, args.format)
        checked = examine(problem, args.samples, seed=args.seed, seconds=args.seconds)
    show(checked)
    return 0 if checked.works else 1
