"""The default settings of a problem that agree with what a run requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.backends import takes_gpu
from islands.problems.base import Problem
from islands.spec.fit import fitting
from islands.spec.layers import Layer, strongest

_PARTS = ("algorithm", "encoding", "improver.name")
"""The parts for which a problem's defaults were chosen."""


def defaults_for(
    problem: Problem, sources: Sequence[Layer], seconds: float
) -> tuple[dict[str, Any], str]:
    """Return default settings by name for a time limit, and a message about another algorithm.

    Those of a problem only make sense together: with another algorithm, encoding or improver, or
    with a preset, only the default algorithm is used, or another one that takes the request.
    """
    choices = [problem.defaults(), *problem.other_defaults()]
    is_preset = strongest(sources, "preset", None) is not None
    defaults = _of_problem(problem, choices, sources, is_preset=is_preset)
    own, usual = defaults["algorithm"], choices[0]["algorithm"]
    name, note = strongest(sources, "algorithm", None), ""
    if name is None and own != usual:
        note = f"{own}, since the default {usual} does not take these options"
    chosen = ALGORITHMS.get(str(own if name is None else name))
    if chosen is None or is_preset:
        return dict(defaults), note
    backend = str(strongest(sources, "backend", "auto"))

    def on_gpu() -> bool:
        return takes_gpu(backend)

    general = chosen.defaults(problem, seconds, on_gpu)
    sizes = problem.sizes(defaults, on_gpu) if defaults in choices else {}
    return {**general, **sizes, **defaults}, note


def _of_problem(
    problem: Problem,
    choices: Sequence[Mapping[str, Any]],
    sources: Sequence[Layer],
    *,
    is_preset: bool,
) -> Mapping[str, Any]:
    """Return the first complete defaults that agree with the request, or a default algorithm."""
    given = {key: value for layer in sources for key, value in layer.values.items()}
    able = _able(given)
    for defaults in choices if not is_preset else ():
        parts = {key: defaults.get(key) for key in _PARTS}
        agrees = all(strongest(sources, key, value) == value for key, value in parts.items())
        if agrees and defaults["algorithm"] in able:
            return defaults
    encoding = strongest(sources, "encoding", None)
    improver = strongest(sources, "improver.name", "none")
    usual = [defaults["algorithm"] for defaults in choices]
    return {"algorithm": stand_in(usual, encoding, improver, given, problem)}


def stand_in(
    usual: Sequence[str],
    encoding: str | None,
    improver: str,
    given: Mapping[str, Any],
    problem: Problem,
) -> str:
    """Return the first algorithm that takes an encoding, an improver and the given settings.

    The usual ones come first; if none takes them, return the first of these.
    """
    pairs, able = fitting(problem), _able(given)
    for name in (*usual, *ALGORITHMS):
        takes = any(pair[0] == name and encoding in (None, pair[1]) for pair in pairs)
        if takes and name in able and (ALGORITHMS[name].improves or improver == "none"):
            return name
    return usual[0]


def _able(given: Mapping[str, Any]) -> list[str]:
    """Return the algorithms that have all given settings that belong to algorithms."""
    own = {key for kind in ALGORITHMS.values() for key in kind.Settings.names()}.intersection(given)
    return [
        name
        for name, kind in ALGORITHMS.items()
        if own <= {*kind.Settings.names()}
        and kind.takes(given)
        and ("decoding" not in given or "keys" in kind.encodings)
    ]
