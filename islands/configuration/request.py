"""The settings that a user requests on the command line, in Python or in a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from islands.configuration import messages
from islands.configuration.given import COLONIES, PARTS, gathered, of_table
from islands.configuration.spec import GeneralSettings
from islands.custom.signature import is_signed
from islands.custom.trust import named_by, trust_named
from islands.errors import UsageError
from islands.presets import PRESETS, preset_file
from islands.text import unknown
from islands.untrusted import bounded_text, followed, parse_toml

DEFAULT_INSTANCE = "demo/tsp"


@dataclass(frozen=True)
class Source:
    """Settings from one source, by full name; `origin` is the prefix of its errors."""

    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """Requested settings by full name, which override those of a configuration file.

    Both may name a preset, whose settings have lower precedence.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    config: Path | None = None

    @classmethod
    def of(cls, table: Mapping[str, Any], config: Path | None = None) -> Self:
        """Return the request of a table, which is nested as in TOML and may use short names."""
        return cls(gathered(of_table(table)), config)

    def also(self, values: Mapping[str, Any]) -> Self:
        """Return the request with these options added or replaced."""
        return type(self)({**self.options, **values}, self.config)

    def filled(self, values: Mapping[str, Any]) -> Self:
        """Return the request with these options added, except those that a source sets."""
        return self.also({k: value for k, value in values.items() if k not in self.values})

    @cached_property
    def sources(self) -> Sequence[Source]:
        """The preset, the file and the options, in order of increasing precedence.

        Import the scripts of parts if they are trusted: see islands/custom/trust.py.
        """
        sources = [Source("", self.options)]
        if self.config is not None:
            sources.insert(0, Source(f"{self.config}: ", _read(self.config)))
        preset = combined(sources).get("preset")
        if preset is None:
            return _with_part_names(sources)
        if preset not in PRESETS:
            raise UsageError(unknown("preset", str(preset), PRESETS))
        source = Source(f"preset {preset}: ", _read(preset_file(preset)))
        if self.config is not None and "preset" in self.options:
            _reject_hidden(preset, source, self.config, *sources)
        return _with_part_names([source, *sources])

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The settings, with the value from the source of highest precedence."""
        return combined(self.sources)

    @property
    def instance(self) -> str:
        """The name of the instance."""
        return str(self.values.get("instance", DEFAULT_INSTANCE))

    @property
    def format(self) -> str | None:
        """The format of the instance file; None to detect it."""
        form = self.values.get("format")
        return None if form is None else str(form)

    @property
    def seed(self) -> int:
        """The seed, or its default."""
        return int(GeneralSettings.converted("seed", self.values.get("seed", GeneralSettings.seed)))


def _with_part_names(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with parts by name; do not import scripts of overridden parts."""
    named, overridden = list[Source](), set[str]()
    for source in reversed(sources):
        used = {key: value for key, value in source.values.items() if key not in overridden}
        with named_by(source.origin):
            named.insert(0, replace(source, values={**source.values, **_loaded(used)}))
        overridden |= used.keys()
    return named


def _loaded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Import parts from scripts; return the settings with the names of the parts instead."""
    named = {
        key: PARTS[key].name_of(value) if key in PARTS else value for key, value in values.items()
    }
    if COLONIES in named:
        named[COLONIES] = [_loaded(colony) for colony in named[COLONIES]]
    return named


def _read(path: Path) -> dict[str, Any]:
    text = bounded_text(path, opens=followed)
    table = parse_toml(text, path)
    if is_signed(text):
        trust_named(table)
    try:
        return gathered(of_table(table))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def combined(sources: Sequence[Source]) -> dict[str, Any]:
    """Return the settings, with the value from the last source that has it."""
    return {name: value for source in sources for name, value in source.values.items()}


def _reject_hidden(
    preset: str, source: Source, config: Path, file: Source, options: Source
) -> None:
    """Reject a preset among the options if the configuration file overrides its settings."""
    hidden = [
        key
        for key, value in source.values.items()
        if key not in options.values and file.values.get(key, value) != value
    ]
    if hidden:
        raise messages.preset_is_overridden(preset=preset, config=config, names=hidden)
