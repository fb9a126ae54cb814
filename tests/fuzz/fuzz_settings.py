"""Complete settings files of all algorithms, damaged, and all steps of a run before it compiles."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fuzz_cases import Target
from fuzz_toml import changed_settings
from models_for_tests import model_of
from recorded_launches import Recorder

import islands
from islands.algorithms import ALGORITHMS
from islands.cells.series import PlannedRun
from islands.configuration.fit import fitting, require_shared_memory
from islands.configuration.identity import identity
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.display.messages import opening
from islands.engine.build import islands_of, read_start
from islands.engine.loading import resolve_stored, stored_request
from islands.errors import UsageError
from islands.improvers import improvers_for
from islands.parallel import World
from islands.presets import PRESETS
from islands.problems import load
from islands.problems.base import Problem
from islands.record.inputs import require_intact, store_problem, trust_folder
from islands.record.records import kinds_of

_DEMOS = ("demo/tsp", "demo/qap", "demo/mkp")
_FREE = 32 << 20  # bytes for islands: what needs more is rejected
_BLOCK = 48 << 10
_SEALED = b"# SHA-256 of the lines above: "
_FEW: dict[str, Any] = {"islands": 3, "population": 24, "stop": ["seconds=9", "generations=7"]}
_COLONIES = [{"islands": 1, "algorithm": "ga"}, {"islands": 2, "algorithm": "brkga", "rate": 2}]


def complete_settings(folder: Path) -> list[Target]:
    """Return the readers of complete settings: of a configuration, and of a stored run."""
    whole = tuple(dict.fromkeys(text.encode() for text in _texts()))
    stored = folder / "stored"
    stored.mkdir()
    own = folder / "own"
    own.mkdir()
    problem = model_of("real", "cost")
    store_problem(own, problem)
    texts = [_text(problem, algorithm=name) for name in ("de", "pso", "ga")]
    return [
        Target("settings", "whole.toml", whole, _configured, changed_settings),
        Target("stored settings", "stored/run.toml", whole, _resumed, changed_settings),
        Target(
            "settings of a stored problem",
            "own/run.toml",
            tuple(text.encode() for text in texts),
            _resumed,
            changed_settings,
        ),
    ]


def _texts() -> Iterator[str]:
    """Yield the settings of runs with each algorithm, encoding, improver and preset."""
    for name in _DEMOS:
        problem = load(name)
        for algorithm, encoding in fitting(problem):
            of_kind = improvers_for(problem.solution_kind)
            for improver in of_kind if ALGORITHMS[algorithm].improves else ("none",):
                try:
                    yield _text(problem, algorithm=algorithm, encoding=encoding, improver=improver)
                except UsageError:
                    continue
        for preset in PRESETS:
            try:
                yield _text(problem, preset=preset)
            except UsageError:
                continue
        for options in ({"stop": "seconds=9"}, {"colonies": _COLONIES}):
            yield resolve(Request.of({"instance": name} | options), problem).spec.to_toml()
    halo = {"algorithm": "cellular", "halo": True, "migration": "none"}
    yield _text(load("demo/tsp"), **halo)


def _text(problem: Problem, **options: Any) -> str:
    return resolve(
        Request.of(_FEW | {"instance": problem.instance} | options), problem
    ).spec.to_toml()


def _configured(path: Path) -> object:
    request = Request.of({}, path)
    return _prepared(resolve(request, _loaded(request.instance, request.format)))


def _resumed(path: Path) -> object:
    """Resume a run whose settings have the right checksum, or none."""
    lines = path.read_bytes()
    if len(lines) % 2:
        seal = hashlib.sha256(lines).hexdigest().encode()
        path.write_bytes(lines + _SEALED + seal + b"\n")
    require_intact(path.parent)
    trust_folder(path.parent)
    return _prepared(resolve_stored(path.parent, stored_request(path.parent, Request())))


def _loaded(name: str, form: str | None) -> Problem:
    return _demo(name) if name in _DEMOS and form is None else load(name, form)


_demo = cache(load)


def _prepared(resolved: Resolved) -> None:
    """Do what a run does before it compiles."""
    spec, problem = resolved.spec, resolved.problem
    again = spec.to_toml()
    same = resolve(Request.of(_read(again)), problem).spec.to_toml()
    assert same == again, "it does not read its own"
    identity(resolved)
    require_shared_memory(resolved, lambda: _BLOCK)
    PlannedRun(spec, problem).folder  # noqa: B018
    read_start(resolved)
    opening(islands.__version__, resolved, resolved.deal(1))
    visits = spec.visits
    visits.include(visits.after(visits.after(0)))
    kinds_of(spec)
    backend = Recorder()
    backend.free = _FREE
    islands_of(resolved, World(), backend)


def _read(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)
