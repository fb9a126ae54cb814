"""Resolve a request to a complete run: defaults < preset < configuration file < options."""

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.configuration.adjusting import adjusted
from islands.configuration.choosing import defaults_for
from islands.configuration.colonies import resolve_colonies
from islands.configuration.defaults import default_stop
from islands.configuration.fit import (
    NAMES,
    encoding_for,
    reject_unknown,
    require_bound,
    require_improver,
    require_possible,
)
from islands.configuration.given import ALIASES, COLONIES
from islands.configuration.identity import part_versions
from islands.configuration.request import Request, Source, combined
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
from islands.instances.locate import split_part
from islands.paths import reading
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import option

_TOPOLOGY = "migration.topology"


def resolve(request: Request, problem: Problem) -> Resolved:
    """Return the complete run; reject unknown, invalid and incompatible settings."""

    def resolved(sources: Sequence[Source], islands: int | None = None) -> Resolved:
        return _resolved(request, sources, problem, islands)

    if request.values.get(COLONIES) is None:
        run = resolved(request.sources)
    else:
        run = resolve_colonies(request.sources, problem, resolved)
    run = with_standstill(run)
    try:
        require_possible(run)
    except UsageError:
        if request.values.get(_TOPOLOGY) is not None:
            raise
        ring = replace(run, spec=_on_a_ring(run.spec))
        with suppress(UsageError):
            require_possible(ring)
            return ring
        raise
    return run


def with_standstill(resolved: Resolved) -> Resolved:
    """Set the value of `converged`: the generations without improvement that end the run."""
    spec, size = resolved.spec, resolved.problem.size
    is_warm = bool(spec.start or spec.given)
    limit = max(
        ALGORITHMS[colony.algorithm].standstill(
            colony.settings, colony.population, size, is_warm=is_warm
        )
        / colony.rate
        for colony in spec.all_colonies
    )
    stop = tuple(
        replace(criterion, value=limit) if criterion.kind == CONVERGED else criterion
        for criterion in spec.stop
    )
    return replace(resolved, spec=replace(spec, stop=stop))


def _on_a_ring(spec: RunSpec) -> RunSpec:
    """Return the run with the ring topology, in which islands receive fewer migrants."""
    migration = spec.migration.replace({"topology": "ring"})
    note = (
        f"migration {spec.migration.topology} -> ring, as the migrants of"
        f" {spec.general.islands} islands do not fit into one. To prevent this, raise population"
    )
    lines = filter(None, [spec.adjusted, note])
    return replace(spec, migration=migration, adjusted="\n".join(lines))


def _resolved(
    request: Request, sources: Sequence[Source], problem: Problem, islands: int | None = None
) -> Resolved:
    """Return a run without colonies, or a colony of a run with `islands` islands."""
    requested, given = sources, combined(sources)
    sources, solved, note = _with_defaults(sources, given, problem)
    chosen = combined(sources)
    name, encoding = str(chosen["algorithm"]), chosen.get("encoding")
    _reject_clash(sources, name)
    encoding = encoding_for(name, None if encoding is None else str(encoding), problem)
    algorithm = ALGORITHMS[name]
    _reject_shared(f"algorithm {name}", algorithm.Settings, problem.Settings.names())
    _reject_shared(f"problem {problem.name}", problem.Settings)
    reject_unknown(sources, algorithm, problem)
    values = _merged(sources, algorithm.Settings, problem.Settings)
    is_halo = "halo" in values and algorithm.Settings.converted("halo", values["halo"])
    if is_halo and given.get(_TOPOLOGY) is None:
        values[_TOPOLOGY] = "none"  # slices of one population exchange no migrants
    # A run without criteria would never stop.
    given_stop = criteria_of(values.get("stop", [])) or default_stop(problem)
    stop = _with_bound(given_stop, problem)
    require_known(stop, problem)
    groups: dict[str, Any] = {
        name: group.build(_of_group(values, name, group), name) for name, group in GROUPS.items()
    }
    problem_settings = problem.Settings.build(_of_group(values, "", problem.Settings))
    solved = solved.adjusted(problem_settings)  # the defaults may have changed its settings
    require_improver(groups["improver"], solved, name)
    settings = _settings(values, algorithm, encoding, problem)
    spec = RunSpec(
        instance=absolute(request.instance),
        format=request.format,
        preset=values.get("preset"),
        algorithm=algorithm.name,
        encoding=encoding,
        stop=stop,
        start=tuple(start_name(path, problem) for path in _listed(values.get("start", []))),
        general=_general(_of_group(values, "", GeneralSettings), algorithm),
        settings=settings,
        problem=problem_settings,
        adjusted=note,
        **groups,
    )
    if spec.general.bound:
        require_bound(problem)
    part_versions(Resolved(spec, solved))  # rejects different headers with the same name
    if spec.improver.name != "none":
        islands = spec.general.islands if islands is None else islands
        spec = adjusted(spec, solved, _fixed(requested), sources[1].values, islands)
    return Resolved(spec, solved)


