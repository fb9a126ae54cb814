"""What a user has set: by full name, from each source, without contradictions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.custom.parts import OwnPart, PartKind
from islands.custom.scripts import is_reference
from islands.custom.signature import is_signed
from islands.custom.trust import named_by, trust_named
from islands.errors import UsageError
from islands.instances.formats import EVERY_FORMAT
from islands.migration import topology
from islands.presets import PRESETS, preset_file
from islands.text import meant, option, plain, seconds, shown, unknown
from islands.untrusted import bounded_text, followed, parse_toml

COLONIES = "colony"
"""The full name of the list of colonies, as in a file: `[[colony]]`."""

ALIASES = {
    "improver": "improver.name",
    "migration": "migration.topology",
    "interval": "migration.interval",
    "migrants": "migration.migrants",
    "colonies": COLONIES,
}
"""Short names of settings, and their full ones."""

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


@dataclass(frozen=True)
class Layer:
    """Settings from one source, by name; `origin` is the prefix of its errors."""

    origin: str
    values: Mapping[str, Any]


def layers(options: Mapping[str, Any], config: Path | None = None) -> list[Layer]:
    """Return the layers of a run, the weakest first; options or the file may name a preset.

    The scripts of parts are imported, if they are trusted: see islands/custom/trust.py.
    """
    sources = [Layer("", gathered(of_table(options)))]
    if config is not None:
        sources.insert(0, Layer(f"{config}: ", _read(config)))
    preset = combined(sources).get("preset")
    if preset is None:
        return _named(sources)
    if preset not in PRESETS:
        raise UsageError(unknown("preset", str(preset), PRESETS))
    layer = Layer(f"preset {preset}: ", _read(preset_file(preset)))
    if config is not None and "preset" in sources[-1].values:
        _refuse_hidden(preset, layer, config, *sources)
    return _named([layer, *sources])


def _named(sources: Sequence[Layer]) -> list[Layer]:
    """Load the parts of scripts and return the layers with their names; drop overridden parts."""
    named, stronger = list[Layer](), set[str]()
    for layer in reversed(sources):
        parts = {key: value for key, value in layer.values.items() if key in PARTS}
        hidden = {key for key in stronger & parts.keys() if is_reference(parts[key])}
        kept = {key: value for key, value in layer.values.items() if key not in hidden}
        used = {key: parts[key] for key in parts.keys() - hidden}
        colonies = kept[COLONIES] if COLONIES in kept and COLONIES not in stronger else []
        with named_by(layer.origin):
            names = _loaded(used)
            if colonies:
                names[COLONIES] = [_loaded(colony) for colony in colonies]
        named.insert(0, replace(layer, values=kept | names))
        stronger |= {*parts, *({COLONIES} & kept.keys())}
    return named


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


def _loaded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the names of parts instead of the parts of scripts."""
    return {
        key: PARTS[key].name_of(value) if key in PARTS else value for key, value in values.items()
    }


def _read(path: Path) -> dict[str, Any]:
    text = bounded_text(path, opens=followed)
    table = parse_toml(text, path)
    if is_signed(text):
        trust_named(table)
    try:
        return gathered(of_table(table))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def combined(sources: Sequence[Layer]) -> dict[str, Any]:
    """Return each setting's value in the strongest layer that has it."""
    return {name: value for layer in sources for name, value in layer.values.items()}


def _refuse_hidden(preset: str, layer: Layer, config: Path, file: Layer, options: Layer) -> None:
    """Refuse a preset on the command line if the configuration file overrides its settings."""
    hidden = [
        key
        for key, value in layer.values.items()
        if key not in options.values and file.values.get(key, value) != value
    ]
    if hidden:
        raise UsageError(
            f"{option('preset', preset)} with {option('config', config)}: the file overrides"
            f" {', '.join(hidden)} of the preset. Leave one of them out, or write"
            f" preset = {preset!r} into the file"
        )
