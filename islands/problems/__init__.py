"""The kinds of problems by name, and functions that load an instance of any kind.

A kind is a class that holds the data of an instance and computes its exact cost in NumPy, and a
header in `kernels/problems` that computes the same cost on a device. Results are checked in NumPy.

- `Problem`: base class: an instance, its arrays on a device, and its exact cost.
- `SolutionKind`: the form of a solution in Python, in CUDA and in files.
- `Evaluation`: how costs are computed during a run, with estimates of the work.

May import `instances`, `space`, `custom`, `backends` and the layers below them, but no algorithms.
"""

import json
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any

from islands.calls import explained
from islands.custom.parts import PartKind
from islands.custom.scripts import is_reference
from islands.custom.trust import trust_named, trusting
from islands.errors import InputError, UsageError
from islands.instances.catalogue import BestKnown, Entry, catalogue
from islands.instances.formats import EVERY_FORMAT, MODELS, SEVERAL_INSTANCES, recognised
from islands.instances.locate import Finder, Located, set_of
from islands.instances.mkp import FORMATS as KNAPSACK_FORMATS
from islands.problems import messages
from islands.problems.arrays import FACTS, Arrays, packed
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp
from islands.text import one_line, option, unknown

PROBLEMS: dict[str, type[Problem]] = {"tsp": Tsp, "qap": Qap, "mkp": Mkp}

KIND = PartKind(
    "problem",
    Problem,
    registry=PROBLEMS,
    built_in=PROBLEMS.values(),
    needs=("header", "solution_kind", "solution_suffix", "instance", "size"),
    is_made=True,
    entry=type,
)

READERS: dict[str, Callable[[Path, str, BestKnown | None], Problem]] = {
    "tsplib": Tsp.read,
    "qaplib": Qap.read,
}
"""Readers of formats whose files contain one instance."""
PART_READERS: dict[str, Callable[[Path, str, BestKnown | None, str, int | None], Problem]] = (
    dict.fromkeys(KNAPSACK_FORMATS, Mkp.read)
)
"""Readers of knapsack formats, which also take the format and the index of the instance."""


@explained
@trusting
def load(instance: str | Path, form: str | None = None) -> Problem:
    """Load an instance by its name `set/name`, by `name` if this is unique, or by its path.

    `FILE:00` is the first instance of a file with several. The format is detected unless `form` is
    given. `FILE.py:NAME` is the problem that a script defines as NAME.

    >>> problem = islands.load("demo/tsp")
    >>> problem.size, problem.cost(range(120)) >= problem.best_known.value
    (120, True)
    """
    trust_named(str(instance))
    return loaded(str(instance), form)


def loaded(instance: str, form: str | None = None, finder: Finder | None = None) -> Problem:
    """Load an instance as `load` does, without trusting a script that the name refers to.

    The name may therefore come from a file. A `finder` caches the list of files for several calls.
    """
    if is_reference(instance):
        if form is not None:
            raise UsageError(
                f"{option('format', form)}: {instance} is a problem of a script, which has no"
                f" format. Leave {option('format')} out"
            )
        problem: Problem = KIND.registered(instance).part
        return problem
    return read((finder or Finder()).find(instance), form)


def problem_of(problem: Any, call: str) -> tuple[str, Problem | None]:
    """Return the name of a problem for `run.toml`, and the problem, or None if a name is given.

    A script that the calling program names is trusted. A problem from neither a file nor a script
    keeps its own name. Other objects are rejected; `call` is the function named in the error.
    """
    if isinstance(problem, str | Path):
        trust_named(str(problem))
        return str(problem), None
    if isinstance(problem, list | tuple) or hasattr(problem, "__array__"):
        raise messages.data_instead_of_problem(call=call, data=problem)
    if isfunction(problem):
        raise messages.function_instead_of_problem(call=call, function=problem)
    registered = KIND.registered(problem)
    instance: Problem = registered.part
    if instance.path is not None:
        return instance.instance, instance
    return registered.reference or one_line(instance.instance, 200), instance


def saved(problem: Problem) -> Arrays:
    """Return the arrays for `restored`; empty if a file or a script defines the problem."""
    if not KIND.has_built_in(type(problem)):
        # A problem derived from a built-in one can only be created by its script.
        is_derived = any(map(KIND.has_built_in, type(problem).__mro__))
        return {} if is_derived or problem.path is not None else problem.saved()
    if problem.path is not None:
        return {}
    best = problem.best_known
    facts = {
        "kind": problem.name,
        "name": problem.instance,
        "best_known": None if best is None else best.value,
    }
    return {FACTS: packed(facts), **problem.saved()}


def restored(arrays: Arrays) -> Problem | None:
    """Return the problem that these arrays describe; None for user-defined problems."""
    facts = json.loads(arrays[FACTS].tobytes())
    if facts.get("kind") not in PROBLEMS:
        return None
    best = facts["best_known"]
    known = None if best is None else BestKnown(best, "best_known", "the script")
    return PROBLEMS[facts["kind"]].restored(arrays, str(facts["name"]), known)


def hint_of(name: str) -> str:
    """Return the hint for runs on this kind of problem that find no feasible solution."""
    return PROBLEMS[name].words.infeasible_fix if name in PROBLEMS else ""


def read(located: Located, form: str | None = None) -> Problem:
    """Return the instance in a file, with its best known value from the catalogue."""
    path, entry = located.file(), located.entry
    if form is not None and form not in EVERY_FORMAT:
        raise UsageError(f"{option('format', form)}: {unknown('format', form, EVERY_FORMAT)}")
    form = form or _format_of(entry) or _model_of(path) or recognised(path)
    known, part = (entry.best_known, entry.part) if entry else (None, located.part)
    if form in MODELS and (part is None or form in SEVERAL_INSTANCES):
        model = import_module(f"islands.models.{MODELS[form]}")
        problem: Problem = model.read(path) if part is None else model.read(path, part)
        problem.instance, problem.path, problem.best_known = located.name, path, known
    elif form in PART_READERS:
        problem = PART_READERS[form](path, located.name, known, form, part)
    elif part is not None:
        raise InputError(
            f"{located.name}: a file in the format {form} contains one problem."
            f" Refer to it as {path}"
        )
    else:
        problem = READERS[form](path, located.name, known)
    if entry is not None:
        _require_size(problem, path, entry)
    return problem


def _format_of(entry: Entry | None) -> str:
    """Return the format of a published file, or an empty string if it is unknown."""
    return entry.format or catalogue().set(entry.set).format if entry else ""


def _model_of(path: Path) -> str:
    """Return the format of a file in the folder of a set of models, or an empty string."""
    known = catalogue().sets.get(set_of(path))
    return known.format if known is not None and known.format in MODELS else ""


def _require_size(problem: Problem, path: Path, entry: Entry) -> None:
    if (problem.entries, problem.constraints) != (entry.size, entry.constraints):
        raise messages.other_size_than_published(
            path=path, entry=entry, size=problem.entries, constraints=problem.constraints
        )
