"""Resolve a user's options to a `Resolved`: defaults < preset < configuration file < options."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.configuration.adjusting import adjusted
from islands.configuration.asked import Asked, Source, combined
from islands.configuration.choosing import defaults_for
from islands.configuration.colonies import resolve_colonies
from islands.configuration.defaults import default_stop
from islands.configuration.fit import (
    NAMES,
    encoding_for,
    refuse_unknown,
    require_bound,
    require_improver,
    require_possible,
)
from islands.configuration.given import ALIASES, COLONIES
from islands.configuration.identity import part_versions
from islands.configuration.resolved import Resolved
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.configuration.stop import (
    CONVERGED,
    LOWER_BOUND,
    Criterion,
    criteria_of,
    require_known,
    time_limit,
)
from islands.custom.scripts import absolute_reference, is_reference
from islands.encodings import ENCODINGS, base_encoding
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.instances.locate import parted
from islands.paths import reading
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import option

_TOPOLOGY = "migration.topology"


def resolve(asked: Asked, problem: Problem) -> Resolved:
    """Return the complete run; refuse settings that are unknown, out of range or do not fit."""

    def resolved(sources: Sequence[Source], islands: int | None = None) -> Resolved:
        return _resolved(asked, sources, problem, islands)

    given = asked.values
    found = (
        resolved(asked.sources)
        if given.get(COLONIES) is None
        else resolve_colonies(asked.sources, problem, resolved)
    )
    found = with_standstill(found)
    try:
        require_possible(found)
    except UsageError:
        if given.get(_TOPOLOGY) is not None:
            raise
        ring = replace(found, spec=_on_a_ring(found.spec))
        with suppress(UsageError):
            require_possible(ring)
            return ring
        raise
    return found


def with_standstill(resolved: Resolved) -> Resolved:
    """Return the run with the standstill after which all its colonies have converged."""
    spec, size = resolved.spec, resolved.problem.size
    is_warm = bool(spec.start or spec.given)
    limit = max(
        ALGORITHMS[each.algorithm].standstill(each.settings, each.population, size, is_warm=is_warm)
        / each.rate
        for each in spec.all_colonies
    )
    own = (replace(each, value=limit) if each.kind == CONVERGED else each for each in spec.stop)
    return replace(resolved, spec=replace(spec, stop=tuple(own)))


def _on_a_ring(spec: RunSpec) -> RunSpec:
    """Return the run with fewer migrants per island than by the default topology."""
    migration = spec.migration.replace({"topology": "ring"})
    note = (
        f"migration {spec.migration.topology} -> ring, as the migrants of"
        f" {spec.general.islands} islands do not fit into one. To prevent this, raise population"
    )
    lines = filter(None, [spec.adjusted, note])
    return replace(spec, migration=migration, adjusted="\n".join(lines))


def _resolved(
    asked: Asked, sources: Sequence[Source], problem: Problem, islands: int | None = None
) -> Resolved:
    """Return a run without colonies, or one colony of a run with this number of `islands`.

    A colony has `sources` of its own.
    """
    own, given = sources, combined(sources)
    sources, solved, note = _upon_defaults(sources, given, problem)
    chosen = combined(sources)
    name, encoding = str(chosen["algorithm"]), chosen.get("encoding")
    _refuse_clash(sources, name)
    encoding = encoding_for(name, None if encoding is None else str(encoding), problem)
    algorithm = ALGORITHMS[name]
    _refuse_shared(f"algorithm {name}", algorithm.Settings, problem.Settings.names())
    _refuse_shared(f"problem {problem.name}", problem.Settings)
    refuse_unknown(sources, algorithm, problem)
    values = _merged(sources, algorithm.Settings, problem.Settings)
    is_halo = str(values.get("halo")).lower() in ("true", "yes", "on", "1")
    if is_halo and given.get(_TOPOLOGY) is None:
        values[_TOPOLOGY] = "none"  # slices of one population do not migrate
    # With an empty list, the run would never stop.
    given_stop = criteria_of(values.get("stop", [])) or default_stop(problem)
    stop = _with_bound(given_stop, problem)
    is_of_script = problem.path is None
    require_known(stop, problem.instance, problem.best_known, is_of_script=is_of_script)
    groups: dict[str, Any] = {
        name: group.build(_part(values, name, group), name) for name, group in GROUPS.items()
    }
    of_problem = problem.Settings.build(_part(values, "", problem.Settings))
    solved = solved.adjusted(of_problem)  # the defaults may have changed them
    require_improver(groups["improver"], solved, name)
    settings = _settings(values, algorithm, encoding, problem)
    spec = RunSpec(
        instance=absolute(asked.instance),
        format=asked.format,
        preset=values.get("preset"),
        algorithm=algorithm.name,
        encoding=encoding,
        stop=stop,
        start=tuple(start_name(path, problem) for path in _listed(values.get("start", []))),
        general=_general(_part(values, "", GeneralSettings), algorithm),
        settings=settings,
        problem=of_problem,
        adjusted=note,
        **groups,
    )
    if spec.general.bound:
        require_bound(problem)
    part_versions(Resolved(spec, solved))  # refuses headers that contradict each other
    if spec.improver.name != "none":
        islands = spec.general.islands if islands is None else islands
        spec = adjusted(spec, solved, _fixed(own), sources[1].values, islands)
    return Resolved(spec, solved)


def _fixed(sources: Sequence[Source]) -> set[str]:
    """Return the settings that must not be adjusted: those given, or all of a preset's improver."""
    by = next((source for source in reversed(sources) if "improver.name" in source.values), None)
    if by is not None and by.origin.startswith("preset "):
        return {"population", *(f"improver.{name}" for name in ImproverSettings.names())}
    return {name for source in sources for name in source.values}


