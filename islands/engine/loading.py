"""The settings and the problem of a new run, or of a stored one, whose files may have moved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from islands.archipelago.injection import checked_solutions
from islands.configuration.given import COLONIES, PARTS, gathered, of_table, twice
from islands.configuration.identity import part_versions
from islands.configuration.request import Request
from islands.configuration.resolve import resolve, with_standstill
from islands.configuration.resolved import Resolved
from islands.custom.scripts import is_reference, split_reference
from islands.custom.trust import named_by, signed_scripts, trust_files
from islands.engine.failures import resuming
from islands.errors import InputError, IslandsError, UntrustedError, UsageError
from islands.instances.locate import Finder
from islands.modelling.model import NeedsScriptError
from islands.problems import loaded
from islands.problems.base import Problem
from islands.record.folder import RUN_SETTINGS
from islands.record.inputs import has_problem, is_stored, require_same_parts, stored_problem
from islands.text import either, option
from islands.untrusted import read_toml


def load_and_resolve(request: Request, problem: Problem | None = None) -> Resolved:
    """Return the settings of a run with its problem, which is loaded unless it is given."""
    return resolve(request, problem if problem is not None else load_instance(request))


def starting_from(start: Sequence[Any], resolved: Resolved) -> Resolved:
    """Return the run with start solutions given as arrays; reject invalid ones."""
    if not start:
        return resolved
    spec = resolved.spec
    # Solutions are dealt to all islands in turn, so the smallest population limits them.
    most = spec.general.islands * min(colony.population for colony in spec.all_colonies)
    given = checked_solutions(resolved.problem, start, max(0, most - len(spec.start)), "start")
    return with_standstill(replace(resolved, spec=replace(spec, given=tuple(given))))


def load_instance(request: Request, finder: Finder | None = None) -> Problem:
    """Return the problem; import its script, if that is trusted."""
    origins = [source.origin for source in request.sources if "instance" in source.values]
    with named_by(origins[-1] if origins else ""):
        return loaded(request.instance, request.format, finder)


def stored_request(
    folder: Path, request: Request, problem: Problem | None = None
) -> tuple[Request, Problem]:
    """Return the stored settings of a run, overridden by the request, and its problem.

    `problem` is that of the run, if the caller has it; otherwise, it is loaded.
    """
    settings = folder / RUN_SETTINGS
    trust_files(signed_scripts(settings))
    kept = gathered(of_table(read_toml(settings)))
    options = with_moved_parts(kept, request.options)
    if missing := missing_parts(folder, {**kept, **options}):
        raise _elsewhere(folder, next(iter(missing.values())), list(missing))
    request = Request(options, settings)
    if problem is not None:
        if has_problem(folder) and not is_stored(folder, problem):
            raise InputError(f"{problem.instance}: is not the problem of the run in {folder}")
        return request, problem
    try:
        if has_problem(folder) and "instance" not in options:
            return request, _stored(folder, request)
        return request, load_instance(request)  # another problem is rejected later
    except UntrustedError:
        raise
    except IslandsError as error:
        raise _elsewhere(folder, str(error), ["--instance FILE"]) from error


def resolve_stored(folder: Path, request: tuple[Request, Problem]) -> Resolved:
    """Return the run; reject parts from scripts that have changed."""
    resolved = resolve(*request)
    require_same_parts(folder, part_versions(resolved))
    return resolved


def _stored(folder: Path, request: Request) -> Problem:
    """Return the problem stored in a folder; if it needs its script, load it from there."""
    try:
        return stored_problem(folder)
    except NeedsScriptError:
        if not is_reference(request.instance):
            raise
        return load_instance(request)


def _elsewhere(folder: Path, error: str, options: Sequence[str]) -> InputError:
    line = f"{resuming(folder)} {' '.join(options)}"
    return InputError(f"{error}. To resume, specify its new location: {line}")


def with_moved_parts(kept: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `resume`, including the new locations of the parts of colonies.

    Reject options that would change a part.
    """
    whole, *colonies = holders = [*map(dict, (kept, *kept.get(COLONIES, ())))]
    moved = [key for key in PARTS if key in options]
    for key in moved:
        value = options[key]
        _move(key, holders, value if isinstance(value, list) else [value])
    changed = {key: value for key, value in options.items() if key not in moved}
    changed |= {key: whole[key] for key in moved if key in whole}
    return changed | ({COLONIES: colonies} if moved and colonies else {})


def missing_parts(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of missing parts, by the option that would name a new location."""
    missing = {}
    for key, kind in PARTS.items():
        values = _values(key, (settings, *settings.get(COLONIES, ())))
        custom = [value for value in values if value not in kind.registry]
        for value in custom:
            part = split_reference(value)[1] if custom[1:] and is_reference(value) else "NAME"
            try:
                if not is_reference(value):
                    raise _without_name(folder, kind.what, value)
                with named_by(f"{folder / RUN_SETTINGS}: "):
                    kind.name_of(value)
            except UntrustedError:
                raise
            except IslandsError as error:
                missing[f"--{key.partition('.')[0]} FILE.py:{part}"] = str(error)
    return missing


def parts_in(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the parts from scripts in the settings, as options of `resume`."""
    holders = (settings, *settings.get(COLONIES, ()))
    parts = {key: [*filter(is_reference, _values(key, holders))] for key in PARTS}
    return {key.partition(".")[0]: values for key, values in parts.items() if values}


def _move(key: str, holders: Sequence[dict[str, Any]], values: Sequence[str]) -> None:
    """Replace parts from scripts in the settings by the same parts in other files."""
    name, kind = key.partition(".")[0], PARTS[key]
    kept = _values(key, holders)
    custom = [part for part in kept if part not in kind.registry or part in kind.of_scripts]
    moved: dict[str, str] = {}
    for value in values:
        if not custom:
            raise UsageError(
                f"{option(name, value)}: a resumed run keeps its {kind.what},"
                f" {either([*map(repr, kept)]) or 'none'}. Leave {option(name)} out"
            )
        name_now = kind.name_of(value)
        same = _same(custom, value, name_now) if is_reference(value) else []
        if not same:
            raise UsageError(
                f"{option(name, value)}: is {name_now!r}, but the {kind.what} of the run is"
                f" {either([*map(repr, custom)])}"
            )
        if same[0] in moved:
            raise twice(name, moved[same[0]], value)
        moved |= dict.fromkeys(same, value)
    for holder in holders:
        if holder.get(key) in moved:
            holder[key] = moved[holder[key]]


def _values(key: str, holders: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the different values of a setting that chooses a part."""
    values = (holder.get(key) for holder in holders)
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def _same(parts: Sequence[str], value: str, name: str) -> list[str]:
    """Return the `parts` that `value`, a reference to a part of this `name`, may replace.

    If there are several parts, the names in the scripts must also agree; then, parts in a file of
    the same name take precedence.
    """
    file, word = split_reference(value)

    def is_same(part: str) -> bool:
        if not is_reference(part):
            return part == name
        return not parts[1:] or split_reference(part)[1] == word

    same = [*filter(is_same, parts)]
    return [part for part in same if split_reference(part)[0].name == file.name] or same


def _without_name(folder: Path, what: str, value: str) -> InputError:
    return InputError(
        f"{folder}: its {what} {value!r} is not defined at the top level of a script, so it"
        " cannot be found again. Assign it to a name at the top level of the script"
    )
