"""Select the defaults of a run: the first row of the table that agrees with the request."""

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS, Algorithm
from islands.configuration.defaults import searches, sizes_of
from islands.configuration.fit import fitting
from islands.configuration.sizes import GPUS, Case
from islands.configuration.spec import GeneralSettings
from islands.parallel import LARGEST_TEAM, launched
from islands.problems.base import Problem

_CHOSEN_FOR = ("algorithm", "encoding", "improver.name")
"""The settings on which the other defaults of a problem depend."""
_PARTS = ("crossover", "mutation")
"""The parts that are settings of algorithms."""


def defaults_for(
    problem: Problem, given: Mapping[str, Any], seconds: float, *, is_short: bool
) -> tuple[dict[str, Any], str]:
    """Return the default settings, and a message if the algorithm is not the usual one.

    `is_short` is true if the run ends when the search has converged.

    The defaults of a problem are chosen together. If another algorithm, encoding, improver or a
    preset is requested, only the algorithm has a default: the first that supports the request.
    Requested parts determine this algorithm; other settings do not, and are rejected later if it
    does not support them.
    """
    choices = searches(problem, is_short=is_short)
    defaults = _of_problem(problem, choices, given)
    suitable, usual = defaults["algorithm"], choices[0]["algorithm"]
    name, note = given.get("algorithm"), ""
    if name is None and suitable != usual:
        note = f"{suitable}, since the default {usual} does not support these options"
    chosen = ALGORITHMS.get(str(suitable if name is None else name))
    if chosen is None or given.get("preset") is not None:
        return dict(defaults), note
    case = Case(problem, seconds, given, defaults in choices, is_short)
    return _for_all_gpus({**sizes_of(chosen, case), **defaults}, chosen, case), note


def _for_all_gpus(
    defaults: dict[str, Any], algorithm: type[Algorithm], case: Case
) -> dict[str, Any]:
    """Multiply the islands by the number of GPUs, or of teams of GPUs that share islands.

    If the cost is in Python, the number of islands does not depend on GPUs and ranks. With a single
    rank, do not look for GPUs, since detecting them may take a while.
    """
    if case.problem.evaluation.python is not None:
        return defaults
    if launched()[1] == 1 and GPUS not in case.given:
        return defaults
    factor = case.gpus if algorithm.grows_by_islands else -(-case.gpus // LARGEST_TEAM)
    if factor > 1:
        defaults["islands"] = factor * int(defaults.get("islands", GeneralSettings.islands))
    return defaults | {GPUS: case.gpus}


def _of_problem(
    problem: Problem, choices: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the first complete defaults that agree with the request, or only an algorithm."""
    usual = [defaults["algorithm"] for defaults in choices]
    chosen = default_algorithm(usual, given, problem)
    if given.get("algorithm") is None and chosen == usual[0]:
        given, choices = _without_settings(given), choices[:1]
    for defaults in choices if given.get("preset") is None else ():
        agrees = all(given.get(key, defaults.get(key)) == defaults.get(key) for key in _CHOSEN_FOR)
        if agrees and _supports(defaults["algorithm"], problem, given):
            return defaults
    return {"algorithm": chosen}


def default_algorithm(usual: Sequence[str], given: Mapping[str, Any], problem: Problem) -> str:
    """Return the default algorithm for the given encoding, improver, parts and other settings.

    It is the first of the `usual` algorithms if that supports the encoding, improver and parts;
    otherwise, the first that supports all settings, or else the first that supports those three.
    """
    parts = _without_settings(given)
    fallback = _first_supporting(usual, parts, problem) or usual[0]
    if fallback == usual[0]:
        return fallback
    return _first_supporting(usual, given, problem) or fallback


def _first_supporting(
    usual: Sequence[str], given: Mapping[str, Any], problem: Problem
) -> str | None:
    """Return the first algorithm that supports the given settings; try the `usual` ones first."""
    pairs, encoding = fitting(problem), given.get("encoding")
    improves = given.get("improver.name", "none") != "none"
    for name in (*usual, *ALGORITHMS):
        fits = any(pair[0] == name and encoding in (None, pair[1]) for pair in pairs)
        if fits and _supports(name, problem, given) and (ALGORITHMS[name].improves or not improves):
            return name
    return None


def _without_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given settings without those of algorithms, except parts."""
    others = _of_algorithms(given).difference(_PARTS)
    return {name: value for name, value in given.items() if name not in others}


def _of_algorithms(given: Mapping[str, Any]) -> set[str]:
    """Return the names of given settings that belong to an algorithm."""
    return {name for kind in ALGORITHMS.values() for name in kind.Settings.names() if name in given}


def _supports(algorithm: str, problem: Problem, given: Mapping[str, Any]) -> bool:
    """Return whether an algorithm supports the problem and the given settings of algorithms."""
    kind = ALGORITHMS.get(algorithm)
    return (
        kind is not None
        and _of_algorithms(given) <= {*kind.Settings.names()}
        and kind.takes(problem, given)
        and ("decoding" not in given or "keys" in kind.encodings)
    )
