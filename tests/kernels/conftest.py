"""The fixtures of tests that launch single functions of the kernels."""

import pytest
from emulated_gpu import EmulatedGpu
from programs_for_tests import Launcher

from islands.backends import choose
from islands.backends.base import Backend, Block


@pytest.fixture
def launchers(backend: Backend) -> list[Launcher]:
    """Return a launcher per number of threads: of a block on a GPU, of the backend on the CPU.

    The CPU emulates a GPU too.
    """
    if backend.name == "cuda":
        return [Launcher(backend, Block(threads)) for threads in (32, 96, 128, 1024)]
    emulated = [Launcher(EmulatedGpu(), Block(threads)) for threads in (32, 96, 1024)]
    return [*(Launcher(choose("cpu", threads), Block()) for threads in (1, 2, 3)), *emulated]
