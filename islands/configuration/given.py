"""Collect the settings of one source by full name, and reject contradictions."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.custom.parts import PartKind, ScriptPart
from islands.errors import UsageError
from islands.instances.formats import EVERY_FORMAT
from islands.migration import topology
from islands.presets import PRESETS
from islands.settings import flat
from islands.text import meant, plain, seconds, shown

COLONIES = "colony"
"""The full name of the list of colonies, written as `[[colony]]` in a TOML file."""

ALIASES = {
    "improver": "improver.name",
    "migration": "migration.topology",
    "interval": "migration.interval",
    "migrants": "migration.migrants",
    "colonies": COLONIES,
    "gpus": "sized_for_gpus",
}
"""The full names of settings, by their short or former names."""

PARTS: dict[str, PartKind] = {
    "algorithm": algorithms.KIND,
    "encoding": encodings.KIND,
    "improver.name": improvers.KIND,
    "crossover": operators.CROSSOVER,
    "mutation": operators.MUTATION,
    "migration.topology": topology.KIND,
}
"""The kinds of parts, by the full name of the setting that selects one."""
_CHOICES: dict[str, Iterable[str]] = {
    "format": EVERY_FORMAT,
    "preset": PRESETS,
    **{key: kind.registry for key, kind in PARTS.items() if key not in ("crossover", "mutation")},
}
"""The choices of settings that do not belong to an algorithm; users may vary the spelling."""
_FILES = ("instance", "start")
"""The settings that name files, whose spelling matters."""


class Given(NamedTuple):
    """A setting as the user wrote it."""

    text: str
    """The setting as the user typed it, such as `--seed 7`."""
    key: str
    """The full or short name."""
    value: Any


def of_table(table: Mapping[str, Any]) -> Iterator[Given]:
    """Yield the settings of a TOML table and of its nested tables."""
    for key, value in table.items():
        if isinstance(value, Mapping) and ALIASES.get(key, key) != COLONIES:
            for name, inner in value.items():
                yield _given(f"{key}.{name}", inner)
        else:
            yield _given(key, value)


def _given(key: str, value: Any) -> Given:
    return Given(f"{key}={shown(value, str)}", key, value)


def gathered(given: Iterable[Given]) -> dict[str, Any]:
    """Return the values by full name; reject a setting with two different values."""
    settings: dict[str, Given] = {}
    for setting in given:
        name = ALIASES.get(setting.key, setting.key)
        first = settings.setdefault(name, setting)
        if first is not setting and not alike(name, first.value, setting.value):
            raise twice(name, first.text, setting.text)
    return {name: _converted(name, setting.value) for name, setting in settings.items()}


def _converted(name: str, value: Any) -> Any:
    if name == COLONIES:
        return colonies(value)
    choices = _CHOICES.get(name)
    return meant(value, choices) if choices is not None and isinstance(value, str) else value


def colonies(value: Any) -> list[dict[str, Any]]:
    """Return the settings of colonies by full name, from mappings or texts."""
    if not isinstance(value, list | tuple) or not value:
        raise UsageError(
            f"colonies={shown(value)}: must be a list of at least one colony. Write"
            " colonies=[dict(islands=4), ...], or tables [[colony]] in a file"
        )
    settings = []
    for number, colony in enumerate(value):
        try:
            settings.append(gathered(_of_colony(colony)))
        except UsageError as error:
            raise UsageError(f"colony {number}: {error}") from None
    return settings


def of_text(text: str) -> Iterator[Given]:
    """Yield the settings of a colony in a text such as `islands=4 algorithm=de F=0.9`."""
    try:
        pairs = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}. Correct the quotation marks") from None
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and key and value):
            raise UsageError(f"{pair}: write KEY=VALUE, as in 'islands=4 algorithm=de F=0.9'")
        yield Given(pair, key, value)


def _of_colony(colony: Any) -> Iterator[Given]:
    if isinstance(colony, str):
        return of_text(colony)
    if not isinstance(colony, Mapping):
        raise UsageError(
            f"{shown(colony)}: must be a mapping, such as dict(islands=4, algorithm='de')"
        )
    return of_table(colony)


def twice(name: str, first: str, second: str, fix: str = "") -> UsageError:
    """Return the error about a setting with two different values."""
    return UsageError(f"{name} is given twice: {first} and {second}. Leave one of them out{fix}")


def alike(name: str, first: Any, second: Any) -> bool:
    """Return whether two values of a setting are equal, perhaps in different spellings."""
    normal = str if name in _FILES else _normal
    one, two = (value if isinstance(value, list | tuple) else [value] for value in (first, second))
    return list(map(normal, one)) == list(map(normal, two))


def _normal(value: Any) -> Any:
    """Return the form that all spellings of a value share."""
    if not isinstance(value, str):
        return value
    for read in (int, seconds):
        try:
            return read(value)
        except ValueError:
            pass
    return value.strip() if "=" in value else plain(value.strip())


def of_scripts(settings: Mapping[str, Any]) -> dict[str, ScriptPart]:
    """Return the parts from scripts in the settings of a run, by the full name of the setting."""
    values = flat(settings)
    return {
        key: kind.of_scripts[values[key]]
        for key, kind in PARTS.items()
        if values.get(key) in kind.of_scripts
    }


def with_references(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings, with FILE.py:NAME instead of the names of parts from scripts."""
    referring = dict(settings)
    if COLONIES in referring:
        referring[COLONIES] = [with_references(colony) for colony in referring[COLONIES]]
    for key, part in of_scripts(settings).items():
        group, _, name = key.rpartition(".")
        if part.reference is not None and group:
            referring[group] = {**referring[group], name: part.reference}
        elif part.reference is not None:
            referring[name] = part.reference
    return referring
