"""Launches of tests/kernels/check.cuh on one backend with one block size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from programs_for_tests import CHECKS

from islands.backends.base import Backend, Block, Room


class Launcher:
    """Runs kernels of the checks, and copies arrays to the device and back."""

    def __init__(self, backend: Backend, block: Block) -> None:
        self.backend, self.threads = backend, block.threads
        self._program = backend.compile(CHECKS, block)

    def __call__(
        self, kernel: str, *arguments: Any, blocks: int = 1, room: Room | None = None
    ) -> None:
        call = self.backend.call(self._program, kernel, *arguments, blocks=blocks, room=room)
        self.backend.run([call])
        self.backend.synchronise()

    def upload(self, values: NDArray[Any]) -> Any:
        return self.backend.upload(values)

    def download(self, array: Any) -> NDArray[Any]:
        return self.backend.download(array)


def random(*shape: int, low: int = -(2**40), high: int = 2**40, seed: int = 5) -> NDArray[np.int64]:
    """Return random integers from `low` up to `high` - 1."""
    return np.random.default_rng(seed).integers(low, high, shape)
