"""A run and its problem, from what was asked for: anew, or again with what a folder keeps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.custom.kinds import Kind
from islands.custom.scripts import is_reference
from islands.errors import InputError, IslandsError, UsageError
from islands.problems import load
from islands.problems.base import Problem
from islands.record.folder import SETTINGS
from islands.record.kept import require_same
from islands.spec.given import gathered, of_table
from islands.spec.own import CHOICES, traits
from islands.spec.resolve import Layer, format_of, instance_of, layers, resolve
from islands.spec.spec import RunSpec
from islands.text import option
from islands.untrusted import read_toml

Request = tuple[Sequence[Layer], Problem]


def resolved(asked: Sequence[Layer], problem: Problem | None = None) -> tuple[RunSpec, Problem]:
    """Return the run, and its problem under its settings, which is loaded unless it is given."""
    problem = problem if problem is not None else load(instance_of(asked), format_of(asked))
    spec = resolve(asked, problem)
    return spec, problem.adjusted(spec.problem)


def stored_request(folder: Path, options: Mapping[str, Any]) -> Request:
    """Return what a run in a folder asks for, and its instance, wherever they are by now."""
    options = gathered(of_table(options))
    kept = gathered(of_table(read_toml(folder / SETTINGS)))
    lost: dict[str, str] = {}
    for key, kind in CHOICES.items():
        name, value = key.partition(".")[0], kept.get(key)
        if key in options:
            _require_same_name(kind, name, value, options[key])
        elif isinstance(value, str) and value and value not in kind.registry:
            try:
                if not is_reference(value):
                    raise InputError(
                        f"{folder}: its {kind.what} {value!r} has no name at the top level of a"
                        " script, by which it is found again. Give it one"
                    )
                kind.named(value)
            except IslandsError as error:
                lost[name] = str(error)
    if lost:
        first = next(iter(lost.values()))
        raise _elsewhere(folder, first, [f"--{name} FILE.py:NAME" for name in lost])
    asked = layers(options, folder / SETTINGS)
    try:
        return asked, load(instance_of(asked), format_of(asked))
    except IslandsError as error:
        raise _elsewhere(folder, str(error), ["--instance FILE"]) from error


def resolve_stored(folder: Path, asked: Request) -> tuple[RunSpec, Problem]:
    """Return the run and its problem; refuse parts of scripts that have changed meanwhile."""
    spec, problem = resolved(*asked)
    require_same(folder, traits(spec.to_mapping(), problem))
    return spec, problem


def _elsewhere(folder: Path, error: str, options: Sequence[str]) -> InputError:
    line = f"islands resume {shlex.quote(str(folder))} {' '.join(options)}"
    return InputError(f"{error}. Say where it is now, and go on with: {line}")


def _require_same_name(kind: Kind, name: str, kept: Any, given: Any) -> None:
    """Refuse an option of a resumption that would change the run."""
    words = option(name, given)
    if not kept or (kept in kind.registry and kept not in kind.own):
        raise UsageError(
            f"{words}: a run goes on with the {kind.what} that it began with, {kept!r}. Leave"
            f" {option(name)} out"
        )
    found = kind.named(given)
    if not is_reference(given) or (not is_reference(kept) and found != kept):
        raise UsageError(f"{words}: is {found!r}, but the {kind.what} of the run is {kept!r}")
