"""Crossovers and mutations, and the encodings that they support.

Their kernels are in `kernels/crossovers/` and `kernels/mutations/`; algorithms include the headers
that the macros `ISLANDS_CROSSOVER` and `ISLANDS_MUTATION` name.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Self, TypeVar

from islands.backends.source import Header, Macros
from islands.custom.parts import PartKind
from islands.errors import UsageError
from islands.settings import Settings, changed
from islands.text import meant, option, unknown


class Operator:
    """The base class of crossovers and mutations."""

    folder: ClassVar[str]
    """The folder of the built-in headers."""
    name: str
    header: Header
    """Its kernel header."""
    encodings: tuple[str, ...]
    """The encodings that it supports."""

    @classmethod
    def built_in(cls, name: str, encodings: tuple[str, ...], file: str = "") -> Self:
        """Return an operator whose header is part of the package."""
        operator = cls()
        operator.name, operator.encodings = name, encodings
        operator.header = Header(f"{cls.folder}/{file or name}.cuh")
        return operator

    def room(self, pitch: int) -> int:
        """Return the scratch memory needed besides what the header declares, in bytes."""
        return 0


class Crossover(Operator):
    """Creates children from two mates; its kernel function is `crossover::cross`.

    >>> islands.Crossover.built_in("order", ("permutation",)).header
    Header('crossovers/order.cuh')
    """

    folder: ClassVar[str] = "crossovers"


class Mutation(Operator):
    """Makes a small change to a genome; its kernel function is `mutation::mutate`.

    >>> islands.Mutation.built_in("swap", ("permutation", "keys")).encodings
    ('permutation', 'keys')
    """

    folder: ClassVar[str] = "mutations"


ENCODINGS = ("permutation", "bits", "keys", "vector", "choices")
"""The encodings with operators; the first one that fits a problem is its default."""
_ORDERS, _BITS, _KEYS, _VECTORS, _CHOICES = ENCODINGS
_BY_ITEM = (_KEYS, _BITS, _VECTORS, _CHOICES)

# The default of an encoding is the operator that lists it at the lowest index; ties: the first.
_ALL_CROSSOVERS = (
    *(Crossover.built_in(name, _BY_ITEM) for name in ("two_point", "one_point", "uniform")),
    *(Crossover.built_in(name, (_VECTORS, _KEYS)) for name in ("sbx", "blend")),
    Crossover.built_in("pmx", (_ORDERS,)),
    Crossover.built_in("order", (_ORDERS,)),
    Crossover.built_in("cycle", (_ORDERS,)),
    Crossover.built_in("uniform", (_ORDERS,), file="uniform_order"),
    Crossover.built_in("uniform_like", (_ORDERS,)),
)
_ALL_MUTATIONS = (
    Mutation.built_in("flip", (_BITS,)),
    Mutation.built_in("reset", _BY_ITEM),
    Mutation.built_in("swap", (_ORDERS, *_BY_ITEM)),
    Mutation.built_in("insertion", (_ORDERS, _KEYS, _VECTORS)),
    Mutation.built_in("reversal", (_ORDERS,)),
    Mutation.built_in("mixed", (_ORDERS,)),
    *(Mutation.built_in(name, (_VECTORS, _KEYS)) for name in ("polynomial", "gaussian")),
)

CROSSOVERS: dict[str, Crossover] = {operator.name: operator for operator in _ALL_CROSSOVERS}
MUTATIONS: dict[str, Mutation] = {operator.name: operator for operator in _ALL_MUTATIONS}
"""The operators by name; the one for orders if two share a name."""

_NEEDS = ("header", "encodings")
CROSSOVER = PartKind("crossover", Crossover, CROSSOVERS, _ALL_CROSSOVERS, _NEEDS, is_made=True)
MUTATION = PartKind("mutation", Mutation, MUTATIONS, _ALL_MUTATIONS, _NEEDS, is_made=True)

_Operator = TypeVar("_Operator", bound=Operator)
_Settings = TypeVar("_Settings", bound=Settings)


def crossover(name: str, encoding: str) -> Crossover:
    """Return the crossover with this name; an empty name selects the encoding's default."""
    return _fitting("crossover", name, encoding, _ALL_CROSSOVERS, CROSSOVERS)


def mutation(name: str, encoding: str) -> Mutation:
    """Return the mutation with this name; an empty name selects the encoding's default."""
    return _fitting("mutation", name, encoding, _ALL_MUTATIONS, MUTATIONS)


def completed(settings: _Settings, encoding: str) -> _Settings:
    """Return the settings with the names of the operators chosen for an encoding."""
    choose = {"crossover": crossover, "mutation": mutation}
    kinds = [kind for kind in choose if hasattr(settings, kind)]
    names = {kind: choose[kind](getattr(settings, kind), encoding).name for kind in kinds}
    return changed(settings, **names)


def macros(crossover: Operator, mutation: Operator) -> Macros:
    """Return the macros that select the headers."""
    return {"ISLANDS_CROSSOVER": crossover.header, "ISLANDS_MUTATION": mutation.header}


def _fitting(
    what: str,
    name: str,
    encoding: str,
    built_in: Iterable[_Operator],
    registry: Mapping[str, _Operator],
) -> _Operator:
    operators = dict.fromkeys([*built_in, *registry.values()])
    fit = {operator.name: operator for operator in operators if encoding in operator.encodings}
    if not fit:
        raise UsageError(
            f"encoding {encoding}: no {what} supports it. Pass your own: {what}=FILE.py:NAME"
        )
    name = meant(name, registry)
    if not name:
        return min(fit.values(), key=lambda operator: operator.encodings.index(encoding))
    if name in fit:
        return fit[name]
    if name not in registry:
        raise UsageError(f"{what}={name}: {unknown('choice', name, fit)}")
    named = [operator for operator in operators if operator.name == name]
    supported = [encoding for operator in named for encoding in operator.encodings]
    raise UsageError(
        f"{what}={name} supports {' or '.join(supported)}, but the encoding is {encoding}. Choose"
        f" one of {', '.join(fit)}, or {option('encoding', supported)}"
    )
