"""The parts of scripts in the settings of a stored run, whose files may have moved since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.configuration.given import COLONIES, twice
from islands.configuration.own import CHOICES
from islands.custom.scripts import is_reference, parted
from islands.errors import InputError, IslandsError, UsageError
from islands.text import either, option


def with_moved_parts(kept: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `resume`, with new places of parts in the colonies that use them.

    Refuse options that would change a part.
    """
    whole, *colonies = holders = [dict(each) for each in (kept, *kept.get(COLONIES, ()))]
    given = [key for key in CHOICES if key in options]
    for key in given:
        value = options[key]
        _move(key, holders, value if isinstance(value, list) else [value])
    changed = {key: value for key, value in options.items() if key not in given}
    changed |= {key: whole[key] for key in given if key in whole}
    return changed | ({COLONIES: colonies} if given and colonies else {})


def missing_parts(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors about parts that are not found again, by the option that moves them."""
    missing = {}
    for key, kind in CHOICES.items():
        values = _values(key, (settings, *settings.get(COLONIES, ())))
        own = [each for each in values if each not in kind.registry]
        for value in own:
            part = parted(value)[1] if own[1:] and is_reference(value) else "NAME"
            try:
                if not is_reference(value):
                    raise InputError(
                        f"{folder}: its {kind.what} {value!r} is not defined at the top level of a"
                        " script, so that it cannot be found again. Assign it to a name there"
                    )
                kind.named(value)
            except IslandsError as error:
                missing[f"--{key.partition('.')[0]} FILE.py:{part}"] = str(error)
    return missing


def parts_in(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the parts of scripts in settings by full name, as options of `resume`."""
    each = (settings, *settings.get(COLONIES, ()))
    found = {key: [*filter(is_reference, _values(key, each))] for key in CHOICES}
    return {key.partition(".")[0]: values for key, values in found.items() if values}


def _move(key: str, holders: Sequence[dict[str, Any]], values: Sequence[str]) -> None:
    """Replace parts of scripts in the holders of settings by the same parts in other places."""
    name, kind = key.partition(".")[0], CHOICES[key]
    kept = _values(key, holders)
    own = [each for each in kept if each not in kind.registry or each in kind.own]
    moved: dict[str, str] = {}
    for value in values:
        if not own:
            raise UsageError(
                f"{option(name, value)}: a resumed run keeps its {kind.what},"
                f" {either([repr(each) for each in kept]) or 'none'}. Leave {option(name)} out"
            )
        found = kind.named(value)
        same = _same(own, value, found) if is_reference(value) else []
        if not same:
            raise UsageError(
                f"{option(name, value)}: is {found!r}, but the {kind.what} of the run is"
                f" {either([repr(each) for each in own])}"
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
    return list(dict.fromkeys(each for each in values if isinstance(each, str) and each))


def _same(own: Sequence[str], value: str, name: str) -> list[str]:
    """Return the parts that a reference to a part with this name may replace.

    If a run has several, their names in the scripts decide, and then the names of the files.
    """
    file, word = parted(value)
    same = [
        each
        for each in own
        if (parted(each)[1] == word or not own[1:] if is_reference(each) else each == name)
    ]
    return [each for each in same if parted(each)[0].name == file.name] or same
