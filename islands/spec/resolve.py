"""Resolve a user's options to a `RunSpec`: defaults < preset < configuration file < options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.custom import scripts as scripts
from islands.custom.scripts import is_reference
from islands.encodings import moved_as
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.instances.locate import parted
from islands.paths import reading
from islands.presets import PRESETS, preset_file
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.settings import Settings
from islands.spec.adjust import adjusted
from islands.spec.fit import encoding_for, require_improver
from islands.spec.given import ALIASES, gathered, of_table
from islands.spec.own import CHOICES, traits
from islands.spec.spec import GROUPS, GeneralSettings, RunSpec
from islands.spec.stop import parse, require_known
from islands.text import option, unknown
from islands.untrusted import read_toml

DEFAULT_INSTANCE = "demo/tsp"

_NAMES = ("instance", "format", "preset", "algorithm", "encoding", "stop", "start")


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
    preset = _strongest(sources, "preset", None)
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
        names = {key: CHOICES[key].named(parts[key]) for key in parts.keys() - hidden}
        kept = {key: value for key, value in layer.values.items() if key not in hidden}
        named.insert(0, Layer(layer.origin, kept | names))
        stronger |= parts.keys()
    return named


def instance_of(sources: Sequence[Layer]) -> str:
    """Return the name of the instance."""
    return str(_strongest(sources, "instance", DEFAULT_INSTANCE))


def format_of(sources: Sequence[Layer]) -> str | None:
    """Return the format of the instance's file; None: detect it."""
    form = _strongest(sources, "format", None)
    return None if form is None else str(form)


def resolve(sources: Sequence[Layer], problem: Problem) -> RunSpec:
    """Return the complete run; refuse settings that are unknown, out of range or do not fit."""
    own, sources = sources, _upon_defaults(sources, problem)
    name = str(_strongest(sources, "algorithm", None))
    _refuse_clash(sources, name)
    encoding = _strongest(sources, "encoding", None)
    encoding = encoding_for(name, None if encoding is None else str(encoding), problem)
    algorithm = ALGORITHMS[name]
    _refuse_shared(f"algorithm {name}", algorithm.Settings, problem.Settings.names())
    _refuse_shared(f"problem {problem.name}", problem.Settings)
    _refuse_unknown(sources, algorithm, problem)
    values = _merged(sources, algorithm.Settings, problem.Settings)
    if _is_true(values.get("halo")) and _strongest(own, "migration.topology", None) is None:
        values["migration.topology"] = "none"  # slices of one population do not migrate
    # With an empty list, the run would never stop.
    criteria = _listed(values.get("stop", [])) or _default_stop(problem)
    stop = tuple(parse(text) for text in criteria)
    require_known(stop, problem.instance, problem.best_known)
    groups: dict[str, Any] = {
        name: group.build(_part(values, name, group), name) for name, group in GROUPS.items()
    }
    of_problem = problem.Settings.build(_part(values, "", problem.Settings))
    solved = problem.adjusted(of_problem)
    require_improver(groups["improver"], solved)
    spec = RunSpec(
        instance=_lasting(instance_of(sources)),
        format=format_of(sources),
        preset=values.get("preset"),
        algorithm=algorithm.name,
        encoding=encoding,
        stop=stop,
        start=tuple(_start_name(path, problem) for path in _listed(values.get("start", []))),
        general=_general(_part(values, "", GeneralSettings), algorithm),
        settings=algorithm.completed(
            algorithm.Settings.build(_part(values, "", algorithm.Settings)), moved_as(encoding)
        ),
        problem=of_problem,
        **groups,
    )
    traits(spec.to_mapping(), problem)  # refuses headers that contradict each other
    if spec.improver.name == "none":
        return spec
    return adjusted(spec, solved, _fixed(own), sources[1].values)


def _fixed(sources: Sequence[Layer]) -> set[str]:
    """Return the settings that must not be adjusted: those given, or all of a preset's improver."""
    by = next((layer for layer in reversed(sources) if "improver.name" in layer.values), None)
    if by is not None and by.origin.startswith("preset "):
        return {"population", *(f"improver.{name}" for name in ImproverSettings.names())}
    return {name for layer in sources for name in layer.values}


def _merged(sources: Sequence[Layer], *groups: type[Settings]) -> dict[str, Any]:
    """Return the strongest values, without weaker settings that have no effect with them."""
    values: dict[str, Any] = {}
    strength: dict[str, int] = {}
    for place, layer in enumerate(sources):
        values |= layer.values
        strength |= dict.fromkeys(layer.values, place)
    dropped = {name for group in groups for name in group.ineffective(values, strength)}
    return {name: value for name, value in values.items() if name not in dropped}


