"""Names that no setting of a run has, and the errors about them."""

from __future__ import annotations

from collections.abc import Sequence

from islands.algorithms.base import Algorithm
from islands.configuration.given import Layer
from islands.configuration.spec import GROUPS, GeneralSettings
from islands.errors import UsageError
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.text import unknown

NAMES = ("instance", "format", "preset", "algorithm", "encoding", "stop", "start")
"""The settings of a run that belong to no group."""

_BOUND = "bound"


class UnknownSettingError(UsageError):
    """A setting that neither the run nor its algorithm has."""

    key = ""
    """Its full name."""
    algorithm = ""


def refuse_unknown(sources: Sequence[Layer], algorithm: type[Algorithm], problem: Problem) -> None:
    """Refuse a name that no setting of a run with this algorithm has."""
    known = known_settings([algorithm], problem)
    allowed = {*known, *GeneralSettings.names()}  # with values that have no effect
    unknowns = [(each, key) for each in sources for key in each.values if key not in allowed]
    if not unknowns:
        return
    layer, key = unknowns[0]
    others = [name for name, kind in PROBLEMS.items() if key in kind.Settings.names()]
    if others:
        kinds = " or ".join(others)
        raise UsageError(
            f"{layer.origin}{key}: is a setting of {kinds}, but {problem.instance} is an"
            f" instance of {problem.name}. Leave it out, or choose an instance of {kinds}"
        )
    what = f"setting of {algorithm.name}"
    what += f" on {problem.name}" if problem.Settings.names() else ""
    error = UnknownSettingError(f"{layer.origin}{unknown(what, key, known)}")
    error.key, error.algorithm = key, algorithm.name
    raise error


def known_settings(algorithms: Sequence[type[Algorithm]], problem: Problem) -> list[str]:
    """Return the full names of all settings that runs with these algorithms on a problem use."""
    of_algorithms = [name for each in algorithms for name in each.Settings.names()]
    general = [name for name in GeneralSettings.names() if name != _BOUND or problem.has_bound]
    known = [*general, *of_algorithms, *problem.Settings.names(), *NAMES]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    return list(dict.fromkeys(known))
