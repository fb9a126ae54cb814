"""Problems made from data in a script, as arrays that are stored with a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.instances.catalogue import BestKnown
from islands.instances.mkp import MkpFile
from islands.instances.qaplib import QapFile
from islands.instances.tsplib import TspFile
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp

Arrays = dict[str, NDArray[Any]]

FACTS = "facts"


def saved(problem: Problem) -> Arrays:
    """Return the arrays from which `restored` makes a problem; empty if it has a file."""
    if problem.path is not None or type(problem) not in _ARRAYS:
        return problem.saved()
    best = problem.best_known
    facts = {
        "kind": problem.name,
        "name": problem.instance,
        "best_known": None if best is None else best.value,
    }
    return {FACTS: packed(facts), **_ARRAYS[type(problem)](problem)}


def restored(arrays: Mapping[str, NDArray[Any]]) -> Problem | None:
    """Return the problem that these arrays describe; None if they are of another kind."""
    facts = json.loads(arrays[FACTS].tobytes())
    if facts.get("kind") not in _MAKERS:
        return None
    best = facts["best_known"]
    known = None if best is None else BestKnown(best, "best_known", "the script")
    return _MAKERS[facts["kind"]](arrays, str(facts["name"]), known)


def packed(facts: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Return facts as an array of bytes."""
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)


def _of_tsp(tsp: Tsp) -> Arrays:
    file = tsp.file
    metric = {"metric": packed({"metric": file.metric})}
    if file.coordinates is not None:
        return metric | {"coordinates": file.coordinates}
    assert file.matrix is not None
    return metric | {"matrix": file.matrix}


def _tsp(arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None) -> Tsp:
    metric = str(json.loads(arrays["metric"].tobytes())["metric"])
    coordinates, matrix = arrays.get("coordinates"), arrays.get("matrix")
    size = len(next(each for each in (coordinates, matrix) if each is not None))
    return Tsp(TspFile(name, None, size, metric, coordinates, matrix), name, best)


def _of_qap(qap: Qap) -> Arrays:
    linear = {} if qap.file.linear is None else {"linear": qap.file.linear}
    return {"a": qap.file.a, "b": qap.file.b, **linear}


def _qap(arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None) -> Qap:
    a, b = arrays["a"], arrays["b"]
    linear = arrays.get("linear")
    return Qap(QapFile(name, None, len(a), a, b, linear=linear), name, best)


def _mkp(arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None) -> Mkp:
    file = MkpFile(name, None, arrays["profits"], arrays["weights"], arrays["capacities"])
    return Mkp(file, name, best)


_ARRAYS: dict[type, Callable[[Any], Arrays]] = {
    Tsp: _of_tsp,
    Qap: _of_qap,
    Mkp: lambda mkp: {
        "profits": mkp.file.profits,
        "weights": mkp.file.weights,
        "capacities": mkp.file.capacities,
    },
}
_MAKERS: dict[str, Callable[[Mapping[str, NDArray[Any]], str, BestKnown | None], Problem]] = {
    "tsp": _tsp,
    "qap": _qap,
    "mkp": _mkp,
}
