"""The longer error messages about rejected settings; each function returns an exception."""

from collections.abc import Sequence
from pathlib import Path

from islands.algorithms.base import Algorithm
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.text import option


def setting_of_other_problems(
    *, origin: str, key: str, others: Sequence[str], problem: Problem
) -> UsageError:
    """Return the error about a setting that belongs to other problems."""
    kinds = " or ".join(others)
    return UsageError(
        f"{origin}{key}: is a setting of {kinds}, but {problem.instance} is an instance of"
        f" {problem.name}. Leave it out, or choose an instance of {kinds}"
    )


def setting_of_some_colonies(
    *, origin: str, key: str, value: object, algorithms: Sequence[str], colonies: Sequence[int]
) -> UsageError:
    """Return the error about a setting, given for all colonies, that only `colonies` have."""
    owners = [f"colony {number} ({algorithms[number]})" for number in colonies]
    return UsageError(
        f"{origin}{key}={value} is given for all colonies, but only {' and '.join(owners)}"
        f" {'have' if owners[1:] else 'has'} this setting. Write it inside such a colony:"
        f" 'islands=1 algorithm={algorithms[colonies[0]]} {key}={value}'"
    )


def setting_of_whole_run(*, name: str) -> UsageError:
    """Return the error about a setting of the whole run in a colony."""
    fix = "Move it out of the colony"
    if name == "migration.interval":
        fix += (
            ". For more generations of one colony between two migrations, choose its rate: rate=3"
            " performs three per generation of the run"
        )
    return UsageError(f"{name} is a setting of the whole run. {fix}")


def rate_is_taken(*, algorithm: str) -> UsageError:
    """Return the error about an algorithm with a setting `rate`, used in a colony."""
    return UsageError(
        f"algorithm {algorithm}: its setting 'rate' has the name of a setting of colonies. Rename"
        " it"
    )


def halo_in_colonies() -> UsageError:
    """Return the error about a colony with `halo=true`."""
    return UsageError(
        "halo=true: islands of a run with colonies cannot be slices of one population. Choose"
        " halo=false, or leave the colonies out"
    )


def encoding_of_others(
    *, encoding: str, algorithm: str, possible: Sequence[str], others: list[str], problem: Problem
) -> UsageError:
    """Return the error about an encoding that only other algorithms support."""
    return UsageError(
        f"{option('encoding', encoding)}: {algorithm} only supports"
        f" {' or '.join(possible)} for {problem.instance}. Leave {option('encoding')} out, or"
        f" choose {option('algorithm', others)}"
    )


Pairs = Sequence[tuple[str, str]]
"""Possible pairs of an algorithm and an encoding."""


def unmet_needs(*, algorithm: type[Algorithm], problem: Problem, pairs: Pairs) -> UsageError:
    """Return the error about an algorithm whose needs the problem does not meet."""
    return UsageError(
        f"{algorithm.name} needs {algorithm.needs}, which {problem.instance} does not have."
        f" Possible: {_listed(pairs)}"
    )


def unfit_algorithm(
    *, algorithm: type[Algorithm], encoding: str | None, problem: Problem, pairs: Pairs
) -> UsageError:
    """Return the error about an algorithm whose encodings, or the given encoding, do not fit."""
    fix = f". Leave {option('encoding')} out, or choose another one" if encoding else ""
    return UsageError(
        f"{algorithm.name} on {encoding or ' or '.join(algorithm.encodings)} does not fit"
        f" {problem.instance}, whose solutions have the kind {problem.solution_kind!r}. Possible:"
        f" {_listed(pairs)}{fix}"
    )


def _listed(pairs: Pairs) -> str:
    return ", ".join(f"{name} on {encoding}" for name, encoding in pairs) or "no combination"


def takes_no_improver(*, improver: str, algorithm: str, others: list[str]) -> UsageError:
    """Return the error about an improver for an algorithm that does not use improvers."""
    return UsageError(
        f"improver {improver}: {algorithm} takes no improver, as it improves solutions itself."
        f" Leave {option('improver')} out, or choose {option('algorithm', others)}"
    )


def improver_of_integers(*, improver: str, problem: Problem) -> UsageError:
    """Return the error about an improver for integer costs if the problem has real costs."""
    return UsageError(
        f"improver {improver} adds up differences of costs, which must be integers, but"
        f" {problem.instance} has real costs. Return long long, or choose another improver"
    )


def core_without_order(*, core: int) -> UsageError:
    """Return the error about a core of items, for a problem without an order of the items."""
    return UsageError(
        f"improver.core={core}: needs an order of the items by utility. Choose infeasible=repair,"
        " or leave improver.core out"
    )


def improver_of_distances(
    *, improver: str, problem: Problem, possible: Sequence[str]
) -> UsageError:
    """Return the error about an improver that needs distances, or symmetric ones."""
    needed, owner = "distances between items", problem.name
    if problem.near is not None:
        needed, owner = "distances that are the same in both directions", problem.instance
    return UsageError(
        f"improver {improver} needs {needed}, which {owner} does not have. Possible:"
        f" {', '.join(possible)}"
    )


def improver_of_moves(
    *, improver: str, moves: Sequence[str], problem: Problem, possible: Sequence[str]
) -> UsageError:
    """Return the error about an improver that needs the deltas of moves."""
    return UsageError(
        f"improver {improver} needs the delta of the move {' and '.join(moves)}, which"
        f" {problem.name} does not have. {problem.words.moves_fix}, or choose an improver that"
        f" fits: {', '.join(possible)}"
    )


def unfit_improver(*, improver: str, problem: Problem, possible: Sequence[str]) -> UsageError:
    """Return the error about an improver for other kinds of solutions."""
    return UsageError(
        f"improver {improver} does not fit {problem.instance}, whose solutions have the kind"
        f" {problem.solution_kind!r}. Possible: {', '.join(possible)}"
    )


def ranks_differ(*, difference: str) -> UsageError:
    """Return the error about ranks with different settings or data."""
    return UsageError(
        f"{difference}. Start all ranks with the same options, and make sure that"
        f" {option('config')}, ISLANDS_INSTANCES and the cache have the same files on every host,"
        " and that scripts seed their random generators"
    )


def preset_is_overridden(*, preset: str, config: Path, names: Sequence[str]) -> UsageError:
    """Return the error about a requested preset that the configuration file overrides."""
    return UsageError(
        f"{option('preset', preset)} with {option('config', config)}: the file overrides"
        f" {', '.join(names)} of the preset. Leave one of them out, or write preset = {preset!r}"
        " into the file"
    )
