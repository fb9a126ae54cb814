"""The identity of a run, and the check that all ranks have resolved the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from islands.configuration.own import traits
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.parallel import World, differences
from islands.problems.base import Problem
from islands.text import option

_OWN = ("backend", "threads")
"""Settings that may differ between ranks, as the result does not depend on them."""
_CHANGING = ("stop", "checkpoint", "instance", "format", "start", "bound")
"""Settings that may change when a run is resumed; files may have moved."""


def require_agreement(
    world: World,
    spec: RunSpec,
    problem: Problem,
    *,
    writes: bool,
    folder: Path | None = None,
    asynchronous: bool = False,
) -> None:
    """Refuse ranks whose settings, instance data or folder differ from rank 0; collective."""
    if world.size == 1:
        return
    known = problem.best_known
    found = differences(
        world,
        {
            "the settings": {k: v for k, v in spec.to_mapping().items() if k not in _OWN},
            "the settings adjusted to the backend": spec.adjusted.encode(),
            "the data of the instance": _digest_of_data(problem).encode(),
            "the best known cost": "none" if known is None else f"{known.value} {known.status}",
            "the parts from scripts": _digest(_parts(spec.to_mapping(), problem)).encode(),
            "whether files are written": writes,
            "the folder of the files": "a new one" if folder is None else str(folder),
            option("async"): asynchronous,
        },
    )
    # All ranks have found the same, so all raise the same error.
    world.run_on_all(lambda: _refuse(found))


def identity(spec: RunSpec, problem: Problem) -> str:
    """Return a digest of all that a run's states depend on; runs with equal ones can resume."""
    settings = spec.to_mapping()
    parts = _parts(settings, problem)
    return _digest({"settings": fixed(settings), "data": _digest_of_data(problem), "parts": parts})


def fixed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that belong to the identity of a run."""
    return {k: v for k, v in settings.items() if k not in _OWN and k not in _CHANGING}


def _refuse(found: str) -> None:
    if found:
        raise UsageError(
            f"{found}. Start all ranks with the same options, and make"
            f" sure that {option('config')}, ISLANDS_INSTANCES and the cache have the same files on"
            " every host, and that scripts seed their random generators"
        )


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _parts(settings: Mapping[str, Any], problem: Problem) -> dict[str, str]:
    return {f"{each.part} {each.file}": each.sha256 for each in traits(settings, problem)}


def _digest_of_data(problem: Problem) -> str:
    digest = hashlib.sha256(f"{problem.name} {problem.size} {problem.defines()}".encode())
    for array in problem.arrays():
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
