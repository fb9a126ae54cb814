"""The default settings of a problem that agree with what a run requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS, Algorithm
from islands.backends import takes_gpu
from islands.configuration.fit import fitting
from islands.configuration.spec import GeneralSettings
from islands.parallel import launched
from islands.problems.base import Problem

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

    def gpus() -> int:
        return _gpus(given)

    general = chosen.defaults(problem, seconds, gpus)
    sizes = problem.sizes(defaults, gpus) if defaults in choices else {}
    return _filling({**general, **sizes, **defaults}, chosen, given), note


def _gpus(given: Mapping[str, Any]) -> int:
    """Return the number of GPUs for which defaults are chosen; 0 if the run uses CPUs."""
    if not takes_gpu(str(given.get("backend", "auto"))):
        return 0
    return GeneralSettings.converted("gpus", given.get("gpus", 0)) or launched()[1]


def _filling(
    defaults: dict[str, Any], algorithm: type[Algorithm], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults with as many islands for each of several GPUs as for one.

    Whether a run uses GPUs may take a while to find out, and is not asked for a single rank.
    """
    if launched()[1] == 1 and "gpus" not in given:
        return defaults
    gpus = _gpus(given)
    if gpus and algorithm.grows_by_islands:
        defaults["islands"] = gpus * int(defaults.get("islands", GeneralSettings.islands))
    return defaults | {"gpus": gpus}


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
