"""Resolve colonies: groups of islands of one run that differ in algorithm, settings or encoding.

A colony is resolved like a run; its settings override those given for all colonies.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.archipelago.colonies import of_colony
from islands.configuration import messages
from islands.configuration.fit import UnknownSettingError, owners, unknown_setting
from islands.configuration.given import COLONIES, alike
from islands.configuration.request import Source, combined
from islands.configuration.resolved import Resolved
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.problems.base import Problem
from islands.settings import Settings, setting
from islands.text import counted, unknown

_RUN_NAMES = ("instance", "format", "preset", "stop", "start", COLONIES)
_COLONY_NAMES = ("islands", "population", "decoding")
"""The general settings that may differ between colonies."""
_TOTALS = (COLONIES, "islands")
"""The settings of the run as a whole that its colonies do not inherit."""
_RUN_DEFAULTS = {
    f"{prefix}.{name}": getattr(group, name)
    for prefix, group in GROUPS.items()
    if prefix != "improver"
    for name in group.names()
}
"""The defaults of the groups of settings that apply only to the whole run."""


@dataclass(frozen=True)
class ColonySettings(Settings):
    """The settings that only colonies have."""

    rate: int = setting(
        1, "generations of the colony in one generation of the run", low=1, high=1000
    )


_ONLY_COLONIES = ColonySettings.names()


def resolve_colonies(
    sources: Sequence[Source],
    problem: Problem,
    resolve: Callable[[Sequence[Source], int], Resolved],
) -> Resolved:
    """Return a run with the colonies of the last source that defines colonies.

    `resolve` resolves the settings of one colony, given the number of islands of the run.
    """
    place = max(i for i, source in enumerate(sources) if COLONIES in source.values)
    origin, colonies = sources[place].origin, sources[place].values[COLONIES]
    common = [Source(source.origin, _without(source.values, _TOTALS)) for source in sources]
    total, rates = 0, list[int]()
    for number, values in enumerate(colonies):
        with of_colony(number, origin):
            _reject_run_wide(values, problem.Settings)
            total += _islands(values)
            colony_values = {name: values[name] for name in _ONLY_COLONIES if name in values}
            rates.append(ColonySettings.build(colony_values).rate)
            _reject_contradiction(common[place].values, values)
    _require_total(sources[place:], total, len(colonies))
    GeneralSettings.converted("islands", total)
    # Override the problem's defaults for these groups, which are for runs without colonies.
    usual = _without(_RUN_DEFAULTS, combined(common))
    resolved, algorithms, unknowns = list[Resolved](), list[str](), list[str]()
    for number, values in enumerate(colonies):
        own = Source("", _without(values, _ONLY_COLONIES))
        stronger = common[place + 1 :]
        with of_colony(number, origin):
            try:
                run = resolve([Source("", usual), *common[: place + 1], own, *stronger], total)
                _reject_unfit_algorithm(run.spec)
                resolved.append(run)
                algorithms.append(run.spec.algorithm)
            except UnknownSettingError as error:
                if error.key in values:
                    raise _unknown_in_colony(error, problem) from None
                algorithms.append(error.algorithm)
                unknowns.append(error.key)
    if unknowns:
        raise _unknown_to_some(unknowns[0], common, algorithms, problem)
    specs = [run.spec for run in resolved]
    adjusted = [f"colony {i}: {spec.adjusted}" for i, spec in enumerate(specs) if spec.adjusted]
    spec = replace(
        specs[0],
        general=specs[0].general.replace({"islands": total}),
        adjusted="\n".join(adjusted),
        colonies=tuple(
            replace(spec.as_colony(), rate=rate) for spec, rate in zip(specs, rates, strict=True)
        ),
    )
    return Resolved(spec, resolved[0].problem)


def _without(values: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _islands(values: Mapping[str, Any]) -> int:
    if "islands" not in values:
        raise UsageError("needs a number of islands, such as islands=1")
    return int(GeneralSettings.converted("islands", values["islands"]))


def _reject_run_wide(values: Mapping[str, Any], problem_settings: type[Settings]) -> None:
    """Reject settings of the whole run in a colony."""
    general = {*GeneralSettings.names()} - {*_COLONY_NAMES}
    run_wide = {*general, *_RUN_NAMES, *problem_settings.names(), *_RUN_DEFAULTS}
    for name in values:
        if name in run_wide:
            raise messages.setting_of_whole_run(name=name)


def _reject_contradiction(common: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Reject a setting of a colony if the same source sets another value for all colonies."""
    for name, value in values.items():
        if name in common and not alike(name, common[name], value):
            raise UsageError(
                f"{name}={value}, but {name}={common[name]} is given for all colonies. Leave one of"
                " them out"
            )


def _require_total(sources: Sequence[Source], total: int, colonies: int) -> None:
    """Reject a number of islands other than the sum over the colonies."""
    for source in sources:
        islands = source.values.get("islands")
        if islands is not None and GeneralSettings.converted("islands", islands) != total:
            raise UsageError(
                f"{source.origin}islands={islands}, but colonies 0 to {colonies - 1} have"
                f" {counted(total, 'island')}. Leave islands out, or change those of a colony"
            )


def _reject_unfit_algorithm(spec: RunSpec) -> None:
    """Reject algorithms that cannot run in a colony."""
    if "rate" in spec.settings.names():
        raise messages.rate_is_taken(algorithm=spec.algorithm)
    if getattr(spec.settings, "halo", False):
        raise messages.halo_in_colonies()


def _unknown_in_colony(error: UnknownSettingError, problem: Problem) -> UsageError:
    """Return the error about an unknown setting inside a colony."""
    if owners(error.key, problem):
        return UsageError(unknown_setting([ALGORITHMS[error.algorithm]], error.key, problem))
    algorithm_settings = ALGORITHMS[error.algorithm].Settings.names()
    improver = (f"improver.{name}" for name in ImproverSettings.names())
    known = [*_COLONY_NAMES, "rate", "algorithm", "encoding", *algorithm_settings, *improver]
    return UsageError(unknown(f"setting of {error.algorithm}", error.key, known))


def _unknown_to_some(
    key: str, sources: Sequence[Source], algorithms: Sequence[str], problem: Problem
) -> UsageError:
    """Return the error about a setting given for all colonies that some algorithms lack."""
    source = next(source for source in reversed(sources) if key in source.values)
    kinds = [ALGORITHMS[name] for name in dict.fromkeys(algorithms)]
    numbers = [n for n, name in enumerate(algorithms) if key in ALGORITHMS[name].Settings.names()]
    if not numbers:
        return UsageError(f"{source.origin}{unknown_setting(kinds, key, problem)}")
    return messages.setting_of_some_colonies(
        origin=source.origin,
        key=key,
        value=source.values[key],
        algorithms=algorithms,
        colonies=numbers,
    )
