"""The sources of a run's settings: defaults < preset < configuration file < options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from islands.custom.scripts import is_reference
from islands.errors import UsageError
from islands.presets import PRESETS, preset_file
from islands.spec.given import COLONIES, gathered, of_table
from islands.spec.own import CHOICES
from islands.text import option, unknown
from islands.untrusted import read_toml


@dataclass(frozen=True)
class Layer:
    """Settings from one source, by name; `origin` is the prefix of its errors."""

    origin: str
    values: Mapping[str, Any]


def layers(options: Mapping[str, Any], config: Path | None = None) -> list[Layer]:
    """Return the layers of a run, the weakest first; options or the file may name a preset."""
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
        parts = {key: value for key, value in layer.values.items() if key in CHOICES}
        hidden = {key for key in stronger & parts.keys() if is_reference(parts[key])}
        kept = {key: value for key, value in layer.values.items() if key not in hidden}
        names = _loaded({key: parts[key] for key in parts.keys() - hidden})
        if COLONIES in kept and COLONIES not in stronger:
            names[COLONIES] = [_loaded(colony) for colony in kept[COLONIES]]
        named.insert(0, Layer(layer.origin, kept | names))
        stronger |= {*parts, *({COLONIES} & kept.keys())}
    return named


def _loaded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the names of parts instead of the parts of scripts."""
    return {
        key: CHOICES[key].named(value) if key in CHOICES else value for key, value in values.items()
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        return gathered(of_table(read_toml(path)))
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
