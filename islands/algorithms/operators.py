"""Crossovers and mutations: which ones fit an encoding, and what their kernels need.

They are in `kernels/crossovers/` and `kernels/mutations/`; an algorithm includes those that its
macros `ISLANDS_CROSSOVER` and `ISLANDS_MUTATION` name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Self, TypeVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.custom.kinds import Kind
from islands.errors import UsageError
from islands.text import meant, option, unknown


class Operator:
    """One crossover or mutation."""

    folder: ClassVar[str]
    """That of the headers built in."""
    name: str
    header: Header
    """Its kernel header."""
    encodings: tuple[str, ...]
    """Those whose genomes it works on."""

    @classmethod
    def built_in(cls, name: str, encodings: tuple[str, ...], file: str = "") -> Self:
        """Return one whose header is in the package."""
        operator = cls()
        operator.name, operator.encodings = name, encodings
        operator.header = Header(f"{cls.folder}/{file or name}.cuh")
        return operator

    def room(self, pitch: int) -> int:
        """Return the bytes of scratch memory it takes besides what its header declares."""
        return 0


class Crossover(Operator):
    """Makes children of two mates; its kernel is `crossover::cross`."""

    folder: ClassVar[str] = "crossovers"


class Mutation(Operator):
    """Changes a genome a little; its kernel is `mutation::mutate`."""

    folder: ClassVar[str] = "mutations"


_ORDERS, _BITS, _KEYS = ENCODINGS = ("permutation", "bits", "keys")
"""The encodings that have operators; of those that fit a problem, the first is usual."""

# Of those that fit an encoding, the first is usual.
_ALL_CROSSOVERS = (
    *(Crossover.built_in(name, (_KEYS, _BITS)) for name in ("two_point", "one_point")),
    Crossover.built_in("uniform", (_KEYS, _BITS)),
    Crossover.built_in("pmx", (_ORDERS,)),
    Crossover.built_in("order", (_ORDERS,)),
    Crossover.built_in("cycle", (_ORDERS,)),
    Crossover.built_in("uniform", (_ORDERS,), file="uniform_order"),
)
_ALL_MUTATIONS = (
    Mutation.built_in("flip", (_BITS,)),
    Mutation.built_in("reset", (_KEYS, _BITS)),
    Mutation.built_in("swap", (_ORDERS, _KEYS, _BITS)),
    Mutation.built_in("insertion", (_ORDERS, _KEYS)),
)

CROSSOVERS: dict[str, Crossover] = {each.name: each for each in _ALL_CROSSOVERS}
MUTATIONS: dict[str, Mutation] = {each.name: each for each in _ALL_MUTATIONS}
"""By name; of a name that stands for several, the one for orders."""

CROSSOVER = Kind(
    *("crossover", Crossover, CROSSOVERS, _ALL_CROSSOVERS),
    needs=("header", "encodings"),
    is_made=True,
)
MUTATION = Kind(
    *("mutation", Mutation, MUTATIONS, _ALL_MUTATIONS),
    needs=("header", "encodings"),
    is_made=True,
)

_Operator = TypeVar("_Operator", bound=Operator)


def crossover(name: str, encoding: str) -> Crossover:
    """Return the crossover of this name, or the usual one of the encoding where it is empty."""
    return _fitting("crossover", name, encoding, _ALL_CROSSOVERS, CROSSOVERS)


def mutation(name: str, encoding: str) -> Mutation:
    """Return the mutation of this name, or the usual one of the encoding where it is empty."""
    return _fitting("mutation", name, encoding, _ALL_MUTATIONS, MUTATIONS)


def macros(crossover: Operator, mutation: Operator) -> Macros:
    """Return the macros that choose the headers."""
    return {"ISLANDS_CROSSOVER": crossover.header, "ISLANDS_MUTATION": mutation.header}


def _fitting(
    what: str,
    name: str,
    encoding: str,
    built_in: Iterable[_Operator],
    registry: Mapping[str, _Operator],
) -> _Operator:
    known = dict.fromkeys([*built_in, *registry.values()])
    fit = {each.name: each for each in known if encoding in each.encodings}
    if not fit:
        raise UsageError(
            f"encoding {encoding}: no {what} works on it. Give one: {what}=FILE.py:NAME"
        )
    name = meant(name, registry)
    if not name:
        return next(iter(fit.values()))
    if name in fit:
        return fit[name]
    if name not in registry:
        raise UsageError(f"{what}={name}: {unknown('choice', name, fit)}")
    moved = [own for each in known if each.name == name for own in each.encodings]
    raise UsageError(
        f"{what}={name} is for {' or '.join(moved)}, but the encoding is {encoding}, which"
        f" {', '.join(fit)} fit. Choose one of these, or"
        f" {option('encoding', moved)}"
    )
