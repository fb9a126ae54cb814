"""The particle swarm on all devices compared with NumPy, bit for bit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy_pso import sigmoid

from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.paths import data_folder


def test_sigmoid_of_the_kernels_is_accurate(backend: Backend) -> None:
    x = np.concatenate([np.linspace(-120, 120, 100_001), [-1e30, 1e30, 0]]).astype(np.float32)
    entry = os.path.relpath(Path(__file__).with_name("sigmoid.cuh"), data_folder("kernels"))
    program = backend.compile(Source(entry), Block(32))
    out = backend.upload(np.zeros_like(x))
    count = np.int32(len(x))
    backend.run([backend.call(program, "check_sigmoid", count, backend.upload(x), out, blocks=1)])
    found = backend.download(out)
    assert (found == sigmoid(x)).all()
    exact = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -700, 700)))
    assert np.abs(found - exact).max() < 1e-6
    near = np.abs(x) < 80
    assert (np.abs(found - exact) / exact)[near].max() < 1e-6
    assert found[-1] == 0.5
