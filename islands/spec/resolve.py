"""From what a user asked for to a `RunSpec`: defaults < preset < configuration file < options."""

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
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.settings import Settings
from islands.spec.fit import encoding_for, require_improver
from islands.spec.given import ALIASES, gathered, of_table
from islands.spec.own import CHOICES, traits
from islands.spec.presets import PRESETS, preset_file
from islands.spec.spec import GROUPS, GeneralSettings, RunSpec
from islands.spec.stop import parse, require_known
from islands.spec.suited import suited
from islands.text import option, unknown
from islands.untrusted import read_toml

DEFAULT_INSTANCE = "demo/tsp"

_NAMES = ("instance", "format", "preset", "algorithm", "encoding", "stop", "start")


@dataclass(frozen=True)
class Layer:
    """Settings from one place, by their names; `origin` is what its errors begin with."""

    origin: str
    values: Mapping[str, Any]


def layers(options: Mapping[str, Any], config: Path | None = None) -> list[Layer]:
    """Return the layers of a run, the weakest first; a preset may be named by either."""
    asked = [Layer("", gathered(of_table(options)))]
    if config is not None:
        asked.insert(0, Layer(f"{config}: ", _read(config)))
    preset = _strongest(asked, "preset", None)
    if preset is None:
        return _named(asked)
    if preset not in PRESETS:
        raise UsageError(unknown("preset", str(preset), PRESETS))
    layer = Layer(f"preset {preset}: ", _read(preset_file(preset)))
    if config is not None and "preset" in asked[-1].values:
        _refuse_hidden(preset, layer, config, *asked)
    return _named([layer, *asked])


def _named(asked: Sequence[Layer]) -> list[Layer]:
    """Return the layers with names for the parts of scripts, of which only the strongest count."""
    named, stronger = list[Layer](), set[str]()
    for layer in reversed(asked):
        parts = {key: value for key, value in layer.values.items() if key in CHOICES}
        hidden = {key for key in stronger & parts.keys() if is_reference(parts[key])}
        names = {key: CHOICES[key].named(parts[key]) for key in parts.keys() - hidden}
        kept = {key: value for key, value in layer.values.items() if key not in hidden}
        named.insert(0, Layer(layer.origin, kept | names))
        stronger |= parts.keys()
    return named


def instance_of(asked: Sequence[Layer]) -> str:
    """Return the name of the instance that the layers ask for."""
    return str(_strongest(asked, "instance", DEFAULT_INSTANCE))


def format_of(asked: Sequence[Layer]) -> str | None:
    """Return the format of the instance's file, or None where it is to be recognised."""
    form = _strongest(asked, "format", None)
    return None if form is None else str(form)


def resolve(asked: Sequence[Layer], problem: Problem) -> RunSpec:
    """Return the complete run; refuse what is unknown, out of range or does not fit."""
    own, asked = asked, _upon_defaults(asked, problem)
    name = str(_strongest(asked, "algorithm", None))
    _refuse_clash(asked, name)
    encoding = _strongest(asked, "encoding", None)
    encoding = encoding_for(name, None if encoding is None else str(encoding), problem)
    algorithm = ALGORITHMS[name]
    _refuse_shared(f"algorithm {name}", algorithm.Settings, problem.Settings.names())
    _refuse_shared(f"problem {problem.name}", problem.Settings)
    for layer in asked:
        _refuse_unknown(layer, algorithm, problem)
    values = _merged(asked, algorithm.Settings, problem.Settings)
    if _is_true(values.get("halo")) and _strongest(own, "migration.topology", None) is None:
        values["migration.topology"] = "none"  # slices of one population do not migrate
    # An empty list would let the run go on for ever.
    criteria = _listed(values.get("stop", [])) or _default_stop(problem)
    stop = tuple(parse(text) for text in criteria)
    require_known(stop, problem.instance, problem.best_known)
    groups: dict[str, Any] = {
        name: group.build(_part(values, name, group), name) for name, group in GROUPS.items()
    }
    set_so = problem.Settings.build(_part(values, "", problem.Settings))
    require_improver(groups["improver"], problem.adjusted(set_so))
    spec = RunSpec(
        instance=_lasting(instance_of(asked)),
        format=format_of(asked),
        preset=values.get("preset"),
        algorithm=algorithm.name,
        encoding=encoding,
        stop=stop,
        start=tuple(_beside(path, problem) for path in _listed(values.get("start", []))),
        general=_general(_part(values, "", GeneralSettings), algorithm),
        settings=algorithm.completed(
            algorithm.Settings.build(_part(values, "", algorithm.Settings)), moved_as(encoding)
        ),
        problem=set_so,
        **groups,
    )
    traits(spec.to_mapping(), problem)  # which may contradict each other
    return suited(spec, problem.adjusted(set_so), _fixed(own), asked[1].values)


def _fixed(asked: Sequence[Layer]) -> set[str]:
    """Return the settings that are to stay as they are; a preset's improver leaves none."""
    by = next((layer for layer in reversed(asked) if "improver.name" in layer.values), None)
    if by is not None and by.origin.startswith("preset "):
        return {"population", *(f"improver.{name}" for name in ImproverSettings.names())}
    return {name for layer in asked for name in layer.values}


