"""Fixtures: the devices that there are, and the published instances."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from islands.backends import choose
from islands.backends.base import Backend


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-gpu",
        action="store_true",
        help="fail where there is no GPU, instead of testing the CPU alone",
    )


def gpus() -> int:
    """Return how many GPUs the tests can use."""
    if find_spec("cupy") is None:
        return 0
    from islands.backends.cuda import devices

    return devices()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" not in metafunc.fixturenames:
        return
    wanted = ["cpu"]
    if gpus() > 0 or metafunc.config.getoption("--require-gpu"):
        wanted.append("cuda")
    metafunc.parametrize("backend", wanted, indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each device that there is: the CPU, and a GPU where one is found or required."""
    return choose(request.param)


@pytest.fixture
def published() -> Path:
    """Return the folder with the published sets; a test that needs it skips where there is none."""
    named = os.environ.get("ISLANDS_INSTANCES", "")
    for folder in map(Path, filter(None, named.split(os.pathsep))):
        if all((folder / name).is_dir() for name in ("tsplib", "national", "vlsi")):
            return folder
    pytest.skip(f"ISLANDS_INSTANCES={named!r} names no folder with tsplib, national and vlsi")
