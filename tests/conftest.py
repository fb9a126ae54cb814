"""Fixtures: the devices that there are, and the published instances."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr
from importlib.util import find_spec
from pathlib import Path

import pytest

from islands.backends import choose
from islands.backends.base import Backend
from islands.custom.kinds import Kind
from islands.parallel import World, launched, world

_SETS = ("tsplib", "national", "vlsi", "qaplib", "mkp")


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
    from islands.backends.gpus import devices

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


@pytest.fixture(scope="session")
def published() -> Path:
    """Return the folder with the published sets; a test that needs it skips where there is none."""
    named = os.environ.get("ISLANDS_INSTANCES", "")
    for folder in (Path(name).absolute() for name in named.split(os.pathsep) if name):
        if all((folder / name).is_dir() for name in _SETS):
            return folder
    pytest.skip(f"ISLANDS_INSTANCES={named!r} names no folder with {', '.join(_SETS)}")


@pytest.fixture
def mpirun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return `mpirun -n`, to be followed by the number of ranks, as it works on any machine."""
    pytest.importorskip("mpi4py")
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None:
        pytest.skip("no mpirun found")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    # What a killed mpirun leaves in it fails the next one that gets the same process number.
    with tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield [found, "-n"]


class FailTogether:
    """Ends all ranks where a test fails on one, as the others would wait for it for ever."""

    def __init__(self, ranks: World) -> None:
        self._ranks = ranks

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with redirect_stderr(sys.__stderr__):
                self._ranks.abort(f"{report.nodeid}\n{report.longreprtext}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Under mpirun, let rank 0 alone report, and no rank fail alone."""
    rank, size = launched()
    if size > 1:
        config.pluginmanager.register(FailTogether(world()))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if rank > 0 and reporter is not None:
        config.pluginmanager.unregister(reporter)


@pytest.fixture(autouse=True)
def _without_parts_of_scripts() -> Iterator[None]:
    """Leave no part behind that a test has brought."""
    yield
    for kind in Kind.all:
        for name in kind.own:
            del kind.registry[name]
        kind.own.clear()