def _merged(asked: Sequence[Layer], *groups: type[Settings]) -> dict[str, Any]:
    """Return the strongest values; weaker ones of groups give way that mean nothing beside them."""
    values: dict[str, Any] = {}
    strength: dict[str, int] = {}
    for place, layer in enumerate(asked):
        values |= layer.values
        strength |= dict.fromkeys(layer.values, place)
    idle = {name for group in groups for name in group.idle(values, strength)}
    return {name: value for name, value in values.items() if name not in idle}


def _general(values: Mapping[str, Any], algorithm: type[Algorithm]) -> GeneralSettings:
    """Return the general settings, with what is usual for the algorithm."""
    general = GeneralSettings.build(values)
    usual = next(iter(algorithm.decodings), "")
    return general if general.decoding or not usual else general.replace({"decoding": usual})


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "yes", "on", "1")


def _upon_defaults(asked: Sequence[Layer], problem: Problem) -> list[Layer]:
    """Return the layers upon what the problem was made with, and its defaults.

    The defaults make sense only all together.
    """
    own = Layer(f"{problem.instance}: ", problem.settings.to_mapping())
    settings = _part(_merged([own, *asked], problem.Settings), "", problem.Settings)
    defaults = problem.adjusted(problem.Settings.build(settings)).defaults()
    parts = ("algorithm", "encoding", "improver.name")
    usual = {name: defaults.get(name) for name in parts}
    is_usual = all(_strongest(asked, name, value) == value for name, value in usual.items())
    if not is_usual or _strongest(asked, "preset", None) is not None:
        defaults = {"algorithm": defaults["algorithm"]}
    return [own, Layer(f"defaults of {problem.name}: ", defaults), *asked]


def _read(path: Path) -> dict[str, Any]:
    try:
        return gathered(of_table(read_toml(path)))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _strongest(asked: Sequence[Layer], name: str, default: Any) -> Any:
    return next((layer.values[name] for layer in reversed(asked) if name in layer.values), default)


def _refuse_hidden(preset: str, layer: Layer, config: Path, file: Layer, options: Layer) -> None:
    """Refuse a preset that is asked for beside a file which would take its place unseen."""
    hidden = [
        key
        for key, value in layer.values.items()
        if key not in options.values and file.values.get(key, value) != value
    ]
    if hidden:
        raise UsageError(
            f"{option('preset', preset)} beside {option('config', config)}: the file sets"
            f" {', '.join(hidden)} too, and otherwise. Leave one of them out, or write"
            f" preset = {preset!r} into the file"
        )


def _refuse_clash(asked: Sequence[Layer], algorithm: str) -> None:
    """Refuse a preset of another algorithm than the one that is asked for."""
    for layer in asked:
        own = layer.values.get("algorithm", algorithm)
        if layer.origin.startswith("preset ") and own != algorithm:
            raise UsageError(
                f"{layer.origin}its settings are those of {own}, but"
                f" {option('algorithm', algorithm)} was asked for. Leave one of them out"
            )


def _refuse_shared(owner: str, settings: type[Settings], others: Collection[str] = ()) -> None:
    """Refuse a name of a setting that means another one, too."""
    taken = {*GeneralSettings.names(), *_NAMES, *GROUPS, *ALIASES, *others}
    if shared := sorted(taken & set(settings.names())):
        raise UsageError(
            f"{owner}: its setting {shared[0]!r} has the name of another one. Give it another"
        )


def _refuse_unknown(layer: Layer, algorithm: type[Algorithm], problem: Problem) -> None:
    own = problem.Settings.names()
    known = [*GeneralSettings.names(), *algorithm.Settings.names(), *own, *_NAMES]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    for key in layer.values:
        if key in known:
            continue
        others = [name for name, kind in PROBLEMS.items() if key in kind.Settings.names()]
        if others:
            kinds = " or ".join(others)
            raise UsageError(
                f"{layer.origin}{key}: is a setting of {kinds}, but {problem.instance} is of the"
                f" kind {problem.name}. Leave it out, or name an instance of {kinds}"
            )
        what = f"setting of {algorithm.name}" + (f" on {problem.name}" if own else "")
        raise UsageError(f"{layer.origin}{unknown(what, key, known)}")


def _part(values: Mapping[str, Any], group: str, settings: type[Settings]) -> dict[str, Any]:
    """Return the values that belong to `settings`, by their short names."""
    dotted = {name: f"{group}.{name}" if group else name for name in settings.names()}
    return {name: values[key] for name, key in dotted.items() if key in values}


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _default_stop(problem: Problem) -> list[str]:
    proven = problem.best_known is not None and problem.best_known.status == "optimal"
    seconds = 20 if problem.instance.startswith("demo/") else 60
    return [*(["optimum"] if proven else []), f"seconds={seconds}"]


def _beside(name: str, problem: Problem) -> str:
    """Return the lasting name of a solution's file, which may lie beside the instance's."""
    if problem.path is not None and not Path(name).exists():
        beside = problem.path.parent / name
        if beside.exists():
            return _lasting(str(beside))
    return _lasting(name)


def _lasting(name: str) -> str:
    """Return a name that means the same in any folder: a path in full, other names as they are."""
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
            f"{lasting!a}: is not UTF-8, as run.toml has to be. Rename the file or its folder"
        ) from None
    return lasting
