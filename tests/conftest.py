"""Fixtures: the available devices, the published instances, and mpirun."""

import atexit
import fcntl
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import redirect_stderr
from importlib.util import find_spec
from pathlib import Path

import jobs
import pytest
from quick_compiler import quick_compiler
from scripts_for_tests import forgotten
from standing_ranks import StandingRanks
from wheel_for_tests import environment, wheel_of_sdist

from islands.backends import choose
from islands.backends.base import Backend
from islands.engine import build
from islands.parallel import World, launched, world
from islands.paths import cache_folder

_LONG = (
    *("slurm", "hosts", "test_wheel.py", "test_gpu_programs.py", "test_sanitizers.py"),
    *("test_emulated_gpu.py", "test_blocks.py", "test_killed.py"),
)
"""Folders and files with the tests that take longest."""
_BY_FIXTURE = {"cluster": "slurm", "hosts": "slow"}
"""Marks of all tests that use a fixture."""
_BY_NAME = {
    "test_the_same_among_seeds": ("slow",),
    "test_the_same_on_an_emulated_gpu": ("slow",),
    "test_the_same_under_mpi": ("mpi", "slow"),
}
"""Marks of tests of contracts, which have none, as other projects do not know them."""
_MOST_CASES = 3
"""Cases of a parametrised test in the default tier: evenly spread ones; the others are slow."""
_SETS = ("tsplib", "national", "vlsi", "qaplib", "mkp")

_USUAL = "ISLANDS_TESTS_USUAL_CXX"
"""The variable with the compiler of users, for workers, which inherit a quick `CXX`."""

_WITHOUT = "ISLANDS_TESTS_WITHOUT"
"""The variable with commands that tests must not find, as on a machine without them."""


def path_without(commands: Sequence[str], path: str) -> str:
    """Return a PATH without some commands: folders of links replace those that contain them."""
    folders = list[str]()
    for folder in map(Path, path.split(os.pathsep)):
        if any((folder / name).exists() for name in commands):
            links = Path(tempfile.mkdtemp(prefix="commands-"))
            atexit.register(shutil.rmtree, links, ignore_errors=True)
            for file in folder.iterdir():
                if file.name not in commands:
                    (links / file.name).symlink_to(file)
            folder = links
        folders.append(str(folder))
    return os.pathsep.join(folders)


if _hidden := os.environ.pop(_WITHOUT, "").split():
    os.environ["PATH"] = path_without(_hidden, os.environ["PATH"])

# Hundreds of processes would each start threads of NumPy's linear algebra, which no run uses.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Otherwise each of them compiles the whole package again, in half of the time of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if "CXX" not in os.environ and shutil.which("c++"):
    os.environ |= {"CXX": quick_compiler("c++"), _USUAL: "c++"}

