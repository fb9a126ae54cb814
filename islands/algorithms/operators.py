"""Crossovers and mutations: which ones fit an encoding, and what their kernels need.

They are in `kernels/crossovers/` and `kernels/mutations/`; an algorithm includes those that its
macros `ISLANDS_CROSSOVER` and `ISLANDS_MUTATION` name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from islands.backends.base import shelves
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.text import meant, option, unknown

_WORD = 4
"""Bytes of a gene in every encoding, of an index and of a random word."""


@dataclass(frozen=True)
class Operator:
    """One crossover or mutation."""

    name: str
    header: Header
    scratch: tuple[int, ...] = ()
    """The parts of working memory that it takes, each in words a gene."""

    def room(self, pitch: int) -> int:
        """Return the bytes of working memory that it takes for genomes of `pitch` genes."""
        return shelves(*(_WORD * words * pitch for words in self.scratch))


def _crossover(name: str, *scratch: int, header: str | None = None) -> Operator:
    return Operator(name, Header(f"crossovers/{header or name}.cuh"), scratch)


def _mutation(name: str, *scratch: int) -> Operator:
    return Operator(name, Header(f"mutations/{name}.cuh"), scratch)


_MASKED = [_crossover(name, 1) for name in ("two_point", "one_point", "uniform")]
_OF_ORDERS = [
    _crossover("pmx", 2),
    _crossover("order", 2, 1),
    _crossover("cycle", 2, 2, 2, 1),
    _crossover("uniform", 2, 1, 1, 1, 1, header="uniform_order"),
]
_SWAP, _INSERTION = _mutation("swap"), _mutation("insertion", 1)
_RESET, _FLIP = _mutation("reset"), _mutation("flip")

# The usual one of each encoding comes first.
_CROSSOVERS = {"permutation": _OF_ORDERS, "keys": _MASKED, "bits": _MASKED}
_MUTATIONS = {
    "permutation": [_SWAP, _INSERTION],
    "keys": [_RESET, _SWAP, _INSERTION],
    "bits": [_FLIP, _RESET, _SWAP],
}

ENCODINGS = ("permutation", "bits", "keys")
"""The encodings that have operators; of those that fit a problem, the first is usual."""


def crossover(name: str, encoding: str) -> Operator:
    """Return the crossover of this name, or the usual one of the encoding where it is empty."""
    return _fitting("crossover", name, encoding, _CROSSOVERS)


def mutation(name: str, encoding: str) -> Operator:
    """Return the mutation of this name, or the usual one of the encoding where it is empty."""
    return _fitting("mutation", name, encoding, _MUTATIONS)


def macros(crossover: Operator, mutation: Operator) -> Macros:
    """Return the macros that choose the headers."""
    return {"ISLANDS_CROSSOVER": crossover.header, "ISLANDS_MUTATION": mutation.header}


def _fitting(
    what: str, name: str, encoding: str, operators: Mapping[str, list[Operator]]
) -> Operator:
    fit = {operator.name: operator for operator in operators[encoding]}
    known = dict.fromkeys(each.name for group in operators.values() for each in group)
    name = meant(name, known)
    if not name:
        return operators[encoding][0]
    if name in fit:
        return fit[name]
    if name not in known:
        raise UsageError(f"{what}={name}: {unknown('choice', name, fit)}")
    moved = [other for other, group in operators.items() if name in (each.name for each in group)]
    raise UsageError(
        f"{what}={name} is for {' or '.join(moved)}, but the encoding is {encoding}, which"
        f" {', '.join(fit)} fit. Choose one of these, or"
        f" {option('encoding', moved)}"
    )
