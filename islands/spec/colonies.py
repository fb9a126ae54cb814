"""Colonies: islands of one run that differ in algorithm, settings and encoding.

Each colony is resolved like a run of its own, with its settings above those of all colonies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from islands.errors import UsageError
from islands.migration import MigrationSettings
from islands.problems.base import Problem
from islands.settings import Settings, setting
from islands.spec.given import alike
from islands.spec.layers import Layer
from islands.spec.spec import CheckpointSettings, GeneralSettings, RecordSettings, RunSpec
from islands.text import counted

KEY = "colony"
"""The name of the list of colonies among the settings of a run."""
_COMMON: dict[str, type[Settings]] = {
    "migration": MigrationSettings,
    "record": RecordSettings,
    "checkpoint": CheckpointSettings,
}
_NAMES = ("instance", "format", "preset", "stop", "start", KEY)
_OF_COLONIES = ("islands", "population", "decoding")
"""The general settings that may differ between colonies."""


@dataclass(frozen=True)
class ColonySettings(Settings):
    """The settings that only colonies have."""

    islands: int = setting(1, "number of islands of the colony, over all ranks", low=1)
    rate: int = setting(
        1, "generations of the colony in one generation of the run", low=1, high=1000
    )


def resolve_colonies(
    sources: Sequence[Layer],
    problem: Problem,
    resolve: Callable[[Sequence[Layer], Problem], RunSpec],
) -> RunSpec:
    """Return a run with colonies, which the strongest layer that has some states.

    `resolve` resolves a run without colonies.
    """
    place = max(i for i, layer in enumerate(sources) if KEY in layer.values)
    origin, stated = sources[place].origin, sources[place].values[KEY]
    common = [_without(layer, KEY, "islands") for layer in sources]
    chosen = []
    for number, each in enumerate(stated):
        with _named(origin, number):
            _refuse_run_wide(each, problem.Settings)
            chosen.append(_chosen(each))
            _refuse_contradiction(common[place].values, each)
    total = sum(each.islands for each in chosen)
    _require_total(sources[place:], total, len(stated))
    # The defaults of a problem only make sense for a run without colonies.
    given = {name for layer in common for name in layer.values}
    usual = {name: value for name, value in _usual() if name not in given}
    specs = []
    for number, (each, own) in enumerate(zip(stated, chosen, strict=True)):
        values = {name: value for name, value in each.items() if name != "rate"}
        layers = [
            Layer("", usual),
            *common[: place + 1],
            Layer("", {**values, "islands": own.islands}),
            *common[place + 1 :],
        ]
        with _named(origin, number):
            specs.append(resolve(layers, problem))
            _require_fit(specs[-1])
    first = specs[0]
    adjusted = [f"colony {i}: {spec.adjusted}" for i, spec in enumerate(specs) if spec.adjusted]
    return replace(
        first,
        general=first.general.replace({"islands": total}),
        adjusted="\n".join(adjusted),
        colonies=tuple(
            replace(spec.as_colony(), rate=own.rate)
            for spec, own in zip(specs, chosen, strict=True)
        ),
    )


def _without(layer: Layer, *names: str) -> Layer:
    return Layer(layer.origin, {k: v for k, v in layer.values.items() if k not in names})


def _usual() -> Iterator[tuple[str, Any]]:
    """Yield the defaults of the settings that all colonies have in common."""
    for prefix, group in _COMMON.items():
        for name in group.names():
            yield f"{prefix}.{name}", getattr(group, name)


@contextmanager
def _named(origin: str, number: int) -> Iterator[None]:
    """Let errors name the colony."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{origin}colony {number}: {error}") from None


def _chosen(values: Mapping[str, Any]) -> ColonySettings:
    if "islands" not in values:
        raise UsageError("has no number of islands. Add islands=1, or another number")
    own = {name: values[name] for name in ColonySettings.names() if name in values}
    return ColonySettings.build(own)


def _refuse_run_wide(own: Mapping[str, Any], of_problem: type[Settings]) -> None:
    """Refuse settings of a colony that only the whole run has."""
    general = {*GeneralSettings.names()} - {*_OF_COLONIES}
    common = {*general, *_NAMES, *of_problem.names(), *(name for name, _ in _usual())}
    for name in own:
        if name in common:
            raise UsageError(f"{name} is a setting of the whole run. Move it out of the colony")


def _refuse_contradiction(common: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a setting with two values from the same source: of all colonies and of one."""
    for name, value in own.items():
        if name in common and not alike(name, common[name], value):
            raise UsageError(
                f"{name}={value}, but {name}={common[name]} is given for all colonies. Leave one of"
                " them out"
            )


def _require_total(sources: Sequence[Layer], total: int, colonies: int) -> None:
    """Refuse a number of islands of the run that is not that of its colonies."""
    for layer in sources:
        islands = layer.values.get("islands")
        if islands is not None and GeneralSettings.converted("islands", islands) != total:
            raise UsageError(
                f"{layer.origin}islands={islands}, but colonies 0 to {colonies - 1} have"
                f" {counted(total, 'island')}. Leave islands out, or change those of a colony"
            )


def _require_fit(spec: RunSpec) -> None:
    """Refuse algorithms that cannot run on the islands of a colony."""
    if "rate" in spec.settings.names():
        raise UsageError(
            f"algorithm {spec.algorithm}: its setting 'rate' has the name of a setting of colonies."
            " Rename it"
        )
    if getattr(spec.settings, "halo", False):
        raise UsageError(
            "halo=true: islands of a run with colonies cannot be slices of one population. Choose"
            " halo=false, or leave the colonies out"
        )
