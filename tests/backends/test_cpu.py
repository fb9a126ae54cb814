"""Threads of the CPU backend."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from programs_for_tests import SCAN

from islands.backends.base import Block
from islands.backends.cpu import CpuBackend


def scans(backend: CpuBackend) -> list[int]:
    """Return the different results of a kernel with enough blocks for every thread."""
    program = backend.compile(SCAN, Block())
    values = backend.upload(np.ones((500, 200), np.uint32))
    backend.run([backend.call(program, "scan", np.int32(200), values, blocks=500)])
    return np.unique(values.sum(axis=1)).tolist()


@pytest.mark.usefixtures("fresh_cache")
def test_concurrent_launches_run_one_after_another() -> None:
    backend = CpuBackend(3)
    with ThreadPoolExecutor(4) as pool:
        for found in [pool.submit(scans, backend) for _ in range(40)]:
            assert found.result(timeout=60) == [199 * 200 // 2]


def test_a_launch_without_blocks_is_refused() -> None:
    backend = CpuBackend(2)
    program, values = backend.compile(SCAN, Block()), backend.upload(np.ones((1, 8), np.uint32))
    with pytest.raises(ValueError, match="scan: 0 blocks"):
        backend.call(program, "scan", np.int32(8), values, blocks=0)


def test_a_forked_child_starts_its_own_threads() -> None:
    backend = CpuBackend(3)
    scans(backend)
    child = os.fork()
    if child == 0:
        os._exit(0 if scans(backend) == [199 * 200 // 2] else 1)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")