# A shell starts jobs in the background with SIGINT ignored, and nohup ignores SIGHUP; children
# inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    help_of = {
        "--require-gpu": "fail without a GPU, instead of testing only the CPU",
        "--write-messages": "write the messages of today to the tables of tests/messages",
    }
    for option, words in help_of.items():
        parser.addoption(option, action="store_true", help=words)


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each worker begin with some of the files that take longest.

    A worker receives an equal part of the tests, and later takes some from the ends of other parts.
    """
    files: dict[Path, list[pytest.Item]] = {}
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        marks = [_BY_FIXTURE.get(name) for name in getattr(item, "fixturenames", ())]
        for mark in filter(None, [*marks, *_BY_NAME.get(getattr(item, "originalname", ""), ())]):
            item.add_marker(mark)
        files.setdefault(item.path, []).append(item)
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        if len(cases) <= _MOST_CASES:
            continue
        step = (len(cases) - 1) / (_MOST_CASES - 1)
        kept = {round(number * step) for number in range(_MOST_CASES)}
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker("slow")
    parts: list[list[pytest.Item]] = [
        [] for _ in range(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    ]
    for path in sorted(files, key=lambda path: not any(name in path.parts for name in _LONG)):
        min(parts, key=len).extend(files[path])
    items[:] = [item for part in parts for item in part]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let workers import the tests in turn.

    The first one rewrites their assertions, which takes longest, and stores them for the others.
    """
    with Path(__file__).open() as turn:
        if "PYTEST_XDIST_WORKER" in os.environ:
            fcntl.flock(turn, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_finish() -> None:
    """Let the garbage collector ignore the tests, which all stay in memory to the end."""
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under --only-mpi, import only files with such tests, as each rank would import all files."""
    if not config.getoption("--only-mpi", False) or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return ("mark.mpi" not in text and "Contract" not in text) or None


def gpus() -> int:
    """Return the number of GPUs that the tests can use."""
    if find_spec("cupy") is None:
        return 0
    from islands.backends.gpus import devices

    return devices()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" not in metafunc.fixturenames:
        return
    names = ["cpu"]
    if gpus() > 0 or metafunc.config.getoption("--require-gpu"):
        names.append("cuda")
    metafunc.parametrize("backend", names, indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Return each available device: the CPU, and a GPU if found or required."""
    return choose(request.param)


@pytest.fixture(scope="session")
def published() -> Path:
    """Return the folder of the published sets, or skip the test if there is none."""
    named = os.environ.get("ISLANDS_INSTANCES", "")
    for folder in (Path(name).absolute() for name in named.split(os.pathsep) if name):
        if all((folder / name).is_dir() for name in _SETS):
            return folder
    pytest.skip(f"ISLANDS_INSTANCES={named!r} names no folder with {', '.join(_SETS)}")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """Return the result of `make` in a new folder, which only the first worker calls."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.made").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        found = file.read()
        if not found:
            found = str(make(factory.mktemp(name)))
            file.write(found)
            file.flush()
    return Path(found)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this checkout."""
    return made_once(tmp_path_factory, "wheel", wheel_of_sdist)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """Return the Python of an environment with the wheel and its dependencies."""
    return made_once(tmp_path_factory, "env", lambda folder: environment(folder, wheel))


@pytest.fixture(autouse=True)
def _with_cupy(request: pytest.FixtureRequest) -> None:
    """Skip tests for GPUs without CuPy, which brings the compiler NVRTC."""
    if request.node.get_closest_marker("gpu") is not None and find_spec("cupy") is None:
        pytest.skip("CuPy, which brings NVRTC, is not installed")


@pytest.fixture
def optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile as for users: for tests whose runs take longer than compilation."""
    if _USUAL in os.environ:
        monkeypatch.setenv("CXX", os.environ[_USUAL])


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a cache with a key of its own, as of another user, and with the compiled programs."""
    programs, own = cache_folder("programs"), tmp_path / "cache"
    own.mkdir(mode=0o700)
    (own / programs.name).symlink_to(programs)
    monkeypatch.setenv("ISLANDS_CACHE", str(own))


@pytest.fixture(autouse=True)
def own_tmpdir(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the programs of each test their own TMPDIR: mpiruns that share one disturb each other.

    One that ends removes the folder in which another creates its own, and files left by a killed
    one make the next one with the same process id fail.
    """
    with tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def mpirun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return `mpirun -n`, which works on any machine; the number of ranks follows."""
    pytest.importorskip("mpi4py")
    found = jobs.mpirun()
    if found is None:
        pytest.skip("no mpirun found")
    for name, value in jobs.ANY_RANKS.items():
        monkeypatch.setenv(name, value)
    return [*found, "-n"]


@pytest.fixture(scope="session")
def _standing_ranks() -> Iterator[StandingRanks]:
    ranks = StandingRanks()
    yield ranks
    ranks.stop()


@pytest.fixture
def standing_ranks(_standing_ranks: StandingRanks) -> StandingRanks:
    """Return ranks that run commands as `mpirun` does, in processes that remain."""
    pytest.importorskip("mpi4py")
    if jobs.mpirun() is None:
        pytest.skip("no mpirun found")
    return _standing_ranks


class FailTogether:
    """Ends all ranks if a test fails on one; the others would wait for it forever."""

    def __init__(self, ranks: World) -> None:
        self._ranks = ranks

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with redirect_stderr(sys.__stderr__):
                self._ranks.abort(f"{report.nodeid}\n{report.longreprtext}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Under mpirun, let only rank 0 report, and end all ranks if one fails."""
    rank, size = launched()
    if size > 1:
        config.pluginmanager.register(FailTogether(world()))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if rank > 0 and reporter is not None:
        config.pluginmanager.unregister(reporter)


@pytest.fixture(autouse=True)
def _without_devices() -> Iterator[None]:
    """Forget the devices that a test has used, which may be emulated."""
    yield
    build.forget_devices()


@pytest.fixture(autouse=True)
def _without_scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the folders, modules and parts of scripts that a test has loaded."""
    with forgotten(tmp_path_factory.getbasetemp()):
        yield
