"""The default settings of a problem that agree with what a run requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.backends import takes_gpu
from islands.problems.base import Problem
from islands.spec.fit import fitting

_PARTS = ("algorithm", "encoding", "improver.name")
"""The parts for which a problem's defaults were chosen."""


def defaults_for(
    problem: Problem, given: Mapping[str, Any], seconds: float
) -> tuple[dict[str, Any], str]:
    """Return default settings by name for a time limit, and a message about another algorithm.

    Those of a problem only make sense together: with another given algorithm, encoding or improver,
    or a preset, only the default algorithm is used, or another one that takes the request.
    """
    choices = [problem.defaults(), *problem.other_defaults()]
    defaults = _of_problem(problem, choices, given)
    own, usual = defaults["algorithm"], choices[0]["algorithm"]
    name, note = given.get("algorithm"), ""
    if name is None and own != usual:
        note = f"{own}, since the default {usual} does not take these options"
    chosen = ALGORITHMS.get(str(own if name is None else name))
    if chosen is None or given.get("preset") is not None:
        return dict(defaults), note
    backend = str(given.get("backend", "auto"))

    def on_gpu() -> bool:
        return takes_gpu(backend)

    general = chosen.defaults(problem, seconds, on_gpu)
    sizes = problem.sizes(defaults, on_gpu) if defaults in choices else {}
    return {**general, **sizes, **defaults}, note


def _of_problem(
    problem: Problem, choices: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the first complete defaults that agree with the request, or a default algorithm."""
    for defaults in choices if given.get("preset") is None else ():
        agrees = all(given.get(key, defaults.get(key)) == defaults.get(key) for key in _PARTS)
        if agrees and _is_able(defaults["algorithm"], given):
            return defaults
    usual = [defaults["algorithm"] for defaults in choices]
    return {"algorithm": stand_in(usual, given, problem)}


def stand_in(usual: Sequence[str], given: Mapping[str, Any], problem: Problem) -> str:
    """Return the first algorithm that takes the given encoding, improver and other settings.

    The usual ones come first; if none takes them, return the first of these.
    """
    pairs, encoding = fitting(problem), given.get("encoding")
    improves = given.get("improver.name", "none") != "none"
    for name in (*usual, *ALGORITHMS):
        takes = any(pair[0] == name and encoding in (None, pair[1]) for pair in pairs)
        if takes and _is_able(name, given) and (ALGORITHMS[name].improves or not improves):
            return name
    return usual[0]


def _is_able(algorithm: str, given: Mapping[str, Any]) -> bool:
    """Return whether an algorithm has all given settings that belong to algorithms."""
    kind = ALGORITHMS.get(algorithm)
    own = {key for each in ALGORITHMS.values() for key in each.Settings.names()}.intersection(given)
    return (
        kind is not None
        and own <= {*kind.Settings.names()}
        and kind.takes(given)
        and ("decoding" not in given or "keys" in kind.encodings)
    )
