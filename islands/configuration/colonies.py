"""Colonies: islands of one run that differ in algorithm, settings and encoding.

Each colony is resolved like a run of its own, with its settings above those of all colonies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from islands.archipelago.colony_spec import of_colony
from islands.configuration.colony_checks import (
    common_defaults,
    refuse_contradiction,
    refuse_run_wide,
    require_own_islands,
    require_total,
    unknown_in_colony,
    unknown_to_some,
)
from islands.configuration.given import COLONIES, Layer
from islands.configuration.spec import GeneralSettings, RunSpec
from islands.configuration.unknown import UnknownSettingError
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.settings import Settings, setting


@dataclass(frozen=True)
class ColonySettings(Settings):
    """The settings that only colonies have."""

    rate: int = setting(
        1, "generations of the colony in one generation of the run", low=1, high=1000
    )


_OWN = ColonySettings.names()


def resolve_colonies(
    sources: Sequence[Layer],
    problem: Problem,
    resolve: Callable[[Sequence[Layer], Problem, int], RunSpec],
) -> RunSpec:
    """Return a run with colonies, which the strongest layer that has some states.

    `resolve` resolves a run without colonies, as one colony of a run with a number of islands.
    """
    place = max(i for i, layer in enumerate(sources) if COLONIES in layer.values)
    origin, stated = sources[place].origin, sources[place].values[COLONIES]
    common = [_without(layer, COLONIES, "islands") for layer in sources]
    total, own = 0, list[ColonySettings]()
    for number, each in enumerate(stated):
        with of_colony(number, origin):
            refuse_run_wide(each, problem.Settings)
            total += _islands(each)
            own.append(ColonySettings.build({k: v for k, v in each.items() if k in _OWN}))
            refuse_contradiction(common[place].values, each)
    require_total(sources[place:], total, len(stated))
    GeneralSettings.converted("islands", total)
    # The defaults of a problem only make sense for a run without colonies.
    given = {name for layer in common for name in layer.values}
    usual = {name: value for name, value in common_defaults().items() if name not in given}
    specs, algorithms, unknowns = list[RunSpec](), list[str](), list[str]()
    for number, each in enumerate(stated):
        values = Layer("", {k: v for k, v in each.items() if k not in _OWN})
        layers = [Layer("", usual), *common[: place + 1], values, *common[place + 1 :]]
        with of_colony(number, origin):
            try:
                specs.append(resolve(layers, problem, total))
                require_own_islands(specs[-1])
                algorithms.append(specs[-1].algorithm)
            except UnknownSettingError as error:
                if error.key in each:
                    raise unknown_in_colony(error) from None
                algorithms.append(error.algorithm)
                unknowns.append(error.key)
    if unknowns:
        raise unknown_to_some(unknowns[0], common, algorithms, problem)
    first = specs[0]
    adjusted = [f"colony {i}: {spec.adjusted}" for i, spec in enumerate(specs) if spec.adjusted]
    return replace(
        first,
        general=first.general.replace({"islands": total}),
        adjusted="\n".join(adjusted),
        colonies=tuple(
            replace(spec.as_colony(), rate=each.rate) for spec, each in zip(specs, own, strict=True)
        ),
    )


def _without(layer: Layer, *names: str) -> Layer:
    return Layer(layer.origin, {k: v for k, v in layer.values.items() if k not in names})


def _islands(values: Mapping[str, Any]) -> int:
    if "islands" not in values:
        raise UsageError("has no number of islands. Add islands=1, or another number")
    islands: int = GeneralSettings.converted("islands", values["islands"])
    return islands
