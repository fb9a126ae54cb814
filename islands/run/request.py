"""Resolve the settings of a run and its problem: of a new run, or of a run stored in a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.configuration.given import gathered, of_table, parts_of
from islands.configuration.own import traits
from islands.configuration.resolve import Layer, format_of, instance_of, layers, resolve
from islands.configuration.spec import RunSpec
from islands.custom.scripts import is_reference
from islands.custom.trust import NO_TRUST, Trust, UntrustedError
from islands.errors import InputError, IslandsError
from islands.modelling.problem import NeedsScriptError
from islands.problems import load
from islands.problems.base import Problem
from islands.record.folder import SETTINGS
from islands.record.problem_file import has_problem, stored_problem
from islands.record.script_parts import require_same_parts
from islands.run.moved_parts import missing_parts, with_moved_parts
from islands.untrusted import read_toml

Request = tuple[Sequence[Layer], Problem]


def resolved(asked: Sequence[Layer], problem: Problem | None = None) -> tuple[RunSpec, Problem]:
    """Return the settings of a run and its problem, which is loaded unless it is given."""
    problem = problem if problem is not None else load_instance(asked)
    spec = resolve(asked, problem)
    return spec, problem.adjusted(spec.problem)


def load_instance(asked: Sequence[Layer]) -> Problem:
    """Return the problem; refuse the script of a file that is not trusted."""
    for layer in reversed(asked):
        if "instance" in layer.values:
            layer.trust.require(layer.origin, [("instance", layer.values["instance"])])
            break
    return load(instance_of(asked), format_of(asked))


def stored_request(folder: Path, options: Mapping[str, Any], trust: Trust = NO_TRUST) -> Request:
    """Return the stored settings of a run, with `options` laid over them, and its instance.

    Refuse scripts and code that somebody else may have put into the folder, unless the options name
    the script or `trust` allows it.
    """
    settings = folder / SETTINGS
    options = gathered(of_table(options))
    trust = trust.naming(options).signed_in(settings)
    kept = gathered(of_table(read_toml(settings)))
    options = with_moved_parts(kept, options)  # also has the other parts of the folder's colonies
    trust.require(f"{settings}: ", parts_of({**kept, **options}))
    if missing := missing_parts(folder, {**kept, **options}):
        raise _elsewhere(folder, next(iter(missing.values())), list(missing))
    asked = layers(options, settings, trust)
    try:
        if has_problem(folder) and "instance" not in options:
            return asked, _stored(folder, asked, trust)
        return asked, load_instance(asked)
    except UntrustedError:
        raise
    except IslandsError as error:
        raise _elsewhere(folder, str(error), ["--instance FILE"]) from error


def resolve_stored(folder: Path, asked: Request) -> tuple[RunSpec, Problem]:
    """Return the settings and the problem; refuse parts of scripts that have changed."""
    spec, problem = resolved(*asked)
    require_same_parts(folder, traits(spec.to_mapping(), problem))
    return spec, problem


def _stored(folder: Path, asked: Sequence[Layer], trust: Trust) -> Problem:
    """Return the problem stored in a folder, or of the script if it needs one."""
    try:
        return stored_problem(folder, trusted=trust.is_full)
    except NeedsScriptError:
        if not is_reference(instance_of(asked)):
            raise
        return load_instance(asked)


def _elsewhere(folder: Path, error: str, options: Sequence[str]) -> InputError:
    line = f"islands resume {shlex.quote(str(folder))} {' '.join(options)}"
    return InputError(f"{error}. To resume, name its new location: {line}")
