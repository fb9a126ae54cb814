"""What a user has set: by full name, from each source, without contradictions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.custom.parts import OwnPart, PartKind
from islands.errors import UsageError
from islands.instances.formats import EVERY_FORMAT
from islands.migration import topology
from islands.presets import PRESETS
from islands.text import meant, plain, seconds, shown

COLONIES = "colony"
"""The full name of the list of colonies, as in a file: `[[colony]]`."""

ALIASES = {
    "improver": "improver.name",
    "migration": "migration.topology",
    "interval": "migration.interval",
    "migrants": "migration.migrants",
    "colonies": COLONIES,
    "gpus": "sized_for_gpus",
}
"""Short or earlier names of settings, and their full ones."""

PARTS: dict[str, PartKind] = {
    "algorithm": algorithms.KIND,
    "encoding": encodings.KIND,
    "improver.name": improvers.KIND,
    "crossover": operators.CROSSOVER,
    "mutation": operators.MUTATION,
    "migration.topology": topology.KIND,
}
"""The kinds of parts, by the full name of the setting that chooses one."""
_CHOICES: dict[str, Iterable[str]] = {
    "format": EVERY_FORMAT,
    "preset": PRESETS,
    **{key: kind.registry for key, kind in PARTS.items() if key not in ("crossover", "mutation")},
}
"""The settings with a choice of names that do not belong to a group of the algorithm."""
_FILES = ("instance", "start")
"""The settings that name files, which must match exactly."""


class Given(NamedTuple):
    """A setting as a user wrote it."""

    words: str
    """The user's text, such as `--seed 7`."""
    key: str
    """Its full or short name."""
    value: Any


def of_table(table: Mapping[str, Any]) -> Iterator[Given]:
    """Yield the settings of a TOML table and of its nested tables."""
    for key, value in table.items():
        if isinstance(value, Mapping) and ALIASES.get(key, key) != COLONIES:
            for name, inner in value.items():
                yield Given(_words(f"{key}.{name}", inner), f"{key}.{name}", inner)
        else:
            yield Given(_words(key, value), key, value)


def _words(key: str, value: Any) -> str:
    return f"{key}={shown(value, str)}"


def gathered(given: Iterable[Given]) -> dict[str, Any]:
    """Return the values by full name; refuse a setting with two different values."""
    found: dict[str, Given] = {}
    for each in given:
        name = ALIASES.get(each.key, each.key)
        first = found.setdefault(name, each)
        if first is not each and not alike(name, first.value, each.value):
            raise twice(name, first.words, each.words)
    return {
        name: colonies(each.value) if name == COLONIES else _meant(name, each.value)
        for name, each in found.items()
    }


def colonies(value: Any) -> list[dict[str, Any]]:
    """Return the settings of each colony by full name, from mappings or text."""
    if not isinstance(value, list | tuple) or not value:
        raise UsageError(
            f"colonies={shown(value)}: must be a list of at least one colony. Write"
            " colonies=[dict(islands=4), ...], or tables [[colony]] in a file"
        )
    found = []
    for number, each in enumerate(value):
        try:
            found.append(gathered(of_text(each) if isinstance(each, str) else _of_colony(each)))
        except UsageError as error:
            raise UsageError(f"colony {number}: {error}") from None
    return found


def of_text(text: str) -> Iterator[Given]:
    """Yield the settings of a colony in a text such as `islands=4 algorithm=de F=0.9`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}. Correct the quotation marks") from None
    for word in words:
        key, equals, value = (part.strip() for part in word.partition("="))
        if not (equals and key and value):
            raise UsageError(f"{word}: write KEY=VALUE, as in 'islands=4 algorithm=de F=0.9'")
        yield Given(word, key, value)


def _of_colony(table: Any) -> Iterator[Given]:
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{shown(table)}: must be a mapping, such as dict(islands=4, algorithm='de')"
        )
    return of_table(table)


def twice(name: str, first: str, second: str, fix: str = "") -> UsageError:
    """Return the error for a setting with two different values."""
    return UsageError(f"{name} is given twice: {first} and {second}. Leave one of them out{fix}")


def _meant(name: str, value: Any) -> Any:
    choices = _CHOICES.get(name)
    return meant(value, choices) if choices is not None and isinstance(value, str) else value


def alike(name: str, first: Any, second: Any) -> bool:
    """Return whether two values of a setting are the same in different spellings."""
    normal = str if name in _FILES else _normal
    one, two = (value if isinstance(value, list | tuple) else [value] for value in (first, second))
    return [normal(each) for each in one] == [normal(each) for each in two]


def _normal(value: Any) -> Any:
    """Return a value that is the same for all spellings."""
    if not isinstance(value, str):
        return value
    for read in (int, seconds):
        try:
            return read(value)
        except ValueError:
            pass
    return value.strip() if "=" in value else plain(value.strip())


def of_scripts(settings: Mapping[str, Any]) -> dict[str, OwnPart]:
    """Return the parts from scripts in a run's settings, by the name of the setting."""
    found = {}
    for key, kind in PARTS.items():
        group, _, name = key.rpartition(".")
        value = (settings.get(group, {}) if group else settings).get(name)
        if isinstance(value, str) and value in kind.own:
            found[key] = kind.own[value]
    return found


def with_references(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with parts from scripts named `FILE.py:NAME`, to find them again."""
    found = dict(settings)
    if COLONIES in found:
        found[COLONIES] = [with_references(each) for each in found[COLONIES]]
    for key, own in of_scripts(settings).items():
        group, _, name = key.rpartition(".")
        if own.reference is not None and group:
            found[group] = {**found[group], name: own.reference}
        elif own.reference is not None:
            found[name] = own.reference
    return found
