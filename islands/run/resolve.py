"""From what a user asked for to a `RunSpec`: defaults < preset < configuration file < options."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.encodings import ENCODINGS
from islands.errors import InputError, UsageError
from islands.problems.base import Problem
from islands.run.spec import GROUPS, GeneralSettings, RunSpec
from islands.run.stop import Criterion, parse, require_known
from islands.settings import Settings
from islands.text import unknown

PRESETS = ("xavier2019",)
"""The files of `islands/presets`."""

DEFAULT_INSTANCE = "demo/tsp"
DEFAULT_ALGORITHM = {"tsp": "brkga"}

_ALIASES = {
    "migration": "migration.topology",
    "interval": "migration.interval",
    "migrants": "migration.migrants",
}
_NAMES = ("instance", "preset", "algorithm", "encoding", "stop", "start")


@dataclass(frozen=True)
class Layer:
    """Settings from one place, by their names; `origin` is what its errors begin with."""

    origin: str
    values: Mapping[str, Any]


def layers(options: Mapping[str, Any], config: Path | None = None) -> list[Layer]:
    """Return the layers of a run, the weakest first; a preset may be named by either."""
    asked = [Layer("", _flat(options))]
    if config is not None:
        asked.insert(0, Layer(f"{config}: ", _read(config)))
    preset = _strongest(asked, "preset", None)
    if preset is None:
        return asked
    if preset not in PRESETS:
        raise UsageError(unknown("preset", str(preset), PRESETS))
    folder = Path(__file__).parents[1] / "presets"
    return [Layer(f"preset {preset}: ", _read(folder / f"{preset}.toml")), *asked]


def instance_of(asked: Sequence[Layer]) -> str:
    """Return the name of the instance that the layers ask for."""
    return str(_strongest(asked, "instance", DEFAULT_INSTANCE))


def resolve(asked: Sequence[Layer], problem: Problem) -> RunSpec:
    """Return the complete run; refuse what is unknown, out of range or does not fit."""
    algorithm = _algorithm(asked, problem)
    encoding = _encoding(asked, algorithm)
    values: dict[str, Any] = {}
    for layer in asked:
        _refuse_unknown(layer, algorithm)
        values |= layer.values
    stop = _criteria(values.get("stop", _default_stop(problem)))
    require_known(stop, problem.instance, problem.best_known)
    groups: dict[str, Any] = {
        name: group.build(_part(values, name, group)) for name, group in GROUPS.items()
    }
    return RunSpec(
        instance=_lasting(instance_of(asked)),
        preset=values.get("preset"),
        algorithm=algorithm.name,
        encoding=encoding,
        stop=stop,
        start=tuple(_lasting(path) for path in _listed(values.get("start", []))),
        general=GeneralSettings.build(_part(values, "", GeneralSettings)),
        settings=algorithm.Settings.build(_part(values, "", algorithm.Settings)),
        **groups,
    )


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with its tables' keys dotted, and each setting under its full name."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            flat[_ALIASES.get(key, key)] = value
    return flat


def _read(path: Path) -> dict[str, Any]:
    try:
        return _flat(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}. Name a TOML file, such as run.toml") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error


def _strongest(asked: Sequence[Layer], name: str, default: Any) -> Any:
    return next((layer.values[name] for layer in reversed(asked) if name in layer.values), default)


def _algorithm(asked: Sequence[Layer], problem: Problem) -> type[Algorithm]:
    name = str(_strongest(asked, "algorithm", DEFAULT_ALGORITHM[problem.name]))
    if name not in ALGORITHMS:
        raise UsageError(unknown("algorithm", name, ALGORITHMS))
    return ALGORITHMS[name]


def _encoding(asked: Sequence[Layer], algorithm: type[Algorithm]) -> str:
    name = str(_strongest(asked, "encoding", algorithm.encodings[0]))
    if name not in ENCODINGS:
        raise UsageError(unknown("encoding", name, ENCODINGS))
    if name not in algorithm.encodings:
        others = [other for other, known in ALGORITHMS.items() if name in known.encodings]
        use = f", or use --algorithm {' or '.join(others)}" if others else ""
        raise UsageError(
            f"{algorithm.name} moves {' or '.join(algorithm.encodings)} only, but --encoding {name}"
            f" was asked for. Leave --encoding out{use}"
        )
    return name


def _refuse_unknown(layer: Layer, algorithm: type[Algorithm]) -> None:
    known = [*GeneralSettings.names(), *algorithm.Settings.names(), *_NAMES]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    for key in layer.values:
        if key not in known:
            what = f"setting of {algorithm.name}"
            raise UsageError(f"{layer.origin}{unknown(what, key, known)}")


def _part(values: Mapping[str, Any], group: str, settings: type[Settings]) -> dict[str, Any]:
    """Return the values that belong to `settings`, by their short names."""
    dotted = {name: f"{group}.{name}" if group else name for name in settings.names()}
    return {name: values[key] for name, key in dotted.items() if key in values}


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _criteria(value: Any) -> tuple[Criterion, ...]:
    return tuple(parse(text) for text in _listed(value))


def _default_stop(problem: Problem) -> list[str]:
    proven = problem.best_known is not None and problem.best_known.status == "optimal"
    seconds = 20 if problem.instance.startswith("demo/") else 60
    return [*(["optimum"] if proven else []), f"seconds={seconds}"]


def _lasting(name: str) -> str:
    """Return a name that means the same in any folder: a path in full, other names as they are."""
    return str(Path(name).resolve()) if Path(name).exists() else name