def _merged(sources: Sequence[Source], *groups: type[Settings]) -> dict[str, Any]:
    """Return the strongest values, without weaker settings that have no effect with them."""
    values: dict[str, Any] = {}
    strength: dict[str, int] = {}
    for place, source in enumerate(sources):
        values |= source.values
        strength |= dict.fromkeys(source.values, place)
    dropped = {name for group in groups for name in group.ineffective(values, strength)}
    return {name: value for name, value in values.items() if name not in dropped}


def _general(values: Mapping[str, Any], algorithm: type[Algorithm]) -> GeneralSettings:
    """Return the general settings, with the algorithm's default decoding."""
    general = GeneralSettings.build(values)
    usual = next(iter(algorithm.decodings), "")
    return general if general.decoding or not usual else general.replace({"decoding": usual})


def _settings(
    values: Mapping[str, Any], algorithm: type[Algorithm], encoding: str, problem: Problem
) -> Settings:
    """Return the settings of the algorithm, with the encoding's defaults."""
    built = algorithm.Settings.build(_part(values, "", algorithm.Settings))
    settings: Settings = algorithm.completed(built, base_encoding(encoding))
    is_bounded = ENCODINGS[encoding][problem.solution_kind].bounded
    return algorithm.confined(settings) if is_bounded else settings


def _upon_defaults(
    sources: Sequence[Source], given: Mapping[str, Any], problem: Problem
) -> tuple[list[Source], Problem, str]:
    """Return the sources after the problem's own settings and the defaults, and a message.

    Also return the problem with its settings.
    """
    own = Source(f"{problem.instance}: ", problem.settings.to_mapping())
    settings = _part(_merged([own, *sources], problem.Settings), "", problem.Settings)
    solved = problem.adjusted(problem.Settings.build(settings))
    asked = criteria_of(given.get("stop", []))
    is_short = any(each.kind == CONVERGED for each in asked)
    defaults, note = defaults_for(solved, given, _seconds(asked, problem), is_short=is_short)
    return [own, Source(f"defaults of {problem.name}: ", defaults), *sources], solved, note


def _seconds(asked: Sequence[Criterion], problem: Problem) -> float:
    """Return the time limit of the run, or the default one if there is none."""
    limit = time_limit(asked)
    return limit if math.isfinite(limit) else time_limit(default_stop(problem))


def _refuse_clash(sources: Sequence[Source], algorithm: str) -> None:
    """Refuse a preset for another algorithm than the requested one."""
    for source in sources:
        own = source.values.get("algorithm", algorithm)
        if source.origin.startswith("preset ") and own != algorithm:
            raise UsageError(
                f"{source.origin}its settings are for {own}, but {option('algorithm', algorithm)}"
                " was requested. Leave one of them out"
            )


def _refuse_shared(owner: str, settings: type[Settings], others: Collection[str] = ()) -> None:
    """Refuse a name that two settings share."""
    taken = {*GeneralSettings.names(), *NAMES, *GROUPS, *ALIASES, *others}
    if shared := sorted(taken & set(settings.names())):
        raise UsageError(
            f"{owner}: its setting {shared[0]!r} has the same name as another setting. Rename it"
        )


def _part(values: Mapping[str, Any], group: str, settings: type[Settings]) -> dict[str, Any]:
    """Return the values that belong to `settings`, by short name."""
    dotted = {name: f"{group}.{name}" if group else name for name in settings.names()}
    return {name: values[key] for name, key in dotted.items() if key in values}


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _with_bound(stop: Sequence[Criterion], problem: Problem) -> tuple[Criterion, ...]:
    """Return the criteria, and that of the problem's lower bound: nothing is better."""
    if problem.lower_bound is None and any(each.text == LOWER_BOUND for each in stop):
        bound = option("stop", LOWER_BOUND)
        raise UsageError(
            f"{bound}: no lower bound of {problem.instance} is known. Write {bound}=VALUE"
        )
    has_bound = any(each.kind == LOWER_BOUND for each in stop)
    if problem.lower_bound is None or has_bound:
        return tuple(stop)
    return (*criteria_of(LOWER_BOUND), *stop)


def start_name(name: str, problem: Problem) -> str:
    """Return the full name of a solution's file, which may be next to the instance's file."""
    with reading(name):
        neighbour = problem.path and not Path(name).exists() and problem.path.parent / name
        return absolute(str(neighbour) if neighbour and neighbour.exists() else name)


def absolute(name: str) -> str:
    """Return a name that is valid in any folder: an absolute path, or another name unchanged."""
    if is_reference(name):
        return absolute_reference(name)
    with reading(name):
        path = Path(name) if Path(name).exists() else parted(Path(name))[0]
        part = Path(name).name.removeprefix(path.name)
        found = f"{path.resolve()}{part}" if path.exists() else name
    try:
        found.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{found!a}: is not UTF-8, which run.toml requires. Rename the file or its folder"
        ) from None
    return found
