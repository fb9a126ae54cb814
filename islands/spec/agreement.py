"""Which run this is, and whether all ranks, each of which has resolved it, make the same one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from islands.errors import UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.spec.own import traits
from islands.spec.spec import RunSpec
from islands.text import option

_OWN = ("backend", "threads")
"""What may differ from rank to rank, as the result does not depend on it."""
_CHANGING = ("stop", "checkpoint", "instance", "format", "start")
"""What may differ from one start of a run to the next; files may have moved."""


def require_agreement(world: World, spec: RunSpec, problem: Problem, *, writes: bool) -> None:
    """Refuse ranks that differ from rank 0 in settings or in the instance's data; collective."""
    if world.size == 1:
        return
    facts = world.allgather(
        {
            "the settings": _digest_of_settings(spec),
            "what was adjusted to the backend": spec.adjusted,
            "the data of the instance": _digest_of_data(problem),
            "the parts that a script brings": _digest(_parts(spec, problem)),
            "whether files are written": str(writes),
        }
    )
    # All ranks know the same, so all raise the same.
    world.agreed(lambda: _refuse_differences(facts))


def identity(spec: RunSpec, problem: Problem) -> str:
    """Return a digest of all that the states of a run depend on: equal ones go on from another."""
    lasting = {k: v for k, v in spec.to_mapping().items() if k not in _OWN and k not in _CHANGING}
    parts = _parts(spec, problem)
    return _digest({"settings": lasting, "data": _digest_of_data(problem), "parts": parts})


def _refuse_differences(facts: list[dict[str, str]]) -> None:
    differing = [rank for rank, fact in enumerate(facts) if fact != facts[0]]
    if not differing:
        return
    what = [name for name in facts[0] if any(fact[name] != facts[0][name] for fact in facts)]
    ranks = ", ".join(str(rank) for rank in differing[:8]) + (" ..." if differing[8:] else "")
    raise UsageError(
        f"rank{'s' if differing[1:] else ''} {ranks} of {len(facts)} would make another run than"
        f" rank 0: {' and '.join(what)} differ. Start all ranks with the same options, and let"
        f" {option('config')}, ISLANDS_INSTANCES and the cache hold the same files on every host"
    )


def _digest_of_settings(spec: RunSpec) -> str:
    return _digest({k: v for k, v in spec.to_mapping().items() if k not in _OWN})


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _parts(spec: RunSpec, problem: Problem) -> dict[str, str]:
    found = traits(spec.to_mapping(), problem)
    return {f"{each.part} {each.file}": each.sha256 for each in found}


def _digest_of_data(problem: Problem) -> str:
    digest = hashlib.sha256(f"{problem.name} {problem.size} {problem.defines()}".encode())
    for array in problem.arrays():
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
