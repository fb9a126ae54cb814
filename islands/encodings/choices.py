"""The encoding of choices: each gene is the value of one item."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.arguments import Struct
from islands.backends.source import Header, Macros
from islands.encodings.base import Encoding


class Choices(Encoding):
    """Choices: item i has a value below `sizes[i]`, and at most `at_most[k]` items have value k.

    Moves exchange the values of items of the same group.
    """

    name: ClassVar[str] = "choices"
    header: ClassVar[Header] = Header("encodings/choices.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("choices",)

    def __init__(
        self,
        size: int,
        *args: Any,
        sizes: ArrayLike = 2,
        groups: ArrayLike | None = None,
        at_most: ArrayLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(size)
        self._sizes = np.array(np.broadcast_to(np.asarray(sizes, np.int32), size))
        self._most = None if at_most is None else np.asarray(at_most, np.int32)
        self._groups = np.zeros(size, np.int64) if groups is None else np.asarray(groups)

    def defines(self) -> Macros:
        return {"GENES_ARE_CHOICES": "1", "CHOICES_LIMITED": str(int(self._most is not None))}

    def shape(self) -> Struct:
        _, which, counts = np.unique(self._groups, return_inverse=True, return_counts=True)
        first = np.cumsum(counts) - counts
        return Struct(
            **super().shape().members,
            values=np.int32(self._sizes.max()),
            sizes=self._sizes,
            members=np.argsort(self._groups, kind="stable").astype(np.int32),
            first=first[which].astype(np.int32),
            count=counts[which].astype(np.int32),
            most=np.array([self.size], np.int32) if self._most is None else self._most,
        )

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return genomes[:, : self.size].astype(np.int64)

    def holds(self, genomes: NDArray[Any]) -> bool:
        genes = genomes[:, : self.size]
        return bool(((genes >= 0) & (genes < self._sizes)).all())

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.zeros(self.pitch, self.gene)
        genome[: self.size] = solution
        return genome
