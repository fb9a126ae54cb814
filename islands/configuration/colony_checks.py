"""What is refused in the settings of colonies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.configuration.given import COLONIES, Layer, alike
from islands.configuration.spec import CheckpointSettings, GeneralSettings, RecordSettings, RunSpec
from islands.configuration.unknown import UnknownSettingError, known_settings
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import counted, either, unknown

_OF_RUN: dict[str, type[Settings]] = {
    "migration": MigrationSettings,
    "record": RecordSettings,
    "checkpoint": CheckpointSettings,
}
_NAMES_OF_RUN = ("instance", "format", "preset", "stop", "start", COLONIES)
_OF_COLONIES = ("islands", "population", "decoding")
"""The general settings that may differ between colonies."""


def common_defaults() -> dict[str, Any]:
    """Return the defaults of the groups of settings that only the whole run has."""
    return {
        f"{prefix}.{name}": getattr(group, name)
        for prefix, group in _OF_RUN.items()
        for name in group.names()
    }


def refuse_run_wide(own: Mapping[str, Any], of_problem: type[Settings]) -> None:
    """Refuse settings of a colony that only the whole run has."""
    general = {*GeneralSettings.names()} - {*_OF_COLONIES}
    common = {*general, *_NAMES_OF_RUN, *of_problem.names(), *common_defaults()}
    for name in own:
        if name in common:
            fix = "Move it out of the colony"
            if name == "migration.interval":
                fix += (
                    ". For more generations of one colony between two migrations, choose its rate:"
                    " rate=3 makes three in each generation of the run"
                )
            raise UsageError(f"{name} is a setting of the whole run. {fix}")


def refuse_contradiction(common: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a setting with two values from the same source: of all colonies and of one."""
    for name, value in own.items():
        if name in common and not alike(name, common[name], value):
            raise UsageError(
                f"{name}={value}, but {name}={common[name]} is given for all colonies. Leave one of"
                " them out"
            )


def require_total(sources: Sequence[Layer], total: int, colonies: int) -> None:
    """Refuse a number of islands of the run that is not that of its colonies."""
    for layer in sources:
        islands = layer.values.get("islands")
        if islands is not None and GeneralSettings.converted("islands", islands) != total:
            raise UsageError(
                f"{layer.origin}islands={islands}, but colonies 0 to {colonies - 1} have"
                f" {counted(total, 'island')}. Leave islands out, or change those of a colony"
            )


def require_own_islands(spec: RunSpec) -> None:
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


def unknown_in_colony(error: UnknownSettingError) -> UsageError:
    """Return the error about an unknown setting inside a colony."""
    own = ALGORITHMS[error.algorithm].Settings.names()
    improver = (f"improver.{name}" for name in ImproverSettings.names())
    known = [*_OF_COLONIES, "rate", "algorithm", "encoding", *own, *improver]
    return UsageError(unknown(f"setting of {error.algorithm}", error.key, known))


def unknown_to_some(
    key: str, sources: Sequence[Layer], algorithms: Sequence[str], problem: Problem
) -> UsageError:
    """Return the error about a setting of all colonies that some of their algorithms lack."""
    layer = next(each for each in reversed(sources) if key in each.values)
    kinds = [ALGORITHMS[name] for name in dict.fromkeys(algorithms)]
    numbers = [n for n, name in enumerate(algorithms) if key in ALGORITHMS[name].Settings.names()]
    if not numbers:
        names = either([kind.name for kind in kinds])
        known = known_settings(kinds, problem)
        return UsageError(f"{layer.origin}{unknown(f'setting of {names}', key, known)}")
    takers = [f"colony {number} ({algorithms[number]})" for number in numbers]
    value = f"{key}={layer.values[key]}"
    return UsageError(
        f"{layer.origin}{value} is given for all colonies, but only {' and '.join(takers)}"
        f" {'have' if takers[1:] else 'has'} this setting. Write it inside such a colony:"
        f" 'islands=1 algorithm={algorithms[numbers[0]]} {value}'"
    )