def _general(values: Mapping[str, Any], algorithm: type[Algorithm]) -> GeneralSettings:
    """Return the general settings, with the algorithm's default decoding."""
    general = GeneralSettings.build(values)
    usual = next(iter(algorithm.decodings), "")
    return general if general.decoding or not usual else general.replace({"decoding": usual})


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "yes", "on", "1")


def _upon_defaults(sources: Sequence[Layer], problem: Problem) -> list[Layer]:
    """Return the layers after the problem's own settings and its defaults.

    The defaults only make sense together: with another algorithm, encoding or improver, or with a
    preset, only the default algorithm is used.
    """
    own = Layer(f"{problem.instance}: ", problem.settings.to_mapping())
    settings = _part(_merged([own, *sources], problem.Settings), "", problem.Settings)
    defaults = problem.adjusted(problem.Settings.build(settings)).defaults()
    parts = ("algorithm", "encoding", "improver.name")
    usual = {name: defaults.get(name) for name in parts}
    is_usual = all(_strongest(sources, name, value) == value for name, value in usual.items())
    if not is_usual or _strongest(sources, "preset", None) is not None:
        defaults = {"algorithm": defaults["algorithm"]}
    return [own, Layer(f"defaults of {problem.name}: ", defaults), *sources]


def _read(path: Path) -> dict[str, Any]:
    try:
        return gathered(of_table(read_toml(path)))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _strongest(sources: Sequence[Layer], name: str, default: Any) -> Any:
    return next(
        (layer.values[name] for layer in reversed(sources) if name in layer.values), default
    )


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


def _refuse_clash(sources: Sequence[Layer], algorithm: str) -> None:
    """Refuse a preset for another algorithm than the requested one."""
    for layer in sources:
        own = layer.values.get("algorithm", algorithm)
        if layer.origin.startswith("preset ") and own != algorithm:
            raise UsageError(
                f"{layer.origin}its settings are for {own}, but {option('algorithm', algorithm)}"
                " was requested. Leave one of them out"
            )


def _refuse_shared(owner: str, settings: type[Settings], others: Collection[str] = ()) -> None:
    """Refuse a name that two settings share."""
    taken = {*GeneralSettings.names(), *_NAMES, *GROUPS, *ALIASES, *others}
    if shared := sorted(taken & set(settings.names())):
        raise UsageError(
            f"{owner}: its setting {shared[0]!r} has the same name as another setting. Rename it"
        )


def _refuse_unknown(sources: Sequence[Layer], algorithm: type[Algorithm], problem: Problem) -> None:
    """Refuse a name that no setting of the run has."""
    own = problem.Settings.names()
    known = [*GeneralSettings.names(), *algorithm.Settings.names(), *own, *_NAMES]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    unknowns = [(each, key) for each in sources for key in each.values if key not in known]
    if not unknowns:
        return
    layer, key = unknowns[0]
    others = [name for name, kind in PROBLEMS.items() if key in kind.Settings.names()]
    if others:
        kinds = " or ".join(others)
        raise UsageError(
            f"{layer.origin}{key}: is a setting of {kinds}, but {problem.instance} is an"
            f" instance of {problem.name}. Leave it out, or choose an instance of {kinds}"
        )
    what = f"setting of {algorithm.name}" + (f" on {problem.name}" if own else "")
    raise UsageError(f"{layer.origin}{unknown(what, key, known)}")


def _part(values: Mapping[str, Any], group: str, settings: type[Settings]) -> dict[str, Any]:
    """Return the values that belong to `settings`, by short name."""
    dotted = {name: f"{group}.{name}" if group else name for name in settings.names()}
    return {name: values[key] for name, key in dotted.items() if key in values}


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _default_stop(problem: Problem) -> list[str]:
    proven = problem.best_known is not None and problem.best_known.status == "optimal"
    seconds = 20 if problem.instance.startswith("demo/") else 60
    return [*(["optimum"] if proven else []), f"seconds={seconds}"]


def _start_name(name: str, problem: Problem) -> str:
    """Return the full name of a solution's file, which may be next to the instance's file."""
    if problem.path is not None and not Path(name).exists():
        beside = problem.path.parent / name
        if beside.exists():
            return _lasting(str(beside))
    return _lasting(name)


def _lasting(name: str) -> str:
    """Return a name that is valid in any folder: an absolute path, or another name unchanged."""
    if is_reference(name):
        return scripts.lasting(name)
    with reading(name):
        path = Path(name) if Path(name).exists() else parted(Path(name))[0]
        part = Path(name).name.removeprefix(path.name)
        lasting = f"{path.resolve()}{part}" if path.exists() else name
    try:
        lasting.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{lasting!a}: is not UTF-8, which run.toml requires. Rename the file or its folder"
        ) from None
    return lasting
