"""Resolve the settings of a run and its problem: of a new run, or of a run stored in a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.custom.scripts import is_reference
from islands.errors import InputError, IslandsError
from islands.modelling.restored import NeedsScriptError
from islands.problems import load
from islands.problems.base import Problem
from islands.record.folder import SETTINGS
from islands.record.problem_file import UntrustedError, has_problem, stored_problem
from islands.record.script_parts import require_same_parts
from islands.run.moved_parts import missing_parts, with_moved_parts
from islands.spec.given import gathered, of_table
from islands.spec.own import traits
from islands.spec.resolve import Layer, format_of, instance_of, layers, resolve
from islands.spec.spec import RunSpec
from islands.untrusted import read_toml

Request = tuple[Sequence[Layer], Problem]


def resolved(asked: Sequence[Layer], problem: Problem | None = None) -> tuple[RunSpec, Problem]:
    """Return the settings of a run and its problem, which is loaded unless it is given."""
    problem = problem if problem is not None else load(instance_of(asked), format_of(asked))
    spec = resolve(asked, problem)
    return spec, problem.adjusted(spec.problem)


def stored_request(folder: Path, options: Mapping[str, Any], *, trusted: bool = False) -> Request:
    """Return the stored settings of a run, with `options` laid over them, and its instance."""
    options = gathered(of_table(options))
    kept = gathered(of_table(read_toml(folder / SETTINGS)))
    options = with_moved_parts(kept, options)
    if missing := missing_parts(folder, {**kept, **options}):
        raise _elsewhere(folder, next(iter(missing.values())), list(missing))
    asked = layers(options, folder / SETTINGS)
    try:
        if has_problem(folder) and "instance" not in options:
            return asked, _stored(folder, instance_of(asked), trusted=trusted)
        return asked, load(instance_of(asked), format_of(asked))
    except UntrustedError:
        raise
    except IslandsError as error:
        raise _elsewhere(folder, str(error), ["--instance FILE"]) from error


def resolve_stored(folder: Path, asked: Request) -> tuple[RunSpec, Problem]:
    """Return the settings and the problem; refuse parts of scripts that have changed."""
    spec, problem = resolved(*asked)
    require_same_parts(folder, traits(spec.to_mapping(), problem))
    return spec, problem


def _stored(folder: Path, instance: str, *, trusted: bool) -> Problem:
    """Return the problem stored in a folder, or of the script if it needs one."""
    try:
        return stored_problem(folder, trusted=trusted)
    except NeedsScriptError:
        if not is_reference(instance):
            raise
        return load(instance)


def _elsewhere(folder: Path, error: str, options: Sequence[str]) -> InputError:
    line = f"islands resume {shlex.quote(str(folder))} {' '.join(options)}"
    return InputError(f"{error}. To resume, name its new location: {line}")
