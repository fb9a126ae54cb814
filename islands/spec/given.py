"""The settings that one place gives, under their full names, each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from islands.algorithms import ALGORITHMS
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.improvers import IMPROVERS
from islands.instances.formats import FORMATS
from islands.migration import TOPOLOGIES
from islands.spec.presets import PRESETS
from islands.text import meant, plain, seconds

ALIASES = {
    "improver": "improver.name",
    "migration": "migration.topology",
    "interval": "migration.interval",
    "migrants": "migration.migrants",
}
"""Short names of settings, and their full ones."""

_CHOICES: dict[str, Iterable[str]] = {
    "algorithm": ALGORITHMS,
    "encoding": ENCODINGS,
    "format": FORMATS,
    "preset": PRESETS,
    "improver.name": IMPROVERS,
    "migration.topology": TOPOLOGIES,
}
"""What is chosen by a name before it is known which settings there are."""
_FILES = ("instance", "start")
"""What two spellings of are two files."""


class Given(NamedTuple):
    """A setting as a user has given it."""

    words: str
    """How, such as `--seed 7`."""
    key: str
    """Its name, which may be a short one."""
    value: Any


def of_table(table: Mapping[str, Any]) -> Iterator[Given]:
    """Yield the settings of a table, and those of the tables in it."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            for name, inner in value.items():
                yield Given(f"{key}.{name}={inner}", f"{key}.{name}", inner)
        else:
            yield Given(f"{key}={value}", key, value)


def gathered(given: Iterable[Given]) -> dict[str, Any]:
    """Return the values by their full names; refuse one that is given twice, and not alike."""
    found: dict[str, Given] = {}
    for each in given:
        name = ALIASES.get(each.key, each.key)
        first = found.setdefault(name, each)
        if first is not each and not alike(name, first.value, each.value):
            raise twice(name, first.words, each.words)
    return {name: _meant(name, each.value) for name, each in found.items()}


def twice(name: str, first: str, second: str, fix: str = "") -> UsageError:
    """Return the error of a setting that is given twice, in these words."""
    return UsageError(f"{name} is given twice: {first} and {second}. Leave one of them out{fix}")


def _meant(name: str, value: Any) -> Any:
    choices = _CHOICES.get(name)
    return meant(value, choices) if choices is not None and isinstance(value, str) else value


def alike(name: str, first: Any, second: Any) -> bool:
    """Return whether two values of a setting are the same, however they are written."""
    sense = str if name in _FILES else _sense
    one, two = (value if isinstance(value, list | tuple) else [value] for value in (first, second))
    return [sense(each) for each in one] == [sense(each) for each in two]


def _sense(value: Any) -> Any:
    """Return what all ways to write a value have in common."""
    if not isinstance(value, str):
        return value
    for read in (int, seconds):
        try:
            return read(value)
        except ValueError:
            pass
    return value.strip() if "=" in value else plain(value.strip())
