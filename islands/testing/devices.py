"""The devices on which contracts repeat a run."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest

from islands import backends
from islands.engine import build

_HELPERS = Path(__file__).parents[2] / "tests" / "helpers"


@contextmanager
def emulated_gpu(threads: int) -> Iterator[None]:
    """Use an emulated GPU for runs; skip the test outside of a checkout of islands."""
    if not (_HELPERS / "emulated_gpu.py").exists():
        pytest.skip("the emulated GPU is in a checkout of islands only")
    if str(_HELPERS) not in sys.path:
        sys.path.append(str(_HELPERS))
    gpu = import_module("emulated_gpu").EmulatedGpu
    build.forget_devices()
    try:
        with patch.object(backends, "_create", lambda name, *_: gpu(threads)):
            yield
    finally:
        build.forget_devices()
