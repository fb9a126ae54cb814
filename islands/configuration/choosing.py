"""Which defaults a run has: those of the table that agree with what a user has set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS, Algorithm
from islands.configuration.defaults import searches, sizes
from islands.configuration.fit import fitting
from islands.configuration.sizes import GPUS, Case
from islands.configuration.spec import GeneralSettings
from islands.parallel import LARGEST_TEAM, launched
from islands.problems.base import Problem

_CHOSEN_FOR = ("algorithm", "encoding", "improver.name")
"""The parts for which a problem's defaults were chosen."""
_PARTS = ("crossover", "mutation")
"""The parts that are settings of algorithms."""


def defaults_for(
    problem: Problem, given: Mapping[str, Any], seconds: float, *, is_short: bool
) -> tuple[dict[str, Any], str]:
    """Return default settings by name for a time limit, and a message about another algorithm.

    A run `is_short` if it ends when it has converged.

    Those of a problem only make sense together: with another given algorithm, encoding or improver,
    or a preset, only the default algorithm is used, or another one that takes the request. Parts
    choose the algorithm, other settings do not: those that it lacks are refused later.
    """
    choices = searches(problem, is_short=is_short)
    defaults = _of_problem(problem, choices, given)
    own, usual = defaults["algorithm"], choices[0]["algorithm"]
    name, note = given.get("algorithm"), ""
    if name is None and own != usual:
        note = f"{own}, since the default {usual} does not take these options"
    chosen = ALGORITHMS.get(str(own if name is None else name))
    if chosen is None or given.get("preset") is not None:
        return dict(defaults), note
    case = Case(problem, seconds, given, defaults in choices, is_short)
    return _filling({**sizes(chosen, case), **defaults}, chosen, case), note


def _filling(defaults: dict[str, Any], algorithm: type[Algorithm], case: Case) -> dict[str, Any]:
    """Return the defaults with the islands of one GPU for each.

    Where GPUs share islands, it is for every eight.

    Whether a run uses GPUs may take a while to find out, and is not asked for a single rank.
    """
    if launched()[1] == 1 and GPUS not in case.given:
        return defaults
    having = case.gpus if algorithm.grows_by_islands else -(-case.gpus // LARGEST_TEAM)
    if having > 1:
        defaults["islands"] = having * int(defaults.get("islands", GeneralSettings.islands))
    return defaults | {GPUS: case.gpus}


def _of_problem(
    problem: Problem, choices: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the first complete defaults that agree with the request, or a default algorithm."""
    usual = [defaults["algorithm"] for defaults in choices]
    chosen = stand_in(usual, given, problem)
    if given.get("algorithm") is None and chosen == usual[0]:
        given, choices = _without_settings(given), choices[:1]
    for defaults in choices if given.get("preset") is None else ():
        agrees = all(given.get(key, defaults.get(key)) == defaults.get(key) for key in _CHOSEN_FOR)
        if agrees and _is_able(defaults["algorithm"], problem, given):
            return defaults
    return {"algorithm": chosen}


def stand_in(usual: Sequence[str], given: Mapping[str, Any], problem: Problem) -> str:
    """Return the default algorithm for the given encoding, improver, parts and other settings.

    It is the first of the usual ones unless another one is needed: then the first that takes all
    of them, or all but the algorithm's own settings, which are refused later.
    """
    parts = _without_settings(given)
    of_parts = _first_taking(usual, parts, problem) or usual[0]
    if of_parts == usual[0]:
        return of_parts
    return _first_taking(usual, given, problem) or of_parts


def _first_taking(usual: Sequence[str], given: Mapping[str, Any], problem: Problem) -> str | None:
    """Return the first algorithm that takes what is given, the usual ones before all others."""
    pairs, encoding = fitting(problem), given.get("encoding")
    improves = given.get("improver.name", "none") != "none"
    for name in (*usual, *ALGORITHMS):
        takes = any(pair[0] == name and encoding in (None, pair[1]) for pair in pairs)
        if takes and _is_able(name, problem, given) and (ALGORITHMS[name].improves or not improves):
            return name
    return None


def _without_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what chooses an algorithm: all but its own settings, of which only parts do."""
    others = _own_settings(given).difference(_PARTS)
    return {name: value for name, value in given.items() if name not in others}


def _own_settings(given: Mapping[str, Any]) -> set[str]:
    """Return the given settings that belong to algorithms."""
    return {name for each in ALGORITHMS.values() for name in each.Settings.names() if name in given}


def _is_able(algorithm: str, problem: Problem, given: Mapping[str, Any]) -> bool:
    """Return whether an algorithm has all given settings that belong to algorithms."""
    kind = ALGORITHMS.get(algorithm)
    return (
        kind is not None
        and _own_settings(given) <= {*kind.Settings.names()}
        and kind.takes(problem, given)
        and ("decoding" not in given or "keys" in kind.encodings)
    )
