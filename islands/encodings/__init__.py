"""The encodings by name, in display order, and by solution kind.

An encoding defines genomes and the solutions that they represent, for example random keys that are
sorted into an order, or the order itself. The kernels are in `kernels/encodings`.

- `Encoding`: base class: the layout of genomes, and their conversion to and from solutions.
- genome: the array of genes of one individual; operators and migration work on it.
- solution kind: an order, a subset, choices, keys or a vector (`problems/solution_kinds.py`).

May import `problems`, `custom`, `backends` and the layers below them.
"""

from islands.custom.parts import PartKind
from islands.encodings.base import Encoding
from islands.encodings.choices import Choices
from islands.encodings.direct import Bits, Doubled, Permutation, RawKeys, Vector
from islands.encodings.keys import Keys, KeysOfSubset

_ALL: tuple[type[Encoding], ...] = (
    Keys,
    KeysOfSubset,
    RawKeys,
    Permutation,
    Doubled,
    Bits,
    Vector,
    Choices,
)


def _by_kind(*encodings: type[Encoding]) -> dict[str, type[Encoding]]:
    return {kind: encoding for encoding in encodings for kind in encoding.solution_kinds}


ENCODINGS: dict[str, dict[str, type[Encoding]]] = {
    name: _by_kind(*(encoding for encoding in _ALL if encoding.name == name))
    for name in dict.fromkeys(encoding.name for encoding in _ALL)
}

KIND = PartKind(
    "encoding",
    Encoding,
    registry=ENCODINGS,
    built_in=_ALL,
    needs=("header", "gene", "solution_kinds"),
    entry=_by_kind,
)


def base_encoding(name: str) -> str:
    """Return the encoding that algorithms list for this one: the one it is `like`, or itself."""
    return next(iter(ENCODINGS[name].values())).like or name


__all__ = ["ENCODINGS", "KIND", "Encoding", "base_encoding"]