def _fixed(sources: Sequence[Source]) -> set[str]:
    """Return the settings that must not be adjusted: those requested, or a preset's improver."""
    by = next((source for source in reversed(sources) if "improver.name" in source.values), None)
    if by is not None and by.origin.startswith("preset "):
        return {"population", *(f"improver.{name}" for name in ImproverSettings.names())}
    return {*combined(sources)}


def _merged(sources: Sequence[Source], *groups: type[Settings]) -> dict[str, Any]:
    """Return the combined settings, without those that stronger sources make ineffective."""
    values = combined(sources)
    strength = {name: i for i, source in enumerate(sources) for name in source.values}
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
    built = algorithm.Settings.build(_of_group(values, "", algorithm.Settings))
    settings: Settings = algorithm.completed(built, base_encoding(encoding))
    is_bounded = ENCODINGS[encoding][problem.solution_kind].bounded
    return algorithm.confined(settings) if is_bounded else settings


def _with_defaults(
    sources: Sequence[Source], given: Mapping[str, Any], problem: Problem
) -> tuple[list[Source], Problem, str]:
    """Return the sources, preceded by the settings of the problem and the defaults.

    Also return the problem with its settings, and a message about the choice of the algorithm.
    """
    base = Source(f"{problem.instance}: ", problem.settings.to_mapping())
    settings = _of_group(_merged([base, *sources], problem.Settings), "", problem.Settings)
    solved = problem.adjusted(problem.Settings.build(settings))
    stop = criteria_of(given.get("stop", []))
    is_short = any(criterion.kind == CONVERGED for criterion in stop)
    defaults, note = defaults_for(solved, given, _seconds(stop, problem), is_short=is_short)
    return [base, Source(f"defaults of {problem.name}: ", defaults), *sources], solved, note


def _seconds(stop: Sequence[Criterion], problem: Problem) -> float:
    """Return the time limit of the run, or the default time limit."""
    limit = time_limit(stop)
    return limit if math.isfinite(limit) else time_limit(default_stop(problem))


def _reject_clash(sources: Sequence[Source], algorithm: str) -> None:
    """Reject a preset whose algorithm is not the requested one."""
    for source in sources:
        preset = source.values.get("algorithm", algorithm)
        if source.origin.startswith("preset ") and preset != algorithm:
            raise UsageError(
                f"{source.origin}its settings are for {preset}, but"
                f" {option('algorithm', algorithm)} was requested. Leave one of them out"
            )


def _reject_shared(owner: str, settings: type[Settings], others: Collection[str] = ()) -> None:
    """Reject a setting that has the name of another setting."""
    taken = {*GeneralSettings.names(), *NAMES, *GROUPS, *ALIASES, *others}
    if shared := sorted(taken & set(settings.names())):
        raise UsageError(
            f"{owner}: its setting {shared[0]!r} has the same name as another setting. Rename it"
        )


def _of_group(values: Mapping[str, Any], group: str, settings: type[Settings]) -> dict[str, Any]:
    """Return the values of a group of settings, by short name."""
    keys = {name: f"{group}.{name}" if group else name for name in settings.names()}
    return {name: values[key] for name, key in keys.items() if key in values}


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _with_bound(stop: Sequence[Criterion], problem: Problem) -> tuple[Criterion, ...]:
    """Add the criterion of the problem's lower bound, if it has one."""
    if problem.lower_bound is None and any(criterion.text == LOWER_BOUND for criterion in stop):
        bound = option("stop", LOWER_BOUND)
        raise UsageError(
            f"{bound}: no lower bound of {problem.instance} is known. Write {bound}=VALUE"
        )
    if problem.lower_bound is None or any(criterion.kind == LOWER_BOUND for criterion in stop):
        return tuple(stop)
    return (*criteria_of(LOWER_BOUND), *stop)


def start_name(name: str, problem: Problem) -> str:
    """Return the absolute path of a solution file, which may be next to the instance file."""
    with reading(name):
        neighbour = problem.path and not Path(name).exists() and problem.path.parent / name
        return absolute(str(neighbour) if neighbour and neighbour.exists() else name)


def absolute(name: str) -> str:
    """Return the absolute path of an instance in a file; other names are unchanged."""
    if is_reference(name):
        return absolute_reference(name)
    with reading(name):
        path = Path(name) if Path(name).exists() else split_part(Path(name))[0]
        part = Path(name).name.removeprefix(path.name)
        full = f"{path.resolve()}{part}" if path.exists() else name
    try:
        full.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{full!a}: is not UTF-8, which run.toml requires. Rename the file or its folder"
        ) from None
    return full
