"""Colonies: islands of one run that differ in algorithm, settings and encoding.

Each colony is resolved like a run of its own, with its settings above those of all colonies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.archipelago.colonies import of_colony
from islands.configuration.asked import Source
from islands.configuration.fit import UnknownSettingError, owners, unknown_setting
from islands.configuration.given import COLONIES, alike
from islands.configuration.resolved import Resolved
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.problems.base import Problem
from islands.settings import Settings, setting
from islands.text import counted, unknown

_NAMES_OF_RUN = ("instance", "format", "preset", "stop", "start", COLONIES)
_OF_COLONIES = ("islands", "population", "decoding")
"""The general settings that may differ between colonies."""
_DEFAULTS_OF_RUN = {
    f"{prefix}.{name}": getattr(group, name)
    for prefix, group in GROUPS.items()
    if prefix != "improver"
    for name in group.names()
}
"""The defaults of the groups of settings that only the whole run has."""


@dataclass(frozen=True)
class ColonySettings(Settings):
    """The settings that only colonies have."""

    rate: int = setting(
        1, "generations of the colony in one generation of the run", low=1, high=1000
    )


_OWN = ColonySettings.names()


def resolve_colonies(
    sources: Sequence[Source],
    problem: Problem,
    resolve: Callable[[Sequence[Source], int], Resolved],
) -> Resolved:
    """Return a run with colonies, which the strongest source that has some states.

    `resolve` resolves a run without colonies, as one colony of a run with a number of islands.
    """
    place = max(i for i, source in enumerate(sources) if COLONIES in source.values)
    origin, stated = sources[place].origin, sources[place].values[COLONIES]
    common = [
        Source(
            each.origin, {k: v for k, v in each.values.items() if k not in (COLONIES, "islands")}
        )
        for each in sources
    ]
    total, own = 0, list[ColonySettings]()
    for number, each in enumerate(stated):
        with of_colony(number, origin):
            _refuse_run_wide(each, problem.Settings)
            total += _islands(each)
            own.append(ColonySettings.build({k: v for k, v in each.items() if k in _OWN}))
            _refuse_contradiction(common[place].values, each)
    _require_total(sources[place:], total, len(stated))
    GeneralSettings.converted("islands", total)
    # The defaults of a problem only make sense for a run without colonies.
    given = {name for source in common for name in source.values}
    usual = {name: value for name, value in _DEFAULTS_OF_RUN.items() if name not in given}
    made, algorithms, unknowns = list[Resolved](), list[str](), list[str]()
    for number, each in enumerate(stated):
        values = Source("", {k: v for k, v in each.items() if k not in _OWN})
        its = [Source("", usual), *common[: place + 1], values, *common[place + 1 :]]
        with of_colony(number, origin):
            try:
                made.append(resolve(its, total))
                _require_own_islands(made[-1].spec)
                algorithms.append(made[-1].spec.algorithm)
            except UnknownSettingError as error:
                if error.key in each:
                    raise _unknown_in_colony(error, problem) from None
                algorithms.append(error.algorithm)
                unknowns.append(error.key)
    if unknowns:
        raise _unknown_to_some(unknowns[0], common, algorithms, problem)
    specs = [each.spec for each in made]
    adjusted = [f"colony {i}: {spec.adjusted}" for i, spec in enumerate(specs) if spec.adjusted]
    spec = replace(
        specs[0],
        general=specs[0].general.replace({"islands": total}),
        adjusted="\n".join(adjusted),
        colonies=tuple(
            replace(spec.as_colony(), rate=each.rate) for spec, each in zip(specs, own, strict=True)
        ),
    )
    return Resolved(spec, made[0].problem)


def _islands(values: Mapping[str, Any]) -> int:
    if "islands" not in values:
        raise UsageError("needs a number of islands, such as islands=1")
    islands: int = GeneralSettings.converted("islands", values["islands"])
    return islands


def _refuse_run_wide(own: Mapping[str, Any], of_problem: type[Settings]) -> None:
    """Refuse settings of a colony that only the whole run has."""
    general = {*GeneralSettings.names()} - {*_OF_COLONIES}
    common = {*general, *_NAMES_OF_RUN, *of_problem.names(), *_DEFAULTS_OF_RUN}
    for name in own:
        if name in common:
            fix = "Move it out of the colony"
            if name == "migration.interval":
                fix += (
                    ". For more generations of one colony between two migrations, choose its rate:"
                    " rate=3 makes three in each generation of the run"
                )
            raise UsageError(f"{name} is a setting of the whole run. {fix}")


def _refuse_contradiction(common: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a setting with two values from the same source: of all colonies and of one."""
    for name, value in own.items():
        if name in common and not alike(name, common[name], value):
            raise UsageError(
                f"{name}={value}, but {name}={common[name]} is given for all colonies. Leave one of"
                " them out"
            )


def _require_total(sources: Sequence[Source], total: int, colonies: int) -> None:
    """Refuse a number of islands of the run that is not that of its colonies."""
    for source in sources:
        islands = source.values.get("islands")
        if islands is not None and GeneralSettings.converted("islands", islands) != total:
            raise UsageError(
                f"{source.origin}islands={islands}, but colonies 0 to {colonies - 1} have"
                f" {counted(total, 'island')}. Leave islands out, or change those of a colony"
            )


def _require_own_islands(spec: RunSpec) -> None:
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


def _unknown_in_colony(error: UnknownSettingError, problem: Problem) -> UsageError:
    """Return the error about an unknown setting inside a colony."""
    if owners(error.key, problem):
        return UsageError(unknown_setting([ALGORITHMS[error.algorithm]], error.key, problem))
    own = ALGORITHMS[error.algorithm].Settings.names()
    improver = (f"improver.{name}" for name in ImproverSettings.names())
    known = [*_OF_COLONIES, "rate", "algorithm", "encoding", *own, *improver]
    return UsageError(unknown(f"setting of {error.algorithm}", error.key, known))


def _unknown_to_some(
    key: str, sources: Sequence[Source], algorithms: Sequence[str], problem: Problem
) -> UsageError:
    """Return the error about a setting of all colonies that some of their algorithms lack."""
    source = next(each for each in reversed(sources) if key in each.values)
    kinds = [ALGORITHMS[name] for name in dict.fromkeys(algorithms)]
    numbers = [n for n, name in enumerate(algorithms) if key in ALGORITHMS[name].Settings.names()]
    if not numbers:
        return UsageError(f"{source.origin}{unknown_setting(kinds, key, problem)}")
    takers = [f"colony {number} ({algorithms[number]})" for number in numbers]
    value = f"{key}={source.values[key]}"
    return UsageError(
        f"{source.origin}{value} is given for all colonies, but only {' and '.join(takers)}"
        f" {'have' if takers[1:] else 'has'} this setting. Write it inside such a colony:"
        f" 'islands=1 algorithm={algorithms[numbers[0]]} {value}'"
    )
